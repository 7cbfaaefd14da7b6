"""The kind of fact that a question asks for, and whether a text holds it. Wording here is the tests' own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.facts import CHECKED_KINDS, OTHER_NUMBER, WITHOUT_UNIT, AskedFact, asked_fact, holds, holds_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the dose of amoxicillin?", "dose"),
        ("amoxicillin dosage in children", "dose"),
        ("How much lorazepam can I give?", "dose"),
        ("how many mg of zinc", "dose"),
        ("adrenaline mcg/kg/min", "rate"),
        ("infusion rate for noradrenaline", "rate"),
        ("How often should blood pressure be checked?", "frequency"),
        ("How long do I treat cellulitis?", "duration"),
        ("for how many weeks is rifampicin taken?", "duration"),
        ("Above which potassium do I stop the drug?", "threshold"),
        ("target INR with a metal valve", "threshold"),
        ("From what age can ibuprofen be used?", "age"),
        ("How many chairs are needed in the waiting room?", "number"),
        ("What number do I ring for the crisis team?", "contact"),
        ("telephone of the poison centre", "contact"),
        ("Is aspirin safe in pregnancy?", "yes or no"),
        ("How do I set up a syringe driver?", "steps"),
        ("What does NEWS stand for?", "definition"),
        ("Why is warfarin stopped before surgery?", "reason"),
        ("By which route is it given?", "route"),
    ],
)
def test_a_question_tells_the_kind_of_fact_it_asks_for(question: str, kind: str) -> None:
    assert kind in asked_fact(question).kinds


@pytest.mark.parametrize(
    "question",
    [
        "first choice drug for tonsillitis",
        "signs of meningitis",
        "Who should avoid codeine?",
        "",
        "Someone on the phone is panicking",
        "When do we telephone them again?",
        "Under what conditions is it stopped?",
        "How do funds contribute to local targets?",
    ],
)
def test_a_question_for_no_shape_of_fact_is_not_looked_at_twice(question: str) -> None:
    assert asked_fact(question).checked == ()
    assert holds(asked_fact(question), "anything") == 1.0


def test_a_question_may_ask_for_two_kinds() -> None:
    assert set(asked_fact("dose of amoxicillin and for how long?").checked) == {"dose", "duration"}


def test_at_what_weight_the_dose_changes_asks_for_the_weight() -> None:
    assert asked_fact("At what weight does the dose change?").checked == ("threshold",)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("dose", "Amoxicillin 500 mg three times daily"),
        ("dose", "give 2.4 million units once"),
        ("dose", "two tablets at night"),
        ("dose", "1 - 2 puffs"),
        ("dose", "0.1ml/kg"),
        ("rate", "run at 5 micrograms/kg/min"),
        ("rate", "40 mg over 10 minutes"),
        ("rate", "not faster than 50 mg per minute"),
        ("frequency", "every 4 to 6 hours"),
        ("frequency", "12-hourly"),
        ("frequency", "3 times a day"),
        ("frequency", "500 mg bd"),
        ("frequency", "checked yearly"),
        ("duration", "for 7 days"),
        ("duration", "a 5-day course"),
        ("duration", "continue until two weeks after recovery"),
        ("duration", "taken for life"),
        ("threshold", "if eGFR is below 45"),
        ("threshold", "SpO2 < 92 %"),
        ("threshold", "a score of 15 or more"),
        ("threshold", "keep between 140 and 180 mg/dL"),
        ("age", "children under 12 years"),
        ("age", "from 6 months of age"),
        ("number", "two nurses"),
        ("contact", "call the crisis team on 0800 123 456"),
        ("contact", "bleep 2345"),
        ("contact", "ext. 4411"),
    ],
)
def test_a_fact_is_seen_in_the_way_guidelines_write_it(kind: str, text: str) -> None:
    assert holds_kind(kind, text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("dose", "Gentamicin may be used in severe cases"),
        ("dose", "See section 4 for other drugs"),
        ("dose", "A score of 15 means severe"),
        ("rate", "Give slowly into a large vein"),
        ("frequency", "Give amoxicillin 500 mg"),
        ("duration", "Give amoxicillin 500 mg"),
        ("threshold", "Stop metformin in kidney failure"),
        ("age", "Not for children"),
        ("contact", "Call the crisis team at once"),
        ("number", "several nurses"),
    ],
)
def test_a_mention_without_the_fact_is_not_taken_for_it(kind: str, text: str) -> None:
    assert not holds_kind(kind, text)  # type: ignore[arg-type]


def test_the_number_of_a_list_item_is_not_a_fact() -> None:
    assert holds(asked_fact("How many nurses are needed?"), "3. Call for help") == 0.0


def test_another_number_is_worth_little() -> None:
    assert holds(asked_fact("dose of gentamicin"), "Gentamicin levels at 2 and 6") == OTHER_NUMBER


def test_a_dose_without_the_unit_that_is_asked_for_is_half() -> None:
    fact = asked_fact("gentamicin mg/kg dose")
    assert holds(fact, "Gentamicin 5 mg/kg once daily") == 1.0
    assert holds(fact, "Gentamicin 240 mg once daily") == WITHOUT_UNIT


def test_days_asked_for_may_be_answered_in_weeks() -> None:
    assert holds(asked_fact("for how many days is it given?"), "for 2 weeks") == 1.0


def test_of_two_kinds_asked_one_held_is_half() -> None:
    fact = asked_fact("dose of zinc and for how long?")
    assert holds(fact, "zinc 20 mg") == pytest.approx((1 + OTHER_NUMBER) / 2)


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_question_and_text_give_a_share(question: str, text: str) -> None:
    fact = asked_fact(question)
    assert isinstance(fact, AskedFact)
    assert set(fact.checked) <= CHECKED_KINDS
    assert 0.0 <= holds(fact, text) <= 1.0
