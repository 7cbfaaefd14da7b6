"""Traffic with planted patient details and secrets: none of them is found in data, logs or metrics afterwards."""

from __future__ import annotations

import asyncio
import io
import itertools
import logging
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

import corpus
from bot import logs
from bot.app import serve
from bot.auditing.chain import verify
from bot.auditing.exchanges import exchanges_of
from bot.ledger import Ledger
from bot.sandbox import posting
from bot.sandbox.server import BOT_NAME, SandboxServer
from bot.settings import Settings
from retrieval.embedding import HashEmbedder
from retrieval.indexing import Folder, build
from retrieval.library import Library
from tests.doubles_mattermost import bot_posts, mark, notices_for, replies_to, until

NHS, PHONE, MAIL, RECORD = "943 476 5919", "07700 900123", "ivor.quillfeather@example.org", "MRN 4471822"
NAME, BORN, ADDRESS = "Ivor Quillfeather", "12/03/1951", "14 Marlowe Road, Leeds LS6 2EF"
PLANTED = (NHS, NHS.replace(" ", ""), PHONE, MAIL, "4471822", "Quillfeather", BORN, "Marlowe Road", "LS6 2EF")
"""What must be nowhere but on the chat server itself."""

MARKER = "zanzibarine"
"""A word of questions without patient details: the ledger may keep it, logs and metrics may not."""

EXPLODES = f"explode {MARKER}"


@pytest.fixture(autouse=True)
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Log as `run` does, at the lowest level, into a text."""
    root = logging.getLogger()
    kept = root.handlers[:], root.level, set(logs._secrets)
    stream = io.StringIO()
    logs.configure(Settings.model_validate({"operations": {"log_level": "debug"}}).operations)
    handler = root.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    yield stream
    root.handlers[:], root.level = kept[0], kept[1]
    logs._secrets.clear()
    logs._secrets.update(kept[2])
    logging.captureWarnings(False)


@pytest.fixture(autouse=True)
def exploding_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let some searches fail with an error that repeats the question, as libraries do."""
    search = Library.search

    def fails_for_some(self: Library, question: str, **more: Any) -> Any:
        if "explode" in question:
            raise ValueError(f"cannot search for {question!r}")
        return search(self, question, **more)

    monkeypatch.setattr(Library, "search", fails_for_some)


def echoing_trouble() -> Any:
    """Fail now and then with an error that repeats what was sent, as servers do."""
    posts = itertools.count()

    @web.middleware
    async def fail(request: web.Request, handler: Any) -> web.StreamResponse:
        is_reply = request.path.endswith("/posts") and request.method == "POST" and '"reply"' in await request.text()
        # A notice that fails is let go; a reply is tried again.
        if is_reply and next(posts) % 16 == 3:
            body = {"id": "app.x", "message": await request.text(), "detailed_error": str(dict(request.headers))}
            return web.json_response({**body, "status_code": 503}, status=503)
        answered: web.StreamResponse = await handler(request)
        return answered

    return fail


def settings_of(url: str, token: str, folder: Path, port: int, questions: str) -> Settings:
    return Settings.model_validate(
        {
            "mattermost": {"url": url, "token": token, "edit_window_s": 600},
            "guidelines": {"folder": [{"path": str(folder)}]},
            "index": {"embedder": "hash"},
            "answer": {"mode": "quoted"},
            "ledger": {"questions": questions},
            "operations": {"http_port": port, "log_level": "debug"},
            "schedule": {"watch": False},
        }
    )


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def traffic() -> list[str]:
    """Return what is asked: details in plain questions, commands, filters and follow-ups, and questions without."""
    return [
        f"Patient {NAME}, born {BORN}, has panic attacks, what should I do?",
        f"NHS number {NHS}: what should I do during a panic episode?",
        f"nhs {NHS.replace(' ', '')} panic",
        f"call the patient back on {PHONE} about panic, when?",
        f"send the leaflet to {MAIL}?",
        f"{RECORD} is anxious, what now?",
        f"Mr {NAME} of {ADDRESS} needs a home visit, how do I triage him?",
        f'--guideline "Mr {NAME}" what should I do?',
        f'--section "{NHS}" panic',
        f"search patient {NAME} panic",
        f"quote patient {NAME} panic",
        f"guidelines {NHS}",
        f"show {NHS}",
        f"why patient {NAME}",
        f"status {PHONE}",
        f"What should I do during a panic episode? {MARKER}",
        f"How do I repair the {MARKER}?",
        EXPLODES,
        "What should I do during a panic episode?",
    ]


async def a_day(server: SandboxServer) -> None:
    """Ask everything in a channel and half of it directly, edit, follow up, and say what was wrong."""
    channel, direct = str(server.channel("triage")["id"]), str(server.direct("ann")["id"])

    async def ask(text: str, *, where: str = channel, root_id: str = "") -> dict[str, Any]:
        asked = server.post("ann", where, text if where == direct else f"@guidebot {text}", root_id=root_id)
        await until(lambda: replies_to(server, asked), 30)
        return asked

    for number, text in enumerate(traffic()):
        await ask(text)
        if number % 2:
            await ask(text, where=direct)
    last = await ask("What should I do during a panic episode?")
    await ask(f"and for patient {NAME}, NHS {NHS}?", root_id=last["id"])
    await ask("and afterwards?", root_id=last["id"])
    edited = await ask("What should I do during a panic episode?")
    before = replies_to(server, edited)[0]["message"]
    author = server.user("ann")
    changed = {"message": f"@guidebot patient {NAME} {NHS} panic?"}
    posting.edit(server.world, server.world.posts[edited["id"]], changed)
    await until(lambda: replies_to(server, edited) and replies_to(server, edited)[0]["message"] != before, 30)
    reply = replies_to(server, last)[0]
    posting.react(server.world, author, server.world.posts[reply["id"]], "-1")
    await until(lambda: any(mark(post).get("notice") == "what_was_wrong" for post in bot_posts(server)), 30)
    said = server.post("ann", channel, f"@guidebot wrong for patient {NAME}, {PHONE}", root_id=last["id"])
    await until(lambda: notices_for(server, said) or replies_to(server, said), 30)


@pytest.mark.parametrize("questions", ["full", "hash"])
def test_nothing_planted_is_found_in_data_logs_or_metrics(tmp_path: Path, log: io.StringIO, questions: str) -> None:
    folder, data = tmp_path / "guidelines", tmp_path / "data"
    folder.mkdir()
    shutil.copy(corpus.TRIAGE_MANUAL, folder)
    build([Folder(folder)], data, HashEmbedder())
    pages: list[str] = []
    token = ""

    async def run() -> None:
        nonlocal token
        server = SandboxServer(middlewares=[echoing_trouble()])
        url = await server.start()
        token = server.token_of(BOT_NAME)
        port = free_port()
        settings = settings_of(url, token, folder, port, questions)
        stop, ready = asyncio.Event(), asyncio.Event()
        serving = asyncio.create_task(serve(settings, data, ready=ready.set, stop=stop, environment={}))
        await asyncio.wait({serving, asyncio.create_task(ready.wait())}, return_when=asyncio.FIRST_COMPLETED)
        assert ready.is_set(), await serving
        try:
            await a_day(server)
            async with aiohttp.ClientSession() as session:
                for path in ("/metrics", "/healthz", "/readyz"):
                    async with session.get(f"http://127.0.0.1:{port}{path}") as response:
                        pages.append(await response.text())
        finally:
            stop.set()
            await serving
            await server.stop()

    asyncio.run(run())
    kept = {file: file.read_bytes() for file in data.rglob("*") if file.is_file()}
    shown = {"log": log.getvalue().encode(), **{f"page {n}": page.encode() for n, page in enumerate(pages)}}
    assert 'guideline_bot_questions_total{mode="",status="blocked"}' in pages[0]
    assert "a question failed" in log.getvalue(), "the search did explode"
    for what, content in {**kept, **shown}.items():
        for planted in (*PLANTED, token):
            assert planted.casefold().encode() not in content.lower(), f"{planted} is in {what}"
    for what, content in shown.items():
        for word in (MARKER, "panic"):
            assert word.encode() not in content.lower(), f"a question's or an answer's word is in the {what}"
    if questions == "hash":
        for what, content in kept.items():
            assert MARKER.encode() not in content, f"a question's word is in {what}"
    ledger = Ledger.open(data / "ledger.sqlite")
    assert verify(ledger.rows()).intact
    statuses = [exchange.status for exchange in exchanges_of(ledger.events())]
    assert statuses.count("blocked") >= 12
    assert {"answered", "refused", "blocked", "failed"} <= set(statuses)
    ledger.close()
