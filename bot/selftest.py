"""The self-test: the sample triage manual through the whole path, with the hash embedder and no service."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpus
from bot.exchange import Result
from bot.settings import AnswerSettings, Settings

PANIC = "What should I do during a panic episode?"
OFF_TOPIC = "How do I repair the photocopier on the second floor?"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One promise and whether it held."""

    what: str
    passed: bool


class _CountingWriter:
    """A writer that counts how often it is asked, and is never there."""

    model = "none"

    def __init__(self) -> None:
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    async def write(self, *_args: Any, **_options: Any) -> Any:
        from bot.answering.writing import NotWritten

        self.asked += 1
        raise NotWritten("no_model", "The self-test has no language model.")


def run_selftest() -> tuple[Outcome, ...]:
    """Index, retrieve, answer and refuse in a temporary folder; return what held, in order."""
    with tempfile.TemporaryDirectory(prefix="guideline-bot-selftest-") as folder:
        return asyncio.run(_selftest(Path(folder)))


async def _selftest(place: Path) -> tuple[Outcome, ...]:
    from bot.answering.answerer import Answerer
    from bot.privacy import screen
    from retrieval.embedding import HashEmbedder
    from retrieval.indexing import Folder, build
    from retrieval.library import Library

    guidelines = place / "guidelines"
    guidelines.mkdir()
    shutil.copy(corpus.TRIAGE_MANUAL, guidelines)
    embedder = HashEmbedder()
    summary = build([Folder(guidelines)], place / "data", embedder)
    library = Library.open(place / "data", embedder)
    writer = _CountingWriter()
    settings = Settings(answer=AnswerSettings(quote_dose_questions=False))
    answerer = Answerer(library, settings, writer, screen)
    try:
        answered = await answerer.answer(PANIC)
        asked_for_answer = writer.asked
        refused = await answerer.answer(OFF_TOPIC)
    finally:
        library.close()
    first = answered.sources[0].passage.path if answered.sources else ()
    return (
        Outcome(f"indexed {summary.passages} passages (13 expected)", summary.passages == 13),
        Outcome(f"the panic question finds {' › '.join(first)} first", first[:2] == ("Anxiety", "Panic Episodes")),
        Outcome("an answer cites its sources with scores", _cites_with_scores(answered)),
        Outcome("an off-topic question is refused with a reason", refused.status == "refused" and bool(refused.reason)),
        Outcome("the model is asked for an answer", asked_for_answer > 0),
        Outcome("the model is not called on a refusal", writer.asked == asked_for_answer),
    )


def _cites_with_scores(result: Result) -> bool:
    sources = {source.tag: source for source in result.sources}
    return (
        result.status == "answered"
        and bool(result.quotes)
        and all(quote.tag in sources and sources[quote.tag].scores.gate > 0 for quote in result.quotes)
    )
