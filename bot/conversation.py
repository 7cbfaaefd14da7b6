"""What a post follows on: the exchanges before it in its thread, as the ledger keeps them.

In a direct message people seldom use threads: there a post that begins one follows on the latest posts of the
same conversation, for a while.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from bot.ledger import Event
from bot.ledger_lane import LedgerLane
from bot.mattermost.events import Question

EARLIER_MOST = 5
DIRECT_FOR_S = 30 * 60.0
_DIRECT_MOST = 2_000


class Conversations:
    """Finds what was said before.

    Args:
        clock: seconds since 1970.
    """

    def __init__(self, ledger: LedgerLane, clock: Callable[[], float]) -> None:
        self._ledger = ledger
        self._clock = clock
        self._direct: dict[str, deque[tuple[float, str]]] = {}

    def note(self, question: Question) -> None:
        """Remember that a thread belongs to a direct conversation."""
        if question.channel_type != "D":
            return
        channel = question.post.channel_id
        threads = self._direct.pop(channel, None) or deque(maxlen=EARLIER_MOST + 1)
        if not any(thread == question.thread_id for _, thread in threads):
            threads.append((self._clock(), question.thread_id))
        self._direct[channel] = threads
        while len(self._direct) > _DIRECT_MOST:
            del self._direct[next(iter(self._direct))]

    async def earlier(self, question: Question) -> list[str]:
        """Return how the questions before this one were read, oldest first."""
        readings: dict[str, str] = {}
        for event in await self._results(question):
            if event.question_id != question.id and (event.body or {}).get("status") in ("answered", "refused"):
                readings[event.question_id] = str((event.texts or {}).get("read_as", ""))
        return [text for text in readings.values() if text][-EARLIER_MOST:]

    async def last_result(self, question: Question) -> Event | None:
        """Return the newest result before this question; None when there is none."""
        events = [event for event in await self._results(question) if event.question_id != question.id]
        return events[-1] if events else None

    async def _results(self, question: Question) -> list[Event]:
        found: list[Event] = []
        for thread in self._threads(question):
            found += await self._ledger.patiently(self._ledger.ledger.events, kinds=("result",), thread_id=thread)
        return sorted(found, key=lambda event: event.seq)

    def _threads(self, question: Question) -> list[str]:
        if question.post.root_id:
            return [question.thread_id]
        if question.channel_type != "D":
            return []
        recent = self._direct.get(question.post.channel_id, ())
        return [thread for at, thread in recent if self._clock() - at < DIRECT_FOR_S]
