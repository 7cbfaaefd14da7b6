"""Decide whether what was found carries an answer, before any model is called (pure).

Every source is judged by its own gate score, a weighted mean of parts in [0, 1] less what is missing:

    near       how near the question is to the best window of the passage (cosine)
    line       how near it is to the passage's best sentence, list item or table row (cosine)
    coverage   how much of what the question names stands in the passage and its path (IDF-weighted share); for
               long messages rather how much of its title and heading the message names
    path       how much of what the question names stands in the title and headings: a section on the thing, not one
               that mentions it in passing
    missing    taken off: how far the kind of fact that is asked for (a dose, an interval, a limit …) is missing
               beside what it is asked about, compared with the place that speaks of it best

The first four say whether the topic is there, the last whether the fact is. It is 0 where the question asks for no
kind that can be told from a sentence's shape, and always where the second look is switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from retrieval.facts import AskedFact, Kind, asked_fact, holds
from retrieval.focus import Chunk, bound, chunks_of, matches
from retrieval.found import Reading, RefusalKind, Scores, Source, Verdict
from retrieval.reranking import FloatArray, Ranked, asked_terms, brevity
from retrieval.terms import TermStatistics
from retrieval.units import units_of

Embed = Callable[[Sequence[str]], FloatArray]

WEIGHTS = MappingProxyType({"near": 0.5, "line": 0.5, "coverage": 0.4, "path": 0.2})
MISSING_WEIGHT = 0.6
# A gap up to the first is nothing, from the second on the fact is missing altogether.
GAP_FREE, GAP_FULL = 0.2, 0.4
# The second look is for so many of the best sources; in the others the fact counts as missing, whatever the
# min_score, so that a score never depends on it.
LOOKED_AT = 20
# From here on a unit is said to name a thing.
NAMES_FROM = 0.6

# What the packaged all-MiniLM-L6-v2 and the hash embedder need where no one has measured on the site's questions.
MINILM_MIN_SCORE = 0.42
HASH_MIN_SCORE = 0.25

_KIND_NAMES: dict[Kind, str] = {
    "dose": "dose",
    "rate": "rate",
    "frequency": "interval",
    "duration": "duration",
    "threshold": "limit or target",
    "age": "age",
    "price": "price",
    "number": "number",
    "contact": "contact details",
}


@dataclass(frozen=True, slots=True)
class GateOptions:
    """How the gate judges.

    Attributes:
        min_score: what a source's gate score must reach.
        fact_check: look whether a source holds the kind of fact that is asked for.
    """

    min_score: float
    fact_check: bool = True


@dataclass(frozen=True, slots=True)
class Look:
    """What the second look saw in one source.

    Attributes:
        speaks: how well its best unit speaks of what is asked about, in [0, 1].
        carries: the same, times how much of the asked kind of fact the unit holds.
        speaking, carrying: indexes of those units.
        named: the chunk of the question that the speaking unit names most clearly; "" for none.
    """

    speaks: float
    carries: float
    speaking: int
    carrying: int
    named: str


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
        ranked: best first, as `rerank` gives them.
        statistics: over the passages that the asker may see.
        options: the score needed, and which layers are on.
        embed: turns a few short texts into float[n, dimension] unit vectors, as questions are embedded; without
            it the second look compares words only.

    Returns:
        (sources in rank order with tags S1, S2 …, verdict). With nothing ranked: no sources and a verdict of kind
        `nothing_indexed`, which the caller may make more exact.
    """
    fact = asked_fact(reading.question)
    if not ranked:
        return (), Verdict(False, 0.0, options.min_score, "Nothing was found.", "nothing_indexed", fact.kinds)
    parts = [topic_parts(one) for one in ranked]
    bases = [weighted(part) for part in parts]
    looks: dict[int, Look] = {}
    if options.fact_check and fact.checked:
        looks = looks_at(reading, fact, ranked[:LOOKED_AT], statistics, embed)
    # The longer a message, the less its wording says of what is asked for.
    short = brevity(asked_terms(reading, statistics)) if looks else 0.0
    spoken = max((look.speaks for look in looks.values()), default=0.0)
    sources = []
    for place, (one, part, base) in enumerate(zip(ranked, parts, bases, strict=True)):
        look = looks.get(place)
        missing = short * missing_share(spoken, look)
        sources.append(_source(place, one, {**part, "missing": missing}, base, look, fact, options))
    return tuple(sources), _verdict(sources, bases, looks, ranked, fact, options)


def topic_parts(one: Ranked) -> dict[str, float]:
    """Return the parts that say whether the topic is there, each in [0, 1]."""
    candidate = one.candidate
    return {
        "near": _clipped(candidate.cosine),
        "line": _clipped(candidate.unit_cosine),
        "coverage": one.covered,
        "path": one.heading,
    }


def weighted(parts: dict[str, float]) -> float:
    """Return the weighted mean of the topic's parts, in [0, 1]."""
    return sum(WEIGHTS[name] * part for name, part in parts.items()) / sum(WEIGHTS.values())


def missing_share(spoken: float, look: Look | None) -> float:
    """Return how far the asked fact is missing in a source, in [0, 1].

    The gap between the best place that speaks of what is asked about, and the best place of this source that
    speaks of it *and* holds the kind of fact, drawn out between `GAP_FREE` and `GAP_FULL`; 1 for a source that was
    not looked into.
    """
    if look is None:
        return 1.0
    return _clipped((spoken - look.carries - GAP_FREE) / (GAP_FULL - GAP_FREE))


def looks_at(
    reading: Reading,
    fact: AskedFact,
    ranked: Sequence[Ranked],
    statistics: TermStatistics,
    embed: Embed | None = None,
) -> dict[int, Look]:
    """Look into the units of sources: do they speak of what is asked about, and hold the kind of fact?

    Returns:
        place → what was seen; a passage without units is left out.
    """
    chunks = chunks_of(reading, statistics)
    vectors = embed([chunk.text for chunk in chunks]) if embed and chunks else None
    weights = np.array([chunk.weight(statistics) for chunk in chunks])
    looks = {}
    for place, one in enumerate(ranked):
        candidate = one.candidate
        units = units_of(candidate.passage)
        if not units:
            continue
        matched = matches(chunks, candidate.passage, statistics, candidate.unit_vectors, vectors)
        speaks = bound(matched, weights)
        carries = speaks * [holds(fact, f"{unit.text} {unit.lead}") for unit in units]
        speaking, carrying = int(speaks.argmax()), int(carries.argmax())
        looks[place] = Look(
            float(speaks[speaking]),
            float(carries[carrying]),
            speaking,
            carrying,
            _named(chunks, matched[speaking], weights),
        )
    return looks


def _named(chunks: Sequence[Chunk], matched: FloatArray, weights: FloatArray) -> str:
    named = [place for place in range(len(chunks)) if matched[place] >= NAMES_FROM]
    return chunks[max(named, key=lambda place: weights[place])].text if named else ""


def _source(
    place: int,
    one: Ranked,
    parts: dict[str, float],
    base: float,
    look: Look | None,
    fact: AskedFact,
    options: GateOptions,
) -> Source:
    gate = max(0.0, base - MISSING_WEIGHT * parts["missing"])
    kept = gate >= options.min_score
    if kept:
        reason = f"holds {_kinds(fact)} for what is asked about" if look and not parts["missing"] else ""
    elif base >= options.min_score:
        reason = f"{_names(look)}, but gives no {_kinds(fact, article=False)}" if look else "is not among the best"
    else:
        reason = f"scores {gate:.2f}, {options.min_score:.2f} is needed"
    units = units_of(one.passage)
    best_unit = look.carrying if kept and look else one.candidate.best_unit
    candidate = one.candidate
    return Source(
        tag=f"S{place + 1}",
        passage=one.passage,
        scores=Scores(candidate.cosine, one.lexical, one.heading, one.blended, gate, MappingProxyType(parts)),
        kept=kept,
        reason=reason,
        best_block=units[best_unit].block if best_unit < len(units) else 0,
    )


def _verdict(
    sources: Sequence[Source],
    bases: Sequence[float],
    looks: dict[int, Look],
    ranked: Sequence[Ranked],
    fact: AskedFact,
    options: GateOptions,
) -> Verdict:
    best = max(source.scores.gate for source in sources)
    needed = f"{options.min_score:.2f} is needed"
    kind: RefusalKind | None = None
    if any(source.kept for source in sources):
        reason = f"The best source scores {best:.2f}; {needed}."
    elif max(bases) >= options.min_score:
        kind = "fact_absent"
        place = max(looks, key=lambda at: (looks[at].speaks, -at))
        where = ranked[place].passage.trail
        reason = f"The guideline {_names(looks[place])} here, but gives no {_kinds(fact, article=False)}: see {where}."
    else:
        kind = "below_score"
        reason = f"Nothing in the guidelines is near enough: the best source scores {best:.2f}, {needed}."
    return Verdict(kind is None, best, options.min_score, reason, kind, fact.kinds)


def _names(look: Look | None) -> str:
    return f"names {look.named}" if look and look.named else "is about this"


def _kinds(fact: AskedFact, *, article: bool = True) -> str:
    names = [_KIND_NAMES[kind] for kind in fact.checked]
    text = " or ".join(names)
    if not article or names[0] == "contact details":
        return text
    return f"{'an' if text[0] in 'aeiou' else 'a'} {text}"


def _clipped(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)
