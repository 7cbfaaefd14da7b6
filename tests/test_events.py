"""Which posts are questions, and what frames mean; the cases are those recorded on a real server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.mattermost.events import Deleted, Edited, Moved, Post, Posted, Reacted, happening, question_in
from bot.mattermost.mentions import names, without_name

ME = "botbotbotbotbotbotbotbotbo"

# What people wrote, and whether a real server put the bot among the mentions.
RECORDED = [
    ("hi", False),
    ("@guidebot", True),
    ("@GuideBot hi", True),
    ("@GUIDEBOT", True),
    ("@guidebot: hi", True),
    ("@guidebot, hi", True),
    ("@guidebot. hi", True),
    ("@guidebot!", True),
    ("@guidebot?", True),
    ("hi (@guidebot)", True),
    ('"@guidebot"', True),
    ("@guidebot- x", True),
    ("@guidebot_", True),
    ("@guidebot_x", False),
    ("@guidebotx", False),
    ("@guidebot.x", False),
    ("@guidebot...", True),
    ("x@guidebot", False),
    ("mail me@guidebot.org", False),
    ("@@guidebot", False),
    ("guidebot hi", False),
    ("guidebot: hi", False),
    ("`@guidebot`", False),
    ("```\n@guidebot\n```", False),
    ("    @guidebot indented code", False),
    ("> @guidebot quoted", True),
    ("> quoted @guidebot\n\nand more", True),
    ("**@guidebot** hi", True),
    ("_@guidebot_ hi", True),
    ("~~@guidebot~~", True),
    ("# @guidebot", True),
    ("* @guidebot", True),
    ("[@guidebot](http://x.test)", True),
    ("[x](http://x.test/@guidebot)", False),
    ("http://x.test/@guidebot", False),
    ("\\@guidebot", True),
    ("@guide\\_bot", False),
    ("@guidebot\nnext line", True),
    ("line\n@guidebot", True),
    ("｠@guidebot", True),
    ("@guidebot，hi", True),
    ("@guidebot’s job", True),
    ("@guidebot's job", True),
    ("@guidebot/x", True),
    ("@guidebot@ann", False),
    ("@guidebot @ann", True),
    ("@ann", False),
    ("@ann @ben @guidebot", True),
    ("<!-- @guidebot -->", True),
    ("|a|\n|-|\n|@guidebot|", True),
    ("~pub @guidebot", True),
    ("#tag @guidebot", True),
    # These reach the bot on a real server, but do not name it.
    ("@here", False),
    ("@channel", False),
    ("@all", False),
    ("@here @guidebot", True),
]


@pytest.mark.parametrize(("message", "named"), RECORDED)
def test_a_mention_is_what_a_real_server_takes_for_one(message: str, named: bool) -> None:
    assert names(message, "guidebot") is named


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("@guidebot what is a hypo?", "what is a hypo?"),
        ("@guidebot: what is a hypo?", "what is a hypo?"),
        ("@GuideBot, what is\na hypo?", "what is\na hypo?"),
        ("what is a hypo, @guidebot?", "what is a hypo, ?"),
        ("what is a hypo @guidebot", "what is a hypo"),
        ("**@guidebot** what is a hypo?", "what is a hypo?"),
        ("@guidebot", ""),
        ("@guidebot !", "!"),
        ("@guidebot -5 °C storage?", "-5 °C storage?"),
        ("@guidebot <5 mmol?", "<5 mmol?"),
        ("@guidebotx is not you", "@guidebotx is not you"),
        ("see `@guidebot` in @guidebot code", "see `@guidebot` in code"),
        ("> @guidebot quoted", "> quoted"),
    ],
)
def test_the_question_is_the_text_without_the_name(message: str, text: str) -> None:
    assert without_name(message, "guidebot") == text


@given(st.text(max_size=80))
def test_no_text_makes_the_mention_rules_fail_and_taking_the_name_out_loses_no_word(text: str) -> None:
    names(text, "guidebot")
    kept = without_name(f"@guidebot {text}", "guidebot")
    words = [word for word in text.split() if word.isalnum() and "guidebot" not in word.casefold()]
    assert all(word in kept for word in words)


def post(message: str = "@guidebot hi", **more: Any) -> Post:
    given = {"id": "post1", "channel_id": "chan1", "user_id": "ann", "message": message, **more}
    return Post.of(given)


def asks(it: Post, channel_type: str = "O") -> bool:
    return question_in(it, channel_type, me=ME, username="guidebot") is not None


def test_nobody_but_a_person_is_answered() -> None:
    assert asks(post())
    assert not asks(post(user_id=ME)), "its own posts"
    assert not asks(post(props={"from_webhook": "true"})), "a webhook"
    assert not asks(post(props={"from_bot": "true"})), "another bot"
    assert not asks(post(props={"from_bot": True}))
    assert not asks(post(type="system_header_change")), "a header that mentions it"
    assert not asks(post(type="system_add_to_channel")), "being added to a channel"
    assert not asks(post(type="custom_poll")), "a plugin's post"
    assert not asks(post(delete_at=5)), "a deleted post"


def test_what_somebody_does_with_me_is_a_question_too() -> None:
    it = question_in(post("*asks @guidebot about hypo*", type="me"), "O", me=ME, username="guidebot")
    assert it is not None
    assert it.text == "asks about hypo"


def test_everything_in_a_direct_message_is_a_question_and_in_a_group_only_what_names_the_bot() -> None:
    assert asks(post("what is a hypo?"), "D")
    assert not asks(post("what is a hypo?"), "G")
    assert not asks(post("what is a hypo?"), "P")
    assert asks(post("@guidebot what is a hypo?"), "G")


def frame(event: str, **data: Any) -> dict[str, Any]:
    return {"event": event, "data": data, "broadcast": {"channel_id": "chan1"}, "seq": 3}


def test_frames_are_read() -> None:
    raw = {"id": "post1", "channel_id": "chan1", "user_id": "ann", "message": "hi", "create_at": 7}
    text = json.dumps(raw)
    assert happening(frame("posted", post=text, channel_type="O", team_id="t"), ME) == Posted(Post.of(raw), "O", "t")
    assert happening(frame("post_edited", post=text), ME) == Edited(Post.of(raw))
    assert happening(frame("post_deleted", post=text), ME) == Deleted(Post.of(raw))
    reaction = json.dumps({"user_id": "ann", "post_id": "post1", "emoji_name": "+1"})
    assert happening(frame("reaction_removed", reaction=reaction), ME) == Reacted("post1", "ann", "+1", False)
    assert happening(frame("user_added", user_id=ME), ME) == Moved("chan1", joined=True)
    assert happening(frame("user_added", user_id="ann"), ME) == Moved("chan1", joined=False)
    assert happening(frame("user_removed", channel_id="chan2", remover_id="x"), ME) == Moved("chan2")


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"event": "posted"},
        {"event": "posted", "data": None},
        {"event": "posted", "data": {}},
        {"event": "posted", "data": {"post": "{"}},
        {"event": "posted", "data": {"post": "[]"}},
        {"event": "posted", "data": {"post": 3}},
        {"event": "reaction_added", "data": {"reaction": "null"}},
        {"event": 7, "data": {}},
        {"event": "hello", "data": {"connection_id": "x"}},
    ],
)
def test_a_broken_frame_is_nothing(broken: dict[str, Any]) -> None:
    assert happening(broken, ME) is None


def test_a_post_with_fields_of_the_wrong_kind_is_no_question_and_no_crash() -> None:
    odd = Post.of({"id": 5, "message": None, "props": "x", "create_at": "now", "user_id": ["ann"]})
    assert odd.message == ""
    assert not asks(odd)
