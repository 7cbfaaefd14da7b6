"""Taking texts out of the ledger: one exchange's on request, everything older than is set."""

from __future__ import annotations

from dataclasses import dataclass

from bot.auditing.chain import TAKING_OUT
from bot.auditing.exchanges import asked_by
from bot.ledger import Event, Ledger
from retrieval.errors import WrongUse

_NEVER = (*TAKING_OUT, "tail_lost")
_DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was taken out.

    Attributes:
        seqs: the events that it was taken out of.
        said_in: the event that says so; None when there was nothing to take out.
        gone_from_disk: False while the write-ahead log still holds it, because somebody else reads the ledger.
    """

    seqs: tuple[int, ...]
    said_in: int | None
    gone_from_disk: bool = True


def erase(ledger: Ledger, id: str) -> Cleared:
    """Take out every text of an exchange; what is counted (status, scores, versions, hashes) stays.

    Args:
        id: of the question's post, of a comment's post (only that comment is taken out), or number of any of the
            exchange's events.

    Raises:
        WrongUse: the ledger knows no such exchange.
        LedgerError: the ledger cannot be written.
    """
    meant = _meant(ledger.events(), id)
    if not meant:
        raise WrongUse(f"The ledger holds no exchange {id}; guideline-bot audit list shows their numbers.")
    seqs = [event.seq for event in meant if event.texts is not None]
    return _take_out(ledger, seqs, "erased", bodies=False)


def purge(ledger: Ledger, days: int, now_s: float) -> Cleared:
    """Take out texts and bodies of every event that is older.

    Args:
        days: how long events are kept; 0: for ever, nothing is taken out.
        now_s: seconds since 1970.

    Raises:
        LedgerError: the ledger cannot be written.
    """
    if not days:
        return Cleared((), None)
    until_ms = int(now_s * 1000) - days * _DAY_MS
    seqs = [
        event.seq
        for event in ledger.events()
        if event.at_ms < until_ms and event.kind not in _NEVER and (event.body is not None or event.texts is not None)
    ]
    return _take_out(ledger, seqs, "purged", bodies=True)


def _take_out(ledger: Ledger, seqs: list[int], why: str, *, bodies: bool) -> Cleared:
    said_in = ledger.take_out(seqs, why=why, bodies=bodies).seq if seqs else None
    # Also when there is nothing to take out: another run may have been kept from finishing.
    return Cleared(tuple(seqs), said_in, ledger.fold())


def _meant(events: list[Event], id: str) -> list[Event]:
    comments = [event for event in events if event.kind == "comment" and (event.body or {}).get("post") == id]
    if comments:
        return comments
    number = int(id) if id.isascii() and id.isdigit() and len(id) < 19 else 0
    questions = {asked_by(event) for event in events if event.question_id and number == event.seq} or {id}
    return [event for event in events if event.question_id and asked_by(event) in questions]
