"""Quantities: one meaning in many spellings, and no meaning shared by two."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answering.quantities import Quantity, quantities_of
from bot.answering.units import normalised


def read(text: str) -> tuple[Quantity, ...]:
    return quantities_of(normalised(text))


def meaning(text: str) -> list[tuple[object, ...]]:
    return [(q.values, q.unit, q.shape, round(q.per_h, 6), q.comparison) for q in read(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("15 g", "15 grams"),
        ("50 μg", "50 micrograms"),
        ("50 µg", "50 mcg"),
        ("six tablets", "6 tablets"),
        ("1,000 IU", "1000 international units"),
        ("½ tablet", "0.5 tablet"),
        ("5–10 mg", "5 to 10 mg"),
        ("between 5 and 10 mg", "5-10 mg"),
        ("twice daily", "bd"),
        ("twice a day", "every 12 hours"),
        ("b.d.", "12-hourly"),
        ("t.d.s.", "three times daily"),
        ("q6h", "four times a day"),
        ("once daily", "every 24 hours"),
        ("below 70 mg/dL", "< 70 mg/dL"),
        ("at least 2 L", "≥ 2 L"),
        ("no more than 4 g", "maximum 4 g"),
        ("up to 4 g", "not exceeding 4 g"),
        ("12 years and above", "≥ 12 years"),
        ("37th week", "37th week"),
        ("7 days", "one week"),
        ("twenty-four hours", "24 hours"),
    ],
)
def test_spellings_of_one_quantity_read_alike(one: str, other: str) -> None:
    if other == "one week":  # a bare 'one' is no number, with a unit it is
        assert read(one)[0].same_value(read(other)[0])
        return
    assert meaning(one) == meaning(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 mg", "5 g"),
        ("5 mg", "5 mcg"),
        ("1 g", "1000 mg"),
        ("5 mg/kg", "5 mg"),
        ("5 mg/kg/day", "5 mg/kg"),
        ("2.6 mmol/L", "2.6 mg/dL"),
        ("70 mg/dL", "70 mmol/L"),
        ("< 70 mg", "≤ 70 mg"),
        ("below 70 mg", "above 70 mg"),
        ("at least 5 days", "at most 5 days"),
        ("5 days", "5 weeks"),
        ("every 6 hours", "6 times daily"),
        ("twice daily", "twice weekly"),
        ("0.5%", "5%"),
        ("5-10 mg", "5 mg"),
        ("2 puffs", "2 tablets"),
        ("2 divided doses", "2 doses"),
    ],
)
def test_another_amount_unit_or_comparison_reads_otherwise(one: str, other: str) -> None:
    assert meaning(one) != meaning(other)


@pytest.mark.parametrize("text", ["vitamin B12", "COVID-19", "5-fluorouracil", "CD4 count", "PDES-5", "3TC"])
def test_a_figure_in_a_name_is_no_quantity(text: str) -> None:
    assert read(text) == ()


def test_over_before_minutes_is_a_duration_and_over_before_an_age_compares() -> None:
    infusion, age = read("over 60 minutes")[0], read("children over 2 years")[0]
    assert (infusion.comparison, infusion.role) == ("", "over")
    assert (age.comparison, age.role) == (">", "age")


def test_a_comparison_belongs_to_one_number_only() -> None:
    age, dose = read("Child 6 months and above: 20 mg")
    assert (age.comparison, dose.comparison) == (">=", "")


def test_a_percentage_and_a_volume_are_no_range() -> None:
    assert [q.unit for q in read("sodium chloride 0.9% - 1 litre")] == ["%", "l"]


@given(st.integers(1, 9999), st.sampled_from(["mg", "mL", "%", "mmol/L", "tablets", "weeks"]))
def test_a_number_and_its_unit_are_always_found(value: int, unit: str) -> None:
    found = read(f"Give {value} {unit} to the patient.")
    assert len(found) == 1
    assert found[0].start < found[0].end


@given(st.text(max_size=60))
def test_spans_never_overlap(text: str) -> None:
    found = read(text)
    assert all(a.end <= b.start for a, b in pairwise(found))
