"""A table's cells → one header block and one block a row, whatever the format (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.documents.tree import TreeBuilder

SEPARATOR = " | "
HEADER_CELL_MAX_CHARS = 80
LABEL_MAX_CHARS = 120
_MARKER = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivx]+)[.)]|[•●▪-]")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Table:
    """A header cell for each column, and rows with as many cells."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> Table:
        """Join several header rows into one a column, and carry the first cell of a row downward.

        An empty first cell beside filled ones continues the row heading above it.
        """
        width = max((len(row) for row in (*heads, *rows)), default=0)
        header: list[str] = []
        for column in range(width):
            words: list[str] = []
            for row in heads:
                cell = row[column].strip() if column < len(row) else ""
                if cell and cell not in words:
                    words.append(cell)
            header.append(" ".join(words))
        filled: list[tuple[str, ...]] = []
        above = ""
        for row in rows:
            cells = [cell.strip() for cell in row] + [""] * (width - len(row))
            if not any(cells):
                continue
            if not cells[0] and above and width > 1 and not _MARKER.fullmatch(above):
                cells[0] = above
            elif len(set(cells)) > 1 or width == 1:
                above = cells[0]
            filled.append(tuple(cells))
        return cls(tuple(header), tuple(filled))

    @staticmethod
    def begins_with_header(rows: Sequence[Sequence[str]], *, marked: bool = False) -> bool:
        """Tell whether the first of the rows names the columns.

        It does when every cell but the first is filled and short, no cell is a list marker or ends with a
        colon, and either it is `marked` (bold) or it has no digit where rows below it have. A row wrongly
        taken for the header would put every value under a wrong name.
        """
        if len(rows) < 2:
            return False
        first, *rest = [[" ".join(cell.split()) for cell in row] for row in rows]
        if not all(first[1:]) or len(first) < 2 or len(set(first)) == 1:
            return False
        if any(len(cell) > HEADER_CELL_MAX_CHARS or cell.endswith(":") or _MARKER.fullmatch(cell) for cell in first):
            return False
        if marked:
            return True
        if any(_DIGIT.search(cell) for cell in first):
            return False
        return any(_DIGIT.search(cell) for row in rest for cell in row[1:])

    def add_to(
        self,
        builder: TreeBuilder,
        *,
        lines: tuple[int, int] | None = None,
        page: int | None = None,
        page_label: str | None = None,
        ocr: bool = False,
    ) -> None:
        """Add header and rows as blocks.

        A row that one merged cell fills is a label for the rows below it and part of what leads them.
        """
        group = builder.group()
        builder.tables += 1
        header = _joined(self.header)
        if header:
            builder.add("header", header, group=group, lines=lines, page=page, page_label=page_label, ocr=ocr)
        label = ""
        for cells in self.rows:
            text = _joined(cells)
            is_label = len(cells) > 1 and len(set(cells)) == 1 and len(text) <= LABEL_MAX_CHARS
            lead = "\n".join(part for part in (header, "" if is_label else label) if part) or None
            builder.add("row", text, group=group, lead=lead, lines=lines, page=page, page_label=page_label, ocr=ocr)
            if is_label:
                label = text


def divided(grid: Sequence[Sequence[str]], bold: Sequence[bool], heads: int = 0) -> tuple[tuple[str, ...], Table]:
    """Divide a grid into the captions above its header, and the table.

    Args:
        grid: rows of cells, a merged cell in every place that it covers.
        bold: for each row, whether it is set in bold.
        heads: number of header rows where that is known; else they are looked for.
    """
    rows = list(grid)
    captions: list[str] = []
    if heads == 0:
        while len(rows) > 1 and len(rows[0]) > 1 and len({" ".join(cell.split()) for cell in rows[0]}) == 1:
            caption = " ".join(rows[0][0].split())
            if caption:
                captions.append(caption)
            rows.pop(0)
        marked = bool(bold) and bold[len(grid) - len(rows)] and not all(bold[len(grid) - len(rows) :])
        heads = 1 if Table.begins_with_header(rows, marked=marked) else 0
    return tuple(captions), Table.of(rows[:heads], rows[heads:])


def _joined(cells: Sequence[str]) -> str:
    """Join cells; a text that fills the whole row stands once."""
    if not any(cells):
        return ""
    return cells[0] if len(set(cells)) == 1 else SEPARATOR.join(cells)
