"""Find the conditions of an instruction: if, unless, only, until, in patients with … and what they are tied to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.answering import vocabulary as v
from bot.answering.clauses import Token
from bot.answering.quantities import Quantity

Kind = Literal["if", "exception", "only", "until", "for"]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in a statement.

    Attributes:
        start, end: span of its tokens, the marker included.
        tied: (first, last) token span of what it limits; end exclusive.
    """

    kind: Kind
    start: int
    end: int
    concepts: frozenset[str]
    quantities: tuple[Quantity, ...]
    tied: tuple[int, int]


_IF = v.words("if when whenever provided once where")
_EXCEPTION = v.words("unless except excepting save")
_ONLY = frozenset(["only"])
_UNTIL = frozenset(["until", "till"])
_FOR = v.words("in for with")
_GROUPS = v.words(
    "patient patients those persons person people individuals women men children adults infants neonates pregnancy "
    "pregnant severe mild moderate acute chronic recurrent suspected "
    "renal hepatic case cases anyone someone whom who allergic allergy resistant"
)
_ENDS = v.words(". ; : ( ) | – - ? !")


def conditions_of(tokens: Sequence[Token]) -> tuple[Condition, ...]:
    """Return the conditions of a statement's tokens in order."""
    found: list[Condition] = []
    index = 0
    while index < len(tokens):
        kind = _kind(tokens, index)
        if kind is None:
            index += 1
            continue
        end = _end(tokens, index)
        span = tokens[index:end]
        concepts = frozenset(t.concept for t in span if t.concept)
        quantities = tuple(t.quantity for t in span if t.quantity)
        if concepts or quantities or (kind in ("if", "exception") and end > index + 1):
            after = found[-1].end if found else 0
            found.append(Condition(kind, index, end, concepts, quantities, _tied(tokens, index, end, after)))
        index = max(end, index + 1)
    return tuple(found)


def _kind(tokens: Sequence[Token], index: int) -> Kind | None:
    word = tokens[index].word
    if tokens[index].quantity:
        return None
    if tokens[index].concept == "asneeded":
        return "if"
    if word in _IF:
        if word == "once" and not (index + 1 < len(tokens) and not tokens[index + 1].quantity):
            return None
        return "if"
    if word in _EXCEPTION:
        return "exception"
    if word in _ONLY:
        return "only"
    if word in _UNTIL:
        return "until"
    if word in _FOR:
        following = [t.word for t in tokens[index + 1 : index + 4]]
        if following and any(w in _GROUPS for w in following):
            return "for"
    return None


def _end(tokens: Sequence[Token], start: int) -> int:
    position = start + 1
    while position < len(tokens) and tokens[start].concept != "asneeded":
        token = tokens[position]
        if token.word in _ENDS:
            break
        if token.word in (",", "then") and start_of_sentence(tokens, start):
            break
        if token.word == "," and position > start + 1:
            break
        if token.word in _IF | _EXCEPTION | _UNTIL and position > start + 1:
            break
        joins = tokens[start].word in _FOR and token.word in ("and", "or")
        if joins and any(t.quantity for t in tokens[position + 1 : position + 4]):
            break
        position += 1
    return position


def start_of_sentence(tokens: Sequence[Token], index: int) -> bool:
    return not any(t.carries for t in tokens[:index]) or tokens[index - 1].word in (".", ";", ":", "–", "-")


def _tied(tokens: Sequence[Token], start: int, end: int, after: int) -> tuple[int, int]:
    """A condition in front limits what follows; one behind limits what stands before it.

    Back to the last stop, the bracket it stands in, or the end of the condition before it (`after`).
    """
    previous = tokens[start - 1].word if start else ""
    if start_of_sentence(tokens, start) or previous in ("and", "or", "then", "but", ","):
        last = end
        while last < len(tokens) and tokens[last].word not in (".", ";", "|"):
            last += 1
        if last > end + 1 or previous not in (",",):
            return end, last
    first = start - 1 if previous == "(" else start
    while first > after and tokens[first - 1].word not in (".", ";", "|", "(", "–", "-"):
        first -= 1
    if not any(t.carries for t in tokens[first:start]) and not (first and tokens[first - 1].word in ("(", "–", "-")):
        first = after
    return _nearest_part(tokens, first, start), start


def _nearest_part(tokens: Sequence[Token], first: int, start: int) -> int:
    """Return where the last comma-separated part before `start` begins, if that part is an instruction of its own."""
    comma = next((i for i in range(start - 1, first, -1) if tokens[i].word == ","), first)
    action = next((i for i in range(start - 1, comma, -1) if tokens[i].concept in v.ACTIONS), None)
    if action is not None:
        return action  # '125 mg, increased in severe infection': only the increase depends on it
    part = tokens[comma:start]
    own = any(t.carries for t in part)
    if own and tokens[start].word in _FOR:
        return comma
    if own and any(t.quantity or t.action or t.word in v.VERBS for t in part):
        return comma
    return first
