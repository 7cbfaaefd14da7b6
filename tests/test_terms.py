"""The words that carry content, and how rare they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.terms import TermStatistics, compounds, content_terms, edit_distance, stem, term_set, words


def test_stop_words_and_bare_numbers_carry_no_content() -> None:
    assert content_terms("What should I do if the eGFR is 40?") == (stem("egfr"),)


def test_forms_of_a_word_are_one_term() -> None:
    assert len(set(content_terms("dose doses dosed dosing"))) == 1


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("oedema", "edema"),
        ("haemorrhage", "hemorrhage"),
        ("anaesthesia", "anesthesia"),
        ("sulphate", "sulfate"),
        ("tumour", "tumor"),
        ("litre", "liter"),
        ("hospitalised", "hospitalized"),
    ],
)
def test_british_and_american_spellings_meet(british: str, american: str) -> None:
    assert stem(british) == stem(american)


def test_accents_and_possessives_do_not_part_words() -> None:
    assert content_terms("Ménière's Crohn’s") == content_terms("Meniere Crohn")


def test_a_hyphenated_word_meets_the_word_written_as_one() -> None:
    assert set(content_terms("antiemetics")) <= term_set("Anti-emetics: cyclizine")
    assert compounds("follow-up of type-2 cases") == ((stem("followup"), content_terms("follow")),)


def test_a_number_that_ends_a_name_belongs_to_it() -> None:
    assert "type 2" in content_terms("type 2 diabetes")
    assert "type 1" not in content_terms("type 2 diabetes")
    assert "rule 11.12.3" in content_terms("as Rule 11.12.3 says")


@given(st.text(max_size=200))
def test_terms_of_any_text_are_found_in_that_text(text: str) -> None:
    assert set(content_terms(text)) <= term_set(text)
    assert all(word == word.casefold() for word in words(text))


@given(st.text(alphabet="abcd", max_size=8), st.text(alphabet="abcd", max_size=8))
def test_edit_distance_is_symmetric_and_zero_only_for_equal_words(one: str, two: str) -> None:
    assert edit_distance(one, two, 9) == edit_distance(two, one, 9)
    assert (edit_distance(one, two, 9) == 0) == (one == two)


def test_exchanged_neighbours_are_one_edit() -> None:
    assert edit_distance("metfromin", "metformin", 2) == 1
    assert edit_distance("metformin", "gentamicin", 2) == 3  # the limit and one more


class TestStatistics:
    def test_a_rare_term_tells_more_than_a_frequent_one(self) -> None:
        statistics = TermStatistics.of(["fever and cough", "fever", "fever and rash"])
        assert statistics.idf("rash") > statistics.idf("fever") > 0
        assert statistics.idf("unknown") > statistics.idf("rash")

    def test_a_term_counts_once_a_passage(self) -> None:
        assert TermStatistics.of(["fever fever fever"]).frequency == {"fever": 1}

    def test_merging_adds_up(self) -> None:
        one, two = TermStatistics.of(["fever", "cough"]), TermStatistics.of(["fever"])
        merged = one.merged([two])
        assert merged.documents == 3
        assert merged.frequency["fever"] == 2
        assert one.frequency["fever"] == 1

    def test_idf_stays_positive_when_frequencies_exceed_the_count(self) -> None:
        assert TermStatistics(1, {"fever": 5}).idf("fever") > 0

    def test_a_mistyped_word_finds_the_known_one(self) -> None:
        statistics = TermStatistics.of(["metformin", "gentamicin", "praziquantel"])
        assert statistics.similar(stem("metfromin")) == (stem("metformin"),)
        assert statistics.similar(stem("praziqantl")) == (stem("praziquantel"),)

    def test_a_word_cut_short_finds_the_known_one(self) -> None:
        assert TermStatistics.of(["schistosomiasis"]).similar("schisto") == (stem("schistosomiasis"),)

    def test_a_known_word_is_never_taken_for_another(self) -> None:
        statistics = TermStatistics.of(["hypotension", "hypertension"])
        assert statistics.similar(stem("hypotension")) == ()

    @pytest.mark.parametrize("word", ["rash", "rush", "abc"])
    def test_short_words_are_never_guessed(self, word: str) -> None:
        assert TermStatistics.of(["rasp", "abd"]).similar(word) == ()

    def test_another_first_letter_is_another_word(self) -> None:
        assert TermStatistics.of(["cefuroxime"]).similar(stem("defuroxime")) == ()


def test_one_endless_word_does_not_hold_a_search_up() -> None:
    # Tried from each of its letters, this took minutes: the test would not end.
    assert compounds("x" * 200_000) == ()
    assert compounds("y" * 50_000 + "-" + "z") != ()
