"""The ledger: who claimed which question, and what came of it.

One append-only table of events, chained by hash, beside two small mutable tables that are no evidence of
anything: leases (who is working on a question now) and marks (how far catching up has come).

An event has a `body` (what an auditor counts and filters by) and `texts` (what people wrote and read). Both
enter the chain only as salted hashes:

    body_hash  = SHA-256(salt ‖ body)          texts_hash = SHA-256(salt ‖ texts)
    hash       = SHA-256(previous hash ‖ seq ‖ at ‖ kind ‖ question ‖ body_hash ‖ texts_hash)

so that a text can be taken out later and every hash still fits. The salt goes with the text: without it nobody
can try names against what is left.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from bot.ledger_tables import LedgerError, begin, events, leases, marks, meta, meta_value, migrate, prepare, told

__all__ = ["GENESIS", "Claim", "Event", "Ledger", "LedgerError", "chain_hash", "content_hash", "read_head"]

GENESIS = "0" * 64
_KEEPS_HEAD = "keeps_head"


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the ledger.

    Attributes:
        seq: 1, 2, 3 … without gaps.
        at_ms: milliseconds since 1970, UTC.
        kind: claim, result, posted, notice, feedback, comment, edited, dropped, failed, erased, purged …;
            tail_lost when events that were known to be there were gone.
        question_id: the post that asked; "" for events of the bot itself.
        thread_id: the root post of the thread; "" when unknown.
        body: None once purged.
        texts: None when there were none, or once erased or purged.
    """

    seq: int
    at_ms: int
    kind: str
    question_id: str
    thread_id: str
    body: Mapping[str, Any] | None
    texts: Mapping[str, Any] | None
    body_hash: str
    texts_hash: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to answer one question until `until_ms`.

    Attributes:
        attempt: 1 for the first owner; above 1 somebody may already have posted: look into the thread.
    """

    question_id: str
    owner: str
    attempt: int
    until_ms: int


class Ledger:
    """The ledger in one SQLite file; several processes may share it. Every method may raise `LedgerError`."""

    def __init__(self, engine: Engine, clock: Callable[[], float], head_file: Path | None) -> None:
        self._engine = engine
        self._clock = clock
        self._head_file = head_file
        self._newest = (0, GENESIS)
        self._head_problem = ""

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        head_file: Path | None = None,
        busy_timeout_s: float = 5.0,
    ) -> Ledger:
        """Open the ledger, making it on first use.

        Args:
            path: the SQLite file; its folder is made.
            clock: seconds since 1970.
            head_file: where the newest hash is written after each event, best on another disk. When it knows an
                event that is not there any more, the chain says so from now on (kind tail_lost).
            busy_timeout_s: how long to wait for another process that is writing.

        Raises:
            LedgerError: the file is no ledger, is from a newer version, or cannot be opened.
        """
        engine = sa.create_engine(
            f"sqlite:///{path}", connect_args={"timeout": busy_timeout_s, "check_same_thread": False}
        )
        sa.event.listen(engine, "connect", prepare)
        sa.event.listen(engine, "begin", begin)
        ledger = cls(engine, clock, head_file)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.touch(mode=0o600)
        except OSError as error:
            raise LedgerError(f"The ledger {path} cannot be opened ({error.strerror}).") from None
        with ledger._writing() as connection:
            migrate(connection)
            if head_file is not None and meta_value(connection, _KEEPS_HEAD) is None:
                connection.execute(meta.insert().values(name=_KEEPS_HEAD, value="1"))
        ledger._compare_head()
        ledger._head_problem = ledger._write_head()
        return ledger

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    # --- claims -------------------------------------------------------------------------------------------

    def claim(self, question_id: str, owner: str, lease_s: float, *, thread_id: str = "") -> Claim | None:
        """Claim a question before any work on it.

        Returns:
            None when it is finished or when another owner's lease is still running; otherwise the claim, which
            runs out after `lease_s` seconds unless it is renewed.
        """
        now_ms = self._now_ms()
        with self._writing() as connection:
            lease = connection.execute(sa.select(leases).where(leases.c.question_id == question_id)).first()
            if lease is not None and (lease.done or lease.until_ms > now_ms):
                return None
            attempt = 1 if lease is None else lease.attempt + 1
            claim = Claim(question_id, owner, attempt, now_ms + int(lease_s * 1000))
            row = {"owner": owner, "attempt": attempt, "until_ms": claim.until_ms, "done": False}
            if lease is None:
                connection.execute(leases.insert().values(question_id=question_id, **row))
            else:
                connection.execute(leases.update().where(leases.c.question_id == question_id).values(**row))
            event = self._append(
                connection, "claim", question_id, thread_id, {"owner": owner, "attempt": attempt}, None
            )
        self._written(event)
        return claim

    def renew(self, claim: Claim, lease_s: float) -> Claim | None:
        """Prolong a claim; None when somebody else has taken it over or it is finished."""
        until_ms = self._now_ms() + int(lease_s * 1000)
        with self._writing() as connection:
            changed = connection.execute(leases.update().where(*_held(claim)).values(until_ms=until_ms)).rowcount
        return Claim(claim.question_id, claim.owner, claim.attempt, until_ms) if changed else None

    def release(self, claim: Claim) -> bool:
        """Hand a question back at once, so that the next owner need not wait for the lease to end."""
        with self._writing() as connection:
            held = leases.update().where(*_held(claim)).values(until_ms=self._now_ms())
            return connection.execute(held).rowcount > 0

    def finish(
        self,
        claim: Claim,
        kind: str,
        body: Mapping[str, Any],
        texts: Mapping[str, Any] | None = None,
        *,
        thread_id: str = "",
    ) -> Event | None:
        """Write a question's last event and close its claim, both or neither.

        Returns:
            None when the claim is no longer held; then nothing is written.
        """
        with self._writing() as connection:
            if not connection.execute(leases.update().where(*_held(claim)).values(done=True)).rowcount:
                return None
            event = self._append(connection, kind, claim.question_id, thread_id, body, texts)
        self._written(event)
        return event

    def is_finished(self, question_id: str) -> bool:
        """Tell whether a question has its last event."""
        with self._reading() as connection:
            done = sa.select(leases.c.done).where(leases.c.question_id == question_id)
            return bool(connection.execute(done).scalar())

    def unfinished(self) -> list[Claim]:
        """Return the claims whose lease is over without a last event, oldest first."""
        with self._reading() as connection:
            over = sa.select(leases).where(leases.c.done.is_(False), leases.c.until_ms <= self._now_ms())
            rows = connection.execute(over.order_by(leases.c.until_ms, leases.c.question_id))
            return [Claim(row.question_id, row.owner, row.attempt, row.until_ms) for row in rows]

    # --- events -------------------------------------------------------------------------------------------

    def append(
        self,
        kind: str,
        question_id: str,
        body: Mapping[str, Any],
        texts: Mapping[str, Any] | None = None,
        *,
        thread_id: str = "",
    ) -> Event:
        """Write one event; it is on the disk when this returns."""
        with self._writing() as connection:
            event = self._append(connection, kind, question_id, thread_id, body, texts)
        self._written(event)
        return event

    def events(
        self,
        question_id: str | None = None,
        *,
        kinds: Sequence[str] = (),
        thread_id: str | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Event]:
        """Return events in the order they were written, those with `seq` above `after`."""
        query = sa.select(events).where(events.c.seq > after).order_by(events.c.seq)
        if question_id is not None:
            query = query.where(events.c.question_id == question_id)
        if thread_id is not None:
            query = query.where(events.c.thread_id == thread_id)
        if kinds:
            query = query.where(events.c.kind.in_(list(kinds)))
        if limit is not None:
            query = query.limit(limit)
        with self._reading() as connection:
            return [_event(row) for row in connection.execute(query)]

    def head(self) -> tuple[int, str]:
        """Return the newest event's seq and hash; (0, GENESIS) when there is none."""
        with self._reading() as connection:
            return _head(connection)

    def keeps_head(self) -> bool:
        """Tell whether a head file has been written for this ledger, so that one ought to be there."""
        with self._reading() as connection:
            return meta_value(connection, _KEEPS_HEAD) is not None

    def take_out(self, seqs: Sequence[int], *, why: str, bodies: bool) -> Event:
        """Take texts out for good, and say so in the chain.

        Args:
            seqs: the events.
            why: "erased" (one text, on request) or "purged" (retention).
            bodies: also take the bodies.
        """
        empty: dict[str, Any] = {"texts": None, "texts_salt": None}
        if bodies:
            empty |= {"body": None, "body_salt": None}
        with self._writing() as connection:
            for start in range(0, len(seqs), 500):
                connection.execute(events.update().where(events.c.seq.in_(seqs[start : start + 500])).values(**empty))
            event = self._append(connection, why, "", "", {"seqs": list(seqs), "bodies": bodies}, None)
        self.fold()
        self._written(event)
        return event

    def fold(self) -> bool:
        """Fold the write-ahead log into the file, which it empties: until then it holds what was taken out.

        Returns:
            False when somebody else was reading for too long; then it is done later, or by calling this again.
        """
        with self._reading() as connection:
            busy, *_ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            return not busy

    # --- marks --------------------------------------------------------------------------------------------

    def set_mark(self, name: str, value: Mapping[str, Any]) -> None:
        """Remember how far something has come."""
        text = json.dumps(value, sort_keys=True)
        with self._writing() as connection:
            if not connection.execute(marks.update().where(marks.c.name == name).values(value=text)).rowcount:
                connection.execute(marks.insert().values(name=name, value=text))

    def marks(self) -> dict[str, dict[str, Any]]:
        """Return every mark by its name."""
        with self._reading() as connection:
            return {row.name: json.loads(row.value) for row in connection.execute(sa.select(marks))}

    # --- inside -------------------------------------------------------------------------------------------

    def _append(
        self,
        connection: Connection,
        kind: str,
        question_id: str,
        thread_id: str,
        body: Mapping[str, Any],
        texts: Mapping[str, Any] | None,
    ) -> Event:
        seq, previous = _head(connection)
        if seq < self._newest[0]:
            known, self._newest = self._newest, (seq, previous)
            body_of_loss = {"known": list(known), "found": [seq, previous]}
            lost = self._append(connection, "tail_lost", "", "", body_of_loss, None)
            seq, previous = lost.seq, lost.hash
        seq += 1
        at_ms = self._now_ms()
        body_text = _canonical(body)
        texts_text = None if texts is None else _canonical(texts)
        body_salt, texts_salt = secrets.token_hex(16), secrets.token_hex(16)
        body_hash = content_hash(body_salt, body_text)
        texts_hash = "" if texts_text is None else content_hash(texts_salt, texts_text)
        row = {
            "seq": seq,
            "at_ms": at_ms,
            "kind": kind,
            "question_id": question_id,
            "thread_id": thread_id,
            "body": body_text,
            "body_salt": body_salt,
            "body_hash": body_hash,
            "texts": texts_text,
            "texts_salt": None if texts_text is None else texts_salt,
            "texts_hash": texts_hash,
            "previous": previous,
            "hash": chain_hash(previous, seq, at_ms, kind, question_id, thread_id, body_hash, texts_hash),
        }
        connection.execute(events.insert().values(**row))
        return Event(
            seq, at_ms, kind, question_id, thread_id, body, texts, body_hash, texts_hash, previous, str(row["hash"])
        )

    def _now_ms(self) -> int:
        return int(self._clock() * 1000)

    def _written(self, event: Event) -> None:
        """Remember, also outside the ledger, that an event is there.

        It is there: where the head cannot be written, not this event fails but the next one, before it is begun.
        """
        self._newest = max(self._newest, (event.seq, event.hash))
        self._head_problem = self._write_head()

    def _write_head(self) -> str:
        """Write the newest hash into the head file; returns what went wrong."""
        if self._head_file is None:
            return ""
        try:
            seq, digest = self.head()
            temporary = self._head_file.with_name(f"{self._head_file.name}.{os.getpid()}.new")
            with temporary.open("w", encoding="ascii") as file:
                file.write(f"{seq} {digest}\n")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._head_file)
        except LedgerError as error:
            return str(error)
        except OSError as error:
            return (
                f"ledger.head_file: {self._head_file} cannot be written ({error.strerror}); "
                "free the disk or name another file."
            )
        return ""

    def _compare_head(self) -> None:
        """Write into the chain that events are gone, before the head file forgets them."""
        known = read_head(self._head_file) if self._head_file is not None else None
        if known is None or not known[0]:
            return
        with self._reading() as connection:
            there = connection.execute(sa.select(events.c.hash).where(events.c.seq == known[0])).scalar()
            found = _head(connection)
        self._newest = found
        if there != known[1]:
            self.append("tail_lost", "", {"known": list(known), "found": list(found)})

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self._head_problem:
            self._head_problem = self._write_head()
            if self._head_problem:
                raise LedgerError(self._head_problem)
        try:
            with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise told(error) from None

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect().execution_options(reading=True) as connection:
                yield connection
        except SQLAlchemyError as error:
            raise told(error) from None

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield every stored row as it is, in order of `seq`, for verifying."""
        with self._reading() as connection:
            query = sa.select(events).order_by(events.c.seq)
            for row in connection.execution_options(yield_per=500).execute(query):
                yield dict(row._mapping)


def read_head(file: Path) -> tuple[int, str] | None:
    """Return seq and hash that a head file holds; None when there is none or it cannot be read."""
    try:
        seq, digest = file.read_text(encoding="ascii").split()
        return int(seq), digest
    except (OSError, ValueError):
        return None


def content_hash(salt: str, text: str) -> str:
    """Return SHA-256 of salt and text, in hex."""
    return hashlib.sha256(f"{salt}\n{text}".encode()).hexdigest()


def chain_hash(
    previous: str,
    seq: int,
    at_ms: int,
    kind: str,
    question_id: str,
    thread_id: str,
    body_hash: str,
    texts_hash: str,
) -> str:
    """Return the hash that the next event carries as `previous`."""
    parts = [previous, seq, at_ms, kind, question_id, thread_id, body_hash, texts_hash]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _canonical(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _event(row: Any) -> Event:
    body = None if row.body is None else json.loads(row.body)
    texts = None if row.texts is None else json.loads(row.texts)
    return Event(
        row.seq,
        row.at_ms,
        row.kind,
        row.question_id,
        row.thread_id,
        body,
        texts,
        row.body_hash,
        row.texts_hash,
        row.previous,
        row.hash,
    )


def _head(connection: Connection) -> tuple[int, str]:
    newest = connection.execute(sa.select(events.c.seq, events.c.hash).order_by(events.c.seq.desc()).limit(1)).first()
    return (newest.seq, newest.hash) if newest is not None else (0, GENESIS)


def _held(claim: Claim) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        leases.c.question_id == claim.question_id,
        leases.c.owner == claim.owner,
        leases.c.attempt == claim.attempt,
        leases.c.done.is_(False),
    )
