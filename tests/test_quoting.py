"""What is quoted: whole blocks, character for character, with what must be read with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.answering.quoting import LEFT_OUT, QuoteOptions, quote, to_quote
from bot.answering.sentences import split_sentences
from retrieval.guideline import Block
from tests.doubles_answering import HYPO, a_passage, a_source, paragraphs

HYPO_QUESTION = "What should I do about a hypo (hypoglycaemia, low blood glucose)?"
CARBOHYDRATE = "Treat with 15 g of fast-acting carbohydrate"
# Cosines of the question to the four sentences of HYPO, all-MiniLM-L6-v2, recorded.
RECORDED = [0.4973, 0.2728, 0.5041, 0.6892]

SMALL = QuoteOptions(whole_chars=200)


def items(count: int, lead: str = "Do these in order:", size: int = 40, group: int = 7) -> tuple[Block, ...]:
    return tuple(Block("item", f"{n}. {'step ' * (size // 5)}{n}", lead=lead, group=group) for n in range(1, count + 1))


def rows(count: int, header: str = "| Age | Dose |\n|---|---|", group: int = 8) -> tuple[Block, ...]:
    table = [Block("header", header, group=group)]
    table += [Block("row", f"| {n} years | {n * 10} mg of the medicine by mouth |", lead=header, group=group)
              for n in range(1, count + 1)]  # fmt: skip
    return tuple(table)


def quoted(blocks, best, options=SMALL):
    return quote(a_source("S1", a_passage(*blocks), best_block=best), options)


# --- the lesson ------------------------------------------------------------------------------------------------


def test_by_default_the_carbohydrate_step_is_never_lost():
    one = quote(a_source("S1", HYPO), QuoteOptions(), question=HYPO_QUESTION)
    assert (one.text, one.whole) == (HYPO, True)


def test_with_max_sentences_2_the_carbohydrate_step_is_lost():
    def recorded(question, sentences):
        assert (question, list(sentences)) == (HYPO_QUESTION, list(split_sentences(HYPO)))
        return RECORDED

    options = QuoteOptions(max_sentences=2)
    one = quote(a_source("S1", HYPO), options, question=HYPO_QUESTION, similarity=recorded)
    assert CARBOHYDRATE not in one.text
    assert one.text == (
        f"{LEFT_OUT}\nRepeat if glucose is still below 70 mg/dL. Review any medicine that may have caused the low "
        "glucose."
    ).replace("dL. Review", "dL.\nReview")
    assert not one.whole


@pytest.mark.model
def test_the_real_model_gives_the_recorded_scores_and_loses_the_step(tmp_path_factory):
    from retrieval.embedders import make_embedder

    cache = Path(tmp_path_factory.getbasetemp().parent) / "guideline-bot-model-cache"
    embedder = make_embedder("sentence-transformers", cache=cache)

    def cosine(question, sentences):
        return [float(one) for one in embedder.encode_passages(list(sentences)) @ embedder.encode_question(question)]

    assert cosine(HYPO_QUESTION, split_sentences(HYPO)) == pytest.approx(RECORDED, abs=0.01)
    options = QuoteOptions(max_sentences=2)
    one = quote(a_source("S1", HYPO), options, question=HYPO_QUESTION, similarity=cosine)
    assert CARBOHYDRATE not in one.text


def test_max_sentences_keeps_the_order_of_the_guideline_and_shows_every_gap():
    text = "Alpha one. Beta two. Gamma three. Delta four. Epsilon five."
    scores = [0.9, 0.1, 0.2, 0.8, 0.1]
    one = quote(a_source("S1", text), QuoteOptions(max_sentences=2), similarity=lambda _q, _s: scores)
    assert one.text == f"Alpha one.\n{LEFT_OUT}\nDelta four.\n{LEFT_OUT}"


def test_max_sentences_leaves_a_section_that_has_no_more_as_it_is():
    one = quote(a_source("S1", HYPO), QuoteOptions(max_sentences=4))
    assert (one.text, one.whole) == (HYPO, True)


def test_without_an_embedder_max_sentences_goes_by_the_words_that_are_shared():
    text = "Wash your hands. Stop metformin when eGFR falls. Call the ward."
    one = quote(a_source("S1", text), QuoteOptions(max_sentences=1), question="When is metformin stopped?")
    assert one.text == f"{LEFT_OUT}\nStop metformin when eGFR falls.\n{LEFT_OUT}"


# --- long sections ---------------------------------------------------------------------------------------------


def test_a_short_section_is_quoted_whole_as_it_stands_in_the_document():
    passage = a_passage(*paragraphs("First  with two blanks.", "Second."))
    one = quote(a_source("S1", passage), SMALL)
    assert (one.text, one.whole) == ("First  with two blanks.\n\nSecond.", True)


def test_of_a_long_section_whole_blocks_around_the_match_are_quoted():
    one = quoted(paragraphs(*(f"{name} {'x' * 80}." for name in "ABCDEFG")), best=3)
    assert one.text == f"{LEFT_OUT}\nD {'x' * 80}.\n\nE {'x' * 80}.\n{LEFT_OUT}"
    assert not one.whole


def test_the_beginning_and_the_end_of_a_section_get_no_mark_that_something_is_missing_there():
    blocks = paragraphs(*(f"{name} {'x' * 80}." for name in "ABCDEFG"))
    assert quoted(blocks, best=0).text.startswith("A ")
    assert quoted(blocks, best=6).text.endswith(f"G {'x' * 80}.")


def test_a_step_far_down_a_long_list_keeps_the_sentence_that_leads_it_in():
    blocks = (Block("paragraph", "Before treatment starts. Do these in order:", group=1), *items(12))
    one = quoted(blocks, best=9)
    assert one.text.startswith(f"Before treatment starts. Do these in order:\n{LEFT_OUT}\n")
    assert "10. step" in one.text


def test_a_list_is_quoted_whole_where_it_fits():
    blocks = (*paragraphs("x" * 150), Block("paragraph", "Steps:", group=5), *items(4, "Steps:", size=20))
    one = quoted(blocks, best=3)
    assert [f"{n}. " in one.text for n in range(1, 5)] == [True] * 4
    assert "Steps:" in one.text


def test_no_step_of_a_list_that_fits_is_given_up_for_what_follows_it():
    blocks = (*paragraphs("x" * 150, "Steps:"), *items(5, "Steps:", size=20), *paragraphs("y" * 64))
    one = quoted(blocks, best=6)
    assert [f"{n}. step" in one.text for n in range(1, 6)] == [True] * 5


def test_a_table_row_keeps_its_header_right_above_it():
    one = quoted(rows(12), best=8)
    header, delimiter, gap, *rest = one.text.splitlines()
    assert (header, delimiter, gap) == ("| Age | Dose |", "|---|---|", LEFT_OUT)
    assert any(line.startswith("| 8 years | 80 mg") for line in rest)


def test_a_sentence_that_announces_a_list_is_never_the_last_thing_quoted():
    blocks = (*paragraphs("x" * 120, "Then give one of:"), *items(8, "Then give one of:"))
    one = quoted(blocks, best=0)
    assert not one.text.removesuffix(f"\n{LEFT_OUT}").endswith(":")


def test_a_single_step_that_is_too_long_is_quoted_whole():
    step = "1. " + "and then " * 100
    blocks = (*paragraphs("Before."), Block("item", step, group=5), *paragraphs("After."))
    assert step in quoted(blocks, best=1).text


def test_a_best_block_outside_the_section_does_no_harm():
    assert quoted(paragraphs("A " + "x" * 150, "B " + "x" * 150), best=99).text.endswith("B " + "x" * 150)


def test_a_passage_whose_text_lacks_a_block_is_quoted_whole():
    passage = a_passage(*paragraphs("A " + "x" * 150, "B " + "x" * 150))
    object.__setattr__(passage, "text", "something else " * 30)
    one = quote(a_source("S1", passage), SMALL)
    assert (one.text, one.whole) == (passage.text, True)


words = st.text(alphabet="abc :.|-", min_size=1, max_size=60).map(lambda text: text.strip() or "a")


@st.composite
def sections(draw):
    blocks: list[Block] = []
    for group in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["paragraph", "list", "table"]))
        if kind == "paragraph":
            blocks.append(Block("paragraph", draw(words), group=group))
        elif kind == "list":
            lead = blocks[-1].text if blocks and draw(st.booleans()) else None
            blocks += [Block("item", draw(words), lead=lead, group=group) for _ in range(draw(st.integers(1, 6)))]
        else:
            header = draw(words)
            blocks.append(Block("header", header, group=group))
            blocks += [Block("row", draw(words), lead=header, group=group) for _ in range(draw(st.integers(1, 6)))]
    return tuple(blocks)


@settings(max_examples=150, deadline=None)
@given(sections(), st.integers(0, 30), st.integers(1, 300))
def test_quotes_are_whole_blocks_of_the_section_in_order_and_hold_what_matched(blocks, best, whole_chars):
    passage = a_passage(*blocks)
    one = quote(a_source("S1", passage, best_block=best), QuoteOptions(whole_chars=whole_chars))
    position = 0
    for piece in one.text.split(f"\n{LEFT_OUT}\n") if not one.whole else [one.text]:
        piece = piece.removeprefix(f"{LEFT_OUT}\n").removesuffix(f"\n{LEFT_OUT}")
        at = passage.text.find(piece, position)
        assert at >= 0, "a stretch that does not stand in the section, or not in this order"
        position = at + len(piece)
    assert blocks[min(best, len(blocks) - 1)].text in one.text
    lead = blocks[min(best, len(blocks) - 1)].lead
    assert lead is None or lead in one.text
    assert one.whole == (one.text == passage.text)


# --- which sources ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "tags"),
    [
        ([0.8, 0.75], ["S1", "S2"]),
        ([0.8, 0.74], ["S1"]),
        ([0.75, 0.8], ["S1", "S2"]),
        ([0.8, 0.8, 0.8], ["S1", "S2"]),
        ([0.8], ["S1"]),
        ([], []),
    ],
)
def test_the_second_source_is_quoted_too_when_its_gate_score_is_close(scores, tags):
    kept = [a_source(f"S{n}", gate=score) for n, score in enumerate(scores, start=1)]
    assert [source.tag for source in to_quote(kept, 0.05)] == tags
