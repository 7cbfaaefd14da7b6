"""A browser on the sandbox's page; the server runs in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from bot.sandbox.server import SandboxServer

T = TypeVar("T")

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def launched() -> Iterator[Browser]:
    """Start Chromium; without one, skip the test, and fail it in CI."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for found in map(shutil.which, names) if found), None)
    if path is None and os.environ.get("CI") == "true":
        pytest.fail("there is no Chromium, and CI must have one")
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


class ServedSandbox:
    """A sandbox server whose loop runs in a thread; everything done to it is done in that thread."""

    def __init__(self) -> None:
        self.server = SandboxServer()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.start()

    def start(self, port: int = 0) -> None:
        asyncio.run_coroutine_threadsafe(self.server.start(port=port), self._loop).result(10)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self.server.stop(), self._loop).result(10)

    def end(self) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def do(self, deed: Callable[[SandboxServer], T]) -> T:
        async def done() -> T:
            return deed(self.server)

        return asyncio.run_coroutine_threadsafe(done(), self._loop).result(10)

    def post(self, name: str, message: str, *, channel: str = "triage", **more: Any) -> dict[str, Any]:
        return self.do(lambda server: server.post(name, server.channel(channel)["id"], message, **more))

    def root(self) -> dict[str, Any]:
        """Return the newest root post of the triage channel."""
        posts = self.do(lambda server: server.posts_in(server.channel("triage")["id"]))
        return [post for post in posts if not post["root_id"]][-1]


@dataclass
class Visit:
    """A page and what it did unasked.

    Attributes:
        errors: uncaught exceptions, console errors and dialogs.
        elsewhere: addresses asked for that are not the sandbox's.
    """

    sandbox: ServedSandbox
    page: Page
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


@contextmanager
def visiting(browser: Browser, *, width: int = 1280, height: int = 800) -> Iterator[Visit]:
    """Open the page in a fresh profile, ready to write."""
    sandbox = ServedSandbox()
    context = browser.new_context(viewport={"width": width, "height": height})
    try:
        page = context.new_page()
        page.set_default_timeout(20_000)
        visit = Visit(sandbox, page)

        def watch(address: str) -> None:
            if not address.startswith((sandbox.server.url, "blob:")):
                visit.elsewhere.append(address)

        page.on("request", lambda request: watch(request.url))
        page.on("pageerror", lambda error: visit.errors.append(str(error)))
        page.on("console", lambda said: visit.errors.append(said.text) if said.type == "error" else None)
        page.on("dialog", lambda dialog: visit.errors.append(f"dialog {dialog.message}"))
        with page.expect_websocket():
            page.goto(sandbox.server.url)
        page.wait_for_selector("#channels button[aria-current=true]", state="attached")
        yield visit
    finally:
        context.close()
        sandbox.end()
