"""The watched folders beside what the last generation remembers of them: where an index run begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from retrieval.catalogue import Catalogue, load
from retrieval.failures import FILE as FAILURES
from retrieval.failures import load_failures
from retrieval.generations import Generations
from retrieval.plan import Failure, File, Plan, compare
from retrieval.scanning import Folder, Scan, hashed, scan

Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told (stage, done, total) for the stages "scan", "read", "embed" and "verify"."""


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """How the index is made.

    Attributes:
        window_tokens: most tokens of a window, title and path included.
        passage_max_chars: length that a passage should not exceed.
        keep_generations: how many are kept, the current one included.
        keep_last_good: a file that fails keeps its last good passages.
        ocr: read scanned pages where the machine can.
        max_lost_share: a folder that has lost a larger share of its files stops the run.
        confirm_removals: it does not.
        full: read and embed everything anew.
    """

    window_tokens: int = 128
    passage_max_chars: int = 4000
    keep_generations: int = 3
    keep_last_good: bool = True
    max_file_bytes: int = 100_000_000
    ocr: bool = False
    max_lost_share: float = 0.34
    confirm_removals: bool = False
    full: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What is there, what was there, and what there is to do.

    Attributes:
        scan: the files as they were found.
        files: the same with their hashes, by name.
        previous: what the current generation remembers; None without one that this version can read.
        failures: what failed in earlier runs, by name.
    """

    scan: Scan
    files: Mapping[str, File]
    plan: Plan
    previous: Catalogue | None
    failures: Mapping[str, Failure]


def look_at(
    folders: Sequence[Folder], generations: Generations, options: IndexOptions, now: datetime, progress: Progress
) -> Look:
    """Read every file's bytes, and compare by content.

    Raises:
        SettingError: a folder is missing, is none, or may not be read.
    """
    previous = previous_of(generations)
    known = [one.known for one in previous.files.values()] if previous else []
    scanned = scan(folders, options.max_file_bytes)
    files = {}
    total = len(scanned.entries)
    for done, file in enumerate(hashed(scanned), start=1):
        files[file.name] = file
        if done % 100 == 0 or done == total:
            progress("scan", done, total)
    files |= _below_closed(files.values(), [one.name for one in known if one.name not in files])
    failures = load_failures(generations.data / FAILURES)
    plan = compare(
        tuple(files.values()),
        known,
        {} if options.full else failures,
        now.timestamp(),
        keep_last_good=options.keep_last_good,
    )
    return Look(scanned, files, plan, previous, failures)


def previous_of(generations: Generations) -> Catalogue | None:
    """Return what the current generation remembers; None without one that this version can read."""
    current = generations.current()
    manifest = generations.manifest(current) if current else None
    if manifest is None:
        return None
    try:
        return load(manifest.notes)
    except (KeyError, TypeError, ValueError):
        return None


def _below_closed(files: Iterable[File], missing: Sequence[str]) -> dict[str, File]:
    """Return known files that lie in a folder which cannot be listed now: they are not gone."""
    return {
        name: File(name, file.folder, "", "", f"lies in {file.name}, which {file.problem}")
        for file in files
        if file.problem
        for name in missing
        if name.startswith(f"{file.name}/")
    }
