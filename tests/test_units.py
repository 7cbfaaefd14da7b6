"""Sentences, list items and table rows of a passage."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.guideline import Block, Metadata, Passage
from retrieval.units import context_of, embedded_text, sentences_of, units_of


def passage(*blocks: Block, path: tuple[str, ...] = ("Treatment", "Drugs"), title: str = "Malaria") -> Passage:
    text = "\n".join(block.text for block in blocks)
    return Passage(f"{path}{blocks}", "malaria.md", Metadata(title), path, 0, blocks, text)


def texts(*blocks: Block) -> list[str]:
    return [unit.text for unit in units_of(passage(*blocks))]


def test_a_paragraph_is_divided_into_sentences() -> None:
    block = Block("paragraph", "A glucose below 70 mg/dL is low. Treat with 15 g of carbohydrate.")
    assert texts(block) == ["A glucose below 70 mg/dL is low.", "Treat with 15 g of carbohydrate."]


@pytest.mark.parametrize(
    "sentence",
    [
        "Give 2.5 mg of it.",
        "Give e.g. Paracetamol by mouth.",
        "See Fig. 3 for doses.",
        "Use approx. 5 ml.",
        "E. coli is common.",
        "Ask Dr. Smith.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(sentence: str) -> None:
    assert sentences_of(sentence) == [sentence]


@given(st.text(alphabet="aB1. ?!\"'()\n", max_size=80))
def test_dividing_a_text_loses_no_word(text: str) -> None:
    joined = " ".join(sentences_of(text))
    assert [char for char in joined if char.isalnum()] == [char for char in text if char.isalnum()]


def test_a_list_item_loses_its_mark_and_keeps_what_leads_it_in() -> None:
    (unit,) = units_of(passage(Block("item", "- Artesunate 2.4 mg/kg", lead="For severe malaria give:")))
    assert unit.text == "Artesunate 2.4 mg/kg"
    assert unit.lead == "For severe malaria give:"


def test_a_nested_item_is_led_in_by_the_item_above_it() -> None:
    units = units_of(passage(Block("item", "- Diclofenac\n  - Adult: 50 mg\n  - Child: not advised", lead="Pain:")))
    assert [(unit.text, unit.lead) for unit in units] == [
        ("Diclofenac", "Pain:"),
        ("Adult: 50 mg", "Pain: Diclofenac"),
        ("Child: not advised", "Pain: Diclofenac"),
    ]


def test_a_wrapped_line_stays_with_its_item() -> None:
    assert texts(Block("item", "1. Give fluids\n   slowly over 2 hours")) == ["Give fluids slowly over 2 hours"]


def test_a_table_row_is_a_unit_and_carries_the_header() -> None:
    header = "| Drug | Dose |\n|---|---|"
    units = units_of(passage(Block("header", header), Block("row", "| Amoxicillin | 500 mg |", lead=header)))
    assert [unit.lead for unit in units] == ["Drug | Dose"]
    assert units[0].block == 1
    assert "500 mg" in units[0].text


def test_units_know_what_stands_before_them() -> None:
    units = units_of(passage(Block("paragraph", "One is here. Two is here. Three is here.")))
    assert units[2].before == ("Two is here.", "One is here.")


def test_the_embedded_text_has_title_and_path_in_front() -> None:
    one = passage(Block("item", "- Artesunate", lead="Give:"))
    assert context_of(one) == "Malaria. Treatment. Drugs"
    assert embedded_text(one, units_of(one)[0]) == "Malaria. Treatment. Drugs. Give. Artesunate"


def test_every_unit_points_at_its_block() -> None:
    blocks = (Block("paragraph", "One. Two."), Block("item", "- a\n- b"), Block("code", "```\nx = 1\n```"))
    assert [unit.block for unit in units_of(passage(*blocks))] == [0, 0, 1, 1, 2]


def test_remembered_units_are_those_of_the_passage_at_hand() -> None:
    first = passage(Block("paragraph", "One. Two."), path=("A",))
    second = passage(Block("paragraph", "Three."), path=("B",))
    assert [len(units_of(one)) for one in (first, second, first)] == [2, 1, 2]


def test_units_are_made_anew_when_a_passage_of_the_same_id_has_other_blocks() -> None:
    one = passage(Block("item", "- Fever"))
    other = replace(one, blocks=(Block("item", "- Fever", lead="In children:"),))
    assert [unit.lead for unit in units_of(one)] != [unit.lead for unit in units_of(other)]
