"""Reading commands, and what they answer."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.command_replies import guidelines_text, help_text, pages, passage_text, unread_text, why_text
from bot.commands import Command, parse
from retrieval.entries import GuidelineEntry
from retrieval.found import Filters
from retrieval.guideline import Block, Coverage, Metadata, Passage


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "help"),
        ("   ", "help"),
        ("?", "help"),
        ("Help!", "help"),
        ("hi there", "help"),
        ("Good morning.", "help"),
        ("thank you", "help"),
        ("why", "why"),
        ("Why?", "why"),
        ("status", "status"),
        ("reindex", "reindex"),
        ("reload", "reload"),
        ("guidelines", "guidelines"),
        ("guidelines diabetes", "guidelines"),
        ("list guidelines", "guidelines"),
        ("show S2", "show"),
        ("show 2", "show"),
        ("search metformin", "search"),
    ],
)
def test_commands_are_known(text: str, kind: str) -> None:
    assert parse(text).kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "why is metformin stopped below 30?",
        "why not?  the patient is pregnant",
        "status epilepticus",
        "status asthmaticus in children",
        "help with chest pain",
        "show me the dose of metformin",
        "guidelines for hypertension in pregnancy?",
        "list the side effects of metformin",
        "write up a prescription",
        "test strips for glucose",
        "quote",
        "search",
    ],
)
def test_what_could_be_a_clinical_question_is_one(question: str) -> None:
    assert parse(question) == Command("ask", question)


def test_show_names_the_source_however_it_is_written() -> None:
    assert [parse(text).text for text in ("show S2", "show s2", "show [S2]", "show 2", "Show me S12.")] == [
        "S2",
        "S2",
        "S2",
        "S2",
        "S12",
    ]


def test_the_mode_can_be_chosen_and_the_question_stays_whole() -> None:
    assert parse("quote what is a hypo?") == Command("ask", "what is a hypo?", "quoted")
    assert parse("write: what is a hypo?") == Command("ask", "what is a hypo?", "written")


@pytest.mark.parametrize(
    "text",
    [
        '--guideline diabetes --section "low blood glucose" what to do?',
        "what to do? --section “low blood glucose” --guideline=diabetes",
        "—guideline diabetes what to do? –section 'low blood glucose'",
    ],
)
def test_filters_stand_anywhere_and_survive_a_phones_keyboard(text: str) -> None:
    assert parse(text) == Command("ask", "what to do?", None, Filters("diabetes", "low blood glucose"))


def test_a_dash_in_a_sentence_is_no_filter() -> None:
    text = "fever — section 3 or guideline 4?"
    assert parse(text) == Command("ask", text)


@pytest.mark.parametrize(
    "text",
    [
        '--guideline "diabetes what should I do about a hypo?',
        "what should I do about a hypo? --section “low",
        "--guideline",
        "what should I do about a hypo? --section",
        "--guidelines diabetes what should I do about a hypo?",
        "--guidline diabetes what should I do about a hypo?",
        "hypo? --sektion=low",
    ],
)
def test_a_filter_that_cannot_be_read_is_never_passed_over(text: str) -> None:
    assert parse(text).kind == "unread", "an answer from elsewhere would look like one from there"
    assert "--section" in unread_text()


@pytest.mark.parametrize("text", ["--help", "-h", "/help"])
def test_help_is_found_by_those_who_know_it_from_elsewhere(text: str) -> None:
    assert parse(text).kind == "help"


@pytest.mark.parametrize(
    "text",
    [
        "hi, what is a hypo?",
        "Hi team, what is a hypo?",
        "hi all: what is a hypo?",
        "Hey what is a hypo?",
        "Hello! what is a hypo?",
        "good morning team, what is a hypo?",
        "Good morning, what is a hypo?",
        "@ben what is a hypo?",
        "hey @ann, @all: what is a hypo?",
    ],
)
def test_words_that_only_address_somebody_do_not_dilute_the_question(text: str) -> None:
    assert parse(text) == Command("ask", "what is a hypo?")


@pytest.mark.parametrize(
    "question",
    [
        "HI on the meter, what now?",
        "HI, said the meter: what now?",
        "hi reading on the glucose meter",
        "morning, noon and night doses of insulin",
        "good morning glucose target",
        "hi all diabetics need eye checks?",
        "give it @8am or @night?",
        "hello",
    ],
)
def test_a_word_that_may_belong_to_the_question_stays_in_it(question: str) -> None:
    assert parse(question) in (Command("ask", question), Command("help"))


@given(st.text(max_size=100))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    command = parse(text)
    assert command.kind == "help" or command.text or command.kind in ("why", "status", "guidelines", "unread")


def entry(
    name: str,
    title: str,
    version: str | None = None,
    effective: date | None = None,
    review_by: date | None = None,
    passages: int = 1,
    reason: str = "",
) -> GuidelineEntry:
    known = Metadata(title, version=version, effective=effective, review_by=review_by)
    return GuidelineEntry(name, known, not reason, reason, passages, Coverage(), (), "none", False)


def test_the_list_shows_versions_dates_and_what_is_past_its_review() -> None:
    entries = [
        entry("b.md", "Diabetes", "2.1", date(2025, 1, 1), date(2026, 1, 1), 8),
        entry("a.md", "Anxiety | @all", passages=5),
        entry("c.md", "Old", reason="It is replaced by Diabetes."),
    ]
    text = guidelines_text(entries, "", date(2026, 6, 1))
    assert "3 guidelines" in text
    assert "not served: It is replaced by Diabetes" in text
    assert "| Diabetes | 2.1 | 2025-01-01 | 2026-01-01 (past) | 8 |" in text
    assert "@all" not in text, "a title must not call everybody"
    assert len({line.count("|") - line.count("\\|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_the_list_is_filtered_by_a_word_and_says_when_nothing_has_it() -> None:
    entries = [entry("b.md", "Diabetes"), entry("a.md", "Anxiety")]
    assert "Anxiety" not in guidelines_text(entries, "diab", date(2026, 1, 1))
    assert "None of the 2" in guidelines_text(entries, "asthma", date(2026, 1, 1))
    assert "No guideline" in guidelines_text([], "", date(2026, 1, 1))


def test_why_shows_rejected_candidates_but_none_that_somebody_here_may_not_see() -> None:
    def source(tag: str, kept: bool, title: str) -> dict[str, object]:
        scores = {"gate": 0.61, "cosine": 0.6, "lexical": 0.5, "heading": 0.4, "blended": 0.9}
        return {
            "tag": tag,
            "kept": kept,
            "title": title,
            "path": ["A"],
            "scores": scores,
            "passage_id": tag,
            "reason": "",
        }

    body = {
        "gate": {"min_score": 0.55, "best": 0.61, "verdict": "answer", "reason": "carried"},
        "sources": [source("S1", True, "Open"), source("S2", False, "Also open"), source("S3", True, "Secret")],
    }
    text = why_text(body, ["S1", "S2"])
    assert "| S1 | yes | 0.61 | 0.60 | 0.50 | 0.40 | 0.90 |" in text
    assert "| S2 | no |" in text
    assert "Secret" not in text
    assert "0.55" in text


def test_a_section_is_shown_whole_and_calls_nobody() -> None:
    block = Block("paragraph", "Give 15 g. Tell @all.")
    passage = Passage("id", "d.md", Metadata("Diabetes", "2"), ("4. Low",), 0, (block,), block.text, page=3)
    text = passage_text("S2", passage)
    assert "[S2]" in text
    assert "page 3" in text
    assert "Give 15 g." in text
    assert "@all" not in text


def test_a_rejected_section_is_not_taken_for_an_answer() -> None:
    block = Block("paragraph", "Give 15 g.")
    passage = Passage("id", "d.md", Metadata("Diabetes", "2"), ("4. Low",), 0, (block,), block.text)
    text = passage_text("S9", passage, rejected="This section was found and rejected: scores 0.20, 0.42 is needed.")
    assert text.startswith("**No answer to the question.**")
    assert "0.42 is needed" in text
    assert "No answer" not in passage_text("S9", passage)


def test_help_speaks_of_admin_commands_only_to_those_who_may() -> None:
    assert "reindex" in help_text("guidebot", is_admin=True, in_direct=False)
    assert "reindex" not in help_text("guidebot", is_admin=False, in_direct=False)
    assert "@guidebot" not in help_text("guidebot", is_admin=True, in_direct=True)


@given(st.text(alphabet="ab \n>", max_size=400), st.integers(20, 60))
def test_pages_fit_and_lose_no_letter(text: str, max_chars: int) -> None:
    cut = pages(text, max_chars)
    assert all(len(page) <= max_chars for page in cut)
    letters = [c for c in text if c in "ab"]
    assert [c for page in cut for c in page if c in "ab"] == letters
