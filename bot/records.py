"""What the ledger keeps of an exchange (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from bot.exchange import Result, source_json, verdict_json

Record = tuple[dict[str, Any], dict[str, Any]]
"""An event's body (what is counted and filtered by) and its texts (what people wrote and read)."""


def record_of(
    result: Result, parts: Sequence[Mapping[str, Any]], *, questions: str, settings: str, edit_at: int = 0
) -> Record:
    """Return body and texts of a `result` event.

    Args:
        parts: the reply as it is going to be posted: {"message", "attachments"} of each post.
        questions: "full", or "hash" to keep only that the same question was asked.
        settings: fingerprint of the settings that it was answered with.
        edit_at: of the version of the question that was answered, in the server's milliseconds; 0: not edited.
    """
    blocked = result.status == "blocked"
    body: dict[str, Any] = {
        "status": result.status,
        "mode": result.mode,
        "fallback": result.fallback,
        "reason": "" if blocked else result.reason,
        "details": list(result.details),
        "generation": result.generation,
        "model": result.model,
        "model_digest": result.model_digest,
        "settings": settings,
        "edit_at": edit_at,
        "parts": len(parts),
        "timings_ms": {step: round(spent, 1) for step, spent in result.timings_ms.items()},
        "gate": None if result.verdict is None else verdict_json(result.verdict),
        "sources": [_without_text(source_json(source)) for source in result.sources],
        "quotes": [{"tag": quote.tag, "whole": quote.whole} for quote in result.quotes],
        "checks": [
            {"cites": list(check.cites), "problems": [kind for kind, _ in check.problems]} for check in result.checks
        ],
    }
    texts: dict[str, Any] = {"parts": list(parts)}
    if not blocked and questions == "full":
        texts |= {"question": result.question, "read_as": result.reading.read_as, "answer": result.answer}
        texts["quotes"] = [quote.text for quote in result.quotes]
    elif not blocked:
        # In the texts, not in the body: it goes when the text is erased, and with it any way to try guesses.
        texts["question_sha256"] = hashlib.sha256(result.question.encode()).hexdigest()
    return body, texts


def _without_text(source: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in source.items() if name != "text"}
