"""Passages: whole sections, whole blocks, and never a piece without its path."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.guideline import Block, Guideline, Metadata, Passage, Section
from retrieval.passages import LEAD_IN_CHARS, passages_of, runs_of, text_of


def guideline(root: Section, name: str = "a.md") -> Guideline:
    return Guideline(name, "00", "markdown", Metadata(root.heading), root)


def paragraph(text: str, group: int, line: int | None = None) -> Block:
    return Block("paragraph", text, lines=None if line is None else (line, line), group=group)


def listing(group: int, lead: str, *items: str, line: int | None = None) -> list[Block]:
    return [
        Block("item", item, lines=None if line is None else (line + n, line + n), lead=lead, group=group)
        for n, item in enumerate(items)
    ]


def table(group: int, header: str, *rows: str) -> list[Block]:
    return [Block("header", header, group=group), *(Block("row", row, lead=header, group=group) for row in rows)]


def made(*blocks: Block, max_chars: int) -> tuple[Passage, ...]:
    return passages_of(guideline(Section("T", children=(Section("S", blocks),))), max_chars)


def test_a_section_that_fits_is_one_passage_with_its_text_as_in_the_file() -> None:
    blocks = (
        paragraph("Give one of:", 0, 3),
        *listing(1, "Give one of:", "- A", "- B", line=5),
        paragraph("End.", 2, 8),
    )
    (passage,) = made(*blocks, max_chars=1000)
    assert passage.text == "Give one of:\n\n- A\n- B\n\nEnd."
    assert passage.lines == (3, 8)
    assert passage.path == ("S",)
    assert passage.title == "T"


def test_a_heading_without_text_gives_no_passage_but_stays_in_the_path() -> None:
    tree = Section("T", children=(Section("Anxiety", children=(Section("Panic", (paragraph("x", 0),)),)),))
    assert [p.path for p in passages_of(guideline(tree), 500)] == [("Anxiety", "Panic")]


def test_text_before_any_heading_has_the_empty_path_and_the_title_as_heading() -> None:
    (passage,) = passages_of(guideline(Section("T", (paragraph("x", 0),))), 500)
    assert passage.path == ()
    assert passage.heading == "T"


def test_a_run_that_begins_inside_a_table_repeats_the_header() -> None:
    header = "| Drug | Dose |\n|---|---|"
    rows = [f"| drug{n} | {n} mg |" for n in range(20)]
    passages = made(*table(0, header, *rows), max_chars=100)
    assert len(passages) > 2
    for passage in passages:
        assert passage.text.startswith(header + "\n| drug")
    assert passages[1].lines is None
    assert [b.text for p in passages for b in p.blocks if b.kind == "row"] == rows


def test_a_run_that_begins_inside_a_list_repeats_its_lead() -> None:
    lead = "Give one of:"
    passages = made(paragraph(lead, 0), *listing(1, lead, *(f"- item {n}" for n in range(20))), max_chars=60)
    for passage in passages:
        assert passage.text.startswith(lead + "\n\n- item")


def test_a_copied_lead_does_not_move_the_lines_of_a_passage() -> None:
    lead = "Give one of:"
    items = listing(1, lead, *(f"- item number {n}" for n in range(10)), line=12)
    passages = made(paragraph(lead, 0, 10), *items, max_chars=80)
    assert passages[0].lines is not None
    assert passages[0].lines[0] == 10
    assert passages[1].blocks[0].lines is None
    assert (
        passages[1].lines
        == (items[len(passages[0].blocks) - 1].lines or (0,))[:1] + (passages[1].blocks[-1].lines or (0, 0))[1:]
    )
    assert "\n\n\n" not in passages[1].text


def test_a_lead_in_is_not_parted_from_the_first_item() -> None:
    lead = "Then give:"
    blocks = [paragraph("x" * 80, 0), paragraph(lead, 1), *listing(2, lead, *("- " + "y" * 20 for _ in range(8)))]
    passages = made(*blocks, max_chars=100)
    assert passages[0].text == "x" * 80
    assert passages[1].text.startswith(lead + "\n\n- y")


def test_a_table_that_fits_whole_is_not_begun_at_the_end_of_a_passage() -> None:
    rows = table(1, "| H |\n|---|", *("| 12345678 |" for _ in range(6)))
    passages = made(paragraph("x" * (LEAD_IN_CHARS + 10), 0), *rows, max_chars=LEAD_IN_CHARS + 60)
    assert [len(p.blocks) for p in passages] == [1, 7]


def test_a_single_longer_block_is_kept_whole() -> None:
    passages = made(paragraph("a", 0), paragraph("x" * 5000, 1), paragraph("b", 2), max_chars=500)
    assert [p.text for p in passages] == ["a", "x" * 5000, "b"]


def test_two_sections_with_the_same_heading_and_text_have_different_ids() -> None:
    tree = Section("T", children=tuple(Section("Note", (paragraph("Same.", 0),)) for _ in range(3)))
    assert len({p.id for p in passages_of(guideline(tree), 500)}) == 3


def test_an_edit_in_one_section_leaves_the_ids_of_the_others() -> None:
    def tree(text: str) -> Section:
        return Section("T", children=(Section("A", (paragraph(text, 0),)), Section("B", (paragraph("b", 0),))))

    before = passages_of(guideline(tree("one")), 500)
    after = passages_of(guideline(tree("two")), 500)
    assert before[0].id != after[0].id
    assert before[1].id == after[1].id


def test_the_page_is_where_the_passage_starts() -> None:
    blocks = [Block("paragraph", "x" * 300, page=n, page_label=f"3.{n}", group=n) for n in (1, 2, 3)]
    assert [(p.page, p.page_label) for p in made(*blocks, max_chars=400)] == [(1, "3.1"), (2, "3.2"), (3, "3.3")]


texts = st.text(alphabet="ab é≤\n|-", min_size=1, max_size=60)


@st.composite
def sections(draw: st.DrawFn) -> list[Block]:
    blocks: list[Block] = []
    for group in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(("paragraph", "list", "table")))
        if kind == "paragraph":
            blocks.append(paragraph(draw(st.one_of(texts, st.just("p" * 400))), group))
        elif kind == "list":
            lead = blocks[-1].text if blocks and blocks[-1].kind == "paragraph" else None
            count = draw(st.integers(1, 8))
            blocks += [Block("item", draw(texts), lead=lead, group=group) for _ in range(count)]
        else:
            blocks += table(group, draw(texts), *draw(st.lists(texts, max_size=8)))
    line = 1
    placed = []
    for block in blocks:
        height = block.text.count("\n")
        placed.append(Block(block.kind, block.text, (line, line + height), lead=block.lead, group=block.group))
        line += height + draw(st.integers(1, 3))
    return placed


@settings(max_examples=300)
@given(sections(), st.integers(10, 200))
def test_every_block_is_in_exactly_one_passage_and_in_order(blocks: list[Block], max_chars: int) -> None:
    runs = runs_of(blocks, max_chars)
    kept = [block for run in runs for block in run.own]
    assert len(kept) == len(blocks)
    assert all(one is two for one, two in zip(kept, blocks, strict=True))


@settings(max_examples=300)
@given(sections(), st.integers(10, 200))
def test_a_run_is_too_long_only_where_it_could_not_be_divided(blocks: list[Block], max_chars: int) -> None:
    for run in runs_of(blocks, max_chars):
        if len(text_of(run.own)) > max_chars:
            kinds = [block.kind for block in run.own]
            # One block, or one with the lead-in and header that must stay with it.
            assert len(kinds) == 1 or all(kind in ("paragraph", "header") for kind in kinds[:-1])
            assert len(kinds) <= 3


@settings(max_examples=300)
@given(sections(), st.integers(10, 200))
def test_nothing_stands_without_its_lead_or_header(blocks: list[Block], max_chars: int) -> None:
    for run in runs_of(blocks, max_chars):
        whole = [*run.repeated, *run.own]
        for index, block in enumerate(whole):
            if block.kind == "row":
                assert any(other.kind == "header" and other.text == block.lead for other in whole[:index])
            if block.kind == "item" and block.lead:
                assert any(block.lead in other.text for other in whole[:index])


@settings(max_examples=300)
@given(sections(), st.integers(10, 200))
def test_ids_are_unique_and_the_same_each_time(blocks: list[Block], max_chars: int) -> None:
    tree = Section("T", tuple(blocks), (Section("T", tuple(blocks)), Section("T", tuple(blocks))))
    passages = passages_of(guideline(tree), max_chars)
    assert len({p.id for p in passages}) == len(passages)
    assert passages == passages_of(guideline(tree), max_chars)
    assert [p.ordinal for p in passages] == list(range(len(passages)))
