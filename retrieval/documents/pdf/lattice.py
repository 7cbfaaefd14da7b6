"""Tables that are drawn with lines: cells from the rules, words into cells (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from retrieval.documents.pdf.page import Box, Line, Page, Word, around

SNAP_POINTS = 3.0
MIN_CELL_POINTS = 6.0
HEADER_WITHIN_POINTS = 32.0
HEADER_NAME_MAX_CHARS = 60
MIN_CLOSED_SHARE = 0.85
MIN_SIDE_SHARE = 0.7
MAX_LINES_A_TABLE = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell, merged or not, over rows [row, row_end) and columns [column, column_end)."""

    row: int
    column: int
    row_end: int
    column_end: int
    box: Box
    words: tuple[Word, ...] = ()
    lines: tuple[Line, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words).replace("\u00ad ", "").replace("\u00ad", "-")

    @property
    def is_bold(self) -> bool:
        return bool(self.lines) and all(line.style.bold for line in self.lines)


@dataclass(frozen=True, slots=True)
class Lattice:
    """A drawn table.

    Attributes:
        places: positions in the page's lines that stand in it.
    """

    box: Box
    rows: int
    columns: int
    cells: tuple[Cell, ...]
    places: frozenset[int]

    def grid(self) -> list[list[str]]:
        """Return the texts, a merged cell's in every place that it covers."""
        grid = [[""] * self.columns for _ in range(self.rows)]
        for cell in self.cells:
            for row in range(cell.row, cell.row_end):
                for column in range(cell.column, cell.column_end):
                    grid[row][column] = cell.text
        return grid

    def row_cells(self, row: int) -> list[Cell]:
        return [cell for cell in self.cells if cell.row <= row < cell.row_end]


def lattices_of(page: Page) -> list[Lattice]:
    """Return the drawn tables of at least two columns and two rows, from the top."""
    drawn = _found(page, page.rules)
    if page.grounds:
        # Coloured grounds make a table only where no lines do: they often colour each line of a cell.
        coloured = _found(page, [*page.rules, *page.grounds])
        drawn.extend(one for one in coloured if not any(one.places & two.places for two in drawn))
    drawn.sort(key=lambda lattice: (lattice.box.y0, lattice.box.x0))
    return [_with_header(page, lattice) for lattice in drawn]


def _with_header(page: Page, lattice: Lattice) -> Lattice:
    """Return the lattice with the line of column names right above it, where its first row names none.

    A header may be drawn as a coloured band without lines of its own.
    """
    if all(cell.is_bold for cell in lattice.row_cells(0)):
        return lattice
    starts = [min(c.box.x0 for c in lattice.cells if c.column == n) for n in range(lattice.columns)]
    near = [
        (place, line)
        for place, line in enumerate(page.lines)
        if place not in lattice.places
        and lattice.box.y0 - HEADER_WITHIN_POINTS <= line.box.middle_y <= lattice.box.y0 + SNAP_POINTS
        and line.box.x0 >= lattice.box.x0 - SNAP_POINTS
        and line.box.x1 <= lattice.box.x1 + SNAP_POINTS
    ]
    if not near:
        return lattice
    lowest = max(line.box.middle_y for _, line in near)
    names = [(place, line) for place, line in near if line.box.middle_y > lowest - line.box.height / 2]
    columns = [max(n for n, start in enumerate(starts) if start <= line.box.x0 + SNAP_POINTS) for _, line in names]
    enough = len(set(columns)) == len(columns) >= max(2, lattice.columns - 1)
    if not enough or any(len(line.text) > HEADER_NAME_MAX_CHARS for _, line in names):
        return lattice
    top = min(line.box.y0 for _, line in names)
    head = tuple(
        Cell(0, column, 1, column + 1, line.box._replace(y0=top), line.words, (line,))
        for column, (_, line) in sorted(zip(columns, names, strict=True), key=lambda pair: pair[0])
    )
    below = tuple(replace(cell, row=cell.row + 1, row_end=cell.row_end + 1) for cell in lattice.cells)
    places = lattice.places | {place for place, _ in names}
    return Lattice(lattice.box._replace(y0=top), lattice.rows + 1, lattice.columns, (*head, *below), places)


def _found(page: Page, rules: Sequence[Box]) -> list[Lattice]:
    level = [rule for rule in rules if rule.width >= rule.height and rule.width > MIN_CELL_POINTS]
    upright = [rule for rule in rules if rule.height > rule.width and rule.height > MIN_CELL_POINTS]
    found: list[Lattice] = []
    for levels, uprights in _connected(_joined(level, True), _joined(upright, False)):
        if len(levels) + len(uprights) > MAX_LINES_A_TABLE * 4:
            continue
        lattice = _lattice(page, levels, uprights)
        if lattice is not None:
            found.append(lattice)
    return [one for one in found if not any(two is not one and _inside(one.box, two.box) for two in found)]


def _inside(one: Box, two: Box) -> bool:
    return two.holds(one.x0, one.y0, SNAP_POINTS) and two.holds(one.x1, one.y1, SNAP_POINTS)


def _joined(rules: Sequence[Box], level: bool) -> list[Box]:
    """Join rules that lie on one line and touch: tables are often drawn cell by cell."""

    def across(rule: Box) -> float:
        return rule.middle_y if level else rule.middle_x

    def along(rule: Box) -> tuple[float, float]:
        return (rule.x0, rule.x1) if level else (rule.y0, rule.y1)

    clusters: list[list[Box]] = []
    for rule in sorted(rules, key=across):
        if clusters and across(rule) - across(clusters[-1][0]) <= SNAP_POINTS:
            clusters[-1].append(rule)
        else:
            clusters.append([rule])
    joined: list[Box] = []
    for cluster in clusters:
        run: list[Box] = []
        end = 0.0
        for rule in sorted(cluster, key=along):
            if run and along(rule)[0] > end + SNAP_POINTS:
                joined.append(around(run))
                run = []
            end = max(end, along(rule)[1]) if run else along(rule)[1]
            run.append(rule)
        if run:
            joined.append(around(run))
    return joined


def _connected(levels: Sequence[Box], uprights: Sequence[Box]) -> Iterator[tuple[list[Box], list[Box]]]:
    """Yield groups of rules that cross or touch each other."""
    rules = [*levels, *uprights]
    group = list(range(len(rules)))

    def top(number: int) -> int:
        while group[number] != number:
            group[number] = group[group[number]]
            number = group[number]
        return number

    for one, level in enumerate(levels):
        for two, upright in enumerate(uprights, len(levels)):
            if _touch(level, upright):
                group[top(one)] = top(two)
    members: dict[int, list[int]] = {}
    for number in range(len(rules)):
        members.setdefault(top(number), []).append(number)
    for numbers in members.values():
        inside = [rules[n] for n in numbers if n < len(levels)], [rules[n] for n in numbers if n >= len(levels)]
        if len(inside[0]) >= 2 and len(inside[1]) >= 2:
            yield inside


def _touch(level: Box, upright: Box) -> bool:
    return (
        level.x0 - SNAP_POINTS <= upright.middle_x <= level.x1 + SNAP_POINTS
        and upright.y0 - SNAP_POINTS <= level.middle_y <= upright.y1 + SNAP_POINTS
    )


def _lattice(page: Page, levels: Sequence[Box], uprights: Sequence[Box]) -> Lattice | None:
    xs = _positions([rule.middle_x for rule in uprights])
    ys = _positions([rule.middle_y for rule in levels])
    if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > 8000:
        return None
    box = Box(xs[0], ys[0], xs[-1], ys[-1])
    places = frozenset(
        place for place, line in enumerate(page.lines) if box.holds(line.box.middle_x, line.box.middle_y)
    )
    cells = _filled(
        _cells(xs, ys, levels, uprights), _Grid(tuple(xs), tuple(ys)), [page.lines[place] for place in sorted(places)]
    )
    if not _is_drawn([cell for cell in cells if cell.words], levels, uprights):
        return None
    kept_rows = sorted({cell.row for cell in cells if cell.words})
    kept_columns = sorted({cell.column for cell in cells if cell.words})
    if len(kept_rows) < 2 or len(kept_columns) < 2:
        return None
    rows = {row: number for number, row in enumerate(kept_rows)}
    columns = {column: number for number, column in enumerate(kept_columns)}
    squeezed = [
        Cell(
            rows[cell.row],
            columns[cell.column],
            sum(row < cell.row_end for row in kept_rows),
            sum(column < cell.column_end for column in kept_columns),
            cell.box,
            cell.words,
            cell.lines,
        )
        for cell in cells
        if cell.words
    ]
    return Lattice(box, len(kept_rows), len(kept_columns), tuple(squeezed), places)


def _is_drawn(cells: Sequence[Cell], levels: Sequence[Box], uprights: Sequence[Box]) -> bool:
    """Tell whether the cells are closed by rules and no text runs over their edges.

    Boxes of a flow chart, joined by arrows, make a grid too, but its places are open.
    """
    if not cells:
        return False
    closed = sum(1 for cell in cells if _is_closed(cell.box, levels, uprights))
    overrun = sum(1 for cell in cells if any(word.box.x1 > cell.box.x1 + 8 for word in cell.words))
    return closed >= MIN_CLOSED_SHARE * len(cells) and overrun <= (1 - MIN_CLOSED_SHARE) * len(cells)


def _is_closed(box: Box, levels: Sequence[Box], uprights: Sequence[Box]) -> bool:
    for y in (box.y0, box.y1):
        spans = [(rule.x0, rule.x1) for rule in levels if abs(rule.middle_y - y) <= MIN_CELL_POINTS]
        if _covered(box.x0, box.x1, spans) < MIN_SIDE_SHARE * box.width:
            return False
    for x in (box.x0, box.x1):
        spans = [(rule.y0, rule.y1) for rule in uprights if abs(rule.middle_x - x) <= MIN_CELL_POINTS]
        if _covered(box.y0, box.y1, spans) < MIN_SIDE_SHARE * box.height:
            return False
    return True


def _covered(start: float, end: float, spans: Sequence[tuple[float, float]]) -> float:
    covered, reached = 0.0, start
    for low, high in sorted(spans):
        low, high = max(low, reached), min(high, end)
        if high > low:
            covered += high - low
            reached = high
    return covered


def _positions(values: Sequence[float]) -> list[float]:
    positions: list[float] = []
    for value in sorted(values):
        if not positions or value - positions[-1] > MIN_CELL_POINTS:
            positions.append(value)
    return positions


def _cells(xs: Sequence[float], ys: Sequence[float], levels: Sequence[Box], uprights: Sequence[Box]) -> list[Cell]:
    """Return the grid's cells; places without a rule between them are one cell."""
    rows, columns = len(ys) - 1, len(xs) - 1

    def wall(column: int, row: int) -> bool:
        y = (ys[row] + ys[row + 1]) / 2
        return any(abs(rule.middle_x - xs[column]) <= MIN_CELL_POINTS and rule.y0 <= y <= rule.y1 for rule in uprights)

    def floor(row: int, column: int) -> bool:
        x = (xs[column] + xs[column + 1]) / 2
        return any(abs(rule.middle_y - ys[row]) <= MIN_CELL_POINTS and rule.x0 <= x <= rule.x1 for rule in levels)

    taken: set[tuple[int, int]] = set()
    cells: list[Cell] = []
    for row in range(rows):
        for column in range(columns):
            if (row, column) in taken:
                continue
            column_end = column + 1
            while column_end < columns and not wall(column_end, row) and (row, column_end) not in taken:
                column_end += 1
            row_end = row + 1
            while row_end < rows and not any(floor(row_end, place) for place in range(column, column_end)):
                row_end += 1
            taken.update((r, c) for r in range(row, row_end) for c in range(column, column_end))
            cells.append(Cell(row, column, row_end, column_end, Box(xs[column], ys[row], xs[column_end], ys[row_end])))
    return cells


@dataclass(frozen=True, slots=True)
class _Grid:
    """The positions of upright and level rules."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]


def _filled(cells: Sequence[Cell], grid: _Grid, lines: Sequence[Line]) -> list[Cell]:
    places = {
        (row, column): number
        for number, cell in enumerate(cells)
        for row in range(cell.row, cell.row_end)
        for column in range(cell.column, cell.column_end)
    }
    words: dict[int, list[Word]] = {}
    parts: dict[int, list[Line]] = {}
    for line in lines:
        by_cell: dict[int, list[Word]] = {}
        for word in line.words:
            number = _cell_of(cells, places, grid, word.box)
            if number is not None:
                by_cell.setdefault(number, []).append(word)
        for number, inside in by_cell.items():
            words.setdefault(number, []).extend(inside)
            box = around([word.box for word in inside])
            parts.setdefault(number, []).append(Line(tuple(inside), box, line.style, line.row, line.page))
    return [
        Cell(
            cell.row, cell.column, cell.row_end, cell.column_end, cell.box,
            tuple(words.get(number, ())), tuple(parts.get(number, ())),
        )
        for number, cell in enumerate(cells)
    ]  # fmt: skip


def _cell_of(cells: Sequence[Cell], places: Mapping[tuple[int, int], int], grid: _Grid, box: Box) -> int | None:
    # The start of a word decides: a long one may run over the edge.
    column = bisect_right(grid.xs, min(box.x0 + 2, box.middle_x)) - 1
    row = bisect_right(grid.ys, box.middle_y) - 1
    column = min(max(column, 0), len(grid.xs) - 2)
    row = min(max(row, 0), len(grid.ys) - 2)
    return places.get((row, column))
