"""The only wiring: which parts a command needs, made from the settings, started and stopped in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from retrieval.errors import ProductError, SettingError

if TYPE_CHECKING:
    from bot.answering.answerer import Answerer
    from bot.answering.ollama_writer import OllamaWriter
    from bot.answering.writing import Writer
    from bot.privacy import Screened
    from bot.settings import Settings
    from retrieval.embedding import Embedder
    from retrieval.indexing import Folder, IndexOptions
    from retrieval.library import Library

log = logging.getLogger(__name__)

LEDGER_FILE = "ledger.sqlite"
HEAD_FILE = "ledger.head"


def folders_of(settings: Settings, extra: Sequence[Path] = ()) -> tuple[Folder, ...]:
    """Return the folders to index: those named on the command line, else the watched ones.

    Raises:
        SettingError: there is none.
    """
    from retrieval.indexing import Folder

    if extra:
        return tuple(Folder(path) for path in extra)
    if not settings.guidelines.folder:
        raise SettingError(
            "guidelines.folder: no folder is set. Name one in the configuration, for example\n"
            '[[guidelines.folder]]\npath = "/srv/guidelines"\nor give --folder DIR.'
        )
    return tuple(Folder(one.path, one.base_url) for one in settings.guidelines.folder)


def index_options(settings: Settings, *, full: bool = False, confirm_removals: bool = False) -> IndexOptions:
    """Return what the settings say about indexing."""
    from retrieval.indexing import IndexOptions

    return IndexOptions(
        window_tokens=settings.index.window_tokens,
        passage_max_chars=settings.index.passage_max_chars,
        keep_generations=settings.index.keep_generations,
        keep_last_good=settings.guidelines.keep_last_good,
        max_file_bytes=int(settings.guidelines.max_file_mb * 1_000_000),
        ocr=settings.guidelines.ocr,
        max_lost_share=settings.guidelines.max_lost_share,
        full=full,
        confirm_removals=confirm_removals,
    )


def head_file_of(settings: Settings, data: Path) -> Path:
    """Return where the ledger's newest hash is written: where it is set, else beside the ledger."""
    return Path(settings.ledger.head_file) if settings.ledger.head_file else data / HEAD_FILE


def open_embedder(settings: Settings, data: Path) -> Embedder:
    """Return the embedder that the settings name; its model is loaded on first use."""
    from retrieval.embedders import make_embedder

    index = settings.index
    if index.embedder == "ollama":
        from bot.answering.ollama_server import check_address

        check_address(settings.ollama.url)
    model = index.model or (settings.ollama.embed_model if index.embedder == "ollama" else "")
    return make_embedder(index.embedder, model=model, cache=data / "models", ollama_url=settings.ollama.url)


def open_library(settings: Settings, data: Path) -> Library:
    """Open the index for searching.

    Raises:
        IndexMissing, IndexMismatch: see `Library.open`.
        SettingError: the glossary or the embedder cannot be used.
    """
    from retrieval.glossary import Glossary
    from retrieval.library import Library, SearchOptions

    search = settings.search
    options = SearchOptions(
        candidates=search.candidates,
        lexical_weight=search.lexical_weight,
        heading_weight=search.heading_weight,
        min_score=search.min_score,
        fact_check=search.fact_check,
        deny_by_default=settings.guidelines.deny_by_default,
        glossary=Glossary.from_file(Path(settings.guidelines.glossary)) if settings.guidelines.glossary else Glossary(),
    )
    return Library.open(data, open_embedder(settings, data), options, today=lambda: today_of(settings))


def now_of(settings: Settings) -> datetime:
    """Return the present time in the time zone of the schedule, which decides what day it is for the guidelines."""
    return datetime.now(ZoneInfo(settings.schedule.timezone))


def today_of(settings: Settings) -> date:
    """Return the present day in the time zone of the schedule."""
    return now_of(settings).date()


def screen_of(settings: Settings) -> Callable[[str], Screened]:
    """Return the screen for patient details as the settings want it."""
    from bot.privacy import screen

    mode = settings.privacy.screen
    return lambda text: screen(text, mode)


def open_writer(settings: Settings) -> OllamaWriter | None:
    """Return the writer; None when no Ollama is set.

    Raises:
        SettingError: the address is not private, or the model is not approved.
    """
    if not settings.ollama.url:
        return None
    from bot.answering.ollama_writer import OllamaWriter

    return OllamaWriter(settings.ollama)


@contextlib.asynccontextmanager
async def open_answerer(settings: Settings, data: Path) -> AsyncIterator[Answerer]:
    """Open what is needed to answer one question at the command line, and close it again."""
    library = open_library(settings, data)
    writer = open_writer(settings)
    try:
        if writer is not None and settings.answer.mode == "written":
            await writer.warm_up()
        yield make_answerer(settings, library, writer)
    finally:
        if writer is not None:
            await writer.close()
        library.close()


def make_answerer(settings: Settings, library: Library, writer: Writer | None) -> Answerer:
    """Return the answerer over an open library."""
    from bot.answering.answerer import Answerer

    return Answerer(library, settings, writer, screen_of(settings), today=lambda: today_of(settings))


class ServiceOperations:
    """What people may ask of the running service by mention; wired by `serve`."""

    def __init__(self, settings: Settings, library: Library, writer: OllamaWriter | None) -> None:
        self._settings = settings
        self._library = library
        self._writer = writer
        self._started_s = time.monotonic()
        self.start_index: Callable[[], bool] = lambda: False

    async def reindex(self) -> str:
        """Start an index run; returns a sentence."""
        return "Indexing has started." if self.start_index() else "An index run is already under way."

    async def reload(self) -> str:
        """Take up a new generation now; returns a sentence."""
        swapped = await asyncio.to_thread(self._library.refresh)
        taken = "A newer index is in use now." if swapped else "The newest index was in use already."
        return f"{taken} Settings are read at the start: restart the bot after changing them."

    def status(self) -> Sequence[str]:
        """Return lines on model, index and schedule."""
        schedule = self._settings.schedule
        hours = (time.monotonic() - self._started_s) / 3600
        model = f"Model: {self._writer.model}" if self._writer else "Model: none, answers are quoted"
        return (
            f"Index: generation {self._library.generation}",
            model,
            f"Next nightly index run: {schedule.reindex_cron} ({schedule.timezone})",
            f"Running for {hours:.1f} hours",
        )


async def serve(
    settings: Settings,
    data: Path,
    *,
    config: Path | None = None,
    environment: Mapping[str, str] | None = None,
    ready: Callable[[], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Run the bot against the configured server until it is told to stop.

    Args:
        config, environment: handed on to the index runs, which are processes of their own.
        ready: called once the bot is online.
        stop: set to stop; by default SIGTERM and SIGINT do.

    Raises:
        ProductError: something that it cannot start without is missing.
    """
    from bot.health import Health
    from bot.housekeeping import Housekeeping
    from bot.lanes import ModelTurns, TurnTakingWriter
    from bot.ledger import Ledger
    from bot.logs import conceal
    from bot.mattermost.client import MattermostClient
    from bot.metrics import MeasuredAnswers, Metrics
    from bot.operations import OperationsServer
    from bot.presence import Presence
    from bot.reports import index_report
    from bot.schedule import Schedule, run_index
    from bot.settings import token_of
    from retrieval.generations import Generations
    from retrieval.withdrawn import refresh_withdrawn

    stop = stop or _until_signalled()
    token = token_of(settings.mattermost)
    conceal(token.get_secret_value())
    client = MattermostClient(settings.mattermost, token)
    folders = folders_of(settings)
    ledger = Ledger.open(data / LEDGER_FILE, head_file=head_file_of(settings, data))
    library = open_library(settings, data)
    writer = open_writer(settings)
    operations = ServiceOperations(settings, library, writer)
    metrics = Metrics()
    # Questions that wait for the model give their place away to those that are quoted or refused at once.
    taking_turns = None if writer is None else TurnTakingWriter(writer, ModelTurns())
    presence = Presence(
        client,
        MeasuredAnswers(make_answerer(settings, library, taking_turns), metrics, time.monotonic),
        ledger,
        settings,
        screen=screen_of(settings),
        library=library,
        operations=operations,
    )

    async def tell(text: str) -> None:
        if settings.mattermost.report_channel:
            await presence.post(settings.mattermost.report_channel, text)
        else:
            log.info("%s", text)

    async def index() -> Mapping[str, Any]:
        return await run_index(config, data, environment)

    housekeeping = Housekeeping(presence, library, settings, screen_of(settings))
    schedule = Schedule(
        settings.schedule,
        index=index,
        tell=tell,
        report=index_report,
        refresh=lambda: refresh_withdrawn(
            folders, data, today=today_of(settings), max_lost_share=settings.guidelines.max_lost_share
        ),
        last_run=Generations(data).last_run,
        clock=time.monotonic,
        weekly=housekeeping.weekly,
        nightly=housekeeping.nightly,
    )
    operations.start_index = schedule.start_run
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(library.close)
        stack.callback(ledger.close)
        if writer is not None:
            stack.push_async_callback(writer.close)
            writer.start()
        if settings.operations.http_port:
            health = Health(presence.desk, data, library, writer)
            watch = OperationsServer(settings.operations.http_host, settings.operations.http_port, health, metrics)
            log.info("health and metrics are at %s", await watch.start())
            stack.push_async_callback(watch.stop)
        # The first question must not pay for loading the embedding model.
        await asyncio.to_thread(library.search, "warm up")
        await _start_or_stop(presence.start(), stop)
        stack.push_async_callback(presence.stop)
        if stop.is_set():
            return
        await schedule.start()
        stack.push_async_callback(schedule.stop)
        if ready is not None:
            ready()
        await stop.wait()
        log.info("stopping: what is in hand is finished or handed back")


async def _start_or_stop(start: Any, stop: asyncio.Event) -> None:
    """Await a start that may wait for a server for long, unless it is told to stop first."""
    starting = asyncio.ensure_future(start)
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if starting.done():
        starting.result()
    else:
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError, ProductError):
            await starting


def _until_signalled() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop
