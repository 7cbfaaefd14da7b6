"""What a generation was made with: the one file that makes a directory a generation."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.errors import IndexMismatch

Audience = tuple[str, ...]
FORMAT = 2
CURE = "run `guideline-bot index --full` to build the index again"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation was made with.

    Attributes:
        name: the directory's name when it was written.
        audiences: the labels of each collection, in the collections' order.
        audience_passages, audience_windows: how much each collection holds.
        sizes: bytes of each file that does not change again.
        notes: what the index run wanted remembered (JSON values).
    """

    name: str
    identity: str
    dimension: int
    passages: int
    windows: int
    units: int
    audiences: tuple[Audience, ...]
    audience_passages: tuple[int, ...]
    audience_windows: tuple[int, ...]
    sizes: Mapping[str, int]
    notes: Mapping[str, Any]
    format: int = FORMAT


def audience_of(labels: Iterable[str]) -> Audience:
    """Return labels as the store compares them: any order, any case."""
    return tuple(sorted({label.casefold() for label in labels}))


def read_manifest(directory: Path) -> Manifest:
    """Read what a generation was made with, without opening it.

    Raises:
        IndexMismatch: it was made by another version, or is damaged or unfinished.
    """
    try:
        record = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise IndexMismatch(f"The index {directory.name} was made by another version of the program; {CURE}.")
        record["audiences"] = tuple(tuple(labels) for labels in record["audiences"])
        for name in ("audience_passages", "audience_windows"):
            record[name] = tuple(record[name])
        return Manifest(**record)
    except (OSError, ValueError, KeyError, TypeError):
        raise IndexMismatch(f"The index {directory.name} is damaged (no readable manifest); {CURE}.") from None


def damaged(directory: Path, error: Exception) -> IndexMismatch:
    if not os.access(directory, os.W_OK):
        return IndexMismatch(
            f"The index {directory.name} can only be opened where its folder can be written: let the bot's user own "
            f"{directory.parent.parent}, and mount it writable."
        )
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return IndexMismatch(f"The index {directory.name} is damaged ({reason}); {CURE}.")
