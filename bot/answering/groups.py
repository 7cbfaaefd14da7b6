"""Group the quantities of a statement by what they belong to: one medicine, one population, one kind of dose.

'Adults 500 mg every 8 hours, children 250 mg every 12 hours' holds two groups. A dose that the answer gives must
come from one group; what a group does not say (the medicine, how often) it takes from the group beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.answering import vocabulary as v
from bot.answering.clauses import Token
from bot.answering.quantities import Quantity

_SEPARATORS = v.words(", ; . and or then but ( ) & + – - | followed while whereas /")
_STRONG = v.words("; . | while whereas")


@dataclass(frozen=True, slots=True)
class Group:
    """Quantities that belong together.

    Attributes:
        medicines, populations: of the group, or taken over from the groups beside it.
        own_populations: said in the group itself.
        routes: said in the group; never taken over.
        subject: the content words in front of its first quantity.
        words: all its content words.
        roles: loading, maintenance, initial, starting; never taken over.
        span: first and last token that belong to it by what they are (a quantity, medicine, population), end exclusive.
    """

    quantities: tuple[Quantity, ...]
    medicines: frozenset[str]
    populations: frozenset[str]
    roles: frozenset[str]
    routes: frozenset[str]
    subject: frozenset[str]
    words: frozenset[str]
    span: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class _Draft:
    quantities: list[Quantity]
    medicines: set[str]
    populations: set[str]
    roles: set[str]
    routes: set[str]
    subject: set[str]
    words: set[str]
    span: tuple[int, int]

    def dimensions(self) -> set[str]:
        return {q.dimension for q in self.quantities}


_BOUND = frozenset(["dose", "interval", "age", "time", "divided dose"])


def _binds(token: Token) -> bool:
    if token.quantity:
        return token.quantity.dimension in _BOUND or bool(token.quantity.comparison)
    return token.medicine or token.population or token.role


def _subject(tokens: Sequence[Token]) -> set[str]:
    """What the group is about: the content words in front of its first quantity, classes left out."""
    subject: set[str] = set()
    for token in tokens:
        if token.quantity and token.quantity.dimension != "age":
            break
        if token.concept and not token.population and not token.role and token.concept not in _NO_SUBJECT:
            subject.add(token.concept)
    return subject


_NO_SUBJECT = v.ROUTES | v.FORMS | v.ACTIONS | v.LIMITERS


def _draft(tokens: Sequence[Token], start: int) -> _Draft:
    marked = [start + i for i, t in enumerate(tokens) if _binds(t)]
    return _Draft(
        [t.quantity for t in tokens if t.quantity],
        {t.concept for t in tokens if t.medicine},
        {t.concept for t in tokens if t.population},
        {t.concept for t in tokens if t.role},
        {t.concept for t in tokens if t.concept in v.ROUTES},
        _subject(tokens),
        {t.concept for t in tokens if t.concept},
        (marked[0], marked[-1] + 1) if marked else (0, 0),
    )


def groups_of(tokens: Sequence[Token]) -> tuple[Group, ...]:
    """Return the groups of quantities in order; one group without quantities where there are none."""
    drafts: list[_Draft] = []
    for strong, start, chunk in _chunks(tokens):
        new = _draft(chunk, start)
        opens = chunk[0].word in v.AUXILIARIES or chunk[0].word in v.VERBS
        if drafts and strong and not drafts[-1].quantities and new.populations and drafts[-1].populations:
            drafts[-1].populations = set()  # 'not recommended in pregnancy – Child: …' begins anew
        if not drafts or ((strong or opens) and drafts[-1].quantities and new.quantities) or _conflict(drafts, new):
            drafts.append(new)
            continue
        last = drafts[-1]
        last.quantities += new.quantities
        last.medicines |= new.medicines
        last.populations |= new.populations
        last.roles |= new.roles
        last.routes |= new.routes
        last.subject |= new.subject if not last.quantities[: -len(new.quantities) or None] else set()
        last.words |= new.words
        if new.span[1]:
            last.span = (last.span[0] if last.span[1] else new.span[0], new.span[1])
    return _inherited(drafts)


def _conflict(drafts: Sequence[_Draft], new: _Draft) -> bool:
    last = drafts[-1]
    known = next((d.populations for d in reversed(drafts) if d.populations), set())
    if not last.quantities:
        return False
    if last.dimensions() & new.dimensions():
        return True
    if last.dimensions() <= {"age"}:
        return False
    return bool(
        (new.populations - last.populations and (known or new.quantities))
        or (new.medicines - last.medicines and last.medicines and new.quantities)
        or (new.roles - last.roles)
    )


def _chunks(tokens: Sequence[Token]) -> list[tuple[bool, int, list[Token]]]:
    """Cut at separators, and before a quantity whose kind the chunk already holds."""
    chunks: list[tuple[bool, int, list[Token]]] = []
    current: list[Token] = []
    strong, start = False, 0
    for index, token in enumerate(tokens):
        if token.word in _SEPARATORS and token.quantity is None:
            if current:
                chunks.append((strong, start, current))
                current, strong = [], False
            strong = strong or token.word in _STRONG or token.word in ("-", "–")
            continue
        if token.quantity and any(t.quantity and t.quantity.dimension == token.quantity.dimension for t in current):
            chunks.append((strong, start, current))
            current, strong = [], False
        if not current:
            start = index
        current.append(token)
    if current:
        chunks.append((strong, start, current))
    return chunks


def _inherited(drafts: list[_Draft]) -> tuple[Group, ...]:
    groups: list[Group] = []
    for index, draft in enumerate(drafts):
        medicines = draft.medicines or next((d.medicines for d in reversed(drafts[:index]) if d.medicines), set())
        medicines = medicines or next((d.medicines for d in drafts[index + 1 :] if d.medicines), set())
        populations = draft.populations or next(
            (d.populations for d in reversed(drafts[:index]) if d.populations), set()
        )
        groups.append(
            Group(
                tuple(draft.quantities),
                frozenset(medicines),
                frozenset(populations),
                frozenset(draft.roles),
                frozenset(draft.routes),
                frozenset(draft.subject),
                frozenset(draft.words),
                draft.span,
            )
        )
    return tuple(groups)
