"""HTML tables → a header and rows: merged cells spread out, row headings carried downward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from selectolax.lexbor import LexborNode

from retrieval.documents.html_text import text_of
from retrieval.documents.tables import Table, divided

MAX_SPAN = 200
MAX_HEADER_ROWS = 3


def own_rows(table: LexborNode) -> list[LexborNode]:
    """Return the table's rows, without those of tables inside it."""
    return list(_rows(table))


def cells_of(row: LexborNode) -> list[LexborNode]:
    return [cell for cell in row.iter() if cell.tag in ("td", "th")]


def is_layout(table: LexborNode) -> bool:
    """Tell whether the table only places text: it holds headings or tables, or has one row or one column."""
    if table.css_first("table table, h1, h2, h3, h4, h5, h6") is not None:
        return True
    rows = own_rows(table)
    widths = [len(cells_of(row)) for row in rows]
    if any(_span(cell, "colspan") > 1 for row in rows for cell in cells_of(row)) and len(rows) > 1:
        return False
    return max(widths, default=0) < 2 or len(rows) < 2


def table_of(node: LexborNode) -> tuple[tuple[str, ...], Table]:
    """Read a table: the captions in its first rows, and its header and rows.

    The header is its leading rows of header cells, or else its first rows where they read like one.
    """
    rows = own_rows(node)
    cells = [cells_of(row) for row in rows]
    grid = _grid(cells)
    heads = 0
    for row, own in zip(rows, cells, strict=True):
        in_head = row.parent is not None and row.parent.tag == "thead"
        if not (in_head or (own and all(cell.tag == "th" for cell in own))):
            break
        heads += 1
    if heads == 0 and rows:
        # A merged cell beside split ones makes a header of several rows: its top right part names none of them.
        reach = max((_span(cell, "rowspan") for cell in cells[0]), default=1)
        split = any(_span(cell, "colspan") > 1 for cell in cells[0])
        if split and 1 < reach <= MAX_HEADER_ROWS and reach < len(rows):
            heads = reach
    bold = [all(_is_bold(cell) for cell in own if text_of(cell)) for own in cells]
    return divided(grid, bold, min(heads, len(rows)))


def _is_bold(cell: LexborNode) -> bool:
    bold = sum(len("".join(text_of(part).split())) for part in cell.css("strong, b"))
    return cell.tag == "th" or bold >= len("".join(text_of(cell).split()))


def _rows(node: LexborNode) -> Iterator[LexborNode]:
    for child in node.iter():
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from _rows(child)


def _grid(rows: Sequence[Sequence[LexborNode]]) -> list[list[str]]:
    """Spread merged cells over the places that they cover."""
    grid: list[list[str]] = []
    reaching: dict[int, tuple[int, str]] = {}
    for cells in rows:
        line: list[str] = []
        waiting = list(cells)
        while waiting or any(column >= len(line) for column in reaching):
            column = len(line)
            if column in reaching:
                left, text = reaching.pop(column)
                line.append(text)
                if left > 1:
                    reaching[column] = (left - 1, text)
                    # Looked at again only in the next row.
                    if not waiting and all(later < len(line) for later in reaching):
                        break
                continue
            if not waiting:
                line.append("")
                continue
            cell = waiting.pop(0)
            text = " ".join(text_of(cell).split())
            for _ in range(_span(cell, "colspan")):
                if _span(cell, "rowspan") > 1:
                    reaching[len(line)] = (_span(cell, "rowspan") - 1, text)
                    line.append(text)
                else:
                    line.append(text)
        grid.append(line)
    width = max(map(len, grid), default=0)
    return [line + [""] * (width - len(line)) for line in grid]


def _span(cell: LexborNode, attribute: str) -> int:
    value = (cell.attributes.get(attribute) or "1").strip()
    return min(max(int(value), 1), MAX_SPAN) if value.isascii() and value.isdigit() else 1
