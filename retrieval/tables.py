"""The tables of a generation: guidelines, passages, term statistics and abbreviations, in one SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from retrieval.found import Filters
from retrieval.guideline import Guideline, Passage
from retrieval.records import dump_guideline, dump_passage, load_guideline, load_passage
from retrieval.units import full_text

_SCHEMA = """
CREATE TABLE guidelines (number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, audience INTEGER NOT NULL,
    folded TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE passages (number INTEGER PRIMARY KEY, id TEXT NOT NULL, guideline INTEGER NOT NULL,
    path TEXT NOT NULL, body TEXT NOT NULL, first_window INTEGER NOT NULL, first_unit INTEGER NOT NULL);
CREATE TABLE terms (audience INTEGER NOT NULL, term TEXT NOT NULL, passages INTEGER NOT NULL,
    PRIMARY KEY (audience, term)) WITHOUT ROWID;
CREATE TABLE definitions (audience INTEGER NOT NULL, short TEXT NOT NULL, long TEXT NOT NULL,
    passages INTEGER NOT NULL, PRIMARY KEY (audience, short, long)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, content='');
"""
_INDEXES = """
CREATE INDEX passages_by_id ON passages (id);
CREATE INDEX passages_by_guideline ON passages (guideline);
"""


def fold(text: str) -> str:
    """Return text as filters compare it: any case, any white space, any arrow between headings."""
    for arrow in (">", "»", "→"):
        text = text.replace(arrow, "›")
    return " › ".join(" ".join(part.split()) for part in text.casefold().split("›"))


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each passage's vectors are and who may see it; a row a passage.

    Attributes:
        guideline: number of its guideline, shape [passages].
        audience: number of its collection, shape [passages].
        first_window, first_unit: row of its first vector, shape [passages].
    """

    guideline: NDArray[np.int64]
    audience: NDArray[np.int64]
    first_window: NDArray[np.int64]
    first_unit: NDArray[np.int64]


class TableWriter:
    """Fills a new file."""

    def __init__(self, path: Path) -> None:
        self.passages = 0
        self._guidelines: dict[str, int] = {}
        self._rows = sqlite3.connect(path)
        self._rows.execute("PRAGMA synchronous = OFF")  # the file is synced once, when it is finished
        self._rows.executescript(_SCHEMA)

    def add_guideline(self, guideline: Guideline, audience: int) -> None:
        number = len(self._guidelines)
        folded = fold(f"{guideline.name}\n{guideline.metadata.title}")
        self._rows.execute(
            "INSERT INTO guidelines VALUES (?, ?, ?, ?, ?)",
            (number, guideline.name, audience, folded, dump_guideline(guideline)),
        )
        self._guidelines[guideline.name] = number

    def add_passage(self, passage: Passage, first_window: int, first_unit: int) -> None:
        """Add a passage under the next number.

        Raises:
            ValueError: its guideline was not added before.
        """
        guideline = self._guidelines.get(passage.guideline)
        if guideline is None:
            raise ValueError(f"{passage.guideline}: add_guideline comes before its passages")
        path = fold(" › ".join(passage.path))
        self._rows.execute(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self.passages, passage.id, guideline, path, dump_passage(passage), first_window, first_unit),
        )
        self._rows.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (self.passages, full_text(passage)))
        self.passages += 1

    def add_statistics(self, audience: int, terms: Counter[str], definitions: Counter[tuple[str, str]]) -> None:
        self._rows.executemany(
            "INSERT INTO terms VALUES (?, ?, ?)", ((audience, *row) for row in sorted(terms.items()))
        )
        self._rows.executemany(
            "INSERT INTO definitions VALUES (?, ?, ?, ?)",
            ((audience, *pair, count) for pair, count in sorted(definitions.items())),
        )

    def finish(self) -> None:
        self._rows.executescript(_INDEXES)
        self._rows.commit()
        self._rows.close()

    def abandon(self) -> None:
        self._rows.close()


class Tables:
    """A finished file, read-only; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._rows = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self.guideline = lru_cache(maxsize=10_000)(self._guideline)
        self.passage = lru_cache(maxsize=2_000)(self._passage)

    def close(self) -> None:
        with self._lock:
            self._rows.close()
        self.guideline.cache_clear()
        self.passage.cache_clear()

    def check(self) -> str:
        """Return "ok", or what SQLite finds wrong with the file."""
        return str(self._ask("PRAGMA quick_check(1)")[0][0])

    def layout(self) -> Layout:
        rows = self._ask(
            "SELECT guideline, audience, first_window, first_unit FROM passages "
            "JOIN guidelines ON guidelines.number = passages.guideline ORDER BY passages.number"
        )
        table = np.array(rows, dtype=np.int64).reshape(-1, 4)
        return Layout(*(np.ascontiguousarray(table[:, column]) for column in range(4)))

    def guidelines(self) -> list[tuple[Guideline, int, int]]:
        """Return every guideline with the number of its collection and its count of passages, in order of addition."""
        rows = self._ask(
            "SELECT number, audience, (SELECT count(*) FROM passages WHERE guideline = guidelines.number) "
            "FROM guidelines ORDER BY number"
        )
        return [(self.guideline(number), audience, count) for number, audience, count in rows]

    def numbers_of(self, guideline: str) -> list[int]:
        """Return the numbers of a guideline's passages, in order; empty when there is no such guideline."""
        rows = self._ask(
            "SELECT passages.number FROM passages JOIN guidelines ON guidelines.number = passages.guideline "
            "WHERE guidelines.name = ? ORDER BY passages.number",
            (guideline,),
        )
        return [row[0] for row in rows]

    def numbers_by_id(self, passage_id: str) -> list[int]:
        return [row[0] for row in self._ask("SELECT number FROM passages WHERE id = ? ORDER BY number", (passage_id,))]

    def matching(self, filters: Filters) -> NDArray[np.int64]:
        """Return the numbers of all passages that the filters let through, ascending."""
        rows = self._ask(
            "SELECT passages.number FROM passages JOIN guidelines ON guidelines.number = passages.guideline "
            "WHERE instr(guidelines.folded, ?) AND instr(passages.path, ?) ORDER BY passages.number",
            (fold(filters.guideline), fold(filters.section)),
        )
        return np.array([row[0] for row in rows], dtype=np.int64)

    def terms(self, audience: int) -> Mapping[str, int]:
        """Return for each term how many of a collection's passages hold it."""
        return dict(self._ask("SELECT term, passages FROM terms WHERE audience = ?", (audience,)))

    def definitions(self, audiences: Iterable[int]) -> Counter[tuple[str, str]]:
        """Return for each (short, long) pair how many passages of these collections define it."""
        found: Counter[tuple[str, str]] = Counter()
        for audience in audiences:
            query = "SELECT short, long, passages FROM definitions WHERE audience = ? ORDER BY short, long"
            for short, long, count in self._ask(query, (audience,)):
                found[short, long] += count
        return found

    def mentions(self, phrase: str, audiences: Iterable[int]) -> bool:
        """Tell whether a phrase stands in a passage of these collections: its words in a row, in any case."""
        query = (
            "SELECT 1 FROM words JOIN passages ON passages.number = words.rowid "
            "JOIN guidelines ON guidelines.number = passages.guideline "
            "WHERE words MATCH ? AND guidelines.audience = ? LIMIT 1"
        )
        quoted = '"' + phrase.replace('"', " ") + '"'
        return any(self._ask(query, (quoted, audience)) for audience in audiences)

    def _guideline(self, number: int) -> Guideline:
        return load_guideline(self._ask("SELECT body FROM guidelines WHERE number = ?", (number,))[0][0])

    def _passage(self, number: int) -> Passage:
        guideline, body = self._ask("SELECT guideline, body FROM passages WHERE number = ?", (number,))[0]
        return load_passage(body, self.guideline(guideline))

    def _ask(self, query: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._rows.execute(query, values).fetchall()
