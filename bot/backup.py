"""Backup and restore: the ledger and the generation that answers, in one file with checksums."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path, PurePosixPath

from bot.app import HEAD_FILE, LEDGER_FILE
from retrieval.errors import ServiceAway, WrongUse
from retrieval.generations import Generations

CHECKSUMS = "checksums.json"
FORMAT = 1
# Small files beside the generations that say what answers and what does not.
_RECORDS = ("current", "withdrawn.json", "failures.json", "last_run.json", "held.json", "evaluation.json")


def back_up(data: Path, file: Path) -> int:
    """Write a backup while the bot may go on answering; return its size in bytes.

    The ledger is copied through the database, so that it is whole; indexing waits meanwhile.

    Raises:
        WrongUse: there is nothing to back up, or the file exists.
        IndexBusy: an index run is under way.
        ServiceAway: something cannot be read or written.
    """
    generations = Generations(data)
    current = generations.current()
    if current is None and not (data / LEDGER_FILE).exists():
        raise WrongUse(f"{data} holds neither an index nor a ledger: name the data directory with --data.")
    if file.exists():
        raise WrongUse(f"{file} exists; name a new file, so that no backup is lost.")
    draft = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with generations.lock(), tempfile.TemporaryDirectory(dir=data) as scratch:
            names = {name: data / name for name in _RECORDS if (data / name).is_file()}
            if current is not None:
                root = generations.directory(current)
                names |= {str(one.relative_to(data)): one for one in sorted(root.rglob("*")) if one.is_file()}
            if (data / HEAD_FILE).is_file():
                # Before the ledger: what is written meanwhile makes the ledger newer than its head, never older.
                names[HEAD_FILE] = Path(shutil.copy(data / HEAD_FILE, Path(scratch) / HEAD_FILE))
            if (data / LEDGER_FILE).exists():
                names[LEDGER_FILE] = _copied_ledger(data / LEDGER_FILE, Path(scratch) / LEDGER_FILE)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as out, tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tar:
                sums = {name: _sha256(path) for name, path in names.items()}
                text = json.dumps({"format": FORMAT, "files": sums}, indent=1).encode()
                entry = tarfile.TarInfo(CHECKSUMS)
                entry.size = len(text)
                tar.addfile(entry, io.BytesIO(text))
                for name, path in names.items():
                    tar.add(path, arcname=name, recursive=False)
        draft.replace(file)
        return file.stat().st_size
    except (OSError, sqlite3.Error) as error:
        draft.unlink(missing_ok=True)
        raise ServiceAway(f"The backup could not be written ({error}); check the disk and the permissions.") from None


def restore(file: Path, data: Path) -> None:
    """Put a backup into an empty data directory; all of it or nothing.

    Raises:
        WrongUse: the directory is not empty, or the file is no whole backup.
        ServiceAway: something cannot be written.
    """
    if data.exists() and any(data.iterdir()):
        raise WrongUse(f"{data} is not empty. Move it away, or name another place with --data.")
    try:
        data.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=data.parent, prefix=f".{data.name}-") as scratch:
            place = Path(scratch) / "data"
            place.mkdir(mode=0o700)
            _unpack(file, place)
            if data.exists():
                data.rmdir()
            place.replace(data)
    except OSError as error:
        raise ServiceAway(f"The backup could not be restored ({error.strerror or error}).") from None


def _unpack(file: Path, place: Path) -> None:
    damaged = WrongUse(f"{file} is no whole backup of guideline-bot: a file is missing or damaged. Take another one.")
    try:
        with tarfile.open(file, mode="r:gz") as tar:
            first = tar.next()
            listed = tar.extractfile(first) if first is not None and first.name == CHECKSUMS else None
            if listed is None:
                raise damaged
            contents = json.load(listed)
            sums = contents["files"]
            if contents["format"] != FORMAT:
                raise WrongUse(f"{file} was made by another version of guideline-bot (format {contents['format']}).")
            for member in iter(tar.next, None):
                path = PurePosixPath(member.name)
                content = tar.extractfile(member) if member.isreg() else None
                if member.name not in sums or path.is_absolute() or ".." in path.parts or content is None:
                    raise damaged
                target = place / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as out:
                    shutil.copyfileobj(content, out)
    except (tarfile.TarError, EOFError, ValueError, KeyError, TypeError, AttributeError):
        raise damaged from None
    except FileNotFoundError:
        raise WrongUse(f"{file} is not there.") from None
    if any(not (place / name).is_file() or _sha256(place / name) != digest for name, digest in sums.items()):
        raise damaged
    if (place / LEDGER_FILE).exists():
        (place / LEDGER_FILE).chmod(0o600)


def _copied_ledger(ledger: Path, copy: Path) -> Path:
    with closing(sqlite3.connect(ledger)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
