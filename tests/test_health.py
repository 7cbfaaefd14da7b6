"""Health and readiness over HTTP, as a probe sees them."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import sqlalchemy as sa

from bot.answering.writing import WriterState
from bot.health import LEDGER_EVERY_S, Health
from bot.metrics import MeasuredAnswers, Metrics
from bot.operations import OperationsServer, is_loopback
from bot.presence import Presence
from bot.sandbox.server import SandboxServer
from retrieval.embedding import HashEmbedder
from retrieval.errors import ServiceAway
from retrieval.generations import Generations
from retrieval.indexing import Folder, build
from tests.doubles_answering import Clock
from tests.doubles_mattermost import FakeAnswerer, a_bot, replies_to, until

Get = Callable[[str], Awaitable[tuple[int, Any]]]


class Generation:
    def __init__(self, data: Path) -> None:
        self.generation = Generations(data).current() or ""


class Model:
    def __init__(self, **state: Any) -> None:
        self.now = WriterState(**{"up": True, "loaded": True, "model": "m", **state})
        self.asked = 0

    async def state(self) -> WriterState:
        self.asked += 1
        return self.now


def indexed(tmp_path: Path) -> Path:
    folder = tmp_path / "guidelines"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\n## B\n\nTreat with 15 g.\n", encoding="utf-8")
    build([Folder(folder)], tmp_path / "data", HashEmbedder())
    return tmp_path / "data"


def play(
    tmp_path: Path,
    scene: Callable[[SandboxServer, Presence, Get, Clock], Awaitable[None]],
    *,
    data: Path | None = None,
    model: Model | None = None,
) -> None:
    async def run() -> None:
        place = data or indexed(tmp_path)
        metrics, clock = Metrics(), Clock()
        answers = MeasuredAnswers(FakeAnswerer(), metrics, clock)
        async with a_bot(tmp_path, answers) as (server, presence, _):
            health = Health(presence.desk, place, Generation(place), model, clock=clock)
            watch = OperationsServer("127.0.0.1", 0, health, metrics)
            url = await watch.start()
            async with aiohttp.ClientSession() as session:

                async def get(path: str) -> tuple[int, Any]:
                    async with session.get(url + path) as response:
                        json = response.content_type == "application/json"
                        return response.status, await (response.json() if json else response.text())

                await scene(server, presence, get, clock)
            await watch.stop()

    asyncio.run(run())


def test_a_bot_that_can_answer_is_ready(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, get: Get, clock: Clock) -> None:
        assert await get("/readyz") == (200, {"ready": True, "problems": {}})
        status, body = await get("/healthz")
        assert status == 200
        assert body["connection"]["connected"] is True
        assert (await get("/other"))[0] == 404

    play(tmp_path, scene)


def test_a_bot_whose_socket_is_deaf_is_up_but_not_ready(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, get: Get, clock: Clock) -> None:
        presence.connection.problem = "No events come in though the socket is open."
        status, body = await get("/readyz")
        assert (status, set(body["problems"])) == (503, {"mattermost"})
        status, body = await get("/healthz")
        assert status == 200
        assert body["connection"]["problem"].startswith("No events")

    play(tmp_path, scene)


def test_a_bot_that_cannot_write_its_ledger_is_not_ready_and_recovers(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, get: Get, clock: Clock) -> None:
        engine = presence.desk.ledger.ledger._engine
        sa.event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA busy_timeout = 10"))
        engine.dispose()
        other = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        status, body = await get("/readyz")
        assert (status, set(body["problems"])) == (503, {"ledger"})
        assert "guideline_bot_ledger_usable 0.0" in (await get("/metrics"))[1]
        other.execute("ROLLBACK")
        other.close()
        clock.now += LEDGER_EVERY_S
        assert (await get("/readyz"))[0] == 200

    play(tmp_path, scene)


def test_a_bot_without_an_index_is_not_ready(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, get: Get, clock: Clock) -> None:
        status, body = await get("/readyz")
        assert (status, set(body["problems"])) == (503, {"index"})

    play(tmp_path, scene, data=tmp_path / "empty")


def test_metrics_count_what_happened_and_hold_no_word_of_it(tmp_path: Path) -> None:
    model = Model(loaded=False)

    async def scene(server: SandboxServer, presence: Presence, get: Get, clock: Clock) -> None:
        channel = str(server.channel("triage")["id"])
        asked = server.post("ann", channel, "@guidebot what is zanzibar?")
        await until(lambda: replies_to(server, asked))
        blocked = server.post("ann", channel, "@guidebot Jane Roe has a hypo")
        await until(lambda: replies_to(server, blocked))
        _, page = await get("/metrics")
        for line in (
            'guideline_bot_questions_total{mode="quoted",status="answered"} 1.0',
            'guideline_bot_questions_total{mode="",status="blocked"} 1.0',
            'guideline_bot_questions_total{mode="",status="refused"} 0.0',
            'guideline_bot_stage_seconds_count{stage="total"} 2.0',
            "guideline_bot_connected 1.0",
            "guideline_bot_ledger_usable 1.0",
            'guideline_bot_connections_total{how="afresh"} 1.0',
            "guideline_bot_index_passages 1.0",
            "guideline_bot_model_up 1.0",
            "guideline_bot_model_loaded 0.0",
        ):
            assert line in page.splitlines(), line
        assert "zanzibar" not in page
        assert "Jane" not in page
        await get("/metrics")
        assert model.asked == 1, "the model's server is not asked with every look"

    play(tmp_path, scene, model=model)


def test_an_index_that_nothing_changed_in_for_months_is_not_called_old(tmp_path: Path) -> None:
    data = indexed(tmp_path)
    first = Generations(data).current()
    long_ago, now = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    Generations(data).note_run(long_ago)

    async def age() -> float | None:
        async with a_bot(tmp_path, FakeAnswerer()) as (_, presence, _):
            health = Health(presence.desk, data, Generation(data), now=lambda: now)
            return (await health.snapshot()).index_age_s

    assert asyncio.run(age()) == (now - long_ago).total_seconds()
    build([Folder(tmp_path / "guidelines")], data, HashEmbedder(), now=now - timedelta(hours=1))
    assert Generations(data).current() == first
    assert asyncio.run(age()) == 3600


def test_a_port_that_is_taken_is_told_with_the_settings_name(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, get: Get, clock: Clock) -> None:
        health = Health(presence.desk, tmp_path, Generation(tmp_path))
        with pytest.raises(ServiceAway, match=r"operations\.http_port"):
            await OperationsServer("127.0.0.1", server.port, health, Metrics()).start()

    play(tmp_path, scene)


def test_only_this_machine_can_look_unless_that_is_set_and_then_it_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for host, own in (("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("10.1.2.3", False)):
        assert is_loopback(host) is own

    async def scene(server: SandboxServer, presence: Presence, get: Get, clock: Clock) -> None:
        # An address that this machine does not have: nothing is opened beyond loopback here.
        watch = OperationsServer("192.0.2.1", 0, Health(presence.desk, tmp_path, Generation(tmp_path)), Metrics())
        with pytest.raises(ServiceAway):
            await watch.start()

    with caplog.at_level(logging.WARNING):
        play(tmp_path, scene)
    assert any("other machines" in record.getMessage() for record in caplog.records)
