"""Where questions come from: the stream of events, what was missed while it was down, and what others left.

Whatever the way, a question goes to the desk, which claims it in the ledger; so the same post may come by
several ways, several times, and in any order.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from typing import Any

from bot.desk import Desk, claim_id, of_claim, remember
from bot.feedback import Feedback
from bot.ledger import Claim, LedgerError
from bot.mattermost.client import Channel
from bot.mattermost.errors import MattermostError, MattermostRefused, TokenRefused
from bot.mattermost.events import Deleted, Edited, Moved, Post, Posted, Question, Reacted, happening, question_in
from bot.threads import mark_of

log = logging.getLogger(__name__)

OVERLAP_MS = 60_000
"""Looked at again when catching up: posts do not arrive in the order of their times."""

MARKS_EVERY_S = 20.0
LOOK_AGAIN_AFTER_S = 2.0
MOST_TOLD_TOO_OLD = 20
_MARK = "channel:"


class Intake:
    """Hands questions to the desk."""

    def __init__(self, desk: Desk, feedback: Feedback) -> None:
        self._desk = desk
        self._feedback = feedback
        self._newest: dict[str, tuple[int, str]] = {}
        self._marked: dict[str, int] = {}
        self._catching_up: asyncio.Task[None] | None = None
        self._again = False

    # --- events ---------------------------------------------------------------------------------------------

    def on_event(self, frame: Mapping[str, Any]) -> None:
        """Take an event; returns at once."""
        desk = self._desk
        what = happening(frame, desk.client.me.id)
        match what:
            case Posted(post, channel_type):
                self._posted(post, channel_type)
            case Edited(post):
                desk.spawn(self._edited(post))
            case Deleted(post):
                desk.drop(post.id)
            case Reacted():
                desk.spawn(self._feedback.reacted(what))
            case Moved(channel_id, joined):
                desk.places.forget(channel_id)
                if joined:
                    desk.spawn(self._joined(channel_id))

    def _posted(self, post: Post, channel_type: str) -> None:
        desk = self._desk
        self._saw(post)
        if post.user_id == desk.client.me.id:
            mark = mark_of(post)
            if mark is not None and mark.kind == "reply":
                desk.spawn(self._look_again(post, mark.question))
            return
        question = self._question(post, channel_type)
        if question is not None:
            desk.spawn(self._hear(question))

    def _question(self, post: Post, channel_type: str) -> Question | None:
        me = self._desk.client.me
        return question_in(post, channel_type, me=me.id, username=me.username)

    async def _hear(self, question: Question) -> None:
        try:
            await self._receive(question)
        except Exception as error:
            log.error("a question could not be taken in, and is looked for again: %s", type(error).__name__)
            self.catch_up()

    async def _receive(self, question: Question, *, in_doubt: bool = False) -> None:
        if await self._feedback.takes(question):
            return
        await self._desk.receive(question, in_doubt=in_doubt)

    async def _look_again(self, post: Post, question_id: str) -> None:
        """Somebody has posted a reply in the bot's name. If it was another process, it may be one too many."""
        await self._desk.sleep(LOOK_AGAIN_AFTER_S)
        if post.id in self._desk.own_posts or question_id in self._desk.jobs:
            return
        question = Post(question_id, post.channel_id, "", "", root_id=post.root_id)
        await self._desk.poster.settle(question)

    async def _edited(self, post: Post) -> None:
        """Deal with an edit: of a question that waits, that is being answered, that has a reply, or a new one."""
        desk = self._desk
        if not post.edit_at or post.edit_at != post.update_at or post.user_id == desk.client.me.id:
            return  # only pinned, or a reaction
        channel = await desk.places.channel(post.channel_id)
        if channel is None or channel.archived:
            return
        question = self._question(post, channel.type)
        if question is None:
            return
        if not desk.change(question):
            await self._consider_edit(question)

    async def _consider_edit(self, question: Question) -> None:
        desk = self._desk
        ledger = desk.ledger.ledger
        post = question.post
        if not await desk.ledger.patiently(ledger.is_finished, post.id):
            await self._receive(question, in_doubt=True)
            return
        if post.edit_at - post.create_at > desk.settings.mattermost.edit_window_s * 1000:
            return
        events = await desk.ledger.patiently(ledger.events, post.id, kinds=("result", "command"))
        if events and int((events[-1].body or {}).get("edit_at", 0)) < post.edit_at:
            await desk.receive(question, edition=post.edit_at)

    async def _joined(self, channel_id: str) -> None:
        """Look for what the bot was asked before it was let in: being asked is often why it was."""
        channel = await self._desk.places.channel(channel_id)
        if channel is not None and channel.type in "OP" and not channel.archived:
            await self._look_into(channel, None)

    # --- catching up ----------------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Look for what was missed; called again while it looks, it looks once more."""
        self._again = True
        if self._catching_up is None or self._catching_up.done():
            self._catching_up = self._desk.spawn(self._catch_up())

    async def _catch_up(self) -> None:
        wait_s = 1.0
        while self._again:
            self._again = False
            try:
                await self._look_everywhere()
            except Exception as error:
                # Whatever it was: giving up here would leave questions unanswered for good.
                told = error if isinstance(error, (MattermostError, LedgerError)) else type(error).__name__
                log.warning("catching up was broken off, and is tried again: %s", told)
                self._again = True
                await self._desk.sleep(wait_s)
                wait_s = min(2 * wait_s, 60.0)
            else:
                wait_s = 1.0

    async def _look_everywhere(self) -> None:
        desk = self._desk
        marks = await desk.ledger.once(desk.ledger.ledger.marks)
        channels = [channel for channel in await desk.client.channels() if not channel.archived]
        for channel in channels:
            mark = marks.get(_MARK + channel.id)
            try:
                await self._look_into(channel, mark)
            except TokenRefused:
                raise
            except MattermostRefused as error:
                log.info("channel %s cannot be looked into (%s)", channel.id, error)

    async def _look_into(self, channel: Channel, mark: Mapping[str, Any] | None) -> None:
        desk = self._desk
        now_ms = int(desk.clock() * 1000)
        oldest_ms = now_ms - int(desk.settings.mattermost.catch_up_max_age_s * 1000)
        since_ms = max(int(mark.get("at", 0)) - OVERLAP_MS, 0) if mark else oldest_ms
        posts, complete = await desk.client.posts_since(channel.id, since_ms)
        if not complete and mark and mark.get("post"):
            after = await desk.client.posts_after(channel.id, str(mark["post"]))
            known = {post.id for post in posts}
            posts = sorted(posts + [post for post in after if post.id not in known], key=lambda post: post.create_at)
        told = 0
        for post in posts:
            if post.delete_at:
                desk.drop(post.id)
                continue
            question = self._question(post, channel.type)
            if question is not None:
                asked_ms = max(post.create_at, post.edit_at)
                # The overlap is only there for what is out of order.
                if asked_ms < oldest_ms:
                    told += await self._too_old(question, tell=told < MOST_TOLD_TOO_OLD)
                elif post.create_at > since_ms or post.edit_at:
                    await self._consider(question)
            self._saw(post)

    async def _consider(self, question: Question) -> None:
        if question.post.edit_at:
            if not self._desk.change(question):
                await self._consider_edit(question)
        else:
            await self._receive(question, in_doubt=True)

    async def _too_old(self, question: Question, *, tell: bool) -> bool:
        """Let a question go that nobody waits for any more; tells whether it was one."""
        desk = self._desk
        ledger = desk.ledger.ledger
        claim = await desk.ledger.once(
            ledger.claim, question.id, desk.owner, desk.settings.desk.lease_s, thread_id=question.thread_id
        )
        if claim is None:
            return False
        hours = desk.settings.mattermost.catch_up_max_age_s / 3600
        log.warning("question %s is older than %g hours and is not answered any more", question.id, hours)
        if tell:
            text = f"I was away when you asked, more than {hours:g} hours ago. Ask again if you still need it."
            await desk.poster.notice(question.post, "too_old", text)
        await desk.ledger.once(ledger.finish, claim, "dropped", {"why": "too_old"}, thread_id=question.thread_id)
        return True

    # --- marks ----------------------------------------------------------------------------------------------

    def _saw(self, post: Post) -> None:
        newest = self._newest.get(post.channel_id, (0, ""))
        if post.create_at > newest[0]:
            self._newest[post.channel_id] = (post.create_at, post.id)

    async def keep_marks(self) -> None:
        """Write now and then how far each channel was seen; runs until cancelled."""
        while True:
            await self._desk.sleep(MARKS_EVERY_S)
            with contextlib.suppress(LedgerError):
                await self.write_marks()

    async def write_marks(self) -> None:
        """Write how far each channel was seen; not past what is not claimed yet."""
        if self._catching_up is not None and not self._catching_up.done():
            return  # what lies before the newest post has not all been looked at
        unclaimed: dict[str, int] = {}
        for question in self._desk.arriving.values():
            channel, at = question.post.channel_id, question.post.create_at
            unclaimed[channel] = min(at, unclaimed.get(channel, at))
        for channel, (at, post_id) in list(self._newest.items()):
            at = min(at, unclaimed.get(channel, at + 1) - 1)
            if self._marked.get(channel, 0) < at:
                ledger = self._desk.ledger
                await ledger.once(ledger.ledger.set_mark, _MARK + channel, {"at": at, "post": post_id})
                self._marked[channel] = at

    # --- what others have left ------------------------------------------------------------------------------

    async def keep_taking_over(self) -> None:
        """Take over what nobody is working on any more; runs until cancelled."""
        while True:
            with contextlib.suppress(LedgerError, MattermostError):
                await self.take_over()
            await self._desk.sleep(max(self._desk.settings.desk.lease_s / 2, 0.1))

    async def take_over(self) -> None:
        """Take over every claim whose lease has run out."""
        ledger = self._desk.ledger
        for claim in await ledger.once(ledger.ledger.unfinished):
            post_id, edition = of_claim(claim)
            if post_id in self._desk.jobs or post_id in self._desk.arriving:
                continue
            if self._feedback.owns(claim.question_id):
                await self._feedback.take_over(claim)
                continue
            post = await self._desk.client.post(post_id)
            channel = await self._desk.places.channel(post.channel_id) if post is not None else None
            question = self._question(post, channel.type) if post is not None and channel is not None else None
            if question is None:
                await self._give_up(claim)
                continue
            log.info("taking over a question that was left unfinished")
            if edition:
                await self._desk.receive(question, edition=edition)
            elif not await self._feedback.takes(question):
                await self._desk.receive(question, in_doubt=True)

    async def _give_up(self, left: Claim) -> None:
        """Close the claim of a question that is not there any more."""
        desk = self._desk
        ledger = desk.ledger.ledger
        claim = await desk.ledger.once(ledger.claim, left.question_id, desk.owner, desk.settings.desk.lease_s)
        if claim is not None:
            remember(desk.deleted, of_claim(left)[0])
            await desk.ledger.once(ledger.finish, claim, "dropped", {"why": "gone"})


__all__ = ["Intake", "claim_id"]
