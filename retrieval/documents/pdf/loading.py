"""A PDF's bytes → section tree, coverage and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from retrieval.documents.loaded import Loaded
from retrieval.documents.pdf.blocks import BlockWriter
from retrieval.documents.pdf.flow import Element, PlacedTable, flow_of
from retrieval.documents.pdf.lattice import lattices_of
from retrieval.documents.pdf.legibility import is_legible
from retrieval.documents.pdf.outline import is_sane
from retrieval.documents.pdf.page import Page
from retrieval.documents.pdf.reading import opened, outline_of, pages_of, properties_of
from retrieval.documents.pdf.running import Running, body_size, running_of
from retrieval.documents.pdf.title import promoted, title_of
from retrieval.documents.tree import TreeBuilder, characters, characters_in
from retrieval.guideline import Coverage, Problem


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
    unread = [page for page in pages if not is_legible(page.raw)]
    empty = [page.index for page in pages if not characters(page.raw) or page in unread]
    legible = [page for page in pages if page.index not in set(empty)]
    running = running_of(legible) if legible else Running(frozenset(), {})
    body = body_size(legible)
    elements = list(_elements(legible, running, body))
    builder = TreeBuilder()
    BlockWriter(builder, running.labels, body).write(elements, outline if is_sane(outline) else ())
    root = builder.build("")
    title = title_of(legible, root, PurePosixPath(name).stem, body)
    root = promoted(root, title)
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
    warnings = tuple(_problems(pages, unread, name))
    return Loaded(root, title, property_title_of(properties), coverage=coverage, warnings=warnings)


def property_title_of(properties: dict[str, str]) -> str:
    return ""


def _elements(pages: Sequence[Page], running: Running, body: float) -> Iterator[Element]:
    before: PlacedTable | None = None
    for page in pages:
        gone = {place for index, place in running.lines if index == page.index}
        last: PlacedTable | None = None
        for element in flow_of(page, gone, lattices_of(page), before, body):
            if isinstance(element, PlacedTable):
                last = element
            yield element
        before = last


def _problems(pages: Sequence[Page], unread: Sequence[Page], name: str) -> Iterator[Problem]:
    for page in pages:
        for warning in page.warnings:
            yield Problem(name, warning, page.index)
        if page in unread:
            yield Problem(name, "its text is stored in an encoding that can't be read; it needs OCR", page.index)
        elif not characters(page.raw) and page.drawn:
            yield Problem(name, "no text: it is scanned or drawn; it needs OCR", page.index)
