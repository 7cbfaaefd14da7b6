"""What a reply says, in which order, and how it fits a server."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.exchange import Quote, Result
from bot.replies import MARK, Limits, notice, render, source_line, undo_display
from bot.sandbox.mentions import Reader, mentioned
from retrieval.found import Reading, Scores, Source, Verdict
from retrieval.guideline import Metadata, Passage

METFORMIN = (
    "Metformin should not be started if eGFR is below 45. If eGFR falls below 30 during treatment, stop metformin."
)
ASK = "Please ask the duty pharmacist, ext. 1234."


def source(tag: str = "S1", text: str = METFORMIN, *, kept: bool = True, gate: float = 0.81, **more: Any) -> Source:
    metadata = Metadata(more.pop("title", "Diabetes protocol"), version=more.pop("version", "2.1"))
    facts: dict[str, Any] = {"path": ("2. Kidney function and metformin",), "lines": (10, 14)} | more
    passage = Passage("p", "diabetes.md", metadata, ordinal=0, blocks=(), text=text, **facts)
    return Source(tag, passage, Scores(0.7, 0.5, 0.5, 0.9, gate), kept)


def reading(question: str = "Can I start metformin?", read_as: str = "") -> Reading:
    return Reading(question, read_as or question)


def verdict(passed: bool = True, **more: Any) -> Verdict:
    return Verdict(passed, best=more.pop("best", 0.81), min_score=0.55, reason="", **more)


def quoted(*sources: Source, **more: Any) -> Result:
    given = sources or (source(),)
    quotes = tuple(Quote(each.tag, each.passage.text, True) for each in given)
    facts: dict[str, Any] = {"reading": reading(), "sources": given, "verdict": verdict(), "quotes": quotes} | more
    return Result("Can I start metformin?", status="answered", **facts)


def written(answer: str = "Do not start it below 45 [S1].", *sources: Source, **more: Any) -> Result:
    return quoted(*sources, mode="written", answer=answer, model="llama3.1:8b", **more)


def only(result: Result, **options: Any) -> str:
    (post,) = render(result, **options)
    return post.message


# what it says


def test_a_quoted_reply_begins_with_its_source_and_holds_the_words_as_stored() -> None:
    message = only(quoted())
    assert message.splitlines()[0] == (
        "**[S1]** Diabetes protocol › 2. Kidney function and metformin, lines 10–14 · score 0.81 · version 2.1"
    )
    assert f"> {METFORMIN}" in message
    assert "A source needs a score of 0.55." in message


def test_a_written_reply_begins_with_its_answer_and_carries_its_quotes_as_attachments() -> None:
    (post,) = render(written())
    assert post.message.startswith("Do not start it below 45 [S1].")
    assert "llama3.1:8b" in post.message
    (attachment,) = post.props["attachments"]
    assert METFORMIN in undo_display(attachment["text"])
    assert METFORMIN not in undo_display(post.message)


def test_quotes_that_do_not_fit_the_props_follow_in_the_message() -> None:
    long = "Give 15 g of glucose. " * 500
    result = written("Give 15 g [S1].", source(text=long))
    posts = render(result)
    assert all("attachments" not in post.props for post in posts)
    assert undo_display("".join(post.message for post in posts)).count("15 g of glucose") == 500
    (post,) = render(result, Limits(max_props_chars=800_000))
    assert "attachments" in post.props


@pytest.mark.parametrize("status", ["answered", "refused", "blocked", "failed"])
def test_the_emergency_line_comes_first_whatever_follows(status: Any) -> None:
    message = only(replace(quoted(), status=status, emergency="Call 2222 now."))
    assert message.startswith("**Call 2222 now.**")


def test_the_reading_is_shown_when_it_differs_and_only_then() -> None:
    differing = reading("What about a hypo?", "What about a hypo (hypoglycaemia)?")
    assert "Read as: What about a hypo (hypoglycaemia)?" in only(quoted(reading=differing))
    assert "Read as" not in only(quoted())


def test_other_senses_of_an_abbreviation_are_named() -> None:
    two = replace(reading(), ambiguous=(("PE", ("pulmonary embolism", "physical examination")),))
    assert "PE could also mean: pulmonary embolism, physical examination." in only(quoted(reading=two))


def test_sources_that_were_kept_but_not_quoted_are_listed_and_rejected_ones_are_not() -> None:
    sources = (source(), source("S2", title="Renal guide"), source("S3", title="Other", kept=False))
    message = only(quoted(*sources, quotes=(Quote("S1", METFORMIN, True),)))
    assert "**[S2]** Renal guide" in message
    assert "[S3]" not in message


def test_a_refusal_says_why_names_the_nearest_sections_and_whom_to_ask() -> None:
    near = source(kept=False, gate=0.41)
    result = Result(
        "What dose of semaglutide?",
        reading("What dose of semaglutide?"),
        "refused",
        reason="No section says anything of semaglutide.",
        verdict=verdict(False, best=0.41, kind="below_score"),
        nearest=(near,),
    )
    message = only(result, ask_line=ASK)
    first = message.splitlines()[0]
    assert first == "**The guidelines don't cover this.** No section says anything of semaglutide."
    assert "- Diabetes protocol › 2. Kidney function and metformin (score 0.41)" in message
    assert "needs a score of 0.55; the best found is 0.41" in message
    assert message.endswith(ASK)


def test_what_was_never_looked_up_is_not_called_uncovered() -> None:
    message = only(Result("q", reading("q"), "refused", reason="This question has 9,000 characters; 4,000 are read."))
    assert "9,000 characters" in message
    assert "don't cover" not in message, "nothing is known of what the guidelines hold"


def test_the_score_that_was_needed_is_not_said_twice() -> None:
    reason = "The best source scores 0.41, 0.55 is needed."
    message = only(Result("q", reading("q"), "refused", reason=reason, verdict=verdict(False, best=0.41)))
    assert message.count("0.55") == 1


def test_a_blocked_reply_repeats_nothing_of_the_question() -> None:
    result = Result("John Smith 943 476 5919", reading("John Smith"), "blocked", details=("nhs_number", "name"))
    message = only(result)
    assert "nhs number, name" in message
    assert "delete the post" in message
    assert "Smith" not in message
    assert "943" not in message


def test_a_failure_is_told_in_plain_words() -> None:
    message = only(Result("q", reading("q"), "failed", reason="The index cannot be read."), ask_line=ASK)
    assert "The index cannot be read." in message
    assert ASK in message


def test_notes_and_the_reason_for_quoting_are_told() -> None:
    message = only(quoted(notes=("Past its review date.",), reason="The model took too long."))
    assert "Note: Past its review date." in message
    assert "The model took too long." in message


def test_pages_go_by_their_printed_label() -> None:
    assert ", page 3.6 ·" in source_line(source(page=12, page_label="3.6", lines=None))
    assert ", page 12 ·" in source_line(source(page=12, lines=None))


def test_only_web_addresses_become_links() -> None:
    assert "[original](https://intranet.test/a%20b%28c%29.md)" in source_line(
        source(link="https://intranet.test/a b(c).md")
    )
    assert "original" not in source_line(source(link="javascript:alert(1)"))


# that it cannot be misused


NASTY = (
    "@all see [this](http://evil.test) ![x](http://evil.test/p.png) <img src=x> \u202e ```\n# Big\n**[S9]** forged\n"
    "| a | b |\n|---|---|\n| @channel | :100: |"
)


@pytest.mark.parametrize(
    "result",
    [
        quoted(source(text=NASTY, title=f"T {NASTY}", path=(NASTY,), version="@all")),
        written(NASTY, source(text=NASTY)),
        quoted(notes=(NASTY,), reason=NASTY, reading=reading("q", NASTY)),
        Result("q", reading("q", NASTY), "refused", reason=NASTY, nearest=(source(title=NASTY),), verdict=verdict()),
        Result("q", reading("q"), "blocked", reason=NASTY, details=(NASTY,)),
        Result("q", reading("q"), "failed", reason=NASTY, emergency=NASTY),
    ],
    ids=["quoted", "written", "notes", "refused", "blocked", "failed"],
)
def test_nothing_that_comes_from_elsewhere_pings_links_or_loads(result: Result) -> None:
    everyone = [Reader("1", "someone", {}, online=True)]
    for post in render(result, ask_line="ask @someone"):
        attachments = post.props.get("attachments", [])
        texts = [post.message, *(each["text"] for each in attachments), *(each["fallback"] for each in attachments)]
        assert mentioned(texts, everyone) == []
        for text in texts:
            drawn = MarkdownIt("commonmark").render(text)
            assert not re.search("<(a|img|h[1-6]|pre|code)\\b", drawn)
            assert "http://" not in text
            assert "\u202e" not in text


def test_a_notice_is_marked_as_one() -> None:
    post = notice("You are 3rd in the queue.", question_id="q1")
    assert post.props[MARK] == {"question": "q1", "kind": "notice", "part": 0, "parts": 1}


# that it fits


def long_table(rows: int) -> str:
    lines = "\n".join(f"| drug {number} | {number} mg |" for number in range(rows))
    return f"Doses:\n\n| Drug | Dose |\n|------|------|\n{lines}"


def test_a_long_reply_is_split_between_sections_in_order_and_each_part_is_marked() -> None:
    sources = tuple(source(f"S{number}", f"Section {number}. " + "word " * 300) for number in range(1, 6))
    posts = render(quoted(*sources), Limits(max_post_chars=4000), question_id="q1")
    assert [post.props[MARK]["part"] for post in posts] == list(range(len(posts)))
    assert {post.props[MARK]["parts"] for post in posts} == {len(posts)}
    assert all(len(post.message) <= 4000 for post in posts)
    text = "".join(post.message for post in posts)
    assert [text.index(f"**[S{number}]**") for number in range(1, 6)] == sorted(
        text.index(f"**[S{number}]**") for number in range(1, 6)
    )
    assert all(post.message.count("Section") == post.message.count("**[S") for post in posts[:-1])


def test_a_table_that_is_split_keeps_its_header_in_each_part() -> None:
    posts = render(quoted(source(text=long_table(300))), Limits(max_post_chars=2000))
    assert len(posts) > 3
    for post in posts:
        if "mg |" in post.message:
            assert "> | Drug | Dose |\n> |------|------|" in post.message
    assert sum(post.message.count(" mg |") for post in posts) == 300


def test_a_list_item_is_not_split_from_its_continuation() -> None:
    items = "\n".join(f"- Step {number}: give glucose\n  and wait {number} minutes" for number in range(200))
    for post in render(quoted(source(text=items)), Limits(max_post_chars=1500)):
        assert post.message.count("Step") == post.message.count("and wait")


words = st.sampled_from(["ab ", "\\", "*", "⟨U+", "\u202e", "@b", " | ", "\n", "\n\n", "- ", "1. ", "  ", "x" * 90])


@settings(max_examples=80, deadline=None)
@given(st.lists(words, min_size=60, max_size=120).map("".join))
def test_every_part_of_any_text_fits_and_no_escape_is_cut(text: str) -> None:
    posts = render(quoted(source(text=text, title="T", path=())), Limits(max_post_chars=240))
    assert all(len(post.message) <= 240 for post in posts)
    assert "\u202e" not in "".join(post.message for post in posts)
    shown = "".join(undo_display(post.message) for post in posts)
    for char in "ab@\u202e⟨*":
        assert shown.count(char) >= text.count(char)
    assert "202E" not in shown


def test_attachments_fit_the_server_as_it_counts_them() -> None:
    for size in range(3000, 9000, 250):
        (post, *_) = render(written("Yes [S1].", source(text="<" * 10 + "a & b " * (size // 6))))
        if "attachments" in post.props:
            stored = json.dumps(post.props).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
            assert len(stored) + 300 <= 8000
