"""Whom a post notifies: the matrix recorded from a real server."""

from __future__ import annotations

import json

import pytest

from bot.sandbox.mentions import Reader, mentioned
from bot.sandbox.server import SandboxServer
from bot.sandbox.state import Event

DEFAULTS = {"channel": "true", "comments": "never", "first_name": "false", "mention_keys": ""}
BOT = Reader("bot", "guidebot", DEFAULTS, "Guide Bot", online=True)


def names(text: str, *readers: Reader) -> list[str]:
    return mentioned([text], readers or (BOT,))


@pytest.mark.parametrize(
    "text",
    [
        "@guidebot",
        "@GuideBot hi",
        "@GUIDEBOT",
        "@guidebot: hi",
        "@guidebot, hi",
        "@guidebot. hi",
        "@guidebot!",
        "@guidebot?",
        "hi (@guidebot)",
        '"@guidebot"',
        "@guidebot- x",
        "@guidebot_",
        "@guidebot...",
        "> @guidebot quoted",
        "> quoted @guidebot\n\nand more",
        "**@guidebot** hi",
        "_@guidebot_ hi",
        "~~@guidebot~~",
        "# @guidebot",
        "* @guidebot",
        "[@guidebot](http://x.test)",
        "\\@guidebot",
        "@guidebot\nnext line",
        "line\n@guidebot",
        "｠@guidebot",
        "@guidebot，hi",
        "@guidebot’s job",
        "@guidebot's job",
        "@guidebot/x",
        "@guidebot @ann",
        "@here",
        "@channel",
        "@all",
        "@HERE",
        "<!-- @guidebot -->",
        "|a|\n|-|\n|@guidebot|",
        "~pub @guidebot",
        "#tag @guidebot",
    ],
)
def test_these_mention_the_bot(text: str) -> None:
    assert names(text) == ["bot"]


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "@guidebot_x",
        "@guidebotx",
        "@guidebot.x",
        "x@guidebot",
        "mail me@guidebot.org",
        "@@guidebot",
        "guidebot hi",
        "guidebot: hi",
        "Guide Bot hi",
        "`@guidebot`",
        "```\n@guidebot\n```",
        "    @guidebot indented code",
        "[x](http://x.test/@guidebot)",
        "http://x.test/@guidebot",
        "@guide\\_bot",
        "@guidebot@ann",
        "@nosuch",
        "`@here`",
        "@\u200ball zero-width",
    ],
)
def test_these_do_not(text: str) -> None:
    assert names(text) == []


def test_everyone_is_named_unless_they_opted_out() -> None:
    silent = Reader("bot", "guidebot", {**DEFAULTS, "channel": "false"}, online=True)
    assert names("@all", silent) == []
    assert names("@guidebot", silent) == ["bot"]


def test_here_names_only_who_is_online() -> None:
    assert names("@here", Reader("bot", "guidebot", DEFAULTS)) == []


def test_further_keywords_and_the_first_name_count_where_they_are_set() -> None:
    keys = Reader("bot", "guidebot", {**DEFAULTS, "mention_keys": "guide,helpbot", "first_name": "true"}, "Guido")
    assert names("guide me", keys) == ["bot"]
    assert names("helpbot: x", keys) == ["bot"]
    assert names("Guido, help", keys) == ["bot"]
    assert names("guido, help", keys) == []


class Told:
    """Posts in a world and returns the mentions of the event."""

    def __init__(self) -> None:
        self.server = SandboxServer()
        self.events: list[Event] = []
        self.server.world.listeners.append(self.events.append)

    def post(self, name: str, message: str, channel_id: str = "", **more: object) -> list[str]:
        channel_id = channel_id or self.server.channel("triage")["id"]
        self.last = self.server.post(name, channel_id, message, **more)  # type: ignore[arg-type]
        posted = next(event for event in reversed(self.events) if event.name == "posted")
        ids = json.loads(posted.data.get("mentions", "[]"))
        return sorted(self.server.world.users[user_id].username for user_id in ids)


def test_nobody_is_mentioned_by_their_own_post() -> None:
    assert Told().post("guidebot", "@guidebot from bot itself") == []


def test_what_the_bot_writes_notifies_people_too() -> None:
    told = Told()
    assert told.post("guidebot", "@all from bot") == ["admin", "ann", "ben", "zoe"]
    assert told.post("guidebot", "\\@all backslash") == ["admin", "ann", "ben", "zoe"]
    assert told.post("guidebot", "> @ann") == ["ann"]
    assert told.post("guidebot", "`@all` quoted in code") == []
    assert told.post("guidebot", "@\u200ball") == []


def test_attachment_text_and_pretext_notify_and_other_fields_do_not() -> None:
    told = Told()
    assert told.post("guidebot", "x", props={"attachments": [{"text": "@ann"}]}) == ["ann"]
    assert told.post("guidebot", "x", props={"attachments": [{"pretext": "@ann"}]}) == ["ann"]
    assert told.post("guidebot", "x", props={"attachments": [{"title": "@ann", "fallback": "@ann"}]}) == []


def test_a_direct_message_mentions_the_other_and_a_group_message_nobody() -> None:
    told = Told()
    assert told.post("ann", "dm", told.server.direct("ann")["id"]) == ["guidebot"]
    assert told.post("guidebot", "dm", told.server.direct("ann")["id"]) == ["ann"]


def test_a_reply_mentions_earlier_writers_only_where_they_asked_for_it() -> None:
    told = Told()
    told.post("ann", "root")
    root = told.last["id"]
    told.post("guidebot", "answer", root_id=root)
    assert told.post("ben", "and children?", root_id=root) == []
    told.server.bot.notify_props["comments"] = "any"
    assert told.post("ben", "and children?", root_id=root) == ["guidebot"]


def test_a_webhook_posts_as_its_creator_who_may_be_mentioned_by_it() -> None:
    told = Told()
    props = {"from_webhook": "true", "webhook_display_name": "hk"}
    assert told.post("admin", "@guidebot from a webhook", props=props) == ["guidebot"]
