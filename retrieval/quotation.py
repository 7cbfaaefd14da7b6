"""In how many quotes the asked fact is lost when only the most similar sentences are quoted (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from retrieval.evaluation import Rate
from retrieval.found import Found
from retrieval.questions import EvaluationQuestion
from retrieval.terms import content_terms, term_set

LIMITS = (1, 2, 3, 0)
# A fact without numbers is kept when this share of its content words is.
KEPT_SHARE = 0.8

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class QuotingLoss:
    """What quoting with a limit loses.

    Attributes:
        max_sentences: 0 for whole sections.
        lost: answers in whose quote the asked fact does not stand, of those whose first kept source holds it.
        mean_words: mean length of the quotes.
    """

    max_sentences: int
    lost: Rate
    mean_words: float

    def as_json(self) -> dict[str, Any]:
        """Return the row of the comparison."""
        return {
            "max_sentences": self.max_sentences,
            "answers": self.lost.of,
            "lost": self.lost.hits,
            "lost_rate": self.lost.value,
            "mean_words": round(self.mean_words, 1),
        }


def compare_quoting(
    found: Iterable[tuple[EvaluationQuestion, Found]], quote: Callable[[Found, int], str]
) -> tuple[QuotingLoss, ...]:
    """Compare quoting one, two and three sentences with quoting whole sections.

    Args:
        found: questions with what was found; those without `gold_text`, and those whose first kept source is not
            a gold section, are left out: what is missing there was not lost by quoting.
        quote: what would be quoted with at most so many sentences; 0: whole sections.
    """
    pairs = [
        (question, one)
        for question, one in found
        if question.gold_text and one.kept and question.is_hit(one.kept[0].passage.guideline, one.kept[0].passage.path)
    ]
    losses = []
    for limit in LIMITS:
        quotes = [(question, quote(one, limit)) for question, one in pairs]
        lost = sum(not holds_fact(text, question) for question, text in quotes)
        words = sum(len(text.split()) for _, text in quotes)
        losses.append(QuotingLoss(limit, Rate(lost, len(quotes)), words / len(quotes) if quotes else 0.0))
    return tuple(losses)


def holds_fact(text: str, question: EvaluationQuestion) -> bool:
    """Tell whether a quote still holds the fact that a question asks for.

    Where the short answer has numbers that stand in the gold text, each must stand in the quote. Otherwise most
    content words of the gold text must.
    """
    gold_numbers = set(_NUMBER.findall(question.gold_text))
    wanted = set(_NUMBER.findall(question.answer)) & gold_numbers
    if wanted:
        return wanted <= set(_NUMBER.findall(text))
    terms = content_terms(question.gold_text)
    held = term_set(text)
    return not terms or sum(term in held for term in terms) >= KEPT_SHARE * len(terms)
