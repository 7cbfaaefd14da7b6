"""The websocket side: connections, their numbered events, resuming, and when a socket is dropped.

A connection outlives its socket: what is sent while it has none waits in its queue, and the last frames that
were written are kept, so that a client that comes back with its connection id and the next sequence number
misses nothing. It may do so only with a token on the upgrade, for its own connection, while that has no
socket, within `RESUME_WITHIN_S`, and when not too much was missed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from aiohttp import WSMsgType, web

from bot.sandbox.state import Event, Json, User, World, is_id, new_id

KEPT_FRAMES = 128
WAITING_EVENTS = 256
RESUME_WITHIN_S = 300.0
MAX_FRAME_BYTES = 8 * 1024

# Called before a frame is written: returns the frames to write in its place (none, one, several), may await,
# may abort the connection.
FrameHook = Callable[["Connection", str], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the server waits, in seconds."""

    token_s: float = 5.0
    ping_s: float = 60.0
    pong_s: float = 100.0


class Connection:
    """One client's numbered stream of events, with or without an open socket."""

    def __init__(self, user: User, secret: str) -> None:
        self.id = new_id()
        self.user = user
        self.secret = secret
        self.sequence = 0
        self.sent: deque[tuple[int, str]] = deque(maxlen=KEPT_FRAMES)
        self.waiting: deque[Event | Json] = deque()
        self.socket: Socket | None = None
        self.lost_at = 0.0
        self.silenced = False

    def put(self, item: Event | Json) -> None:
        self.waiting.append(item)
        if self.socket is not None:
            self.socket.wake.set()

    def next_frame(self) -> str:
        """Take the next item from the queue and return its frame, numbered when it is an event."""
        item = self.waiting.popleft()
        if not isinstance(item, Event):
            return _dump(item)
        frame = _dump(
            {
                "event": item.name,
                "data": item.data,
                "broadcast": {
                    "omit_users": dict.fromkeys(item.omit, True) or None,
                    "user_id": item.user_id,
                    "channel_id": item.channel_id,
                    "team_id": item.team_id,
                },
                "seq": self.sequence,
            }
        )
        self.sent.append((self.sequence, frame))
        self.sequence += 1
        return frame


class Socket:
    """An upgraded request: not yet, or no longer, the same as a connection.

    Attributes:
        replay: frames that are written again after a resume.
        gone: set when the server has done with it.
    """

    def __init__(self, response: web.WebSocketResponse, request: web.Request) -> None:
        self.response = response
        self.request = request
        self.connection: Connection | None = None
        self.replay: list[str] = []
        self.wake = asyncio.Event()
        self.gone = asyncio.Event()

    def abort(self) -> None:
        """Drop the TCP connection without a close frame."""
        if self.request.transport is not None:
            self.request.transport.abort()


class Hub:
    """All sockets and connections of the server.

    Args:
        world: its events are delivered to the connections; tokens are looked up in it.
        patience: for the token, the next ping and its pong.
        on_frame: see `FrameHook`.
    """

    def __init__(self, world: World, patience: Patience, on_frame: FrameHook | None = None) -> None:
        self.world = world
        self.patience = patience
        self.on_frame = on_frame
        self.reliable = True
        self.connections: dict[str, Connection] = {}
        self.sockets: set[Socket] = set()
        world.listeners.append(self.deliver)

    # what is told to whom

    def deliver(self, event: Event) -> None:
        """Queue an event for every connection whose user it is meant for."""
        for connection in list(self.connections.values()):
            if connection.silenced or not self._is_for(event, connection.user.id):
                continue
            if connection.socket is None and len(connection.waiting) >= WAITING_EVENTS:
                del self.connections[connection.id]  # too much was missed: nothing to come back to
                continue
            connection.put(self._personal(event, connection.user.id))

    def _is_for(self, event: Event, user_id: str) -> bool:
        if user_id in event.omit:
            return False
        if event.user_id:
            return event.user_id == user_id
        if event.channel_id:
            return self.world.is_member(event.channel_id, user_id)
        return user_id in self.world.team_members.get(event.team_id, [])

    def _personal(self, event: Event, user_id: str) -> Event:
        """Current servers name in `mentions` only the reader."""
        if not self.world.rules.newer or "mentions" not in event.data:
            return event
        data = dict(event.data)
        if user_id in json.loads(data["mentions"]):
            data["mentions"] = json.dumps([user_id])
        else:
            del data["mentions"]
        return replace(event, data=data)

    def silence(self, user_id: str) -> None:
        """Leave a disabled account's sockets open and tell them nothing any more."""
        for connection in self.connections.values():
            if connection.user.id == user_id:
                connection.silenced = True

    def sockets_of(self, user_id: str) -> list[Socket]:
        return [s for s in self.sockets if s.connection is not None and s.connection.user.id == user_id]

    def abort_all(self) -> None:
        """Drop every socket without a close frame and forget all connections, as a restarted server does."""
        for socket in list(self.sockets):
            socket.abort()
        self.connections.clear()

    # one socket's life

    async def serve(self, request: web.Request, secret: str) -> web.WebSocketResponse:
        """Upgrade a request and serve its socket until it closes.

        Args:
            secret: the token on the upgrade, "" for none.
        """
        response = web.WebSocketResponse(max_msg_size=MAX_FRAME_BYTES, autoping=False, timeout=1.0)
        await response.prepare(request)
        socket = Socket(response, request)
        self.sockets.add(socket)
        loop = asyncio.get_running_loop()
        no_token = loop.call_later(self.patience.token_s, socket.abort)
        pulse = _Pulse(socket, self.patience)
        writer: asyncio.Task[None] | None = None
        try:
            user = self.world.user_of(secret)
            if user is not None:
                no_token.cancel()
                if not self._attach(socket, user, secret, request.query):
                    socket.abort()
                    return response
                writer = asyncio.create_task(self._write(socket))
            async for message in response:
                if message.type is WSMsgType.PING:
                    await response.pong(message.data)
                elif message.type is WSMsgType.PONG:
                    pulse.beat()
                elif message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                    asked = _parse(message.data)
                    if asked is None:
                        socket.abort()
                        break
                    if socket.connection is not None:
                        self._act(socket.connection, asked)
                    elif asked.get("action") == "authentication_challenge" and asked.get("seq"):
                        if not self._challenge(socket, asked):
                            socket.abort()
                            break
                        no_token.cancel()
                        writer = asyncio.create_task(self._write(socket))
        except ConnectionError:
            pass
        finally:
            no_token.cancel()
            pulse.stop()
            if writer is not None:
                writer.cancel()
            self.sockets.discard(socket)
            self._detach(socket)
            socket.gone.set()
        return response

    async def _write(self, socket: Socket) -> None:
        connection = socket.connection
        assert connection is not None
        with contextlib.suppress(ConnectionError, RuntimeError):
            while True:
                while socket.replay or connection.waiting:
                    frame = socket.replay.pop(0) if socket.replay else connection.next_frame()
                    frames = await self.on_frame(connection, frame) if self.on_frame else (frame,)
                    for each in frames:
                        await socket.response.send_str(each)
                socket.wake.clear()
                await socket.wake.wait()

    def _challenge(self, socket: Socket, asked: Json) -> bool:
        data = asked.get("data")
        secret = str(data.get("token", "")) if isinstance(data, dict) else ""
        user = self.world.user_of(secret)
        if user is None:
            return False
        self._attach(socket, user, secret, {}, reply={"status": "OK", "seq_reply": asked["seq"]})
        return True

    def _attach(
        self,
        socket: Socket,
        user: User,
        secret: str,
        query: Mapping[str, str],
        *,
        reply: Json | None = None,
    ) -> bool:
        """Give the socket its connection, an old or a new one; False where the query makes no sense."""
        connection = None
        if self.reliable and "connection_id" in query:
            number = query.get("sequence_number", "")
            if not is_id(query["connection_id"]) or not number.isascii() or not number.isdigit():
                return False
            connection = self._resume(socket, user, query["connection_id"], int(number))
        if connection is None:
            connection = Connection(user, secret)
            self.connections[connection.id] = connection
            connection.put(self._hello(connection))
        connection.secret = secret
        connection.socket = socket
        socket.connection = connection
        if reply is not None:
            connection.put(reply)
        self.world.set_status(user, "online")
        socket.wake.set()
        return True

    def _resume(self, socket: Socket, user: User, connection_id: str, number: int) -> Connection | None:
        connection = self.connections.get(connection_id)
        if connection is None or connection.user.id != user.id or connection.socket is not None:
            return None
        if self.world.clock() - connection.lost_at > RESUME_WITHIN_S:
            del self.connections[connection_id]
            return None
        kept = [sequence for sequence, _ in connection.sent]
        if not number:
            connection.sequence = 0
            connection.sent.clear()
        elif number in kept:
            socket.replay = [frame for sequence, frame in connection.sent if sequence >= number]
        elif kept and kept[-1] != number - 1:
            # Frames are missing: a new id and a new count. What waits is delivered after two hellos.
            del self.connections[connection_id]
            connection.id = new_id()
            connection.sequence = 0
            connection.sent.clear()
            self.connections[connection.id] = connection
            connection.waiting.appendleft(self._hello(connection))
            connection.put(self._hello(connection))
        return connection

    def _detach(self, socket: Socket) -> None:
        connection = socket.connection
        if connection is None:
            return
        connection.socket = None
        connection.lost_at = self.world.clock()
        if not self.reliable:
            self.connections.pop(connection.id, None)
        if not self.sockets_of(connection.user.id):
            self.world.set_status(connection.user, "offline")

    def _hello(self, connection: Connection) -> Event:
        data: Json = {
            "connection_id": connection.id if self.reliable else "",
            "server_version": self.world.rules.build,
        }
        return Event("hello", data, user_id=connection.user.id)

    # what a client asks over its socket

    def _act(self, connection: Connection, asked: Json) -> None:
        action = asked.get("action")
        number = asked.get("seq")
        if action == "authentication_challenge" or connection.silenced or not isinstance(number, int):
            return
        if self.world.user_of(connection.secret) is None:
            message = f"Invalid session token={connection.secret}, err="
            connection.put(_fail(number, "api.context.invalid_token.error", message, 401))
            return
        data = asked.get("data")
        data = data if isinstance(data, dict) else {}
        if action == "user_typing":
            channel_id = data.get("channel_id")
            if not isinstance(channel_id, str) or not self.world.is_member(channel_id, connection.user.id):
                error_id = "api.websocket_handler.invalid_param.app_error"
                connection.put(_fail(number, error_id, "Invalid channel_id parameter.", 400))
                return
            self.type(connection.user, channel_id, str(data.get("parent_id", "")))
            connection.put({"status": "OK", "seq_reply": number})
        elif action == "get_statuses":
            statuses = {user.id: user.status for user in self.world.users.values() if user.status != "offline"}
            connection.put({"status": "OK", "seq_reply": number, "data": statuses})
        elif action == "ping":
            pong: Json = {
                "text": "pong",
                "version": self.world.rules.version,
                "server_time": int(self.world.clock() * 1000),
                "node_id": "",
            }
            connection.put({"status": "OK", "seq_reply": number, "data": pong})
        else:
            error_id = "api.web_socket_router.bad_action.app_error"
            connection.put(_fail(number, error_id, "Unknown WebSocket action.", 500))

    def type(self, user: User, channel_id: str, parent_id: str) -> None:
        """Tell a channel that somebody is typing."""
        data: Json = {"parent_id": parent_id, "user_id": user.id}
        self.world.publish(Event("typing", data, channel_id=channel_id, omit=(user.id,)))


class _Pulse:
    """Pings a socket, and aborts it when no pong has come for too long."""

    def __init__(self, socket: Socket, patience: Patience) -> None:
        self._socket = socket
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.call_later(patience.pong_s, socket.abort)
        self._pinging = asyncio.create_task(self._ping())

    def beat(self) -> None:
        self._deadline.cancel()
        self._deadline = self._loop.call_later(self._patience.pong_s, self._socket.abort)

    def stop(self) -> None:
        self._deadline.cancel()
        self._pinging.cancel()

    async def _ping(self) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            while True:
                await asyncio.sleep(self._patience.ping_s)
                await self._socket.response.ping()


def _parse(text: str | bytes) -> Json | None:
    try:
        asked = json.loads(text)
    except ValueError:
        return None
    return asked if isinstance(asked, dict) else None


def _dump(frame: Json) -> str:
    return json.dumps(frame, separators=(",", ":"), ensure_ascii=False) + "\n"


def _fail(number: int, error_id: str, message: str, status: int) -> Json:
    error: Json = {"id": error_id, "message": message, "detailed_error": "", "status_code": status}
    return {"status": "FAIL", "seq_reply": number, "error": error}
