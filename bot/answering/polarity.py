"""Hold what a piece denies, allows and tells to do against a statement: not, avoid, stop, start."""

from __future__ import annotations

from bot.answering import vocabulary as v
from bot.answering.clauses import CLAUSE_ENDS, Token, concepts
from bot.answering.pieces import Piece, Problem
from bot.answering.statements import Statement

_DENYING = v.NEGATORS | v.LOCAL_NEGATORS
_COUNTED = _DENYING - {"non", "un", "avoidance"}


def wrong_signs(piece: Piece, statement: Statement) -> list[Problem]:
    """Return what is denied, or told to do, in one of the two only."""
    actions: dict[str, set[str]] = {}
    for token in statement.tokens:
        if token.concept and token.action:
            actions.setdefault(token.concept, set()).add(token.action)
    said = piece.concepts
    for token in piece.tokens:
        if token.concept:
            signs = statement.signs.get(token.concept)
            if signs and token.negated not in signs and not token.vague:
                how = "negated" if token.negated else "not negated"
                return [("negation", f"'{token.word}' is {how} in the answer, otherwise in the source")]
            governing = actions.get(token.concept)
            acted = token.action in said and token.concept != token.action
            if governing and acted and token.action not in governing:
                return [
                    ("negation", f"the source says {'/'.join(sorted(governing))} of '{token.word}', not {token.action}")
                ]
        elif token.quantity:
            alike = [t for t in statement.tokens if t.quantity and t.quantity.same_value(token.quantity)]
            if alike and all(t.negated != token.negated for t in alike):
                return [("negation", f"'{token.word}' is negated in one text only")]
    denies = _DENYING & {t.word for t in piece.tokens}
    if denies and not statement.forbids and not statement.denies:
        return [("negation", f"'{min(denies)}' is in the answer only")]
    if _denies_otherwise(piece, statement):
        return [("negation", "one text denies where the other does not")]
    close = len(piece.concepts & statement.own) >= 0.85 * max(len(piece.concepts), len(statement.own))
    if close and not statement.forbids:
        counted = [sum(t.word in _COUNTED for t in tokens) for tokens in (piece.tokens, statement.tokens)]
        if counted[0] != counted[1]:
            return [("negation", "one text denies where the other does not")]
    named = concepts(statement.tokens)
    if statement.denies_bare and not denies and len(piece.concepts & named) * 2 > len(named):
        return [("negation", "the source says this is not so")]
    if not denies and not statement.forbids and (lost := _affirms_the_denied(piece, named - statement.affirmed)):
        return [("negation", f"the source only denies this of '{lost}'")]
    if seldom := _seldom(piece, statement):
        return [("negation", f"the source says '{seldom}'")]
    return []


def _affirms_the_denied(piece: Piece, denied: frozenset[str]) -> str:
    """Return what of the piece stands only in denials of the statement; "" where the piece denies or warns too."""
    words = {t.word for t in piece.tokens}
    if words & (v.ONLY | v.EXCEPTIONS) or (piece.concepts & v.HARMS and not words & v.USES):
        return ""
    return min(piece.concepts & denied, default="")


def _seldom(piece: Piece, statement: Statement) -> str:
    """Return the word that makes what the piece says the exception in the source, and is dropped."""
    said = {t.word for t in piece.sentence}
    clause: list[Token] = []
    for token in (*statement.tokens, Token("", ".")):
        if token.word not in CLAUSE_ENDS or token.quantity is not None:
            clause.append(token)
            continue
        dropped = [t.word for t in clause if t.word in v.SELDOM]
        if dropped and not said & v.SELDOM and piece.concepts & {t.concept for t in clause if t.concept}:
            return dropped[0]
        clause = []
    return ""


def _denies_otherwise(piece: Piece, statement: Statement) -> bool:
    """Tell whether a near word-for-word rendering has one denying word more or less than the source's words."""
    said = piece.concepts
    if len(said) < 3 or statement.forbids or not said <= statement.own:
        return False
    places = [i for i, t in enumerate(statement.tokens) if t.concept in said]
    first, last = places[0], places[-1]
    tokens = statement.tokens
    while first > 0 and tokens[first - 1].word not in _STOPS:
        first -= 1
    while last + 1 < len(tokens) and tokens[last + 1].word not in _STOPS:
        last += 1
    region = tokens[first : last + 1]
    if len(said) < 0.75 * len({t.concept for t in region if t.concept}):
        return False
    there = sum(t.word in _COUNTED for t in region)
    here = sum(t.word in _COUNTED for t in piece.tokens)
    return there % 2 != here % 2


_STOPS = v.words(". ; : ( ) |")
