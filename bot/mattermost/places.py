"""Who reads a reply: channels, teams and people as audience labels.

What cannot be found out counts as not held: a label too few hides a guideline, one too many would show it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bot.mattermost.client import Channel, MattermostClient
from bot.mattermost.errors import MattermostError
from retrieval.access import Viewer

log = logging.getLogger(__name__)

NOBODY_KNOWN = Viewer.of([()])
"""One reader without any label: sees only what everyone may see."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody on the server."""

    id: str
    username: str
    is_bot: bool

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Person:
        return cls(str(raw.get("id", "")), str(raw.get("username", "")), raw.get("is_bot") is True)


class Fresh(Generic[T]):
    """Remembers what was asked for a while, at most so many answers."""

    def __init__(self, keep_s: float, clock: Callable[[], float], most: int = 2000) -> None:
        self._keep_s = keep_s
        self._clock = clock
        self._most = most
        self._known: dict[str, tuple[float, T]] = {}

    async def get(self, key: str, ask: Callable[[], Awaitable[T]]) -> T:
        known = self._known.get(key)
        if known is not None and self._clock() - known[0] < self._keep_s:
            return known[1]
        value = await ask()
        self._known.pop(key, None)
        self._known[key] = (self._clock(), value)
        while len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return value

    def forget(self, key: str) -> None:
        self._known.pop(key, None)

    def forget_all(self) -> None:
        self._known.clear()


class Places:
    """Looks up channels, their readers and people.

    Args:
        clock: seconds that only go forward.
    """

    def __init__(self, client: MattermostClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._channels: Fresh[Channel | None] = Fresh(300.0, clock)
        self._people: Fresh[Person | None] = Fresh(3600.0, clock, most=20_000)
        self._members: Fresh[list[str]] = Fresh(30.0, clock, most=200)
        self._mine: Fresh[list[Channel]] = Fresh(60.0, clock)
        self._teams: Fresh[dict[str, str]] = Fresh(300.0, clock)
        self._labels: Fresh[frozenset[str]] = Fresh(60.0, clock)

    def forget(self, channel_id: str) -> None:
        """Forget what is known of a channel: somebody has come, gone or changed it."""
        self._channels.forget(channel_id)
        self._members.forget(channel_id)
        self._mine.forget_all()
        self._teams.forget_all()
        self._labels.forget_all()

    async def channel(self, channel_id: str) -> Channel | None:
        """Return a channel; None when the bot may not see it."""
        return await self._channels.get(channel_id, lambda: self._client.channel(channel_id))

    async def person(self, user_id: str) -> Person | None:
        """Return who somebody is; None when the server does not know."""

        async def ask() -> Person | None:
            found = await self._client.users([user_id])
            return Person.of(found[0]) if found else None

        return await self._people.get(user_id, ask)

    async def viewer(self, channel_id: str, person_id: str) -> Viewer:
        """Return everyone who can read a reply in a channel.

        Args:
            person_id: who asked; in a direct message the only reader.
        """
        try:
            channel = await self.channel(channel_id)
            if channel is None:
                return NOBODY_KNOWN
            place = await self._place_labels(channel)
            if channel.type == "O":
                # Anyone in the team can open it, whoever is in it now.
                return Viewer.of([place])
            if channel.type == "D":
                return Viewer.of([await self._own_labels(person_id)])
            members = await self._members.get(channel_id, lambda: self._client.members(channel_id))
            readers = [id for id in members if id != self._client.me.id]
            people = {person.id: person for person in map(Person.of, await self._client.users(readers))}
            labels = [place | _person_labels(id, people.get(id)) for id in readers]
            return Viewer.of(labels) if labels else NOBODY_KNOWN
        except MattermostError as error:
            log.warning("who reads channel %s is not known (%s): only what everyone may see is used", channel_id, error)
            return NOBODY_KNOWN

    async def _place_labels(self, channel: Channel) -> frozenset[str]:
        labels = {f"channel:{channel.id}", f"channel:{channel.name}"}
        if channel.team_id:
            names = await self._team_names()
            labels |= _team_labels(channel.team_id, names.get(channel.team_id))
        return frozenset(labels)

    async def _own_labels(self, person_id: str) -> frozenset[str]:
        """Return what a person holds, as far as the bot can see: the teams and channels that both are in."""

        async def ask() -> frozenset[str]:
            labels = set(_person_labels(person_id, await self.person(person_id)))
            try:
                for team_id, name in (await self._team_names()).items():
                    if await self._client.is_in_team(team_id, person_id):
                        labels |= _team_labels(team_id, name)
                mine = await self._mine.get("", self._client.channels)
                shared = [channel for channel in mine if channel.type in "OP" and not channel.archived]
                seen = await asyncio.gather(*(self._client.is_in_channel(one.id, person_id) for one in shared))
                for channel, is_in in zip(shared, seen, strict=True):
                    if is_in:
                        labels |= {f"channel:{channel.id}", f"channel:{channel.name}"}
            except MattermostError as error:
                log.warning("what somebody is a member of is not known in full (%s)", error)
            return frozenset(labels)

        return await self._labels.get(person_id, ask)

    async def _team_names(self) -> dict[str, str]:
        async def ask() -> dict[str, str]:
            return {str(team.get("id", "")): str(team.get("name", "")) for team in await self._client.teams()}

        return await self._teams.get("", ask)


def _person_labels(id: str, person: Person | None) -> set[str]:
    return {f"person:{id}"} | ({f"person:{person.username}"} if person is not None else set())


def _team_labels(id: str, name: str | None) -> set[str]:
    return {f"team:{id}"} | ({f"team:{name}"} if name else set())
