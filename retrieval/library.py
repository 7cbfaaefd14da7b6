"""Searching the guidelines: the one way in for everything that answers."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from pathlib import Path

import numpy as np

from retrieval.access import OPERATOR, Viewer
from retrieval.embedding import Embedder, Matrix, Vector
from retrieval.entries import GuidelineEntry, entries_of
from retrieval.errors import IndexMismatch, ProductError
from retrieval.failures import FILE as FAILURES
from retrieval.failures import last_good_note, load_failures
from retrieval.found import Filters, Found, Source, Verdict
from retrieval.gate import GateOptions, judge
from retrieval.generations import Generations
from retrieval.glossary import Glossary
from retrieval.guideline import Passage
from retrieval.reranking import Candidate, RankOptions, embedded_question, rerank
from retrieval.units import units_of
from retrieval.vectors import cosines
from retrieval.view import OpenGeneration, View
from retrieval.whole_files import Watched
from retrieval.withdrawn_list import FILE as WITHDRAWN
from retrieval.withdrawn_list import load_withdrawn

log = logging.getLogger(__name__)

Hides = Callable[[Passage], bool]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How questions are read, ranked and judged.

    Attributes:
        candidates: how many of the nearest passages are ranked.
        lexical_weight, heading_weight: relative to a cosine of weight 1.
        min_score: what the gate needs; None for the embedder's own.
        fact_check: look whether a source holds the kind of fact that is asked for.
        deny_by_default: a guideline without an audience is seen by no one but the operator.
        glossary: the site's abbreviations.
    """

    candidates: int = 100
    lexical_weight: float = 0.4
    heading_weight: float = 0.2
    min_score: float | None = None
    fact_check: bool = True
    deny_by_default: bool = False
    glossary: Glossary = field(default_factory=Glossary)


class Library:
    """The guidelines as they can be searched now; safe to use from several threads.

    Before each search the library looks whether another generation answers, or a guideline was withdrawn. Searches
    that are under way end on the generation that they began with.
    """

    def __init__(
        self,
        generations: Generations,
        embedder: Embedder,
        options: SearchOptions,
        opened: OpenGeneration,
        today: Callable[[], date],
    ) -> None:
        self._generations = generations
        self._embedder = embedder
        self._options = options
        self._opened = opened
        self._today = today
        self._withdrawn = Watched(generations.data / WITHDRAWN, load_withdrawn)
        self._failures = Watched(generations.data / FAILURES, load_failures)
        self._swapping = threading.Lock()
        self._refused = ""
        self._embed = lru_cache(maxsize=1024)(embedder.encode_question)

    @classmethod
    def open(
        cls,
        data: Path,
        embedder: Embedder,
        options: SearchOptions = SearchOptions(),
        *,
        today: Callable[[], date] = date.today,
    ) -> Library:
        """Open the current generation.

        Args:
            data: the data directory.
            today: the day that review dates are compared with.

        Raises:
            IndexMissing: nothing has been indexed yet.
            IndexMismatch: the index was made with another embedder, or is damaged.
        """
        generations = Generations(data)
        opened = OpenGeneration(*generations.open_current(embedder.identity), options.deny_by_default)
        return cls(generations, embedder, options, opened, today)

    @property
    def generation(self) -> str:
        """The id of the generation that answers."""
        return self._opened.name

    @property
    def min_score(self) -> float:
        """What the gate needs."""
        return self._embedder.min_score if self._options.min_score is None else self._options.min_score

    @property
    def embedder_identity(self) -> str:
        """The embedder that `min_score` belongs to."""
        return self._embedder.identity

    def close(self) -> None:
        """Let go of the generation once the searches under way have ended."""
        self._opened.retire()

    def refresh(self) -> bool:
        """Open the current generation if it is another one than before; tell whether it was.

        A generation that cannot be opened is left alone, and the one before goes on answering.
        """
        current = self._generations.current()
        if current is None or current in (self._opened.name, self._refused):
            return False
        if not self._swapping.acquire(blocking=False):
            return False  # another thread is at it; this search is answered by the old one
        try:
            name, generation = self._generations.open_current(self._embedder.identity)
            if name == self._opened.name:
                generation.close()
                return False
            before, self._opened = self._opened, OpenGeneration(name, generation, self._options.deny_by_default)
            before.retire()
            self._refused = ""
            return True
        except ProductError as error:
            self._refused = current
            log.error("Generation %s goes on answering: %s", self._opened.name, error)
            return False
        finally:
            self._swapping.release()

    def search(
        self,
        question: str,
        *,
        viewer: Viewer = OPERATOR,
        filters: Filters = Filters(),  # noqa: B008 (frozen)
        limit: int = 10,
        hides: Hides | None = None,
    ) -> Found:
        """Find what the guidelines say to a question, and judge whether it carries an answer.

        Args:
            question: any text. What is longer than the embedder's limit is cut there.
            viewer: the readers of the reply; what they may not see is as if it were not there.
            filters: restrict the search before anything is ranked.
            limit: how many sources to return at most.
            hides: passages to leave out, to try what happens without them.

        Returns:
            sources best first, and the verdict.
        """
        self.refresh()
        while True:
            with self._open() as opened:
                try:
                    return self._search(opened, question, viewer, filters, limit, hides)
                except (IndexMismatch, OSError, ValueError, sqlite3.Error, RuntimeError):
                    # Its files may have been removed because another generation has taken its place.
                    if not self.refresh() and self._opened is opened:
                        raise

    def guidelines(self, viewer: Viewer = OPERATOR) -> list[GuidelineEntry]:
        """List every guideline that the viewer may know of, served or why not."""
        self.refresh()
        with self._open() as opened:
            return list(
                entries_of(
                    opened.catalogue,
                    self._failures.current(),
                    self._withdrawn.current(),
                    viewer,
                    self._today(),
                    deny_by_default=self._options.deny_by_default,
                )
            )

    def passage(self, passage_id: str, viewer: Viewer = OPERATOR) -> Passage | None:
        """Return a passage by its id; None when there is none that this viewer may see."""
        self.refresh()
        with self._open() as opened:
            view = opened.view(viewer, self._withdrawn.current())
            passage = opened.generation.passage(passage_id, view.sees)
            return None if passage is None or passage.guideline in view.hidden else passage

    def passages(self, viewer: Viewer = OPERATOR) -> list[Passage]:
        """Return every passage that the viewer may see, guideline by guideline in reading order."""
        names = [entry.name for entry in self.guidelines(viewer) if entry.served]
        with self._open() as opened:
            return [one for name in names for one in opened.generation.passages(opened.generation.numbers_of(name))]

    @contextmanager
    def _open(self) -> Iterator[OpenGeneration]:
        while True:
            opened = self._opened
            if opened.enter():
                break
        try:
            yield opened
        finally:
            opened.leave()

    def _search(
        self,
        opened: OpenGeneration,
        question: str,
        viewer: Viewer,
        filters: Filters,
        limit: int,
        hides: Hides | None,
    ) -> Found:
        options = self._options
        times = _Times()
        view = opened.view(viewer, self._withdrawn.current())
        reading = options.glossary.read(question, view.definitions, view.mentions)
        times.mark("read")
        vector = self._embed(embedded_question(reading, view.statistics))
        times.mark("embed")
        candidates = _candidates(opened, view, vector, filters, options.candidates, hides)
        times.mark("search")
        ranked = rerank(
            reading, candidates, view.statistics, RankOptions(options.lexical_weight, options.heading_weight)
        )
        times.mark("rerank")
        sources, verdict = judge(
            reading, ranked, view.statistics, GateOptions(self.min_score, options.fact_check), self._embed_all
        )
        if not sources:
            verdict = self._nothing(verdict, view, filters)
        times.mark("gate")
        return Found(reading, self._noted(sources[:limit]), verdict, opened.name, times.spent_ms)

    def _noted(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        failures = self._failures.current()
        return tuple(
            replace(source, notes=(last_good_note(source.passage.title, failures[source.passage.guideline]),))
            if source.passage.guideline in failures
            else source
            for source in sources
        )

    def _nothing(self, verdict: Verdict, view: View, filters: Filters) -> Verdict:
        """Say why nothing was found at all."""
        if filters != Filters() and view.passages:
            told = " and ".join(
                f'{name} "{value}"'
                for name, value in (("guideline", filters.guideline), ("section", filters.section))
                if value
            )
            return replace(verdict, kind="filtered_out", reason=f"No section matches {told}.")
        return replace(verdict, kind="nothing_indexed", reason="There are no guidelines to answer from yet.")

    def _embed_all(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self._embedder.dimension), dtype=np.float32)
        return np.stack([self._embed(text) for text in texts])


def _candidates(
    opened: OpenGeneration, view: View, vector: Vector, filters: Filters, n: int, hides: Hides | None
) -> list[Candidate]:
    """Return the `n` nearest passages that the viewer may see."""
    generation = opened.generation
    wanted = n + len(view.hidden_passages)
    while True:
        hits = generation.nearest(vector, wanted, view.sees, filters)
        seen = [hit for hit in hits if hit.number not in view.hidden_passages]
        passages = generation.passages(hit.number for hit in seen)
        pairs = [(hit, one) for hit, one in zip(seen, passages, strict=True) if hides is None or not hides(one)][:n]
        if len(pairs) == n or len(hits) < wanted:
            break
        wanted *= 2
    candidates = []
    for hit, passage in pairs:
        units = generation.unit_vectors(hit.number)
        if len(units) != len(units_of(passage)):
            # An index of another version of the program: its passages are ranked without their units.
            units = units[:0]
        candidates.append(Candidate(passage, hit.cosine, cosines(units, vector), units if len(units) else None))
    return candidates


class _Times:
    """Milliseconds spent on each step of a search."""

    def __init__(self) -> None:
        self._last_s = time.perf_counter()
        self._spent_ms: dict[str, float] = {}

    def mark(self, step: str) -> None:
        now_s = time.perf_counter()
        self._spent_ms[step] = 1000 * (now_s - self._last_s)
        self._last_s = now_s

    @property
    def spent_ms(self) -> Mapping[str, float]:
        return dict(self._spent_ms)
