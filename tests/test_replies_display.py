"""Quoted words stay what they are: drawn, never acted upon, and given back character for character."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.display import ZWSP, display, display_line, quote, undo_display
from bot.sandbox.mentions import Reader, mentioned

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

pieces = st.sampled_from(
    [
        *("@all", "@here", "\\", "\\|", "|", " | ", "\n", "\n\n", "    ", "\t", "- ", "* ", "1. ", "2. ", "3) "),
        *("**", "*", "_", "`", "```", "~", "~~", "~town-square", "# ", "#tag", "> ", "---", "===", "| --- | --- |"),
        *("<b>", "<3", "<30", "&lt;", "&#64;", ":100:", ":)", "http://x.test/a", "www.x.test", "![a](http://x/y)"),
        *("[S1]", "[S1](http://x)", "[x]: http://y", "$5", "⟨U+200B⟩", "⟨", "⟩", "\u200b", "\u202e", "\0", "\r\n"),
        *(
            "15 g",
            "2*3*4",
            "~10 mg",
            "word",
            "é",
            "😀",
            "\u00ad",
            "\ud800",
            "x-D",
            ";)",
            "$",
            "tel:999",
            "x.org/",
            "www2.x",
            "      - ",
            "  ",
        ),
    ]
)
texts = st.one_of(st.text(max_size=200), st.lists(pieces, max_size=20).map("".join))


@settings(max_examples=400, deadline=None)
@given(texts)
@example("a | b\nc | d")
@example("a | b\n--- | ---\nc | d")
@example("a\u200b\n--- | ---")
@example("> quoted\n>> deeper")
def test_what_display_adds_comes_off_again(text: str) -> None:
    assert undo_display(display(text)) == text
    assert undo_display(quote(text)) == text


@settings(max_examples=400, deadline=None)
@given(texts)
def test_a_displayed_text_notifies_nobody(text: str) -> None:
    everyone = [Reader("1", "all", {}), Reader("2", "word", {}, online=True)]
    assert mentioned([display(text)], everyone) == []
    assert mentioned([quote(text)], everyone) == []


@settings(max_examples=400, deadline=None)
@given(texts)
def test_a_displayed_text_draws_no_link_picture_html_code_or_heading(text: str) -> None:
    drawn = MARKDOWN.render(quote(text))
    assert not re.search(r"[a-z]://|www\d?\.|[a-z]\.[a-z]{2,4}/|\$[^$\n]+\$(?![A-Za-z0-9_])", display(text))
    tags = set(re.findall(r"<(\w+)", drawn))
    assert tags <= {"blockquote", "p", "br", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "strong"}


@settings(max_examples=400, deadline=None)
@given(texts)
def test_no_character_that_steers_or_hides_is_left(text: str) -> None:
    assert not re.search("[\0-\x08\x0b\x0c\x0e-\x1f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", display(text))


@pytest.mark.parametrize(
    "number",
    [
        "~10 mg",
        "2*3*4",
        "5 * 3 * 2",
        "~5 to ~10 mg",
        "<3 mmol/L",
        "1:1000",
        "$5 and $6",
        "0.5_mg",
        "10^9/L",
        "3.",
        "#4",
        r"C:\d",
    ],
)
def test_a_number_looks_as_it_is_stored(number: str) -> None:
    drawn = re.sub(r"<[^>]*>", "", MARKDOWN.render(display(f"Give {number} now"))).replace(ZWSP, "")
    assert f"Give {number} now" in drawn.replace("&lt;", "<").replace("&amp;", "&")


def test_a_ratio_is_left_alone() -> None:
    assert display("adrenaline 1:1000") == "adrenaline 1:1000"


@pytest.mark.parametrize("word", ["<3", ":100:", ":)", "#tag", "~triage", "http://x.test", "www.x.test", "a@b.test"])
def test_what_starts_a_link_or_an_emoji_is_broken(word: str) -> None:
    assert ZWSP in display(word)


def test_bold_of_a_guideline_stays_bold_but_footnote_stars_stay_stars() -> None:
    assert display("**Do not** give") == "**Do not** give"
    assert display("dose(**) and (**)") == r"dose(\*\*) and (\*\*)"
    assert display("2**3**4") == r"2\*\*3\*\*4"


def test_lists_and_nested_lists_are_drawn() -> None:
    drawn = MARKDOWN.render(quote("Give:\n\n- 15 g glucose\n    - repeat\n- wait 15 minutes"))
    assert drawn.count("<ul>") == 2
    assert "<code>" not in drawn


def test_an_item_too_far_in_is_not_taken_for_code() -> None:
    assert display("- a\n      - b").split("\n")[1] == f"{ZWSP}      - b"
    assert display("- a\n    - b\n        - c") == "- a\n    - b\n        - c"


def test_steps_keep_their_numbers_where_clients_would_count_anew() -> None:
    drawn = MARKDOWN.render(quote("1. One\n2. Two\n…\n4. Four\n4. Four again"))
    assert drawn.count("<li>") == 2
    assert "4. Four again" in drawn


def test_a_wrapped_line_that_begins_with_a_number_is_no_list() -> None:
    assert "<li>" not in MARKDOWN.render(display("500. Then stop"))


def test_a_table_without_delimiter_line_is_drawn_with_its_first_row_as_header() -> None:
    text = "eGFR | Metformin\n> 60 | full dose\n- | -\n<30 | stop"
    drawn = MARKDOWN.render(quote(text))
    assert drawn.count("<th>") == 2
    assert drawn.count("<td>") == 6
    assert "&gt; 60" in drawn
    assert undo_display(quote(text)) == text


def test_an_escaped_pipe_stays_in_its_cell() -> None:
    text = "| a | b |\n|---|---|\n| x \\| y | z |"
    drawn = MARKDOWN.render(display(text))
    assert drawn.count("<td>") == 2
    assert "x \\| y" in drawn


def test_a_title_is_one_line() -> None:
    assert "\n" not in display_line("A\n# B @all")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("dose\n===-", f"dose\n{ZWSP}===-"),  # would make the line above a heading
        ("<a@b.org>", f"&lt;{ZWSP}a@{ZWSP}b.org>"),  # would become an address without its brackets
        ("1. one\n\n- two", "1. one\n\n\\- two"),  # would go on counting: 2.
        ("1. \n\ntext\n1. one", "1\\. \n\ntext\n1. one"),  # likewise
        ("C:\\dir \\* \\", "C:\\dir \\\\\\* \\\\"),  # a backslash before a letter is never an escape
        ("$5 and 6$ or $7", "⟨U+0024⟩5 and 6⟨U+0024⟩ or ⟨U+0024⟩7"),  # would become a formula
        ("$5 and $6", "$5 and $6"),
        ("x\n      ", f"x\n{ZWSP}      "),
    ],
)
def test_what_the_web_client_would_misread_is_escaped_for_it(text: str, shown: str) -> None:
    assert display(text) == shown
    assert undo_display(shown) == text


def test_every_line_of_a_quote_begins_with_its_mark_and_a_space() -> None:
    assert quote("\na\n\nb") == "> \n> a\n> \n> b"


@pytest.mark.parametrize(
    "piece", ["<", "$a", "<a", "*", "[S1", "**a", "| ", "a@", "- ", ":a", "x.aa", "a|b\n", "1. a\n"]
)
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    started = time.process_time()
    display(piece * (20_000 // len(piece)))
    assert time.process_time() - started < 1
