"""Measure retrieval and gate on questions with known truth (pure).

Ranks are counted over sections: several passages of one section take one place. Rates come with their Wilson
interval, the proposed threshold with a bootstrap interval, because a few dozen questions say little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.found import Found, Source
from retrieval.questions import EvaluationQuestion

Scored = NDArray[np.float64]

RANKED_KEPT = 20
STEPS = 100
RESAMPLES = 1000
Z_95 = 1.959964


@dataclass(frozen=True, slots=True)
class RankedSection:
    """One found section, as the details file shows it."""

    guideline: str
    path: tuple[str, ...]
    scores: Mapping[str, float]
    kept: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question.

    Attributes:
        status: "answered" or "refused".
        gate_score: the best gate score; what it would take to refuse.
        rank: 1-based place of the first section that is a hit; 0 where none was found or the question is not
            answerable.
        ranked: sections, best first.
    """

    question: EvaluationQuestion
    status: str
    reason: str
    gate_score: float
    rank: int
    ranked: tuple[RankedSection, ...]

    @property
    def answered(self) -> bool:
        return self.status == "answered"

    def as_json(self) -> dict[str, Any]:
        """Return the line of the details file."""
        return {
            "id": self.question.id,
            "question": self.question.question,
            "answerable": self.question.answerable,
            "kind": self.question.kind,
            "status": self.status,
            "reason": self.reason,
            "gate_score": round(self.gate_score, 6),
            "rank": self.rank,
            "ranked": [
                {
                    "guideline": one.guideline,
                    "path": list(one.path),
                    "scores": {name: round(value, 6) for name, value in one.scores.items()},
                    "kept": one.kept,
                }
                for one in self.ranked
            ],
        }


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95 % Wilson interval; `value` is None when nothing was counted."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.hits, self.of) if self.of else None


@dataclass(frozen=True, slots=True)
class Figures:
    """Measures over a set of outcomes.

    Attributes:
        hit_at_1, hit_at_5: share of answerable questions with a gold section at rank 1, at ranks 1 to 5.
        mrr: mean over answerable questions of 1 / rank, 0 where the section was not found; None without any.
        answered_rate: share of answerable questions that were answered.
        false_answer_rate: share of unanswerable questions that were answered.
        auroc: chance that an answerable question scores above an unanswerable one, ties counting half
            (Mann-Whitney U over the product of the counts); None where one side is missing.
    """

    questions: int
    hit_at_1: Rate
    hit_at_5: Rate
    mrr: float | None
    answered_rate: Rate
    false_answer_rate: Rate
    auroc: float | None

    def as_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"questions": self.questions}
        intervals: dict[str, list[float]] = {}
        for name in ("hit_at_1", "hit_at_5", "answered_rate", "false_answer_rate"):
            rate: Rate = getattr(self, name)
            body[name] = _rounded(rate.value)
            if rate.interval:
                intervals[name] = [round(edge, 4) for edge in rate.interval]
        body["mrr"] = _rounded(self.mrr)
        body["auroc"] = _rounded(self.auroc)
        body["intervals"] = intervals
        return body


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a min_score would have done: rates are None where there is no question to count."""

    min_score: float
    answered_rate: float | None
    false_answer_rate: float | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """The lowest min_score that keeps false answers at or below the wanted rate.

    Attributes:
        interval: 95 % bootstrap interval of min_score over resampled questions.
        answered_rate, false_answer_rate: on these questions, with that min_score.
    """

    min_score: float
    interval: tuple[float, float]
    wanted_false_answer_rate: float
    answered_rate: Rate
    false_answer_rate: Rate


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything that `evaluate` says of a questions file."""

    figures: Figures
    kinds: Mapping[str, Figures]
    thresholds: tuple[Threshold, ...]
    proposal: Proposal | None
    min_score: float
    outcomes: tuple[Outcome, ...] = field(repr=False, default=())

    def as_json(self) -> dict[str, Any]:
        proposal = self.proposal
        return {
            **self.figures.as_json(),
            "kinds": {kind: figures.as_json() for kind, figures in self.kinds.items()},
            "min_score": round(self.min_score, 4),
            "thresholds": [
                {
                    "min_score": round(one.min_score, 4),
                    "answered_rate": _rounded(one.answered_rate),
                    "false_answer_rate": _rounded(one.false_answer_rate),
                }
                for one in self.thresholds
            ],
            "proposed_min_score": round(proposal.min_score, 4) if proposal else None,
            "proposal": proposal
            and {
                "min_score": round(proposal.min_score, 4),
                "interval": [round(edge, 4) for edge in proposal.interval],
                "wanted_false_answer_rate": proposal.wanted_false_answer_rate,
                "answered_rate": _rounded(proposal.answered_rate.value),
                "answered_interval": [round(edge, 4) for edge in proposal.answered_rate.interval or ()],
                "false_answer_rate": _rounded(proposal.false_answer_rate.value),
                "false_answer_interval": [round(edge, 4) for edge in proposal.false_answer_rate.interval or ()],
            },
        }


def outcome_of(question: EvaluationQuestion, found: Found, *, status: str | None = None, reason: str = "") -> Outcome:
    """Say what came of a question.

    Args:
        found: with all candidates, best first.
        status, reason: what the answering made of it, where a model had its say after the gate ("refused").
    """
    sections: dict[tuple[str, tuple[str, ...]], RankedSection] = {}
    for source in found.sources:
        key = (source.passage.guideline, source.passage.path)
        if key in sections:
            if source.kept and not sections[key].kept:
                sections[key] = _section(source)
            continue
        sections[key] = _section(source)
    ranked = tuple(sections.values())
    rank = 0
    if question.answerable:
        hits = (place for place, one in enumerate(ranked, start=1) if question.is_hit(one.guideline, one.path))
        rank = next(hits, 0)
    return Outcome(
        question,
        status or ("answered" if found.verdict.passed else "refused"),
        reason or found.verdict.reason,
        found.verdict.best,
        rank,
        ranked[:RANKED_KEPT],
    )


def evaluation_of(outcomes: Sequence[Outcome], min_score: float, wanted_false_answer_rate: float = 0.1) -> Evaluation:
    """Compute every figure over the outcomes.

    Args:
        min_score: what the gate needed while they were made.
        wanted_false_answer_rate: in [0, 1]; what the proposed min_score keeps to.
    """
    kinds = sorted({outcome.question.kind for outcome in outcomes if outcome.question.kind})
    return Evaluation(
        figures=figures_of(outcomes, outcomes),
        kinds={kind: figures_of([one for one in outcomes if one.question.kind == kind], outcomes) for kind in kinds},
        thresholds=thresholds_of(outcomes),
        proposal=propose(outcomes, wanted_false_answer_rate),
        min_score=min_score,
        outcomes=tuple(outcomes),
    )


def figures_of(outcomes: Sequence[Outcome], everything: Sequence[Outcome] = ()) -> Figures:
    """Measure a set of outcomes.

    Args:
        everything: where `outcomes` holds only answerable or only unanswerable questions, the other side of its
            AUROC is taken from here.
    """
    answerable = [one for one in outcomes if one.question.answerable]
    unanswerable = [one for one in outcomes if not one.question.answerable]
    above = answerable or [one for one in everything if one.question.answerable]
    below = unanswerable or [one for one in everything if not one.question.answerable]
    reciprocal = [1 / one.rank if one.rank else 0.0 for one in answerable]
    return Figures(
        questions=len(outcomes),
        hit_at_1=Rate(sum(one.rank == 1 for one in answerable), len(answerable)),
        hit_at_5=Rate(sum(1 <= one.rank <= 5 for one in answerable), len(answerable)),
        mrr=sum(reciprocal) / len(reciprocal) if reciprocal else None,
        answered_rate=Rate(sum(one.answered for one in answerable), len(answerable)),
        false_answer_rate=Rate(sum(one.answered for one in unanswerable), len(unanswerable)),
        auroc=auroc([one.gate_score for one in above], [one.gate_score for one in below]),
    )


def auroc(above: Sequence[float], below: Sequence[float]) -> float | None:
    """Return the chance that one of `above` exceeds one of `below`, ties counting half; None when one is empty."""
    if not above or not below:
        return None
    one, other = np.asarray(above)[:, None], np.asarray(below)[None, :]
    return float((one > other).mean() + 0.5 * (one == other).mean())


def wilson(hits: int, of: int, z: float = Z_95) -> tuple[float, float]:
    """Return the Wilson score interval of a share (Wilson 1927).

    Args:
        of: at least 1.
        z: 1.96 for 95 %.
    """
    share = hits / of
    spread = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    middle, scale = share + z * z / (2 * of), 1 + z * z / of
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def thresholds_of(outcomes: Sequence[Outcome]) -> tuple[Threshold, ...]:
    """Return the rates at every min_score from 0 to 1 in steps of 0.01: a question is answered when it scores that."""
    above = np.array([one.gate_score for one in outcomes if one.question.answerable])
    below = np.array([one.gate_score for one in outcomes if not one.question.answerable])
    return tuple(
        Threshold(
            step / STEPS,
            float((above >= step / STEPS).mean()) if len(above) else None,
            float((below >= step / STEPS).mean()) if len(below) else None,
        )
        for step in range(STEPS + 1)
    )


def propose(outcomes: Sequence[Outcome], wanted_false_answer_rate: float) -> Proposal | None:
    """Propose a min_score; None without questions that the guidelines don't answer.

    The interval is the 95 % percentile interval over 1,000 resamples of the unanswerable questions (Efron 1979),
    drawn from a fixed seed, so that the same outcomes always give the same proposal.
    """
    below = np.array([one.gate_score for one in outcomes if not one.question.answerable])
    above = np.array([one.gate_score for one in outcomes if one.question.answerable])
    if not len(below):
        return None
    score = float(_lowest(below[None, :], wanted_false_answer_rate)[0])
    random = np.random.default_rng(0)
    draws = random.choice(below, size=(RESAMPLES, len(below)))
    low, high = np.quantile(_lowest(draws, wanted_false_answer_rate), [0.025, 0.975])
    return Proposal(
        score,
        (float(low), float(high)),
        wanted_false_answer_rate,
        Rate(int((above >= score).sum()), len(above)),
        Rate(int((below >= score).sum()), len(below)),
    )


def evaluate(
    questions: Iterable[EvaluationQuestion],
    search: Callable[[EvaluationQuestion], Found],
    min_score: float,
    *,
    wanted_false_answer_rate: float = 0.1,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Ask every question and compute every figure.

    Args:
        search: finds and judges; must hide what `question.hides` where the question leaves sections out.
        progress: called with the number of questions asked so far.
    """
    outcomes = []
    for number, question in enumerate(questions, start=1):
        outcomes.append(outcome_of(question, search(question)))
        if progress:
            progress(number)
    return evaluation_of(outcomes, min_score, wanted_false_answer_rate)


def fallen(before: Mapping[str, Any], now: Mapping[str, Any], max_drop: float) -> tuple[str, ...]:
    """Name the figures that have fallen by more than `max_drop` from one evaluation to the next.

    Args:
        before, now: `Evaluation.as_json()` of two runs on the same questions.

    Returns:
        a line a figure: 'hit_at_1 fell from 0.76 to 0.60'. For false answers, a rise is a fall.
    """
    lines = []
    for name in ("hit_at_1", "hit_at_5", "mrr", "answered_rate", "false_answer_rate", "auroc"):
        old, new = before.get(name), now.get(name)
        if old is None or new is None:
            continue
        worse = new - old if name == "false_answer_rate" else old - new
        if worse > max_drop + 1e-9:
            lines.append(f"{name} {'rose' if new > old else 'fell'} from {old:.2f} to {new:.2f}")
    return tuple(lines)


def _lowest(below: Scored, wanted: float) -> Scored:
    """Return the lowest score, in steps of 0.001, that at most the wanted share of each row reaches: float[rows].

    Args:
        below: float[rows, n].
    """
    rows, count = below.shape
    allowed = math.floor(wanted * count + 1e-9)
    if allowed >= count:
        return np.zeros(rows)
    highest_refused = np.sort(below, axis=1)[:, count - 1 - allowed]
    return np.asarray(np.floor(highest_refused * 1000 + 1) / 1000)


def _section(source: Source) -> RankedSection:
    scores = source.scores
    return RankedSection(
        source.passage.guideline,
        source.passage.path,
        {
            "cosine": scores.cosine,
            "lexical": scores.lexical,
            "heading": scores.heading,
            "blended": scores.blended,
            "gate": scores.gate,
        },
        source.kept,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
