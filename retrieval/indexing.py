"""The index run: scan the folders, plan, read what is new, build the next generation, swap, remove the old.

Until the swap nothing that answers is touched: a run may be killed at any moment, and the next one cleans up.
"""

from __future__ import annotations

import errno
import hashlib
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

from retrieval.building import Preparation, write_generation
from retrieval.catalogue import Catalogue, Indexed
from retrieval.document_reading import DocumentReader
from retrieval.documents import folder_problems
from retrieval.embedding import Embedder
from retrieval.embedding_cache import EmbeddingCache
from retrieval.errors import IndexMismatch, RemovalsUnconfirmed, ServiceAway, SettingError, WrongUse
from retrieval.failures import FILE as FAILURES
from retrieval.failures import save_failures
from retrieval.generations import Generations
from retrieval.guideline import Problem
from retrieval.looking import IndexOptions, Look, Progress, look_at
from retrieval.plan import Plan, over
from retrieval.scanning import Folder
from retrieval.spool import Spool
from retrieval.store import Generation
from retrieval.summary import Summary, summarise, warnings_of
from retrieval.withdrawn import clean_withdrawn, refresh_withdrawn

__all__ = ["Folder", "IndexOptions", "Plan", "Progress", "Summary", "build", "plan_of"]

# What decides how passages, windows and units are made: an upgrade that changes one of these makes them anew.
_MAKERS = ("documents/*.py", "passages.py", "windows.py", "units.py", "guideline.py", "records.py")

_FULL_DISK = (errno.ENOSPC, errno.EDQUOT)


def plan_of(
    folders: Sequence[Folder],
    data: Path,
    options: IndexOptions = IndexOptions(),  # noqa: B008 (frozen)
    *,
    now: datetime | None = None,
) -> Plan:
    """Return what an index run would do, and do nothing.

    Raises:
        SettingError: a folder is missing, is none, or may not be read.
    """
    return look_at(folders, Generations(data), options, now or datetime.now().astimezone(), _silent).plan


def build(
    folders: Sequence[Folder],
    data: Path,
    embedder: Embedder,
    options: IndexOptions = IndexOptions(),  # noqa: B008 (frozen)
    progress: Progress | None = None,
    *,
    now: datetime | None = None,
) -> Summary:
    """Bring the index up to date with the watched folders.

    Args:
        data: the data directory; made where it is missing.
        progress: is told (stage, done, total).
        now: an aware time; None for the present in the machine's zone. Its date, in its own zone, decides what is in
            effect.

    Returns:
        what was done. Files that cannot be read are in it and stop nothing.

    Raises:
        SettingError: a folder is missing, empty, none, or may not be read.
        RemovalsUnconfirmed: a folder lost more of its files than `max_lost_share`.
        IndexBusy: another run is under way.
        ServiceAway: the disk is full, or an embedding service is away.
        IndexMismatch: the new generation could not be verified; the old one stays.
        WrongUse: not one file could be read, and there is no index yet.
    """
    started_s = time.monotonic()
    try:
        generations = Generations(data)
        with generations.lock():
            generations.clean()
            clean_withdrawn(data)
            run = _Run(folders, generations, embedder, options, progress or _silent, now or datetime.now().astimezone())
            return replace(run.done(), seconds=time.monotonic() - started_s)
    except (OSError, sqlite3.Error) as error:
        full = getattr(error, "errno", None) in _FULL_DISK or "disk is full" in str(error)
        cure = "make room on the disk" if full else "check the disk and who may write there"
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ServiceAway(
            f"The index in {data} could not be written ({reason}); {cure}. The last generation stays in use."
        ) from error


class _Run:
    """One index run, under the lock."""

    def __init__(
        self,
        folders: Sequence[Folder],
        generations: Generations,
        embedder: Embedder,
        options: IndexOptions,
        progress: Progress,
        now: datetime,
    ) -> None:
        self._folders = folders
        self._generations = generations
        self._embedder = embedder
        self._options = options
        self._progress = progress
        self._now = now
        self._preparation = Preparation(embedder, options.passage_max_chars, options.window_tokens)
        self._making = _making(embedder, options)

    def done(self) -> Summary:
        """Do the run and say what came of it."""
        generations, options = self._generations, self._options
        look = look_at(self._folders, generations, options, self._now, self._progress)
        _stop_on_losses(look.plan, self._folders, options)
        _stop_on_empty_folders(look, self._folders)
        with Spool(generations.data) as spool:
            reader = DocumentReader(look, options, self._preparation, spool, self._now.timestamp())
            catalogue = look.previous if self._is_as_before(look) else self._catalogue(look, reader)
            assert catalogue is not None
            if look.previous is None and not catalogue.files:
                raise WrongUse(_nothing_read(reader))
            turned_from = generations.held()
            held = bool(turned_from) and not options.full and turned_from == catalogue.state
            needed = options.full or look.previous is None or catalogue.differs_from(look.previous)
            if needed and not held:
                catalogue = self._build(look, catalogue, spool)
        answering = look.previous if held and look.previous is not None else catalogue
        last_run = generations.last_run()
        save_failures(generations.data / FAILURES, reader.failures)
        generations.prune(options.keep_generations)
        if needed:
            refresh_withdrawn(
                self._folders, generations.data, today=self._now.date(), max_lost_share=options.max_lost_share
            )
        generations.note_run(self._now)
        current = generations.current() or ""
        told = warnings_of(catalogue, reader.read) if needed else ()
        last_day = last_run.astimezone(self._now.tzinfo).date() if last_run else None
        return replace(
            summarise(look.plan, look.previous, catalogue, reader.read, reader.failures, self._now.date(), last_day),
            generation=current,
            built=needed and not held,
            warnings=(*self._folder_warnings(look, held, current), *told),
            passages=sum(one.passages for one in answering.files.values()),
        )

    def _is_as_before(self, look: Look) -> bool:
        """Tell whether not a file, a setting or a day has changed anything: most nights."""
        previous = look.previous
        return (
            previous is not None
            and not self._options.full
            and previous.making == self._making
            and previous.stands(self._now.date())
            and len(look.plan.unchanged) == len(look.files) == len(previous.files)
        )

    def _catalogue(self, look: Look, reader: DocumentReader) -> Catalogue:
        """Read what must be read, and return all files in the state in which they are indexed, as they stand today."""
        before = look.previous.files if look.previous else {}
        anew = look.previous is not None and (self._options.full or look.previous.making != self._making)
        reader.read_all(sorted({*look.plan.to_read, *(look.plan.unchanged if anew else ())}), self._progress)
        files: dict[str, Indexed] = {}
        for name in look.files:
            if name in reader.read:
                files[name] = reader.read[name]
            elif name in before and (name not in reader.failures or self._options.keep_last_good):
                files[name] = before[name]
        while True:
            catalogue = Catalogue(files, self._making).on(self._now.date())
            # A guideline whose day has come, or whose successor went, has no passages in the last generation.
            missing = [n for n in catalogue.served if n not in reader.read and not before[n].standing.served]
            if not missing:
                return catalogue
            reader.read_all(missing, self._progress)
            for name in missing:
                files.pop(name)
            files |= {name: reader.read[name] for name in missing if name in reader.read}

    def _build(self, look: Look, catalogue: Catalogue, spool: Spool) -> Catalogue:
        """Write the next generation and let it answer; return its catalogue."""
        generations = self._generations
        with _previous_generation(generations, look, mend=self._options.full) as previous:
            if previous is None:  # nothing can be carried over
                files = {name: one for name, one in catalogue.files.items() if name in spool or not one.standing.served}
                catalogue = replace(catalogue, files=files)
            if previous is not None and look.previous is not None and look.previous.making != self._making:
                _prepare_again(catalogue, previous, self._preparation, spool)
            cache_file = generations.data / "cache" / "embeddings.sqlite"
            if self._options.full:
                cache_file.unlink(missing_ok=True)
            with closing(EmbeddingCache(cache_file)) as cache:
                name = generations.new_id()
                catalogue = write_generation(
                    generations.directory(name),
                    catalogue,
                    spool,
                    previous,
                    self._embedder,
                    cache,
                    self._progress,
                    self._now,
                )
                generations.activate(name)
                generations.release()
                if previous is not None:
                    self._prune_cache(catalogue, previous, spool, cache)
        return catalogue

    def _prune_cache(self, catalogue: Catalogue, previous: Generation, spool: Spool, cache: EmbeddingCache) -> None:
        """Forget the vectors of texts that are no longer indexed."""
        for name in catalogue.served:
            if name not in spool:
                for passage in previous.passages(previous.numbers_of(name)):
                    prepared = self._preparation.of_passage(passage)
                    cache.keep(self._embedder, (*prepared.windows, *prepared.units))
        cache.prune()

    def _folder_warnings(self, look: Look, held: bool, current: str) -> Iterable[Problem]:
        yield from look.scan.warnings
        for folder in look.scan.listed:
            yield from folder_problems(folder.path)
        if held:
            yield Problem(
                "",
                f"The files are as they were when generation {current} was put back by a rollback; it stays in use "
                "until one of them changes, or until `guideline-bot index --full`.",
            )


def _stop_on_losses(plan: Plan, folders: Sequence[Folder], options: IndexOptions) -> None:
    watched = {str(folder.path) for folder in folders}
    losses = [loss for loss in over(plan.losses, options.max_lost_share) if loss.folder in watched]
    if losses and not options.confirm_removals:
        told = ", ".join(f"{loss.folder} has lost {loss.lost} of its {loss.before} files" for loss in losses)
        raise RemovalsUnconfirmed(
            f"{told}; the last good index stays in use. Put the files back, or run `guideline-bot index "
            "--confirm-removals` if they are meant to be gone."
        )


def _stop_on_empty_folders(look: Look, folders: Sequence[Folder]) -> None:
    if look.previous is not None:
        return  # emptied with consent
    for folder in folders:
        if not any(entry.folder == folder for entry in look.scan.entries.values()):
            raise SettingError(
                f"guidelines.folder: {folder.path} holds no document; put your guidelines there (PDF, Word, HTML, "
                "Markdown or text)."
            )


def _nothing_read(reader: DocumentReader) -> str:
    first = min(reader.failures.values(), key=lambda failure: failure.name)
    if len(reader.failures) == 1:
        return f"{first.name}: {first.reason}"
    return f"None of the {len(reader.failures)} files could be read; the first is {first.name}: {first.reason}"


@contextmanager
def _previous_generation(generations: Generations, look: Look, *, mend: bool) -> Iterator[Generation | None]:
    """Open the generation that passages are carried over from, with whatever embedder it was made.

    Args:
        mend: do without it where it is damaged.

    Raises:
        IndexMismatch: it is damaged; the text says how to mend it.
    """
    current = generations.current()
    manifest = generations.manifest(current) if current and look.previous is not None else None
    if current is None or manifest is None:
        yield None
        return
    try:
        generation = Generation.open(generations.directory(current), manifest.identity)
    except IndexMismatch:
        if not mend:
            raise
        yield None
        return
    with generation:
        yield generation


def _prepare_again(catalogue: Catalogue, previous: Generation, preparation: Preparation, spool: Spool) -> None:
    """Embed the last good passages of failed files anew where the last generation was made in another way."""
    for name in catalogue.served:
        if name not in spool:
            passages = previous.passages(previous.numbers_of(name))
            spool.put(name, [preparation.of_passage(passage) for passage in passages])


def _making(embedder: Embedder, options: IndexOptions) -> str:
    """Return what changes when the same files would give other passages or vectors."""
    key = (_program(), embedder.identity, options.window_tokens, options.passage_max_chars, options.ocr)
    return hashlib.sha256(repr(key).encode()).hexdigest()[:16]


@cache
def _program() -> str:
    """Return what changes with the program's own way to make passages."""
    here = Path(__file__).parent
    sources = sorted(path for pattern in _MAKERS for path in here.glob(pattern))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()


def _silent(stage: str, done: int, total: int) -> None:
    pass
