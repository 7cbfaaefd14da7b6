"""Whether the bot can answer now: connection, ledger, index; and the figures that say how it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from bot.answering.writing import WriterState
from bot.desk import Desk
from bot.ledger import LedgerError
from bot.mattermost.connection import ConnectionState
from bot.metrics import Snapshot
from retrieval.generations import NOT_INDEXED, Generations

LEDGER_EVERY_S = 5.0
LEDGER_WITHIN_S = 10.0
MODEL_EVERY_S = 15.0
_MARK = "health"


class HasState(Protocol):
    """The language model's adapter; `bot.answering.ollama_writer` has the real one."""

    async def state(self) -> WriterState: ...


class HasGeneration(Protocol):
    """What answers now; `retrieval.library` has the real one."""

    @property
    def generation(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a question that comes now would be answered.

    Attributes:
        problems: part → one sentence on what is wrong; empty when ready.
    """

    problems: dict[str, str]

    @property
    def ready(self) -> bool:
        return not self.problems


class Health:
    """Looks at the parts of a running bot.

    Args:
        data: the data directory, for the index.
        writer: None when answers are only quoted.
        clock: seconds that only go forward, the connection's too.
        now: the present time.
    """

    def __init__(
        self,
        desk: Desk,
        data: Path,
        library: HasGeneration,
        writer: HasState | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._desk = desk
        self._generations = Generations(data)
        self._library = library
        self._writer = writer
        self._clock = clock
        self._now = now
        self._began = clock()
        self._ledger_seen: tuple[float, str] | None = None
        self._model_seen: tuple[float, WriterState] | None = None

    @property
    def _connection(self) -> ConnectionState:
        return self._desk.connection or ConnectionState()

    async def readiness(self) -> Readiness:
        """Look at everything that an answer needs."""
        problems = {}
        state = self._connection
        if not state.well:
            problems["mattermost"] = state.problem or "no events are coming in"
        if ledger := await self._ledger_problem():
            problems["ledger"] = ledger
        if index := await asyncio.to_thread(self._index_problem):
            problems["index"] = index
        return Readiness(problems)

    def liveness(self) -> dict[str, Any]:
        """Return how long the process has been up and how its connection is, without asking anybody."""
        state = self._connection
        now = self._clock()

        def ago(at: float | None) -> float | None:
            return None if at is None else round(now - at, 1)

        return {
            "status": "up",
            "up_s": round(now - self._began, 1),
            "connection": {
                "connected": state.connected,
                "problem": state.problem,
                "connected_for_s": ago(state.connected_at),
                "heard_ago_s": ago(state.heard_at),
                "probed_ago_s": ago(state.probed_at),
                "connects": state.connects,
                "resumes": state.resumes,
                "gaps": state.gaps,
            },
        }

    async def snapshot(self) -> Snapshot:
        """Return the figures for the metrics."""
        state = self._connection
        model = await self._model()
        usable = not await self._ledger_problem()
        passages, guidelines, size = await asyncio.to_thread(self._index)
        indexed = await asyncio.to_thread(self._generations.last_run)
        return Snapshot(
            waiting=self._desk.waiting,
            in_hand=len(self._desk.jobs),
            connected=state.well,
            connects=state.connects,
            resumes=state.resumes,
            gaps=state.gaps,
            ledger_usable=usable,
            index_passages=passages,
            index_guidelines=guidelines,
            index_bytes=size,
            index_age_s=None if indexed is None else (self._now() - indexed).total_seconds(),
            model_up=None if model is None else model.up,
            model_loaded=None if model is None else model.ready,
        )

    async def _ledger_problem(self) -> str:
        """Try to write; "" when it can be written. Reading would still work on a disk that is full."""
        if self._ledger_seen is not None and self._clock() - self._ledger_seen[0] < LEDGER_EVERY_S:
            return self._ledger_seen[1]
        lane = self._desk.ledger
        try:
            async with asyncio.timeout(LEDGER_WITHIN_S):
                await lane.once(lane.ledger.set_mark, _MARK, {"at": self._now().isoformat(timespec="seconds")})
            problem = ""
        except LedgerError as error:
            problem = str(error)
        except RuntimeError:
            problem = "The bot is stopping."
        except TimeoutError:
            problem = f"The ledger could not be written within {LEDGER_WITHIN_S:.0f} s."
        self._ledger_seen = (self._clock(), problem)
        return problem

    async def _model(self) -> WriterState | None:
        if self._writer is None:
            return None
        if self._model_seen is None or self._clock() - self._model_seen[0] >= MODEL_EVERY_S:
            self._model_seen = (self._clock(), await self._writer.state())
        return self._model_seen[1]

    def _index_problem(self) -> str:
        current = self._generations.current()
        if current is None:
            return NOT_INDEXED
        if self._generations.manifest(current) is None and self._generations.manifest(self._library.generation) is None:
            return f"The index {current} cannot be read; run `guideline-bot index --full` to build it again."
        return ""

    def _index(self) -> tuple[int, int, int]:
        manifest = self._generations.manifest(self._library.generation)
        if manifest is None:
            return 0, 0, 0
        directory = self._generations.directory(self._library.generation)
        size = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
        return manifest.passages, int(manifest.notes.get("served", 0)), size
