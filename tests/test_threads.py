"""What a thread holds of the bot's own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.mattermost.events import Post
from bot.threads import Mark, mark_of, said

ME = "bot"


def own(part: int, at: int, *, id: str = "", parts: int = 2, **more: Any) -> Post:
    mark = Mark("q1", "reply", part, parts)
    return Post(id or f"{part}-{at}", "c", ME, "text", create_at=at, props=mark.props(), **more)


def test_a_mark_is_read_as_it_was_written() -> None:
    for mark in (Mark("q1", "reply", 2, 3), Mark("q1", "notice", notice="place")):
        assert mark_of(Post("p", "c", ME, "", props=mark.props())) == mark


@pytest.mark.parametrize("props", [{}, {"guideline_bot": 3}, {"guideline_bot": {"question": 1, "kind": "reply"}}])
def test_other_props_are_no_mark(props: dict[str, Any]) -> None:
    assert mark_of(Post("p", "c", ME, "", props=props)) is None


def test_of_two_posts_of_one_part_the_earlier_stands_and_a_forged_one_never() -> None:
    forged = Post("x", "c", "ann", "", create_at=0, props=Mark("q1", "reply", 1, 2).props())
    found = said([own(1, 20), own(1, 10), own(2, 30), forged], "q1", ME)
    assert {part: post.create_at for part, post in found.parts.items()} == {1: 10, 2: 30}
    assert [post.create_at for post in found.surplus] == [20]
    assert found.is_complete


def test_a_notice_or_another_questions_reply_is_no_part_and_a_missing_part_is_noticed() -> None:
    notice = Post("n", "c", ME, "", props=Mark("q1", "notice", notice="place").props())
    other = Post("o", "c", ME, "", props=Mark("q2", "reply").props())
    found = said([own(1, 1), notice, other], "q1", ME)
    assert set(found.parts) == {1}
    assert not found.is_complete
    assert [which for which, _ in found.notices] == ["place"]
    assert not said([], "q1", ME).is_complete


@given(st.permutations([own(1, 5, id="a"), own(1, 5, id="b"), own(2, 7, id="c")]))
def test_every_process_that_looks_decides_alike(order: list[Post]) -> None:
    found = said(order, "q1", ME)
    assert found.parts[1].id == "a"
    assert [post.id for post in found.surplus] == ["b"]
