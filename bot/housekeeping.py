"""What a running bot does by the clock beside indexing: clear the ledger, note its head, sum up the week."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from bot.auditing.clearing import purge
from bot.auditing.exchanges import exchanges_of
from bot.desk import Screened
from bot.ledger import Claim
from bot.mattermost.errors import MattermostError
from bot.presence import Presence
from bot.settings import Settings
from bot.threads import Mark
from bot.weekly import chart_as_text, week_chart, week_of, week_text
from retrieval.access import Viewer
from retrieval.entries import GuidelineEntry
from retrieval.errors import ProductError

log = logging.getLogger(__name__)

_LEASE_S = 300.0
CHART = "questions.png"


class ListsGuidelines(Protocol):
    """What is indexed; `retrieval.library` has the real one."""

    def guidelines(self, viewer: Viewer) -> Sequence[GuidelineEntry]: ...


class Housekeeping:
    """The jobs of a running bot that are not about indexing; trouble is logged and tried again the next time.

    Args:
        screen: looks for patient details in what would be repeated.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        presence: Presence,
        library: ListsGuidelines,
        settings: Settings,
        screen: Callable[[str], Screened],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._presence = presence
        self._library = library
        self._settings = settings
        self._screen = screen
        self._clock = clock

    @property
    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), ZoneInfo(self._settings.schedule.timezone))

    async def nightly(self) -> None:
        """Take out of the ledger what is older than is set, and post the head where that is wished."""
        try:
            ledger = self._presence.desk.ledger.ledger
            cleared = await asyncio.to_thread(purge, ledger, self._settings.ledger.retention_days, self._clock())
            if cleared.said_in is not None:
                log.info("%d events are older than is kept and were purged", len(cleared.seqs))
            if self._settings.ledger.head_channel:
                await self._once("head", self._post_head)
        except ProductError as error:
            log.error("the nightly work on the ledger could not be done: %s", error)

    async def weekly(self) -> None:
        """Post what the last seven days held."""
        try:
            await self._once("weekly", self._post_week)
        except ProductError as error:
            log.error("the weekly message could not be posted: %s", error)

    async def _once(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do something once a day, whichever of several bots gets to it first."""
        ledger = self._presence.desk.ledger
        name = f"#{what}/{self._now:%Y-%m-%d}"
        claim: Claim | None = await ledger.once(ledger.ledger.claim, name, self._presence.desk.owner, _LEASE_S)
        if claim is None:
            return
        try:
            await work()
        except ProductError:
            await ledger.once(ledger.ledger.release, claim)
            raise
        await ledger.once(ledger.ledger.finish, claim, "notice", {"which": what})

    async def _post_head(self) -> None:
        seq, digest = await asyncio.to_thread(self._presence.desk.ledger.ledger.head)
        text = f"Ledger head: `{seq}:{digest}`. To verify: `guideline-bot audit verify --head {seq}:{digest}`"
        await self._presence.post(self._settings.ledger.head_channel, text)

    async def _post_week(self) -> None:
        presence = self._presence
        team, _, name = self._settings.schedule.weekly_channel.partition("/")
        channel = await presence.client.channel_named(team, name)
        viewer = await presence.desk.places.viewer(channel.id, presence.client.me.id)
        visible = await asyncio.to_thread(self._library.guidelines, viewer)
        events = await asyncio.to_thread(presence.desk.ledger.ledger.events)
        week = week_of(exchanges_of(events), visible, self._now, self._may_repeat)
        text, files = week_text(week), []
        try:
            files = [await presence.client.upload(channel.id, CHART, week_chart(week), "image/png")]
        except MattermostError as error:
            log.warning("the weekly chart could not be uploaded (%s); it goes into the text", error)
            text = f"{text}\n\n{chart_as_text(week)}"
        props = Mark("", "notice", notice="weekly").props()
        await presence.client.create_post(channel.id, text, root_id="", props=props, pending_post_id="", file_ids=files)

    def _may_repeat(self, text: str) -> bool:
        screened = self._screen(text)
        return not screened.blocked and not screened.details
