"""The title that a PDF's first page shows (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from retrieval.documents.pdf.page import Page
from retrieval.guideline import Block, Section

_WORD = re.compile(r"[^\W\d_]{3,}|\d{2,}")
_POPULATION_LAST = re.compile(
    r"[\s\-–—:,(]+(?:(?:adults?|p(?:a)?ediatrics?|child(?:ren)?|infants?|neonat\w+)(?:\s*(?:/|&|and)\s*)?)+\)?$",
    re.IGNORECASE,
)
MIN_SHARED = 0.5
MAX_CHARS = 120


def title_of(pages: Sequence[Page], root: Section, stem: str, body: float) -> str:
    """Return the heading of the first page that the file's name names; "" where none does.

    A letterhead is often the largest line of a page, and the same in every file of a folder.
    """
    if not pages:
        return ""
    wanted = set(_words(stem))
    best, best_score = "", 0.0
    for _, section in root.walk():
        if section.page != pages[0].index or not section.heading or len(section.heading) > MAX_CHARS:
            continue
        words = set(_words(section.heading))
        if not words or not wanted:
            continue
        shared = len(words & wanted)
        score = shared / len(wanted) + 0.5 * shared / len(words)
        if shared and shared / min(len(wanted), len(words)) >= MIN_SHARED and score > best_score:
            best, best_score = section.heading, score
    return best


def without_population(title: str) -> str:
    """Return a title without the population at its end: 'Bradycardia - Adult' also names what is for children."""
    shorter = _POPULATION_LAST.sub("", title).strip()
    return shorter or title


def promoted(root: Section, title: str) -> Section:
    """Return the tree with the title's section at the top.

    What stands above it on the first page is a letterhead: it stays a section of its own, and out of the paths
    of all that follows.
    """
    path = _path_to(root, title)
    if not title or path is None or len(path) < 2:
        return root
    children: list[Section] = list(root.children[: path[0]])
    after: list[list[Section]] = []
    node = root
    for place in path:
        after.append(list(node.children[place + 1 :]))
        node = node.children[place]
    children.append(_without_last(root.children[path[0]], path[1:]))
    children.append(node)
    for later in reversed(after):
        children.extend(later)
    return replace(root, children=tuple(children))


def with_text(section: Section, letterhead: Callable[[Section], bool], block: Callable[[Section], Block]) -> Section:
    """Return the tree with a block in every section that has nothing but its heading.

    What was set like a heading may be the instruction itself ('Contact base'); without a block it would be in
    no passage.

    Args:
        letterhead: tells which sections to leave empty.
        block: makes the block of a heading.
    """
    if not section.children and not section.blocks and not letterhead(section):
        return replace(section, blocks=(block(section),))
    return replace(section, children=tuple(with_text(child, letterhead, block) for child in section.children))


def _path_to(root: Section, heading: str) -> tuple[int, ...] | None:
    for place, child in enumerate(root.children):
        if child.heading == heading:
            return (place,)
        below = _path_to(child, heading)
        if below is not None:
            return (place, *below)
    return None


def _without_last(section: Section, path: Sequence[int]) -> Section:
    """Return a section without what a path leads to, and without all that follows it."""
    kept = section.children[: path[0]]
    if len(path) > 1:
        kept = (*kept, _without_last(section.children[path[0]], path[1:]))
    return replace(section, children=kept)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
