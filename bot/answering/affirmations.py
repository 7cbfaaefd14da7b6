"""Which words of a statement are affirmed: what a denial reaches, over labels, conditions and reasons (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.answering import vocabulary as v
from bot.answering.clauses import CLAUSE_ENDS, Token, concepts, opens_instruction

Clause = list[Token]

LABEL_ENDS = frozenset([":", "–", "-", "|"])
# A clause that begins so belongs to the one before it.
_TIED = v.words("because if unless when whenever until till while provided once except")
# 'Not more than 4 g' denies nothing.
_BOUNDS = v.words("more less exceed exceeds exceeding later earlier above below over under only yet greater fewer")


def affirmed_concepts(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the concepts of a statement's clauses that do not deny, and of the labels above one of them.

    'Aspirin: Child: not recommended because of Reye's syndrome' affirms nothing;
    'Aspirin: Adult: 300 mg. Child: not recommended' affirms aspirin, for an adult.
    """
    affirmed: frozenset[str] = frozenset()
    for sentence in _sentences(tokens):
        denied = _denied(sentence)
        for clause, denies in zip(sentence, denied, strict=True):
            if not denies:
                affirmed |= concepts(tuple(clause))
    return affirmed


def _sentences(tokens: Sequence[Token]) -> list[list[Clause]]:
    """Cut into clauses, each with the sign or word that it begins with, and these into sentences."""
    sentences: list[list[Clause]] = [[[]]]
    for index, token in enumerate(tokens):
        ends = token.word in CLAUSE_ENDS and token.quantity is None
        ends = ends or (token.word in (",", "and", "&") and opens_instruction(tokens, index + 1))
        if ends and token.word in (".", "?", "!"):
            sentences.append([[]])
        elif ends:
            sentences[-1].append([])
        sentences[-1][-1].append(token)
    return sentences


def _denied(clauses: Sequence[Clause]) -> list[bool]:
    denied: list[bool] = []
    before: Clause = []
    for clause in clauses:
        tied = bool(denied) and bool(clause) and clause[0].word in _TIED
        # 'Do not exceed 500 mg because of the risk of arrhythmias' denies nothing but affirms no arrhythmias either.
        warned = tied and clause[0].word == "because" and any(token.word in v.NEGATORS for token in before)
        denied.append(_denies(clause) or (tied and denied[-1]) or warned)
        before = clause
    for index in range(len(clauses) - 2, -1, -1):
        below = clauses[index + 1]
        label = bool(below) and below[0].word in LABEL_ENDS and not any(_is_dose(t) for t in clauses[index])
        if label and not denied[index]:
            denied[index] = all(denied[index + 1 :]) if index == 0 else denied[index + 1]
    return denied


def _is_dose(token: Token) -> bool:
    return token.quantity is not None and token.quantity.dimension != "age"


def _denies(clause: Clause) -> bool:
    following = [*(token.word for token in clause), ""][1:]
    denials = sum(
        token.word in v.NEGATORS and after not in _BOUNDS for token, after in zip(clause, following, strict=True)
    )
    bare = not any(token.carries for token in clause) and any(token.word in ("no", "nil") for token in clause)
    return denials % 2 == 1 or bare
