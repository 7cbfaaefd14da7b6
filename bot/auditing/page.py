"""One exchange on one page, for an auditor (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.auditing.exchanges import Exchange
from bot.auditing.export import citation, when
from bot.auditing.originals import Comparison

_FILE = {
    "same": "the file is the same, byte for byte",
    "changed": "the file has changed since",
    "gone": "the file is not there any more",
    "unreadable": "the file cannot be read now",
}


def page_of(exchange: Exchange, comparisons: Sequence[Comparison]) -> str:
    """Return everything that the ledger knows of an exchange as plain text."""
    sections = [
        _lead(exchange),
        _asked(exchange),
        _decided(exchange),
        _sources(exchange),
        _passages(exchange),
        _checks(exchange),
        _reply(exchange),
        _originals(comparisons),
        _people(exchange),
        _events(exchange),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def page_json(exchange: Exchange, comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return the same as one JSON object."""
    up, down = exchange.thumbs
    return {
        "number": exchange.number,
        "at": when(exchange.outcome.at_ms),
        "question_id": exchange.question_id,
        "thread_id": exchange.outcome.thread_id,
        "status": exchange.status,
        "question": exchange.question,
        "record": exchange.record,
        "texts": dict(exchange.texts),
        "post_ids": list(exchange.post_ids),
        "thumbs_up": up,
        "thumbs_down": down,
        "comments": list(exchange.comments),
        "originals": [
            {
                "tag": one.tag,
                "guideline": one.guideline,
                "file": one.file,
                "holds_text": one.holds_text,
                "fits_hash": one.fits_hash,
            }
            for one in comparisons
        ],
        "events": [
            {"seq": event.seq, "at": when(event.at_ms), "kind": event.kind, "hash": event.hash}
            for event in exchange.events
        ],
    }


def _lead(exchange: Exchange) -> list[str]:
    record = exchange.record
    how = f", {record['mode']}" if exchange.status == "answered" and record.get("mode") else ""
    return [
        f"Exchange {exchange.number}: {exchange.status}{how}",
        f"at {when(exchange.outcome.at_ms)}, question {exchange.question_id}, thread {exchange.outcome.thread_id}",
    ]


def _asked(exchange: Exchange) -> list[str]:
    lines = [f"Question: {exchange.question}"]
    read_as = exchange.texts.get("read_as")
    if read_as and read_as != exchange.question:
        lines.append(f"Read as: {read_as}")
    for short, long in exchange.texts.get("expansions") or ():
        lines.append(f"  {short} = {long}")
    return lines


def _decided(exchange: Exchange) -> list[str]:
    record = exchange.record
    if not record.get("status"):
        return []
    lines = []
    if gate := record.get("gate"):
        lines.append(
            f"Gate: {gate.get('verdict')}, best score {gate.get('best')}, needed {gate.get('min_score')}. "
            f"{gate.get('reason', '')}".rstrip()
        )
    facts = {
        "Reason": record.get("reason"),
        "Patient details seen": ", ".join(record.get("details") or ()),
        "Not written because": record.get("fallback"),
        "Model": " ".join(part for part in (record.get("model"), record.get("model_digest")) if part),
        "Index generation": record.get("generation"),
        "Settings": record.get("settings"),
        "Milliseconds": ", ".join(f"{step} {spent:g}" for step, spent in (record.get("timings_ms") or {}).items()),
    }
    return lines + [f"{name}: {value}" for name, value in facts.items() if value]


def _sources(exchange: Exchange) -> list[str]:
    sources: Iterable[Mapping[str, Any]] = exchange.record.get("sources") or ()
    lines = []
    for source in sources:
        scores = source.get("scores") or {}
        mark = "cited   " if source.get("cited") else "kept    " if source.get("kept") else "rejected"
        lines.append(f"  {mark} {citation(source)}{_place(source)}")
        figures = "  ".join(f"{name} {value:.4f}" for name, value in scores.items())
        lines.append(f"           {figures}")
        lines.append(f"           passage {source.get('passage_id')}, text sha256 {source.get('text_sha256')}")
        if source.get("reason"):
            lines.append(f"           {source['reason']}")
    return ["Candidates:", *lines] if lines else []


def _place(source: Mapping[str, Any]) -> str:
    if source.get("page"):
        return f", page {source.get('page_label') or source['page']}"
    lines = source.get("lines")
    return f", lines {lines[0]}–{lines[1]}" if lines else ""


def _passages(exchange: Exchange) -> list[str]:
    lines = []
    for tag, text in (exchange.texts.get("passages") or {}).items():
        lines += [f"Passage [{tag}] as it was indexed:", _indented(text)]
    return lines


def _checks(exchange: Exchange) -> list[str]:
    lines = []
    for check in exchange.texts.get("checks") or ():
        problems = "; ".join(f"{kind}: {detail}" for kind, detail in check.get("problems") or ())
        lines.append(f"  {'PROBLEM' if problems else 'ok     '} {check.get('sentence', '').strip()}")
        if problems:
            lines.append(f"          {problems}")
    return ["Checker's report:", *lines] if lines else []


def _reply(exchange: Exchange) -> list[str]:
    parts = exchange.texts.get("parts") or ()
    ids = exchange.post_ids
    lines = []
    for place, part in enumerate(parts):
        post = f" (post {ids[place]})" if place < len(ids) else ""
        lines += [f"Reply, part {place + 1} of {len(parts)}{post}:", _indented(str(part.get("message", "")))]
        for attachment in part.get("attachments") or ():
            shown = "\n\n".join(str(attachment[name]) for name in ("pretext", "title", "text") if attachment.get(name))
            lines.append(_indented(shown))
    if parts and not ids:
        lines.append("It is not known to have been posted.")
    return lines


def _originals(comparisons: Sequence[Comparison]) -> list[str]:
    lines = []
    for one in comparisons:
        holds = {True: "holds what was cited", False: "DOES NOT HOLD what was cited", None: ""}[one.holds_text]
        fits = "" if one.fits_hash is not False else "; THE KEPT TEXT DOES NOT FIT ITS HASH"
        both = f"{_FILE[one.file]}{', and ' if holds else ''}{holds}{fits}"
        lines.append(f"  [{one.tag}] {one.guideline}: {both}")
    return ["Originals now:", *lines] if lines else []


def _people(exchange: Exchange) -> list[str]:
    up, down = exchange.thumbs
    lines = [f"Feedback: {up} up, {down} down"] if up or down else []
    return lines + [f"  said: {comment}" for comment in exchange.comments]


def _events(exchange: Exchange) -> list[str]:
    return ["Events:"] + [
        f"  {event.seq:>7}  {when(event.at_ms)}  {event.kind:<10} {event.hash}" for event in exchange.events
    ]


def _indented(text: str) -> str:
    return "\n".join(f"  | {line}" for line in text.splitlines())
