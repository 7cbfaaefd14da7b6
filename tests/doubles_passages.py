"""Small passages and candidates for the tests of ranking, gate and evaluation; every text is invented."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retrieval.found import Reading
from retrieval.guideline import Block, Metadata, Passage
from retrieval.reranking import Candidate
from retrieval.terms import TermStatistics
from retrieval.units import full_text, units_of


def passage(
    text: str,
    *,
    title: str = "Infections",
    path: Sequence[str] = ("Treatment",),
    guideline: str = "infections.md",
    ordinal: int = 0,
) -> Passage:
    """Make a passage; lines that begin with a dash are list items, the others paragraphs."""
    blocks = tuple(
        Block("item" if line.startswith("- ") else "paragraph", line, group=place)
        for place, line in enumerate(text.splitlines())
    )
    return Passage(
        f"{guideline}/{ordinal}/{path}/{text}", guideline, Metadata(title), tuple(path), ordinal, blocks, text
    )


def candidate(one: Passage, cosine: float = 0.6, units: float | Sequence[float] | None = None) -> Candidate:
    """Make a candidate; its units are as near as its window unless said otherwise."""
    count = len(units_of(one))
    values = np.full(count, cosine if units is None else units) if not isinstance(units, Sequence) else np.array(units)
    return Candidate(one, cosine, values)


def statistics(passages: Sequence[Passage], others: int = 40) -> TermStatistics:
    """Count the passages, among others about something else, so that their words are rare."""
    texts = [full_text(one) for one in passages]
    return TermStatistics.of([*texts, *(f"filler{number} about furniture and parking" for number in range(others))])


def reading(question: str, *expansions: tuple[str, str]) -> Reading:
    return Reading(question, question, expansions)
