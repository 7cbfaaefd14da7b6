"""The stream of events: one websocket at a time, kept alive for as long as the bot runs.

A lost connection is resumed where the server still has what was missed; where it has not, or a number is
missing in between, `on_gap` is told, and what was missed must be fetched by REST. That a socket is open says
little: a probe changes the bot's own status by REST and waits for the event to come round.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp

from bot.mattermost.client import MattermostClient
from bot.mattermost.connection import Backoff, ConnectionState
from bot.mattermost.errors import MattermostError, TokenRefused
from bot.mattermost.session import MAX_RETRY_AFTER_S

log = logging.getLogger(__name__)

HELLO_WITHIN_S = 10.0
PROBE_WITHIN_S = 10.0
FIRST_WAIT_S = 0.5
MOST_WAIT_S = 60.0
MAX_FRAME_BYTES = 16 * 1024 * 1024
_HEALTHY_AFTER_S = 30.0


class _Lost(Exception):
    """This connection is over; its text says why, for the log.

    Args:
        resume: whether to go on where it broke off.
        wait_s: how long the server asks to wait.
    """

    def __init__(self, reason: str, *, resume: bool = True, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.resume = resume
        self.wait_s = wait_s


class EventStream:
    """Hands on every event, in order, once.

    Args:
        client: whose server, token and TLS to use; also asked when a probe goes round.
        on_event: called with each event's frame. It must return at once; what it raises is logged.
        on_gap: called (as a task of its own) when events were missed, and after the first connection.
        clock: seconds that only go forward.
        chance: for the jitter.
    """

    def __init__(
        self,
        client: MattermostClient,
        *,
        on_event: Callable[[Mapping[str, Any]], None],
        on_gap: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: random.Random | None = None,
        hello_within_s: float = HELLO_WITHIN_S,
        probe_within_s: float = PROBE_WITHIN_S,
    ) -> None:
        self.state = ConnectionState()
        self._client = client
        self._on_event = on_event
        self._on_gap = on_gap
        self._clock = clock
        self._sleep = sleep
        self._backoff = Backoff(FIRST_WAIT_S, MOST_WAIT_S, chance or random.Random())
        self._hello_within_s = hello_within_s
        self._probe_within_s = probe_within_s
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._connection_id = ""
        self._next_seq: int | None = None
        self._action_seq = 0
        self._heard = asyncio.Event()
        self._answered: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._status = "online"
        self._round_trip_proven = False

    async def run(self) -> None:
        """Stay connected until cancelled."""
        connector = aiohttp.TCPConnector(ssl=self._client.trust.context or True)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._client.settings.connect_timeout_s)
        async with aiohttp.ClientSession(
            connector=connector, timeout=timeout, trust_env=False, cookie_jar=aiohttp.DummyCookieJar()
        ) as session:
            while True:
                wait_s = None
                came_in = self.state.connects + self.state.resumes
                asked_for = self._next_seq
                try:
                    await self._connection(session)
                except _Lost as lost:
                    reason, wait_s = str(lost), lost.wait_s
                    if not lost.resume or self._next_seq == asked_for:
                        self._connection_id = ""  # going on from there has brought nothing
                    if came_in == self.state.connects + self.state.resumes:
                        reason = await self._token_problem() or reason
                    self._note_loss(reason)
                backoff_s = self._backoff.next_s()
                await self._sleep(backoff_s if wait_s is None else max(wait_s, backoff_s))

    async def type(self, channel_id: str, thread_id: str) -> None:
        """Show that the bot is typing; without a connection nothing happens."""
        with contextlib.suppress(ConnectionError, RuntimeError, aiohttp.ClientError):
            await self._act("user_typing", {"channel_id": channel_id, "parent_id": thread_id})

    # --- one connection -------------------------------------------------------------------------------------

    async def _connection(self, session: aiohttp.ClientSession) -> None:
        """Connect and hand on events until the connection is lost; always ends in _Lost."""
        resuming = bool(self._connection_id) and self._next_seq is not None
        query = {"connection_id": self._connection_id, "sequence_number": str(self._next_seq)} if resuming else {}
        headers = {"Authorization": f"Bearer {self._client.token.get_secret_value()}"}
        try:
            async with asyncio.timeout(self._hello_within_s):
                socket = await session.ws_connect(
                    self._client.websocket_url,
                    params=query,
                    headers=headers,
                    heartbeat=self._client.settings.ping_interval_s,
                    max_msg_size=MAX_FRAME_BYTES,
                    autoclose=True,
                )
        except aiohttp.WSServerHandshakeError as error:
            asked = str(error.headers.get("Retry-After", "")) if error.headers else ""
            wait_s = min(float(asked), MAX_RETRY_AFTER_S) if asked.isdigit() else None
            raise _Lost(f"the server turned the connection down ({error.status})", wait_s=wait_s) from None
        except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError):
            raise _Lost("the server's certificate is not trusted: see mattermost.ca_file") from None
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise _Lost(f"the server cannot be reached ({type(error).__name__})") from None
        self._socket = socket
        self._action_seq = 0
        probe = None
        try:
            await self._begin(socket)
            began = self._clock()
            probe = asyncio.create_task(self._probe_now_and_then(socket))
            while True:
                await self._handle(await self._next_frame(socket, None))
                if self._clock() - began > _HEALTHY_AFTER_S:
                    self._backoff.reset()
        finally:
            self._socket = None
            for waiting in self._answered.values():
                waiting.cancel()
            self._answered.clear()
            if probe is not None:
                probe.cancel()
            # Not `close()`: it would wait for the other side, which may be the one that has gone silent.
            with contextlib.suppress(Exception):
                async with asyncio.timeout(0.2):
                    await socket.close()

    async def _begin(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Wait until the server has taken us in: a hello, the events that were missed, or an answer."""
        # With nothing missed a resumed connection may stay silent: ask something that must be answered.
        asked = await self._send("get_statuses_by_ids", {"user_ids": [self._client.me.id]})
        deadline = self._clock() + self._hello_within_s
        while True:
            left_s = deadline - self._clock()
            if left_s <= 0:
                raise _Lost("the server did not say hello", resume=False)
            frame = await self._next_frame(socket, left_s)
            if frame.get("event") == "hello":
                await self._handle(frame)
                return
            if frame.get("seq_reply") == asked:
                await self._token_must_be_known(frame)
                if self._connection_id and self._next_seq is not None:
                    self._connected(resumed=True)
                    return
                continue
            if frame.get("event") and self._connection_id and frame.get("seq") == self._next_seq:
                self._connected(resumed=True)
                await self._handle(frame)
                return

    async def _next_frame(self, socket: aiohttp.ClientWebSocketResponse, within_s: float | None) -> Mapping[str, Any]:
        while True:
            try:
                message = await socket.receive(timeout=within_s)
            except TimeoutError:
                raise _Lost("the server did not say hello", resume=False) from None
            except (aiohttp.ClientError, OSError) as error:
                raise _Lost(f"the connection broke ({type(error).__name__})") from None
            if message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED):
                raise _Lost(f"the server closed the connection ({socket.close_code})")
            if message.type is aiohttp.WSMsgType.ERROR:
                raise _Lost(f"the connection broke ({type(socket.exception()).__name__})")
            if message.type is not aiohttp.WSMsgType.TEXT:
                continue
            try:
                frame = json.loads(message.data)
            except ValueError:
                # Whatever it was, it had a number: going on where we were brings it again.
                raise _Lost("the server sent a frame that is no JSON") from None
            if isinstance(frame, dict):
                self.state.heard_at = self._clock()
                return frame

    async def _handle(self, frame: Mapping[str, Any]) -> None:
        if "event" not in frame:
            await self._handle_answer(frame)
            return
        seq = frame.get("seq")
        if frame["event"] == "hello":
            self._hello(frame, seq)
            return
        if isinstance(seq, int) and self._next_seq is not None:
            if seq < self._next_seq:
                return  # seen already
            if seq > self._next_seq:
                self.state.gaps += 1
                raise _Lost(f"event {self._next_seq} is missing before {seq}")
            self._next_seq = seq + 1
        self._heard.set()
        try:
            self._on_event(frame)
        except Exception as error:
            # Neither the frame nor the error's text: they may hold what somebody wrote.
            log.error("an event could not be handled: %s, %s", frame.get("event"), type(error).__name__)

    def _hello(self, frame: Mapping[str, Any], seq: object) -> None:
        data = frame.get("data")
        id = str(data.get("connection_id", "")) if isinstance(data, Mapping) else ""
        self._next_seq = seq + 1 if isinstance(seq, int) else 1
        if id and id == self._connection_id:
            return
        self._connection_id = id
        self._connected(resumed=False)
        self._on_gap()

    def _connected(self, *, resumed: bool) -> None:
        self.state.connected = True
        self.state.connected_at = self._clock()
        self.state.problem = ""
        if resumed:
            self.state.resumes += 1
            log.info("connected to Mattermost again, nothing missed")
        else:
            self.state.connects += 1
            log.info("connected to Mattermost")

    async def _token_problem(self) -> str:
        """Say why the server does not take the bot, when that is so: the socket itself never tells."""
        try:
            await self._client.check_token()
        except TokenRefused as error:
            return str(error)
        except MattermostError:
            pass
        return ""

    def _note_loss(self, reason: str) -> None:
        if self.state.problem != reason:
            log.warning("not connected to Mattermost: %s", reason)
        self.state.connected = False
        self.state.connected_at = None
        self.state.problem = reason

    # --- actions and probes ---------------------------------------------------------------------------------

    async def _send(self, action: str, data: Mapping[str, Any]) -> int:
        socket = self._socket
        if socket is None or socket.closed:
            raise ConnectionError("not connected")
        self._action_seq += 1
        number = self._action_seq
        try:
            await socket.send_str(json.dumps({"seq": number, "action": action, "data": dict(data)}))
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            raise _Lost(f"the connection broke ({type(error).__name__})") from None
        return number

    async def _act(self, action: str, data: Mapping[str, Any]) -> None:
        with contextlib.suppress(_Lost):
            await self._send(action, data)

    async def _handle_answer(self, frame: Mapping[str, Any]) -> None:
        waiting = self._answered.pop(frame.get("seq_reply", -1), None)
        if waiting is not None and not waiting.done():
            waiting.set_result(frame)
        await self._token_must_be_known(frame)

    async def _token_must_be_known(self, frame: Mapping[str, Any]) -> None:
        error = frame.get("error")
        if isinstance(error, Mapping) and error.get("status_code") == 401:
            raise _Lost("the server does not take the bot's token any more: it was revoked or the bot disabled")

    async def _probe_now_and_then(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        while True:
            await self._sleep(self._client.settings.probe_interval_s)
            try:
                well = await self._goes_round()
            except TokenRefused as error:
                self._unwell(str(error))
            except MattermostError as error:
                # REST is away; the socket may well be alive. What it brings will find REST back or wait for it.
                self._unwell(str(error))
            else:
                if well:
                    self._well()
                    continue
                self._connection_id = ""
                self._unwell("the connection was open but nothing came through it")
                await socket.close()
                return

    async def _goes_round(self) -> bool:
        """Tell whether an event that the bot itself causes comes back to it."""
        for _ in range(2):
            # Another process of the same bot may have set the same status: then nothing changes, so flip again.
            self._status = "away" if self._status == "online" else "online"
            self._heard.clear()
            await self._client.set_status(self._status)
            if await self._within(self._heard.wait()):
                self._round_trip_proven = True
                return True
        if self._round_trip_proven:
            return False
        # A server may have statuses switched off: then an answer through the socket has to do.
        number = self._action_seq + 1
        answered: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._answered[number] = answered
        await self._act("get_statuses_by_ids", {"user_ids": [self._client.me.id]})
        return await self._within(answered)

    async def _within(self, something: Awaitable[Any]) -> bool:
        try:
            async with asyncio.timeout(self._probe_within_s):
                await something
        except TimeoutError:
            return False
        return True

    def _well(self) -> None:
        self.state.probed_at = self._clock()
        if self.state.problem and self.state.connected:
            log.info("Mattermost is well again")
            self.state.problem = ""

    def _unwell(self, problem: str) -> None:
        if self.state.problem != problem:
            log.error("%s", problem)
        self.state.problem = problem
