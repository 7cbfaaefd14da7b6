"""HTML pages → section tree: navigation left out, every heading and box kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from retrieval.documents.html_text import text_of
from retrieval.documents.html_walker import HtmlWalker
from retrieval.documents.loaded import Loaded
from retrieval.documents.tree import TreeBuilder, characters, characters_in
from retrieval.errors import DocumentError
from retrieval.guideline import Coverage, Section

BEFORE_TITLE_MAX_CHARS = 200
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_NAVIGATION = (
    "nav, footer, [role=navigation], [role=contentinfo], [role=search], [data-role=footer], [data-role=navbar], "
    "[aria-label=breadcrumb], [class*=breadcrumb], [id*=breadcrumb], [class*=skip-link]"
)
_BANNER = "[role=banner], [data-role=header], body > header"
_BREADCRUMBS = "[aria-label=breadcrumb], [class*=breadcrumb], [id*=breadcrumb]"
_CRUMB_BETWEEN = re.compile(r"\s*(?:[>»›→|]|/(?=\s)|\n)\s*")
# `<meta name>` → what it says of the guideline.
_META = {"author": "owner", "dc.publisher": "owner", "version": "version"}


def load_html(data: bytes, name: str) -> Loaded:
    """Read an HTML page.

    Navigation is left out and so is the page's banner; its first heading is the title where nothing better is
    known. Breadcrumbs name a page better than a first heading that is the site's: they are the title then.

    Raises:
        DocumentError: its bytes are not in the encoding it states.
    """
    tree = LexborHTMLParser(_decoded(data, name))
    body = tree.body
    if body is None:
        raise DocumentError(name, "is HTML without a body; put the page in its place again")
    crumbs = _crumbs(body)
    skip = {node.mem_id for node in body.css(_NAVIGATION)}
    banner = next((node for node in body.css(_BANNER) if node.css_first("h1") is not None), None)
    skip |= {node.mem_id for node in body.css(_BANNER)}
    builder = TreeBuilder()
    HtmlWalker(builder, skip=frozenset(skip)).walk(body)
    root = builder.build("")
    named = " ".join(text_of(title).split()) if (title := tree.css_first("head title")) is not None else ""
    if crumbs:
        site = " ".join(text_of(h1).split()) if banner is not None and (h1 := banner.css_first("h1")) else ""
        heading = " › ".join(_under(site, crumbs))
    elif banner is not None:
        heading = " ".join(text_of(banner.css_first("h1")).split())  # type: ignore[arg-type]
    else:
        root, heading = title_apart(root)
    kept = characters_in(root) + characters(heading)
    raw = characters(text_of(body)) - sum(characters(text_of(node)) for node in _topmost(body, skip))
    coverage = Coverage(tables=builder.tables, headings=builder.headings, characters=kept, raw_characters=raw)
    properties = _properties(tree)
    return Loaded(root, heading, named, properties, coverage=coverage)


def title_apart(root: Section) -> tuple[Section, str]:
    """Take the title out of the tree: the top section, where it is the only one and of what it holds.

    A few words before it stay in front of its own.
    """
    if len(root.children) != 1 or sum(len(block.text) for block in root.blocks) > BEFORE_TITLE_MAX_CHARS:
        return root, ""
    top = root.children[0]
    return Section("", (*root.blocks, *top.blocks), top.children, top.line, top.page), top.heading


def _decoded(data: bytes, name: str) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    else:
        match = _CHARSET.search(data[:4096])
        encoding = match[1].decode("ascii") if match and not data.startswith(b"\xef\xbb\xbf") else "utf-8-sig"
        if encoding.lower() in ("utf-8", "utf8", "utf-16"):
            encoding = "utf-8-sig"
        elif encoding.lower() in ("iso-8859-1", "latin1", "latin-1"):
            # What pages of that name hold, and how browsers read them.
            encoding = "windows-1252"
    try:
        return data.decode(encoding)
    except LookupError:
        raise DocumentError(name, f"states the encoding '{encoding}', which nobody knows; save it as UTF-8") from None
    except UnicodeDecodeError:
        raise DocumentError(name, f"isn't {encoding.removesuffix('-sig').upper()}; save it as UTF-8") from None


def _crumbs(body: LexborNode) -> list[str]:
    node = body.css_first(_BREADCRUMBS)
    if node is None:
        return []
    listed = node.css("li")
    parts = [text_of(item) for item in listed] if listed else _CRUMB_BETWEEN.split(text_of(node))
    crumbs = [" ".join(part.split()).strip(" >»›→|/") for part in parts]
    return [crumb for crumb in dict.fromkeys(crumbs) if crumb and crumb.lower() != "home"]


def _under(site: str, crumbs: list[str]) -> list[str]:
    """Return the breadcrumbs below the site's name, which the first of them may only shorten."""
    if not site or site == crumbs[0]:
        return crumbs
    shortened = set(crumbs[0].lower().split()) <= set(site.lower().split())
    return [site, *(crumbs[1:] if shortened else crumbs)]


def _topmost(body: LexborNode, skip: set[int]) -> Iterator[LexborNode]:
    """Yield the left-out nodes that no other left-out node holds."""
    for child in body.iter():
        if child.mem_id in skip:
            yield child
        else:
            yield from _topmost(child, skip)


def _properties(tree: LexborHTMLParser) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for meta in tree.css("meta[name]"):
        key = _META.get((meta.attributes.get("name") or "").lower())
        content = meta.attributes.get("content")
        if key and content:
            found.setdefault(key, content)
    html = tree.css_first("html")
    if html is not None and html.attributes.get("lang"):
        found["language"] = html.attributes["lang"]
    return found
