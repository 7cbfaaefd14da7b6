"""The ledger: one owner a question, events that stay as they were written, texts that can be taken out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.ledger import GENESIS, Ledger, LedgerError, chain_hash, content_hash


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", clock=clock)
    yield ledger
    ledger.close()


def test_a_question_has_one_owner_while_the_lease_runs(ledger: Ledger, clock: Clock) -> None:
    first = ledger.claim("q1", "bot-a", 60)
    assert first is not None
    assert first.attempt == 1
    assert ledger.claim("q1", "bot-b", 60) is None
    clock.now_s += 61
    second = ledger.claim("q1", "bot-b", 60)
    assert second is not None
    assert second.attempt == 2
    assert ledger.renew(first, 60) is None, "the frozen first owner must learn that it was replaced"
    assert ledger.finish(first, "result", {}) is None
    assert ledger.finish(second, "result", {"status": "answered"}) is not None
    assert ledger.claim("q1", "bot-a", 60) is None, "a finished question is never claimed again"


def test_two_processes_racing_for_a_question_give_one_claim(tmp_path: Path) -> None:
    ledgers = [Ledger.open(tmp_path / "ledger.sqlite") for _ in range(4)]
    for number in range(10):
        with ThreadPoolExecutor(4) as pool:
            claims = list(pool.map(lambda ledger, n=number: ledger.claim(f"q{n}", "x", 60), ledgers))
        assert sum(claim is not None for claim in claims) == 1
    for ledger in ledgers:
        ledger.close()


def test_a_released_question_can_be_taken_at_once_and_shows_as_unfinished(ledger: Ledger) -> None:
    claim = ledger.claim("q1", "bot-a", 60)
    assert claim is not None
    assert ledger.unfinished() == []
    assert ledger.release(claim)
    assert [open_claim.question_id for open_claim in ledger.unfinished()] == ["q1"]
    assert ledger.claim("q1", "bot-b", 60) is not None


def test_events_come_back_in_order_and_chained(ledger: Ledger) -> None:
    ledger.append("result", "q1", {"status": "answered"}, {"question": "hypo?"}, thread_id="t1")
    ledger.append("posted", "q1", {"post": "p1"}, thread_id="t1")
    first, second = ledger.events("q1")
    assert (first.seq, first.previous) == (1, GENESIS)
    assert second.previous == first.hash
    assert first.texts == {"question": "hypo?"}
    assert second.texts is None
    assert [event.seq for event in ledger.events(thread_id="t1", after=1)] == [2]
    assert [event.kind for event in ledger.events(kinds=["posted"])] == ["posted"]
    assert ledger.head() == (2, second.hash)


def test_every_hash_can_be_computed_again_from_the_stored_row(ledger: Ledger) -> None:
    ledger.append("result", "q1", {"n": 1}, {"question": "ä"})
    (row,) = ledger.rows()
    assert row["body_hash"] == content_hash(row["body_salt"], row["body"])
    assert row["texts_hash"] == content_hash(row["texts_salt"], row["texts"])
    assert row["hash"] == chain_hash(GENESIS, 1, row["at_ms"], "result", "q1", "", row["body_hash"], row["texts_hash"])


def test_a_text_that_was_taken_out_is_nowhere_in_the_file_and_the_chain_still_fits(
    ledger: Ledger, tmp_path: Path
) -> None:
    event = ledger.append("result", "q1", {"status": "answered"}, {"question": "zanzibar-secret"})
    ledger.append("posted", "q1", {})
    ledger.take_out([event.seq], why="erased", bodies=False)
    first, second, said = ledger.events()
    assert first.texts is None
    assert first.hash == event.hash == second.previous
    assert said.body == {"seqs": [1], "bodies": False}
    for file in tmp_path.iterdir():
        assert b"zanzibar-secret" not in file.read_bytes()


def test_the_head_is_written_elsewhere_after_each_event(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "a" / "ledger.sqlite", head_file=tmp_path / "head")
    ledger.append("result", "q1", {})
    ledger.append("result", "q2", {})
    assert (tmp_path / "head").read_text().split() == ["2", ledger.head()[1]]
    ledger.close()


def test_a_head_file_that_cannot_be_written_stops_the_answering(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", head_file=tmp_path / "missing" / "head")
    with pytest.raises(LedgerError, match=r"ledger\.head_file"):
        ledger.append("result", "q1", {})
    ledger.close()


def test_a_damaged_ledger_says_so_without_quoting_what_was_to_be_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"this is no database" * 1000)
    with pytest.raises(LedgerError, match="Restore it from a backup"):
        Ledger.open(path)


def test_a_locked_ledger_is_an_error_that_never_shows_the_text(ledger: Ledger, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
    patient = Ledger.open(tmp_path / "ledger.sqlite", busy_timeout_s=0.01)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="locked") as caught:
        patient.append("result", "q1", {}, {"question": "zanzibar-secret"})
    assert "zanzibar" not in str(caught.value)
    other.execute("ROLLBACK")
    patient.append("result", "q1", {})
    patient.close()
    other.close()


def test_marks_are_kept_by_name(ledger: Ledger) -> None:
    ledger.set_mark("channel/c1", {"post": "p1"})
    ledger.set_mark("channel/c1", {"post": "p2"})
    assert ledger.marks() == {"channel/c1": {"post": "p2"}}


def test_a_ledger_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.sqlite").close()
    with sqlite3.connect(tmp_path / "ledger.sqlite") as raw:
        raw.execute("UPDATE meta SET value = '99' WHERE name = 'schema_version'")
    with pytest.raises(LedgerError, match="newer guideline-bot"):
        Ledger.open(tmp_path / "ledger.sqlite")


def test_the_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.sqlite").close()
    assert (tmp_path / "ledger.sqlite").stat().st_mode & 0o077 == 0
