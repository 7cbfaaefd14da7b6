"""Word files → HTML (mammoth) → section tree."""

from __future__ import annotations

import io
import zipfile
from xml.etree import ElementTree

import mammoth
from selectolax.lexbor import LexborHTMLParser, LexborNode

from retrieval.documents.html import title_apart
from retrieval.documents.html_text import text_of
from retrieval.documents.html_walker import HtmlWalker
from retrieval.documents.loaded import Loaded
from retrieval.documents.tree import TreeBuilder, characters, characters_in
from retrieval.errors import DocumentError
from retrieval.guideline import Coverage

# Underlining is kept, because an underlined '<' means '≤'; Word's own title is the top heading.
_STYLES = "\n".join(("u => u", "p[style-name='Title'] => h1.title:fresh", "p[style-name='Subtitle'] => p:fresh"))
# A Word file that unpacks to more than this is an attack or no document.
UNPACKED_MAX_BYTES = 500_000_000
PROPERTIES_MAX_BYTES = 1_000_000
_PROPERTIES = {"title": "title", "version": "version", "language": "language", "contentStatus": "status"}


def load_docx(data: bytes, name: str) -> Loaded:
    """Read a Word file; paragraphs that are bold as a whole are headings too. It has no pages.

    Raises:
        DocumentError: it is damaged or protected by a password.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > UNPACKED_MAX_BYTES:
                raise DocumentError(name, f"unpacks to more than {UNPACKED_MAX_BYTES // 1_000_000} MB; split it")
            properties = _properties(archive)
        images = mammoth.images.img_element(lambda image: {"src": ""})
        html = mammoth.convert_to_html(io.BytesIO(data), style_map=_STYLES, convert_image=images).value
    except DocumentError:
        raise
    except Exception as error:
        # mammoth passes on whatever its XML and ZIP readers raise.
        kind = type(error).__name__
        raise DocumentError(name, f"is a damaged Word file ({kind}); open it in Word and save it again") from error
    tree = LexborHTMLParser(html)
    body = tree.body
    builder = TreeBuilder()
    title = ""
    raw = 0
    if body is not None:
        skip = {node.mem_id for node in body.css("p") if _is_contents(node)}
        marked = body.css_first("h1.title")
        if marked is not None:
            title = " ".join(text_of(marked).split())
            skip.add(marked.mem_id)
        raw = characters(text_of(body))
        HtmlWalker(builder, bold_headings=True, skip=frozenset(skip)).walk(body)
    root = builder.build("")
    if not title:
        root, title = title_apart(root)
    kept = characters_in(root) + characters(title)
    coverage = Coverage(tables=builder.tables, headings=builder.headings, characters=kept, raw_characters=raw)
    return Loaded(root, title, properties.pop("title", ""), properties, coverage=coverage)


def _is_contents(paragraph: LexborNode) -> bool:
    """Tell whether a paragraph is an entry of the table of contents: nothing but a link to a heading."""
    link = paragraph.css_first("a[href^='#_Toc']")
    return link is not None and "".join(text_of(link).split()) == "".join(text_of(paragraph).split())


def _properties(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return what the core properties say; a status only where Word's is one of ours."""
    try:
        member = archive.getinfo("docProps/core.xml")
    except KeyError:
        return {}
    if member.file_size > PROPERTIES_MAX_BYTES:
        return {}
    found: dict[str, str] = {}
    for element in ElementTree.fromstring(archive.read(member)):
        key = _PROPERTIES.get(element.tag.rpartition("}")[2])
        if key and element.text and element.text.strip():
            found[key] = element.text.strip()
    return found
