"""What stands on a PDF page: words with their boxes and fonts, drawn lines, pictures (plain values)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle in points, origin at the top left of the page as it is read.

    A tuple, like what is made of it, because a page has thousands of them.
    """

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def middle_x(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def middle_y(self) -> float:
        return (self.y0 + self.y1) / 2

    def union(self, other: Box) -> Box:
        return Box(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def holds(self, x: float, y: float, slack: float = 0.0) -> bool:
        return self.x0 - slack <= x <= self.x1 + slack and self.y0 - slack <= y <= self.y1 + slack


def around(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around some (at least one)."""
    if len(boxes) == 1:
        return boxes[0]
    return Box(
        min([box.x0 for box in boxes]),
        min([box.y0 for box in boxes]),
        max([box.x1 for box in boxes]),
        max([box.y1 for box in boxes]),
    )


class Char(NamedTuple):
    """A character or a run of letters, the box of its font's line (not of its ink), its place in pdfium's text."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    number: int


class Word(NamedTuple):
    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Style:
    """How a line is set: size in points, bold and italic from first to last letter."""

    size: float
    bold: bool
    italic: bool = False


@dataclass(frozen=True)
class Line:
    """Words that stand side by side without a wide gap.

    Attributes:
        row: lines of one page with the same number stand at the same height, parted by wide gaps.
    """

    words: tuple[Word, ...]
    box: Box
    style: Style
    row: int
    page: int

    @cached_property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        index: 1-based.
        label: the printed label in the file's page labels, "" without.
        raw: the text as pdfium gives it.
        rules: drawn lines that are level or upright, as thin boxes.
        grounds: edges of coloured grounds, as thin boxes.
        drawn: number of pictures and paths; 0 on a blank page.
    """

    index: int
    width: float
    height: float
    label: str
    raw: str
    lines: tuple[Line, ...] = ()
    rules: tuple[Box, ...] = ()
    grounds: tuple[Box, ...] = ()
    drawn: int = 0
    warnings: tuple[str, ...] = field(default_factory=tuple)
