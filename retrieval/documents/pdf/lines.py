"""Characters in reading order → lines of words, parted at wide gaps (pure)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from retrieval.documents.pdf.page import Box, Char, Line, Style, Word, around

# A gap of so many sizes parts columns; justified text stays below it.
WIDE_GAP = 1.7
# A gap of so many sizes parts words where no blank is stored between them.
WORD_GAP = 0.35
_SUPERSCRIPTS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_SUPERSCRIPT_SIGNS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_RAISABLE = frozenset("0123456789+-−")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"})
# pdfium's mark for a hyphen that only broke a word at the end of a line.
_SOFT_HYPHENS = frozenset("\ufffe\u00ad\x02")
SOFT_HYPHEN = "\u00ad"
StyleOf = Callable[[Char, Char, float], Style]


def lines_of(chars: Sequence[Char], page: int, style_of: StyleOf) -> Iterator[Line]:
    """Yield a page's lines in the order of its content.

    Args:
        style_of: tells a line's style from its first and last letter and its size.
    """
    for part in _parts(chars):
        words = tuple(_words(part))
        if not words:
            continue
        letters = [char for char in part if char.text.isalnum()]
        letters = letters or [char for char in part if not char.text.isspace()]
        size = median([char.y1 - char.y0 for char in letters])
        box = around([word.box for word in words])
        yield Line(words, box, style_of(letters[0], letters[-1], size), 0, page)


def _parts(chars: Sequence[Char]) -> Iterator[list[Char]]:
    """Part characters at line breaks and where they jump: a wide gap, another height, back to the left."""
    part: list[Char] = []
    before: Char | None = None
    for char in chars:
        text = char.text
        if text in "\r\n":
            if part:
                yield part
            part, before = [], None
            continue
        if not text.isspace() and char.x1 > char.x0:
            if before is not None:
                size = max(before.y1 - before.y0, char.y1 - char.y0, 1.0)
                gap = char.x0 - before.x1
                rise = (char.y0 + char.y1 - before.y0 - before.y1) / 2
                if gap > WIDE_GAP * size or gap < -2 * size or abs(rise) > 0.8 * size:
                    yield part
                    part = []
            before = char
        part.append(char)
    if part:
        yield part


def _words(part: Sequence[Char]) -> Iterator[Word]:
    texts: list[str] = []
    inside: list[Char] = []
    for char in part:
        text = char.text
        if text.isspace():
            if inside:
                yield _word(texts, inside)
                texts, inside = [], []
            continue
        if text in _SOFT_HYPHENS:
            text = SOFT_HYPHEN
        elif not text.isprintable() and len(text) == 1 and unicodedata.category(text) in ("Cc", "Cf"):
            continue
        if inside:
            last = inside[-1]
            if char.x0 - last.x1 > WORD_GAP * max(char.y1 - char.y0, last.y1 - last.y0):
                yield _word(texts, inside)
                texts, inside = [], []
            elif text[0] in _RAISABLE and _is_superscript(char, texts, inside):
                # 10 to the 9th must not read 109.
                text = text.translate(_SUPERSCRIPTS)
        texts.append(text.translate(_LIGATURES))
        inside.append(char)
    if inside:
        yield _word(texts, inside)


def _word(texts: Sequence[str], chars: Sequence[Char]) -> Word:
    if len(chars) == 1:
        return Word(texts[0], Box(*chars[0][1:5]))
    box = Box(
        min([char.x0 for char in chars]),
        min([char.y0 for char in chars]),
        max([char.x1 for char in chars]),
        max([char.y1 for char in chars]),
    )
    return Word("".join(texts), box)


def _is_superscript(char: Char, texts: Sequence[str], chars: Sequence[Char]) -> bool:
    """Tell whether a character is small and stands raised on a digit."""
    for text, base in zip(reversed(texts), reversed(chars), strict=True):
        if text[0] in _SUPERSCRIPT_SIGNS:
            continue
        height = base.y1 - base.y0
        return text[-1:].isdigit() and char.y1 - char.y0 < 0.8 * height and base.y1 - char.y1 > 0.2 * height
    return False
