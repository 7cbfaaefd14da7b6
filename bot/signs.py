"""The signs that a question is being dealt with: a reaction, 'is typing', the place in the queue.

None of them is worth losing a question over: trouble with them is let go.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from bot.lanes import Job
from bot.mattermost.client import MattermostClient
from bot.mattermost.errors import MattermostError
from bot.mattermost.events import Post, Question
from bot.posting import Gone, Poster

SEEN = "eyes"
OFFERED = ("+1", "-1")
TYPING_EVERY_S = 4.0
TELL_PLACE_AFTER_S = 3.0
_PASSING = ("place", "unwell")


class Typing(Protocol):
    """Shows that the bot is typing; the stream of events can."""

    async def type(self, channel_id: str, thread_id: str) -> None: ...


class Signs:
    """Shows signs, and takes them away again.

    Args:
        jobs: the questions in hand, by id.
        sleep: waits.

    Attributes:
        typing: set once there is a stream.
    """

    def __init__(
        self,
        client: MattermostClient,
        poster: Poster,
        jobs: Mapping[str, Job],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.typing: Typing | None = None
        self._client = client
        self._poster = poster
        self._jobs = jobs
        self._sleep = sleep
        self._told_place: set[str] = set()

    async def acknowledge(self, job: Job) -> None:
        """Show at once that a question was seen."""
        if job.dropped:
            return
        await self._type(job)
        with contextlib.suppress(MattermostError):
            await self._client.react(job.post.id, SEEN)
        if job.tidied:
            await self._unreact(job)  # the answer was quicker than the reaction

    async def keep_typing(self) -> None:
        """Show 'is typing' wherever a question is being worked on; runs until cancelled."""
        while True:
            await self._sleep(TYPING_EVERY_S)
            for job in list(self._jobs.values()):
                if job.at_work and not job.dropped and not job.tidied:
                    await self._type(job)

    async def tell_place(self, job: Job) -> None:
        """Tell somebody who has to wait which place in the queue the question has; one of theirs at a time."""
        person = job.question.person
        while True:
            await self._sleep(TELL_PLACE_AFTER_S)
            if self._jobs.get(job.question.id) is not job or job.tidied:
                return
            place = job.place
            if place is not None and person not in self._told_place:
                break
        self._told_place.add(person)
        text = f"Your question is number {place} in the queue; I am working on others. I'll answer here."
        job.notice = await self._poster.notice(job.post, "place", text)
        if job.notice is None or job.tidied:
            await self._take_out([job.notice] if job.notice is not None else [])
            self._told_place.discard(person)

    async def say_unwell(self, question: Question) -> None:
        """Say that nothing can be answered while nothing can be recorded."""
        text = (
            "I can't record answers just now, so I don't give any. Your question is kept: I'll answer it here when "
            "that is mended. Please don't wait for me if it is urgent."
        )
        await self._poster.notice(question.post, "unwell", text)

    async def offer_feedback(self, post: Post) -> None:
        """Put 👍 and 👎 under a reply."""
        with contextlib.suppress(MattermostError):
            for emoji in OFFERED:
                await self._client.react(post.id, emoji)

    async def tidy(self, job: Job) -> None:
        """Take away what only showed that the question was being dealt with."""
        job.tidied = True
        notices = [job.notice] if job.notice is not None else []
        if job.in_doubt:
            with contextlib.suppress(MattermostError, Gone):
                said = await self._poster.look(job.post.id, job.post.thread_id)
                notices = [post for which, post in said.notices if which in _PASSING]
        await self._take_out(notices)
        await self._unreact(job)

    def forget(self, job: Job) -> None:
        """A question is out of hand: its asker may be told a place again."""
        if job.notice is not None:
            self._told_place.discard(job.question.person)

    async def _take_out(self, posts: list[Post]) -> None:
        for post in posts:
            with contextlib.suppress(MattermostError):
                await self._client.delete_post(post.id)

    async def _unreact(self, job: Job) -> None:
        with contextlib.suppress(MattermostError):
            await self._client.unreact(job.post.id, SEEN)

    async def _type(self, job: Job) -> None:
        if self.typing is not None:
            await self.typing.type(job.post.channel_id, job.post.thread_id)
