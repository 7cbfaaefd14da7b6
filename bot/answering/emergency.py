"""Does a question speak of an emergency? (pure)"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.answering.prompts import readable


def speaks_of_emergency(question: str, words: Iterable[str]) -> bool:
    """Tell whether one of the site's words or phrases stands in the question, in any case, as whole words.

    Blanks and hyphens count alike, and a plural or past ending may follow ('strokes', 'overdosed'). A negation
    is not looked at: a line too many does no harm, one too few may.
    """
    text = _plain(question)
    return any(
        re.search(rf"(?<!\w){re.escape(phrase)}(?:e?s|e?d)?(?!\w)", text)
        for phrase in (_plain(word).strip() for word in words)
        if phrase
    )


def _plain(text: str) -> str:
    return re.sub(r"[\s\-‐‑–_/]+", " ", readable(text).casefold().replace("’", "'"))
