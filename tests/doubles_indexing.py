"""Small folders of guidelines and an embedder that remembers what it was asked to encode."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from retrieval.embedding import HashEmbedder, Matrix, Progress

NOW = datetime(2026, 5, 1, 2, 15, tzinfo=UTC)


class CountingEmbedder(HashEmbedder):
    """The hash embedder, with a record of the passages' texts that it encoded."""

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        self.encoded += texts
        return super().encode_passages(texts, progress)


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file below a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def guideline(title: str, *sentences: str, **front: str) -> str:
    """Return a Markdown guideline: a section a sentence, headed by the sentence's first word."""
    lines = [f"{key}: {value}" for key, value in front.items()]
    matter = ["---", *lines, "---", ""] if lines else []
    sections = [f"## {sentence.split()[0]}\n\n{sentence}\n" for sentence in sentences]
    return "\n".join((*matter, f"# {title}", "", *sections))


def clinic(folder: Path) -> Path:
    """Fill a folder with four guidelines."""
    write(folder, "asthma.md", guideline("Asthma", "Salbutamol is given by spacer, ten puffs.", "Oxygen keeps 94 %."))
    write(folder, "sepsis.md", guideline("Sepsis", "Antibiotics are given within one hour.", "Lactate is measured."))
    write(folder, "wards/hypo.md", guideline("Low Glucose", "Glucose fast acting 15 g is given."))
    write(folder, "wards/pain.md", guideline("Pain", "Paracetamol 1 g is given every six hours."))
    return folder


def contents(data: Path, leave_out: Sequence[str] = ()) -> bytes:
    """Return the bytes of every file of a data directory."""
    files = (path for path in sorted(data.rglob("*")) if path.is_file() and path.name not in leave_out)
    return b"\n".join(path.read_bytes() for path in files)
