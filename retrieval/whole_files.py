"""Small files that are replaced whole, and read again when they have changed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def write_whole(path: Path, text: str) -> None:
    """Replace a file in one step: after a crash it holds the old text or the new, never a part."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def read_record(path: Path) -> dict[str, Any]:
    """Read a JSON object that `write_whole` wrote; {} when there is none or it is damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


class Watched(Generic[T]):
    """The content of a file that another process replaces.

    Args:
        load: reads it; is given a path where there may be no file.
    """

    def __init__(self, path: Path, load: Callable[[Path], T]) -> None:
        self._path = path
        self._load = load
        self._known: tuple[object, T] | None = None

    def current(self) -> T:
        """Return the content as it is now; costs one look at the file while that is unchanged."""
        seen: object
        try:
            status = os.stat(self._path)  # noqa: PTH116 (a third of the time of Path.stat, before every search)
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            seen = None
        known = self._known
        if known is None or known[0] != seen:
            known = self._known = (seen, self._load(self._path))
        return known[1]
