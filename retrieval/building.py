"""Writing the next generation: what is new is embedded, everything else is carried over with its vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from retrieval.catalogue import Catalogue, dump
from retrieval.counting import definitions_of, terms_of
from retrieval.embedding import Embedder
from retrieval.embedding_cache import EmbeddingCache
from retrieval.guideline import Guideline, Passage
from retrieval.looking import Progress
from retrieval.passages import passages_of
from retrieval.spool import Prepared, Spool
from retrieval.store import Embedded, Generation, GenerationWriter
from retrieval.windows import unit_texts_of, windows_of

# Texts that are embedded together: enough to sort by length, few enough to hold in memory.
_TOGETHER = 2048


class Preparation:
    """How passages and the texts to embed are made; the same for every guideline of a run."""

    def __init__(self, embedder: Embedder, max_chars: int, window_tokens: int) -> None:
        self._count = embedder.count_tokens
        self._max_chars = max_chars
        self._window_tokens = min(window_tokens, embedder.max_tokens)
        self._max_tokens = embedder.max_tokens

    def of(self, guideline: Guideline) -> list[Prepared]:
        """Divide a guideline into passages and each of them into what is embedded."""
        return [self.of_passage(passage) for passage in passages_of(guideline, self._max_chars)]

    def of_passage(self, passage: Passage) -> Prepared:
        windows = windows_of(passage, self._count, self._window_tokens)
        return Prepared(passage, windows, unit_texts_of(passage, self._count, self._max_tokens))


def write_generation(
    directory: Path,
    catalogue: Catalogue,
    spool: Spool,
    carried_from: Generation | None,
    embedder: Embedder,
    cache: EmbeddingCache,
    progress: Progress,
    built: datetime,
) -> Catalogue:
    """Write, verify and close a new generation.

    Args:
        directory: must not exist yet.
        catalogue: the files; those that are served get their passages from `spool`, or else from `carried_from`.
        carried_from: the last generation, made in the same way.

    Returns:
        the catalogue with the number of passages of each file.

    Raises:
        IndexMismatch: what was written cannot be found again.
    """
    served = catalogue.served
    total = sum(spool.texts[name] for name in served if name in spool)
    done = 0

    def embedded(count: int) -> None:
        nonlocal done
        done += count
        progress("embed", done, total)

    progress("embed", 0, total)
    writer = GenerationWriter(
        directory, embedder.identity, embedder.dimension, terms_of=terms_of, definitions_of=definitions_of
    )
    try:
        counts: dict[str, int] = {}
        for name in served:
            writer.add_guideline(catalogue.files[name].guideline)
        for batch in _batches(spool, [name for name in served if name in spool]):
            records = _embed(batch, embedder, cache, embedded)
            for record in records:
                counts[record.passage.guideline] = counts.get(record.passage.guideline, 0) + 1
            writer.add(records)
        for name in served:
            if name not in spool and carried_from is not None:
                records = carried_from.embedded(name)
                counts[name] = len(records)
                writer.add(records)
        files = {name: replace(one, passages=counts.get(name, 0)) for name, one in catalogue.files.items()}
        final = replace(catalogue, files=files)
        progress("verify", 0, 1)
        writer.finish({**dump(final), "built": built.isoformat()})
        progress("verify", 1, 1)
    except BaseException:
        writer.abandon()
        raise
    return final


def _batches(spool: Spool, names: Sequence[str]) -> Iterator[list[Prepared]]:
    batch: list[Prepared] = []
    texts = 0
    for name in names:
        for prepared in spool.take(name):
            batch.append(prepared)
            texts += len(prepared.windows) + len(prepared.units)
            if texts >= _TOGETHER:
                yield batch
                batch, texts = [], 0
    if batch:
        yield batch


def _embed(
    batch: Iterable[Prepared], embedder: Embedder, cache: EmbeddingCache, progress: Callable[[int], None]
) -> list[Embedded]:
    prepared = list(batch)
    vectors = cache.encode(embedder, [text for one in prepared for text in (*one.windows, *one.units)], progress)
    records = []
    start = 0
    for one in prepared:
        middle = start + len(one.windows)
        end = middle + len(one.units)
        records.append(Embedded(one.passage, vectors[start:middle], vectors[middle:end]))
        start = end
    return records
