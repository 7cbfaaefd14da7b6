"""Tables without lines: rows whose parts stand below each other, with a header that names the columns (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from retrieval.documents.pdf.headings import BULLETS
from retrieval.documents.pdf.page import Line
from retrieval.documents.tables import Table

MIN_ROWS = 3
MAX_COLUMNS = 8
SLACK_POINTS = 8.0
MAX_GAP_SIZES = 2.2
CELL_MAX_CHARS = 120


def aligned_table(rows: Sequence[Sequence[Line]]) -> tuple[Table, int] | None:
    """Return the table that begins with the first of some rows and the number of rows that it takes, or None.

    Without lines nothing but a header proves a table: its first row must name the columns, and at least two
    rows must follow. A row that only fills columns after the first, close below another, goes on in its cells.

    Args:
        rows: the parts of each row of a page, from the left, in reading order.
    """
    if len(rows) < MIN_ROWS or not 2 <= len(rows[0]) <= MAX_COLUMNS:
        return None
    run = _near(rows)
    widest = max(run[: 4 * MIN_ROWS], key=len)
    if len(widest) > MAX_COLUMNS:
        return None
    starts = [part.box.x0 for part in widest]
    grid: list[list[str]] = []
    bold: list[bool] = []
    full = taken = 0
    for row in run:
        columns = [_column(part, starts) for part in row]
        if any(column is None for column in columns) or len(set(columns)) < len(columns):
            break
        goes_on = bool(grid) and len(row) == 1 and (columns[0] != 0 or (len(grid[-1][0]) > 0 and len(starts) > 2))
        if not goes_on:
            grid.append([""] * len(starts))
            bold.append(all(part.style.bold for part in row))
        for part, column in zip(row, columns, strict=True):
            assert column is not None
            grid[-1][column] = f"{grid[-1][column]} {part.text}".strip()
        full += len(row) >= 2
        taken += 1
    if full < MIN_ROWS or any(len(cell) > CELL_MAX_CHARS for row in grid for cell in row):
        return None
    if any(cell[:1] in BULLETS for row in grid[1:] for cell in row if cell[1:2] == " "):
        return None
    marked = bold[0] and not all(bold[1:])
    filled = sum(1 for row in grid for cell in row if cell)
    if filled < 0.7 * len(grid) * len(starts) or not Table.begins_with_header(grid, marked=marked):
        return None
    return Table.of(grid[:1], grid[1:]), taken


def _near(rows: Sequence[Sequence[Line]]) -> list[Sequence[Line]]:
    """Return the first rows, as far as no wide gap parts them."""
    near = [rows[0]]
    for row in rows[1:]:
        above = max(part.box.y1 for part in near[-1])
        top, size = min(part.box.y0 for part in row), row[0].style.size
        if not -0.8 * size < top - above < MAX_GAP_SIZES * size:
            break
        near.append(row)
    return near


def _column(part: Line, starts: Sequence[float]) -> int | None:
    """Return the column that a part stands in, None where it reaches over the next one."""
    column = bisect_right(starts, part.box.x0 + SLACK_POINTS) - 1
    if column < 0:
        return None
    if column + 1 < len(starts) and part.box.x1 > starts[column + 1]:
        # Centred in its column, it may begin before the column's other texts.
        return column + 1 if part.box.x0 > (starts[column] + starts[column + 1]) / 2 else None
    return column
