"""The bot's presence on a server: connection, desk and intake, and in which order they start and stop."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from bot.desk import Answers, Desk, Screened
from bot.feedback import Feedback
from bot.intake import Intake
from bot.ledger import Ledger
from bot.mattermost.client import MattermostClient
from bot.mattermost.connection import ConnectionState
from bot.mattermost.errors import MattermostAway
from bot.mattermost.websocket import EventStream
from bot.orders import Operations, OrdersLibrary
from bot.settings import Settings
from bot.threads import Mark

log = logging.getLogger(__name__)

BEGIN_AGAIN_AFTER_S = 5.0


class Presence:
    """One bot on one server.

    Args:
        screen: looks for patient details in what people say about replies.
        clock: seconds since 1970.
        sleep: waits; everything but the sockets' own time-outs goes by it.
        chance: for the jitter between tries.
    """

    def __init__(
        self,
        client: MattermostClient,
        answerer: Answers,
        ledger: Ledger,
        settings: Settings,
        *,
        screen: Callable[[str], Screened],
        library: OrdersLibrary | None = None,
        operations: Operations | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: random.Random | None = None,
        owner: str = "",
    ) -> None:
        self.client = client
        self.desk = Desk(
            client,
            answerer,
            ledger,
            settings,
            screen=screen,
            library=library,
            operations=operations,
            clock=clock,
            sleep=sleep,
            owner=owner,
        )
        self.intake = Intake(self.desk, Feedback(self.desk, screen))
        self.stream = EventStream(
            client, on_event=self.intake.on_event, on_gap=self.intake.catch_up, sleep=sleep, chance=chance
        )
        self.desk.signs.typing = self.stream
        self.desk.connection = self.stream.state
        self._sleep = sleep
        self._start_within_s = settings.mattermost.start_within_s
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def connection(self) -> ConnectionState:
        """How the connection is now."""
        return self.stream.state

    async def start(self) -> None:
        """Come online, and return once the account is known; the rest goes on by itself.

        Raises:
            MattermostRefused: the server does not take the token.
            MattermostAway: the server did not answer within `mattermost.start_within_s`: a wrong address must show,
                and a service manager starts the bot again.
        """
        await self._connect()
        for work in (
            self.stream.run,
            self.desk.signs.keep_typing,
            self.desk.keep_claims,
            self.intake.keep_marks,
            self.intake.keep_taking_over,
        ):
            self._tasks.append(asyncio.create_task(self._for_ever(work)))

    async def stop(self) -> None:
        """Finish or hand back what is in hand, and go offline."""
        await self._cancel(self._tasks[:1] + self._tasks[3:])
        await self.desk.close(self.intake.write_marks)
        await self._cancel(self._tasks)
        self.client.close()

    async def _connect(self) -> None:
        wait_s, left_s = 1.0, self._start_within_s
        while True:
            try:
                me = await self.client.connect()
            except MattermostAway as error:
                if left_s <= 0:
                    raise
                log.warning("waiting for Mattermost: %s", error)
                self.connection.problem = str(error)
                await self._sleep(wait_s)
                left_s -= wait_s
                wait_s = min(2 * wait_s, 60.0)
            else:
                log.info("I am @%s; a post may have %d characters", me.username, me.max_post_chars)
                return

    async def _cancel(self, tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def post(self, channel: str, message: str) -> None:
        """Post a message of the bot's own.

        Args:
            channel: "team-name/channel-name".

        Raises:
            MattermostError: it could not be posted.
        """
        team, _, name = channel.partition("/")
        place = await self.client.channel_named(team, name)
        await self.client.create_post(
            place.id, message, root_id="", props=Mark("", "notice", notice="report").props(), pending_post_id=""
        )

    async def _for_ever(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Keep a part of the bot running: whatever ends it, it is begun again."""
        while True:
            try:
                await work()
            except Exception as error:
                # Not its text: it may hold what somebody wrote.
                log.critical("%s has stopped (%s) and is begun again", work.__qualname__, type(error).__name__)
            await self._sleep(BEGIN_AGAIN_AFTER_S)
