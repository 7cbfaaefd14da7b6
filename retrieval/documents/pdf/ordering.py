"""Lines in the order of reading, where a file stores parts of a page out of it (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.documents.pdf.page import Line

# Two lines are above each other when they share so much of the narrower one's width.
SHARED_WIDTH = 0.5


def in_reading_order(lines: Sequence[Line]) -> list[Line]:
    """Return lines in reading order, their rows numbered anew.

    A file's own order is kept, as it follows columns. But a line that is stored after lines that stand right
    below it (the title of a box, a text box between headings, a footer that is stored first) goes before the
    first of those: a heading read after its text would name other text.
    """
    ordered: list[Line] = []
    lowest = 0.0
    before = -1
    for line in lines:
        middle = line.box.middle_y + 0.5 * line.box.height
        place = len(ordered)
        if before >= 0 and _goes_on(ordered[before], line):
            place = before + 1
        if middle < lowest:
            place = _first_below(ordered, line, middle, place)
            # What the found line belongs to may begin with a short line beside this one: a heading.
            while 0 < place < len(ordered) and _begins(ordered[place - 1], ordered[place], middle):
                place -= 1
            while 0 < place < len(ordered) and _same_height(ordered[place - 1], ordered[place]):
                place -= 1
        ordered.insert(place, line)
        before = place
        lowest = max(lowest, line.box.middle_y)
    return _numbered(ordered)


def _goes_on(above: Line, line: Line) -> bool:
    """Tell whether a line stands right beside or closely below the one that is stored before it."""
    height = max(above.box.height, line.box.height)
    beside = abs(above.box.middle_y - line.box.middle_y) < 0.5 * height and line.box.x0 > above.box.x0
    gap = line.box.y0 - above.box.y1
    below = -0.5 * height < gap < 3 * height and above.box.x0 < line.box.x1 and above.box.x1 > line.box.x0
    return beside or below


def _first_below(ordered: Sequence[Line], line: Line, middle: float, place: int) -> int:
    """Return where the first line that stands right below a line is; `place` where there is none."""
    left, _, right, _ = line.box
    width = right - left
    for at, other in enumerate(ordered):
        x0, y0, x1, y1 = other.box
        # The same as `_is_below`, spelled out: it is asked for every pair of lines.
        if y0 + y1 > 2 * middle and min(x1, right) - max(x0, left) >= SHARED_WIDTH * min(x1 - x0, width):
            return at
    return place


def _is_below(other: Line, line: Line, middle: float) -> bool:
    if other.box.middle_y <= middle:
        return False
    shared = min(other.box.x1, line.box.x1) - max(other.box.x0, line.box.x0)
    return shared >= SHARED_WIDTH * min(other.box.width, line.box.width)


def _same_height(one: Line, two: Line) -> bool:
    return abs(one.box.middle_y - two.box.middle_y) < 0.4 * max(one.box.height, two.box.height)


def _begins(first: Line, second: Line, middle: float) -> bool:
    return first.box.middle_y > middle and _is_below(second, first, first.box.middle_y)


def _numbered(lines: Sequence[Line]) -> list[Line]:
    numbered: list[Line] = []
    row = 0
    for line in lines:
        if numbered:
            above = numbered[-1].box
            apart = abs(above.middle_y - line.box.middle_y) >= 0.4 * max(above.height, line.box.height)
            row += 1 if apart else 0
        numbered.append(replace(line, row=row))
    return numbered
