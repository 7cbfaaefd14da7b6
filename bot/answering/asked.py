"""Hold a sentence that the source carries against what was asked: true words can be a wrong answer (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.answering import vocabulary as v
from bot.answering.clauses import Token, concepts
from bot.answering.pieces import Problem
from bot.answering.statements import Statement
from bot.answering.wording import concepts_of

_PREDICATES = (
    v.AUXILIARIES
    | v.VERBS
    | v.words(
        "be been include includes cause causes lead leads require requires prevent protect "
        "encourage wear eat drink drain elevate immobilise rest inspect control relieve support discuss inform teach"
    )
)


def of_another_kind(
    tokens: tuple[Token, ...],
    question: tuple[Token, ...],
    carrying: Sequence[Statement],
    statements: Sequence[Statement],
) -> list[Problem]:
    """Asked of the severe kind, what the source says of the disease at large is no answer if it has another.

    Args:
        tokens: of the sentence.
        question: its tokens.
        carrying: the statements that carry the sentence.
        statements: all of the cited sources.
    """
    said = concepts(tokens)
    for kind in sorted(concepts(question) & v.LIMITERS - said):
        if any(kind in statement.available for statement in carrying):
            continue
        for statement in statements:
            if kind in statement.own and said & statement.own - statement.led - {kind}:
                return [("unsupported", f"the question is about '{kind}', of which the source says something else")]
    return []


def answers_otherwise(
    tokens: tuple[Token, ...], question: tuple[Token, ...], carrying: Sequence[Statement]
) -> list[Problem]:
    """A fragment ("Death") says of what was asked what it names; the source must say it of that too."""
    if any(t.word in _PREDICATES or t.concept in v.ACTIONS for t in tokens):
        return []
    for statement in carrying:
        title = concepts_of(statement.path[-1]) if len(statement.path) > 1 else frozenset()
        asked = concepts(question) - title
        if len(asked & statement.available) * 2 >= len(asked):
            return []
    return [("unsupported", "a fragment, and the source does not say it of what was asked")]
