"""Markdown with front matter → section tree, with exact line numbers and raw source as the blocks' text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from retrieval.documents.front_matter import split_front_matter
from retrieval.documents.loaded import Loaded
from retrieval.documents.tree import TreeBuilder, characters, characters_in
from retrieval.guideline import Coverage

# Text underlined by accident ('---' below a paragraph) is no heading.
HEADING_MAX_CHARS = 250
_ANCHOR = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def load_markdown(text: str, name: str) -> Loaded:
    """Read Markdown source.

    Headings at the outermost level make sections. A first heading of level 1 that is the only one of its
    level, or has nothing of its own before the next one, is the title and no part of any path. Lists come as
    whole outermost items, tables as header and rows, quotes and HTML as paragraphs.

    Args:
        text: the file, decoded, line breaks as "\\n".
        name: the guideline's name, for errors.

    Raises:
        DocumentError: the front matter is damaged.
    """
    front, body_line = split_front_matter(text, name)
    lines = text.split("\n")
    # Blanked, not cut: line numbers stay those of the file.
    source = "\n".join([""] * body_line + lines[body_line:])
    tokens = MarkdownIt("commonmark").enable("table").parse(source)
    builder = TreeBuilder()
    title = _title(tokens)
    for index, token in _outermost(tokens):
        if index == title:
            continue
        _add(builder, tokens, index, token, lines)
    heading = _plain(tokens[title + 1]) if title is not None else ""
    root = builder.build(heading)
    kept = characters_in(root) + characters(heading)
    coverage = Coverage(
        tables=builder.tables, headings=builder.headings, characters=kept, raw_characters=characters(source)
    )
    return Loaded(root, heading, properties=front, stated=True, coverage=coverage)


def _outermost(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0:
            yield index, token


def _is_heading(tokens: Sequence[Token], index: int) -> bool:
    token = tokens[index]
    if token.type != "heading_open":
        return False
    text = _plain(tokens[index + 1])
    return bool(text) and (token.markup.startswith("#") or len(text) <= HEADING_MAX_CHARS)


def _title(tokens: Sequence[Token]) -> int | None:
    """Return the index of the title's token: the first level-1 heading, where it stands alone."""
    outermost = [index for index, _ in _outermost(tokens)]
    headings = [index for index in outermost if _is_heading(tokens, index)]
    if not headings or tokens[headings[0]].tag != "h1":
        return None
    first = headings[0]
    others = [index for index in headings[1:] if tokens[index].tag == "h1"]
    if not others:
        return first
    following = outermost[outermost.index(first) + 1]
    return first if following == others[0] else None


def _add(builder: TreeBuilder, tokens: Sequence[Token], index: int, token: Token, lines: Sequence[str]) -> None:
    if token.map is None or token.type == "hr":
        return
    if _is_heading(tokens, index):
        builder.heading(int(token.tag[1]), _plain(tokens[index + 1]), line=token.map[0] + 1)
    elif token.type in ("bullet_list_open", "ordered_list_open"):
        _add_list(builder, tokens, index, lines)
    elif token.type == "table_open":
        _add_table(builder, tokens, index, lines)
    elif token.type in ("fence", "code_block"):
        text, span = _source(lines, token.map)
        builder.add("code", text, lines=span)
    else:
        text, span = _source(lines, token.map)
        if token.type == "html_block":
            if not _COMMENT.sub("", text).strip():
                return
        elif token.type == "heading_open" and not _plain(tokens[index + 1]):
            return
        if text.strip():
            builder.add("paragraph", text, lines=span)


def _add_list(builder: TreeBuilder, tokens: Sequence[Token], index: int, lines: Sequence[str]) -> None:
    lead = builder.lead_in()
    group = builder.group()
    for token in _inside(tokens, index):
        if token.type == "list_item_open" and token.level == 1 and token.map is not None:
            text, span = _source(lines, token.map)
            if text.strip():
                builder.add("item", text, lines=span, lead=lead, group=group)


def _add_table(builder: TreeBuilder, tokens: Sequence[Token], index: int, lines: Sequence[str]) -> None:
    table = tokens[index].map
    assert table is not None
    group = builder.group()
    builder.tables += 1
    header, span = _source(lines, [table[0], table[0] + 2])
    builder.add("header", header, lines=span, group=group)
    for line in range(table[0] + 2, table[1]):
        if lines[line].strip():
            builder.add("row", lines[line], lines=(line + 1, line + 1), lead=header, group=group)


def _inside(tokens: Sequence[Token], index: int) -> Iterator[Token]:
    level = tokens[index].level
    for token in tokens[index + 1 :]:
        if token.level == level and token.nesting < 0:
            return
        yield token


def _source(lines: Sequence[str], span: Sequence[int]) -> tuple[str, tuple[int, int]]:
    """Return the source lines from span[0] up to span[1], blank ones at the ends left out, and their numbers."""
    first, last = span[0], min(span[1], len(lines))
    while last > first + 1 and not lines[last - 1].strip():
        last -= 1
    while first < last - 1 and not lines[first].strip():
        first += 1
    return "\n".join(lines[first:last]), (first + 1, last)


def _plain(inline: Token) -> str:
    """Return a heading's text without markup."""
    text = "".join(_texts(inline.children or ()))
    return " ".join(_ANCHOR.sub("", text).split())


def _texts(children: Sequence[Token]) -> Iterator[str]:
    for token in children:
        if token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "image":
            yield from _texts(token.children or ())
        elif token.type == "html_inline":
            yield " " if token.content.lower().startswith("<br") else ""
        else:
            yield token.content
