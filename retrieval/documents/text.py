"""Plain text → section tree: headings by underlines, capitals and numbering; line numbers kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from retrieval.documents.front_matter import split_front_matter
from retrieval.documents.html_text import UNDERLINED_SIGNS
from retrieval.documents.html_walker import HtmlWalker
from retrieval.documents.loaded import Loaded
from retrieval.documents.tree import TreeBuilder, characters, characters_in
from retrieval.guideline import Coverage

HEADING_MAX_CHARS = 120
_UNDERLINE = re.compile(r"^\s*([=\-~_*#^])\1{2,}\s*$")
_BULLET = re.compile(r"^\s*(?:[•●▪■◦‣·*+o–—-]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)])\s+\S|^\s*[•●▪■◦‣]\S")
_NUMBERED = re.compile(
    r"^\s*(?:(?:section|chapter|part|appendix)\s+)?(\d+(?:\.\d+)+|\d+|[A-Z]|[IVX]+)[.):]?\s+\S", re.IGNORECASE
)
_DEPTHS = re.compile(r"^\s*(\d+(?:\.\d+)+)\.?\s+[^\W\d_]")
# Only what begins with a letter is a tag: '<60 … >1.5' is text.
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_UNDERLINED_SIGN = re.compile(r"<u>\s*([<>]|&lt;|&gt;)\s*</u>", re.IGNORECASE)
_BOLD_LINE = re.compile(r"^\s*(?:<(?:b|strong|u)>)+([^<>]+)(?:</(?:b|strong|u)>)+\s*:?\s*$", re.IGNORECASE)
_TABLE_BEGINS = re.compile(r"<table\b", re.IGNORECASE)
_TABLE_ENDS = re.compile(r"</table>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading found at a line: its text, level and how many lines it takes."""

    text: str
    level: int
    lines: int


def load_text(text: str, name: str) -> Loaded:
    """Read plain text, line breaks as "\\n", with or without front matter.

    Raises:
        DocumentError: the front matter is damaged.
    """
    front, first = split_front_matter(text, name)
    lines = text.split("\n")
    builder = TreeBuilder()
    title = ""
    at = first
    while at < len(lines):
        if not lines[at].strip():
            at += 1
        elif _TABLE_BEGINS.search(lines[at]):
            at = _add_table(builder, lines, at)
        elif (heading := _heading(lines, at)) is not None:
            if not title and not builder.headings and builder.is_empty() and heading.level == 1:
                title = heading.text
            else:
                builder.heading(heading.level, heading.text, line=at + 1)
            at += heading.lines
        else:
            at = _add_block(builder, lines, at)
    root = builder.build("")
    kept = characters_in(root) + characters(title)
    raw = characters(plain("\n".join(line for line in lines[first:] if not _UNDERLINE.match(line))))
    coverage = Coverage(tables=builder.tables, headings=builder.headings, characters=kept, raw_characters=raw)
    return Loaded(root, title, properties=front, stated=True, coverage=coverage)


def plain(line: str) -> str:
    """Return a line without tags; an underlined sign becomes 'or equal'."""
    signed = _UNDERLINED_SIGN.sub(lambda match: UNDERLINED_SIGNS[_sign(match[1])], line)
    return _TAG.sub("", signed)


def _sign(text: str) -> str:
    return {"&lt;": "<", "&gt;": ">"}.get(text.lower(), text)


def _heading(lines: Sequence[str], at: int) -> _Heading | None:
    line = plain(lines[at]).strip()
    before = lines[at - 1].strip() if at else ""
    after = lines[at + 1] if at + 1 < len(lines) else ""
    if not re.search(r"[^\W_]", line) or len(line) > HEADING_MAX_CHARS:
        return None
    if _UNDERLINE.match(after):
        return _Heading(line, 1 if "=" in after or "#" in after else 2, 2)
    later = lines[at + 2] if at + 2 < len(lines) else ""
    if (
        not before
        and at + 1 < len(lines)
        and after.strip()
        and len(after) <= HEADING_MAX_CHARS
        and _UNDERLINE.match(later)
    ):
        # A heading of two lines.
        return _Heading(f"{line} {plain(after).strip()}", 1 if "=" in later or "#" in later else 2, 3)
    if before and not _UNDERLINE.match(before):
        return None
    if (match := _BOLD_LINE.match(lines[at])) is not None and not match[1].rstrip().endswith("."):
        return _Heading(" ".join(match[1].split()), 5, 1)
    if line.endswith((".", ";", ",")):
        return None
    if (match := _DEPTHS.match(line)) is not None and not _BULLET.match(after):
        return _Heading(line, 2 + match[1].count("."), 1)
    letters = [letter for letter in line if letter.isalpha()]
    if (
        len(letters) >= 4
        and all(letter.isupper() for letter in letters)
        and not re.search(r"\d\s*(?:MG|ML|MCG|G)\b", line)
    ):
        return _Heading(line, 3 if not _NUMBERED.match(line) else 2, 1)
    return None


def _add_block(builder: TreeBuilder, lines: Sequence[str], at: int) -> int:
    """Add the paragraph or list that begins at a line; return the line after it."""
    if _BULLET.match(plain(lines[at])):
        return _add_list(builder, lines, at)
    end = at + 1
    while end < len(lines) and not _begins(lines, end):
        end += 1
    text = "\n".join(plain(line).rstrip() for line in lines[at:end])
    if text.strip() and not _UNDERLINE.match(text):
        builder.add("paragraph", text, lines=(at + 1, end))
    return end


def _add_list(builder: TreeBuilder, lines: Sequence[str], at: int) -> int:
    lead = builder.lead_in()
    group = builder.group()
    indent = _indent(lines[at])
    while at < len(lines) and _BULLET.match(plain(lines[at])):
        end = at + 1
        while end < len(lines):
            deeper = bool(lines[end].strip()) and _indent(lines[end]) > indent
            if not deeper and _begins(lines, end):
                break
            end += 1
        text = "\n".join(plain(line).rstrip() for line in lines[at:end])
        builder.add("item", text, lines=(at + 1, end), lead=lead, group=group)
        at = end
        following = next((line for line in range(at, min(at + 2, len(lines))) if lines[line].strip()), at)
        if (
            at < following < len(lines)
            and _BULLET.match(plain(lines[following]))
            and _heading(lines, following) is None
        ):
            at = following
    return at


def _begins(lines: Sequence[str], at: int) -> bool:
    """Tell whether something new begins at a line: a blank, an item, a table or a heading."""
    line = lines[at]
    return (
        not line.strip()
        or bool(_BULLET.match(plain(line)))
        or bool(_TABLE_BEGINS.search(line))
        or _heading(lines, at) is not None
    )


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _add_table(builder: TreeBuilder, lines: Sequence[str], at: int) -> int:
    """Add a table that is written as HTML tags; return the line after it.

    Its rows name the lines of the whole table. Where it is never closed it ends at a blank line or a heading.
    """
    end = _table_end(lines, at)
    source = "\n".join(lines[at:end])
    start = _TABLE_BEGINS.search(source)
    assert start is not None
    before = plain(source[: start.start()]).strip()
    if before:
        builder.add("paragraph", before, lines=(at + 1, at + 1))
    tree = LexborHTMLParser(source[start.start() :])
    walker = HtmlWalker(builder, lines=(at + 1, end))
    if tree.body is not None:
        walker.walk(tree.body)
    return end


def _table_end(lines: Sequence[str], at: int) -> int:
    for end in range(at, len(lines)):
        if end > at and _TABLE_BEGINS.search(lines[end]):
            break
        if _TABLE_ENDS.search(lines[end]):
            return end + 1
    end = at + 1
    while end < len(lines) and lines[end].strip():
        if end + 1 < len(lines) and _UNDERLINE.match(lines[end + 1]):
            break
        end += 1
    return end
