"""Running an evaluation over an open library."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.answering.quoting import QuoteOptions, quote, to_quote
from bot.settings import EvaluationSettings
from retrieval.drafting import draft_questions
from retrieval.errors import WrongUse
from retrieval.evaluation import Evaluation, evaluate, fallen
from retrieval.found import Found
from retrieval.generations import Generations
from retrieval.library import Library
from retrieval.questions import EvaluationQuestion, read_questions
from retrieval.quotation import QuotingLoss, compare_quoting
from retrieval.whole_files import read_record, write_whole

RANKED = 20
FIGURES = "evaluation.json"


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures, and what quoting with a limit would lose."""

    evaluation: Evaluation
    quoting: tuple[QuotingLoss, ...]


def measure(
    library: Library,
    file: Path,
    field: str = "question",
    wanted_false_answer_rate: float = 0.1,
    progress: Callable[[str, int, int], None] = lambda _stage, _done, _total: None,
) -> Measured:
    """Ask every question of a file.

    Raises:
        WrongUse: the file cannot be read; names the line.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise WrongUse(f"{file}: is not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        raise WrongUse(f"{file}: cannot be read ({error.strerror}).") from None
    questions = read_questions(text, str(file), field)
    pairs: list[tuple[EvaluationQuestion, Found]] = []

    def search(question: EvaluationQuestion) -> Found:
        found = library.search(question.question, limit=RANKED, hides=question.hides if question.without else None)
        pairs.append((question, found))
        return found

    evaluation = evaluate(
        questions,
        search,
        library.min_score,
        wanted_false_answer_rate=wanted_false_answer_rate,
        progress=lambda done: progress("questions", done, len(questions)),
    )
    return Measured(evaluation, compare_quoting(pairs, _quoted))


@dataclass(frozen=True, slots=True)
class Regression:
    """What the site's own questions said of a new generation.

    Attributes:
        figures: `Evaluation.as_json()`; empty when nothing was measured.
        fallen: a line for each figure that fell by more than is allowed.
        kept_old: the generation that answers on instead; "" when the new one does.
        problem: why nothing was measured; "" when it was.
    """

    figures: Mapping[str, Any]
    fallen: tuple[str, ...] = ()
    kept_old: str = ""
    problem: str = ""


def watch_figures(
    open_library: Callable[[], Library], data: Path, settings: EvaluationSettings, built: bool
) -> Regression:
    """Measure a new generation on the site's questions and compare it with the one before.

    Args:
        open_library: opens the generation that has just been swapped in.
        built: the run made a new generation; without one nothing is measured.

    Returns:
        what fell. With `keep_old_on_drop` the generation before answers again.
    """
    if not settings.questions or not built:
        return Regression({})
    library = open_library()
    try:
        figures = measure(library, Path(settings.questions)).evaluation.as_json()
    except WrongUse as error:
        return Regression({}, problem=str(error))
    finally:
        library.close()
    record = data / FIGURES
    before = read_record(record)
    lost = fallen(before.get("figures", {}), figures, settings.max_drop)
    generations = Generations(data)
    if lost and settings.keep_old_on_drop:
        try:
            return Regression(figures, lost, kept_old=generations.rollback())
        except WrongUse as error:
            return Regression(figures, lost, problem=str(error))
    # Only the figures of a generation that answers are what the next one is held to.
    write_whole(record, json.dumps({"generation": generations.current(), "figures": figures}))
    return Regression(figures, lost)


def draft_from(library: Library, count: int) -> list[dict[str, Any]]:
    """Draft questions from what is indexed, for a person to correct."""
    return draft_questions(library.passages(), count)


def _quoted(found: Found, max_sentences: int) -> str:
    options = QuoteOptions(max_sentences=max_sentences)
    sources = to_quote(found.kept, options.close_margin)
    return "\n".join(quote(one, options, question=found.reading.read_as).text for one in sources)
