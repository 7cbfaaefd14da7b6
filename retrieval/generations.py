"""The data directory: generations beside each other, a pointer to the current one, a lock for the index run.

    DATA/
      current             the id of the generation that answers; replaced in one step
      generations/ID/     complete once it holds a manifest, then never changed
      index.lock          held by the one index run
      held.json           after a rollback: what must not be built again until something changes
      last_run.json       when the last index run ended well

Ids grow and are never used twice. A directory without a manifest is what a killed run left behind.
"""

from __future__ import annotations

import fcntl
import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from retrieval.errors import IndexBusy, IndexMismatch, IndexMissing, ServiceAway, WrongUse
from retrieval.store import Generation, Manifest, read_manifest
from retrieval.whole_files import read_record, write_whole

NOT_INDEXED = "Nothing has been indexed yet; run `guideline-bot index --folder DIR` first."
_GOING = ".going-"


@dataclass(frozen=True, slots=True)
class Kept:
    """A complete generation on disk.

    Attributes:
        built: when it was finished; None where it does not say.
        readable: False when this version of the program cannot read it.
    """

    id: str
    current: bool
    built: datetime | None = None
    passages: int = 0
    guidelines: int = 0
    readable: bool = True


class Generations:
    """The generations of one data directory."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self._root = data / "generations"
        self._pointer = data / "current"

    def current(self) -> str | None:
        """Return the id of the generation that answers; None where there is none yet."""
        try:
            return self._pointer.read_text(encoding="ascii").strip() or None
        except (OSError, UnicodeDecodeError):
            return None

    def directory(self, generation: str) -> Path:
        return self._root / generation

    def ids(self) -> list[str]:
        """Return the ids of all complete generations, oldest first."""
        return sorted(
            directory.name
            for directory in (self._root.iterdir() if self._root.is_dir() else ())
            if not directory.name.startswith(".") and (directory / "manifest.json").is_file()
        )

    def kept(self) -> list[Kept]:
        """Return all complete generations, newest first."""
        current = self.current()
        entries = []
        for generation in reversed(self.ids()):
            manifest = self.manifest(generation)
            if manifest is None:
                entries.append(Kept(generation, generation == current, readable=False))
                continue
            built = manifest.notes.get("built")
            entries.append(
                Kept(
                    generation,
                    generation == current,
                    datetime.fromisoformat(built) if isinstance(built, str) else None,
                    manifest.passages,
                    int(manifest.notes.get("served", 0)),
                )
            )
        return entries

    def manifest(self, generation: str) -> Manifest | None:
        """Read a generation's manifest; None when it is gone or cannot be read."""
        try:
            return read_manifest(self.directory(generation))
        except IndexMismatch:
            return None

    def open_current(self, identity: str) -> tuple[str, Generation]:
        """Open the generation that answers.

        It may be replaced and removed while it is being opened: then the next one is opened.

        Args:
            identity: of the embedder that will ask.

        Raises:
            IndexMissing: nothing has been indexed yet.
            IndexMismatch: it was made with another embedder, or is damaged.
        """
        generation = self.current()
        while True:
            if generation is None:
                raise IndexMissing(NOT_INDEXED)
            try:
                return generation, Generation.open(self.directory(generation), identity)
            except (IndexMismatch, OSError) as error:
                now = self.current()
                if now == generation:
                    if isinstance(error, IndexMismatch):
                        raise
                    raise IndexMismatch(
                        f"The index {generation} cannot be opened ({error.strerror}); "
                        "run `guideline-bot index --full` to build it again."
                    ) from None
                generation = now

    def new_id(self) -> str:
        """Return an id greater than all there are; no other run ever returns it."""
        names = [path.name.removeprefix(_GOING) for path in (self._root.iterdir() if self._root.is_dir() else ())]
        names.append(self.current() or "")
        last = max((int(name[:6]) for name in names if name[:6].isdigit()), default=0)
        return f"{last + 1:06d}-{secrets.token_hex(3)}"

    def activate(self, generation: str) -> None:
        """Let a complete generation answer from now on."""
        write_whole(self._pointer, generation + "\n")

    def rollback(self, generation: str = "") -> str:
        """Let an older generation answer again; an index run builds no new one until something has changed.

        Args:
            generation: its id or the beginning of it; "" for the one before the current.

        Returns:
            the id of the generation that answers now.

        Raises:
            WrongUse: there is no such generation.
            IndexBusy: an index run is under way.
        """
        with self.lock():
            current, ids = self.current(), self.ids()
            if generation:
                chosen = [one for one in ids if one.startswith(generation)]
            else:
                chosen = [one for one in ids if current is not None and one < current][-1:]
            if len(chosen) != 1:
                known = ", ".join(reversed(ids)) or "none"
                wanted = f'no single generation "{generation}"' if generation else "no older generation"
                raise WrongUse(f"There is {wanted} to go back to (there are: {known}).")
            left = self.manifest(current) if current else None
            if left is not None and chosen[0] != current:
                write_whole(self.data / "held.json", json.dumps({"state": left.notes.get("state", "")}))
            self.activate(chosen[0])
            return chosen[0]

    def held(self) -> str:
        """Return the state of the folders that a rollback turned away from; "" without one."""
        return str(read_record(self.data / "held.json").get("state", ""))

    def release(self) -> None:
        """Forget the rollback: what comes next may be built."""
        (self.data / "held.json").unlink(missing_ok=True)

    def clean(self) -> None:
        """Remove what killed runs left behind. Only under the lock."""
        current = self.current()
        for directory in list(self._root.iterdir()) if self._root.is_dir() else ():
            unfinished = not (directory / "manifest.json").is_file() and directory.name != current
            if directory.name.startswith(_GOING) or unfinished:
                shutil.rmtree(directory, ignore_errors=True)
        for name in ("current", "held.json", "last_run.json", "failures.json"):
            for draft in self.data.glob(f"{name}.*.new"):
                draft.unlink(missing_ok=True)

    def prune(self, keep: int) -> list[str]:
        """Remove all but the current and the newest generations, `keep` in all, and return their ids.

        A reader that is just opening one of them finds it gone and reads the pointer again.
        """
        current = self.current()
        others = [one for one in self.ids() if one != current]
        removed = others[: max(0, len(others) - (keep - 1))]
        for generation in removed:
            going = self._root / f"{_GOING}{generation}"
            self.directory(generation).rename(going)  # gone in one step, never half there
            shutil.rmtree(going, ignore_errors=True)
        return removed

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock of the index run. The system lets go of it when the process ends, however it ends.

        Raises:
            IndexBusy: another process holds it.
            ServiceAway: the data directory cannot be written.
        """
        try:
            self.data.mkdir(parents=True, exist_ok=True)
            file = (self.data / "index.lock").open("a+", encoding="ascii")
        except OSError as error:
            raise ServiceAway(f"The data directory {self.data} cannot be written ({error.strerror}).") from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise IndexBusy("Another index run is under way; wait until it has ended.") from None
            yield

    def note_run(self, now: datetime) -> None:
        """Remember that an index run ended well."""
        write_whole(self.data / "last_run.json", json.dumps({"ended": now.isoformat()}))

    def last_run(self) -> datetime | None:
        """Return when the last index run ended well; None when there was none."""
        ended = read_record(self.data / "last_run.json").get("ended")
        return datetime.fromisoformat(ended) if isinstance(ended, str) else None
