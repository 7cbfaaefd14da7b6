"""A ledger that cannot be written: nothing is answered, people are told, and it goes on when that is mended."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.auditing.chain import verify
from bot.ledger import Ledger, LedgerError
from bot.presence import Presence
from bot.sandbox.server import SandboxServer
from tests.doubles_mattermost import FakeAnswerer, FastTime, a_bot, bot_posts, mark, notices_for, replies_to, until

Trouble = Callable[[Ledger, Path], Any]


def _on_connect(ledger: Ledger, statement: str) -> Callable[[], None]:
    """Run a statement on every connection from now on; returns what ends that."""

    def run(connection: sqlite3.Connection, _: Any) -> None:
        connection.execute(statement)

    sa.event.listen(ledger._engine, "connect", run)
    ledger._engine.dispose()

    def end() -> None:
        sa.event.remove(ledger._engine, "connect", run)
        ledger._engine.dispose()

    return end


def _fill(ledger: Ledger, chars: int) -> None:
    for _ in range(1000):
        ledger.append("filler", "", {"x": "x" * chars})


@contextmanager
def full(ledger: Ledger, file: Path) -> Iterator[None]:
    """Let the file grow no more, as on a disk that is full."""
    with sqlite3.connect(file) as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
    end = _on_connect(ledger, f"PRAGMA max_page_count = {pages}")
    for chars in (3000, 300, 1):
        with pytest.raises(LedgerError, match="full"):
            _fill(ledger, chars)
    try:
        yield
    finally:
        end()


@contextmanager
def locked(ledger: Ledger, file: Path) -> Iterator[None]:
    """Let another program hold the file."""
    end = _on_connect(ledger, "PRAGMA busy_timeout = 5")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()
        end()


@contextmanager
def corrupt(ledger: Ledger, file: Path) -> Iterator[None]:
    """Overwrite the beginning of the file, and later put it back."""
    ledger._engine.dispose()
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ledger._engine.dispose()
    whole = file.read_bytes()
    file.write_bytes(b"\xff" * 4096 + whole[4096:])
    try:
        yield
    finally:
        ledger._engine.dispose()
        for beside in file.parent.glob(f"{file.name}-*"):
            beside.unlink()
        file.write_bytes(whole)


TROUBLES = [full, locked, corrupt]


def triage(server: SandboxServer) -> str:
    return str(server.channel("triage")["id"])


async def settled(server: SandboxServer, presence: Presence, question: dict[str, Any]) -> None:
    """The reply is there, once, the notice is gone, and the ledger holds both."""
    await until(lambda: not presence.desk.jobs and not presence.desk.arriving)
    assert len(replies_to(server, question)) == 1
    assert notices_for(server, question) == []
    kinds = [event.kind for event in presence.desk.ledger.ledger.events(question["id"])]
    assert kinds == ["claim", "result", "posted"]
    assert presence.desk.ledger.problem == ""
    assert verify(presence.desk.ledger.ledger.rows()).intact


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_question_is_not_answered_while_the_ledger_is_in_trouble_and_is_once_it_is_well(
    tmp_path: Path, trouble: Trouble
) -> None:
    async def run() -> None:
        fast, answerer = FastTime(), FakeAnswerer()
        async with a_bot(tmp_path, answerer, sleep=fast.sleep, desk={"lease_s": 600}) as (server, presence, _):
            with trouble(presence.desk.ledger.ledger, tmp_path / "ledger.sqlite"):
                question = server.post("ann", triage(server), "@guidebot what is a hypo?")
                await until(lambda: notices_for(server, question))
                (notice,) = notices_for(server, question)
                assert "can't record answers just now" in notice["message"]
                assert answerer.asked == []
                assert replies_to(server, question) == []
                assert presence.desk.ledger.problem
            await until(lambda: replies_to(server, question))
            await settled(server, presence, question)

    asyncio.run(run())


@pytest.mark.parametrize("trouble", TROUBLES)
def test_an_answer_that_cannot_be_recorded_is_not_posted_until_it_can(tmp_path: Path, trouble: Trouble) -> None:
    async def run() -> None:
        began, goes_on = asyncio.Event(), asyncio.Event()

        async def hold(_: str) -> None:
            began.set()
            await goes_on.wait()

        fast = FastTime()
        answerer = FakeAnswerer(before=hold)
        async with a_bot(tmp_path, answerer, sleep=fast.sleep, desk={"lease_s": 600}) as (server, presence, _):
            question = server.post("ann", triage(server), "@guidebot what is a hypo?")
            await began.wait()
            with trouble(presence.desk.ledger.ledger, tmp_path / "ledger.sqlite"):
                goes_on.set()
                await until(lambda: presence.desk.ledger.problem)
                await until(lambda: notices_for(server, question))
                assert replies_to(server, question) == []
            await until(lambda: replies_to(server, question))
            await settled(server, presence, question)
            assert len(answerer.asked) == 1, "what was answered is not answered again"

    asyncio.run(run())


def test_no_notice_is_left_behind_by_any_of_many_questions(tmp_path: Path) -> None:
    async def run() -> None:
        fast = FastTime()
        async with a_bot(tmp_path, sleep=fast.sleep, desk={"lease_s": 600}) as (server, presence, _):
            with locked(presence.desk.ledger.ledger, tmp_path / "ledger.sqlite"):
                questions = [server.post("ann", triage(server), f"@guidebot question {n}?") for n in range(5)]
                await until(lambda: all(notices_for(server, question) for question in questions))
            await until(lambda: all(replies_to(server, question) for question in questions))
            for question in questions:
                await settled(server, presence, question)
            assert all(mark(post)["kind"] == "reply" for post in bot_posts(server))

    asyncio.run(run())
