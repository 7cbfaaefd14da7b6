"""Markdown: sections by their headings, blocks as they stand in the file, nothing cut, nothing lost."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.documents import load
from retrieval.documents.markdown import load_markdown
from retrieval.documents.tree import lead_of
from retrieval.errors import DocumentError
from retrieval.guideline import Block, Section


def tree(source: str) -> Section:
    return load_markdown(source, "a.md").root


def paths(source: str) -> list[tuple[str, ...]]:
    return [path for path, _ in tree(source).walk()][1:]


def blocks(source: str) -> list[Block]:
    return [block for _, section in tree(source).walk() for block in section.blocks]


def test_the_first_heading_of_level_1_that_stands_alone_is_the_title_and_in_no_path() -> None:
    loaded = load_markdown("# Chest Pain\n\nIntro.\n\n## Adults\n\n### Dose\n\nx\n", "a.md")
    assert loaded.title == "Chest Pain"
    assert [path for path, _ in loaded.root.walk()] == [(), ("Adults",), ("Adults", "Dose")]
    assert [block.text for block in loaded.root.blocks] == ["Intro."]


def test_several_chapters_of_level_1_are_all_sections() -> None:
    source = "# Anxiety\n\na\n\n# Depression\n\nb\n"
    assert load_markdown(source, "a.md").title == ""
    assert paths(source) == [("Anxiety",), ("Depression",)]


def test_a_level_1_heading_with_nothing_of_its_own_before_chapters_is_the_title() -> None:
    assert paths("# Manual\n\n# Anxiety\n\na\n\n# Depression\n\nb\n") == [("Anxiety",), ("Depression",)]


def test_skipped_levels_still_nest_under_the_nearest_lower_one() -> None:
    source = "# T\n\n## A\n\n#### Deep\n\nx\n\n### Middle\n\ny\n\n## B\n\nz\n"
    assert paths(source) == [("A",), ("A", "Deep"), ("A", "Middle"), ("B",)]


def test_two_headings_with_the_same_text_stay_two_sections() -> None:
    assert paths("# T\n\n## Dose\n\na\n\n## Dose\n\nb\n") == [("Dose",), ("Dose",)]


def test_a_heading_is_plain_text_without_markup() -> None:
    assert paths("# T\n\n## **Panic** _episodes_ [see](x) `SpO2` <60 &amp; >40 {#panic}\n\na") == [
        ("Panic episodes see SpO2 <60 & >40",)
    ]


def test_an_underlined_heading_counts_and_a_long_underlined_paragraph_does_not() -> None:
    assert paths("T\n=\n\nDose\n----\n\nx") == [("Dose",)]
    long = "word " * 80
    assert paths(f"# T\n\n{long.strip()}\n---\n\nx") == []


def test_a_list_item_is_kept_whole_with_all_that_is_nested_in_it() -> None:
    found = blocks("# T\n\nGive one of:\n\n- A\n  - 5 mg\n\n    if under 40 kg\n- B\n\nEnd.\n")
    assert [(b.kind, b.text, b.lines) for b in found] == [
        ("paragraph", "Give one of:", (3, 3)),
        ("item", "- A\n  - 5 mg\n\n    if under 40 kg", (5, 8)),
        ("item", "- B", (9, 9)),
        ("paragraph", "End.", (11, 11)),
    ]
    assert [b.lead for b in found] == [None, "Give one of:", "Give one of:", None]
    assert found[1].group == found[2].group != found[0].group


def test_only_the_sentence_that_leads_in_is_the_lead() -> None:
    assert lead_of("Take the pulse. Escalate when:") == "Escalate when:"
    assert lead_of("Give the following drugs.") == "Give the following drugs."
    assert lead_of("Take 2.5 mg of:") == "Take 2.5 mg of:"
    assert lead_of("The patient goes home.") is None


def test_a_table_is_its_header_and_its_rows_each_with_the_header_as_lead() -> None:
    found = blocks("# T\n\n| Drug | Dose |\n|---|---|\n| A | 5 mg |\n| B | 10 mg |\n")
    assert [(b.kind, b.text, b.lines, b.lead) for b in found] == [
        ("header", "| Drug | Dose |\n|---|---|", (3, 4), None),
        ("row", "| A | 5 mg |", (5, 5), "| Drug | Dose |\n|---|---|"),
        ("row", "| B | 10 mg |", (6, 6), "| Drug | Dose |\n|---|---|"),
    ]
    assert len({b.group for b in found}) == 1


def test_code_quotes_and_html_stand_as_written_and_comments_are_left_out() -> None:
    found = blocks("# T\n\n```\n# no heading\n```\n\n> a\n> b\n\n<div>x</div>\n\n<!-- note -->\n\nBP <60 and >1.5\n")
    assert [(b.kind, b.text) for b in found] == [
        ("code", "```\n# no heading\n```"),
        ("paragraph", "> a\n> b"),
        ("paragraph", "<div>x</div>"),
        ("paragraph", "BP <60 and >1.5"),
    ]


def test_line_numbers_are_those_of_the_file_with_its_front_matter() -> None:
    loaded = load_markdown("---\ntitle: T\nversion: 2.10\n---\n\n# T\n\nText.\n", "a.md")
    assert loaded.root.blocks[0].lines == (8, 8)
    assert loaded.properties == {"title": "T", "version": "2.10"}


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    loaded = load_markdown("---\n\nJust text\n\n---\n\nMore\n", "a.md")
    assert loaded.properties == {}
    assert len(loaded.root.blocks) == 2 or loaded.root.children


def test_front_matter_that_is_never_closed_is_an_error_not_text() -> None:
    with pytest.raises(DocumentError, match=r"a\.md.*line 1"):
        load_markdown("---\nstatus: retired\n\n# T\n\nx\n", "a.md")


def test_front_matter_that_is_no_yaml_names_its_line() -> None:
    with pytest.raises(DocumentError, match="line 3"):
        load_markdown("---\nversion: 1\ntitle: Pain: chest\n---\n# T\n", "a.md")


def test_windows_line_breaks_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("\ufeff---\r\ntitle: T\r\n---\r\n# T\r\n\r\nGive:\r\n\r\n- a\r\n- b\r\n".encode())
    guideline = load(tmp_path / "a.md", "a.md")
    assert guideline.metadata.title == "T"
    assert [b.text for b in guideline.root.blocks] == ["Give:", "- a", "- b"]


LINES = st.sampled_from(
    [
        "# A",
        "## B",
        "### C",
        "text 5 mg",
        "- item",
        "  - nested",
        "1. one",
        "| a | b |",
        "|---|---|",
        "> q",
        "",
        "",
        "---",
    ]
)


@given(st.lists(LINES, max_size=25))
def test_every_block_is_a_slice_of_the_file_and_slices_follow_each_other(lines: list[str]) -> None:
    source = "\n".join(["start", *lines])
    last = 0
    for block in blocks(source):
        assert block.lines is not None
        first, end = block.lines
        assert "\n".join(source.split("\n")[first - 1 : end]) == block.text
        assert first > last
        last = end


@given(st.text(max_size=200))
def test_no_text_makes_it_fail_otherwise_than_by_name(text: str) -> None:
    with suppress(DocumentError):
        load_markdown(text.replace("\r", "\n"), "a.md")
