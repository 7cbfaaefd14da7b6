"""Passages between reading and embedding: on disk without a name, so that a killed run leaves none of their text."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from retrieval.guideline import Passage


@dataclass(frozen=True, slots=True)
class Prepared:
    """A passage with the texts that are embedded for it."""

    passage: Passage
    windows: tuple[str, ...]
    units: tuple[str, ...]


class Spool:
    """Keeps the prepared passages of many guidelines out of memory.

    Args:
        directory: a folder on a disk with room for them.
    """

    def __init__(self, directory: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (closed by __exit__)
        self._at: dict[str, tuple[int, int]] = {}
        self.texts: dict[str, int] = {}

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __contains__(self, guideline: str) -> bool:
        return guideline in self._at

    def put(self, guideline: str, prepared: list[Prepared]) -> None:
        """Keep a guideline's passages under its name."""
        body = pickle.dumps(prepared, protocol=pickle.HIGHEST_PROTOCOL)
        start = self._file.seek(0, 2)
        self._file.write(body)
        self._at[guideline] = (start, len(body))
        self.texts[guideline] = sum(len(one.windows) + len(one.units) for one in prepared)

    def take(self, guideline: str) -> list[Prepared]:
        """Return what was put under the name."""
        start, length = self._at[guideline]
        self._file.seek(start)
        prepared: list[Prepared] = pickle.loads(self._file.read(length))
        return prepared

    def names(self) -> Iterator[str]:
        return iter(self._at)
