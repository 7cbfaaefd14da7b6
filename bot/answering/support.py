"""Compare a piece of an answer with one statement of a source, slot by slot."""

from __future__ import annotations

from collections.abc import Sequence

from bot.answering.clauses import Token
from bot.answering.doses import wrong_quantities
from bot.answering.pieces import Piece, Problem
from bot.answering.polarity import wrong_signs
from bot.answering.relations import (
    lost_conditions,
    lost_purpose,
    swapped_conditions,
    turned_to_use,
    wrong_joining,
    wrong_strength,
)
from bot.answering.statements import Statement


def problems_with(piece: Piece, statement: Statement, also: frozenset[str] = frozenset()) -> list[Problem]:
    """Return what of the piece the statement does not carry; empty when it carries all.

    Args:
        also: concepts that count as said (long and short forms of what the statement says).
    """
    problems = _missing_terms(piece, statement, also)
    problems += wrong_quantities(piece, statement)
    problems += wrong_signs(piece, statement)
    problems += lost_conditions(piece, statement)
    problems += swapped_conditions(piece, statement)
    problems += wrong_joining(piece, statement)
    problems += wrong_strength(piece, statement)
    problems += _substituted(piece, statement)
    problems += lost_purpose(piece, statement)
    problems += turned_to_use(piece, statement)
    return problems


def _missing_terms(piece: Piece, statement: Statement, also: frozenset[str]) -> list[Problem]:
    missing = {
        t.word for t in piece.tokens if t.concept and t.concept not in statement.available and t.concept not in also
    }
    if missing:
        return [("term", f"not said of this in the source: {', '.join(sorted(missing))}")]
    if piece.heads and len(piece.heads & statement.available) * 2 < len(piece.heads):
        return [("unsupported", f"the source does not say this of {', '.join(sorted(piece.heads))}")]
    return []


def _substituted(piece: Piece, statement: Statement) -> list[Problem]:
    """Find a word or number that stands where the source, in the same words around it, has another.

    It catches what a set of words cannot: 'acute or chronic' written as 'chronic or chronic'.
    """
    said = [t for t in piece.tokens if t.carries]
    source = [t for t in statement.tokens if t.carries]
    if len(said) < 2 or len(source) < 2:
        return []
    keys = [_key(t) for t in said]
    others = [_key(t) for t in source]
    at: dict[object, list[int]] = {}
    for index, key in enumerate(others):
        at.setdefault(key, []).append(index)
    for i, key in enumerate(keys):
        left = keys[i - 1] if i else None
        right = keys[i + 1] if i + 1 < len(keys) else None
        if left is None:
            right2 = keys[i + 2] if i + 2 < len(keys) else None
            places = [
                j - 1 for j in at.get(right, []) if j == 1 and right2 is not None and others[j + 1 : j + 2] == [right2]
            ]
        elif right is None:
            left2 = keys[i - 2] if i >= 2 else None
            places = [j + 1 for j in at.get(left, []) if j + 2 == len(others) and j >= 1 and others[j - 1] == left2]
        else:
            places = [j + 1 for j in at.get(left, []) if j + 2 < len(others) and others[j + 2] == right]
        if (left is None or right is None) and any(0 < abs(p - j) <= 2 for p in at.get(key, []) for j in places):
            continue  # a word was left out at the edge
        if (left is None or right is None) and any(others[j] in keys for j in places):
            continue  # it stands elsewhere in the answer: the sentence is ordered otherwise
        if places and not any(others[j] == key for j in places):
            there = [source[j] for j in places]
            if any(_adjacent(at.get(key, []), at.get(n, [])) for n in (left, right) if n is not None):
                continue
            return [("unsupported", f"the source has '{there[0].word}' where the answer has '{said[i].word}'")]
    return []


def _adjacent(places: Sequence[int], others: Sequence[int]) -> bool:
    return any(abs(a - b) == 1 for a in places for b in others)


def _key(token: Token) -> object:
    if token.quantity:
        return token.quantity.values, token.quantity.unit, token.quantity.comparison
    return token.concept
