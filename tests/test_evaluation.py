"""Figures, thresholds, proposals, drafts, the quoting comparison and the report."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.drafting import draft_questions
from retrieval.errors import WrongUse
from retrieval.evaluation import (
    Outcome,
    auroc,
    evaluate,
    evaluation_of,
    fallen,
    figures_of,
    outcome_of,
    propose,
    thresholds_of,
    wilson,
)
from retrieval.found import Found, Reading, Scores, Source, Verdict
from retrieval.guideline import Passage
from retrieval.questions import EvaluationQuestion, Gold, read_questions
from retrieval.quotation import compare_quoting, holds_fact
from retrieval.report import html_report
from tests.doubles_passages import passage


def question(answerable: bool = True, **fields: object) -> EvaluationQuestion:
    gold = (Gold("a.md", "Treatment"),) if answerable else ()
    defaults: dict[str, object] = {"id": "q", "question": "dose?", "answerable": answerable, "gold": gold}
    return EvaluationQuestion(**{**defaults, **fields})  # type: ignore[arg-type]


def outcome(answerable: bool, score: float, *, rank: int = 0, answered: bool | None = None, kind: str = "") -> Outcome:
    passed = score >= 0.5 if answered is None else answered
    status = "answered" if passed else "refused"
    return Outcome(question(answerable, kind=kind, id=f"{answerable}{score}"), status, "because", score, rank, ())


def found(*passages: Passage, gates: tuple[float, ...] = (), min_score: float = 0.5) -> Found:
    gates = gates or tuple(0.9 - 0.1 * place for place in range(len(passages)))
    sources = tuple(
        Source(f"S{place}", one, Scores(gate, 0.5, 0.5, gate, gate), gate >= min_score)
        for place, (one, gate) in enumerate(zip(passages, gates, strict=True), start=1)
    )
    best = max(gates, default=0.0)
    return Found(Reading("q", "q"), sources, Verdict(best >= min_score, best, min_score, "because"), "g1")


class TestGold:
    @pytest.mark.parametrize(
        ("section", "path"),
        [
            ("Treatment > Drugs", ("Treatment", "Drugs")),
            ("Drugs", ("Treatment", "Drugs")),
            ("2.4", ("2", "2.4")),
            ("", ()),
            ("*", ("Anything",)),
            ("treatment  >  drugs", ("Treatment", "Drugs")),
        ],
    )
    def test_a_found_path_matches_when_it_ends_with_the_section(self, section: str, path: tuple[str, ...]) -> None:
        assert Gold("a.md", section).matches("a.md", path)
        assert Gold("a.md", section).matches("folder/a.md", path)

    @pytest.mark.parametrize(
        ("doc", "section", "guideline", "path"),
        [
            ("a.md", "2.4", "a.md", ("12.4",)),
            ("a.md", "Drugs", "a.md", ("Drugs", "Adults")),
            ("a.md", "Drugs", "ba.md", ("Drugs",)),
            ("a.md", "", "a.md", ("Drugs",)),
        ],
    )
    def test_a_path_that_only_looks_alike_does_not_match(
        self, doc: str, section: str, guideline: str, path: tuple[str, ...]
    ) -> None:
        assert not Gold(doc, section).matches(guideline, path)


class TestReading:
    def test_every_field_is_read(self) -> None:
        row = {
            "id": "x",
            "question": "long",
            "question_short": "short",
            "answerable": True,
            "kind": "written",
            "gold": [{"doc": "a.md", "section": "B"}],
            "also_acceptable": [{"doc": "c.md", "section": "D"}],
            "gold_text": "text",
            "answer": None,
            "checks": ["number"],
        }
        (one,) = read_questions("\n" + json.dumps(row) + "\n", "q.jsonl", "question_short")
        assert (one.question, one.kind, one.gold_text, one.answer, one.line) == ("short", "written", "text", "", 2)
        assert one.is_hit("a.md", ("B",))
        assert one.is_hit("c.md", ("D",))

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("{", "line 2: is not JSON"),
            ("[]", "line 2: must be one JSON object"),
            ('{"answerable": false}', 'line 2: "question" must be'),
            ('{"question": " ", "answerable": false}', 'line 2: "question" must be'),
            ('{"question": "q"}', 'line 2: "answerable" must be true or false'),
            ('{"question": "q", "answerable": "yes"}', 'line 2: "answerable" must be true or false'),
            ('{"question": "q", "answerable": true}', 'line 2: an answerable question needs "gold"'),
            ('{"question": "q", "answerable": true, "gold": ["a.md"]}', 'line 2: "gold" must be a list like'),
            ('{"question": "q", "answerable": false, "kind": 3}', 'line 2: "kind" must be a text'),
            ('{"id": "first", "question": "q", "answerable": false}', 'line 2: the id "first" stands in line 1'),
        ],
    )
    def test_a_fault_names_file_and_line(self, line: str, told: str) -> None:
        good = '{"id": "first", "question": "q", "answerable": false}'
        with pytest.raises(WrongUse, match=re.escape(f"q.jsonl, {told}")):
            read_questions(f"{good}\n{line}", "q.jsonl")

    def test_a_file_without_questions_is_a_fault(self) -> None:
        with pytest.raises(WrongUse, match="holds no question"):
            read_questions("\n# nothing yet\n", "q.jsonl")

    @given(st.text(max_size=60))
    def test_any_file_is_read_or_refused_in_words(self, text: str) -> None:
        with suppress(WrongUse):
            assert read_questions(text, "q.jsonl")


class TestOutcome:
    def test_several_passages_of_one_section_take_one_place(self) -> None:
        other = passage("x", path=("Other",), guideline="b.md")
        twin = passage("y", path=("Other",), guideline="b.md", ordinal=1)
        right = passage("z", path=("Treatment",), guideline="a.md")
        one = outcome_of(question(), found(other, twin, right))
        assert one.rank == 2
        assert [section.guideline for section in one.ranked] == ["b.md", "a.md"]

    def test_an_acceptable_section_is_a_hit(self) -> None:
        asked = question(also_acceptable=(Gold("b.md", "Other"),))
        assert outcome_of(asked, found(passage("x", path=("Other",), guideline="b.md"))).rank == 1

    def test_a_section_that_is_not_found_has_rank_zero(self) -> None:
        assert outcome_of(question(), found(passage("x", guideline="b.md"))).rank == 0

    def test_the_gate_decides_unless_the_answering_refused_afterwards(self) -> None:
        one = found(passage("x", guideline="a.md"))
        assert outcome_of(question(), one).answered
        refused = outcome_of(question(), one, status="refused", reason="not covered")
        assert (refused.answered, refused.reason) == (False, "not covered")

    def test_the_details_hold_what_the_figures_are_computed_from(self) -> None:
        line = outcome_of(question(id="n1"), found(passage("x", guideline="a.md"))).as_json()
        assert {"id", "status", "reason", "gate_score", "ranked"} <= set(line)
        assert set(line["ranked"][0]) == {"guideline", "path", "scores", "kept"}
        json.dumps(line)


class TestFigures:
    def test_figures_are_shares_of_the_right_questions(self) -> None:
        outcomes = [outcome(True, 0.9, rank=1), outcome(True, 0.6, rank=4), outcome(True, 0.4), outcome(False, 0.7)]
        figures = figures_of(outcomes)
        assert figures.hit_at_1.value == pytest.approx(1 / 3)
        assert figures.hit_at_5.value == pytest.approx(2 / 3)
        assert figures.mrr == pytest.approx((1 + 1 / 4) / 3)
        assert figures.answered_rate.value == pytest.approx(2 / 3)
        assert figures.false_answer_rate.value == 1.0
        assert figures.auroc == pytest.approx(1 / 3)

    def test_a_kind_without_answerable_questions_has_no_hits_but_an_auroc(self) -> None:
        outcomes = [outcome(True, 0.9, rank=1, kind="written"), outcome(False, 0.3, kind="absent")]
        body = evaluation_of(outcomes, 0.5).as_json()
        assert body["kinds"]["absent"]["hit_at_1"] is None
        assert body["kinds"]["absent"]["auroc"] == 1.0
        assert body["kinds"]["written"]["false_answer_rate"] is None

    def test_auroc_counts_ties_half(self) -> None:
        assert auroc([0.5, 0.7], [0.5]) == 0.75
        assert auroc([], [0.5]) is None

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.lists(st.floats(0, 1), min_size=1, max_size=20))
    def test_auroc_of_the_other_side_is_the_rest(self, above: list[float], below: list[float]) -> None:
        one, other = auroc(above, below), auroc(below, above)
        assert one is not None
        assert other is not None
        assert one + other == pytest.approx(1)

    @pytest.mark.parametrize(
        ("hits", "of", "low", "high"), [(8, 10, 0.490, 0.943), (0, 10, 0, 0.278), (10, 10, 0.722, 1)]
    )
    def test_wilson_intervals_are_those_of_the_tables(self, hits: int, of: int, low: float, high: float) -> None:
        assert wilson(hits, of) == pytest.approx((low, high), abs=0.001)


class TestThresholds:
    def test_rates_fall_as_the_threshold_rises(self) -> None:
        rows = thresholds_of([outcome(True, 0.9), outcome(True, 0.4), outcome(False, 0.55)])
        assert [row.answered_rate for row in rows] == sorted((row.answered_rate for row in rows), reverse=True)  # type: ignore[type-var]
        assert (rows[0].answered_rate, rows[0].false_answer_rate) == (1.0, 1.0)
        assert (rows[50].answered_rate, rows[50].false_answer_rate) == (0.5, 1.0)
        assert rows[100].answered_rate == 0.0

    def test_the_proposal_keeps_to_the_wanted_rate_and_is_the_lowest_that_does(self) -> None:
        outcomes = [outcome(False, step / 20) for step in range(20)] + [outcome(True, 0.8), outcome(True, 0.2)]
        proposal = propose(outcomes, 0.1)
        assert proposal is not None
        assert proposal.false_answer_rate.value == 0.1
        assert 0.85 < proposal.min_score <= 0.86
        assert proposal.answered_rate.value == 0.0
        assert proposal.interval[0] <= proposal.min_score <= proposal.interval[1]

    def test_the_same_outcomes_give_the_same_proposal(self) -> None:
        outcomes = [outcome(False, step / 20) for step in range(20)]
        assert propose(outcomes, 0.2) == propose(outcomes, 0.2)

    def test_without_unanswerable_questions_nothing_is_proposed(self) -> None:
        body = evaluation_of([outcome(True, 0.9, rank=1)], 0.5).as_json()
        assert body["proposed_min_score"] is None
        assert body["thresholds"][0]["false_answer_rate"] is None

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0, 1))
    def test_no_proposal_exceeds_the_wanted_rate(self, scores: list[float], wanted: float) -> None:
        proposal = propose([outcome(False, score) for score in scores], wanted)
        assert proposal is not None
        assert (proposal.false_answer_rate.value or 0.0) <= wanted + 1e-9


def test_evaluate_asks_every_question_and_says_how_far_it_is() -> None:
    told: list[int] = []
    right = passage("x", guideline="a.md")
    result = evaluate(
        [question(), question(answerable=False)], lambda _: found(right), min_score=0.5, progress=told.append
    )
    assert told == [1, 2]
    assert result.figures.hit_at_1.value == 1.0
    assert result.figures.false_answer_rate.value == 1.0


def test_figures_that_have_fallen_are_named() -> None:
    before = {"hit_at_1": 0.76, "false_answer_rate": 0.10, "mrr": 0.8, "auroc": None}
    now = {"hit_at_1": 0.60, "false_answer_rate": 0.30, "mrr": 0.79, "auroc": 0.9}
    assert fallen(before, now, 0.05) == (
        "hit_at_1 fell from 0.76 to 0.60",
        "false_answer_rate rose from 0.10 to 0.30",
    )


class TestDrafts:
    PASSAGES = tuple(
        passage(f"- Drug{number} {number}5 mg daily for 5 days", title=f"Illness {number}", guideline=f"{number}.md")
        for number in range(12)
    )

    def test_drafts_are_a_questions_file(self) -> None:
        text = "\n".join(json.dumps(row) for row in draft_questions(self.PASSAGES, 10))
        questions = read_questions(text, "draft.jsonl")
        assert len(questions) == 10
        assert {one.kind for one in questions} == {"drafted", "left_out_fact", "left_out_topic"}

    def test_an_answerable_draft_names_the_section_it_was_made_from(self) -> None:
        for row in draft_questions(self.PASSAGES):
            if row["answerable"]:
                assert row["gold"][0]["section"] == "Treatment"
                assert row["gold_text"]

    def test_a_left_out_draft_hides_what_answers_it(self) -> None:
        text = "\n".join(json.dumps(row) for row in draft_questions(self.PASSAGES))
        for one in read_questions(text, "draft.jsonl"):
            hidden = [made for made in self.PASSAGES if one.hides(made)]
            assert len(hidden) == (0 if one.answerable else 1)

    def test_the_same_passages_give_the_same_drafts(self) -> None:
        assert draft_questions(self.PASSAGES) == draft_questions(self.PASSAGES[::-1])

    def test_no_passages_give_no_drafts(self) -> None:
        assert draft_questions(()) == []


class TestQuoting:
    ASKED = question(gold_text="Treat with 15 g of carbohydrate and recheck after 15 minutes.", answer="15 g")

    def test_a_quote_without_the_asked_number_has_lost_the_fact(self) -> None:
        assert holds_fact("Treat with 15 g of carbohydrate.", self.ASKED)
        assert not holds_fact("A glucose below 70 mg/dL is low.", self.ASKED)

    def test_without_a_short_answer_the_words_of_the_gold_text_count(self) -> None:
        asked = question(gold_text="Stay with the person and call the crisis team.")
        assert holds_fact("Stay with the person and call the crisis team at once.", asked)
        assert not holds_fact("Stay with the person.", asked)

    def test_what_a_limit_loses_is_counted_over_answers_from_the_right_section(self) -> None:
        right = passage("A glucose below 70 is low. Treat with 15 g of carbohydrate.", guideline="a.md")
        wrong = passage("Something else.", guideline="b.md")
        pairs = [(self.ASKED, found(right)), (self.ASKED, found(wrong)), (question(), found(right))]

        def quote(one: Found, max_sentences: int) -> str:
            text = one.kept[0].passage.text
            return text if not max_sentences else ". ".join(text.split(". ")[:max_sentences])

        rows = {row.max_sentences: row for row in compare_quoting(pairs, quote)}
        assert (rows[1].lost.hits, rows[1].lost.of) == (1, 1)
        assert rows[0].lost.hits == 0
        assert rows[0].mean_words > rows[1].mean_words


class TestReport:
    OUTCOMES = (
        outcome(True, 0.9, rank=1, kind="written"),
        outcome(True, 0.3, rank=7, kind="written"),
        outcome(False, 0.8, kind="absent"),
        outcome(False, 0.1, kind="off <topic>"),
    )

    def test_the_page_is_whole_and_loads_nothing(self) -> None:
        page = html_report(evaluation_of(self.OUTCOMES, 0.5), title="site <questions>")
        assert page.startswith("<!DOCTYPE html>")
        assert not re.search(r"""(?:src|href|url\()\s*=?\s*["']?(?:https?:)?//""", page)
        assert "<script" not in page
        assert "site &lt;questions&gt;" in page
        assert "off &lt;topic&gt;" in page
        assert page.count("<svg") == page.count("</svg>") == 2

    def test_every_tag_is_closed(self) -> None:
        open_tags: list[str] = []

        class Parser(HTMLParser):
            def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
                if tag not in ("meta", "line", "rect", "polyline"):
                    open_tags.append(tag)

            def handle_endtag(self, tag: str) -> None:
                if tag not in ("line", "rect", "polyline"):
                    assert open_tags.pop() == tag

        Parser().feed(html_report(evaluation_of(self.OUTCOMES, 0.5), title="q"))
        assert open_tags == []

    def test_the_worst_cases_are_shown_with_their_question(self) -> None:
        page = html_report(evaluation_of(self.OUTCOMES, 0.5), title="q")
        assert "Answered, though the guidelines don&#x27;t" in page or "Answered, though the guidelines don't" in page
        assert "Refused, though the guidelines answer: 1" in page

    @pytest.mark.parametrize("outcomes", [[], [outcome(True, 0.9, rank=1)], [outcome(False, 0.9)]])
    def test_a_lopsided_set_of_questions_still_makes_a_page(self, outcomes: list[Outcome]) -> None:
        assert "</html>" in html_report(evaluation_of(outcomes, 0.5), title="q")
