"""A question's life from arrival to reply.

    claimed → acknowledged → waiting → answered → recorded → posted → finished

Nothing is done before the claim is in the ledger, nothing is posted before the result is. A process that takes
a question over finds the recorded result and looks into the thread, so that what is there is not said again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from bot.command_replies import pages
from bot.commands import Command, parse
from bot.conversation import Conversations
from bot.exchange import Mode, Result
from bot.lanes import Job, Lane
from bot.ledger import Claim, Ledger, LedgerError
from bot.ledger_lane import LedgerLane
from bot.mattermost.client import MattermostClient
from bot.mattermost.connection import ConnectionState
from bot.mattermost.errors import MattermostError
from bot.mattermost.events import Question
from bot.mattermost.places import Places
from bot.orders import Operations, Orders, OrdersLibrary
from bot.posting import Gone, NotOurs, Piece, Poster
from bot.records import Record, record_of
from bot.replies import Limits, render
from bot.settings import Settings
from bot.signs import Signs
from bot.waiting import Declined
from retrieval.access import Viewer
from retrieval.found import Filters

log = logging.getLogger(__name__)

QUICK_PLACES = 4
ANSWER_WITHIN_S = 900.0
"""An answer that takes longer has got stuck somewhere; it must not keep its place for ever."""

MAX_PROPS_CHARS = 8_000
EVERYWHERE = Filters()
_REMEMBERED = 5_000


class Screened(Protocol):
    """What the screen for patient details hands back; `bot.privacy` has the real one."""

    @property
    def text(self) -> str: ...
    @property
    def blocked(self) -> bool: ...
    @property
    def details(self) -> Sequence[object]: ...


class Answers(Protocol):
    """Answers questions; `bot.answering.answerer` has the real one."""

    async def answer(
        self,
        question: str,
        *,
        viewer: Viewer,
        mode: Mode | None = None,
        filters: Filters = EVERYWHERE,
        earlier: Sequence[str] = (),
    ) -> Result: ...


@dataclass(frozen=True, slots=True)
class Said:
    """What is to be posted for a question, and what the ledger keeps of it.

    Attributes:
        kind: of the ledger's event: result or command.
        offers_feedback: 👍 and 👎 are put under it.
    """

    pieces: tuple[Piece, ...]
    kind: str
    record: Record
    offers_feedback: bool = False


class Desk:
    """Answers what it is given, each question once.

    Args:
        screen: looks for patient details in what is not a question.
        clock: seconds since 1970, as the ledger counts.
        sleep: waits.
        library, operations: what the commands need; without them they say so.
    """

    def __init__(
        self,
        client: MattermostClient,
        answerer: Answers,
        ledger: Ledger,
        settings: Settings,
        *,
        screen: Callable[[str], Screened],
        library: OrdersLibrary | None = None,
        operations: Operations | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        owner: str = "",
    ) -> None:
        self.client = client
        self.settings = settings
        self.ledger = LedgerLane(ledger, sleep)
        self.places = Places(client)
        self.poster = Poster(client, sleep)
        self.conversations = Conversations(self.ledger, clock)
        self.clock = clock
        self.sleep = sleep
        self.owner = owner or f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.jobs: dict[str, Job] = {}
        self.arriving: dict[str, Question] = {}
        self.deleted: dict[str, None] = {}
        self.own_posts: dict[str, None] = {}
        self.connection: ConnectionState | None = None
        self.signs = Signs(client, self.poster, self.jobs, sleep)
        self.tasks: set[asyncio.Task[Any]] = set()
        self.closing = False
        self._told_unwell: set[str] = set()
        self._answerer = answerer
        self._screen = screen
        self._orders = Orders(answerer, library, operations, self)
        desk = settings.desk
        self._quick = Lane(QUICK_PLACES, desk.queue_size, desk.per_person, self._work)
        self._slow = Lane(desk.workers, desk.queue_size, desk.per_person, self._work)

    # --- arrival --------------------------------------------------------------------------------------------

    async def receive(self, question: Question, *, in_doubt: bool = False, edition: int = 0) -> None:
        """Take a question in, unless it is being dealt with or has been.

        Args:
            in_doubt: it did not come fresh from the stream: somebody may have answered already.
            edition: above 0 it has a reply, which is to be updated to this edit.
        """
        if question.id in self.jobs or question.id in self.arriving or self.closing:
            return
        self.arriving[question.id] = question
        try:
            if not await self._is_from_a_person(question):
                return
            claim = await self._claim(question, edition)
            if claim is None:
                return
            latest = self.arriving[question.id]
            in_doubt = in_doubt or claim.attempt > 1 or edition > 0 or question.id in self._told_unwell
            job = Job(latest, self._read(latest), claim, edition or latest.post.edit_at, in_doubt)
            job.updating = edition > 0
            self.jobs[question.id] = job
            self.conversations.note(question)
        finally:
            del self.arriving[question.id]
        if self.is_deleted(question):
            job.dropped = True
        self.spawn(self.signs.acknowledge(job))
        declined = self._lane_of(job).put(job)
        if declined is not None:
            job.task = self.spawn(self._decline(job, declined))
        else:
            self.spawn(self.signs.tell_place(job))

    def change(self, question: Question) -> bool:
        """Go on with the edited text of a question that is in hand; False when it is not."""
        if question.id in self.arriving:
            self.arriving[question.id] = question
            return True
        job = self.jobs.get(question.id)
        if job is None:
            return False
        if job.question.text != question.text:
            if job.at_work:
                job.changed = question
            else:
                self._take(job, question)
        return True

    def _take(self, job: Job, question: Question) -> None:
        """Answer the question as it is now."""
        job.question = question
        job.command = self._read(question)
        job.edition = question.post.edit_at
        job.changed = None

    def _read(self, question: Question) -> Command:
        """Read what is asked for. Filters are repeated in replies, so patient details in them go to the screen."""
        command = parse(question.text)
        named = " ".join((command.filters.guideline, command.filters.section)).strip()
        if named and (seen := self._screen(named)) and (seen.blocked or seen.details):
            return replace(command, text=f"{command.text} {named}", filters=EVERYWHERE)
        return command

    def drop(self, post_id: str) -> None:
        """Let go of the questions whose post, or whose thread, was deleted."""
        remember(self.deleted, post_id)
        for job in list(self.jobs.values()):
            if post_id in (job.post.id, job.post.root_id):
                job.dropped = True
                if job.lane is not None and job.lane.remove(job):
                    job.task = self.spawn(self._work(job))

    def is_deleted(self, question: Question) -> bool:
        return question.post.id in self.deleted or question.post.root_id in self.deleted

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something beside everything else; what it raises is logged."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("something went wrong beside a question: %s", type(error).__name__, exc_info=told(error))

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return len(self._quick) + len(self._slow)

    def _lane_of(self, job: Job) -> Lane:
        quoting = (job.command.mode or self.settings.answer.mode) == "quoted"
        return self._quick if job.command.kind != "ask" or quoting else self._slow

    async def _is_from_a_person(self, question: Question) -> bool:
        wait_s = 1.0
        while True:
            try:
                person = await self.places.person(question.person)
            except MattermostError:
                # A bot must not be answered by mistake, nor a person overlooked: wait until it is known.
                await self.sleep(wait_s)
                wait_s = min(2 * wait_s, 30.0)
            else:
                return person is not None and not person.is_bot

    # --- claims ---------------------------------------------------------------------------------------------

    async def keep_claims(self) -> None:
        """Renew the claims of everything that is here; runs until cancelled."""
        while True:
            await self.sleep(self.settings.desk.lease_s / 3)
            for job in list(self.jobs.values()):
                with contextlib.suppress(LedgerError):
                    await self._renew(job)

    async def _claim(self, question: Question, edition: int) -> Claim | None:
        async def say_unwell() -> None:
            self._told_unwell.add(question.id)
            await self.signs.say_unwell(question)

        return await self.ledger.patiently(
            self.ledger.ledger.claim,
            claim_id(question.id, edition),
            self.owner,
            self.settings.desk.lease_s,
            thread_id=question.thread_id,
            first_failure=say_unwell,
        )

    async def _renew(self, job: Job) -> bool:
        claim = await self.ledger.once(self.ledger.ledger.renew, job.claim, self.settings.desk.lease_s)
        if claim is None:
            job.lost = True
            return False
        job.claim = claim
        return True

    # --- work -----------------------------------------------------------------------------------------------

    async def _work(self, job: Job) -> None:
        """Bring a question to its end, whatever that is."""
        job.at_work = True
        try:
            await self._answer(job)
        except asyncio.CancelledError:
            raise
        except NotOurs:
            log.info("a question is answered by another process")
            if await self.ledger.patiently(self.ledger.ledger.is_finished, job.claim.question_id):
                # It has taken its signs away; those that came after it are ours to take.
                await self.signs.tidy(job)
        except Gone:
            await self._finish(job, "dropped", {"why": "deleted"})
        except Exception as error:
            # Not the error's text: it may hold the question.
            log.error("a question could not be answered: %s", type(error).__name__, exc_info=told(error))
            await self._fail(job)
        finally:
            self._let_go(job)

    async def _answer(self, job: Job) -> None:
        said = await self._recorded(job)
        if said is None:
            while True:
                if job.lost:
                    raise NotOurs
                if job.dropped or self.is_deleted(job.question):
                    raise Gone
                said = await self._say(job)
                if job.changed is None:
                    break
                log.info("a question was edited while it was being answered; answering it again")
                self._take(job, job.changed)
            if job.dropped:
                raise Gone
            body, texts = said.record
            if not await self._still_ours(job):
                raise NotOurs
            # After this line another process says the same; before it, nothing has been said.
            await self.ledger.patiently(
                self.ledger.ledger.append,
                said.kind,
                job.post.id,
                body,
                texts,
                thread_id=job.post.thread_id,
                first_failure=lambda: self._say_unwell(job),
            )
        await self._post(job, said)

    async def _say(self, job: Job) -> Said:
        viewer = await self.places.viewer(job.post.channel_id, job.question.person)
        limits = Limits(self.client.me.max_post_chars, MAX_PROPS_CHARS)
        if job.command.kind == "ask":
            earlier = await self.conversations.earlier(job.question)
            async with asyncio.timeout(ANSWER_WITHIN_S):
                result = await self._answerer.answer(
                    job.command.text,
                    viewer=viewer,
                    mode=job.command.mode,
                    filters=job.command.filters,
                    earlier=earlier,
                )
            posts = render(
                result,
                limits,
                ask_line=self.settings.answer.ask_line,
                question_id=job.post.id,
                updated=job.updating,
            )
            pieces = tuple(
                Piece(post.message, {k: v for k, v in post.props.items() if k == "attachments"}) for post in posts
            )
            return Said(pieces, "result", self._record(result, pieces, job), result.status in ("answered", "refused"))
        text, result_of_search = await self._orders.carry_out(job.command, job.question, viewer)
        pieces = tuple(Piece(page, {}) for page in pages(text, limits.max_post_chars))
        if result_of_search is not None:
            body, texts = self._record(result_of_search, pieces, job)
            return Said(pieces, "result", ({**body, "command": "search"}, texts))
        body = {"command": job.command.kind, "edit_at": job.edition, "parts": len(pieces)}
        return Said(pieces, "command", (body, {"parts": [as_kept(piece) for piece in pieces]}))

    def _record(self, result: Result, pieces: Sequence[Piece], job: Job) -> Record:
        return record_of(
            result,
            [as_kept(piece) for piece in pieces],
            questions=self.settings.ledger.questions,
            settings=self.settings.fingerprint(),
            edit_at=job.edition,
        )

    async def _recorded(self, job: Job) -> Said | None:
        """Return what an earlier owner of this claim had recorded but perhaps not posted."""
        if job.claim.attempt == 1:
            return None
        events = await self.ledger.patiently(self.ledger.ledger.events, job.post.id, kinds=("result", "command"))
        for event in reversed(events):
            parts = (event.texts or {}).get("parts")
            if parts and (event.body or {}).get("edit_at", 0) == job.edition:
                pieces = tuple(from_kept(part) for part in parts)
                offers = event.kind == "result" and (event.body or {}).get("status") in ("answered", "refused")
                return Said(pieces, event.kind, ({}, {}), offers)
        return None

    async def _post(self, job: Job, said: Said) -> None:
        posts = await self.poster.reply(
            job.post,
            said.pieces,
            in_doubt=job.in_doubt,
            still_ours=lambda: self._still_ours(job),
            # What an earlier owner has posted may answer the question as it was before an edit.
            edition=job.edition if job.in_doubt else 0,
        )
        for post in posts:
            remember(self.own_posts, post.id)
        await self.signs.tidy(job)
        if posts and said.offers_feedback:
            await self.signs.offer_feedback(posts[-1])
        kind = "edited" if job.updating else "posted"
        await self._finish(job, kind, {"posts": [post.id for post in posts], "channel": job.post.channel_id})

    async def _decline(self, job: Job, why: Declined) -> None:
        text = (
            f"Too many questions are waiting just now ({self.settings.desk.queue_size}). Please ask again in a few "
            "minutes."
            if why == "full"
            else f"You have {self.settings.desk.per_person} questions waiting. Please ask again when they are answered."
        )
        await self._say_only(job, text, "declined")

    async def _fail(self, job: Job) -> None:
        text = "I could not answer this: something went wrong on my side. Please ask again, or look it up yourself."
        await self._say_only(job, text, "failed")

    async def _say_only(self, job: Job, text: str, kind: str) -> None:
        """Reply with one sentence and be done."""
        try:
            posts = await self.poster.reply(
                job.post, [Piece(text, {})], in_doubt=True, still_ours=lambda: self._still_ours(job)
            )
            for post in posts:
                remember(self.own_posts, post.id)
            await self.signs.tidy(job)
            await self._finish(job, kind, {"posts": [post.id for post in posts]})
        except NotOurs:
            pass
        except Gone:
            await self._finish(job, "dropped", {"why": "deleted"})
        except MattermostError as error:
            log.error("a question could not even be declined (%s)", error)
            await self._finish(job, "failed", {"posts": []})
        finally:
            self._let_go(job)

    def _let_go(self, job: Job) -> None:
        if self.jobs.get(job.question.id) is job:
            del self.jobs[job.question.id]
            self.signs.forget(job)
            self._told_unwell.discard(job.question.id)
            if job.changed is not None and not job.dropped and not job.lost:
                # Edited when the reply was on its way already: it gets a new text.
                self.spawn(self.receive(job.changed, edition=job.changed.post.edit_at))

    async def _finish(self, job: Job, kind: str, body: Mapping[str, Any]) -> None:
        await self.ledger.patiently(self.ledger.ledger.finish, job.claim, kind, body, thread_id=job.post.thread_id)

    async def _say_unwell(self, job: Job) -> None:
        """Say once that nothing can be recorded; being in doubt, the reply looks for that notice and takes it away."""
        if job.question.id not in self._told_unwell:
            self._told_unwell.add(job.question.id)
            job.in_doubt = True
            await self.signs.say_unwell(job.question)

    async def _still_ours(self, job: Job) -> bool:
        if job.lost:
            return False
        wait_s = 0.5
        while True:
            try:
                return await self._renew(job)
            except LedgerError:
                await self._say_unwell(job)
                await self.sleep(wait_s)
                wait_s = min(2 * wait_s, 15.0)

    # --- the end --------------------------------------------------------------------------------------------

    async def close(self, before_the_ledger: Callable[[], Awaitable[None]] | None = None) -> None:
        """Finish what is being worked on, within the set time; hand the rest back.

        Args:
            before_the_ledger: awaited last, while the ledger is still open.
        """
        self.closing = True
        held = list(self.jobs.values())
        for lane in (self._quick, self._slow):
            lane.close()
        at_work = [job.task for job in held if job.task is not None]
        if at_work:
            _, late = await asyncio.wait(at_work, timeout=self.settings.desk.shutdown_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for job in held:
            with contextlib.suppress(LedgerError):
                await self.ledger.once(self.ledger.ledger.release, job.claim)
        self.jobs.clear()
        if before_the_ledger is not None:
            with contextlib.suppress(LedgerError):
                await before_the_ledger()
        self.ledger.close()


def claim_id(post_id: str, edition: int) -> str:
    """Name what is claimed: the question, or the update of its reply to one edit."""
    return f"{post_id}@{edition}" if edition else post_id


def of_claim(claim: Claim) -> tuple[str, int]:
    """Return post id and edition of a claim's name."""
    post_id, _, edition = claim.question_id.partition("@")
    return post_id, int(edition) if edition.isdigit() else 0


def remember(ids: dict[str, None], id: str) -> None:
    """Add an id to those of late; the oldest are forgotten."""
    ids[id] = None
    while len(ids) > _REMEMBERED:
        del ids[next(iter(ids))]


def as_kept(piece: Piece) -> dict[str, Any]:
    """Return a post of a reply as the ledger keeps it."""
    return {"message": piece.message, "attachments": piece.props.get("attachments", [])}


def from_kept(part: Mapping[str, Any]) -> Piece:
    attachments = part.get("attachments") or []
    return Piece(str(part.get("message", "")), {"attachments": attachments} if attachments else {})


def told(error: BaseException) -> BaseException | None:
    """Return an error whose text may go to the log: ours is written for people, others may hold the question."""
    return error if isinstance(error, MattermostError) else None
