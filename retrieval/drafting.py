"""Draft evaluation questions from the indexed guidelines, for a person to correct (pure)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from retrieval.facts import Kind, holds_kind
from retrieval.guideline import Passage
from retrieval.terms import content_terms
from retrieval.units import Unit, units_of

# One draft in so many leaves out the section that answers it, one the whole guideline.
LEFT_OUT_EVERY = 5
MAX_SUBJECT_WORDS = 5

_TEMPLATES: dict[Kind, str] = {
    "dose": "What is the dose of {subject} in {topic}?",
    "frequency": "How often: {subject} in {topic}?",
    "duration": "How long: {subject} in {topic}?",
    "threshold": "At what value: {subject} in {topic}?",
}
_BEFORE_NUMBER = re.compile(r"^(.*?)(?=\d)", re.DOTALL)
_TRAILING = re.compile(
    r"(?:[\s:;,(\[<>=≤≥~±–-]|\b(?:of|for|is|are|at|least|most|than|below|above|under|over|less|more|every|within|up|to|in|"
    r"a|an|the|and|or|by|from|after|adult|child|dose|initially|about|when|if|with|give|given)\b)+$",
    re.IGNORECASE,
)


def draft_questions(passages: Sequence[Passage], count: int = 60) -> list[dict[str, Any]]:
    """Draft questions whose sections are known, and some whose section or guideline is hidden while they are asked.

    The same passages give the same drafts. They are stiff and some are wrong: a person rewords them as staff
    ask, removes what is senseless, checks `gold`, and adds other sections that answer as well to
    `also_acceptable`.

    Args:
        count: how many at most.

    Returns:
        lines of a questions file: {id, question, answerable, kind, gold, also_acceptable, gold_text, answer,
        without}. `kind` is drafted, left_out_fact or left_out_topic.
    """
    rows: list[dict[str, Any]] = []
    asked: set[str] = set()
    for passage in _spread(passages):
        if len(rows) >= count:
            break
        draft = _draft(passage)
        if draft is None or draft[0] in asked:
            continue
        question, unit = draft
        asked.add(question)
        gold = {"doc": passage.guideline, "section": " > ".join(passage.path)}
        place = len(rows) % LEFT_OUT_EVERY
        kind = {LEFT_OUT_EVERY - 2: "left_out_fact", LEFT_OUT_EVERY - 1: "left_out_topic"}.get(place, "drafted")
        hidden = {"left_out_fact": [gold], "left_out_topic": [{"doc": passage.guideline, "section": "*"}]}.get(kind, [])
        rows.append(
            {
                "id": f"draft-{len(rows) + 1:03d}",
                "question": question,
                "answerable": not hidden,
                "kind": kind,
                "gold": [] if hidden else [gold],
                "also_acceptable": [],
                "gold_text": None if hidden else unit.text,
                "answer": None,
                "without": hidden,
            }
        )
    return rows


def _spread(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Yield passages one guideline after the other, each guideline's in an order that only looks random."""
    by_guideline: dict[str, list[Passage]] = {}
    for passage in passages:
        by_guideline.setdefault(passage.guideline, []).append(passage)
    queues = [
        sorted(by_guideline[name], key=_order)
        for name in sorted(by_guideline, key=lambda name: hashlib.sha256(name.encode()).digest())
    ]
    for place in range(max(map(len, queues), default=0)):
        yield from (queue[place] for queue in queues if place < len(queue))


def _order(passage: Passage) -> tuple[bool, bytes]:
    """Passages with numbers come first: a wrong number is what an evaluation must catch."""
    return not any(char.isdigit() for char in passage.text), hashlib.sha256(passage.id.encode()).digest()


def _draft(passage: Passage) -> tuple[str, Unit] | None:
    """Return a question on one unit of a passage, and the unit; None where nothing can be asked."""
    for unit in units_of(passage):
        for kind, template in _TEMPLATES.items():
            subject = _subject(unit) if holds_kind(kind, unit.text) else ""
            if subject:
                return template.format(subject=subject, topic=passage.title), unit
    units = units_of(passage)
    if not units or not passage.path or not content_terms(passage.heading):
        return None
    return f"What is said about {passage.heading} in {passage.title}?", units[0]


def _subject(unit: Unit) -> str:
    """Return the words in front of a unit's first number: what the number is about."""
    before = _BEFORE_NUMBER.match(unit.text)
    if before is None:
        return ""
    words = _TRAILING.sub("", " ".join(before[1].split())).split()[-MAX_SUBJECT_WORDS:]
    subject = " ".join(words).strip(" .,:;()[]|*_-–")
    return subject if any(len(term) > 3 for term in content_terms(subject)) else ""
