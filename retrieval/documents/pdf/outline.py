"""A PDF's bookmarks: sane ones name the headings, junk is set aside (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LONG_TITLE_CHARS = 70
MAX_JUNK_SHARE = 0.15
_LIST_ITEM = re.compile(r"^\s*(?:[•●▪■◦‣➢❖\uf000-\uf0ff·*–—-]|\(?[a-z][.)]|\(?[ivx]+[.)])\s")
_MEANINGLESS = re.compile(r"^(?:slide|page|seite|blank page|untitled|_?hlk\w*|ole_link\w*)\W*\d*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """A bookmark: level from 1, title, 1-based page or None where it leads nowhere."""

    level: int
    title: str
    page: int | None


def is_sane(entries: Sequence[Entry]) -> bool:
    """Tell whether bookmarks are headings.

    Over 15 % of titles longer than 70 characters, like list items, meaningless ('Slide 2') or leading nowhere:
    they are junk, as where a program tagged every paragraph.
    """
    if not entries:
        return False
    return sum(map(_is_junk, entries)) <= MAX_JUNK_SHARE * len(entries)


def _is_junk(entry: Entry) -> bool:
    return (
        entry.page is None
        or not entry.title
        or len(entry.title) > LONG_TITLE_CHARS
        or bool(_LIST_ITEM.match(entry.title))
        or bool(_MEANINGLESS.match(entry.title))
    )
