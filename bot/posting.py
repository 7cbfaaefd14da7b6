"""Putting a reply into its thread: every part of it once, whatever happens in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from bot.mattermost.client import MattermostClient
from bot.mattermost.errors import MattermostAway, MattermostError, MattermostRefused, TokenRefused
from bot.mattermost.events import Post
from bot.threads import Mark, Said, said

log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_WAIT_S = 0.5
MOST_WAIT_S = 30.0
MOST_FAILURES = 8
"""A server that fails so often at one and the same post will go on doing so."""

_NOWHERE = ("api.post.create_post.root_id", "api.post.create_post.channel_root_id", "can_not_post_to_deleted")


class Gone(Exception):
    """There is no thread to reply in any more: deleted, archived, or the bot was removed."""


class NotOurs(Exception):
    """Somebody else answers this question now."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One post of a reply."""

    message: str
    props: Mapping[str, Any]


class Poster:
    """Posts replies and notices.

    Args:
        sleep: waits between tries.
    """

    def __init__(self, client: MattermostClient, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._client = client
        self._sleep = sleep

    async def look(self, question_id: str, root_id: str) -> Said:
        """Return what the bot has said about a question.

        Raises:
            Gone: the thread is not there.
        """
        thread = await self._client.thread(root_id)
        if thread is None:
            raise Gone
        return said(thread, question_id, self._client.me.id)

    async def reply(
        self,
        question: Post,
        pieces: Sequence[Piece],
        *,
        in_doubt: bool,
        still_ours: Callable[[], Awaitable[bool]],
        edition: int = 0,
    ) -> list[Post]:
        """Make the thread hold exactly these pieces as the reply to a question.

        Args:
            in_doubt: somebody may have posted some of it before: look first.
            still_ours: asked before each post.
            edition: above 0 the question was edited: posts that are there get the new text.

        Returns:
            The posts that stand for the reply, in order.

        Raises:
            Gone: the thread is not there any more.
            NotOurs: another process has taken over.
            MattermostError: the server will not take this reply.
        """
        found = await self._patiently(lambda: self.look(question.id, question.thread_id)) if in_doubt else None
        there = dict(found.parts) if found else {}
        if found and found.is_complete and not edition:
            return await self.settle(question, there)
        for part, piece in enumerate(pieces, start=1):
            if not await still_ours():
                raise NotOurs
            mark = Mark(question.id, "reply", part, len(pieces))
            if part not in there:
                there[part] = await self._create(question, mark, piece, edition)
            else:
                # Said by an earlier owner: the same text, or one that no longer fits what follows.
                await self._patiently(partial(self._patch, there[part], mark, piece))
        for part in [part for part in there if part > len(pieces)]:
            await self._client.delete_post(there.pop(part).id)
        return await self.settle(question, there)

    async def settle(self, question: Post, mine: Mapping[int, Post] | None = None) -> list[Post]:
        """Look at the thread again and take out what was posted twice; return what stands."""
        try:
            now = await self._patiently(lambda: self.look(question.id, question.thread_id))
        except Gone:
            return []
        for post in now.surplus:
            log.warning("part of a reply was posted twice; the later one is taken out")
            await self._client.delete_post(post.id)
        standing = {**(mine or {}), **now.parts}
        return [standing[part] for part in sorted(standing)]

    async def notice(self, question: Post, which: str, message: str, *, about: str = "") -> Post | None:
        """Post a notice; trouble is only logged.

        Args:
            which: names the notice; of each a question has at most one.
            about: the question it belongs to, when that is not the post it follows.
        """
        question_id = about or question.id
        try:
            return await self._client.create_post(
                question.channel_id,
                message,
                root_id=question.thread_id,
                props=Mark(question_id, "notice", notice=which).props(),
                pending_post_id=f"{self._client.me.id}:{question_id}:{which}",
            )
        except MattermostError as error:
            log.info("a notice could not be posted (%s)", error)
            return None

    # --- inside ---------------------------------------------------------------------------------------------

    async def _create(self, question: Post, mark: Mark, piece: Piece, edition: int) -> Post:
        props = {**piece.props, **mark.props()}
        pending = f"{self._client.me.id}:{question.id}:{mark.part}" + (f":{edition}" if edition else "")
        wait_s = FIRST_WAIT_S
        failures = 0
        while True:
            try:
                return await self._client.create_post(
                    question.channel_id,
                    # A server cannot keep a NUL, and fails.
                    piece.message.replace("\0", ""),
                    root_id=question.thread_id,
                    props=props,
                    pending_post_id=pending,
                )
            except (MattermostAway, TokenRefused) as error:
                failures += error.status == 500 and not error.id.endswith(".pending")
                if failures >= MOST_FAILURES:
                    raise
                # It may be there all the same.
                await self._sleep(error.retry_after_s or wait_s)
                wait_s = min(2 * wait_s, MOST_WAIT_S)
                there = (await self._patiently(lambda: self.look(question.id, question.thread_id))).parts.get(mark.part)
                if there is not None:
                    return there
            except MattermostRefused as error:
                if error.status in (403, 404) or any(part in error.id for part in _NOWHERE):
                    log.info("a reply has nowhere to go (%s)", error)
                    raise Gone from None
                raise

    async def _patch(self, post: Post, mark: Mark, piece: Piece) -> None:
        # Props that are sent replace all there are, the server's own among them.
        props = {"from_bot": "true", **piece.props, **mark.props()}
        if post.message == piece.message and post.props.get("attachments") == piece.props.get("attachments"):
            return
        try:
            await self._client.patch_post(post.id, piece.message, props)
        except MattermostRefused as error:
            if error.status not in (403, 404):
                raise
            raise Gone from None

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Try again for as long as the server is away."""
        wait_s = FIRST_WAIT_S
        while True:
            try:
                return await call()
            except (MattermostAway, TokenRefused) as error:
                await self._sleep(error.retry_after_s or wait_s)
                wait_s = min(2 * wait_s, MOST_WAIT_S)
