"""A page's lines, tables and columns in reading order (pure).

Where columns with titles stand side by side (adult and paediatric, indications and contraindications), each is
read from its title downward, so that the title goes into the path of what stands below it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from statistics import median

from retrieval.documents.pdf.alignment import aligned_table
from retrieval.documents.pdf.headings import Look
from retrieval.documents.pdf.lattice import Cell, Lattice
from retrieval.documents.pdf.page import Box, Line, Page, around
from retrieval.documents.tables import Table, divided

POPULATION = re.compile(
    r"\b(?:adults?|p(?:a)?ediatrics?|child(?:ren)?|infants?|neonat\w+|newborns?|pregnan\w+|elderly|adolescents?|"
    r"(?:non[- ]?)?pregnant|women|men|males?|females?)\b",
    re.IGNORECASE,
)
LONG_CELL_CHARS = 100
VERY_LONG_CELL_CHARS = 300
LABEL_MAX_CHARS = 70
COLUMN_TITLE_MAX_CHARS = 220
COLUMN_SLACK_POINTS = 6.0
TITLE_MAX_CHARS = 60
MAX_TABLE_ROWS = 80


@dataclass(frozen=True)
class Row:
    """Lines at one height, read as one.

    Attributes:
        underlined: a drawn line runs below all of it.
        right: where lines beside it end, so that one sees whether it was wrapped.
    """

    parts: tuple[Line, ...]
    underlined: bool = False

    @cached_property
    def text(self) -> str:
        return " ".join(part.text for part in self.parts)

    @cached_property
    def box(self) -> Box:
        return around([part.box for part in self.parts])

    @cached_property
    def size(self) -> float:
        return max(part.style.size for part in self.parts)

    @cached_property
    def bold(self) -> bool:
        worded = [part for part in self.parts if any(sign.isalpha() for sign in part.text)]
        return bool(worded) and all(part.style.bold for part in worded)

    @cached_property
    def page(self) -> int:
        return self.parts[0].page


@dataclass(frozen=True, slots=True)
class PlacedTable:
    captions: tuple[str, ...]
    table: Table
    page: int
    box: Box


@dataclass(frozen=True, slots=True)
class ColumnTitle:
    """A column begins.

    Attributes:
        nested: its title says for whom, and is no heading of the document's own.
        together: the titles of all columns as one line, with the first of them.
    """

    row: Row
    nested: bool
    together: str = ""


@dataclass(frozen=True, slots=True)
class ColumnsEnd:
    """The columns are over; what follows belongs to none of them."""


Element = Row | PlacedTable | ColumnTitle | ColumnsEnd


def flow_of(
    page: Page, gone: Collection[int], lattices: Sequence[Lattice], before: PlacedTable | None, body: float
) -> Iterator[Element]:
    """Yield what stands on a page in reading order.

    Args:
        gone: positions of lines to leave out.
        lattices: the page's drawn tables.
        before: the last table of the page before, whose header a table without one continues.
        body: size of the body's letters, in points.
    """
    owner = {place: lattice for lattice in lattices for place in lattice.places}
    done: list[Lattice] = []
    waiting: list[Line] = []
    for place, line in enumerate(page.lines):
        if place in gone:
            continue
        lattice = owner.get(place)
        if lattice is None:
            waiting.append(line)
            continue
        if any(lattice is other for other in done):
            continue
        yield from _in_columns(_rows(waiting, page), body)
        waiting = []
        done.append(lattice)
        yield from _table(lattice, page, before if len(done) == 1 else None, body)
    yield from _in_columns(_rows(waiting, page), body)


def look_of(row: Row, starts: bool, bold_body: bool = False) -> Look:
    """Return how a row looks; where the body is bold too, only capitals set a row apart by weight."""
    bold = row.bold and (not bold_body or row.text.isupper())
    return Look(row.text, row.size, bold, row.underlined, starts)


def _rows(lines: Sequence[Line], page: Page) -> list[Row]:
    rows: list[Row] = []
    for _, together in groupby(lines, key=lambda line: line.row):
        parts = tuple(together)
        rows.append(Row(parts, all(is_underlined(part, page.rules) for part in parts)))
    return rows


def is_underlined(line: Line, rules: Sequence[Box]) -> bool:
    """Tell whether drawn lines run right below most of a line of type, and not far beyond it."""
    box = line.box
    middle, lowest = box.middle_y, box.y1 + 0.25 * box.height
    covered = 0.0
    for rule in rules:
        near = middle < (rule.y0 + rule.y1) / 2 <= lowest
        if near and rule.height <= 2.5 and rule.x1 > box.x0 and rule.x0 < box.x1:
            if rule.x1 > box.x1 + 12 or rule.x0 < box.x0 - 12:
                return False
            covered += min(rule.x1, box.x1) - max(rule.x0, box.x0)
    return covered >= 0.8 * box.width


def _in_columns(rows: Sequence[Row], body: float) -> Iterator[Element]:
    """Yield rows; where titled columns begin, one column after the other; tables that no lines are drawn around."""
    at = 0
    while at < len(rows):
        found = None if _are_lists(rows[at]) else aligned_table([row.parts for row in rows[at : at + MAX_TABLE_ROWS]])
        if found is not None:
            table, taken = found
            yield PlacedTable((), table, rows[at].page, around([row.box for row in rows[at : at + taken]]))
            at += taken
            continue
        if not _are_titles(rows[at], body):
            yield rows[at]
            at += 1
            continue
        titles = rows[at].parts
        end = at + 1
        while end < len(rows) and _continues(rows[end], rows[end - 1], titles, body):
            end += 1
        if end - at < 2:
            yield rows[at]
            at += 1
            continue
        inside = [part for row in rows[at + 1 : end] for part in row.parts]
        nested = all(POPULATION.search(title.text) for title in titles)
        for number, title in enumerate(titles):
            yield ColumnTitle(Row((title,)), nested, "" if number else rows[at].text)
            column = [part for part in inside if _column_of(part, titles) == number]
            column.sort(key=lambda part: (part.box.y0, part.box.x0))
            for row in _by_height(column):
                yield Row(row)
        yield ColumnsEnd()
        at = end


def _are_lists(row: Row) -> bool:
    """Tell whether what stands below the parts of a row is for whole lists of them, and not for rows of a table."""
    texts = [part.text.strip() for part in row.parts]
    return len(texts) < 2 or any(text.endswith(":") for text in texts) or all(map(POPULATION.search, texts))


def _by_height(lines: Sequence[Line]) -> Iterator[tuple[Line, ...]]:
    together: list[Line] = []
    for line in lines:
        if together and abs(line.box.middle_y - together[-1].box.middle_y) > 0.4 * line.box.height:
            yield tuple(together)
            together = []
        together.append(line)
    if together:
        yield tuple(together)


def _are_titles(row: Row, body: float) -> bool:
    """Tell whether a row holds the titles of columns: two to four short texts, set apart or naming a population."""
    if not 2 <= len(row.parts) <= 4:
        return False
    texts = [part.text.strip() for part in row.parts]
    if any(len(text) > TITLE_MAX_CHARS or not any(sign.isalpha() for sign in text) for text in texts):
        return False
    if all(POPULATION.search(text) and len(text.split()) <= 4 for text in texts):
        return True
    set_apart = all(part.style.bold or part.style.size >= 1.12 * body for part in row.parts)
    return set_apart and all(text.endswith(":") or text.isupper() or text.istitle() for text in texts)


def _column_of(part: Line, titles: Sequence[Line]) -> int:
    starts = [title.box.x0 for title in titles]
    return max(
        (number for number, start in enumerate(starts) if part.box.x0 >= start - COLUMN_SLACK_POINTS * 2), default=0
    )


def _continues(row: Row, above: Row, titles: Sequence[Line], body: float) -> bool:
    """Tell whether a row stands within the columns below the titles."""
    if row.box.y0 < above.box.y0 - 200:
        return False
    if row.box.y0 - above.box.y1 > 3 * max(row.size, body):
        return False
    for part in row.parts:
        number = _column_of(part, titles)
        if part.box.x0 < titles[0].box.x0 - COLUMN_SLACK_POINTS * 2:
            return False
        if number + 1 < len(titles) and part.box.x1 > titles[number + 1].box.x0 + COLUMN_SLACK_POINTS:
            return False
    first = titles[0]
    like_titles = row.bold == first.style.bold and abs(row.size - first.style.size) <= 1.5 and len(row.parts) == 1
    return not (like_titles and first.style.bold and abs(row.box.x0 - first.box.x0) <= COLUMN_SLACK_POINTS)


def _table(lattice: Lattice, page: Page, before: PlacedTable | None, body: float) -> Iterator[Element]:
    grid = lattice.grid()
    bold = [all(cell.is_bold for cell in lattice.row_cells(row)) for row in range(lattice.rows)]
    captions, table = divided(grid, bold)
    header_row = len(captions)
    if _is_prose(lattice, header_row):
        titles = lattice.row_cells(header_row)
        named = len(titles) >= 2 and all(_is_title(cell) for cell in titles)
        if named and header_row + 1 < lattice.rows:
            yield from _as_columns(lattice, header_row, page)
        else:
            for cell in lattice.cells:
                yield from _in_columns(_rows(cell.lines, page), body)
    elif any(table.header) and all(POPULATION.search(cell) for cell in table.header) and lattice.columns <= 4:
        yield from _as_columns(lattice, header_row, page)
    else:
        if not any(table.header) and before is not None and _goes_on(lattice, before):
            table = Table(before.table.header, table.rows)
        yield PlacedTable(captions, table, page.index, lattice.box)


def _is_prose(lattice: Lattice, header_row: int) -> bool:
    """Tell whether a drawn table only places running text side by side.

    Its first column holds no short labels, and its cells are long or hold many lines.
    """
    if lattice.columns > 4:
        return False
    below = [cell for cell in lattice.cells if cell.row > header_row or header_row + 1 == lattice.rows]
    if not below:
        return False
    first = [cell for cell in below if cell.column == 0 and cell.column_end == 1]
    lengths = [len(cell.text) for cell in first]
    labels = len(first) >= 2 and median(lengths) <= LABEL_MAX_CHARS / 2 and max(lengths) <= 2 * LABEL_MAX_CHARS
    unnamed = header_row + 1 < lattice.rows and all(cell.column for cell in lattice.row_cells(header_row))
    if labels or (unnamed and len(first) >= 2):
        return False
    lengths = [len(cell.text) for cell in below]
    return median(lengths) > LONG_CELL_CHARS or max(lengths) > VERY_LONG_CELL_CHARS


def _is_title(cell: Cell) -> bool:
    return bool(cell.lines) and cell.lines[0].style.bold and len(cell.text) <= COLUMN_TITLE_MAX_CHARS


def _goes_on(lattice: Lattice, before: PlacedTable) -> bool:
    return (
        len(before.table.header) == lattice.columns
        and abs(lattice.box.x0 - before.box.x0) <= COLUMN_SLACK_POINTS
        and abs(lattice.box.x1 - before.box.x1) <= COLUMN_SLACK_POINTS
    )


def _as_columns(lattice: Lattice, header_row: int, page: Page) -> Iterator[Element]:
    """Yield the captions, then each column from its header downward."""
    for row in range(header_row):
        for cell in lattice.row_cells(row):
            yield from _rows(cell.lines, page)
    # What runs below all columns belongs to none of them.
    across = [
        cell for cell in lattice.cells if cell.row > header_row and cell.column_end - cell.column == lattice.columns
    ]
    for column in range(lattice.columns):
        title = _cell_at(lattice, header_row, column)
        below = [cell for cell in lattice.cells if cell.row > header_row and cell.column == column]
        below = [cell for cell in below if cell not in across]
        if title is not None and title.column == column:
            yield ColumnTitle(Row(title.lines), nested=True)
        for cell in below:
            yield from _rows(cell.lines, page)
    yield ColumnsEnd()
    for cell in across:
        yield from _rows(cell.lines, page)


def _cell_at(lattice: Lattice, row: int, column: int) -> Cell | None:
    return next(
        (cell for cell in lattice.cells if cell.row <= row < cell.row_end and cell.column <= column < cell.column_end),
        None,
    )
