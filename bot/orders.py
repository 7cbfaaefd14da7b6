"""Carrying out the commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

from bot.command_replies import guidelines_text, help_text, passage_text, search_text, unread_text, why_text
from bot.commands import Command
from bot.display import display_line
from bot.exchange import Result
from bot.ledger import Event
from bot.mattermost.events import Question
from bot.records import told
from retrieval.access import Viewer
from retrieval.entries import GuidelineEntry
from retrieval.errors import ProductError
from retrieval.guideline import Passage

if TYPE_CHECKING:
    from bot.desk import Answers, Desk


class OrdersLibrary(Protocol):
    """What is indexed, as far as the commands ask; `retrieval.library` has the real one."""

    @property
    def generation(self) -> str: ...
    def guidelines(self, viewer: Viewer) -> Sequence[GuidelineEntry]: ...
    def passage(self, passage_id: str, viewer: Viewer) -> Passage | None: ...


class Operations(Protocol):
    """What the service itself can do for the people who run it."""

    async def reindex(self) -> str:
        """Start an index run; returns a sentence."""
        ...

    async def reload(self) -> str:
        """Take up settings and index again; returns a sentence."""
        ...

    def status(self) -> Sequence[str]:
        """Return lines on model, index and schedule."""
        ...


class Orders:
    """Carries out commands for people.

    Args:
        today: what review dates are compared with.
    """

    def __init__(
        self,
        answerer: Answers,
        library: OrdersLibrary | None,
        operations: Operations | None,
        desk: Desk,
        today: Callable[[], date] = date.today,
    ) -> None:
        self._answerer = answerer
        self._library = library
        self._operations = operations
        self._desk = desk
        self._today = today

    async def carry_out(self, command: Command, question: Question, viewer: Viewer) -> tuple[str, Result | None]:
        """Return the text of the reply, and for a search the result that the ledger keeps."""
        try:
            match command.kind:
                case "search":
                    return await self._search(command, viewer)
                case "guidelines":
                    return await self._guidelines(command, viewer), None
                case "show":
                    return await self._show(command, question, viewer), None
                case "why":
                    return await self._why(question, viewer), None
                case "status":
                    return await self._status(), None
                case "reindex" | "reload":
                    return await self._operate(command.kind, question), None
                case "unread":
                    return unread_text(), None
                case _:
                    return await self._help(question), None
        except ProductError as error:
            return display_line(str(error)), None

    async def _help(self, question: Question) -> str:
        is_admin = await self._is_admin(question)
        in_direct = question.channel_type == "D"
        return help_text(self._desk.client.me.username, is_admin=is_admin, in_direct=in_direct)

    async def _search(self, command: Command, viewer: Viewer) -> tuple[str, Result | None]:
        result = await self._answerer.answer(command.text, viewer=viewer, mode="quoted", filters=command.filters)
        if result.status in ("blocked", "failed"):
            return display_line(result.reason), result
        return search_text(result), result

    async def _guidelines(self, command: Command, viewer: Viewer) -> str:
        if self._library is None:
            return "Nothing is indexed."
        entries = await asyncio.to_thread(self._library.guidelines, viewer)
        return guidelines_text(entries, command.text, self._today())

    async def _show(self, command: Command, question: Question, viewer: Viewer) -> str:
        event = await self._desk.conversations.last_result(question)
        sources = (event.body or {}).get("sources") or () if event is not None else ()
        if not sources:
            return "There is no answer of mine in this thread yet. Ask me something here first."
        wanted = [one for one in sources if one.get("tag") == command.text]
        if not wanted:
            tags = ", ".join(str(one.get("tag", "")) for one in sources)
            return f"My last answer in this thread has no source {display_line(command.text)}; it has {tags}."
        passage = await self._passage(str(wanted[0].get("passage_id", "")), viewer)
        if passage is None:
            return "That section is not in the index any more, or not everyone here may see it."
        return passage_text(command.text, passage, rejected=_why_rejected(event, wanted[0]))

    async def _why(self, question: Question, viewer: Viewer) -> str:
        event = await self._desk.conversations.last_result(question)
        if event is None or event.body is None:
            return "There is no answer of mine in this thread yet. Ask me something here first."
        if event.body.get("status") == "blocked":
            return "That question was not looked up."
        ids = [str(one.get("passage_id", "")) for one in event.body.get("sources") or ()]
        seen = [id for id in ids if await self._passage(id, viewer) is not None]
        return why_text(told(event.body, event.texts), seen, str((event.texts or {}).get("read_as", "")))

    async def _status(self) -> str:
        desk = self._desk
        state = desk.connection
        lines = ["**Guideline Bot**"]
        if state is not None:
            lines.append(f"- Mattermost: {'connected' if state.well else display_line(state.problem)}")
        lines.append(f"- ledger: {display_line(desk.ledger.problem) or 'can be written'}")
        lines.append(f"- questions: {len(desk.jobs)} in hand, {desk.waiting} of them waiting")
        if self._operations is not None:
            lines += [f"- {line}" for line in self._operations.status()]
        elif self._library is not None:
            lines.append(f"- index: generation {display_line(self._library.generation)}")
        return "\n".join(lines)

    async def _operate(self, kind: str, question: Question) -> str:
        if not await self._is_admin(question):
            return f"`{kind}` is for the people named in the setting desk.admins. Ask one of them."
        if self._operations is None:
            return f"`{kind}` is not available here."
        return await (self._operations.reindex() if kind == "reindex" else self._operations.reload())

    async def _is_admin(self, question: Question) -> bool:
        person = await self._desk.places.person(question.person)
        admins = {name.casefold().removeprefix("@") for name in self._desk.settings.desk.admins}
        return person is not None and bool(admins & {person.username.casefold(), person.id})

    async def _passage(self, passage_id: str, viewer: Viewer) -> Passage | None:
        if self._library is None:
            return None
        return await asyncio.to_thread(self._library.passage, passage_id, viewer)


def _why_rejected(event: Event | None, source: Mapping[str, Any]) -> str:
    """Return why a recorded source was not kept; "" for one that was."""
    if event is None or source.get("kept"):
        return ""
    reasons = (event.texts or {}).get("source_reasons") or {}
    reason = str(reasons.get(source.get("tag")) or "it was not near enough").rstrip(".")
    return f"This section was found and rejected: {reason}."
