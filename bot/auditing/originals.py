"""Comparing what was quoted with the guideline's file as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bot.records import passage_sha256
from retrieval.errors import DocumentError
from retrieval.scanning import sha256_of

FileState = Literal["same", "changed", "gone", "unreadable"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One cited source and its original.

    Attributes:
        file: whether the file is byte for byte the one that was indexed then.
        holds_text: whether all that was cited stands in it now; None when that cannot be told.
        fits_hash: whether the text that the ledger kept is the one whose hash it kept; None when it is erased.
    """

    tag: str
    guideline: str
    file: FileState
    holds_text: bool | None
    fits_hash: bool | None


def compare(
    cited: Iterable[Mapping[str, Any]], passages: Mapping[str, str], folders: Sequence[Path]
) -> tuple[Comparison, ...]:
    """Compare every cited source with the file of its name in the watched folders.

    Args:
        cited: the sources as the ledger keeps them.
        passages: tag → the text that was cited.
        folders: where guidelines are; the first that holds the name is taken.
    """
    return tuple(_compare(source, passages.get(str(source.get("tag", ""))), folders) for source in cited)


def _compare(source: Mapping[str, Any], text: str | None, folders: Sequence[Path]) -> Comparison:
    tag, name = str(source.get("tag", "")), str(source.get("guideline", ""))
    fits = None if text is None else passage_sha256(text) == source.get("text_sha256")
    found = _file(name, folders)
    if found is None:
        return Comparison(tag, name, "gone", None, fits)
    folder, path = found
    try:
        state: FileState = "same" if sha256_of(str(path)) == source.get("sha256") else "changed"
        holds = None if text is None else holds_text(_text_of(path, name, folder), text)
    except (OSError, DocumentError):
        return Comparison(tag, name, "unreadable", None, fits)
    return Comparison(tag, name, state, holds, fits)


def holds_text(whole: str, part: str) -> bool:
    """Tell whether every line of a text stands in a document, whatever its white space (pure)."""
    # Words whole: "5 mg" does not stand in "15 mg".
    document = f" {' '.join(whole.split())} "
    return all(f" {' '.join(line.split())} " in document for line in part.splitlines() if line.strip())


def _file(name: str, folders: Sequence[Path]) -> tuple[Path, Path] | None:
    for folder in folders:
        path = folder / name
        # A name is what the ledger says: it must not lead out of the folder.
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            return folder, path
    return None


def _text_of(path: Path, name: str, folder: Path) -> str:
    from retrieval.documents import load

    guideline = load(path, name, folder=folder)
    parts = []
    for _, section in guideline.root.walk():
        parts.append(section.heading)
        for block in section.blocks:
            parts.append(block.text)
    return "\n".join(parts)
