"""Passages and guidelines as JSON text, for the store (pure)."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import date
from typing import Any

from retrieval.guideline import Block, Coverage, Guideline, Metadata, Passage, Problem, Section

_BLOCK_FIELDS = tuple(field.name for field in fields(Block))


def dump_guideline(guideline: Guideline) -> str:
    """Write a guideline without its section tree."""
    record = {
        "name": guideline.name,
        "sha256": guideline.sha256,
        "media_type": guideline.media_type,
        "metadata": asdict(guideline.metadata),
        "coverage": asdict(guideline.coverage),
        "warnings": [asdict(problem) for problem in guideline.warnings],
        "link": guideline.link,
    }
    return json.dumps(record, default=_iso, ensure_ascii=False, separators=(",", ":"))


def load_guideline(text: str) -> Guideline:
    """Read what `dump_guideline` wrote; the root is an empty section under the guideline's title."""
    record = json.loads(text)
    metadata = _metadata(record["metadata"])
    coverage = record["coverage"]
    return Guideline(
        name=record["name"],
        sha256=record["sha256"],
        media_type=record["media_type"],
        metadata=metadata,
        root=Section(metadata.title),
        coverage=Coverage(**{**coverage, "empty_pages": tuple(coverage["empty_pages"])}),
        warnings=tuple(Problem(**problem) for problem in record["warnings"]),
        link=record["link"],
    )


def dump_passage(passage: Passage) -> str:
    """Write a passage without what its guideline's record holds."""
    blocks = [[getattr(block, name) for name in _BLOCK_FIELDS] for block in passage.blocks]
    record = [
        passage.id,
        passage.path,
        passage.ordinal,
        blocks,
        passage.text,
        passage.lines,
        passage.page,
        passage.page_label,
        passage.link,
        passage.sha256,
    ]
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def load_passage(text: str, guideline: Guideline) -> Passage:
    """Read what `dump_passage` wrote; name and metadata come from its guideline."""
    id_, path, ordinal, blocks, body, lines, page, page_label, link, sha256 = json.loads(text)
    return Passage(
        id=id_,
        guideline=guideline.name,
        metadata=guideline.metadata,
        path=tuple(path),
        ordinal=ordinal,
        blocks=tuple(_block(values) for values in blocks),
        text=body,
        lines=_pair(lines),
        page=page,
        page_label=page_label,
        link=link,
        sha256=sha256,
    )


def _block(values: list[Any]) -> Block:
    record = dict(zip(_BLOCK_FIELDS, values, strict=True))
    record["lines"] = _pair(record["lines"])
    return Block(**record)


def _metadata(record: dict[str, Any]) -> Metadata:
    for name in ("effective", "review_by"):
        if record[name] is not None:
            record[name] = date.fromisoformat(record[name])
    for name in ("supersedes", "audience"):
        record[name] = tuple(record[name])
    return Metadata(**record)


def _pair(lines: list[int] | None) -> tuple[int, int] | None:
    return (lines[0], lines[1]) if lines else None


def _iso(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a record")
