"""Which questions are read together with what came before, and what their answer must speak of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answering.followups import MAX_EARLIER_CHARS, follow_up, speaks_of
from bot.answering.prompts import readable
from bot.answering.readings import better_reading, only_what_speaks_of
from tests.doubles_answering import HYPO, a_passage, a_source, found

BEFORE = "What is the dose of amoxicillin for pneumonia?"


@pytest.mark.parametrize(
    "question",
    [
        "and in children?",
        "And in pregnancy?",
        "what about the dose?",
        "What about adults?",
        "how often?",
        "How long for?",
        "for how many days?",
        "in children?",
        "What is the maximum dose?",
        "What if the patient is pregnant?",
        "is it safe in the elderly?",
        "when should it be stopped?",
        "Can it be repeated?",
        "side effects?",
        "why?",
        "What are the alternatives?",
        "ok, and for how long?",
        "And then?",
        "how much",
        "what else can be given?",
        "When do I refer?",
        "and if it does not settle?",
    ],
)
def test_a_question_without_a_subject_is_joined_to_what_came_before(question):
    joined = follow_up(question, [BEFORE])
    assert joined is not None
    assert joined.text.startswith(BEFORE)
    assert joined.text.casefold().endswith(question.casefold())
    assert not joined.stands_alone


@pytest.mark.parametrize(
    "question",
    [
        "How is hypertension treated in adults?",
        "What is the dose of gentamicin in neonatal sepsis?",
        "metformin eGFR threshold",
        "When should a patient with chest pain be referred?",
        "What should I do about a hypo?",
        "If a child has a febrile convulsion that lasts longer than five minutes, what should be given first?",
        "Define severe acute malnutrition",
        "thyroid storm",
        "What is diabetes?",
        "Is there a cure for locked-in syndrome?",
    ],
)
def test_a_full_question_keeps_its_own_subject(question):
    assert follow_up(question, [BEFORE]) is None


@pytest.mark.parametrize(
    "question",
    [
        "what about hypertension?",
        "and gentamicin?",
        "Can it be given with food?",
        "How about otitis media?",
        "and in renal patients?",
    ],
)
def test_a_question_with_a_subject_that_leans_on_the_last_is_tried_both_ways(question):
    joined = follow_up(question, [BEFORE])
    assert joined is not None
    assert joined.stands_alone
    assert joined.adds


def test_nothing_before_it_nothing_to_join():
    assert follow_up("and in children?", []) is None
    assert follow_up("and in children?", ["", "  "]) is None
    assert follow_up("", [BEFORE]) is None


def test_a_follow_up_of_a_follow_up_keeps_the_subject():
    first = follow_up("and in children?", [BEFORE])
    assert first is not None
    second = follow_up("how often?", [BEFORE, first.text])
    assert second is not None
    assert second.text == f"{BEFORE} And in children? How often?"


def test_of_a_long_thread_the_subject_and_the_last_step_are_read_along():
    earlier = ["What about gout?", BEFORE]
    for question in ("and in children?", "how long for?", "by mouth?"):
        joined = follow_up(question, earlier)
        assert joined is not None
        earlier.append(joined.text)
    assert earlier[-1] == f"{BEFORE} How long for? By mouth?"


def test_what_came_before_does_not_grow_without_end():
    joined = follow_up("and in children?", ["What is the dose of amoxicillin? " + "And then? " * 500])
    assert joined is not None
    assert len(joined.text) < 2 * MAX_EARLIER_CHARS
    assert joined.text.startswith("What is the dose of amoxicillin?")


def test_hidden_characters_do_not_hide_a_follow_up():
    assert follow_up("\u202eand\u200b in children?", [BEFORE]) is not None


@given(st.text(max_size=200), st.lists(st.text(max_size=50), max_size=3))
def test_any_text_is_read_without_an_error_and_joined_only_behind_what_was_said(question, earlier):
    joined = follow_up(question, earlier)
    if joined is not None:
        assert any(readable(one).strip() for one in earlier)
        assert joined.text.casefold().endswith(" ".join(readable(question).split()).casefold())


@pytest.mark.parametrize(
    ("adds", "text", "speaks"),
    [
        (("children",), "Paediatric dose: 10 mg/kg", True),
        (("children",), "Infants under 1 year: 5 mg", True),
        (("children",), "Adults: 500 mg", False),
        (("neonates",), "Children: 10 mg/kg", False),
        (("pregnant",), "Avoid in pregnancy.", True),
        (("renal",), "Stop if eGFR falls below 30.", True),
        (("hypertension",), "Hypertensive emergencies … hypertension", True),
        (("hypertension",), "Asthma", False),
        (("allergies", "penicillin"), "Penicillin: ask for an allergy", True),
        (("children", "gentamicin"), "Gentamicin in adults", False),
        (("seizures",), "A seizure lasts", True),
        (("x-rays",), "chest X-ray", True),
        ((), "anything", True),
    ],
)
def test_an_answer_must_speak_of_what_was_added(adds, text, speaks):
    assert speaks_of(adds, text) is speaks


def test_a_source_that_does_not_speak_of_it_is_not_kept_and_says_why():
    joined = follow_up("and in children?", [BEFORE])
    assert joined is not None
    both = found("", a_source("S1", "Children: 25 mg/kg."), a_source("S2", "Adults: 500 mg."))
    first, second = only_what_speaks_of(joined, both).sources
    assert (first.kept, second.kept) == (True, False)
    assert "children" in second.reason


def test_the_heading_may_be_what_speaks_of_it():
    joined = follow_up("and in children?", [BEFORE])
    assert joined is not None
    one = a_source("S1", a_passage("25 mg/kg twice daily.", path=("Pneumonia", "Children")))
    assert only_what_speaks_of(joined, found("", one)).verdict.passed


def test_when_no_source_speaks_of_it_the_verdict_is_a_refusal_that_names_it():
    joined = follow_up("and in children?", [BEFORE])
    assert joined is not None
    verdict = only_what_speaks_of(joined, found("", a_source("S1", HYPO))).verdict
    assert (verdict.passed, verdict.kind) == (False, "fact_absent")
    assert "children" in verdict.reason


@pytest.mark.parametrize(
    ("alone", "together", "chosen"),
    [(0.9, 0.8, "alone"), (0.84, 0.8, "together"), (0.85, 0.8, "alone"), (None, 0.6, "together"),
     (0.6, None, "alone"), (None, None, "together")],
)  # fmt: skip
def test_a_new_subject_must_do_clearly_better_by_itself(alone, together, chosen):
    def reading(name, score):
        return found(name, a_source("S1", gate=score or 0.3, kept=score is not None))

    assert better_reading(reading("alone", alone), reading("together", together)).reading.question == chosen
