"""One reply for each question, in its own thread, and none for anything else; whatever breaks.

Each run is a sandbox server and one or two bots on one ledger. Every REST call and every call of the ledger is
a step, before and after; at a step a bot can be killed or frozen, and in between the server and the network
misbehave by a seeded plan. `GUIDELINE_BOT_FAULTS=long` (make faults) runs some hundred of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web

from bot.ledger import Ledger, LedgerError
from bot.presence import Presence
from bot.sandbox.hub import Connection
from bot.sandbox.server import SandboxServer
from bot.sandbox.state import Event
from tests.doubles_mattermost import (
    FakeAnswerer,
    FastTime,
    bot_posts,
    kill,
    make_presence,
    mark,
    replies_to,
    settings_for,
    until,
)

LONG = os.environ.get("GUIDELINE_BOT_FAULTS") == "long"
LEASE_S = 20.0
SPEED = 50.0


class Stopped(BaseException):
    """Raised in a thread of a bot that is dead: what it was about to do is not done."""


class Steps:
    """Counts what one bot does, and stops or holds it at a chosen step.

    Args:
        at: name and number of the step ("before post posts", 2): the second time that it comes; None for never.
    """

    def __init__(self, at: tuple[str, int] | None = None) -> None:
        self.passed: list[tuple[str, int]] = []
        self.reached = threading.Event()
        self._at = at
        self._counts: Counter[str] = Counter()
        self._dead = False
        self._thaw = threading.Event()
        self._lock = threading.Lock()

    def step(self, name: str) -> None:
        with self._lock:
            if self._dead:
                raise Stopped
            self._counts[name] += 1
            self.passed.append((name, self._counts[name]))
            if self.passed[-1] == self._at:
                self.reached.set()
        if self.reached.is_set() and not self._thaw.is_set():
            # Frozen: every call of this bot stands still; killed: it stands still until it is dead.
            self._thaw.wait(20)
            if self._dead:
                raise Stopped

    def die(self) -> None:
        self._dead = True
        self._thaw.set()

    def thaw(self) -> None:
        self._thaw.set()

    def watch(self, presence: Presence) -> None:
        """Make every REST call and every ledger call of a bot a step, before and after."""
        session = presence.client._driver.client
        presence.desk.ledger.ledger = Watched(presence.desk.ledger.ledger, self)  # type: ignore[assignment]
        request = session.make_request

        def watched(method: str, endpoint: str, *more: Any) -> Any:
            self.step(f"before {method} {endpoint.split('/')[1]}")
            answer = request(method, endpoint, *more)
            self.step(f"after {method} {endpoint.split('/')[1]}")
            return answer

        session.make_request = watched


class Watched:
    """A ledger whose calls are steps."""

    def __init__(self, ledger: Ledger, steps: Steps) -> None:
        self._ledger = ledger
        self._steps = steps

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._ledger, name)

        def watched(*args: Any, **kwargs: Any) -> Any:
            self._steps.step(f"before {name}")
            value = method(*args, **kwargs)
            self._steps.step(f"after {name}")
            return value

        return watched


class Weather:
    """What the network and the server do wrong, by a seed.

    Args:
        badness: the chance of trouble for each request and each frame.
    """

    def __init__(self, seed: int, badness: float) -> None:
        self.chance = random.Random(seed)
        self.badness = badness
        self.held: dict[str, str] = {}

    @property
    def bad(self) -> bool:
        return self.chance.random() < self.badness

    @web.middleware
    async def middleware(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if not self.bad or request.path.endswith("/websocket"):
            answered: web.StreamResponse = await handler(request)
            return answered
        trouble = self.chance.choice(
            ["limit", "error", "page", "drop before", "drop after", "error after", "short", "slow"]
        )
        if trouble == "limit":
            return web.Response(status=429, text="limit exceeded\n", headers={"Retry-After": "1"})
        if trouble == "error":
            body = {"id": "app.some.error", "message": "x", "request_id": "r", "status_code": 500}
            return web.json_response(body, status=500)
        if trouble == "page":
            return web.Response(status=502, text="<html>Bad gateway</html>", content_type="text/html")
        if trouble == "slow":
            await asyncio.sleep(0.05)
            slowly: web.StreamResponse = await handler(request)
            return slowly
        if trouble != "drop before":
            answered = await handler(request)
            if trouble == "error after":
                return web.Response(status=504, text="<html>Gateway time-out</html>", content_type="text/html")
            if trouble == "short" and isinstance(answered, web.Response):
                return web.Response(status=200, text=(answered.text or "")[:20], content_type="application/json")
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    async def on_frame(self, connection: Connection, frame: str) -> tuple[str, ...]:
        held = self.held.pop(connection.id, "")
        if held:
            return (frame, held)  # in the wrong order
        if not self.bad:
            return (frame,)
        trouble = self.chance.choice(["twice", "swap", "cut", "late", "lose"])
        if trouble == "twice":
            return (frame, frame)
        if trouble == "swap":
            self.held[connection.id] = frame
            return ()
        if trouble == "late":
            await asyncio.sleep(0.03)
        if trouble == "cut" and connection.socket is not None:
            connection.socket.abort()
        return () if trouble == "lose" else (frame,)


class Run:
    """A server, a ledger, and the bots that live and die on them."""

    def __init__(self, folder: Path, weather: Weather | None = None) -> None:
        self.time = FastTime(SPEED)
        self.lease_s = LEASE_S
        self.weather = weather
        self.server = SandboxServer(
            clock=self.time.now,
            middlewares=[weather.middleware] if weather else (),
            on_frame=weather.on_frame if weather else None,
        )
        self.ledger = Ledger.open(folder / "ledger.sqlite", clock=self.time.now)
        self.answerer = FakeAnswerer(answer_text=long_answer)
        self.bots: list[tuple[Presence, Steps]] = []
        self.questions: list[dict[str, Any]] = []
        self.created: list[tuple[str, int]] = []
        self.server.world.listeners.append(self._note_created)
        self.starting: dict[Presence, asyncio.Task[None]] = {}
        self._names = itertools.count()

    async def bot(self, steps: Steps | None = None) -> Presence:
        presence = self.launch(steps)
        await self.starting[presence]
        return presence

    def launch(self, steps: Steps | None = None) -> Presence:
        """Start a bot, without waiting until it is online."""
        steps = steps or Steps()
        settings = settings_for(self.server.url, lease_s=self.lease_s, shutdown_s=20.0)
        presence = make_presence(
            self.server,
            self.ledger,
            self.answerer,
            settings=settings,
            owner=f"bot {next(self._names)}",
            sleep=self.time.sleep,
            clock=self.time.now,
            chance=random.Random(1),
        )
        presence.client._sleep = self.time.sleep
        steps.watch(presence)
        self.bots.append((presence, steps))
        self.starting[presence] = asyncio.create_task(presence.start())
        return presence

    async def kill(self, presence: Presence) -> None:
        starting = self.starting.pop(presence)
        starting.cancel()
        for bot, steps in self.bots:
            if bot is presence:
                steps.die()
        self.bots = [pair for pair in self.bots if pair[0] is not presence]
        await asyncio.gather(starting, return_exceptions=True)
        await kill(presence)

    def ask(self, person: str, channel_id: str, text: str, root_id: str = "") -> dict[str, Any]:
        question = self.server.post(person, channel_id, text, root_id=root_id)
        self.questions.append(question)
        return question

    def noise(self, chance: random.Random) -> None:
        """Post something that is no question."""
        server = self.server
        channel = server.channel("triage")["id"]
        match chance.randrange(5):
            case 0:
                server.post("ben", channel, "no mention of anybody")
            case 1:
                server.post("ben", channel, "@all please read")
            case 2:
                server.post("ben", channel, "`@guidebot` in code")
            case 3:
                server.post("admin", channel, "@guidebot from a hook", props={"from_webhook": "true"})
            case 4:
                server.post("guidebot", channel, "@guidebot to itself")

    def settled(self) -> bool:
        if not all(replies_to(self.server, question) for question in self.questions):
            return False
        if any(presence.desk.jobs or presence.desk.arriving for presence, _ in self.bots):
            return False
        return all(self.ledger.is_finished(question["id"]) for question in self.questions)

    async def end(self) -> None:
        await until(self.settled, within_s=30)
        # Long enough for a duplicate to be made, to be noticed and to be taken out.
        await self.time.sleep(LEASE_S)
        await until(self.settled, within_s=30)
        self.check()

    def check(self) -> None:
        asked = {question["id"]: question for question in self.questions}
        for question in self.questions:
            parts = replies_to(self.server, question)
            numbers = [mark(part)["part"] for part in parts]
            assert numbers == list(range(1, mark(parts[0])["parts"] + 1)), f"parts {numbers}"
            root = question["root_id"] or question["id"]
            assert all(part["root_id"] == root for part in parts), "the reply is in another thread"
            assert all(part["channel_id"] == question["channel_id"] for part in parts)
        for post in bot_posts(self.server):
            if post["message"] != "@guidebot to itself":
                assert mark(post).get("question") in asked, "something else was answered"

    def check_nothing_was_said_twice(self) -> None:
        """Not even for a moment: without a freeze there is no need for taking anything out again."""
        created = Counter(self.created)
        assert all(count == 1 for count in created.values()), f"{created}"

    def check_tidy(self) -> None:
        for question in self.questions:
            left = [one["emoji_name"] for one in self.server.world.reactions.get(question["id"], [])]
            assert left == [], "a sign of being worked on was left behind"

    def _note_created(self, event: Event) -> None:
        if event.name == "posted":
            post = json.loads(event.data["post"])
            said = mark(post)
            if said.get("kind") == "reply":
                self.created.append((said["question"], said["part"]))

    async def close(self) -> None:
        for presence, steps in list(self.bots):
            steps.thaw()
            await self.kill(presence)
        self.ledger.close()
        await self.server.stop()


def long_answer(question: str) -> str:
    """Answer in three parts where the question asks for it."""
    line = f"about {question}\n"
    return line * (40_000 // len(line)) if "long" in question else line


@contextlib.asynccontextmanager
async def a_run(folder: Path, weather: Weather | None = None) -> AsyncIterator[Run]:
    run = Run(folder, weather)
    await run.server.start()
    try:
        yield run
    finally:
        await run.close()


async def reached(steps: Steps, run: Run) -> None:
    """Wait until a bot has come to its step, or has nothing to do any more."""
    await until(lambda: steps.reached.is_set() or run.settled(), within_s=20)


async def one_question(run: Run, text: str = "@guidebot a long one") -> dict[str, Any]:
    return run.ask("ann", run.server.channel("triage")["id"], text)


async def count_steps(folder: Path) -> list[tuple[str, int]]:
    async with a_run(folder) as run:
        steps = Steps()
        await run.bot(steps)
        await one_question(run)
        await until(run.settled)
        return list(steps.passed)


async def killed_at(folder: Path, step: tuple[str, int]) -> None:
    """Kill the bot at a step of a question's life; the next one must bring it to its end."""
    async with a_run(folder) as run:
        steps = Steps(step)
        presence = run.launch(steps)
        await one_question(run)
        await reached(steps, run)
        await run.kill(presence)
        await run.bot()
        await run.end()
        run.check_nothing_was_said_twice()
        run.check_tidy()


async def frozen_at(folder: Path, step: tuple[str, int]) -> None:
    """Freeze the bot at a step for longer than its lease while another works; then let it wake."""
    async with a_run(folder) as run:
        steps = Steps(step)
        run.launch(steps)
        await one_question(run)
        await reached(steps, run)
        await run.bot()
        if run.questions:
            await until(lambda: run.ledger.is_finished(run.questions[0]["id"]), within_s=30)
        steps.thaw()
        await run.end()
        run.check_tidy()


async def stormy(folder: Path, seed: int) -> None:
    """Live through a seeded storm: bad weather, cuts, restarts, kills, freezes, two bots at times."""
    chance = random.Random(seed)
    weather = Weather(seed, badness=chance.choice([0.02, 0.05, 0.1]))
    async with a_run(folder, weather) as run:
        server = run.server
        for _ in range(chance.choice([1, 1, 2])):
            run.launch()
        places = [server.channel("triage")["id"], server.channel("ward-3")["id"]]
        people = ["ann", "ben", "zoe"]
        for number in range(chance.randrange(4, 9)):
            person = chance.choice(people)
            match chance.randrange(4):
                case 0:
                    run.ask(person, server.direct(person)["id"], f"question {number}")
                case 1 if run.questions and not run.questions[0]["root_id"]:
                    first = run.questions[0]
                    if first["channel_id"] in places:
                        run.ask(person, first["channel_id"], f"@guidebot and {number}?", root_id=first["id"])
                    else:
                        run.ask(person, places[0], f"@guidebot question {number}")
                case _:
                    length = chance.choice(["", "", " long"])
                    run.ask(person, chance.choice(places), f"@guidebot question {number}{length}")
            run.noise(chance)
            await run.time.sleep(chance.random() * 10)
            match chance.randrange(6):
                case 0:
                    for socket in list(server.hub.sockets):
                        socket.abort()
                case 1:
                    port = server.port
                    await server.stop()
                    await run.time.sleep(chance.random() * 5)
                    await server.start(port=port)
                case 2 if run.bots:
                    await run.kill(run.bots[0][0])
                    run.launch()
                case 3:
                    run.launch()
                case _:
                    pass
        weather.badness = 0.0
        await asyncio.gather(*run.starting.values())
        await run.end()
        run.check_nothing_was_said_twice()


Case = TypeVar("Case")


def run_all(deed: Callable[[Path, Case], Awaitable[None]], folder: Path, cases: Sequence[Case]) -> None:
    """Run many at once, and tell which failed."""

    async def every() -> list[str]:
        failed = []
        for start in range(0, len(cases), 6):
            batch = cases[start : start + 6]
            done = await asyncio.gather(
                *(deed(folder / f"run-{start + number}", case) for number, case in enumerate(batch)),
                return_exceptions=True,
            )
            failed += [f"{case}: {error!r}" for case, error in zip(batch, done, strict=True) if error is not None]
        return failed

    failed = asyncio.run(every())
    assert not failed, "\n".join(failed)


SHORT = [
    ("after claim", 1),
    ("before append", 1),
    ("after append", 1),
    ("before post posts", 1),
    ("after post posts", 2),
    ("after finish", 1),
]


def chosen(steps: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the steps to try: all in the long form, the ones that matter most in the short one."""
    assert set(SHORT) <= set(steps)
    return steps if LONG else SHORT


def test_a_bot_that_is_killed_at_any_step_leaves_one_reply(tmp_path: Path) -> None:
    run_all(killed_at, tmp_path, chosen(asyncio.run(count_steps(tmp_path / "count"))))


def test_a_bot_that_freezes_at_any_step_and_wakes_late_leaves_one_reply(tmp_path: Path) -> None:
    run_all(frozen_at, tmp_path, chosen(asyncio.run(count_steps(tmp_path / "count"))))


def test_a_storm_leaves_one_reply_for_each_question_and_none_for_anything_else(tmp_path: Path) -> None:
    run_all(stormy, tmp_path, list(range(200 if LONG else 6)))


def test_two_bots_on_one_ledger_share_the_questions_and_do_no_work_twice(tmp_path: Path) -> None:
    async def scene() -> None:
        async with a_run(tmp_path) as run:
            run.lease_s = 600.0  # no lease runs out here, however slow the machine is
            for presence in (await run.bot(), await run.bot()):
                await until(lambda it=presence: it.connection.connected)
            for number in range(20):
                person = ("ann", "ben", "zoe")[number % 3]
                run.ask(person, run.server.channel("triage")["id"], f"@guidebot question {number}")
            await run.end()
            run.check_nothing_was_said_twice()
            assert len(run.answerer.asked) == 20

    asyncio.run(scene())


def test_a_ledger_that_cannot_be_written_holds_every_answer_back_until_it_can(tmp_path: Path) -> None:
    async def scene() -> None:
        async with a_run(tmp_path) as run:
            presence = await run.bot()
            await until(lambda: presence.connection.connected)
            broken = True

            class Failing:
                def __getattr__(self, name: str) -> Callable[..., Any]:
                    def call(*args: Any, **kwargs: Any) -> Any:
                        if broken:
                            raise LedgerError("The ledger cannot be used (database or disk is full).")
                        return getattr(run.ledger, name)(*args, **kwargs)

                    return call

            presence.desk.ledger.ledger = Failing()  # type: ignore[assignment]
            question = await one_question(run, "@guidebot what is a hypo?")
            await until(lambda: [p for p in bot_posts(run.server) if mark(p).get("notice") == "unwell"])
            await run.time.sleep(10)
            assert not replies_to(run.server, question), "answered without a record"
            assert not run.answerer.asked
            assert "full" in presence.desk.ledger.problem
            broken = False
            await run.end()
            assert not presence.desk.ledger.problem

    asyncio.run(scene())
