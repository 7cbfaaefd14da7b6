"""Is a page's text layer text at all? (pure)"""

from __future__ import annotations

import re

# A page is judged only with so many characters.
MIN_CHARACTERS = 40
MAX_UNREADABLE_SHARE = 0.15
MIN_PLAIN_SHARE = 0.6
MIN_VOWELED_SHARE = 0.45
# Control and private characters, and the sign for a letter without a code.
_UNREADABLE = re.compile("[\\x00-\\x08\\x0e-\\x1f\\x7f-\\x9f\\ud800-\\udfff\\ue000-\\uf8ff\\ufffd]")
_WORD = re.compile(r"[A-Za-z]{3,}")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_ASCII_LETTER = re.compile(r"[A-Za-z]")


def is_legible(text: str) -> bool:
    """Tell whether text can be read, and is not what a font without a proper encoding leaves.

    Such text is full of control or private characters, or of letters that make no words. True for text too
    short to tell.
    """
    visible = "".join(text.split())
    if len(visible) < MIN_CHARACTERS:
        return True
    if len(_UNREADABLE.findall(visible)) > MAX_UNREADABLE_SHARE * len(visible):
        return False
    plain = sum(map(str.isalnum, visible))
    if plain < MIN_PLAIN_SHARE * len(visible) and not _mostly_drawn(visible):
        return False
    if len(_ASCII_LETTER.findall(text)) < 0.5 * plain:
        # Another script, or mostly numbers: nothing to judge by.
        return True
    words = _WORD.findall(text)
    if len(words) < 20:
        return True
    voweled = sum(1 for word in words if _VOWEL.search(word))
    return voweled >= MIN_VOWELED_SHARE * len(words)


def _mostly_drawn(visible: str) -> bool:
    """Tell whether the signs are those that lines and dots are drawn with (a table of contents, a form)."""
    return sum(1 for sign in visible if sign in ".-_…=·") > 0.3 * len(visible)
