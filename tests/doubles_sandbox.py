"""A client of the sandbox server for its own tests: plain HTTP and a plain websocket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from bot.sandbox.server import SandboxServer

Json = dict[str, Any]


class Clock:
    """A clock that stands still until it is moved; seconds since 1970."""

    def __init__(self, now: float = 1_796_085_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Client:
    """Someone with a token."""

    def __init__(self, session: aiohttp.ClientSession, server: SandboxServer, token: str) -> None:
        self.session = session
        self.server = server
        self.token = token

    async def ask(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        status, _, value = await self.ask_in_full(method, path, body, **more)
        return status, value

    async def ask_in_full(
        self, method: str, path: str, body: Any = None, **more: Any
    ) -> tuple[int, Mapping[str, str], Any]:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= more.pop("headers", {})
        if body is not None:
            more["data"] = json.dumps(body)
        url = f"{self.server.url}/api/v4{path}"
        async with self.session.request(method, url, headers=headers, **more) as response:
            text = await response.text()
            try:
                value = json.loads(text)
            except ValueError:
                value = text
            return response.status, response.headers, value

    async def socket(self, query: str = "", *, header: bool = True) -> Stream:
        headers = {"Authorization": f"Bearer {self.token}"} if header else {}
        url = f"{self.server.url}/api/v4/websocket{query}"
        return Stream(await self.session.ws_connect(url, headers=headers, autoping=True))


class Stream:
    """A websocket seen from outside."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def frame(self) -> Json:
        """Return the next frame."""
        message = await asyncio.wait_for(self.socket.receive(), 5)
        assert message.type is aiohttp.WSMsgType.TEXT, message
        assert message.data.endswith("\n")
        frame: Json = json.loads(message.data)
        return frame

    async def until(self, name: str) -> Json:
        """Skip frames up to the next event of this name, and return that."""
        while True:
            frame = await self.frame()
            if frame.get("event") == name:
                return frame

    async def reply(self, number: int) -> Json:
        while True:
            frame = await self.frame()
            if frame.get("seq_reply") == number:
                return frame

    async def send(self, number: int, action: str, **data: Any) -> None:
        await self.socket.send_str(json.dumps({"seq": number, "action": action, "data": data}))

    async def closed(self) -> int:
        """Return the code with which the server closes: 1006 is a dropped connection."""
        while True:
            message = await asyncio.wait_for(self.socket.receive(), 5)
            if message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR):
                return self.socket.close_code or 1006


@asynccontextmanager
async def running(**options: Any) -> AsyncIterator[tuple[SandboxServer, Callable[[str], Client]]]:
    """Run a server; the second value makes a client by user name ("" for no token)."""
    server = SandboxServer(**options)
    await server.start()
    async with aiohttp.ClientSession() as session:
        try:
            yield server, lambda name: Client(session, server, server.token_of(name) if name else "")
        finally:
            await server.stop()


def run(story: Callable[[], Awaitable[None]]) -> None:
    """Run a test's story, and fail rather than hang."""

    async def limited() -> None:
        await asyncio.wait_for(story(), 20)

    asyncio.run(limited())
