"""Watching the folders for guidelines that were withdrawn since they were indexed.

Someone who retires a guideline, deletes it or narrows its audience is heard within one watch interval, without an
index run, and a rollback does not undo it.

    DATA/withdrawn.json    guideline → reason, and the audience that its file names now
    DATA/watched.json      what was seen of each file, so that only what changed is looked at again
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from retrieval.catalogue import Indexed, load
from retrieval.documents import read_status
from retrieval.documents.metadata import FOLDER_LIST
from retrieval.errors import DocumentError, IndexMismatch, SettingError
from retrieval.generations import Generations
from retrieval.guideline import Metadata, Status
from retrieval.scanning import Entry, Folder, scan, sha256_of
from retrieval.versions import standing_of, standings
from retrieval.whole_files import read_record, write_whole
from retrieval.withdrawn_list import FILE, Withdrawn, load_withdrawn, save_withdrawn

_WATCHED = "watched.json"
_GONE = "Its file is no longer there."
_UNREADABLE = "What is said of it cannot be read"
_STRICTEST: tuple[Status, ...] = ("retired", "draft", "current")
_NO_LIMIT = 1 << 62


def refresh_withdrawn(
    folders: Sequence[Folder], data: Path, *, today: date | None = None, max_lost_share: float = 0.34
) -> str:
    """Look at the watched folders and write the list of what is withdrawn.

    Only files that changed since the last look are opened. A folder that is missing, or has lost more than
    `max_lost_share` of its files, withdraws nothing by absence: that is left to a confirmed index run.

    Args:
        today: decides what is in effect; None for the present day.

    Returns:
        a text that changes whenever a file of the folders does.
    """
    day = today or date.today()
    with _lock(data):
        look = _Look(folders, data)
        withdrawn = look.withdrawn(day, max_lost_share)
        save_withdrawn(data / FILE, withdrawn)
        look.save()
        return look.fingerprint()


def clean_withdrawn(data: Path) -> None:
    """Remove the drafts that killed processes left behind."""
    with _lock(data):
        for draft in (*data.glob(f"{FILE}.*.new"), *data.glob(f"{_WATCHED}.*.new")):
            draft.unlink(missing_ok=True)


@contextmanager
def _lock(data: Path) -> Iterator[None]:
    """Let only one process at a time write the list; the others wait."""
    data.mkdir(parents=True, exist_ok=True)
    with (data / "withdrawn.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a file says of itself, as of the state with this signature."""

    signature: str
    status: Status = "current"
    effective: date | None = None
    audience: tuple[str, ...] = ()
    fault: str = ""
    sha256: str = ""


class _Look:
    """One look at the folders: what is there, and what of it is as it was at the last look."""

    def __init__(self, folders: Sequence[Folder], data: Path) -> None:
        self._path = data / _WATCHED
        self._generations = Generations(data)
        self._unreachable: set[str] = set()
        self._entries: dict[str, Entry] = {}
        for folder in folders:
            try:
                found = scan([folder], _NO_LIMIT).entries
            except SettingError:
                self._unreachable.add(str(folder.path))
                continue
            for name, entry in found.items():
                self._entries.setdefault(name, entry)
        self._before = _load_seen(self._path)
        self._seen = {name: self._see(entry) for name, entry in self._entries.items()}

    def withdrawn(self, today: date, max_lost_share: float) -> Withdrawn:
        catalogues = [_catalogue(self._generations.directory(one)) for one in reversed(self._generations.ids())]
        indexed: dict[str, Indexed] = {}
        for catalogue in catalogues:
            for name, one in catalogue.items():
                indexed.setdefault(name, one)
        newest = catalogues[0] if catalogues else {}
        current = self._generations.current()
        answering = _catalogue(self._generations.directory(current)) if current else {}
        try:
            earlier = load_withdrawn(self._generations.data / FILE).reasons
        except IndexMismatch:
            earlier = {}  # it is written anew
        gone = self._gone(indexed, answering, earlier, max_lost_share)
        moved = self._moved(gone, indexed)
        reasons = {name: _GONE for name in gone if name not in moved}
        here = {name: moved.get(name, name) for name in indexed if name not in reasons}
        here = {name: file for name, file in here.items() if file in self._seen}
        known = {name: _as_seen(indexed[name], self._seen[file]) for name, file in here.items()}
        standing = standings({name: one for name, one in known.items() if name in newest}, today)
        for name, file in here.items():
            fault = self._seen[file].fault
            reason = fault or (standing[name] if name in standing else standing_of(known[name], today)).reason
            if reason:
                reasons[name] = reason
        audiences = {
            name: known[name].audience
            for name in here
            if any(name in one and one[name].guideline.metadata.audience != known[name].audience for one in catalogues)
        }
        return Withdrawn(dict(sorted(reasons.items())), dict(sorted(audiences.items())))

    def _gone(
        self,
        indexed: Mapping[str, Indexed],
        answering: Mapping[str, Indexed],
        earlier: Collection[str],
        max_lost_share: float,
    ) -> set[str]:
        """Return the names whose files are gone for good, as far as can be told."""
        closed = tuple(f"{name}/" for name, entry in self._entries.items() if entry.problem) or ("\0",)
        missing = {
            name
            for name, one in indexed.items()
            if name not in self._entries and one.folder not in self._unreachable and not name.startswith(closed)
        }
        by_folder: dict[str, list[str]] = {}
        for name, one in answering.items():
            by_folder.setdefault(one.folder, []).append(name)
        for names in by_folder.values():
            lost = [name for name in names if name in missing]
            if len(lost) > max_lost_share * len(names):
                missing -= {name for name in lost if name not in earlier}
        return missing

    def _moved(self, gone: Collection[str], indexed: Mapping[str, Indexed]) -> dict[str, str]:
        """Return for names that are gone the file that has the same content now."""
        if not gone:
            return {}
        by_content: dict[str, str] = {}
        for name in self._entries:
            known = indexed.get(name)
            by_content.setdefault(known.sha256 if known else self._sha256_of(name), name)
        contents = {name: indexed[name].sha256 for name in gone}
        return {name: by_content[sha256] for name, sha256 in contents.items() if sha256 in by_content}

    def _sha256_of(self, name: str) -> str:
        seen = self._seen[name]
        if not seen.sha256:
            try:
                seen = replace(seen, sha256=sha256_of(self._entries[name].file))
            except OSError:
                return "unreadable"
            self._seen[name] = seen
        return seen.sha256

    def _see(self, entry: Entry) -> _Seen:
        signature = _signature(entry)
        before = self._before.get(entry.name)
        if before is not None and before.signature == signature:
            return before
        try:
            said = read_status(entry.path, entry.name, entry.folder.path)
        except DocumentError as error:
            # A broken list speaks of many guidelines: it must not silence all of them.
            of_many = PurePosixPath(error.file).name == FOLDER_LIST
            return _Seen(signature, fault="" if of_many else f"{_UNREADABLE} ({error.file}: {error.reason}).")
        return _Seen(signature, said.status, said.effective, said.audience)

    def save(self) -> None:
        """Remember what was seen."""
        if self._seen != self._before:
            rows = {
                name: [one.signature, one.status, one.effective and one.effective.isoformat(), *_rest(one)]
                for name, one in self._seen.items()
            }
            write_whole(self._path, json.dumps(rows, ensure_ascii=False))

    def fingerprint(self) -> str:
        lines = (f"{name}\0{one.signature}" for name, one in sorted(self._seen.items()))
        return hashlib.sha256("\n".join((*lines, *sorted(self._unreachable))).encode()).hexdigest()[:16]


def _rest(one: _Seen) -> tuple[list[str], str, str]:
    return list(one.audience), one.fault, one.sha256


def _signature(entry: Entry) -> str:
    parts = [entry.size, entry.mtime_ns, entry.inode]
    for path in entry.beside:
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError:
            continue
        parts += [status.st_size, status.st_mtime_ns, status.st_ino]
    return "-".join(map(str, parts))


def _as_seen(indexed: Indexed, seen: _Seen) -> Metadata:
    """Return what is known of a guideline with what its file says now.

    Where a file's own properties are read only by an index run (PDF, Word, HTML), what is there stays true unless
    a sidecar or list says something stricter.
    """
    known = indexed.guideline.metadata
    complete = indexed.guideline.media_type in ("markdown", "text") and not seen.fault
    return replace(
        known,
        status=seen.status if complete else min(seen.status, known.status, key=_STRICTEST.index),
        effective=seen.effective if complete or seen.effective else known.effective,
        audience=seen.audience if complete or seen.audience else known.audience,
    )


@lru_cache(maxsize=32)
def _catalogue(directory: Path) -> Mapping[str, Indexed]:
    """Return the files of a generation; {} where it cannot be read. A generation never changes."""
    manifest = Generations(directory.parent.parent).manifest(directory.name)
    try:
        return load(manifest.notes).files if manifest else {}
    except (KeyError, TypeError, ValueError):
        return {}


def _load_seen(path: Path) -> dict[str, _Seen]:
    try:
        return {name: _seen(*row) for name, row in read_record(path).items()}
    except (TypeError, ValueError):
        return {}  # of another version: every file is opened once


def _seen(signature: str, status: Any, effective: str | None, audience: list[str], fault: str, sha256: str) -> _Seen:
    day = date.fromisoformat(effective) if effective else None
    return _Seen(signature, status, day, tuple(audience), fault, sha256)
