"""What the sandbox server knows: people, tokens, teams, channels, posts; in memory, in Mattermost's shapes.

A post, a channel and a membership are kept as the dictionaries that go over the wire, keys in the order that
a server sends them. Everything that happens is told as an `Event` to the listeners (the websocket hub).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

_ALPHABET = "ybndrfg8ejkmcpqxot1uwisza345h769"


def new_id() -> str:
    """Return a fresh identifier as Mattermost makes them: 26 characters of its own base32."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(26))


def is_id(text: object) -> bool:
    return isinstance(text, str) and len(text) == 26 and text.isalnum() and text.isascii()


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, and who is told.

    Attributes:
        data: without what differs from reader to reader.
        channel_id, team_id, user_id: the readers: members of the channel, of the team, or one person.
        omit: people who are left out.
    """

    name: str
    data: Json
    channel_id: str = ""
    team_id: str = ""
    user_id: str = ""
    omit: tuple[str, ...] = ()


@dataclass(slots=True)
class User:
    """A person or a bot account."""

    id: str
    username: str
    create_at: int
    is_bot: bool = False
    is_admin: bool = False
    display_name: str = ""
    description: str = ""
    owner_id: str = ""
    update_at: int = 0
    delete_at: int = 0
    status: str = "offline"
    notify_props: Json = field(
        default_factory=lambda: {
            "channel": "true",
            "comments": "never",
            "desktop": "mention",
            "desktop_sound": "true",
            "email": "true",
            "first_name": "false",
            "mention_keys": "",
            "push": "mention",
            "push_status": "away",
        }
    )

    def wire(self, *, private: bool) -> Json:
        """Return the user as JSON; `private` for the user's own eyes and the administrator's."""
        shown: Json = {
            "id": self.id,
            "create_at": self.create_at,
            "update_at": self.update_at or self.create_at,
            "delete_at": self.delete_at,
            "username": self.username,
            "auth_data": "",
            "auth_service": "",
            "email": f"{self.username}@localhost" if self.is_bot else f"{self.username}@example.test",
            "nickname": "",
            "first_name": self.display_name,
            "last_name": "",
            "position": "",
            "roles": "system_user system_admin" if self.is_admin else "system_user",
        }
        if private:
            shown |= {"notify_props": dict(self.notify_props), "last_password_update": self.create_at}
        shown |= {
            "locale": "en",
            "timezone": {"automaticTimezone": "", "manualTimezone": "", "useAutomaticTimezone": "true"},
        }
        if self.is_bot:
            shown |= {"is_bot": True, "bot_description": self.description}
        return shown | {"disable_welcome_email": False}

    def bot_wire(self) -> Json:
        return {
            "user_id": self.id,
            "username": self.username,
            "display_name": self.display_name,
            "description": self.description,
            "owner_id": self.owner_id,
            "create_at": self.create_at,
            "update_at": self.update_at or self.create_at,
            "delete_at": self.delete_at,
        }


@dataclass(slots=True)
class Token:
    """A personal access token."""

    id: str
    secret: str
    user_id: str
    description: str = ""
    is_active: bool = True

    def wire(self) -> Json:
        return {"id": self.id, "user_id": self.user_id, "description": self.description, "is_active": self.is_active}


@dataclass(frozen=True, slots=True)
class Rules:
    """What differs between servers.

    Attributes:
        max_post_chars, max_props_chars: of a message, and of its props as JSON.
        newer: answer as current servers do where that differs from 5.37.
        distinct_times: give no two posts the same millisecond. A real server may; `?after=` then skips one.
    """

    version: str = "5.37.0"
    max_post_chars: int = 16_383
    max_props_chars: int = 8_000
    newer: bool = False
    distinct_times: bool = True

    @property
    def build(self) -> str:
        return f"{self.version}.{self.version}-dev.c9024b9dd498c3acd214ff811b0feab9.false"


NEWER = Rules(version="10.5.0", max_props_chars=800_000, newer=True)


class World:
    """Everything on the server. `clock` gives seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time, rules: Rules | None = None) -> None:
        self.clock = clock
        self.rules = rules or Rules()
        self.users: dict[str, User] = {}
        self.tokens: dict[str, Token] = {}
        self.teams: dict[str, Json] = {}
        self.team_members: dict[str, list[str]] = {}
        self.channels: dict[str, Json] = {}
        self.members: dict[str, dict[str, Json]] = {}
        self.posts: dict[str, Json] = {}
        self.reactions: dict[str, list[Json]] = {}
        self.files: dict[str, tuple[Json, bytes]] = {}
        self.listeners: list[Callable[[Event], None]] = []
        self._last_ms = 0

    def now_ms(self) -> int:
        """Return the time in ms; each call gives another where `rules.distinct_times` is set."""
        now = int(self.clock() * 1000)
        if self.rules.distinct_times:
            now = max(now, self._last_ms + 1)
            self._last_ms = now
        return now

    def publish(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)

    # people

    def add_user(self, username: str, *, bot: bool = False, admin: bool = False, display_name: str = "") -> User:
        user = User(new_id(), username, self.now_ms(), is_bot=bot, is_admin=admin, display_name=display_name)
        self.users[user.id] = user
        return user

    def user_named(self, username: str) -> User | None:
        wanted = username.casefold()
        return next((user for user in self.users.values() if user.username == wanted), None)

    def add_token(self, user: User, description: str = "") -> Token:
        token = Token(new_id(), new_id(), user.id, description)
        self.tokens[token.secret] = token
        return token

    def user_of(self, secret: str) -> User | None:
        """Return who a token speaks for; None when it is unknown or revoked, or its bot is disabled."""
        token = self.tokens.get(secret)
        user = self.users.get(token.user_id) if token is not None and token.is_active else None
        return user if user is not None and not user.delete_at else None

    def set_status(self, user: User, status: str) -> None:
        if user.status != status:
            user.status = status
            self.publish(Event("status_change", {"status": status, "user_id": user.id}, user_id=user.id))

    # places

    def add_team(self, name: str, display_name: str) -> Json:
        now = self.now_ms()
        team: Json = {
            "id": new_id(),
            "create_at": now,
            "update_at": now,
            "delete_at": 0,
            "display_name": display_name,
            "name": name,
            "description": "",
            "email": "",
            "type": "O",
            "company_name": "",
            "allowed_domains": "",
            "invite_id": new_id(),
            "allow_open_invite": False,
            "scheme_id": None,
            "group_constrained": None,
            "policy_id": None,
        }
        self.teams[team["id"]] = team
        self.team_members[team["id"]] = []
        return team

    def add_channel(
        self,
        name: str,
        display_name: str,
        *,
        team_id: str = "",
        kind: str = "O",
        creator_id: str = "",
    ) -> Json:
        now = self.now_ms()
        channel: Json = {
            "id": new_id(),
            "create_at": now,
            "update_at": now,
            "delete_at": 0,
            "team_id": team_id,
            "type": kind,
            "display_name": display_name,
            "name": name,
            "header": "",
            "purpose": "",
            "last_post_at": 0,
            "total_msg_count": 0,
            "extra_update_at": 0,
            "creator_id": creator_id,
            "scheme_id": None,
            "props": None,
            "group_constrained": None,
            "shared": False if kind == "D" else None,
            "total_msg_count_root": 0,
            "policy_id": None,
        }
        self.channels[channel["id"]] = channel
        self.members[channel["id"]] = {}
        return channel

    def add_member(self, channel_id: str, user_id: str, *, admin: bool = False) -> Json:
        member: Json = {
            "channel_id": channel_id,
            "user_id": user_id,
            "roles": "channel_user channel_admin" if admin else "channel_user",
            "last_viewed_at": 0,
            "msg_count": 0,
            "mention_count": 0,
            "mention_count_root": 0,
            "msg_count_root": 0,
            "notify_props": {
                "desktop": "default",
                "email": "default",
                "ignore_channel_mentions": "default",
                "mark_unread": "all",
                "push": "default",
            },
            "last_update_at": self.now_ms(),
            "scheme_guest": False,
            "scheme_user": True,
            "scheme_admin": admin,
            "explicit_roles": "",
        }
        self.members[channel_id][user_id] = member
        return member

    def is_member(self, channel_id: str, user_id: str) -> bool:
        return user_id in self.members.get(channel_id, {})

    def channels_of(self, user_id: str, team_id: str = "") -> list[Json]:
        """Return a person's channels by display name: those of the team, and all direct and group ones."""
        mine = [
            channel
            for channel in self.channels.values()
            if self.is_member(channel["id"], user_id)
            and not channel["delete_at"]
            and (not team_id or channel["team_id"] in ("", team_id))
        ]
        return sorted(mine, key=lambda channel: (channel["display_name"], channel["id"]))

    def channel_named(self, team_id: str, name: str) -> Json | None:
        return next((c for c in self.channels.values() if c["team_id"] == team_id and c["name"] == name), None)

    def team_named(self, name: str) -> Json | None:
        return next((team for team in self.teams.values() if team["name"] == name), None)
