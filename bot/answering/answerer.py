"""A question's way to its result: screen → read → search → gate → quote or write → check.

Nothing is shown that was not checked: the model's draft either passes the checker or is replaced by the sections
themselves. Nothing but cancellation is raised: what goes wrong becomes a result that says so.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Protocol, TypeVar

from bot.answering.checker import Report, SourceText, check
from bot.answering.emergency import speaks_of_emergency
from bot.answering.followups import follow_up
from bot.answering.notes import notes_on
from bot.answering.prompts import readable, says_not_covered
from bot.answering.quoting import QuoteOptions, Similarity, quote, to_quote
from bot.answering.readings import better_reading, only_what_speaks_of
from bot.answering.writing import Assignment, Draft, NotWritten, Writer
from bot.exchange import Mode, Result, SentenceCheck, Status
from bot.settings import Settings
from retrieval.access import OPERATOR, Viewer
from retrieval.errors import ProductError
from retrieval.found import Filters, Found, Reading, Source

T = TypeVar("T")

log = logging.getLogger(__name__)

MAX_QUESTION_CHARS = 4000
"""A longer question is declined: cut short, it might lose the one condition that matters."""

DOSE_KINDS = frozenset({"dose", "rate"})
"""The kinds of fact that count as questions about doses."""

NEAREST = 3


SEARCH_WITHIN_S = 60.0

EVERYWHERE = Filters()


class Detail(Protocol):
    """A patient detail that the screen saw."""

    @property
    def kind(self) -> str: ...


class Screened(Protocol):
    """What the screen for patient details hands back; `bot.privacy` has the real one."""

    @property
    def text(self) -> str: ...
    @property
    def details(self) -> Sequence[Detail]: ...
    @property
    def blocked(self) -> bool: ...


class Library(Protocol):
    """Where guidelines are searched; `retrieval.library` has the real one."""

    def search(self, question: str, *, viewer: Viewer, filters: Filters, limit: int = 10) -> Found: ...


@dataclass
class _Exchange:
    """A question on its way: what is known so far, and when it began.

    `asked` is empty until the screen has let the question through, so that no result holds it before.
    """

    mode: Mode
    viewer: Viewer
    filters: Filters
    began: float
    asked: str = ""
    emergency: str = ""
    details: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)


class Answerer:
    """Answers questions from the library, quoted or written.

    Args:
        library: where guidelines are searched; called in a worker thread.
        settings: the whole tree.
        writer: writes answers; None to quote.
        screen: looks for patient details.
        similarity: ranks sentences for `answer.max_sentences`; by default by the words they share.
        glossary: abbreviation → long form, for the checker.
        clock: seconds that only go forward.
        today: the date that review dates are compared with.
        search_within_s: a search that takes longer fails the question.
    """

    def __init__(
        self,
        library: Library,
        settings: Settings,
        writer: Writer | None,
        screen: Callable[[str], Screened],
        *,
        similarity: Similarity | None = None,
        glossary: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        today: Callable[[], date] = date.today,
        search_within_s: float = SEARCH_WITHIN_S,
    ) -> None:
        self._library = library
        self._settings = settings.answer
        self._max_sources = settings.search.max_sources
        self._writer = writer
        self._screen = screen
        self._similarity = similarity
        self._glossary = dict(glossary or {})
        self._clock = clock
        self._today = today
        self._search_within_s = search_within_s
        self._quoting = QuoteOptions(
            max_sentences=settings.answer.max_sentences, close_margin=settings.answer.close_margin
        )

    async def answer(
        self,
        question: str,
        *,
        viewer: Viewer = OPERATOR,
        mode: Mode | None = None,
        filters: Filters = EVERYWHERE,
        earlier: Sequence[str] = (),
    ) -> Result:
        """Answer a question, or say why not.

        Args:
            question: as asked.
            viewer: who will read the reply; nothing is found that one of them may not see.
            mode: quoted or written; by default as set. Questions about doses stay quoted where that is set.
            filters: restrict the search.
            earlier: readings of the questions asked before in this thread, oldest first.

        Returns:
            The result. A question with patient details is in none of its fields.
        """
        exchange = _Exchange(mode or self._settings.mode, viewer, filters, began=self._clock())
        try:
            return await self._answer(exchange, question, earlier)
        except ProductError as error:
            log.warning("a question failed: %s", type(error).__name__)
            return self._without_answer(exchange, "failed", str(error))
        except TimeoutError:
            log.error("a question failed: the search took longer than %.0f s", self._search_within_s)
            return self._without_answer(exchange, "failed", "The search took too long. Please ask again in a minute.")
        except Exception as error:
            _log("a question failed", error)
            reason = "Something went wrong while answering. Please ask again; if it stays, tell whoever runs the bot."
            return self._without_answer(exchange, "failed", reason)

    async def _answer(self, exchange: _Exchange, question: str, earlier: Sequence[str]) -> Result:
        if speaks_of_emergency(question, self._settings.emergency_words):
            exchange.emergency = self._settings.emergency_line
        screened = self._timed(exchange, "screen", lambda: self._screen(question))
        exchange.details = tuple(dict.fromkeys(detail.kind for detail in screened.details))
        if screened.blocked:
            return self._without_answer(exchange, "blocked", _blocked(exchange.details))
        exchange.asked = screened.text
        plain = " ".join(readable(screened.text).split())
        if not any(character.isalnum() for character in plain):
            return self._without_answer(exchange, "refused", "There are no words in this question to search for.")
        if len(plain) > MAX_QUESTION_CHARS:
            reason = f"This question has {len(plain):,} characters; {MAX_QUESTION_CHARS:,} are read. Please shorten it."
            return self._without_answer(exchange, "refused", reason)
        before = [seen.text for one in earlier if not (seen := self._screen(one)).blocked]
        found = await self._search(exchange, plain, before)
        if speaks_of_emergency(found.reading.read_as, self._settings.emergency_words):
            exchange.emergency = self._settings.emergency_line
        if not found.verdict.passed or not found.kept:
            return self._refused(exchange, found, found.verdict.reason)
        if given_up := self._why_not_written(exchange, found):
            return self._quoted(exchange, found, given_up)
        try:
            return await self._written(exchange, found)
        except NotWritten as error:
            return self._quoted(exchange, found, error)
        except Exception as error:
            _log("writing failed", error)
            return self._quoted(exchange, found, NotWritten("model_error"))

    # --- reading and searching -------------------------------------------------------------------------------

    async def _search(self, exchange: _Exchange, question: str, earlier: Sequence[str]) -> Found:
        joined = follow_up(question, earlier)
        if joined is None:
            found = await self._found(exchange, question)
        else:
            together = only_what_speaks_of(joined, await self._found(exchange, joined.text))
            found = together
            if joined.stands_alone:
                alone = await self._found(exchange, question)
                found = better_reading(alone, together)
        return replace(found, reading=replace(found.reading, question=exchange.asked))

    async def _found(self, exchange: _Exchange, question: str) -> Found:
        async with asyncio.timeout(self._search_within_s):
            found = await asyncio.to_thread(
                self._library.search, question, viewer=exchange.viewer, filters=exchange.filters
            )
        for step, spent in found.timings_ms.items():
            exchange.timings_ms[step] = exchange.timings_ms.get(step, 0.0) + spent
        return found

    # --- writing ---------------------------------------------------------------------------------------------

    def _why_not_written(self, exchange: _Exchange, found: Found) -> NotWritten | None:
        if exchange.mode == "quoted":
            return NotWritten("asked_for")
        if self._settings.quote_dose_questions and DOSE_KINDS & set(found.verdict.asks_for):
            return NotWritten("dose_question")
        if self._writer is None:
            return NotWritten("no_model")
        return None

    async def _written(self, exchange: _Exchange, found: Found) -> Result:
        """Write, check, write once more with the problems named.

        Raises:
            NotWritten: neither draft is carried by its sources, or there is none in time.
        """
        assignment = Assignment(found.reading.read_as, found.kept[: self._max_sources])
        draft = await self._draft(exchange, assignment)
        report = self._checked(exchange, draft, found)
        if not report.supported and not says_not_covered(draft.text):
            again = replace(assignment, rejected=draft.text, problems=_problems(report))
            try:
                draft = await self._draft(exchange, again)
            except NotWritten:
                raise _CheckFailed(report.sentences, draft) from None
            report = self._checked(exchange, draft, found)
        if says_not_covered(draft.text):
            reason = "The language model found no answer to this in the sections that came nearest."
            return replace(self._refused(exchange, found, reason), model=draft.model, model_digest=draft.digest)
        if not report.supported:
            raise _CheckFailed(report.sentences, draft)
        return self._shown(exchange, found, draft, report.sentences)

    async def _draft(self, exchange: _Exchange, assignment: Assignment) -> Draft:
        assert self._writer is not None
        left_s = self._settings.written_within_s - (self._clock() - exchange.began)
        late = NotWritten("timeout")
        if left_s <= 0:
            raise late
        began = self._clock()
        try:
            async with asyncio.timeout(left_s):
                return await self._writer.write(assignment, left_s)
        except TimeoutError:
            raise late from None
        finally:
            spent = 1000 * (self._clock() - began)
            exchange.timings_ms["write"] = exchange.timings_ms.get("write", 0.0) + spent

    def _checked(self, exchange: _Exchange, draft: Draft, found: Found) -> Report:
        """Check a draft against what was in its prompt, and against nothing else."""
        sources = {
            source.tag: SourceText(source.passage.text, source.passage.path, source.passage.title)
            for source in found.kept
            if source.tag in draft.tags
        }
        glossary = {**self._glossary, **dict(found.reading.expansions)}
        return self._timed(
            exchange,
            "check",
            lambda: check(draft.text, sources, question=found.reading.read_as, glossary=glossary),
        )

    # --- results ---------------------------------------------------------------------------------------------

    def _shown(self, exchange: _Exchange, found: Found, draft: Draft, checks: tuple[SentenceCheck, ...]) -> Result:
        cited = list(dict.fromkeys(tag for sentence in checks for tag in sentence.cites))
        by_tag = {source.tag: source for source in found.kept}
        sources = [by_tag[tag] for tag in cited if tag in by_tag]
        result = self._with_quotes(exchange, found, sources, dropped=draft.dropped)
        return replace(
            result,
            mode="written",
            answer=draft.text,
            checks=checks,
            model=draft.model,
            model_digest=draft.digest,
        )

    def _quoted(self, exchange: _Exchange, found: Found, why: NotWritten) -> Result:
        result = self._with_quotes(exchange, found, to_quote(found.kept, self._quoting.close_margin))
        result = replace(result, reason=why.reason, fallback=why.fallback)
        if isinstance(why, _CheckFailed):
            result = replace(result, checks=why.checks, model=why.draft.model, model_digest=why.draft.digest)
        return result

    def _with_quotes(
        self, exchange: _Exchange, found: Found, sources: Sequence[Source], dropped: Sequence[str] = ()
    ) -> Result:
        quotes = tuple(
            quote(source, self._quoting, question=found.reading.read_as, similarity=self._similarity)
            for source in sources
        )
        notes = notes_on(sources, quotes, found.reading, today=self._today(), dropped=dropped)
        return Result(
            question=exchange.asked,
            reading=found.reading,
            status="answered",
            quotes=quotes,
            notes=notes,
            emergency=exchange.emergency,
            sources=found.sources,
            verdict=found.verdict,
            details=exchange.details,
            generation=found.generation,
            timings_ms=dict(exchange.timings_ms),
        )

    def _refused(self, exchange: _Exchange, found: Found, reason: str) -> Result:
        return Result(
            question=exchange.asked,
            reading=found.reading,
            status="refused",
            reason=reason,
            ask_line=self._settings.ask_line,
            notes=notes_on((), (), found.reading, today=self._today()),
            emergency=exchange.emergency,
            sources=found.sources,
            verdict=found.verdict,
            nearest=found.sources[:NEAREST],
            details=exchange.details,
            generation=found.generation,
            timings_ms=dict(exchange.timings_ms),
        )

    def _without_answer(self, exchange: _Exchange, status: Status, reason: str) -> Result:
        return Result(
            question=exchange.asked,
            reading=Reading(exchange.asked, exchange.asked),
            status=status,
            reason=reason,
            ask_line="" if status == "blocked" else self._settings.ask_line,
            emergency=exchange.emergency,
            details=exchange.details,
            timings_ms=dict(exchange.timings_ms),
        )

    def _timed(self, exchange: _Exchange, step: str, work: Callable[[], T]) -> T:
        began = self._clock()
        try:
            return work()
        finally:
            exchange.timings_ms[step] = exchange.timings_ms.get(step, 0.0) + 1000 * (self._clock() - began)


def _log(what: str, error: Exception) -> None:
    """Log the kind and the place of an error, but neither its message nor its values: either may hold the question."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    log.error("%s: %s in %s, line %s", what, type(error).__name__, place.name, place.lineno)


class _CheckFailed(NotWritten):
    """The model wrote, and the checker turned it down."""

    def __init__(self, checks: tuple[SentenceCheck, ...], draft: Draft) -> None:
        super().__init__("check_failed")
        self.checks = checks
        self.draft = draft


def _problems(report: Report) -> tuple[str, ...]:
    """Name what the checker found, one line a problem, as the model is told it."""
    lines = [
        f"“{sentence.sentence}”: {kind}: {detail}"
        for sentence in report.sentences
        for kind, detail in sentence.problems
    ]
    return tuple(lines) or ("There is no sentence with a statement and a tag.",)


def _blocked(kinds: Sequence[str]) -> str:
    seen = f" ({', '.join(kinds)})" if kinds else ""
    return (
        f"This question seems to hold details of a patient{seen}. It was not searched for and is not kept. "
        "Please ask again without them."
    )
