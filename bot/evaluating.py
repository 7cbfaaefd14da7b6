"""Running an evaluation over an open library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.answering.quoting import QuoteOptions, quote, to_quote
from retrieval.drafting import draft_questions
from retrieval.errors import WrongUse
from retrieval.evaluation import Evaluation, evaluate
from retrieval.found import Found
from retrieval.library import Library
from retrieval.questions import EvaluationQuestion, read_questions
from retrieval.quotation import QuotingLoss, compare_quoting

RANKED = 20


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


def draft_from(library: Library, count: int) -> list[dict[str, Any]]:
    """Draft questions from what is indexed, for a person to correct."""
    return draft_questions(library.passages(), count)


def _quoted(found: Found, max_sentences: int) -> str:
    options = QuoteOptions(max_sentences=max_sentences)
    sources = to_quote(found.kept, options.close_margin)
    return "\n".join(quote(one, options, question=found.reading.read_as).text for one in sources)
