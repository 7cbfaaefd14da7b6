"""Vectors of texts that were embedded before, so that only new text is encoded.

Keys are hashes of embedder and text; no text is kept. What an index run did not ask for can be pruned.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from retrieval.embedding import Embedder, Matrix, Progress
from retrieval.errors import ServiceAway

_BATCH = 256
"""Texts that are encoded before they are saved: what a killed run loses."""


class EmbeddingCache:
    """A file of vectors by (embedder's identity, text). One process writes it at a time: the index run."""

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            ServiceAway: it cannot be written.
        """
        self._path = path
        self._asked_for: set[bytes] = set()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._rows = _open(path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                path.unlink()  # damaged: nothing in it that cannot be computed again
                self._rows = _open(path)
        except (OSError, sqlite3.Error) as error:
            raise ServiceAway(f"The cache of embeddings {path} cannot be opened ({error}).") from error

    def encode(self, embedder: Embedder, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        """Return the vectors of `texts`, shape [n, dimension]; encode each distinct text at most once, ever.

        Args:
            progress: is told of every text, those found in the cache included.
        """
        keys = [_key(embedder.identity, text) for text in texts]
        self._asked_for.update(keys)
        found = {key: vector for key in set(keys) if (vector := self._find(key, embedder.dimension)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if progress and len(texts) > len(missing):
            progress(len(texts) - len(missing))
        for batch in _batches(list(missing.items())):
            vectors = embedder.encode_passages([text for _, text in batch], progress)
            with self._rows:
                self._rows.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    ((key, vector.astype("<f4").tobytes()) for (key, _), vector in zip(batch, vectors, strict=True)),
                )
            found.update((key, vector) for (key, _), vector in zip(batch, vectors, strict=True))
        if not keys:
            return np.zeros((0, embedder.dimension), dtype=np.float32)
        return np.stack([found[key] for key in keys])

    def keep(self, embedder: Embedder, texts: Sequence[str]) -> None:
        """Mark texts as still in use, so that `prune` leaves their vectors."""
        self._asked_for.update(_key(embedder.identity, text) for text in texts)

    def prune(self) -> int:
        """Remove every vector that was not asked for since the file was opened; say how many."""
        with self._rows:
            self._rows.execute("CREATE TEMP TABLE IF NOT EXISTS used (key BLOB PRIMARY KEY) WITHOUT ROWID")
            self._rows.execute("DELETE FROM used")
            self._rows.executemany("INSERT INTO used VALUES (?)", ((key,) for key in self._asked_for))
            removed = self._rows.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM used)").rowcount
        if removed:
            self._rows.execute("VACUUM")
        return removed

    def close(self) -> None:
        self._rows.close()

    def _find(self, key: bytes, dimension: int) -> Matrix | None:
        row = self._rows.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        if row is None or len(row[0]) != dimension * 4:
            return None
        return np.frombuffer(row[0], dtype="<f4").astype(np.float32)


def _open(path: Path) -> sqlite3.Connection:
    rows = sqlite3.connect(path)
    rows.execute("PRAGMA secure_delete = ON")
    rows.execute("PRAGMA synchronous = NORMAL")
    rows.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
    rows.execute("SELECT 1 FROM vectors LIMIT 1").fetchone()
    return rows


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode()).digest()


def _batches(items: list[tuple[bytes, str]]) -> list[list[tuple[bytes, str]]]:
    return [items[start : start + _BATCH] for start in range(0, len(items), _BATCH)]
