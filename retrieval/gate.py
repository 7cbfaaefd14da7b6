"""Decide whether what was found carries an answer, before any model is called (pure).

Every source is judged by its own gate score, a weighted mean of parts in [0, 1]:

    near       how near the question is to the best window of the passage (cosine)
    line       how near it is to the passage's best sentence, list item or table row (cosine)
    coverage   how much of what the question names stands in the passage and its path (IDF-weighted share)
    margin     how far the passage stands out from the mean of all candidates (difference of cosines)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from retrieval.found import Reading, RefusalKind, Scores, Source, Verdict
from retrieval.reranking import FloatArray, Ranked
from retrieval.terms import TermStatistics
from retrieval.units import units_of

Embed = Callable[[Sequence[str]], FloatArray]

WEIGHTS = MappingProxyType({"near": 0.5, "line": 0.5, "coverage": 0.3, "margin": 0.3})

# What the packaged all-MiniLM-L6-v2 and the hash embedder need where no one has measured on the site's questions.
MINILM_MIN_SCORE = 0.45
HASH_MIN_SCORE = 0.25


@dataclass(frozen=True, slots=True)
class GateOptions:
    """How the gate judges.

    Attributes:
        min_score: what a source's gate score must reach.
        fact_check: look whether a source holds the kind of fact that is asked for.
    """

    min_score: float
    fact_check: bool = True


def judge(
    reading: Reading,
    ranked: Sequence[Ranked],
    statistics: TermStatistics,
    options: GateOptions,
    embed: Embed | None = None,
) -> tuple[tuple[Source, ...], Verdict]:
    """Judge every source by itself and say what that means for the question.

    Args:
        reading: the question as it was read.
        ranked: best first, as `rerank` gives them; all candidates, because the margin is taken over them.
        statistics: over the passages that the asker may see.
        options: the score needed, and which layers are on.
        embed: turns a few short texts into float[n, dimension] unit vectors, as questions are embedded; without
            it the second look compares words only.

    Returns:
        (sources in rank order with tags S1, S2 …, verdict). With nothing ranked: no sources and a verdict of kind
        `nothing_indexed`, which the caller may make more exact.
    """
    if not ranked:
        return (), Verdict(False, 0.0, options.min_score, "Nothing was found.", "nothing_indexed")
    mean = float(np.mean([one.candidate.cosine for one in ranked]))
    sources = tuple(_source(f"S{place}", one, mean, options) for place, one in enumerate(ranked, start=1))
    best = max(source.scores.gate for source in sources)
    passed = any(source.kept for source in sources)
    kind: RefusalKind | None = None if passed else "below_score"
    reason = (
        f"The best source scores {best:.2f}; {options.min_score:.2f} is needed."
        if passed
        else f"Nothing in the guidelines is near enough: the best source scores {best:.2f}, "
        f"{options.min_score:.2f} is needed."
    )
    return sources, Verdict(passed, best, options.min_score, reason, kind)


def _source(tag: str, one: Ranked, mean: float, options: GateOptions) -> Source:
    candidate = one.candidate
    parts = {
        "near": _clipped(candidate.cosine),
        "line": _clipped(candidate.unit_cosine),
        "coverage": one.lexical,
        "margin": _clipped(candidate.cosine - mean),
    }
    gate = sum(WEIGHTS[name] * part for name, part in parts.items()) / sum(WEIGHTS.values())
    kept = gate >= options.min_score
    units = units_of(one.passage)
    return Source(
        tag=tag,
        passage=one.passage,
        scores=Scores(candidate.cosine, one.lexical, one.heading, one.blended, gate, MappingProxyType(parts)),
        kept=kept,
        reason="" if kept else f"scores {gate:.2f}, {options.min_score:.2f} is needed",
        best_block=units[candidate.best_unit].block if units else 0,
    )


def _clipped(value: float) -> float:
    return min(max(value, 0.0), 1.0)
