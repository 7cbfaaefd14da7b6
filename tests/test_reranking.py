"""The blend that orders passages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.reranking import RankOptions, asked_terms, brevity, coverage, embedded_question, rerank
from retrieval.terms import TermStatistics, stem, term_set
from tests.doubles_passages import candidate, passage, reading, statistics

DRUGS = passage("- Amoxicillin 500 mg three times daily\n- Clarithromycin if allergic", path=("Treatment", "Drugs"))
SIGNS = passage("- Fever\n- Cough", path=("Signs",), ordinal=1)
STATISTICS = statistics([DRUGS, SIGNS])


def test_the_passage_that_has_the_words_comes_before_one_as_near() -> None:
    ranked = rerank(reading("amoxicillin dose"), [candidate(SIGNS), candidate(DRUGS)], STATISTICS)
    assert [one.passage for one in ranked] == [DRUGS, SIGNS]


def test_a_section_with_one_line_on_the_question_comes_before_one_that_is_near_all_over() -> None:
    near_all_over = candidate(SIGNS, cosine=0.6, units=0.6)
    one_line = candidate(DRUGS, cosine=0.58, units=[0.9, 0.2])
    ranked = rerank(reading("anything"), [near_all_over, one_line], STATISTICS)
    assert ranked[0].candidate is one_line


def test_the_blend_is_the_weighted_mean_of_its_parts() -> None:
    options = RankOptions(lexical_weight=0.4, heading_weight=0.2)
    (one,) = rerank(reading("amoxicillin drugs"), [candidate(DRUGS, 0.5, 0.7)], STATISTICS, options)
    assert one.lexical == 1.0
    assert 0 < one.heading < 1
    similarity = 2 / 3 * 0.5 + 1 / 3 * 0.7
    assert one.blended == pytest.approx((similarity + 0.4 * one.lexical + 0.2 * one.heading) / 1.6)


def test_words_together_in_one_line_count_more_than_the_same_words_strewn_about() -> None:
    together = passage("- Clarithromycin for pertussis\n- Rest", title="Cough", ordinal=3)
    strewn = passage("- Clarithromycin\n- Pertussis", title="Cough", ordinal=4)
    counts = statistics([together, strewn, DRUGS, SIGNS])
    ranked = rerank(reading("clarithromycin pertussis"), [candidate(strewn), candidate(together)], counts)
    assert [one.passage for one in ranked] == [together, strewn]
    assert ranked[0].lexical == 1.0 > ranked[1].lexical
    assert ranked[0].covered == ranked[1].covered == 1.0


def test_words_of_the_lead_in_and_the_path_count_with_each_line() -> None:
    items = passage("- Clarithromycin\n- Rest", title="Cough", path=("Drugs",), ordinal=5)
    led = replace(items, id="led", blocks=tuple(replace(block, lead="For pertussis:") for block in items.blocks))
    led = replace(led, text="For pertussis:\n- Clarithromycin\n- Rest")
    (one,) = rerank(reading("clarithromycin drugs for pertussis"), [candidate(led)], statistics([led]))
    assert one.lexical == 1.0


def test_without_weights_similarity_alone_orders() -> None:
    options = RankOptions(0, 0)
    ranked = rerank(reading("amoxicillin"), [candidate(DRUGS, 0.5), candidate(SIGNS, 0.6)], STATISTICS, options)
    assert [one.blended for one in ranked] == [0.6, 0.5]


def test_ties_are_broken_alike_whatever_the_order() -> None:
    twins = [passage("- Fever", guideline=name, ordinal=0) for name in ("b.md", "a.md")]
    orders = [rerank(reading("fever"), [candidate(one) for one in order], STATISTICS) for order in (twins, twins[::-1])]
    assert [[one.passage.guideline for one in order] for order in orders] == [["a.md", "b.md"]] * 2


def test_a_passage_without_units_is_ranked_by_its_window() -> None:
    one = candidate(passage("", ordinal=2), 0.5, [])
    assert one.unit_cosine == 0.5
    assert rerank(reading("fever"), [one], STATISTICS)[0].blended < 0.5


def test_a_question_of_stop_words_only_covers_nothing() -> None:
    (one,) = rerank(reading("what should I do?"), [candidate(DRUGS)], STATISTICS)
    assert one.lexical == one.heading == 0.0


class TestAskedTerms:
    def test_a_word_and_what_it_was_read_as_are_one_thing(self) -> None:
        asked = asked_terms(reading("treat a hypo", ("hypo", "hypoglycaemia, low blood glucose")), STATISTICS)
        held = term_set("Low blood glucose: treat with carbohydrate")
        assert coverage(asked, held, STATISTICS) == 1.0

    def test_what_the_asker_explains_in_brackets_is_the_same_thing(self) -> None:
        asked = asked_terms(reading("treat a hypo (hypoglycaemia, low blood glucose)?"), STATISTICS)
        held = term_set("Low blood glucose: treat with carbohydrate")
        assert coverage(asked, held, STATISTICS) == 1.0

    def test_a_mistyped_word_counts_as_the_known_one(self) -> None:
        asked = asked_terms(reading("amoxicilin dose"), STATISTICS)
        assert any((stem("amoxicillin"),) in one.alternatives for one in asked)

    def test_a_hyphenated_word_counts_once(self) -> None:
        asked = asked_terms(reading("anti-emetic"), STATISTICS)
        assert len(asked) == 1
        assert coverage(asked, term_set("antiemetic"), STATISTICS) == 1.0
        assert coverage(asked, term_set("an anti emetic"), STATISTICS) == 1.0

    def test_a_rare_word_weighs_more_than_a_frequent_one(self) -> None:
        counts = TermStatistics.of(["fever"] * 30 + ["fever brucellosis"])
        asked = asked_terms(reading("fever in brucellosis"), counts)
        assert coverage(asked, {"brucellosi"}, counts) > 0.5 > coverage(asked, {"fever"}, counts)

    @given(st.text(max_size=80))
    def test_coverage_of_any_question_is_a_share(self, question: str) -> None:
        asked = asked_terms(reading(question), STATISTICS)
        assert 0.0 <= coverage(asked, term_set(question), STATISTICS) <= 1.0 + 1e-9
        assert coverage(asked, frozenset(), STATISTICS) == 0.0


class TestEmbeddedQuestion:
    COUNTS = TermStatistics.of(["low blood glucose"] * 5 + ["the FSRA decides"] * 9 + ["financial regulator (FSRA)"])

    def test_a_word_that_the_guidelines_do_not_use_is_spelled_out(self) -> None:
        read = reading("treat a hypo", ("hypo", "low blood glucose"))
        assert embedded_question(read, self.COUNTS) == "treat a hypo (low blood glucose)"

    def test_the_guidelines_own_short_form_is_left_alone(self) -> None:
        read = reading("what does the FSRA decide?", ("FSRA", "financial regulator"))
        assert embedded_question(read, self.COUNTS) == "what does the FSRA decide?"

    def test_a_question_without_short_forms_is_embedded_as_asked(self) -> None:
        assert embedded_question(reading("what now?"), self.COUNTS) == "what now?"


class TestLongMessages:
    STORY = (
        "My brother moved house last spring, paints ships, cycles along the river, sings, bakes bread, repairs clocks, "
        "grows roses and tomatoes and collects stamps from Norway. He has pneumonia; which signs?"
    )

    def test_of_a_long_message_the_section_that_it_names_comes_first(self) -> None:
        named = passage("- Fever", title="Pneumonia", path=("Signs",), guideline="pneumonia.md")
        wordy = passage("Bread, roses, clocks and the river.", title="Rehabilitation", path=("Leisure",), ordinal=1)
        counts = statistics([named, wordy])
        ranked = rerank(reading(self.STORY), [candidate(wordy, 0.5), candidate(named, 0.5)], counts)
        assert ranked[0].passage is named
        assert ranked[0].named == 1.0
        assert ranked[0].covered > ranked[0].lexical

    def test_a_short_question_is_not_judged_by_what_it_names(self) -> None:
        (one,) = rerank(reading("pneumonia signs"), [candidate(SIGNS)], STATISTICS)
        assert brevity(asked_terms(reading("pneumonia signs"), STATISTICS)) == 1.0
        assert one.covered == one.lexical
