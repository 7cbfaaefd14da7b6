"""The files that could not be indexed, remembered from run to run beside the generations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from retrieval.guideline import Problem
from retrieval.plan import Failure, File
from retrieval.whole_files import read_record, write_whole

FILE = "failures.json"


def load_failures(path: Path) -> dict[str, Failure]:
    """Read the failures by guideline name; {} where none is known."""
    try:
        return {name: Failure(**record) for name, record in read_record(path).items()}
    except TypeError:
        return {}  # of another version: every file is tried at once


def save_failures(path: Path, failures: Mapping[str, Failure]) -> None:
    """Write the failures in one step, if there are any or were some."""
    if failures == load_failures(path):
        return
    records = {name: asdict(failure) for name, failure in sorted(failures.items())}
    write_whole(path, json.dumps(records, ensure_ascii=False, indent=1))


def last_good_note(title: str, failure: Failure) -> str:
    """Say to a reader that a source is not from the file as it is now (pure)."""
    since = datetime.fromtimestamp(failure.since_s, UTC).date().isoformat()
    return f"The file of “{title}” cannot be read since {since}: this is its last good text."


def failed_again(file: File, problem: Problem, earlier: Failure | None, now_s: float) -> Failure:
    """Return a file's failure after one more attempt (pure)."""
    same = earlier is not None and (earlier.sha256, earlier.described) == (file.sha256, file.described)
    return Failure(
        name=file.name,
        sha256=file.sha256,
        described=file.described,
        reason=problem.reason,
        page=problem.page,
        attempts=earlier.attempts + 1 if earlier is not None and same else 1,
        tried_s=now_s,
        since_s=earlier.since_s if earlier is not None else now_s,
    )
