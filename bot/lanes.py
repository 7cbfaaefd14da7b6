"""Questions on their way through the desk: waiting, at work, and the turn at the language model.

Two lanes keep what is quick from waiting behind what is slow. A question that has come as far as the model
gives its place at the desk to the next one, and waits for the model in a fair queue of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from bot.answering.writing import Assignment, Draft, Writer
from bot.commands import Command
from bot.ledger import Claim
from bot.mattermost.events import Post, Question
from bot.waiting import Declined, FairQueue


@dataclass(eq=False)
class Job:
    """A claimed question.

    Attributes:
        edition: when the question was edited, if that is the version to answer; 0 for the first.
        in_doubt: somebody may have posted before: look into the thread.
        dropped: its post is gone.
        lost: another process has it now.
        changed: the question was edited while it was being worked on.
        notice: the post that tells the place in the queue.
        updating: the reply exists already and gets a new text.
        tidied: the signs that it was being dealt with have been taken away.
        model_place: while it waits for the language model, tells its place there.
    """

    question: Question
    command: Command
    claim: Claim
    edition: int = 0
    in_doubt: bool = False
    dropped: bool = False
    lost: bool = False
    changed: Question | None = None
    notice: Post | None = None
    updating: bool = False
    tidied: bool = False
    lane: Lane | None = None
    task: asyncio.Task[None] | None = None
    at_work: bool = False
    model_place: Callable[[], int | None] | None = None

    @property
    def post(self) -> Post:
        return self.question.post

    @property
    def place(self) -> int | None:
        """Its place in the queue that it waits in; None when it does not wait."""
        if self.model_place is not None:
            return self.model_place()
        return self.lane.place(self) if self.lane is not None else None


class Lane:
    """A fair queue with so many places at the desk.

    Args:
        work: does one job; must not raise.
    """

    def __init__(
        self, places: int, max_items: int, max_per_person: int, work: Callable[[Job], Awaitable[None]]
    ) -> None:
        self._places = places
        self._busy = 0
        self._queue: FairQueue[Job] = FairQueue(max_items, max_per_person)
        self._work = work
        self._waiting_back: list[asyncio.Future[None]] = []
        self._closed = False

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def is_busy(self) -> bool:
        return self._busy >= self._places

    def put(self, job: Job) -> Declined | None:
        """Let a job wait for its turn; says why when it may not."""
        declined = self._queue.put(job.question.person, job)
        if declined is None:
            job.lane = self
            self._start()
        return declined

    def place(self, job: Job) -> int | None:
        return self._queue.place(job)

    def remove(self, job: Job) -> bool:
        return self._queue.remove(job)

    def close(self) -> None:
        """Start nothing any more."""
        self._closed = True

    def _start(self) -> None:
        while self._busy < self._places and not self._closed:
            if self._waiting_back:
                back = self._waiting_back.pop(0)
                if not back.done():
                    self._busy += 1
                    back.set_result(None)
                continue
            job = self._queue.take()
            if job is None:
                return
            self._busy += 1
            job.at_work = True
            job.task = asyncio.create_task(self._run(job))

    async def _run(self, job: Job) -> None:
        place = _Place(self)
        token = _PLACE.set((place, job))
        try:
            await self._work(job)
        finally:
            _PLACE.reset(token)
            place.leave()

    def _free(self) -> None:
        self._busy -= 1
        self._start()

    async def _come_back(self) -> None:
        if self._busy < self._places and not self._waiting_back:
            self._busy += 1
            return
        back: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting_back.append(back)
        try:
            await back
        except asyncio.CancelledError:
            if back.done() and not back.cancelled():
                self._free()
            raise


class _Place:
    """A place at the desk that can be left for a while."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._held = True

    def leave(self) -> None:
        if self._held:
            self._held = False
            self._lane._free()

    async def come_back(self) -> None:
        if not self._held:
            await self._lane._come_back()
            self._held = True


_PLACE: contextvars.ContextVar[tuple[_Place, Job] | None] = contextvars.ContextVar("place", default=None)


@dataclass
class ModelTurns:
    """The queue for the language model: one at a time (or as many as it can do), fair between people."""

    at_once: int = 1
    busy: int = 0
    queue: FairQueue[asyncio.Future[None]] = field(default_factory=lambda: FairQueue(100_000, 100_000))

    @contextlib.asynccontextmanager
    async def turn(self, person: str, job: Job | None = None) -> AsyncIterator[None]:
        """Wait for the model, and have it for as long as the block lasts; meanwhile `job` knows its place."""
        if self.busy < self.at_once and not len(self.queue):
            self.busy += 1
        else:
            mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.queue.put(person, mine)
            if job is not None:
                job.model_place = lambda: self.queue.place(mine)
            try:
                await mine
            except asyncio.CancelledError:
                if not self.queue.remove(mine) and not mine.cancelled():
                    self._next()  # the turn had just come
                raise
            finally:
                if job is not None:
                    job.model_place = None
        try:
            yield
        finally:
            self._next()

    def _next(self) -> None:
        self.busy -= 1
        while (waiting := self.queue.take()) is not None:
            if not waiting.done():
                self.busy += 1
                waiting.set_result(None)
                return


class TurnTakingWriter:
    """A writer that gives its place at the desk away while it waits for the model.

    Args:
        writer: does the writing; everything but `write` is its own.
    """

    def __init__(self, writer: Writer, turns: ModelTurns) -> None:
        self._writer = writer
        self._turns = turns

    def __getattr__(self, name: str) -> object:
        return getattr(self._writer, name)

    async def write(self, assignment: Assignment, within_s: float) -> Draft:
        """Write when it is this question's turn."""
        held = _PLACE.get()
        if held is None:
            async with self._turns.turn(""):
                return await self._writer.write(assignment, within_s)
        place, job = held
        place.leave()
        try:
            async with self._turns.turn(job.question.person, job):
                return await self._writer.write(assignment, within_s)
        finally:
            await place.come_back()
