"""Growing a section tree in reading order, whatever the format."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from retrieval.guideline import Block, BlockKind, Section

# A paragraph that ends a thought leads nothing in, unless it points forward.
_ENDS_A_THOUGHT = re.compile(r"[.!?][\"'”’)\]*_]*$")
_POINTS_FORWARD = re.compile(
    r"\b(following|follows|below|these|this|any of|one of|include[sd]?|either)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[A-Z0-9*_\"'“‘(])")
LEAD_MAX_CHARS = 300


@dataclass(slots=True)
class _Node:
    heading: str
    level: int
    line: int | None = None
    page: int | None = None
    blocks: list[Block] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)
    groups: int = 0
    sequel: bool = False

    def is_empty_sequel(self) -> bool:
        return self.sequel and not self.blocks and not self.children

    def frozen(self) -> Section:
        children = tuple(child.frozen() for child in self.children if not child.is_empty_sequel())
        return Section(self.heading, tuple(self.blocks), children, self.line, self.page)


class TreeBuilder:
    """Take headings and blocks in reading order and give the section tree.

    A heading belongs under the nearest earlier one of a lower level, so skipped levels do no harm. Two
    headings with the same text stay two sections.
    """

    def __init__(self) -> None:
        self._root = _Node("", -1)
        self._open = [self._root]
        self.headings = 0
        self.tables = 0

    def heading(self, level: int, text: str, *, line: int | None = None, page: int | None = None) -> None:
        """Begin a section; `level` counts from 1 at the top."""
        while self._open[-1].level >= level:
            self._open.pop()
        node = _Node(text, level, line, page)
        self._open[-1].children.append(node)
        self._open.append(node)
        self.headings += 1

    def is_empty(self) -> bool:
        """Tell whether nothing has been added yet."""
        return not self._root.blocks and not self._root.children

    def depth(self) -> int:
        """Return how many sections are open; see `resume`."""
        return len(self._open)

    def resume(self, depth: int) -> None:
        """Go back to the section that was open at `depth`, in reading order.

        What comes next stands after the inner sections, so it goes to a second section of the same heading.
        """
        if len(self._open) <= depth:
            return
        del self._open[depth:]
        node = self._open[-1]
        if len(self._open) > 1:
            self._open.pop()
            again = _Node(node.heading, node.level, node.line, node.page, sequel=True)
            self._open[-1].children.append(again)
            self._open.append(again)

    def group(self) -> int:
        """Return a number for the next list or table, unique within the open section."""
        node = self._open[-1]
        node.groups += 1
        return node.groups - 1

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        group: int | None = None,
        lines: tuple[int, int] | None = None,
        page: int | None = None,
        page_label: str | None = None,
        lead: str | None = None,
        ocr: bool = False,
    ) -> None:
        """Add a block to the open section; without `group` it stands by itself."""
        number = self.group() if group is None else group
        self._open[-1].blocks.append(
            Block(kind, text, lines=lines, page=page, page_label=page_label, lead=lead, group=number, ocr=ocr)
        )

    def lead_in(self) -> str | None:
        """Return the sentence that leads a list in which begins now, or None."""
        blocks = self._open[-1].blocks
        if not blocks or blocks[-1].kind != "paragraph":
            return None
        return lead_of(blocks[-1].text)

    def path(self) -> tuple[str, ...]:
        """Return the headings above what comes next."""
        return tuple(node.heading for node in self._open[1:])

    def build(self, title: str) -> Section:
        """Return the tree; the root's heading is the title."""
        self._root.heading = title
        return self._root.frozen()


def lead_of(paragraph: str) -> str | None:
    """Return the paragraph's last sentence where it leads a list in.

    It does when it ends with a colon or without a full stop, or says 'the following'. None where it does not,
    or is longer than `LEAD_MAX_CHARS`.
    """
    text = paragraph.rstrip()
    starts = [match.end() for match in _SENTENCE_END.finditer(text)]
    sentence = text[starts[-1] :] if starts else text
    if not sentence or len(sentence) > LEAD_MAX_CHARS:
        return None
    if _ENDS_A_THOUGHT.search(sentence) and not _POINTS_FORWARD.search(sentence):
        return None
    return sentence


def characters(text: str) -> int:
    """Count the characters that are not white space."""
    return sum(map(len, text.split()))


def characters_in(section: Section) -> int:
    """Count the non-blank characters of the headings and blocks of a tree, without the title."""
    total = 0
    for path, node in section.walk():
        total += characters(node.heading) if path else 0
        total += sum(characters(block.text) for block in node.blocks)
    return total
