"""The gate: each source by itself, and the refusal that says what is missing. Drugs and illnesses are examples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.found import Source, Verdict
from retrieval.gate import MISSING_WEIGHT, WEIGHTS, GateOptions, judge
from retrieval.guideline import Passage
from retrieval.reranking import Candidate, rerank
from tests.doubles_passages import candidate, passage, reading, statistics

DOSED = passage("- Amoxicillin 500 mg three times daily for 5 days", title="Pneumonia", guideline="pneumonia.md")
NAMED = passage("- Gentamicin in severe cases\n- Paracetamol 1 g every 6 hours", title="Sepsis", guideline="sepsis.md")
SIGNS = passage("- Fever\n- Cough", title="Pneumonia", path=("Signs",), guideline="pneumonia.md", ordinal=1)
ALL = [DOSED, NAMED, SIGNS]
STATISTICS = statistics(ALL)
OPEN = GateOptions(min_score=0.5)


def ask(
    question: str, *candidates: Candidate | Passage, options: GateOptions = OPEN
) -> tuple[tuple[Source, ...], Verdict]:
    found = [one if isinstance(one, Candidate) else candidate(one) for one in candidates or ALL]
    return judge(reading(question), rerank(reading(question), found, STATISTICS), STATISTICS, options)


def by_guideline(sources: tuple[Source, ...], one: Passage) -> Source:
    return next(source for source in sources if source.passage is one)


def test_a_dose_that_stands_beside_its_drug_is_answered() -> None:
    sources, verdict = ask("amoxicillin dose in pneumonia")
    assert verdict.passed
    assert sources[0].passage is DOSED
    assert sources[0].kept
    assert sources[0].scores.parts["missing"] == 0.0


def test_a_drug_that_is_named_without_a_dose_is_refused_in_so_many_words() -> None:
    sources, verdict = ask("gentamicin dose in sepsis")
    assert not verdict.passed
    assert verdict.kind == "fact_absent"
    assert "gentamicin" in verdict.reason
    assert "gives no dose" in verdict.reason
    assert NAMED.trail in verdict.reason
    assert not any(source.kept for source in sources)


def test_the_dose_of_another_drug_in_the_same_section_does_not_count() -> None:
    sources, _ = ask("gentamicin dose in sepsis")
    assert by_guideline(sources, NAMED).scores.parts["missing"] == 1.0
    assert "gives no dose" in by_guideline(sources, NAMED).reason


def test_the_same_question_without_a_kind_of_fact_is_answered() -> None:
    _, verdict = ask("gentamicin in sepsis")
    assert verdict.passed


def test_the_second_look_can_be_switched_off() -> None:
    _, verdict = ask("gentamicin dose in sepsis", options=replace(OPEN, fact_check=False))
    assert verdict.passed


def test_a_drug_that_no_guideline_knows_is_below_the_score_not_a_missing_fact() -> None:
    far = [candidate(one, 0.35) for one in ALL]
    _, verdict = ask("What dose of semaglutide should I start?", *far)
    assert verdict.kind == "below_score"


def test_a_mistyped_drug_is_still_answered() -> None:
    _, verdict = ask("amoxicilin dose in pnuemonia")
    assert verdict.passed


def test_sources_below_the_score_are_shown_as_rejected_with_the_reason() -> None:
    sources, verdict = ask("amoxicillin dose in pneumonia", candidate(DOSED, 0.7), candidate(SIGNS, 0.1))
    rejected = by_guideline(sources, SIGNS)
    assert verdict.passed
    assert not rejected.kept
    assert rejected.reason


@pytest.mark.parametrize("min_score", [0.0, 0.3, 0.55, 0.7, 1.0])
def test_the_number_shown_is_the_number_judged_by(min_score: float) -> None:
    sources, verdict = ask("amoxicillin dose in pneumonia", options=GateOptions(min_score))
    assert all(source.kept == (source.scores.gate >= min_score) for source in sources)
    assert verdict.passed == (verdict.best >= min_score)
    assert verdict.best == max(source.scores.gate for source in sources)
    assert verdict.min_score == min_score


def test_the_gate_score_is_the_sum_of_its_printed_parts() -> None:
    sources, _ = ask("gentamicin dose in sepsis")
    for source in sources:
        parts = source.scores.parts
        base = sum(WEIGHTS[name] * parts[name] for name in WEIGHTS) / sum(WEIGHTS.values())
        assert source.scores.gate == pytest.approx(max(0.0, base - MISSING_WEIGHT * parts["missing"]))
        assert all(0.0 <= part <= 1.0 for part in parts.values())


@pytest.mark.parametrize("question", ["gentamicin dose in sepsis", "amoxicillin dose in pneumonia", "fever"])
def test_no_score_depends_on_what_the_gate_needs(question: str) -> None:
    many = [candidate(passage(f"- Drug{n} 5 mg\n- Gentamicin", guideline=f"{n}.md"), 0.6 - n / 100) for n in range(30)]
    scores = [
        [source.scores.gate for source in ask(question, *many, options=GateOptions(min_score))[0]]
        for min_score in (0.0, 0.4, 0.9)
    ]
    assert scores[0] == scores[1] == scores[2]


def test_tags_follow_the_rank() -> None:
    sources, _ = ask("fever")
    assert [source.tag for source in sources] == ["S1", "S2", "S3"]


def test_the_block_that_carries_the_fact_is_the_best_block() -> None:
    one = passage("- Ibuprofen for pain\n- Amoxicillin 500 mg daily", title="Otitis", guideline="otitis.md")
    sources, _ = judge(
        reading("amoxicillin dose"),
        rerank(reading("amoxicillin dose"), [candidate(one, 0.7, [0.9, 0.5])], STATISTICS),
        STATISTICS,
        GateOptions(0.2),
    )
    assert sources[0].best_block == 1


def test_meaning_counts_where_the_words_differ() -> None:
    one = passage("- Newborns with jaundice: 10 mg once", title="Neonates", guideline="neonates.md")
    import numpy as np

    near = Candidate(one, 0.6, np.array([0.6]), np.array([[1.0, 0.0]]))
    ranked = rerank(reading("dose in icteric babies"), [near], STATISTICS)
    _, verdict = judge(
        reading("dose in icteric babies"),
        ranked,
        STATISTICS,
        GateOptions(0.3),
        lambda texts: np.array([[1.0, 0.0]] * len(texts)),
    )
    assert verdict.passed


def test_nothing_found_is_a_refusal_and_no_error() -> None:
    sources, verdict = judge(reading("anything"), (), STATISTICS, OPEN)
    assert sources == ()
    assert (verdict.passed, verdict.best, verdict.kind) == (False, 0.0, "nothing_indexed")


def test_the_verdict_says_what_was_asked_for() -> None:
    assert ask("amoxicillin dose and for how long")[1].asks_for == ("dose", "duration")


def test_a_contact_that_is_not_given_is_refused() -> None:
    one = passage("Call the crisis team at once.", title="Crisis", path=("Response",), guideline="crisis.md")
    _, verdict = ask("What is the phone number of the crisis team?", candidate(one, 0.7))
    assert verdict.kind == "fact_absent"
    with_number = passage(
        "Call the crisis team at once on 0800 123 456.",
        title="Crisis",
        path=("Response",),
        guideline="crisis.md",
        ordinal=1,
    )
    assert ask("What is the phone number of the crisis team?", candidate(with_number, 0.7))[1].passed


@given(st.text(max_size=60), st.floats(-1, 1), st.floats(0, 1))
def test_any_question_gets_a_verdict(question: str, cosine: float, min_score: float) -> None:
    sources, verdict = ask(question, *(candidate(one, cosine) for one in ALL), options=GateOptions(min_score))
    assert len(sources) == len(ALL)
    assert verdict.passed == any(source.kept for source in sources)
    assert (verdict.kind is None) == verdict.passed
    assert verdict.reason
