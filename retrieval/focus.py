"""What a question is about, and how well a unit of a passage speaks of it (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.facts import KIND_WORDS
from retrieval.found import Reading
from retrieval.guideline import Passage
from retrieval.reranking import AskedTerm, FloatArray, asked_terms
from retrieval.terms import TermStatistics, content_terms, is_content, term_set, words
from retrieval.units import Unit, context_of, units_of

# How much a match counts by where it stands: in the unit itself, in what leads it in, in title and path, one and
# two lines before it.
IN_LEAD = 0.95
IN_PATH = 0.9
IN_LINES_BEFORE = (0.6, 0.4)
# A similarity below this says nothing; above it, it counts up to NEAR_MEANING of a match by word.
UNRELATED = 0.45
NEAR_MEANING = 0.9
# A part of the question that is not met at all still leaves this much, so that one paraphrase is not a veto.
UNMET = 0.05

MAX_CHUNKS = 6

_PIECE = re.compile(r"[^\s,;:.?!()\[\]/\"“”]+|[,;:.?!()\[\]/\"“”]")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Neighbouring words of a question that name one thing: a drug, an illness, a group of people.

    Attributes:
        text: as asked; what is embedded.
        terms: the things it names.
    """

    text: str
    terms: tuple[AskedTerm, ...]

    def weight(self, statistics: TermStatistics) -> float:
        """Return the sum of its terms' weights."""
        return sum(term.weight(statistics) for term in self.terms)

    def share(self, held: frozenset[str], statistics: TermStatistics) -> float:
        """Return the weighted share of its terms that a text holds, in [0, 1]."""
        weights = [term.weight(statistics) for term in self.terms]
        shares = (term.share(held, statistics) for term in self.terms)
        return sum(weight * share for weight, share in zip(weights, shares, strict=True)) / (sum(weights) or 1.0)


def chunks_of(reading: Reading, statistics: TermStatistics) -> tuple[Chunk, ...]:
    """Divide a question into what it names, leaving out stop words and words that only say which fact is wanted.

    Of a long message only the `MAX_CHUNKS` that tell most are taken, in their order.
    """
    by_term = {term: asked for asked in asked_terms(reading, statistics) for term in asked.alternatives[0]}
    chunks: list[Chunk] = []
    run: list[str] = []
    for piece in [*_PIECE.findall(reading.question), "."]:
        naming = [word for word in words(piece) if is_content(word) and word not in KIND_WORDS]
        if naming:
            run.append(piece)
            continue
        if run:
            text = " ".join(run)
            terms = dict.fromkeys(by_term[term] for term in content_terms(text) if term in by_term)
            if terms:
                chunks.append(Chunk(text, tuple(terms)))
        run = []
    telling = sorted(range(len(chunks)), key=lambda place: -chunks[place].weight(statistics))[:MAX_CHUNKS]
    return tuple(chunks[place] for place in sorted(telling))


def matches(
    chunks: Sequence[Chunk],
    passage: Passage,
    statistics: TermStatistics,
    unit_vectors: FloatArray | None = None,
    chunk_vectors: FloatArray | None = None,
) -> FloatArray:
    """Return how well each unit of a passage speaks of each chunk: float[n_units, n_chunks] in [0, 1].

    By word: the share of the chunk's terms in the unit, or, discounted, in what is read with it. By meaning, where
    vectors are given: the similarity of chunk and unit, so that 'jaundiced neonate' meets 'newborn with jaundice'.
    """
    units = units_of(passage)
    result = np.zeros((len(units), len(chunks)))
    path = term_set(context_of(passage))
    for row, unit in enumerate(units):
        for held, scope in _scopes(unit, path):
            for column, chunk in enumerate(chunks):
                if result[row, column] < scope:
                    result[row, column] = max(result[row, column], scope * chunk.share(held, statistics))
    if unit_vectors is not None and chunk_vectors is not None and len(unit_vectors) == len(units):
        cosines = unit_vectors @ chunk_vectors.T
        result = np.maximum(result, NEAR_MEANING * np.clip((cosines - UNRELATED) / (1 - UNRELATED), 0, 1))
    return result


def bound(matched: FloatArray, weights: FloatArray) -> FloatArray:
    """Return float[n_units]: the weighted geometric mean of each unit's matches, in [0, 1].

    Condition *and* population must be met: an arithmetic mean forgives the one for the other.
    """
    if not matched.shape[1]:
        return np.ones(len(matched))
    logs = np.log(np.maximum(matched, UNMET)) @ weights / weights.sum()
    return np.asarray(np.exp(logs))


def _scopes(unit: Unit, path: frozenset[str]) -> list[tuple[frozenset[str], float]]:
    scopes = [(term_set(unit.text), 1.0)]
    if unit.lead:
        scopes.append((scopes[0][0] | term_set(unit.lead), IN_LEAD))
    scopes.append((scopes[-1][0] | path, IN_PATH))
    if unit.follows:
        for text, scope in zip(unit.before, IN_LINES_BEFORE, strict=False):
            scopes.append((scopes[-1][0] | term_set(text), scope))
    return scopes
