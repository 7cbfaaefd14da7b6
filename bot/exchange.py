"""What came of a question: the values that the desk, the replies, the command line and the ledger share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from retrieval.found import Reading, Source, Verdict

Status = Literal["answered", "refused", "blocked", "failed"]
Mode = Literal["written", "quoted"]


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """One sentence of a written answer and what the checker said of it.

    Attributes:
        cites: the tags it carries, as written ("S1").
        problems: (kind, detail); kind is citation, number, unit, negation, term or unsupported.
    """

    sentence: str
    cites: tuple[str, ...]
    problems: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Quote:
    """What is quoted from one source, word for word.

    Attributes:
        tag: of the source.
        text: whole blocks of the passage; a line of its own that holds only "…" where blocks were left out.
        whole: nothing was left out.
    """

    tag: str
    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What a question led to; everything that is posted, printed or kept comes from here.

    Attributes:
        answer: the written text with its [S#] tags; "" when quoted, refused, blocked or failed.
        quotes: what is quoted, in the order shown. A written answer carries the quotes of what it cites.
        reason: why it was refused, blocked or failed, or why it was quoted instead of written; a sentence
            for the reader. "" for a plain answer.
        notes: short lines for the reader: past its review date, read by OCR, sources left out of the prompt …
        fallback: machine-readable reason why writing was given up ("timeout", "check_failed", "model_missing",
            "length", "empty", "connection", "no_model", "dose_question", "asked_for" …); "" when written.
        emergency: the site's emergency line when the question speaks of one, else "".
        nearest: for refusals, the sections nearest to the question, best first.
        details: for blocked questions, the kinds of patient detail seen, never the detail itself.
        model, model_digest: who wrote; "" when nothing was written.
    """

    question: str
    reading: Reading
    status: Status
    mode: Mode = "quoted"
    answer: str = ""
    quotes: tuple[Quote, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    fallback: str = ""
    emergency: str = ""
    sources: tuple[Source, ...] = ()
    verdict: Verdict | None = None
    nearest: tuple[Source, ...] = ()
    details: tuple[str, ...] = ()
    checks: tuple[SentenceCheck, ...] = ()
    model: str = ""
    model_digest: str = ""
    generation: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
