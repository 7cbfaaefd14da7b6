"""A bot on the sandbox server: what the tests of its life share."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.exchange import Mode, Quote, Result
from bot.ledger import Ledger
from bot.mattermost.client import MattermostClient
from bot.presence import Presence
from bot.sandbox.server import SandboxServer
from bot.settings import Settings
from retrieval.access import OPERATOR, Viewer
from retrieval.found import Filters, Reading

EVERYWHERE = Filters()
PATIENT = "Jane Roe"


@dataclass(frozen=True)
class NothingSeen:
    """A screen's report without findings, or with the one name that the tests know."""

    text: str
    details: tuple[object, ...] = ()
    blocked: bool = False


def screen(text: str) -> NothingSeen:
    return NothingSeen(text, blocked=PATIENT in text)


@dataclass
class Asked:
    """What the answerer was asked."""

    question: str
    viewer: Viewer
    mode: Mode | None
    filters: Filters
    earlier: tuple[str, ...]


@dataclass
class FakeAnswerer:
    """Answers at once with the question itself, or when `gate` is opened.

    Attributes:
        asked: what came, in order.
        before: awaited before each answer.
        most_at_once: how many answers were under way together at most.
    """

    asked: list[Asked] = field(default_factory=list)
    before: Callable[[str], Awaitable[None]] | None = None
    answer_text: Callable[[str], str] = lambda question: f"Answer to: {question}"
    at_once: int = 0
    most_at_once: int = 0

    async def answer(
        self,
        question: str,
        *,
        viewer: Viewer = OPERATOR,
        mode: Mode | None = None,
        filters: Filters = EVERYWHERE,
        earlier: Sequence[str] = (),
    ) -> Result:
        self.asked.append(Asked(question, viewer, mode, filters, tuple(earlier)))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.before is not None:
                await self.before(question)
        finally:
            self.at_once -= 1
        if PATIENT in question:
            return Result("", Reading("", ""), "blocked", details=("name",), reason="It names a patient.")
        text = self.answer_text(question)
        return Result(question, Reading(question, question), "answered", quotes=(Quote("S1", text, True),))


class Timing:
    """Settings for tests: short leases and intervals, so that nothing is waited for long."""

    LEASE_S = 0.6


def settings_for(url: str, **desk: Any) -> Settings:
    given = {"lease_s": Timing.LEASE_S, "shutdown_s": 2.0, **desk}
    mattermost = {
        "url": url,
        "connect_timeout_s": 2.0,
        "request_timeout_s": 5.0,
        "ping_interval_s": 5.0,
        "probe_interval_s": 30.0,
    }
    return Settings.model_validate({"mattermost": mattermost, "desk": given})


class FastTime:
    """A clock that runs fast, and sleeps that keep up with it: a lease of a minute is over in a second.

    Args:
        speed: seconds of this clock in a real one.
    """

    def __init__(self, speed: float = 50.0) -> None:
        self._speed = speed
        self._began = time.time()

    def now(self) -> float:
        return self._began + (time.time() - self._began) * self._speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._speed)


async def quick_sleep(seconds: float) -> None:
    """Sleep a hundredth of what is asked: waits keep their order and cost nothing."""
    await asyncio.sleep(seconds / 100)


def make_presence(
    server: SandboxServer,
    ledger: Ledger,
    answerer: Any,
    *,
    settings: Settings | None = None,
    owner: str = "",
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    **more: Any,
) -> Presence:
    settings = settings or settings_for(server.url)
    client = MattermostClient(settings.mattermost, SecretStr(server.token_of("guidebot")), sleep=quick_sleep)
    return Presence(client, answerer, ledger, settings, screen=screen, owner=owner, sleep=sleep, **more)


async def kill(presence: Presence) -> None:
    """End a bot as kill -9 does: nothing is finished, handed back or said."""
    tasks = [*presence._tasks, *presence.desk.tasks]
    tasks += [job.task for job in presence.desk.jobs.values() if job.task is not None]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    presence.desk.ledger.close()
    presence.client.close()


@contextlib.asynccontextmanager
async def a_bot(
    tmp_path: Path, answerer: Any = None, *, server: SandboxServer | None = None, **more: Any
) -> AsyncIterator[tuple[SandboxServer, Presence, Any]]:
    """Run a sandbox with a bot on it."""
    desk = more.pop("desk", {})
    mine = server is None
    server = server or SandboxServer()
    if mine:
        await server.start()
    answerer = answerer or FakeAnswerer()
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    presence = make_presence(server, ledger, answerer, settings=settings_for(server.url, **desk), **more)
    try:
        await presence.start()
        await until(lambda: presence.connection.connected)
        yield server, presence, answerer
    finally:
        await presence.stop()
        ledger.close()
        if mine:
            await server.stop()


async def until(holds: Callable[[], Any], within_s: float = 10.0) -> Any:
    """Wait until something holds; fails the test when it does not come to."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within_s
    while not (value := holds()):
        if loop.time() > deadline:
            raise AssertionError("what was waited for did not happen")
        await asyncio.sleep(0.005)
    return value


def replies_to(server: SandboxServer, question: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the bot's posts that reply to a question, first part first."""
    mine = [post for post in bot_posts(server) if mark(post).get("question") == question["id"]]
    return sorted((post for post in mine if mark(post)["kind"] == "reply"), key=lambda post: mark(post)["part"])


def notices_for(server: SandboxServer, question: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        post
        for post in bot_posts(server)
        if mark(post).get("question") == question["id"] and mark(post)["kind"] == "notice"
    ]


def bot_posts(server: SandboxServer) -> list[dict[str, Any]]:
    bot = server.user("guidebot").id
    return [post for post in server.world.posts.values() if post["user_id"] == bot and not post["delete_at"]]


def mark(post: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = post["props"].get("guideline_bot", {})
    return found
