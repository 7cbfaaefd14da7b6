"""What a question is about, and whether a unit of a passage speaks of it."""

from __future__ import annotations

import numpy as np
import pytest

from retrieval.focus import MAX_CHUNKS, bound, chunks_of, matches
from retrieval.guideline import Block, Metadata, Passage
from tests.doubles_passages import passage, reading, statistics

LIST = passage("- Gentamicin in severe cases\n- Paracetamol 1 g every 6 hours", title="Sepsis")
PROSE = passage("Treat with gentamicin. Give 5 mg/kg once daily.", title="Sepsis", ordinal=1)
STATISTICS = statistics([LIST, PROSE])


def names(question: str) -> list[str]:
    return [chunk.text for chunk in chunks_of(reading(question), STATISTICS)]


def test_a_question_is_divided_into_the_things_it_names() -> None:
    assert names("What is the starting dose of gentamicin for septic shock in a newborn?") == [
        "gentamicin",
        "septic shock",
        "newborn",
    ]


def test_words_that_only_say_which_fact_is_wanted_name_nothing() -> None:
    assert names("how many mg per day?") == []


def test_of_a_long_message_only_what_tells_most_is_taken() -> None:
    long = ", ".join(f"thing{number}" for number in range(30)) + ", gentamicin"
    assert len(names(long)) == MAX_CHUNKS


def test_the_next_item_of_a_list_does_not_inherit_the_drug_above_it() -> None:
    chunks = chunks_of(reading("gentamicin dose"), STATISTICS)
    assert matches(chunks, LIST, STATISTICS)[:, 0].tolist() == [1.0, 0.0]


def test_the_next_sentence_goes_on_from_the_one_before() -> None:
    chunks = chunks_of(reading("gentamicin dose"), STATISTICS)
    first, second = matches(chunks, PROSE, STATISTICS)[:, 0]
    assert first == 1.0
    assert 0 < second < 1


def test_what_leads_an_item_in_counts_for_it() -> None:
    block = Block("item", "- Adult: 5 mg/kg", lead="Gentamicin:")
    one = Passage("led", "a.md", Metadata("Sepsis"), ("Treatment",), 0, (block,), "- Adult: 5 mg/kg")
    chunks = chunks_of(reading("gentamicin dose in sepsis"), STATISTICS)
    drug, illness = matches(chunks, one, STATISTICS)[0]
    assert 0.9 < drug < 1.0
    assert illness == pytest.approx(0.9)


def test_condition_and_population_must_both_be_met() -> None:
    weights = np.array([1.0, 1.0])
    both, one = bound(np.array([[0.7, 0.7], [1.0, 0.0]]), weights)
    assert both > 0.6
    assert one < 0.3


def test_a_question_that_names_nothing_is_met_by_every_unit() -> None:
    assert bound(np.zeros((3, 0)), np.zeros(0)).tolist() == [1.0, 1.0, 1.0]
