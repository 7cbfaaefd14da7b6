"""What is counted of a passage, the same when an index is written and when a part of it is hidden (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from retrieval.abbreviations import defined_in
from retrieval.guideline import Passage
from retrieval.terms import term_set
from retrieval.units import full_text


def terms_of(passage: Passage) -> Iterable[str]:
    """Return the terms of title, path and text, hyphenated words also as one."""
    return term_set(full_text(passage))


def definitions_of(passage: Passage) -> Iterable[tuple[str, str]]:
    """Return the abbreviations that the text defines, as (short, long) pairs."""
    return defined_in(passage.text)
