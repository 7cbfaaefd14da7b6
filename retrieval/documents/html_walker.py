"""An HTML tree → headings and blocks in reading order; used for HTML files and for what Word files become."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from retrieval.documents.html_tables import cells_of, is_layout, own_rows, table_of
from retrieval.documents.html_text import SKIPPED, raw_text, text_of, tidy
from retrieval.documents.tree import TreeBuilder
from retrieval.guideline import BlockKind

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
# A box's own heading, and a line that is bold as a whole, stand below every real heading.
BOX_LEVEL = 11
BOLD_LEVEL = 8
HEADING_MAX_CHARS = 160
# The heading of a box may state in full whom it is for.
BOX_HEADING_MAX_CHARS = 800
# What stands between two alternatives, in bold.
CONNECTIVES = frozenset({"or", "and", "and/or", "plus", "then", "nb", "note"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "li", "main"}
    | {
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    }
    | set(HEADINGS)
)
_BOX_HEADING = re.compile(r"(?:^|[\s_-])(sub)?-?(?:header|heading|head|title|caption)(?:$|[\s_-])", re.IGNORECASE)
_NUMBERED = re.compile(r"^(\d+(?:\.\d+)*)\.?\s+\S")


@dataclass(slots=True)
class HtmlWalker:
    """Walk HTML and fill a builder.

    Attributes:
        bold_headings: a paragraph that is bold as a whole is a heading (Word files).
        skip: nodes that are no part of the text (navigation), by their memory id.
        lines: what every block states as its lines.
    """

    builder: TreeBuilder
    bold_headings: bool = False
    skip: frozenset[int] = frozenset()
    lines: tuple[int, int] | None = None
    # Text found so far that no block element holds.
    _inline: str = ""

    def walk(self, node: LexborNode) -> None:
        """Add everything below `node`."""
        self._children(node)
        self._flush()

    def _children(self, node: LexborNode) -> None:
        for child in node.iter(include_text=True):
            self._visit(child)

    def _visit(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in SKIPPED or (tag.startswith(("-", "!")) and tag != "-text") or node.mem_id in self.skip:
            return
        if tag == "-text" or (tag not in _BLOCKS and not _holds_blocks(node)):
            self._inline += raw_text(node, self._inline)
            return
        if tag not in _BLOCKS:
            self._children(node)
            return
        self._flush()
        if tag in HEADINGS:
            self._heading(HEADINGS[tag], node)
        elif tag == "table":
            self._table(node)
        elif tag in ("ul", "ol", "menu"):
            self._list(node)
        elif tag == "pre":
            self._add("code", (node.text_content or "").strip("\n"))
        elif (level := _box_level(node)) is not None:
            self.builder.heading(level, " ".join(text_of(node).split()))
        elif tag == "p" and self.bold_headings and is_bold_heading(node):
            text = " ".join(text_of(node).split())
            self.builder.heading(bold_level(text), text)
        elif _is_box(node):
            depth = self.builder.depth()
            self._children(node)
            self._flush()
            self.builder.resume(depth)
            return
        else:
            self._children(node)
        self._flush()

    def _heading(self, level: int, node: LexborNode) -> None:
        text = " ".join(text_of(node).split())
        if text:
            self.builder.heading(level, text)

    def _table(self, node: LexborNode) -> None:
        if is_layout(node):
            for row in own_rows(node):
                for cell in cells_of(row):
                    self._children(cell)
                    self._flush()
            return
        caption = node.css_first("caption")
        if caption is not None:
            self._add("paragraph", text_of(caption))
        captions, table = table_of(node)
        for text in captions:
            self._add("paragraph", text)
        table.add_to(self.builder, lines=self.lines)

    def _list(self, node: LexborNode) -> None:
        items = [child for child in node.iter() if child.tag == "li"]
        if self.bold_headings and len(items) == 1 and is_bold_heading(items[0]):
            text = " ".join(text_of(items[0]).split())
            self.builder.heading(bold_level(text), text)
            return
        if node.css_first("li table, li h1, li h2, li h3, li h4, li h5, li h6") is not None:
            # The list only places text; what it holds is read as if it stood alone.
            for item in items:
                self._children(item)
                self._flush()
            return
        lead = self.builder.lead_in()
        group = self.builder.group()
        for number, item in enumerate(items, _start(node)):
            marker = f"{number}." if node.tag == "ol" and not self.bold_headings else "-"
            text = _item_text(item, marker, self.bold_headings)
            if text.strip("-.0123456789 "):
                self._add("item", text, group=group, lead=lead)

    def _flush(self) -> None:
        text, self._inline = tidy(self._inline), ""
        if text:
            self._add("paragraph", text)

    def _add(self, kind: BlockKind, text: str, group: int | None = None, lead: str | None = None) -> None:
        if text.strip():
            self.builder.add(kind, text, group=group, lead=lead, lines=self.lines)


def is_bold_heading(node: LexborNode) -> bool:
    """Tell whether a paragraph is short, bold as a whole and no sentence."""
    text = " ".join(text_of(node).split())
    if (
        not text
        or text.strip(" :.").lower() in CONNECTIVES
        or len(text) > HEADING_MAX_CHARS
        or text.endswith((".", ";", ","))
        or not re.search(r"[^\W\d_]{2}", text)
    ):
        return False
    bold = sum(len("".join(text_of(part).split())) for part in node.css("strong, b") if not _inside_bold(part, node))
    return bold >= len("".join(text.split()))


def bold_level(text: str) -> int:
    """Return the level of a bold line: its numbering's depth where it is numbered."""
    match = _NUMBERED.match(text)
    return match[1].count(".") + 1 if match else BOLD_LEVEL


def _inside_bold(node: LexborNode, top: LexborNode) -> bool:
    parent = node.parent
    while parent is not None and parent.mem_id != top.mem_id:
        if parent.tag in ("strong", "b"):
            return True
        parent = parent.parent
    return False


def _holds_blocks(node: LexborNode) -> bool:
    return any(child.tag in _BLOCKS or _holds_blocks(child) for child in node.iter())


def _names(node: LexborNode) -> str:
    return f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"


def _box_level(node: LexborNode) -> int | None:
    """Return the level of a box's own heading: a short text whose class or id calls it a header or title."""
    if node.tag not in ("div", "p", "legend", "summary"):
        return None
    match = _BOX_HEADING.search(_names(node).replace("subhead", "sub-head").replace("subtitle", "sub-title"))
    if match is None and node.tag not in ("legend", "summary"):
        return None
    text = text_of(node)
    if not text or len(text) > BOX_HEADING_MAX_CHARS or any(child.tag in _BLOCKS for child in node.iter()):
        return None
    return BOX_LEVEL + 1 if match is not None and match[1] else BOX_LEVEL


def _is_box(node: LexborNode) -> bool:
    """Tell whether the node holds a box's heading of its own, so that what follows it is outside of the box."""
    return any(_box_level(child) == BOX_LEVEL for child in node.iter())


def _start(node: LexborNode) -> int:
    value = (node.attributes.get("start") or "1").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 7 else 1


def _item_text(item: LexborNode, marker: str, bulleted: bool, indent: str = "") -> str:
    """Return an item with all that is nested in it, a line each, indented by depth."""
    own: list[str] = []
    nested: list[str] = []
    for child in item.iter(include_text=True):
        if child.tag in ("ul", "ol", "menu"):
            inner = [part for part in child.iter() if part.tag == "li"]
            for number, part in enumerate(inner, _start(child)):
                mark = f"{number}." if child.tag == "ol" and not bulleted else "-"
                nested.append(_item_text(part, mark, bulleted, indent + "  "))
        elif child.tag in _BLOCKS:
            own.append("\n" + text_of(child) + "\n")
        elif child.tag not in SKIPPED:
            own.append(raw_text(child, own[-1] if own else ""))
    lines = tidy("".join(own)).split("\n")
    first = f"{indent}{marker} {lines[0]}".rstrip()
    return "\n".join([first, *(f"{indent}  {line}" for line in lines[1:]), *nested])
