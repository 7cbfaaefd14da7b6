"""What a frame of the websocket means, and which posts are questions (pure)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.mattermost.mentions import names, without_name

ChannelType = Literal["O", "P", "D", "G"]

# Everything else that has a type is written by the server or by a plugin.
_PEOPLES_TYPES = ("", "me")


@dataclass(frozen=True, slots=True)
class Post:
    """A post, as much of it as matters here.

    Attributes:
        root_id: of the thread; "" for a post that begins one.
        create_at, edit_at, delete_at: the server's milliseconds; 0 for never.
        type: "" for what people write, "me" for /me, "system_…" for what the server writes.
    """

    id: str
    channel_id: str
    user_id: str
    message: str
    root_id: str = ""
    create_at: int = 0
    edit_at: int = 0
    delete_at: int = 0
    update_at: int = 0
    type: str = ""
    props: Mapping[str, Any] = field(default_factory=dict)

    @property
    def thread_id(self) -> str:
        return self.root_id or self.id

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Post:
        """Read a post as the server sends it; what is missing or of the wrong kind counts as empty."""
        props = raw.get("props")
        return cls(
            id=_text(raw, "id"),
            channel_id=_text(raw, "channel_id"),
            user_id=_text(raw, "user_id"),
            message=_text(raw, "message"),
            root_id=_text(raw, "root_id"),
            create_at=_number(raw, "create_at"),
            edit_at=_number(raw, "edit_at"),
            delete_at=_number(raw, "delete_at"),
            update_at=_number(raw, "update_at"),
            type=_text(raw, "type"),
            props=props if isinstance(props, Mapping) else {},
        )


@dataclass(frozen=True, slots=True)
class Posted:
    """Somebody has posted."""

    post: Post
    channel_type: str
    team_id: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """A post has changed: its text, or only that it was pinned."""

    post: Post


@dataclass(frozen=True, slots=True)
class Deleted:
    """A post is gone; of a thread only its root is told."""

    post: Post


@dataclass(frozen=True, slots=True)
class Reacted:
    """Somebody has put a reaction on a post, or taken one off."""

    post_id: str
    user_id: str
    emoji: str
    added: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """Membership or a channel has changed: what is known of it is out of date.

    Attributes:
        joined: the bot itself has come in; it may have been asked before that was heard.
    """

    channel_id: str
    joined: bool = False


Happening = Posted | Edited | Deleted | Reacted | Moved


@dataclass(frozen=True, slots=True)
class Question:
    """A post that wants an answer.

    Attributes:
        text: without the bot's name.
        person: the id of who asked.
    """

    post: Post
    text: str
    channel_type: str

    @property
    def id(self) -> str:
        return self.post.id

    @property
    def person(self) -> str:
        return self.post.user_id

    @property
    def thread_id(self) -> str:
        return self.post.thread_id


def happening(frame: Mapping[str, Any], me: str) -> Happening | None:
    """Read an event's frame; None for what does not concern the bot or cannot be read.

    Args:
        me: the bot's own user id.
    """
    data = frame.get("data")
    if not isinstance(data, Mapping):
        return None
    broadcast = frame.get("broadcast")
    place = broadcast.get("channel_id", "") if isinstance(broadcast, Mapping) else ""
    match frame.get("event"):
        case "posted":
            post = _post(data)
            return Posted(post, _text(data, "channel_type"), _text(data, "team_id")) if post else None
        case "post_edited":
            post = _post(data)
            return Edited(post) if post else None
        case "post_deleted":
            post = _post(data)
            return Deleted(post) if post else None
        case "reaction_added" | "reaction_removed" as kind:
            raw = _inner(data, "reaction")
            if raw is None:
                return None
            added = kind == "reaction_added"
            return Reacted(_text(raw, "post_id"), _text(raw, "user_id"), _text(raw, "emoji_name"), added)
        case "user_added" | "direct_added" | "group_added":
            return Moved(str(place), joined=data.get("user_id", me) == me)
        case "user_removed" | "channel_deleted" | "channel_updated" | "channel_converted" | "channel_restored":
            return Moved(_text(data, "channel_id") or str(place))
        case _:
            return None


def question_in(post: Post, channel_type: str, *, me: str, username: str) -> Question | None:
    """Return the question that a post asks the bot, or None.

    Nothing is a question that the bot, the server, a webhook or another bot (as far as the post tells) wrote,
    and outside direct messages nothing that does not name the bot itself.
    """
    if post.user_id == me or not post.id or post.delete_at or post.type not in _PEOPLES_TYPES:
        return None
    if any(_is_true(post.props.get(mark)) for mark in ("from_bot", "from_webhook", "from_plugin")):
        return None
    message = post.message
    if post.type == "me":
        # The server stores '/me asks @bot …' between asterisks.
        message = message.removeprefix("*").removesuffix("*")
    if channel_type == "D" or names(message, username):
        return Question(post, without_name(message, username), channel_type)
    return None


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.casefold() == "true")


def _post(data: Mapping[str, Any]) -> Post | None:
    raw = _inner(data, "post")
    return None if raw is None else Post.of(raw)


def _inner(data: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Return the JSON object that `data` holds as a string."""
    try:
        raw = json.loads(data.get(name, ""))
    except (TypeError, ValueError):
        return None
    return raw if isinstance(raw, Mapping) else None


def _text(raw: Mapping[str, Any], name: str) -> str:
    value = raw.get(name, "")
    return value if isinstance(value, str) else ""


def _number(raw: Mapping[str, Any], name: str) -> int:
    value = raw.get(name, 0)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
