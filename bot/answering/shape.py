"""What a sentence of an answer must look like before it is held against a source (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.answering.pieces import Problem
from bot.answering.sentences import TAG, is_tags_only

_RUN_ON = re.compile(
    r"^\W*(?:question|q|answer|a|sources?|context|user|assistant|system|instructions?|example|note to)\s*\d*\s*:",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"^(?:according to|based on|as (?:stated|described|mentioned|given|per) (?:in|by)?|per) (?:the|this|these|our)?\s*"
    r"(?:\w+\s+)?(?:guidelines?|guidance|sources?|protocol|documents?|passages?|text|sections?)(?:\s+provided)?\s*,?\s*",
    re.IGNORECASE,
)
# Struck-out words, emoji, ticks and crosses: none can be held against a source.
_MARKS = re.compile(
    r"~~|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]|(?<!\w):[a-z0-9_+-]*[a-z][a-z0-9_+-]*:(?!\w)"
)
_BREAKS_OFF = re.compile(
    r"(?:^|\W)(?:is|are|was|were|be|and|or|the|an|of|for|with|by|from|includes?|including|such as|that|which)\W*$"
    r"|:[\W_]*$",
    re.IGNORECASE,
)
_MAX_CHARS = 1500


def runs_on(text: str) -> bool:
    """Tell whether a text goes on with the prompt ("Question: …") instead of answering."""
    return bool(_RUN_ON.match(text))


def without_hedge(body: str) -> str:
    """Return a sentence without "According to the guideline," in front."""
    return _HEDGE.sub("", body)


def wrong_shape(sentence: str, body: str, cites: Sequence[str]) -> list[Problem]:
    """Return why a sentence can be no statement of an answer, whatever the sources say; empty when it can.

    Args:
        sentence: as written, with its tags.
        body: without them.
        cites: its tags.
    """
    if runs_on(body):
        return [("unsupported", "text of the prompt instead of an answer")]
    if is_tags_only(sentence) or not re.search(r"\w", body):
        return [("citation", "a tag without a sentence")]
    if not cites:
        return [("citation", "the sentence cites no source")]
    if body.rstrip(" *_\"'”’.").endswith("?"):
        return [("unsupported", "a question instead of an answer")]
    if _BREAKS_OFF.search(body):
        return [("unsupported", "the sentence breaks off")]
    if _MARKS.search(body):
        return [("unsupported", "a picture or a line through words, which can turn what is said round")]
    if len(body) > _MAX_CHARS:
        return [("unsupported", "too long a sentence to be checked")]
    return []


def tag_stands_before(sentence: str) -> bool:
    """Tell whether the only tag stands in front of the sentence, where it may belong to the one before."""
    return bool(
        TAG.match(sentence.lstrip("-*•+ ")) and not re.search(rf"\w.*{TAG.pattern}", TAG.sub("", sentence, count=1))
    )
