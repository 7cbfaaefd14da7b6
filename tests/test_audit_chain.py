"""Verifying the ledger: every way of changing one row is found, and what was taken out in the open is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.auditing.chain import verify
from bot.ledger import GENESIS, Ledger, LedgerError, chain_hash, read_head

Rows = list[dict[str, Any]]

COLUMNS = (
    "at_ms",
    "kind",
    "question_id",
    "thread_id",
    "body",
    "body_salt",
    "body_hash",
    "texts",
    "texts_salt",
    "texts_hash",
    "previous",
    "hash",
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = a_ledger(tmp_path)
    yield ledger
    ledger.close()


def a_ledger(folder: Path) -> Ledger:
    ledger = Ledger.open(folder / "ledger.sqlite", head_file=folder / "ledger.head")
    for number in range(3):
        claim = ledger.claim(f"q{number}", "bot", 60, thread_id=f"t{number}")
        assert claim is not None
        ledger.append("result", f"q{number}", {"status": "answered"}, {"question": f"text {number}"}, thread_id="t")
        ledger.finish(claim, "posted", {"posts": [f"p{number}"]})
    ledger.append("feedback", "q0", {"says": "down"})
    return ledger


def rows_of(ledger: Ledger) -> Rows:
    return [dict(row) for row in ledger.rows()]


def raw(tmp_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)


def test_a_ledger_as_it_was_written_is_intact(ledger: Ledger, tmp_path: Path) -> None:
    head = read_head(tmp_path / "ledger.head")
    assert head is not None
    checked = verify(ledger.rows(), [head])
    assert checked.intact
    assert checked.events == 10
    assert checked.head == ledger.head() == checked.known_head


def test_an_empty_ledger_is_intact() -> None:
    assert verify([]).head == (0, GENESIS)
    assert verify([]).intact


def _other(value: Any) -> list[Any]:
    """Return values that are not this one: another of its kind, nothing, and one that differs in a character."""
    if isinstance(value, int):
        return [value + 1, -value, None]
    if value is None:
        return ["", "{}", "0" * 32]
    return [value + " ", value[:-1], value.swapcase() if value.swapcase() != value else value + "x", None]


@pytest.mark.parametrize("column", COLUMNS)
def test_any_other_value_in_any_column_of_any_row_is_found_and_its_event_is_named(ledger: Ledger, column: str) -> None:
    rows = rows_of(ledger)
    for place, row in enumerate(rows):
        for value in _other(row[column]):
            if value == row[column]:
                continue
            changed = [dict(one) for one in rows]
            changed[place][column] = value
            faults = verify(changed).faults
            assert faults, (place, column, value)
            assert row["seq"] in {fault.seq for fault in faults}


def test_two_columns_changed_together_are_found(ledger: Ledger) -> None:
    rows = rows_of(ledger)
    for place in range(len(rows)):
        for one in COLUMNS:
            for other in COLUMNS:
                changed = [dict(row) for row in rows]
                changed[place][one] = None
                changed[place][other] = None
                if changed != rows:
                    assert verify(changed).faults, (place, one, other)


def test_every_single_row_that_is_taken_away_is_found_also_the_last_one(ledger: Ledger) -> None:
    rows = rows_of(ledger)
    head = (rows[-1]["seq"], rows[-1]["hash"])
    for place, row in enumerate(rows):
        faults = verify(rows[:place] + rows[place + 1 :], [head]).faults
        assert row["seq"] in {fault.seq for fault in faults}


def test_a_row_that_is_taken_away_with_the_rest_renumbered_is_found(ledger: Ledger) -> None:
    rows = rows_of(ledger)
    for place in range(len(rows) - 1):
        fewer = rows[:place] + [{**row, "seq": row["seq"] - 1} for row in rows[place + 1 :]]
        assert verify(fewer).faults


def test_every_single_row_that_is_put_in_is_found(ledger: Ledger) -> None:
    rows = rows_of(ledger)
    head = (rows[-1]["seq"], rows[-1]["hash"])
    for place in range(len(rows)):
        for copied in rows:
            moved = [{**row, "seq": row["seq"] + 1} for row in rows[place:]]
            more = [*rows[:place], {**copied, "seq": place + 1}, *moved]
            assert verify(more, [head]).faults, (place, copied["seq"])


def test_a_row_before_the_first_or_with_a_number_twice_is_found(ledger: Ledger) -> None:
    rows = rows_of(ledger)
    for seq in (-5, 0):
        assert verify([{**rows[0], "seq": seq}, *rows]).faults
    assert verify([*rows[:4], rows[3], *rows[4:]]).faults


@given(st.data())
def test_every_other_order_of_the_rows_is_found(data: st.DataObject) -> None:
    rows = data.draw(st.just(_CHAIN))
    order = data.draw(st.permutations(range(len(rows))))
    shuffled = [rows[place] for place in order]
    renumbered = [{**row, "seq": place} for place, row in enumerate(shuffled, start=1)]
    unchanged = order == sorted(order)
    assert verify(shuffled).intact == unchanged
    assert verify(renumbered).intact == unchanged


def test_a_tail_that_was_cut_is_found_by_what_is_known_elsewhere(ledger: Ledger) -> None:
    rows = rows_of(ledger)
    head = (rows[-1]["seq"], rows[-1]["hash"])
    for kept in range(len(rows)):
        (fault,) = verify(rows[:kept], [head]).faults
        assert fault.seq == kept + 1
        assert "cut off" in fault.what


def test_a_ledger_written_anew_as_a_whole_is_found_by_what_is_known_elsewhere(ledger: Ledger) -> None:
    rows = rows_of(ledger)
    head = (rows[-1]["seq"], rows[-1]["hash"])
    previous = GENESIS
    for row in rows:
        row["at_ms"] += 1
        row["previous"] = previous
        names = ("seq", "at_ms", "kind", "question_id", "thread_id", "body_hash", "texts_hash")
        previous = row["hash"] = chain_hash(previous, *(row[name] for name in names))
    assert verify(rows).intact, "from inside nobody can tell"
    (fault,) = verify(rows, [head]).faults
    assert fault.seq == head[0]


def test_what_was_erased_in_the_open_is_intact_and_what_was_emptied_in_silence_is_not(
    ledger: Ledger, tmp_path: Path
) -> None:
    ledger.take_out([2], why="erased", bodies=False)
    ledger.take_out([4, 5], why="purged", bodies=True)
    checked = verify(ledger.rows())
    assert checked.intact
    assert checked.taken_out == 3
    with raw(tmp_path) as db:
        db.execute("UPDATE events SET body = NULL, body_salt = NULL WHERE seq = 2")
    (fault,) = verify(ledger.rows()).faults
    assert (fault.seq, fault.what) == (2, "its body is gone, and no later event says so")


def test_an_erased_text_that_is_there_again_is_found(ledger: Ledger, tmp_path: Path) -> None:
    before = rows_of(ledger)[1]
    ledger.take_out([2], why="erased", bodies=False)
    with raw(tmp_path) as db:
        db.execute("UPDATE events SET texts = ?, texts_salt = ? WHERE seq = 2", (before["texts"], before["texts_salt"]))
    (fault,) = verify(ledger.rows()).faults
    assert fault.seq == 2
    assert "again" in fault.what


def test_an_event_cannot_cover_what_comes_after_it(ledger: Ledger, tmp_path: Path) -> None:
    ledger.take_out([12], why="purged", bodies=True)
    ledger.append("result", "q9", {"status": "answered"})
    with raw(tmp_path) as db:
        db.execute("UPDATE events SET body = NULL, body_salt = NULL WHERE seq = 12")
    assert [fault.seq for fault in verify(ledger.rows()).faults] == [12]


def test_bytes_that_are_no_text_are_found_like_any_other_change(ledger: Ledger, tmp_path: Path) -> None:
    with raw(tmp_path) as db:
        db.execute("UPDATE events SET texts = CAST(x'ff80' AS TEXT) WHERE seq = 2")
        db.execute("UPDATE events SET kind = x'ff80' WHERE seq = 5")
    assert {fault.seq for fault in verify(ledger.rows()).faults} == {2, 5}


def test_rows_below_the_first_number_are_among_those_that_are_verified(ledger: Ledger, tmp_path: Path) -> None:
    with raw(tmp_path) as db:
        db.execute("INSERT INTO events SELECT -3, " + ", ".join(COLUMNS) + " FROM events WHERE seq = 1")
    assert -3 in {fault.seq for fault in verify(ledger.rows()).faults}


def test_a_tail_cut_while_the_bot_is_down_stays_visible_after_it_has_gone_on(ledger: Ledger, tmp_path: Path) -> None:
    ledger.close()
    with raw(tmp_path) as db:
        db.execute("DELETE FROM events WHERE seq > 8")
    reopened = Ledger.open(tmp_path / "ledger.sqlite", head_file=tmp_path / "ledger.head")
    reopened.append("result", "q7", {})
    faults = verify(reopened.rows()).faults
    assert [fault.seq for fault in faults] == [9]
    assert reopened.events(kinds=["tail_lost"])[0].body is not None
    reopened.close()


def test_a_tail_cut_while_the_bot_runs_stays_visible_after_it_has_gone_on(ledger: Ledger, tmp_path: Path) -> None:
    with raw(tmp_path) as db:
        db.execute("DELETE FROM events WHERE seq > 8")
    ledger.append("result", "q7", {})
    ledger.append("result", "q8", {})
    assert [fault.seq for fault in verify(ledger.rows()).faults] == [9]


def test_a_head_file_that_lags_behind_is_no_fault(ledger: Ledger, tmp_path: Path) -> None:
    ledger.close()
    head = tmp_path / "ledger.head"
    older = head.read_text()
    ledger = Ledger.open(tmp_path / "ledger.sqlite", head_file=head)
    ledger.append("result", "q7", {})
    ledger.close()
    head.write_text(older)  # as after a crash between the two
    ledger = Ledger.open(tmp_path / "ledger.sqlite", head_file=head)
    ledger.append("result", "q8", {})
    assert verify(ledger.rows(), [read_head(head) or (0, "")]).intact
    ledger.close()


def test_an_event_whose_head_cannot_be_written_is_written_once_and_the_next_one_waits(tmp_path: Path) -> None:
    elsewhere = tmp_path / "other-disk"
    elsewhere.mkdir()
    ledger = Ledger.open(tmp_path / "ledger.sqlite", head_file=elsewhere / "head")
    ledger.append("result", "q1", {})
    (elsewhere / "head").rename(tmp_path / "kept")
    elsewhere.rmdir()
    ledger.append("result", "q2", {})
    for _ in range(3):
        with pytest.raises(LedgerError, match=r"ledger\.head_file"):
            ledger.append("result", "q3", {})
        with pytest.raises(LedgerError, match=r"ledger\.head_file"):
            ledger.claim("q4", "bot", 60)
    elsewhere.mkdir()
    ledger.append("result", "q3", {})
    assert [event.question_id for event in ledger.events()] == ["q1", "q2", "q3"], "each once"
    assert read_head(elsewhere / "head") == ledger.head()
    assert verify(ledger.rows()).intact
    ledger.close()


def test_a_ledger_that_was_opened_and_never_written_is_intact_later(tmp_path: Path) -> None:
    for _ in range(2):
        Ledger.open(tmp_path / "ledger.sqlite", head_file=tmp_path / "head").close()
    ledger = Ledger.open(tmp_path / "ledger.sqlite", head_file=tmp_path / "head")
    assert ledger.events() == []
    assert verify(ledger.rows(), [read_head(tmp_path / "head") or (9, "")]).intact
    ledger.close()


def _chain(count: int) -> Rows:
    """Return rows as a ledger stores them, made without one."""
    from bot.ledger import content_hash

    rows: Rows = []
    previous = GENESIS
    for seq in range(1, count + 1):
        body, salt = f'{{"n":{seq}}}', f"{seq:032x}"
        row = {"seq": seq, "at_ms": seq, "kind": "result", "question_id": f"q{seq}", "thread_id": ""}
        row |= {"body": body, "body_salt": salt, "body_hash": content_hash(salt, body)}
        row |= {"texts": None, "texts_salt": None, "texts_hash": "", "previous": previous}
        previous = chain_hash(previous, seq, seq, "result", f"q{seq}", "", row["body_hash"], "")
        rows.append({**row, "hash": previous})
    return rows


_CHAIN = _chain(6)
