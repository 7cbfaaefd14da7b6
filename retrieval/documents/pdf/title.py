"""The title that a PDF's first page shows (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.documents.pdf.page import Page
from retrieval.guideline import Section

_WORD = re.compile(r"[^\W\d_]{3,}|\d{2,}")
MIN_SHARED = 0.5
MAX_CHARS = 120


def title_of(pages: Sequence[Page], root: Section, stem: str, body: float) -> str:
    """Return the heading of the first page that the file's name names; "" where none does.

    A letterhead is often the largest line of a page, and the same in every file of a folder.
    """
    if not pages:
        return ""
    wanted = set(_words(stem))
    best, best_score = "", 0.0
    for _, section in root.walk():
        if section.page != pages[0].index or not section.heading or len(section.heading) > MAX_CHARS:
            continue
        words = set(_words(section.heading))
        if not words or not wanted:
            continue
        shared = len(words & wanted)
        score = shared / len(wanted) + 0.5 * shared / len(words)
        if shared and shared / min(len(wanted), len(words)) >= MIN_SHARED and score > best_score:
            best, best_score = section.heading, score
    return best


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
