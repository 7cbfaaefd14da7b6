"""What the ledger keeps of an exchange (pure).

What people wrote, and what repeats their words (the gate's reasons name what a question asks for), goes into the
texts, which can be erased; what is counted and filtered by goes into the body.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from bot.exchange import Result, source_json, verdict_json

Record = tuple[dict[str, Any], dict[str, Any]]
"""An event's body (what is counted and filtered by) and its texts (what people wrote and read)."""

_READ_AS = "Read as: "
_IN_TEXTS = frozenset({"text", "reason"})


def record_of(
    result: Result,
    parts: Sequence[Mapping[str, Any]],
    *,
    questions: str,
    settings: str,
    edit_at: int = 0,
    salt: str = "",
) -> Record:
    """Return body and texts of a `result` event.

    Args:
        parts: the reply as it is going to be posted: {"message", "attachments"} of each post.
        questions: "full", or "hash" to keep of the question's words only a salted hash: that somebody asked
            exactly this can be shown, what was asked cannot be read.
        settings: fingerprint of the settings that it was answered with.
        edit_at: of the version of the question that was answered, in the server's milliseconds; 0: not edited.
        salt: for that hash; by default a new one.
    """
    blocked = result.status == "blocked"
    quoted = {quote.tag for quote in result.quotes}
    body: dict[str, Any] = {
        "status": result.status,
        "mode": result.mode,
        "fallback": result.fallback,
        "details": list(result.details),
        "generation": result.generation,
        "model": result.model,
        "model_digest": result.model_digest,
        "settings": settings,
        "edit_at": edit_at,
        "parts": len(parts),
        "timings_ms": {step: round(spent, 1) for step, spent in result.timings_ms.items()},
        "gate": None if result.verdict is None else _without_texts(verdict_json(result.verdict)),
        "sources": [
            {
                **_without_texts(source_json(source)),
                "text_sha256": passage_sha256(source.passage.text),
                "cited": source.tag in quoted,
            }
            for source in result.sources
        ],
        "quotes": [{"tag": quote.tag, "whole": quote.whole} for quote in result.quotes],
        "checks": [
            {"cites": list(check.cites), "problems": [kind for kind, _ in check.problems]} for check in result.checks
        ],
    }
    if blocked:
        return body, {"parts": list(parts)}
    texts: dict[str, Any] = {
        "answer": result.answer,
        "quotes": [quote.text for quote in result.quotes],
        "passages": {source.tag: source.passage.text for source in result.sources if source.tag in quoted},
        "checks": [
            {"sentence": check.sentence, "problems": [list(problem) for problem in check.problems]}
            for check in result.checks
        ],
    }
    if questions == "full":
        texts |= {
            "parts": list(parts),
            "question": result.question,
            "read_as": result.reading.read_as,
            "expansions": [list(pair) for pair in result.reading.expansions],
            "reason": result.reason,
            "gate_reason": "" if result.verdict is None else result.verdict.reason,
            "source_reasons": {source.tag: source.reason for source in result.sources if source.reason},
        }
    else:
        # In the texts, not in the body: it goes when the text is erased, and with it any way to try guesses.
        salt = salt or secrets.token_hex(16)
        texts |= {"parts": [_without_question(part) for part in parts], "question_salt": salt}
        texts["question_sha256"] = question_sha256(salt, result.question)
    return body, texts


def told(body: Mapping[str, Any], texts: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a result's body with the reasons that its texts hold put back in their places."""
    texts = texts or {}
    reasons = texts.get("source_reasons") or {}
    whole = {**body, "reason": texts.get("reason", "")}
    if body.get("gate"):
        whole["gate"] = {**body["gate"], "reason": texts.get("gate_reason", "")}
    whole["sources"] = [{**one, "reason": reasons.get(one.get("tag"), "")} for one in body.get("sources") or ()]
    return whole


def passage_sha256(text: str) -> str:
    """Return what a passage's text is compared by later."""
    return hashlib.sha256(text.encode()).hexdigest()


def question_sha256(salt: str, question: str) -> str:
    """Return what is kept of a question where only hashes are."""
    return hashlib.sha256(f"{salt}\n{question}".encode()).hexdigest()


def _without_texts(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in value.items() if name not in _IN_TEXTS}


def _without_question(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a post without the line that repeats the question as it was read."""
    lines = str(part.get("message", "")).split("\n")
    return {**part, "message": "\n".join(line for line in lines if not line.startswith(_READ_AS))}
