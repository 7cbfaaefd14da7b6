"""What a search found and what the gate said of it: the values that `retrieval` hands to `bot`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from retrieval.guideline import Passage

RefusalKind = Literal["nothing_indexed", "below_score", "fact_absent", "filtered_out"]


@dataclass(frozen=True, slots=True)
class Scores:
    """How a passage was scored.

    Attributes:
        cosine: similarity of question and best window, in [-1, 1].
        lexical, heading: IDF-weighted share of the question's terms in text and in path, in [0, 1].
        blended: orders the sources, nothing else.
        gate: the number that the gate judged by and that people see.
        parts: name → value of every part of the gate score and of the blend, in the order they are printed.
    """

    cosine: float
    lexical: float
    heading: float
    blended: float
    gate: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """A passage found for a question.

    Attributes:
        tag: "S1", "S2" … in order of rank.
        kept: the gate let it through; a source that is not kept never reaches the model.
        reason: why it was rejected, or what it carries, in one sentence.
        best_block: index into `passage.blocks` of the block that matched best.
        notes: what a reader must be told of it: that it is the last good text of a file which cannot be read now.
    """

    tag: str
    passage: Passage
    scores: Scores
    kept: bool
    reason: str = ""
    best_block: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate decided for the whole question.

    Attributes:
        passed: at least one source was kept.
        best: the best gate score; 0.0 when nothing was found.
        min_score: what the gate needed.
        reason: one sentence for the reader.
        kind: why it refused; None when it passed.
        asks_for: the kinds of fact that the question asks for ("dose", "threshold" …).
    """

    passed: bool
    best: float
    min_score: float
    reason: str
    kind: RefusalKind | None = None
    asks_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filters:
    """Restrict a search before anything is ranked.

    Attributes:
        guideline: part of a guideline's name or title, any case; "" for all.
        section: part of a section's path ("Anxiety › Panic"), any case; "" for all.
    """

    guideline: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a question was read.

    Attributes:
        question: as asked.
        read_as: with abbreviations expanded; what is embedded.
        expansions: (as written, as read) pairs, in the question's order.
        ambiguous: (as written, what else it could mean) for abbreviations with several senses.
    """

    question: str
    read_as: str
    expansions: tuple[tuple[str, str], ...] = ()
    ambiguous: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of `Library.search`: every candidate, best first, and the verdict."""

    reading: Reading
    sources: tuple[Source, ...]
    verdict: Verdict
    generation: str
    timings_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def kept(self) -> tuple[Source, ...]:
        return tuple(source for source in self.sources if source.kept)
