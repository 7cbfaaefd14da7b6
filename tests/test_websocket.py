"""The stream of events: nothing is lost, nothing comes twice, and a socket that has gone deaf is noticed."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.mattermost.client import MattermostClient
from bot.mattermost.connection import Backoff
from bot.mattermost.websocket import EventStream
from bot.sandbox.hub import Connection
from bot.sandbox.server import SandboxServer
from bot.settings import MattermostSettings
from tests.doubles_mattermost import until
from tests.test_mattermost_client import make_ca, make_server_context


class Listener:
    """A stream on a sandbox, and what came through it."""

    def __init__(self, server: SandboxServer, **more: Any) -> None:
        self.events: list[Mapping[str, Any]] = []
        self.gaps = 0
        self.waits: list[float] = []
        self.fail = False
        settings = MattermostSettings.model_validate(
            {"url": server.url, "connect_timeout_s": 2, "request_timeout_s": 2, "probe_interval_s": 60, **more}
        )
        self.probe_s = settings.probe_interval_s
        self.probe_now = asyncio.Event()
        self.client = MattermostClient(settings, SecretStr(server.token_of("guidebot")), sleep=self._no_wait)
        self.stream = EventStream(
            self.client,
            on_event=self._on_event,
            on_gap=self._on_gap,
            sleep=self._sleep,
            chance=random.Random(1),
            hello_within_s=0.5,
            probe_within_s=0.3,
        )

    async def _no_wait(self, seconds: float) -> None:
        await asyncio.sleep(0)

    async def _sleep(self, seconds: float) -> None:
        """Wait for the next probe until a test asks for it; waits before another try are only noted."""
        if seconds == self.probe_s:
            await self.probe_now.wait()
            self.probe_now.clear()
            return
        self.waits.append(seconds)
        await asyncio.sleep(0.005)

    def _on_event(self, frame: Mapping[str, Any]) -> None:
        self.events.append(frame)
        if self.fail:
            raise RuntimeError("a handler's own fault")

    def _on_gap(self) -> None:
        self.gaps += 1

    @property
    def posted(self) -> list[str]:
        """The messages that came, in order."""
        return [json.loads(frame["data"]["post"])["message"] for frame in self.events if frame["event"] == "posted"]


@asynccontextmanager
async def listening(server: SandboxServer, tls: ssl.SSLContext | None = None, **more: Any) -> AsyncIterator[Listener]:
    await server.start(tls=tls)
    listener = Listener(server, **more)
    await listener.client.connect()
    running = asyncio.create_task(listener.stream.run())
    try:
        await until(lambda: listener.stream.state.connected)
        yield listener
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        listener.client.close()
        await server.stop()


def listen(scene: Callable[[SandboxServer, Listener], Awaitable[None]], **more: Any) -> None:
    async def run() -> None:
        server = SandboxServer(**more)
        async with listening(server) as listener:
            await scene(server, listener)

    asyncio.run(run())


def say(server: SandboxServer, text: str) -> None:
    server.post("ann", server.channel("triage")["id"], text)


def cut(server: SandboxServer) -> None:
    for socket in server.sockets_of("guidebot"):
        socket.abort()


def test_events_come_in_order_and_the_first_connection_asks_for_what_was_missed() -> None:
    async def scene(server: SandboxServer, listener: Listener) -> None:
        for number in range(5):
            say(server, str(number))
        await until(lambda: len(listener.posted) == 5)
        assert listener.posted == ["0", "1", "2", "3", "4"]
        assert listener.gaps == 1
        assert listener.stream.state.well

    listen(scene)


def test_a_cut_connection_is_resumed_and_what_was_said_meanwhile_comes_once() -> None:
    async def scene(server: SandboxServer, listener: Listener) -> None:
        say(server, "before")
        await until(lambda: listener.posted == ["before"])
        for round in range(3):
            cut(server)
            await until(lambda: not server.sockets_of("guidebot"))
            say(server, f"meanwhile {round}")
            await until(lambda want=2 + 2 * round: len(listener.posted) == want)
            say(server, f"after {round}")
            await until(lambda want=3 + 2 * round: len(listener.posted) == want)
        assert listener.posted == [
            "before",
            "meanwhile 0",
            "after 0",
            "meanwhile 1",
            "after 1",
            "meanwhile 2",
            "after 2",
        ]
        assert listener.gaps == 1, "nothing had to be fetched by REST"
        assert listener.stream.state.resumes == 3

    listen(scene)


def test_a_resumed_connection_on_which_nothing_was_missed_is_known_to_be_alive() -> None:
    async def scene(server: SandboxServer, listener: Listener) -> None:
        # Another session of the bot keeps its status online: the server has nothing to tell on resuming.
        async with listening_beside(server):
            cut_first(server)
            await until(lambda: listener.stream.state.resumes == 1)
            say(server, "hello")
            await until(lambda: listener.posted == ["hello"])

    listen(scene)


@asynccontextmanager
async def listening_beside(server: SandboxServer) -> AsyncIterator[None]:
    other = Listener(server)
    await other.client.connect()
    running = asyncio.create_task(other.stream.run())
    await until(lambda: other.stream.state.connected)
    yield
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    other.client.close()


def cut_first(server: SandboxServer) -> None:
    oldest = min(server.sockets_of("guidebot"), key=lambda socket: -len(socket.connection.sent))  # type: ignore[union-attr]
    oldest.abort()


def test_a_restarted_server_is_found_again_and_what_was_missed_is_asked_for() -> None:
    async def scene(server: SandboxServer, listener: Listener) -> None:
        port = server.port
        await server.stop()
        await until(lambda: not listener.stream.state.connected)
        assert listener.stream.state.problem
        await server.start(port=port)
        await until(lambda: listener.stream.state.connected)
        assert listener.gaps == 2
        assert listener.stream.state.well

    listen(scene)


class Frames:
    """Does something to the frames that the server writes."""

    def __init__(self) -> None:
        self.plan: list[str] = []
        self.held = ""

    async def __call__(self, connection: Connection, frame: str) -> tuple[str, ...]:
        if '"posted"' not in frame or not self.plan:
            held, self.held = self.held, ""
            return (frame, held) if held else (frame,)
        match self.plan.pop(0):
            case "twice":
                return (frame, frame)
            case "hold":
                self.held = frame
                return ()
            case "lose":
                return ()
            case "garble":
                return ("{not json",)
        return (frame,)


@pytest.mark.parametrize("trouble", ["twice", "hold", "lose", "garble"])
def test_frames_that_come_twice_late_not_at_all_or_garbled_lose_nothing_and_repeat_nothing(trouble: str) -> None:
    frames = Frames()

    async def scene(server: SandboxServer, listener: Listener) -> None:
        say(server, "one")
        await until(lambda: listener.posted == ["one"])
        frames.plan = [trouble]
        say(server, "two")
        say(server, "three")
        await until(lambda: "three" in listener.posted)
        assert listener.posted == ["one", "two", "three"] or listener.gaps > 1

    listen(scene, on_frame=frames)


def test_a_handler_that_fails_does_not_take_the_connection_with_it(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(server: SandboxServer, listener: Listener) -> None:
        listener.fail = True
        say(server, "a private word")
        say(server, "two")
        await until(lambda: len(listener.posted) == 2)
        assert listener.stream.state.connects == 1

    listen(scene)
    assert "a private word" not in caplog.text


def test_a_deaf_socket_is_noticed_by_a_probe_and_replaced() -> None:
    async def scene(server: SandboxServer, listener: Listener) -> None:
        listener.probe_now.set()
        await until(lambda: listener.stream.state.probed_at is not None)
        for connection in server.hub.connections.values():
            connection.silenced = True
        say(server, "nobody hears this")
        listener.probe_now.set()
        await until(lambda: listener.stream.state.connects == 2)
        assert listener.gaps == 2, "what was not heard is asked for"
        say(server, "this is heard")
        await until(lambda: listener.posted == ["this is heard"])

    listen(scene)


def test_a_server_without_statuses_is_not_taken_for_deaf() -> None:
    async def scene(server: SandboxServer, listener: Listener) -> None:
        server.world.set_status = lambda user, status: None  # type: ignore[method-assign]
        listener.probe_now.set()
        await until(lambda: listener.stream.state.probed_at is not None)
        assert listener.stream.state.connects == 1
        assert listener.stream.state.well

    listen(scene)


def test_a_disabled_bot_says_so_and_comes_back_when_it_is_enabled(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(server: SandboxServer, listener: Listener) -> None:
        listener.probe_now.set()
        await until(lambda: listener.stream.state.probed_at is not None)
        server.bot.delete_at = 1
        server.hub.silence(server.bot.id)
        listener.probe_now.set()
        await until(lambda: "disabled" in listener.stream.state.problem)
        assert not listener.stream.state.well
        server.bot.delete_at = 0
        listener.probe_now.set()
        await until(lambda: listener.stream.state.connects == 2)
        say(server, "back")
        await until(lambda: listener.posted == ["back"])
        assert listener.stream.state.well

    with caplog.at_level(logging.ERROR):
        listen(scene)
    assert "disabled" in caplog.text


def test_a_revoked_token_is_noticed_though_the_socket_still_receives() -> None:
    async def scene(server: SandboxServer, listener: Listener) -> None:
        for token in server.world.tokens.values():
            if token.user_id == server.bot.id:
                token.is_active = False
        say(server, "still heard")
        await until(lambda: listener.posted == ["still heard"])
        listener.probe_now.set()
        await until(lambda: "revoked" in listener.stream.state.problem)
        assert not listener.stream.state.well
        cut(server)
        await until(lambda: not listener.stream.state.connected)
        await until(lambda: "revoked" in listener.stream.state.problem)
        assert len(listener.waits) < 50, "it does not hammer the server"

    listen(scene)


def test_a_server_that_never_says_hello_is_not_waited_for_for_ever() -> None:
    silent = [True]

    async def frames(connection: Connection, frame: str) -> tuple[str, ...]:
        return () if silent[0] else (frame,)

    async def run() -> None:
        server = SandboxServer(on_frame=frames)
        await server.start()
        listener = Listener(server)
        await listener.client.connect()
        running = asyncio.create_task(listener.stream.run())
        await until(lambda: "hello" in listener.stream.state.problem)
        silent[0] = False
        await until(lambda: listener.stream.state.connected)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        listener.client.close()
        await server.stop()

    asyncio.run(run())


def test_a_rate_limit_on_connecting_is_obeyed() -> None:
    turned_down = [2]

    @web.middleware
    async def limit(request: web.Request, handler: Any) -> web.StreamResponse:
        if request.path.endswith("/websocket") and turned_down[0]:
            turned_down[0] -= 1
            return web.Response(status=429, text="limit exceeded\n", headers={"Retry-After": "9"})
        answered: web.StreamResponse = await handler(request)
        return answered

    async def scene(server: SandboxServer, listener: Listener) -> None:
        assert listener.waits == [9.0, 9.0]

    listen(scene, middlewares=[limit])


def test_a_server_that_cannot_resume_is_caught_up_with_each_time() -> None:
    async def run() -> None:
        server = SandboxServer()
        server.hub.reliable = False
        async with listening(server) as listener:
            cut(server)
            await until(lambda: listener.stream.state.connects == 2)
            assert listener.gaps == 2

    asyncio.run(run())


def test_events_come_over_tls_with_a_private_ca(tmp_path: Path) -> None:
    ca = make_ca(tmp_path, "ours")
    context = make_server_context(tmp_path, ca)

    async def run() -> None:
        server = SandboxServer()
        async with listening(server, tls=context, ca_file=str(ca[0])) as listener:
            say(server, "over tls")
            await until(lambda: listener.posted == ["over tls"])

    asyncio.run(run())


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_waits_grow_stay_within_bounds_and_differ_from_bot_to_bot(seed: int, tries: int) -> None:
    backoff = Backoff(0.5, 60.0, random.Random(seed))
    waits = [backoff.next_s() for _ in range(tries)]
    for number, wait in enumerate(waits):
        whole = min(0.5 * 2**number, 60.0)
        assert whole / 2 <= wait <= whole
    backoff.reset()
    assert backoff.next_s() <= 0.5
