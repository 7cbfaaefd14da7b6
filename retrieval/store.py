"""A generation on disk: written once, verified, then only read. The only module that imports chromadb.

    DIRECTORY/
      manifest.json     what it was made with; written last, so that a directory without it is no generation
      tables.sqlite     guidelines, passages, term statistics, abbreviations
      windows.f32       one vector a window, passage after passage
      units.f32         one vector a unit (sentence, list item, table row)
      chroma/           the windows again, searchable: one collection a distinct audience

Chroma proposes, the vectors decide: it is asked only for the ids of the nearest windows, and they are scored
from windows.f32, so that a score does not depend on the way it was found. What Chroma's approximate search
would not do completely is searched exactly: filtered passages, and collections too small to need it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding import Matrix, Vector
from retrieval.errors import IndexMismatch
from retrieval.found import Filters
from retrieval.guideline import Guideline, Passage
from retrieval.manifest import CURE, Audience, Manifest, audience_of, damaged, read_manifest
from retrieval.tables import Tables, TableWriter
from retrieval.terms import TermStatistics, term_set
from retrieval.units import full_text
from retrieval.vectors import VectorFile, VectorWriter, cosines
from retrieval.window_search import WindowSearch

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection

__all__ = [
    "Audience",
    "Embedded",
    "Generation",
    "GenerationWriter",
    "Hit",
    "Listed",
    "Manifest",
    "audience_of",
    "everyone",
    "read_manifest",
]

_BATCH = 1_000
_EXACT_UP_TO = 1_000
"""Windows of a collection up to which a dot product is exact and faster than a graph (0.1 ms against 1 ms)."""
# recall@10 on 40,000 windows mixed from real ones: 1.000 with ef_search 500, .997 with 200 (Chroma's defaults: .936
# at 100,000). It costs about a millisecond.
_GRAPH: CreateHNSWConfiguration = {"space": "cosine", "ef_construction": 200, "max_neighbors": 32, "ef_search": 500}
_FILES = ("tables.sqlite", "windows.f32", "units.f32")


@dataclass(frozen=True, slots=True)
class Embedded:
    """A passage with the vectors of its windows (at least one) and of its units, in order."""

    passage: Passage
    windows: Matrix
    units: Matrix


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage near a question: its number in the generation and the cosine of its best window."""

    number: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Listed:
    """A guideline of the generation (its root is empty) and how many passages it has."""

    guideline: Guideline
    passages: int


def everyone(audience: Audience) -> bool:
    """See every collection: the operator's view."""
    return True


def _passage_terms(passage: Passage) -> Iterable[str]:
    return term_set(full_text(passage))


def _no_definitions(passage: Passage) -> Iterable[tuple[str, str]]:
    return ()


class GenerationWriter:
    """Writes a new generation. Left unfinished, the directory is no generation and can be removed.

    Args:
        directory: must not exist yet. Never use a path twice in one process: Chroma would serve the old one.
        identity, dimension: of the embedder.
        terms_of: the content terms of a passage, for the statistics.
        definitions_of: the abbreviations that a passage defines, as (short, long) pairs.
    """

    def __init__(
        self,
        directory: Path,
        identity: str,
        dimension: int,
        *,
        terms_of: Callable[[Passage], Iterable[str]] = _passage_terms,
        definitions_of: Callable[[Passage], Iterable[tuple[str, str]]] = _no_definitions,
    ) -> None:
        directory.mkdir(parents=True)
        self._directory = directory
        self._identity = identity
        self._dimension = dimension
        self._terms_of = terms_of
        self._definitions_of = definitions_of
        self._windows = VectorWriter(directory / "windows.f32", dimension)
        self._units = VectorWriter(directory / "units.f32", dimension)
        self._tables = TableWriter(directory / "tables.sqlite")
        self._chroma = _client(directory / "chroma")
        self._collections: dict[Audience, _CollectionWriter] = {}

    def add_guideline(self, guideline: Guideline) -> None:
        """Add what is known of a guideline, before its passages. Its section tree is not kept."""
        self._tables.add_guideline(guideline, self._collection(guideline.metadata.audience).number)

    def add(self, records: Sequence[Embedded]) -> None:
        """Add passages of guidelines that were added before, each guideline's passages in order.

        Raises:
            ValueError: the guideline is unknown, or a passage has no window or vectors that are none; the writer
                cannot go on after it.
        """
        if not records:
            return
        first_window, first_unit = self._windows.rows, self._units.rows
        for record in records:
            passage = record.passage
            if not len(record.windows):
                raise ValueError(f"{passage.guideline}: passage {passage.ordinal} has no window")
            self._tables.add_passage(passage, first_window, first_unit)
            collection = self._collection(passage.metadata.audience)
            collection.add(first_window, record.windows, _chroma_metadata(passage))
            collection.terms.update(set(self._terms_of(passage)))
            collection.definitions.update(set(self._definitions_of(passage)))
            first_window += len(record.windows)
            first_unit += len(record.units)
        self._windows.append(np.concatenate([record.windows for record in records]))
        self._units.append(np.concatenate([record.units for record in records]))

    def finish(self, notes: Mapping[str, Any] | None = None) -> Manifest:
        """Write what is still held back, verify by querying, and write the manifest last.

        Raises:
            IndexMismatch: what was written cannot be found again.
        """
        collections = tuple(self._collections.values())
        for collection in collections:
            collection.flush()
            self._tables.add_statistics(collection.number, collection.terms, collection.definitions)
        self._tables.finish()
        self._windows.close()
        self._units.close()
        self._chroma.close()
        sizes = _sizes(self._directory)
        for file in (*sizes, "chroma/chroma.sqlite3"):
            _sync(self._directory / file)
        manifest = Manifest(
            name=self._directory.name,
            identity=self._identity,
            dimension=self._dimension,
            passages=self._tables.passages,
            windows=self._windows.rows,
            units=self._units.rows,
            audiences=tuple(self._collections),
            audience_passages=tuple(collection.passages for collection in collections),
            audience_windows=tuple(collection.windows for collection in collections),
            sizes=sizes,
            notes=dict(notes or {}),
        )
        with Generation(self._directory, manifest) as written:
            written.verify()
        draft = self._directory / "manifest.json.new"
        draft.write_text(json.dumps(asdict(manifest), ensure_ascii=False, indent=1), encoding="utf-8")
        _sync(draft)
        draft.replace(self._directory / "manifest.json")
        _sync(self._directory)
        return manifest

    def abandon(self) -> None:
        """Let go of the files, so that the directory can be removed."""
        self._windows.close()
        self._units.close()
        self._tables.abandon()
        self._chroma.close()

    def _collection(self, labels: Iterable[str]) -> _CollectionWriter:
        audience = audience_of(labels)
        if audience not in self._collections:
            number = len(self._collections)
            chroma = self._chroma.create_collection(
                _collection_name(number),
                embedding_function=None,
                configuration={"hnsw": _GRAPH},
            )
            self._collections[audience] = _CollectionWriter(number, chroma)
        return self._collections[audience]


class _CollectionWriter:
    """One audience's collection: adds to Chroma in batches, counts terms and abbreviations."""

    def __init__(self, number: int, chroma: Collection) -> None:
        self.number = number
        self.passages = 0
        self.windows = 0
        self.terms: Counter[str] = Counter()
        self.definitions: Counter[tuple[str, str]] = Counter()
        self._chroma = chroma
        self._ids: list[str] = []
        self._vectors: list[Vector] = []
        self._metadata: list[dict[str, str | int]] = []

    def add(self, first: int, windows: Matrix, metadata: dict[str, str | int]) -> None:
        self.passages += 1
        for offset, vector in enumerate(windows):
            self._ids.append(str(first + offset))
            self._vectors.append(vector)
            self._metadata.append(metadata)
            if len(self._ids) == _BATCH:
                self.flush()

    def flush(self) -> None:
        if self._ids:
            self._chroma.add(
                ids=self._ids,
                embeddings=np.stack(self._vectors),
                metadatas=list(self._metadata),
            )
            self.windows += len(self._ids)
            self._ids, self._vectors, self._metadata = [], [], []


class Generation:
    """A generation, read-only; safe to use from several threads until it is closed."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.directory = directory
        self.manifest = manifest
        self._resources = ExitStack()
        self._closed = False
        try:
            self._open()
        except (OSError, ValueError, sqlite3.Error) as error:
            self.close()
            raise damaged(directory, error) from error
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        manifest = self.manifest
        self._windows = VectorFile(self.directory / "windows.f32", manifest.windows, manifest.dimension)
        self._resources.callback(self._windows.close)
        self._units = VectorFile(self.directory / "units.f32", manifest.units, manifest.dimension)
        self._resources.callback(self._units.close)
        self._tables = Tables(self.directory / "tables.sqlite")
        self._resources.callback(self._tables.close)
        self._layout = self._tables.layout()
        if len(self._layout.guideline) != manifest.passages:
            raise ValueError(f"{len(self._layout.guideline)} passages where {manifest.passages} were written")
        self._search = WindowSearch(self._windows.read, self._layout.first_window, manifest.windows)
        self._unit_ends = np.append(self._layout.first_unit[1:], manifest.units)
        chroma, self._collections = _open_collections(self.directory / "chroma", manifest)
        self._resources.callback(chroma.close)
        for number, windows in enumerate(manifest.audience_windows):
            if windows > _EXACT_UP_TO:  # loads the graph: not the first question shall wait for it
                self._check_collection(number)
        self._terms = lru_cache(maxsize=256)(self._tables.terms)
        self._statistics = lru_cache(maxsize=256)(self._merged_statistics)
        self._definitions = lru_cache(maxsize=256)(self._tables.definitions)
        self._mentions = lru_cache(maxsize=4096)(self._tables.mentions)

    @classmethod
    def open(cls, directory: Path, identity: str) -> Generation:
        """Open a finished generation.

        Args:
            identity: of the embedder that will ask.

        Raises:
            IndexMismatch: it was made with another embedder or by another version, or it is damaged.
        """
        manifest = read_manifest(directory)
        if manifest.identity != identity:
            raise IndexMismatch(
                f"The index {directory.name} was made with the embedder {manifest.identity}, but the settings ask for "
                f"{identity}: set index.embedder and index.model back, or {CURE}."
            )
        for name, size in manifest.sizes.items():
            path = directory / name
            if not path.is_file() or path.stat().st_size != size:
                raise IndexMismatch(f"The index {directory.name} is damaged ({name} is not whole); {CURE}.")
        return cls(directory, manifest)

    def __enter__(self) -> Generation:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of every file. Passages and vectors that were handed out stay valid."""
        self._closed = True
        self._resources.close()

    def nearest(
        self,
        vector: Vector,
        n: int,
        visible: Callable[[Audience], bool] = everyone,
        filters: Filters = Filters(),  # noqa: B008 (frozen)
    ) -> list[Hit]:
        """Find the passages whose best window is nearest to a question.

        Args:
            vector: the question's, shape [dimension].
            n: how many distinct passages to return at most.
            visible: tells for an audience whether the asker may see its collection.
            filters: what is not let through is as if it were not there.

        Returns:
            nearest first, ties in the order of the generation. Exact where filters are given.
        """
        seen = self._visible(visible)
        if n <= 0 or not seen:
            return []
        if filters.guideline.strip() or filters.section.strip():
            passages = self._tables.matching(filters)
            passages = passages[np.isin(self._layout.audience[passages], seen)]
            rows = self._search.exactly(passages, vector, n)
        else:
            rows = np.concatenate([self._in_collection(number, vector, n) for number in seen])
        return [Hit(passage, cosine) for passage, cosine in self._search.best(rows, vector, n)]

    def passages(self, numbers: Iterable[int]) -> list[Passage]:
        """Return passages by their numbers, in the order asked for."""
        self._check_open()
        return [self._tables.passage(int(number)) for number in numbers]

    def passage(self, passage_id: str, visible: Callable[[Audience], bool] = everyone) -> Passage | None:
        """Return the first visible passage with this id; None when there is none."""
        seen = self._visible(visible)
        for number in self._tables.numbers_by_id(passage_id):
            if self._layout.audience[number] in seen:
                return self._tables.passage(number)
        return None

    def numbers_of(self, guideline: str) -> list[int]:
        """Return the numbers of a guideline's passages, in order."""
        self._check_open()
        return self._tables.numbers_of(guideline)

    def unit_vectors(self, number: int) -> Matrix:
        """Return a copy of the vectors of a passage's units, shape [units, dimension]."""
        self._check_open()
        return self._units.read(np.arange(self._layout.first_unit[number], self._unit_ends[number]))

    def window_vectors(self, number: int) -> Matrix:
        """Return a copy of the vectors of a passage's windows, shape [windows, dimension]."""
        self._check_open()
        return self._windows.read(self._search.rows_of(np.array([number])))

    def embedded(self, guideline: str) -> list[Embedded]:
        """Return a guideline's passages as they were added, to be carried over into the next generation."""
        numbers = self.numbers_of(guideline)
        return [
            Embedded(passage, self.window_vectors(number), self.unit_vectors(number))
            for number, passage in zip(numbers, self.passages(numbers), strict=True)
        ]

    def statistics(self, visible: Callable[[Audience], bool] = everyone) -> TermStatistics:
        """Return term statistics of what may be seen and of nothing else."""
        return self._statistics(tuple(self._visible(visible)))

    def definitions(self, visible: Callable[[Audience], bool] = everyone) -> Mapping[tuple[str, str], int]:
        """Return the abbreviations that visible passages define: (short, long) → in how many passages."""
        return self._definitions(tuple(self._visible(visible)))

    def mentions(self, phrase: str, visible: Callable[[Audience], bool] = everyone) -> bool:
        """Tell whether a phrase stands in a visible passage: whole words, any case."""
        return bool(phrase.strip()) and self._mentions(phrase, tuple(self._visible(visible)))

    def guidelines(self, visible: Callable[[Audience], bool] = everyone) -> list[Listed]:
        """Return the visible guidelines, in the order in which they were added."""
        seen = self._visible(visible)
        return [Listed(guideline, count) for guideline, number, count in self._tables.guidelines() if number in seen]

    def verify(self) -> None:
        """Check the generation by using it: every collection must find its own first and last windows.

        Raises:
            IndexMismatch: something is missing or damaged.
        """
        try:
            state = self._tables.check()
            if state != "ok":
                raise ValueError(state)
            for number in range(len(self.manifest.audiences)):
                self._check_collection(number)
        except (OSError, ValueError, sqlite3.Error) as error:
            raise damaged(self.directory, error) from error

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the generation is closed")

    def _visible(self, visible: Callable[[Audience], bool]) -> list[int]:
        self._check_open()
        return [number for number, audience in enumerate(self.manifest.audiences) if visible(audience)]

    def _merged_statistics(self, seen: tuple[int, ...]) -> TermStatistics:
        merged: Counter[str] = Counter()
        for number in seen:
            merged.update(self._terms(number))
        return TermStatistics(sum(self.manifest.audience_passages[number] for number in seen), merged)

    def _in_collection(self, number: int, vector: Vector, n: int) -> NDArray[np.int64]:
        """Return rows of windows among which are the best of the collection's `n` nearest passages."""
        windows = self.manifest.audience_windows[number]
        if windows <= _EXACT_UP_TO:
            return self._search.exactly(np.flatnonzero(self._layout.audience == number), vector, n)
        wanted = min(2 * n + 10, windows)
        while True:
            rows = self._ask_chroma(number, vector, wanted)
            if wanted == windows or len(np.unique(self._search.passages_of(rows))) >= n:
                return rows
            wanted = min(4 * wanted, windows)

    def _ask_chroma(self, number: int, vector: Vector, n: int) -> NDArray[np.int64]:
        """Return the rows of a collection's `n` windows nearest to `vector`, as Chroma's graph finds them."""
        try:
            found = self._collections[number].query(query_embeddings=vector[np.newaxis], n_results=n, include=[])
            return np.array([int(row) for row in found["ids"][0]], dtype=np.int64)
        except Exception as error:  # a damaged graph is told of in many types of error
            raise damaged(self.directory, error) from error

    def _check_collection(self, number: int) -> None:
        """Check that Chroma finds a collection's first and last window; its count alone proves nothing.

        Raises:
            ValueError: it does not.
        """
        rows = self._search.rows_of(np.flatnonzero(self._layout.audience == number))
        expected = self.manifest.audience_windows[number]
        if len(rows) != expected or self._collections[number].count() != expected:
            raise ValueError(f"collection {number} does not hold {expected} windows")
        for row in np.unique(rows[[0, -1]]) if expected else ():
            vector = self._windows.read(np.array([row]))[0]
            near = cosines(self._windows.read(self._ask_chroma(number, vector, 1)), vector)
            if not near.max(initial=-1.0) > 0.999:  # another row with the same text will do
                raise ValueError(f"collection {number} does not find window {row}")


def _client(directory: Path) -> Client:
    import chromadb  # half a second: only who opens an index pays for it
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(directory), settings=Settings(anonymized_telemetry=False))
    return cast("Client", client)  # declared as an interface that lacks close()


def _collection_name(number: int) -> str:
    return f"audience-{number}"


def _open_collections(directory: Path, manifest: Manifest) -> tuple[Client, tuple[Collection, ...]]:
    """Open Chroma and all collections; what it says about a damaged store comes in many types of error.

    Raises:
        ValueError: it cannot be opened, or a collection is missing or not measured by cosine.
    """
    if not (directory / "chroma.sqlite3").is_file():  # Chroma would make a new, empty store
        raise ValueError("chroma.sqlite3 is missing")
    client = None
    try:
        client = _client(directory)
        collections = []
        for number in range(len(manifest.audiences)):
            collection = client.get_collection(_collection_name(number), embedding_function=None)
            space = (collection.configuration.get("hnsw") or {}).get("space")
            if space != "cosine":
                raise ValueError(f"collection {number} is measured by {space}, not by cosine")
            collections.append(collection)
    except Exception as error:
        if client is not None:
            client.close()
        raise ValueError(f"Chroma: {error}") from error
    return client, tuple(collections)


def _chroma_metadata(passage: Passage) -> dict[str, str | int]:
    """Return what stands on every record in Chroma; it takes no None."""
    known: dict[str, str | int | None] = {
        "guideline": passage.guideline,
        "title": passage.title,
        "heading": passage.heading,
        "path": " › ".join(passage.path),
        "ordinal": passage.ordinal,
        "passage": passage.id,
        "first_line": passage.lines[0] if passage.lines else None,
        "last_line": passage.lines[1] if passage.lines else None,
        "page": passage.page,
    }
    return {name: value for name, value in known.items() if value is not None}


def _sizes(directory: Path) -> dict[str, int]:
    """Return the bytes of every file that does not change again: Chroma crashes on a graph that is cut short."""
    graphs = sorted(path for path in (directory / "chroma").glob("*/*") if path.is_file())
    files = [*(directory / name for name in _FILES), *graphs]
    return {path.relative_to(directory).as_posix(): path.stat().st_size for path in files}


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
