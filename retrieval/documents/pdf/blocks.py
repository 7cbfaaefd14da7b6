"""Rows, tables and columns → headings, paragraphs, lists and tables of a section tree (pure)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from retrieval.documents.pdf.flow import ColumnsEnd, ColumnTitle, Element, PlacedTable, Row, look_of
from retrieval.documents.pdf.headings import BULLETS, MAX_LINES, Look, has_dose, is_heading, levels_of, number_depth
from retrieval.documents.pdf.outline import Entry
from retrieval.documents.tree import LEAD_MAX_CHARS, TreeBuilder

NESTED_ITEM_MAX_CHARS = 1500
COLUMN_LEVEL = 500
_MARKER = re.compile(rf"^(?:[{re.escape(BULLETS)}]+|o)(?=\s)|^\(?(?:\d{{1,2}}|[A-Za-z]|[ivx]{{1,4}})[.)](?=\s+\S)")
_STUCK_BULLET = re.compile(r"^[•●▪■◦‣➢❖☐☑□✓](?=\S)")
_SENTENCE_ENDS = re.compile(r"[.!?:;][\"'”’)\]]*$")
# A line that ends like this goes on in the next one.
_DANGLES = re.compile(
    r"(?:[<>≤≥=/(,–-]|\b(?:if|of|or|and|to|the|a|an|at|by|in|for|from|with|every|is|than|per|over|until|SBP|HR))$",
    re.IGNORECASE,
)
_CONTENTS = re.compile(r"^(?:table of )?contents\W*$", re.IGNORECASE)
_CONTENTS_ENTRY = re.compile(r"[^\W\d_].*[\s.\-_…](?:page\s*)?(?:\d{1,3}|[ivxlc]{1,6})\s*$", re.IGNORECASE)
_ENTRY_ENDS = frozenset("0123456789ivxlcIVXLC ")
_ALPHANUMERIC = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading in the flow: the rows that it takes and how it looks; no rows: it is only inserted."""

    look: Look
    rows: tuple[Row, ...]
    page: int
    level: int | None = None
    column: bool = False
    nested: bool = False


_Item = Row | PlacedTable | ColumnsEnd | _Heading


@dataclass(slots=True)
class BlockWriter:
    """Fill a builder from a document's elements.

    Attributes:
        labels: page index → printed label.
        body: size of the body's letters, in points.
        bold_body: most of the text is bold, so that bold sets nothing apart.
        ocr: pages whose text was read from a picture.
    """

    builder: TreeBuilder
    labels: Mapping[int, str]
    body: float
    bold_body: bool = False
    ocr: frozenset[int] = frozenset()
    _paragraph: list[Row] = field(default_factory=list)
    _items: list[list[Row]] = field(default_factory=list)
    _list_lead: str | None = None
    _item_leads: list[str | None] = field(default_factory=list)
    _rights: dict[int, list[tuple[float, float]]] = field(default_factory=dict)

    def write(self, elements: Sequence[Element], outline: Sequence[Entry]) -> None:
        """Add everything; bookmarks name headings where they are given."""
        items = with_headings(elements, outline, self.body, self.bold_body)
        for item in items:
            for row in (item,) if isinstance(item, Row) else ():
                self._rights.setdefault(row.page, []).append((row.box.x0, row.box.x1))
        headings = [item for item in items if isinstance(item, _Heading)]
        known = {place: item.level for place, item in enumerate(headings) if item.level is not None}
        levels = iter(levels_of([item.look for item in headings], known))
        columns_depth: int | None = None
        column_level = 0
        for item in items:
            if isinstance(item, Row):
                self._row(item)
                continue
            self._flush()
            if isinstance(item, _Heading):
                level = next(levels)
                if item.column:
                    column_level = COLUMN_LEVEL if item.nested else level
                    self.builder.heading(column_level, item.look.text, page=item.page)
                    if columns_depth is None:
                        columns_depth = self.builder.depth() - 1
                else:
                    if columns_depth is not None:
                        level = max(level, column_level + 1)
                    self.builder.heading(level, item.look.text, page=item.page)
            elif isinstance(item, PlacedTable):
                self._table(item)
            elif columns_depth is not None:
                self.builder.resume(columns_depth)
                columns_depth = None
        self._flush()

    def _where(self, page: int) -> tuple[int, str | None, bool]:
        return page, self.labels.get(page), page in self.ocr

    def _table(self, item: PlacedTable) -> None:
        page, label, ocr = self._where(item.page)
        for caption in item.captions:
            self.builder.add("paragraph", caption, page=page, page_label=label, ocr=ocr)
        item.table.add_to(self.builder, page=page, page_label=label, ocr=ocr)

    def _row(self, row: Row) -> None:
        marked = is_marked(row)
        if self._items:
            if marked:
                self._items.append([row])
                return
            if self._goes_on_in_item(row):
                self._items[-1].append(row)
                return
            self._flush()
        if marked:
            self._flush_paragraph()
            self._list_lead = self.builder.lead_in()
            self._items.append([row])
            return
        if self._paragraph and not self._goes_on(self._paragraph[-1], row):
            self._flush_paragraph()
        self._paragraph.append(row)

    def _goes_on(self, above: Row, row: Row) -> bool:
        """Tell whether a row belongs to the paragraph above it."""
        if above.page != row.page or abs(above.size - row.size) > 1.6:
            return False
        gap = row.box.y0 - above.box.y1
        return -0.8 * row.size < gap < 0.55 * row.size

    def _goes_on_in_item(self, row: Row) -> bool:
        item = self._items[-1]
        above, first = item[-1], item[0]
        if above.page != row.page:
            return False
        gap = row.box.y0 - above.box.y1
        if not -0.8 * row.size < gap < 0.9 * row.size:
            return False
        indented = row.box.x0 > first.box.x0 + 3
        wrapped = not _SENTENCE_ENDS.search(above.text) and row.text[:1].islower()
        return indented or wrapped or bool(_DANGLES.search(above.text))

    def _flush(self) -> None:
        self._flush_paragraph()
        self._flush_items()

    def _flush_paragraph(self) -> None:
        if not self._paragraph:
            return
        rows, self._paragraph = self._paragraph, []
        page, label, ocr = self._where(rows[0].page)
        self.builder.add("paragraph", self._joined(rows), page=page, page_label=label, ocr=ocr)

    def _flush_items(self) -> None:
        items, self._items = self._items, []
        if not items:
            return
        group = self.builder.group()
        base = min(rows[0].box.x0 for rows in items)
        whole: list[tuple[int, str]] = []
        parent = ""
        for rows in items:
            text = self._joined(rows)
            depth = max(0, round((rows[0].box.x0 - base) / 14))
            nested = whole and rows[0].box.x0 > base + 6 and whole[-1][0] == rows[0].page
            if not nested:
                parent = text
            if nested and len(whole[-1][1]) + len(text) <= NESTED_ITEM_MAX_CHARS:
                whole[-1] = (whole[-1][0], whole[-1][1] + "\n" + "  " * depth + text)
            else:
                self._item_leads.append(parent[:LEAD_MAX_CHARS] if nested else None)
                whole.append((rows[0].page, text))
        leads, self._item_leads = self._item_leads, []
        for (number, text), lead in zip(whole, leads, strict=True):
            page, label, ocr = self._where(number)
            self.builder.add(
                "item", text, group=group, lead=lead or self._list_lead, page=page, page_label=label, ocr=ocr
            )

    def _joined(self, rows: Sequence[Row]) -> str:
        """Join wrapped rows by a blank, rows that were ended on purpose by a line break."""
        parts = [rows[0].text]
        for above, row in pairwise(rows):
            if parts[-1].endswith("\u00ad"):
                parts[-1] = parts[-1][:-1]
                parts.append(row.text)
            elif self._was_wrapped(above, row):
                broken = above.text.endswith("-") and above.text[-2:-1].isalpha() and row.text[:1].islower()
                parts.append(("" if broken else " ") + row.text)
            else:
                parts.append("\n" + row.text)
        return "".join(parts).replace("\u00ad", "-")

    def _was_wrapped(self, above: Row, row: Row) -> bool:
        """Tell whether the next word did not fit on the row above."""
        if row.text[:1].islower():
            return True
        right = max((x1 for x0, x1 in self._rights.get(above.page, ()) if x0 < above.box.x1), default=above.box.x1)
        width = row.parts[0].words[0].box.width
        return above.box.x1 + width + 0.3 * row.size > right - 0.12 * (right - above.box.x0)


def is_marked(row: Row) -> bool:
    """Tell whether a row begins a list item."""
    return bool(_MARKER.match(row.text) or _STUCK_BULLET.match(row.text))


def with_headings(
    elements: Sequence[Element], outline: Sequence[Entry], body: float, bold_body: bool = False
) -> list[_Item]:
    """Return the elements with headings found: those the bookmarks name, then those set like one."""
    named = _named(elements, outline)
    contents = _contents_pages(elements)
    items: list[_Item] = []
    at = 0
    while at < len(elements):
        element = elements[at]
        if at in named and isinstance(element, ColumnTitle):
            # The bookmark names the titles of all columns; each column stands below it.
            entry, _ = named[at]
            look = look_of(element.row, True, bold_body)
            items.append(_Heading(replace(look, text=entry.title), (), element.row.page, entry.level))
            items.append(_Heading(look, (element.row,), element.row.page, None, True, True))
            at += 1
            continue
        if at in named:
            entry, taken = named[at]
            rows = tuple(row for row in elements[at : at + max(taken, 1)] if isinstance(row, Row))
            look = look_of(rows[0], True, bold_body)
            items.append(
                _Heading(
                    Look(entry.title, look.size, look.bold, look.underlined, True), rows, rows[0].page, entry.level
                )
            )
            if taken == 0:
                items.append(rows[0])
            at += max(taken, 1)
            continue
        if isinstance(element, ColumnTitle):
            look = look_of(element.row, True, bold_body)
            items.append(_Heading(look, (element.row,), element.row.page, None, True, element.nested))
            at += 1
            continue
        if not isinstance(element, Row):
            items.append(element)
            at += 1
            continue
        rows = () if element.page in contents else _heading_rows(elements, at, named, body, bold_body)
        if rows:
            first = look_of(rows[0], True, bold_body)
            text = " ".join(row.text for row in rows).replace("\u00ad ", "").replace("\u00ad", "-")
            items.append(_Heading(Look(text, first.size, first.bold, first.underlined, True), rows, rows[0].page))
            at += len(rows)
        else:
            items.append(element)
            at += 1
    return items


def _contents_pages(elements: Sequence[Element]) -> set[int]:
    """Return the pages of a table of contents, whose entries are no headings."""
    entries = Counter(
        element.page
        for element in elements
        if isinstance(element, Row) and element.text[-1:] in _ENTRY_ENDS and _CONTENTS_ENTRY.search(element.text)
    )
    titled = {element.page for element in elements if isinstance(element, Row) and _CONTENTS.match(element.text)}
    numbers = Counter(element.page for element in elements if isinstance(element, Row) and element.text.isdigit())
    entries.update(numbers)
    return {page for page, count in entries.items() if count >= (3 if page in titled else 8)}


def _heading_rows(
    elements: Sequence[Element], at: int, named: Mapping[int, object], body: float, bold_body: bool
) -> tuple[Row, ...]:
    """Return the rows of the heading that begins at a place; none where there is none."""
    row = elements[at]
    assert isinstance(row, Row)
    if is_marked(row) and (not row.bold or bold_body) and row.size < 1.2 * body:
        return ()
    before = elements[at - 1] if at else None
    if not is_heading(look_of(row, _starts(before, row), bold_body), body):
        return ()
    rows = [row]
    while at + len(rows) < len(elements) and at + len(rows) not in named:
        following = elements[at + len(rows)]
        if not isinstance(following, Row) or not _same_heading(rows[-1], following, body):
            break
        rows.append(following)
        if len(rows) > MAX_LINES:
            return ()
    text = " ".join(row.text for row in rows)
    sentence = text.endswith((".", ";", ",")) and not number_depth(text)
    after = elements[at + len(rows)] if at + len(rows) < len(elements) else None
    if sentence or (isinstance(after, Row) and _runs_on(rows[-1], after)):
        return ()
    return tuple(rows)


def _runs_on(above: Row, row: Row) -> bool:
    """Tell whether the sentence of a row goes on in the next one."""
    if row.page != above.page or is_marked(row) or above.text.rstrip().endswith((":", ".", "?")):
        return False
    gap = row.box.y0 - above.box.y1
    return -0.8 * row.size < gap < 0.4 * row.size and row.text[:1].islower() and len(above.text) > 30


def _starts(before: Element | None, row: Row) -> bool:
    """Tell whether a row begins something, and is not the rest of a sentence above it."""
    if not isinstance(before, Row) or before.page != row.page:
        return True
    if row.box.y0 - before.box.y1 > 0.35 * row.size or row.box.y0 < before.box.y0:
        return True
    if before.bold == row.bold and abs(before.size - row.size) < 1 and before.underlined == row.underlined:
        return True
    ended = bool(_SENTENCE_ENDS.search(before.text)) or len(before.text) < 45
    return ended or row.size > 1.12 * before.size


def _same_heading(above: Row, row: Row, body: float) -> bool:
    """Tell whether a row is the next line of a heading that was wrapped."""
    if row.page != above.page or abs(row.size - above.size) > 0.6 or row.bold != above.bold or has_dose(row.text):
        return False
    if row.underlined != above.underlined or is_marked(row) or above.text.rstrip().endswith((":", ".")):
        return False
    gap = row.box.y0 - above.box.y1
    if not -0.6 * row.size < gap < 0.4 * row.size:
        return False
    centred = abs(row.box.middle_x - above.box.middle_x) < 8 and row.box.x0 > above.box.x0 + 4
    return row.text[:1].islower() or centred or len(above.text) > 45 or row.size >= 1.4 * body


def _named(elements: Sequence[Element], outline: Sequence[Entry]) -> dict[int, tuple[Entry, int]]:
    """Find the rows that bookmarks name: place → (bookmark, number of rows).

    No rows: the title is only the beginning of the row, which stays text below the heading.
    """
    found: dict[int, tuple[Entry, int]] = {}
    after = 0
    for entry in outline:
        wanted = _bare(entry.title)
        if not wanted:
            continue
        places = _places(elements, entry.page)
        match = _match(elements, [place for place in places if place >= after], wanted, found)
        match = match or _match(elements, places, wanted, found)
        if match is None:
            continue
        place, rows = match
        found[place] = (entry, rows)
        after = place + 1
    return found


def _places(elements: Sequence[Element], page: int | None) -> list[int]:
    return [
        place for place, element in enumerate(elements) if page is not None and _page_of(element) in (page, page + 1)
    ]


def _page_of(element: Element) -> int | None:
    if isinstance(element, ColumnTitle):
        return element.row.page if element.together else None
    return element.page if isinstance(element, Row) else None


def _match(
    elements: Sequence[Element], places: Sequence[int], wanted: str, found: Mapping[int, object]
) -> tuple[int, int] | None:
    for place in places:
        title = elements[place]
        if isinstance(title, ColumnTitle) and place not in found and _bare(title.together) == wanted:
            return place, 0
        text = ""
        for rows in range(1, MAX_LINES + 1):
            at = place + rows - 1
            element = elements[at] if at < len(elements) else None
            if not isinstance(element, Row) or at in found:
                break
            text += _bare(element.text)
            if text == wanted:
                return place, rows
            if not wanted.startswith(text):
                break
    for place in places:
        element = elements[place]
        if not isinstance(element, Row) or place in found or len(wanted) < 5:
            continue
        if _bare(element.text).startswith(wanted):
            return place, 0
    return None


def _bare(text: str) -> str:
    return _ALPHANUMERIC.sub("", text).casefold()
