"""The ledger for other programs: a table of exchanges, or every event as it is chained (pure)."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from bot.auditing.exchanges import Exchange

COLUMNS = (
    "number",
    "at",
    "question_id",
    "thread_id",
    "status",
    "mode",
    "fallback",
    "question",
    "read_as",
    "answer",
    "reason",
    "best_score",
    "min_score",
    "cited",
    "model",
    "model_digest",
    "generation",
    "settings",
    "reply_ids",
    "thumbs_up",
    "thumbs_down",
    "comments",
    "hash",
)
_FORMULA = frozenset("=+-@|\t\r\n")


def when(at_ms: int) -> str:
    """Return a time of the ledger as ISO 8601, UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def row_of(exchange: Exchange) -> dict[str, Any]:
    """Return an exchange as a row of the table."""
    record, texts = exchange.record, exchange.texts
    gate = record.get("gate") or {}
    up, down = exchange.thumbs
    return {
        "number": exchange.number,
        "at": when(exchange.outcome.at_ms),
        "question_id": exchange.question_id,
        "thread_id": exchange.outcome.thread_id,
        "status": exchange.status,
        "mode": record.get("mode", "") if exchange.status == "answered" else "",
        "fallback": record.get("fallback", ""),
        "question": exchange.question,
        "read_as": texts.get("read_as", ""),
        "answer": texts.get("answer") or "\n\n".join(texts.get("quotes") or ()),
        "reason": record.get("reason", ""),
        "best_score": gate.get("best", ""),
        "min_score": gate.get("min_score", ""),
        "cited": "; ".join(map(citation, exchange.cited)),
        "model": record.get("model", ""),
        "model_digest": record.get("model_digest", ""),
        "generation": record.get("generation", ""),
        "settings": record.get("settings", ""),
        "reply_ids": " ".join(exchange.post_ids),
        "thumbs_up": up,
        "thumbs_down": down,
        "comments": "\n".join(exchange.comments),
        "hash": exchange.outcome.hash,
    }


def citation(source: Mapping[str, Any]) -> str:
    """Return a source in one line: tag, title and path, version, start of its file's hash."""
    trail = " › ".join([str(source.get("title", "")), *map(str, source.get("path") or ())])
    version = f", version {source['version']}" if source.get("version") else ""
    digest = f", sha256 {str(source['sha256'])[:12]}" if source.get("sha256") else ""
    return f"[{source.get('tag', '')}] {trail}{version}{digest}"


def csv_lines(exchanges: Iterable[Exchange]) -> Iterator[str]:
    """Yield the table as CSV (RFC 4180), its header first; no cell is taken for a formula."""
    yield _csv_line(COLUMNS)
    for exchange in exchanges:
        row = row_of(exchange)
        yield _csv_line([defused(row[name]) for name in COLUMNS])


def defused(cell: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would carry out as a formula.

    Full-width signs count too: some spreadsheets take them for their plain forms.
    """
    if not isinstance(cell, str) or not cell:
        return cell
    first = unicodedata.normalize("NFKC", cell.lstrip(" \u00a0\ufeff\u200b\0")[:1])[:1]
    return f"'{cell}" if first in _FORMULA or cell[0] in _FORMULA else cell


def json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield every stored row as one JSON object, with salts and hashes, so that the chain can be verified anywhere.

    `body` and `texts` are the strings that were hashed; `content` holds both as values.
    """
    for row in rows:
        content = {name: json.loads(row[name]) if row[name] is not None else None for name in ("body", "texts")}
        yield json.dumps({**row, "at": when(row["at_ms"]), "content": content}, ensure_ascii=False) + "\n"


def _csv_line(cells: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()
