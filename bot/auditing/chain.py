"""Whether the ledger is as it was written (pure).

Every row is computed again from what is stored: its texts and body against their salted hashes, these and its other
columns against its own hash, and that against the one before. What is empty must have been taken out by a later
event of the chain that says so. The newest hash known from elsewhere shows a tail that was cut and a ledger that
was written anew as a whole: without one, neither can be seen from inside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.ledger import GENESIS, chain_hash, content_hash

TAKING_OUT = ("erased", "purged")
"""Kinds of event that say which texts were taken out; they are never taken out themselves."""

_SALT = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it was written, at or next to event `seq`."""

    seq: int
    what: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of verifying.

    Attributes:
        events: how many rows there are.
        head: seq and hash of the newest; (0, GENESIS) when there is none.
        faults: in order of `seq`; empty when all is as it was written.
        taken_out: how many events had texts or body taken out, as later events say.
        known_head: the newest event that was known from elsewhere; None when nothing was.
    """

    events: int
    head: tuple[int, str]
    faults: tuple[Fault, ...]
    taken_out: int
    known_head: tuple[int, str] | None

    @property
    def intact(self) -> bool:
        return not self.faults


def verify(rows: Iterable[Mapping[str, Any]], known_heads: Iterable[tuple[int, str]] = ()) -> Verification:
    """Compare every row with its hashes.

    Args:
        rows: as stored, in order of `seq`.
        known_heads: seq and hash of events that are known from elsewhere (a head file, a channel).
    """
    walk = _Walk(frozenset(known_heads))
    for row in rows:
        walk.see(row)
    return walk.end()


class _Walk:
    """Goes along the chain once, in little memory."""

    def __init__(self, known: frozenset[tuple[int, str]]) -> None:
        self._known: dict[int, set[str]] = {}
        for seq, digest in known:
            self._known.setdefault(seq, set()).add(digest)
        self._newest = max(known, default=None)
        self._seq, self._hash = 0, GENESIS
        self._events = 0
        self._faults: list[Fault] = []
        # seq → what is empty, or is full and might have been taken out: "body", "texts".
        self._empty: dict[int, frozenset[str]] = {}
        self._told_empty: dict[int, frozenset[str]] = {}
        self._full: dict[int, frozenset[str]] = {}

    def see(self, row: Mapping[str, Any]) -> None:
        self._events += 1
        seq = int(row["seq"])
        expected = self._seq + 1
        if seq > expected:
            gap = f"event {expected} is" if seq == expected + 1 else f"events {expected} to {seq - 1} are"
            self._fault(expected, f"{gap} missing")
        elif seq < expected:
            self._fault(seq, "stands where no event can be: it was inserted")
        if row["previous"] != self._hash and seq == expected:
            self._fault(seq, "does not follow on the event before it: one of them was changed, moved or replaced")
        if _hash_of(row) != row["hash"]:
            self._fault(seq, "its columns do not fit its hash: it was changed")
        elif self._known.get(seq, {row["hash"]}) != {row["hash"]}:
            self._fault(seq, "is another event than the one known from elsewhere: the ledger was written anew")
        self._see_content(seq, row)
        if row["kind"] == "tail_lost" and row["body"] is not None:
            self._fault(seq, "says that events after it had been written before were gone when the bot went on")
        self._seq, self._hash = max(seq, self._seq), str(row["hash"])

    def _see_content(self, seq: int, row: Mapping[str, Any]) -> None:
        empty, full = set(), set()
        for part in ("body", "texts"):
            content, salt, digest = row[part], row[f"{part}_salt"], row[f"{part}_hash"]
            if content is None and salt is None:
                if digest != "":
                    empty.add(part)
            elif content is None or not _fits(salt, content, digest):
                self._fault(seq, f"its {part} {'does' if part == 'body' else 'do'} not fit the hash: changed")
            else:
                full.add(part)
        if row["kind"] in TAKING_OUT:
            if empty:
                self._fault(seq, "says what was taken out and is empty itself")
            self._see_taking_out(seq, row)
        elif empty:
            self._empty[seq] = frozenset(empty)
        if full:
            self._full[seq] = frozenset(full)

    def _see_taking_out(self, seq: int, row: Mapping[str, Any]) -> None:
        told = _told_of(row["body"])
        if told is None:
            return  # its body does not fit its hash, which has been said
        seqs, bodies = told
        parts = frozenset({"body", "texts"} if bodies else {"texts"})
        for one in seqs:
            if one < seq:
                self._told_empty[one] = self._told_empty.get(one, frozenset()) | parts

    def end(self) -> Verification:
        for seq, parts in self._empty.items():
            for part in sorted(parts - self._told_empty.get(seq, frozenset())):
                self._fault(seq, f"its {part} {'is' if part == 'body' else 'are'} gone, and no later event says so")
        for seq, parts in self._told_empty.items():
            if parts & self._full.get(seq, frozenset()):
                self._fault(seq, "was erased or purged, and holds its text again")
        newest = 0 if self._newest is None else self._newest[0]
        if newest > self._seq:
            last = self._seq + 1
            gone = f"event {last} is" if last == newest else f"events {last} to {newest} are"
            self._fault(last, f"the end was cut off: {gone} known from elsewhere and not here")
        return Verification(
            self._events,
            (self._seq, self._hash),
            tuple(sorted(self._faults, key=lambda fault: fault.seq)),
            len(self._empty),
            self._newest,
        )

    def _fault(self, seq: int, what: str) -> None:
        self._faults.append(Fault(seq, what))


def _hash_of(row: Mapping[str, Any]) -> str | None:
    columns = ("previous", "seq", "at_ms", "kind", "question_id", "thread_id", "body_hash", "texts_hash")
    try:
        return chain_hash(*(row[name] for name in columns))
    except TypeError:
        return None  # bytes where a text was: nothing that a ledger has written


def _fits(salt: Any, content: Any, digest: Any) -> bool:
    # The salt's form matters: with a line break in it, salt and content could trade characters.
    if not isinstance(salt, str) or not isinstance(content, str) or not _SALT.fullmatch(salt):
        return False
    return content_hash(salt, content) == str(digest)


def _told_of(body: Any) -> tuple[list[int], bool] | None:
    try:
        told = json.loads(body)
        return [int(seq) for seq in told["seqs"]], bool(told["bodies"])
    except (TypeError, ValueError, KeyError):
        return None
