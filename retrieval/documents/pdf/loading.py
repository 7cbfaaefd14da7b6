"""A PDF's bytes → section tree, coverage and warnings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from retrieval.documents.loaded import Loaded
from retrieval.documents.pdf.blocks import BlockWriter
from retrieval.documents.pdf.flow import Element, PlacedTable, flow_of
from retrieval.documents.pdf.lattice import Lattice, lattices_of
from retrieval.documents.pdf.legibility import is_legible
from retrieval.documents.pdf.ocr import is_available, recognised
from retrieval.documents.pdf.outline import is_sane
from retrieval.documents.pdf.page import Page
from retrieval.documents.pdf.reading import opened, outline_of, pages_of, properties_of
from retrieval.documents.pdf.running import BAND, Running, body_size, is_bold, running_of
from retrieval.documents.pdf.title import promoted, title_of, with_text, without_population
from retrieval.documents.tree import TreeBuilder, characters, characters_in
from retrieval.guideline import Block, Coverage, Problem, Section

TITLE_MAX_CHARS = 150
_MADE_WITH = re.compile(r"^microsoft (?:word|powerpoint|excel) - ", re.IGNORECASE)
_JUNK_TITLE = re.compile(
    r"^(?:untitled|document\d*|slide \d+|powerpoint presentation|title|print|layout \d+)\W*$|"
    r"\.(?:docx?|pptx?|xlsx?|pdf|indd|pub|rtf)$|\s{3,}|^[\W\d_]+$",
    re.IGNORECASE,
)


def load_pdf(data: bytes, name: str, *, ocr: bool = False) -> Loaded:
    """Read a PDF.

    Args:
        ocr: read pages without text from their picture, where the machine has ocrmypdf or tesseract.

    Raises:
        DocumentError: it is damaged, truncated or needs a password.
    """
    with opened(data, name) as document:
        properties = properties_of(document)
        outline = outline_of(document)
        pages = list(pages_of(document, name))
    unread = [page.index for page in pages if not is_legible(page.raw)]
    empty = [page.index for page in pages if not characters(page.raw) or page.index in unread]
    scanned = [page.index for page in pages if page.index in unread or (page.index in empty and page.drawn)]
    read = recognised(data, scanned, name) if ocr else {}
    read = {index: page for index, page in read.items() if characters(page.raw) and is_legible(page.raw)}
    pages = [read.get(page.index, page) for page in pages]
    legible = [page for page in pages if page.index not in empty or page.index in read]
    lattices = {page.index: lattices_of(page) for page in legible}
    running = running_of(legible, {page.index: in_tables(page, lattices[page.index]) for page in legible})
    body = body_size(legible)
    elements = list(_elements(legible, lattices, running, body))
    builder = TreeBuilder()
    BlockWriter(builder, running.labels, body, is_bold(legible), frozenset(read)).write(
        elements, outline if is_sane(outline) else ()
    )
    root = builder.build("")
    title = title_of(legible, root, PurePosixPath(name).stem, body)
    root = promoted(root, title)
    before_title = set(itertools.takewhile(lambda heading: heading != title, _headings(root))) if title else set()

    def is_letterhead(section: Section) -> bool:
        return section is root or (section.page == pages[0].index and section.heading in before_title)

    def block_of(section: Section) -> Block:
        label = running.labels.get(section.page or 0)
        return Block("paragraph", section.heading, page=section.page, page_label=label, ocr=section.page in read)

    root = with_text(root, is_letterhead, block_of)
    gone = sum(
        characters(page.lines[place].text) for page in legible for index, place in running.lines if index == page.index
    )
    coverage = Coverage(
        pages=len(pages),
        empty_pages=tuple(empty),
        tables=builder.tables,
        headings=builder.headings,
        characters=characters_in(root),
        raw_characters=sum(characters(page.raw) for page in legible) - gone,
    )
    away = ", and neither ocrmypdf nor tesseract is installed" if ocr and not is_available() else ""
    warnings = tuple(_problems(pages, [index for index in scanned if index not in read], unread, name, away))
    stated = property_title_of(properties, legible[0].raw if legible else "")
    return Loaded(root, without_population(title), stated, coverage=coverage, warnings=warnings)


def _headings(root: Section) -> Iterator[str]:
    return (section.heading for path, section in root.walk() if path)


def property_title_of(properties: Mapping[str, str], first_page: str) -> str:
    """Return the title of the document's properties where the first page holds most of its words, else "".

    Such titles are often left over from the document that this one was made from, or name a program.
    """
    title = _MADE_WITH.sub("", properties.get("title", "")).strip()
    words = re.findall(r"\w{3,}", title.casefold())
    shown = set(re.findall(r"\w{3,}", first_page.casefold()))
    if not words or len(title) > TITLE_MAX_CHARS or _JUNK_TITLE.search(title):
        return ""
    return title if sum(word in shown for word in words) >= 0.6 * len(words) else ""


def in_tables(page: Page, lattices: Sequence[Lattice]) -> set[int]:
    """Return the positions of lines in tables that reach out of the page's head and foot."""
    top, bottom = BAND * page.height, (1 - BAND) * page.height
    return {place for one in lattices if one.box.y1 > top and one.box.y0 < bottom for place in one.places}


def _elements(
    pages: Sequence[Page], lattices: Mapping[int, Sequence[Lattice]], running: Running, body: float
) -> Iterator[Element]:
    before: PlacedTable | None = None
    for page in pages:
        gone = {place for index, place in running.lines if index == page.index}
        last: PlacedTable | None = None
        for element in flow_of(page, gone, lattices[page.index], before, body):
            if isinstance(element, PlacedTable):
                last = element
            yield element
        before = last


def _problems(
    pages: Sequence[Page], scanned: Sequence[int], unread: Sequence[int], name: str, away: str
) -> Iterator[Problem]:
    for page in pages:
        for warning in page.warnings:
            yield Problem(name, warning, page.index)
        if page.index not in scanned:
            continue
        if page.index in unread:
            yield Problem(
                name, "no text: its letters are stored in a way that can't be read; it needs OCR" + away, page.index
            )
        else:
            yield Problem(name, "no text: it is scanned or drawn; it needs OCR" + away, page.index)
