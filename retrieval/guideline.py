"""What a guideline is: its section tree, its passages and what is known of it.

Plain immutable values that every other module of `retrieval` and `bot` speaks in; no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

BlockKind = Literal["paragraph", "item", "header", "row", "code"]
Status = Literal["current", "draft", "retired"]
MediaType = Literal["markdown", "text", "html", "docx", "pdf"]


@dataclass(frozen=True, slots=True)
class Block:
    """The smallest piece that is never cut: a paragraph, a whole list item with all that is nested in it,
    a table's header, a table row.

    Attributes:
        kind: `header` is a table's header (for Markdown with its delimiter line), `row` one row below it.
        text: character for character as in the document (for Markdown the source lines, for PDF, DOCX and
            HTML tables the cells joined by " | ").
        lines: first and last line in the file, 1-based, both included; None where the format has no lines.
        page: 1-based page index; None where the format has no pages.
        page_label: the page's printed label where it differs ("3.6").
        lead: what must be read with it: the sentence that leads a list in (for `item`), the table's header
            (for `row`). None where there is none.
        group: blocks of one list or one table share a number, unique within the section; a paragraph has
            one of its own.
        ocr: the text was read from a picture of the page.
    """

    kind: BlockKind
    text: str
    lines: tuple[int, int] | None = None
    page: int | None = None
    page_label: str | None = None
    lead: str | None = None
    group: int = 0
    ocr: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A node of a guideline's heading tree; the root's heading is the guideline's title."""

    heading: str
    blocks: tuple[Block, ...] = ()
    children: tuple[Section, ...] = ()
    line: int | None = None
    page: int | None = None

    def walk(self, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Section]]:
        """Yield every node below the root with its path (the title is not part of it), in reading order.

        The root itself comes first, with the empty path.
        """
        yield above, self
        for child in self.children:
            yield from child.walk((*above, child.heading))


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a file that a person should know: which page, and what to do."""

    file: str
    reason: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a file was read.

    Attributes:
        pages: number of pages, 0 where the format has none.
        empty_pages: 1-based indexes of pages with no text.
        characters: non-blank characters kept in blocks and headings.
        raw_characters: non-blank characters in the plain text of the file.
    """

    pages: int = 0
    empty_pages: tuple[int, ...] = ()
    tables: int = 0
    headings: int = 0
    characters: int = 0
    raw_characters: int = 0


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known of a guideline beside its text.

    Attributes:
        audience: labels `team:NAME`, `channel:NAME` or `person:NAME`; empty: see `deny_by_default`.
        supersedes: names or titles of guidelines that this one replaces.
    """

    title: str
    version: str | None = None
    owner: str | None = None
    effective: date | None = None
    review_by: date | None = None
    status: Status = "current"
    supersedes: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Guideline:
    """One document of a watched folder.

    Attributes:
        name: its path relative to the watched folder, with forward slashes.
        sha256: of the file's bytes, in hex.
        link: where the original can be read, when its folder has a base URL.
    """

    name: str
    sha256: str
    media_type: MediaType
    metadata: Metadata
    root: Section
    coverage: Coverage = field(default_factory=Coverage)
    warnings: tuple[Problem, ...] = ()
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """The piece that is indexed and quoted: a whole section, or a run of whole blocks of a long one.

    Attributes:
        id: stable while guideline, path, ordinal and text stay the same (hex).
        path: headings from the top, without the guideline's title; empty for text before any heading.
        ordinal: position among the guideline's passages, from 0.
        text: the blocks as they are quoted, character for character.
        lines, page, page_label: where it starts (and for lines, ends).
    """

    id: str
    guideline: str
    metadata: Metadata
    path: tuple[str, ...]
    ordinal: int
    blocks: tuple[Block, ...]
    text: str
    lines: tuple[int, int] | None = None
    page: int | None = None
    page_label: str | None = None
    link: str | None = None
    sha256: str = ""

    @property
    def title(self) -> str:
        return self.metadata.title

    @property
    def heading(self) -> str:
        return self.path[-1] if self.path else self.metadata.title

    @property
    def trail(self) -> str:
        """Title and path as people read them: 'Title › A › B'."""
        return " › ".join((self.metadata.title, *self.path))
