"""Characters in reading order → lines of words, parted at wide gaps (pure)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from retrieval.documents.pdf.page import Box, Char, Line, Style, Word, around

# A gap of so many sizes parts columns; justified text stays below it.
WIDE_GAP = 1.7
_SUPERSCRIPTS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_SUPERSCRIPT_SIGNS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"})
# pdfium's mark for a hyphen that only broke a word at the end of a line.
_SOFT_HYPHENS = "\ufffe\u00ad\x02"
StyleOf = Callable[[Char, Char, float], Style]


def lines_of(chars: Sequence[Char], page: int, style_of: StyleOf) -> Iterator[Line]:
    """Yield a page's lines in the order of its content.

    Args:
        style_of: tells a line's style from its first and last letter and its size.
    """
    row = 0
    last: Box | None = None
    for run in _runs(chars):
        for part in _parted(run):
            words = _words(part)
            if not words:
                continue
            visible = [char for char in part if not char.text.isspace()]
            letters = [char for char in visible if char.text.isalnum()] or visible
            size = median(char.box.height for char in letters)
            box = around([word.box for word in words])
            if last is None or not _same_height(last, box):
                row += 1
            last = box
            yield Line(words, box, style_of(letters[0], letters[-1], size), row, page)


def _runs(chars: Sequence[Char]) -> Iterator[list[Char]]:
    run: list[Char] = []
    for char in chars:
        if char.text in "\r\n":
            if run:
                yield run
            run = []
        else:
            run.append(char)
    if run:
        yield run


def _parted(run: Sequence[Char]) -> Iterator[list[Char]]:
    """Part a run where its characters jump: a wide gap, another height, back to the left."""
    part: list[Char] = []
    before: Char | None = None
    for char in run:
        if char.text.isspace() or char.box.width < 0:
            part.append(char)
            continue
        if before is not None:
            size = max(before.box.height, char.box.height, 1.0)
            gap = char.box.x0 - before.box.x1
            apart = gap > WIDE_GAP * size or gap < -2 * size
            if apart or abs(char.box.middle_y - before.box.middle_y) > 0.8 * size:
                yield part
                part = []
        part.append(char)
        before = char
    if part:
        yield part


def _same_height(one: Box, two: Box) -> bool:
    return abs(one.middle_y - two.middle_y) < 0.4 * max(one.height, two.height)


def _words(part: Sequence[Char]) -> tuple[Word, ...]:
    words: list[Word] = []
    text: list[str] = []
    boxes: list[Box] = []

    def end() -> None:
        if text:
            words.append(Word("".join(text), around(boxes)))
            text.clear()
            boxes.clear()

    for char in part:
        if char.text.isspace():
            end()
            continue
        if char.text in _SOFT_HYPHENS:
            text.append("\u00ad")
            boxes.append(char.box)
            continue
        if unicodedata.category(char.text) in ("Cc", "Cf"):
            continue
        size = char.box.height
        if boxes and char.box.x0 - boxes[-1].x1 > 0.35 * max(size, boxes[-1].height):
            end()
        shown = char.text.translate(_LIGATURES)
        if boxes and (base := _base(text, boxes)) is not None and _raised(char.box, base):
            # 10 to the 9th must not read 109.
            shown = shown.translate(_SUPERSCRIPTS)
        text.append(shown)
        boxes.append(char.box)
    end()
    return tuple(words)


def _base(text: Sequence[str], boxes: Sequence[Box]) -> Box | None:
    """Return the box of the digit that a superscript would stand on, or None."""
    for part, box in zip(reversed(text), reversed(boxes), strict=True):
        if part[-1:] not in _SUPERSCRIPT_SIGNS:
            return box if part[-1:].isdigit() else None
    return None


def _raised(box: Box, before: Box) -> bool:
    return box.height < 0.8 * before.height and before.y1 - box.y1 > 0.2 * before.height
