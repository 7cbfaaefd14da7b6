"""Events as the exchanges they belong to: a question, what came of it, its reply, what people said (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.ledger import Event
from bot.records import told

OUTCOMES = ("failed", "declined", "dropped", "command")
"""Kinds of event that end a question without a result."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what came of it.

    Attributes:
        outcome: the event that says so: a result, or how it ended without one.
        events: all of the question, in order: claims, results, posts, feedback, comments.
    """

    outcome: Event
    events: tuple[Event, ...]

    @property
    def number(self) -> int:
        """What it is called by: `seq` of its outcome."""
        return self.outcome.seq

    @property
    def question_id(self) -> str:
        return asked_by(self.outcome)

    @property
    def status(self) -> str:
        """answered, refused, blocked, failed; declined, dropped or command; purged when that is not known any more."""
        if self.outcome.kind != "result":
            return self.outcome.kind
        return "purged" if self.outcome.body is None else str(self.outcome.body.get("status", ""))

    @property
    def record(self) -> dict[str, Any]:
        """The outcome's body, with the reasons that its texts hold; {} once purged."""
        return told(self.outcome.body, self.outcome.texts) if self.outcome.body is not None else {}

    @property
    def texts(self) -> Mapping[str, Any]:
        """What was written and read; {} once erased or purged."""
        return self.outcome.texts or {}

    @property
    def question(self) -> str:
        """The question, or why it is not there."""
        if self.outcome.body is None or (self.outcome.texts is None and self.outcome.texts_hash):
            return "(erased)" if self.outcome.body is not None else "(purged)"
        if self.status == "blocked":
            return "(blocked: not kept)"
        if "question_sha256" in self.texts:
            return f"(kept as a hash: {self.texts['question_sha256'][:16]}…)"
        return str(self.texts.get("question", ""))

    @property
    def cited(self) -> list[Mapping[str, Any]]:
        """The sources that the answer rests on."""
        return [source for source in (self.outcome.body or {}).get("sources") or () if source.get("cited")]

    @property
    def guidelines(self) -> tuple[str, ...]:
        """The names of the guidelines that the answer cites."""
        return tuple(dict.fromkeys(str(source.get("guideline", "")) for source in self.cited))

    @property
    def posted(self) -> Event | None:
        """Where this outcome was posted; None when it was not, as far as is known."""
        if self.outcome.kind != "result":
            return self.outcome
        later = [event for event in self.events if event.seq > self.outcome.seq]
        for event in later:
            if event.kind in ("posted", "edited"):
                return event
            if event.kind == "result":
                return None  # it was answered anew before anything was posted
        return None

    @property
    def post_ids(self) -> tuple[str, ...]:
        body = (self.posted.body if self.posted is not None else None) or {}
        return tuple(str(id) for id in body.get("posts") or ())

    @property
    def thumbs(self) -> tuple[int, int]:
        """How many people think well and ill of it now."""
        state: dict[tuple[str, str], bool] = {}
        for event in self.events:
            if event.kind == "feedback" and event.body is not None:
                says, person = str(event.body.get("says", "")), str(event.body.get("person", ""))
                state[says, person] = bool(event.body.get("added"))
        return (
            sum(holds for (says, _), holds in state.items() if says == "up"),
            sum(holds for (says, _), holds in state.items() if says == "down"),
        )

    @property
    def comments(self) -> tuple[str, ...]:
        """What people said was wrong, as far as it was kept."""
        return tuple(
            str(event.texts["comment"])
            for event in self.events
            if event.kind == "comment" and event.texts and event.texts.get("comment")
        )


def asked_by(event: Event) -> str:
    """Return the post that asked: claims of edits and notices carry a suffix."""
    return event.question_id.split("@", 1)[0].split("#", 1)[0]


def exchanges_of(events: Iterable[Event]) -> list[Exchange]:
    """Return one exchange for each result, and for each question that ended without one; oldest first."""
    by_question: dict[str, list[Event]] = {}
    for event in events:
        if asked_by(event):
            by_question.setdefault(asked_by(event), []).append(event)
    found = []
    for group in by_question.values():
        outcomes = [event for event in group if event.kind == "result"]
        # Blocked and failed results are followed by "posted"; "failed" alone stands for itself.
        outcomes += [event for event in group if event.kind in OUTCOMES and not _follows(event, outcomes)]
        found += [Exchange(outcome, tuple(group)) for outcome in outcomes]
    return sorted(found, key=lambda exchange: exchange.number)


def _follows(event: Event, outcomes: Sequence[Event]) -> bool:
    return event.kind == "dropped" and any(outcome.seq < event.seq for outcome in outcomes)


def select(
    exchanges: Iterable[Exchange], *, since_ms: int = 0, status: str = "", guideline: str = ""
) -> list[Exchange]:
    """Return those at or after a time, of a status, and that cite a guideline.

    Args:
        guideline: part of its name or title, any case; "" for all.
    """
    wanted = guideline.casefold()
    return [
        one
        for one in exchanges
        if one.outcome.at_ms >= since_ms
        and (not status or one.status == status)
        and (not wanted or any(names(source, wanted) for source in one.cited))
    ]


def names(source: Mapping[str, Any], wanted: str) -> bool:
    """Tell whether a folded word is part of a source's guideline: its name or title."""
    return wanted in f"{source.get('guideline', '')}\n{source.get('title', '')}".casefold()


def find(exchanges: Sequence[Exchange], id: str) -> list[Exchange]:
    """Return the exchanges that an id means, oldest first: number of any event, question's or reply's post id."""
    number = int(id) if id.isascii() and id.isdigit() and len(id) < 19 else 0
    found = [one for one in exchanges if id == one.question_id or number == one.number or id in one.post_ids]
    if found or not number:
        return found
    return [one for one in exchanges if any(event.seq == number for event in one.events)][-1:]
