"""Lines in the order of reading, where a file stores a page's text boxes after its running text (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.documents.pdf.page import Line

JUMP_POINTS = 4.0


def in_reading_order(lines: Sequence[Line]) -> list[Line]:
    """Return lines in reading order, their rows numbered anew.

    A file's own order is kept, as it follows columns. Only where it jumps back up to lines that stand beside
    nothing that came before, those are put where their height says: what is stored later (a text box, a
    drawn cell) belongs between the headings around it, not below the last one.
    """
    ordered: list[Line] = []
    for run in _runs(lines):
        if ordered and run[0].box.middle_y < ordered[-1].box.middle_y and not _beside(run, ordered):
            for line in run:
                ordered.insert(_place(line, ordered), line)
        else:
            ordered.extend(run)
    return _numbered(ordered)


def _runs(lines: Sequence[Line]) -> list[list[Line]]:
    """Part lines where the next one stands higher than the one before."""
    runs: list[list[Line]] = []
    for line in lines:
        above = runs[-1][-1] if runs else None
        if above is None or line.box.middle_y < above.box.middle_y - max(JUMP_POINTS, 0.5 * line.box.height):
            runs.append([])
        runs[-1].append(line)
    return runs


def _beside(run: Sequence[Line], ordered: Sequence[Line]) -> bool:
    """Tell whether a line of the run stands beside an earlier one, so that the two are columns."""
    spans = sorted((line.box.y0, line.box.y1) for line in ordered)
    for line in run:
        middle = line.box.middle_y
        if any(y0 < middle < y1 for y0, y1 in spans):
            return True
    # The run as a whole reaches beside a column when earlier text stands left or right of its span throughout.
    top, bottom = run[0].box.y0, run[-1].box.y1
    left, right = min(line.box.x0 for line in run), max(line.box.x1 for line in run)
    between = [line for line in ordered if top < line.box.middle_y < bottom]
    return any(line.box.x1 < left + JUMP_POINTS or line.box.x0 > right - JUMP_POINTS for line in between)


def _place(line: Line, ordered: Sequence[Line]) -> int:
    """Return where a line goes: before the first one that stands lower, looked for from the end."""
    place = len(ordered)
    while place > 0 and ordered[place - 1].box.middle_y > line.box.middle_y:
        place -= 1
    return place


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
