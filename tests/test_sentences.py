"""Sentences of answers and guidelines: abbreviations, decimals, list items and tags survive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answering.sentences import is_tags_only, split_sentences, tags_of, without_tags


@pytest.mark.parametrize(
    "text",
    [
        "Give 1.5 mg b.d. for 7 days.",
        "Use opioids, e.g. morphine 10 mg i.v. every 4 hours.",
        "Give approx. 5 mL of 0.9% saline.",
        "S. aureus and E. coli are common.",
        "Call Dr. Smith about it.",
    ],
)
def test_an_abbreviation_or_decimal_ends_no_sentence(text: str) -> None:
    assert split_sentences(text) == (text,)


def test_a_tag_after_the_full_stop_belongs_to_the_sentence_before() -> None:
    assert split_sentences("Give A. [S1] Then stop. [S2][S3]") == ("Give A. [S1]", "Then stop. [S2][S3]")


def test_a_tag_on_the_next_line_belongs_to_the_sentence_before() -> None:
    assert split_sentences("Give A.\n[S1]") == ("Give A. [S1]",)


def test_list_items_are_sentences_of_their_own() -> None:
    assert split_sentences("- Adult: 5 mg [S1]\n- Child: 2 mg [S1]") == ("- Adult: 5 mg [S1]", "- Child: 2 mg [S1]")


def test_a_line_broken_in_the_middle_is_one_sentence() -> None:
    assert split_sentences("Give it\nevery day [S1].") == ("Give it every day [S1].",)


def test_tags_are_read_in_order_and_once() -> None:
    assert tags_of("x [S2][S1, S2] and [S10]") == ("S2", "S1", "S10")
    assert tags_of("(S1) [Source 1] S2") == ()


def test_without_tags_keeps_the_words() -> None:
    assert without_tags("- Give A [S1].") == "Give A."
    assert is_tags_only("[S1] [S2].")
    assert not is_tags_only("Yes [S1].")


@given(st.text(alphabet="aB .,!?[]S12\n-e.g", max_size=80))
def test_no_letter_is_lost(text: str) -> None:
    def letters(part: str) -> str:
        return "".join(c for c in part if c.isalnum())

    assert letters("".join(split_sentences(text))) == letters(text)
