"""The files that could not be indexed, remembered from run to run beside the generations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from retrieval.generations import read_record, write_whole
from retrieval.guideline import Problem
from retrieval.plan import Failure, File

FILE = "failures.json"


def load_failures(data: Path) -> dict[str, Failure]:
    """Read the failures by guideline name; {} where none is known."""
    try:
        return {name: Failure(**record) for name, record in read_record(data / FILE).items()}
    except TypeError:
        return {}  # of another version: every file is tried at once


def save_failures(data: Path, failures: Mapping[str, Failure]) -> None:
    """Write the failures in one step."""
    records = {name: asdict(failure) for name, failure in sorted(failures.items())}
    text = json.dumps(records, ensure_ascii=False, indent=1)
    path = data / FILE
    if not records and not path.exists():
        return
    write_whole(path, text)


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
