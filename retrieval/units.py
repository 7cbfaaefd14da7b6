"""The smallest things a passage says: a sentence, a list item, a table row (pure).

A unit is matched and looked at; it is never quoted by itself.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.guideline import Block, Passage

# A longer item or paragraph line is divided into sentences.
MAX_ITEM_CHARS = 240
LINES_BEFORE = 2
_REMEMBERED = 8192

_LINE_MARK = re.compile(r"^\s*(?:[-*+•‣◦▪·–—]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s+")
_TABLE_RULE = re.compile(r"^[\s|:+\-=]*$")
# A full stop ends a sentence where white space and then a capital, a digit or a quotation mark follow, unless it
# ends an abbreviation or an initial.
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'’”)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])")
_NO_END = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|e\.g|i\.e|etc|vs|cf|approx|ca|no|nos|dr|mr|mrs|ms|prof|st|fig|figs|tab|ref|refs|sec|sect|"
    r"ch|vol|pp?|al|inc|spp?|var|subsp|max|min|hrs?|mins?|tabs?|caps?|inj|dept|jan|feb|mar|apr|jun|jul|aug|sept?|"
    r"oct|nov|dec)\.[\"'’”)\]]*\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence, list item or table row of a passage.

    Attributes:
        text: as it stands, without its list mark.
        block: index into `passage.blocks`.
        lead: what must be read with it: the sentence that leads its list in, the item it is nested in, the
            table's header. "" where there is none.
        before: the units just before it in the passage, nearest first, at most two.
        follows: it goes on from what stands before it: the next sentence of a paragraph or of a long item, or what
            comes after a line that ends with a colon. An item does not go on from the item above it.
    """

    text: str
    block: int
    lead: str = ""
    before: tuple[str, ...] = ()
    follows: bool = False


def units_of(passage: Passage) -> tuple[Unit, ...]:
    """Divide a passage into its units, in reading order.

    Table headers make no unit of their own: each row carries its header as lead. Remembered by passage id,
    because every question meets the same passages, as long as the blocks are the same.
    """
    known = _remembered.get(passage.id)
    if known is not None and known[0] == passage.blocks:
        return known[1]
    units = tuple(_units(passage.blocks))
    _remembered[passage.id] = passage.blocks, units
    if len(_remembered) > _REMEMBERED:
        _remembered.popitem(last=False)
    return units


def context_of(passage: Passage) -> str:
    """Return title and path as they stand in front of embedded text: 'Title. A. B'."""
    return ". ".join((passage.title, *passage.path))


def embedded_text(passage: Passage, unit: Unit) -> str:
    """Return what is embedded for a unit: title and path, lead-in, text."""
    return ". ".join(part for part in (context_of(passage), unit.lead.rstrip(" :"), unit.text) if part)


def full_text(passage: Passage) -> str:
    """Return title, path and text: what term statistics are counted over."""
    return f"{context_of(passage)}\n{passage.text}"


def sentences_of(text: str) -> list[str]:
    """Divide running text into sentences; decimals, initials and common abbreviations do not end one."""
    sentences: list[str] = []
    begin = 0
    for gap in _SENTENCE_END.finditer(text):
        if _NO_END.search(text[begin : gap.start()]):
            continue
        sentences.append(text[begin : gap.start()].strip())
        begin = gap.end()
    sentences.append(text[begin:].strip())
    return [sentence for sentence in sentences if sentence]


_remembered: OrderedDict[str, tuple[tuple[Block, ...], tuple[Unit, ...]]] = OrderedDict()


def _units(blocks: tuple[Block, ...]) -> Iterator[Unit]:
    before: tuple[str, ...] = ()
    last = -1
    for index, block in enumerate(blocks):
        for text, lead in _pieces(block):
            goes_on = index == last and block.kind == "paragraph"
            yield Unit(text, index, lead, before, goes_on or bool(before and before[0].endswith(":")))
            before, last = (text, *before)[:LINES_BEFORE], index


def _pieces(block: Block) -> Iterator[tuple[str, str]]:
    """Yield (text, lead) of each unit of a block."""
    lead = " ".join((block.lead or "").split())
    if block.kind == "header":
        return
    if block.kind == "row":
        yield " ".join(block.text.split()), _header_cells(lead)
    elif block.kind == "code":
        for line in block.text.splitlines():
            if line.strip() and not line.strip().startswith(("```", "~~~")):
                yield line.strip(), lead
    elif block.kind == "item":
        yield from _item(block.text, lead)
    else:
        for sentence in sentences_of(" ".join(block.text.split())):
            yield sentence, lead


def _item(text: str, lead: str) -> Iterator[tuple[str, str]]:
    """Divide a list item: lines that carry a mark of their own are nested items, led in by what is above them."""
    above: list[tuple[int, str]] = []
    for indent, line in _marked_lines(text):
        while above and above[-1][0] >= indent:
            above.pop()
        leads = " ".join(part for part in (lead, *(before for _, before in above)) if part)
        above.append((indent, line))
        for piece in sentences_of(line) if len(line) > MAX_ITEM_CHARS else [line]:
            yield piece, leads


def _marked_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (indent, text) of an item and of each item nested in it, wrapped lines joined."""
    indent, gathered = -1, ""
    for line in text.splitlines():
        mark = _LINE_MARK.match(line)
        if mark or not gathered:
            if gathered:
                yield indent, gathered
            indent = len(line) - len(line.lstrip()) if gathered or mark else 0
            gathered = line[mark.end() :].strip() if mark else line.strip()
        elif line.strip():
            gathered += " " + line.strip()
    if gathered:
        yield indent, gathered


def _header_cells(header: str) -> str:
    """Return a table header without its delimiter line."""
    cells = [cell.strip() for cell in header.split("|")]
    return " | ".join(cell for cell in cells if cell and not _TABLE_RULE.match(cell))
