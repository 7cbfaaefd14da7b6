"""What people think of the replies: 👍, 👎, and what was wrong.

Each click is kept with the exchange. The first 👎 under a reply makes the bot ask, once, what was wrong; the next
thing that somebody with a 👎 says to the bot in that thread is the answer, unless it is a question or a command.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from bot.commands import parse
from bot.desk import Desk, Screened
from bot.ledger import Claim, LedgerError
from bot.mattermost.errors import MattermostError
from bot.mattermost.events import Post, Question, Reacted
from bot.threads import mark_of

log = logging.getLogger(__name__)

_MEANING = {"+1": "up", "thumbsup": "up", "-1": "down", "thumbsdown": "down"}
_ASKING = "#what_was_wrong"
ANSWER_WITHIN_S = 24 * 3600.0
MOST_SKEW_S = 10.0
"""How far the server's clock may be behind: what was said before the asking is no answer to it."""

_QUESTION = re.compile(
    r"\?|^(?:what|how|when|where|which|who|why|can|could|should|shall|may|must|is|are|was|does|do|did|will|would|"
    r"and|in|dose|dosage)\b",
    re.IGNORECASE,
)


class Feedback:
    """Keeps what people click and say about replies.

    Args:
        screen: looks for patient details in what they say.
    """

    def __init__(self, desk: Desk, screen: Callable[[str], Screened]) -> None:
        self._desk = desk
        self._screen = screen

    async def reacted(self, reaction: Reacted) -> None:
        """Keep a click on one of the bot's own replies; ask once what was wrong."""
        desk = self._desk
        meaning = _MEANING.get(reaction.emoji)
        if meaning is None or reaction.user_id == desk.client.me.id:
            return
        try:
            post = await desk.client.post(reaction.post_id)
            mark = mark_of(post) if post is not None and post.user_id == desk.client.me.id else None
            person = await desk.places.person(reaction.user_id)
        except MattermostError as error:
            log.warning("a reaction could not be looked up (%s)", error)
            return
        if post is None or mark is None or mark.kind != "reply" or person is None or person.is_bot:
            return
        body = {"person": reaction.user_id, "says": meaning, "added": reaction.added, "post": post.id}
        await desk.ledger.patiently(
            desk.ledger.ledger.append, "feedback", mark.question, body, thread_id=post.thread_id
        )
        if meaning == "down" and reaction.added:
            await self._ask(post, mark.question, reaction.user_id)

    def owns(self, claimed: str) -> bool:
        """Tell whether a claim is one of asking what was wrong."""
        return claimed.endswith(_ASKING)

    async def take_over(self, left: Claim) -> None:
        """Bring an asking to its end that another process has left: once is enough, so it is not asked again."""
        desk = self._desk
        claim = await desk.ledger.once(desk.ledger.ledger.claim, left.question_id, desk.owner, 60.0)
        if claim is not None:
            await desk.ledger.once(desk.ledger.ledger.finish, claim, "asked", {"person": "", "left": True})

    async def _ask(self, reply: Post, question_id: str, person: str) -> None:
        desk = self._desk
        ledger = desk.ledger.ledger
        thread = reply.thread_id
        claim = await desk.ledger.patiently(
            ledger.claim, question_id + _ASKING, desk.owner, desk.settings.desk.lease_s, thread_id=thread
        )
        if claim is None:
            return
        how = "" if await self._is_direct(reply.channel_id) else f", mentioning `@{desk.client.me.username}`"
        text = f"Thank you. What was wrong with this answer? Please say it here in the thread{how}."
        await desk.poster.notice(reply, "what_was_wrong", text, about=question_id)
        body = {"person": person, "question": question_id}
        await desk.ledger.patiently(ledger.finish, claim, "asked", body, thread_id=thread)

    async def takes(self, question: Question) -> bool:
        """Take a post as the answer to what was wrong, if it is one; tells whether it did."""
        desk = self._desk
        ledger = desk.ledger.ledger
        if not question.post.root_id or parse(question.text).kind != "ask" or _QUESTION.search(question.text):
            return False
        about = await self._asked(question)
        if about is None:
            return False
        claim = await desk.ledger.patiently(
            ledger.claim, question.id, desk.owner, desk.settings.desk.lease_s, thread_id=question.thread_id
        )
        if claim is None:
            return True
        screened = self._screen(question.text)
        body = {"person": question.person, "post": question.id, "blocked": screened.blocked}
        texts = None if screened.blocked else {"comment": screened.text}
        await desk.ledger.patiently(ledger.append, "comment", about, body, texts, thread_id=question.thread_id)
        text = (
            "Thank you. That seems to hold details of a patient, so I have not kept it; please delete it."
            if screened.blocked
            else "Thank you, that is kept with the answer. If you meant it as a question, end it with a question mark."
        )
        await desk.poster.notice(question.post, "thanks", text)
        await desk.ledger.patiently(ledger.finish, claim, "commented", {"about": about}, thread_id=question.thread_id)
        return True

    async def _asked(self, question: Question) -> str | None:
        """Return the question whose reply this person has turned a thumb down on, and has not told why yet."""
        desk = self._desk
        try:
            events = await desk.ledger.once(
                desk.ledger.ledger.events, kinds=("feedback", "asked", "comment"), thread_id=question.thread_id
            )
        except LedgerError:
            return None
        asked: dict[str, int] = {}
        unhappy: dict[str, None] = {}
        for event in events:
            body = event.body or {}
            if event.kind == "asked":
                asked[str(body.get("question", ""))] = event.at_ms
            elif body.get("person") == question.person:
                unhappy.pop(event.question_id, None)
                if event.kind == "feedback" and body.get("says") == "down" and body.get("added"):
                    unhappy[event.question_id] = None
        for about in reversed(unhappy):
            since_s = (question.post.create_at - asked[about]) / 1000 if about in asked else -ANSWER_WITHIN_S
            if -MOST_SKEW_S < since_s < ANSWER_WITHIN_S:
                return about
        return None

    async def _is_direct(self, channel_id: str) -> bool:
        try:
            channel = await self._desk.places.channel(channel_id)
        except MattermostError:
            return False
        return channel is not None and channel.type == "D"
