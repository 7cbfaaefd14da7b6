"""What came of a question: the values that the desk, the replies, the command line and the ledger share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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
        ask_line: the site's own line on whom to ask, which ends a refusal or a failure; else "".
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
    ask_line: str = ""
    details: tuple[str, ...] = ()
    checks: tuple[SentenceCheck, ...] = ()
    model: str = ""
    model_digest: str = ""
    generation: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)


def source_json(source: Source) -> dict[str, Any]:
    """Return a source as `ask --json`, `why --json` and the ledger show it."""
    passage = source.passage
    return {
        "tag": source.tag,
        "guideline": passage.guideline,
        "title": passage.title,
        "version": passage.metadata.version,
        "path": list(passage.path),
        "page": passage.page,
        "page_label": passage.page_label,
        "lines": None if passage.lines is None else list(passage.lines),
        "passage_id": passage.id,
        "sha256": passage.sha256,
        "scores": {
            "cosine": round(source.scores.cosine, 4),
            "lexical": round(source.scores.lexical, 4),
            "heading": round(source.scores.heading, 4),
            "blended": round(source.scores.blended, 4),
            "gate": round(source.scores.gate, 4),
        },
        "parts": {name: round(value, 4) for name, value in source.scores.parts.items()},
        "kept": source.kept,
        "reason": source.reason,
        "text": passage.text,
        "link": passage.link,
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return the gate's verdict as `ask --json`, `why --json` and the ledger show it."""
    return {
        "min_score": verdict.min_score,
        "best": round(verdict.best, 4),
        "verdict": "answer" if verdict.passed else "refuse",
        "reason": verdict.reason,
        "kind": verdict.kind,
        "asks_for": list(verdict.asks_for),
    }


def result_json(result: Result) -> dict[str, Any]:
    """Return a result as `ask --json` prints it."""
    return {
        "question": result.question,
        "read_as": result.reading.read_as,
        "status": result.status,
        "mode": result.mode,
        "answer": shown_text(result),
        "quotes": [{"tag": quote.tag, "text": quote.text, "whole": quote.whole} for quote in result.quotes],
        "reason": result.reason,
        "notes": list(result.notes),
        "fallback": result.fallback,
        "emergency": result.emergency,
        "sources": [source_json(source) for source in result.sources],
        "gate": None if result.verdict is None else verdict_json(result.verdict),
        "nearest": [source.passage.trail for source in result.nearest],
        "details": list(result.details),
        "checks": [
            {
                "sentence": check.sentence,
                "cites": list(check.cites),
                "problems": [{"kind": kind, "detail": detail} for kind, detail in check.problems],
            }
            for check in result.checks
        ],
        "model": result.model,
        "model_digest": result.model_digest,
        "generation": result.generation,
        "timings_ms": {name: round(value, 2) for name, value in result.timings_ms.items()},
    }


def shown_text(result: Result) -> str:
    """Return the answer as plain text: the written one, or what is quoted with its tags; "" when refused."""
    if result.answer:
        return result.answer
    return "\n\n".join(f"{quote.text} [{quote.tag}]" for quote in result.quotes)
