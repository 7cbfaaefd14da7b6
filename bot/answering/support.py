"""Compare a piece of an answer with one statement of a source, slot by slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.answering import vocabulary as v
from bot.answering.clauses import Token, concepts
from bot.answering.conditions import Condition, conditions_of
from bot.answering.groups import Group, groups_of
from bot.answering.quantities import Quantity
from bot.answering.statements import Statement

Problem = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of an answer sentence's tokens, and what it takes over from the words around it.

    Attributes:
        sentence: all tokens of the sentence.
        medicines, populations: said before it in the answer, or in the question; used where it names none.
        heads: content words before it that a piece of bare quantities must still belong to.
        conditional: a condition behind it was put in front of it.
    """

    tokens: tuple[Token, ...]
    sentence: tuple[Token, ...]
    medicines: frozenset[str] = frozenset()
    populations: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    conditional: bool = False

    @property
    def concepts(self) -> frozenset[str]:
        return concepts(self.tokens)


_DOSES = frozenset(["dose", "interval", "divided dose"])
_TRIVIAL = frozenset(["avail", "feasibl"])


def problems_with(piece: Piece, statement: Statement, also: frozenset[str] = frozenset()) -> list[Problem]:
    """Return what of the piece the statement does not carry; empty when it carries all.

    Args:
        also: concepts that count as said (long and short forms of what the statement says).
    """
    problems = _missing_terms(piece, statement, also)
    problems += _wrong_quantities(piece, statement)
    problems += _wrong_signs(piece, statement)
    problems += _lost_conditions(piece, statement)
    problems += _swapped_conditions(piece, statement)
    problems += _wrong_joining(piece, statement)
    problems += _wrong_strength(piece, statement)
    problems += _substituted(piece, statement)
    problems += _lost_purpose(piece, statement)
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


# Quantities


def _wrong_quantities(piece: Piece, statement: Statement) -> list[Problem]:
    problems: list[Problem] = []
    for group in groups_of(piece.tokens):
        if not group.quantities:
            problems += _wrong_classes(piece, group, None, statement) if group.medicines else []
            own = statement.own & v.POPULATIONS
            if any(_excludes(p, own) for p in group.populations if p not in own):
                problems.append(("unsupported", f"the source says this of {', '.join(sorted(own))}"))
            continue
        best: list[Problem] | None = None
        for source in statement.groups:
            found = _against_group(piece, group, source, statement)
            if best is None or len(found) < len(best):
                best = found
            if not best:
                break
        problems += best or []
    return problems


def _against_group(piece: Piece, group: Group, source: Group, statement: Statement) -> list[Problem]:
    problems: list[Problem] = []
    dimensions = {q.dimension for q in source.quantities}
    others = tuple(q for q in (*statement.quantities, *statement.led_quantities) if q.dimension not in dimensions)
    for quantity in group.quantities:
        if _matches(quantity, group.quantities, source.quantities) or _matches(quantity, group.quantities, others):
            continue
        problems.append(_quantity_problem(quantity, statement.quantities))
    problems += _wrong_classes(piece, group, source, statement)
    if not problems:
        problems += _changed_to(piece, group, statement)
    if not problems and any(q.dimension in _DOSES for q in group.quantities):
        problems += _dropped_limits(piece, source, statement)
    return problems


def _matches(quantity: Quantity, beside: Sequence[Quantity], others: Sequence[Quantity]) -> bool:
    for other in others:
        if quantity.same_value(other) and quantity.unit == other.unit and quantity.comparison == other.comparison:
            if quantity.same_role(other) and _same_rate(quantity, other, beside, others):
                return True
    if quantity.unit == "interval" and len(quantity.values) == 1:
        return any(o.per_h == quantity.values[0] for o in others)
    return False


def _same_rate(a: Quantity, b: Quantity, beside_a: Sequence[Quantity], beside_b: Sequence[Quantity]) -> bool:
    if a.per_h == b.per_h:
        return True
    if a.per_h and not b.per_h:
        return any(q.unit == "interval" and q.values == (a.per_h,) for q in beside_b)
    if b.per_h and not a.per_h:
        return any(q.unit == "interval" and q.values == (b.per_h,) for q in beside_a)
    return False


def _quantity_problem(quantity: Quantity, others: Sequence[Quantity]) -> Problem:
    for other in others:
        if quantity.same_value(other) and quantity.unit == other.unit and quantity.per_h == other.per_h:
            if quantity.comparison != other.comparison:
                return "number", f"'{quantity.text}' compares otherwise than the source ('{other.text}')"
            if not quantity.same_role(other):
                return "number", f"'{quantity.text}' is another kind of time in the source"
            return "unsupported", f"the source gives '{quantity.text}' for something else"
    for other in others:
        if quantity.same_value(other):
            return "unit", f"'{quantity.text}' has another unit in the source ('{other.text}')"
    return "number", f"'{quantity.text}' is not in the source's statement"


def _wrong_classes(piece: Piece, group: Group, source: Group | None, statement: Statement) -> list[Problem]:
    problems: list[Problem] = []
    has_dose = any(q.dimension in _DOSES for q in group.quantities)
    medicines = group.medicines or (piece.medicines if has_dose else frozenset())
    allowed = (source.medicines if source else frozenset()) or statement.medicines
    if medicines and allowed and not medicines & allowed and (has_dose or group.medicines):
        problems.append(("unsupported", f"the source says this of {', '.join(sorted(allowed))}"))
    elif group.medicines - allowed and has_dose and allowed:
        problems.append(
            ("unsupported", f"the source does not say this of {', '.join(sorted(group.medicines - allowed))}")
        )
    if source is None:
        return problems
    if group.routes and source.routes and not group.routes & source.routes:
        problems.append(("unsupported", f"the source gives this {', '.join(sorted(source.routes))}"))
    if source.subject:
        for word in group.subject - source.words:
            if any(word in other.subject for other in statement.groups if other is not source and other.quantities):
                problems.append(("unsupported", f"the source does not give this of '{word}'"))
                break
    populations = group.populations or piece.populations
    wider = statement.populations
    if source.populations:
        clash = {p for p in populations - source.populations if _excludes(p, source.populations)}
        if populations and not populations & source.populations and not populations & wider:
            clash |= populations - source.populations
        if clash:
            problems.append(("unsupported", f"the source says this of {', '.join(sorted(source.populations))}"))
        elif not populations and any(q.dimension == "dose" for q in group.quantities) and not wider:
            problems.append(("unsupported", f"the source limits this to {', '.join(sorted(source.populations))}"))
    if has_dose and group.roles != source.roles:
        lost = source.roles - group.roles
        said = frozenset(t.concept for t in piece.sentence if t.role)
        if lost - said or group.roles - source.roles:
            named = ", ".join(sorted(group.roles ^ source.roles))
            problems.append(("unsupported", f"'{named}' is not said of this dose alike in both"))
    return problems


def _changed_to(piece: Piece, group: Group, statement: Statement) -> list[Problem]:
    """'Increased to 5 mg' does not make 5 mg the dose."""
    said = concepts(piece.sentence)
    for quantity in group.quantities:
        actions = [t.action for t in statement.tokens if t.quantity and t.quantity.same_value(quantity)]
        if quantity.dimension == "dose" and actions and all(a in _CHANGES for a in actions) and actions[0] not in said:
            return [("unsupported", f"the source says '{actions[0]}' of '{quantity.text}'")]
    return []


_CHANGES = frozenset(["increase", "decrease"])


def _excludes(population: str, others: frozenset[str]) -> bool:
    if population == "adult":
        return bool(others & v.YOUNG) and "adult" not in others
    if population in v.YOUNG or population == "adolescent":
        return "adult" in others and not others & v.YOUNG
    return False


def _dropped_limits(piece: Piece, source: Group, statement: Statement) -> list[Problem]:
    """An age band or a threshold in front of a dose limits it; a dose without it says more than the source."""
    said = [t.quantity for t in piece.sentence if t.quantity]
    if lost := statement.label & v.LIMITERS - concepts(piece.sentence) - statement.led:
        return [("unsupported", f"the source limits this to '{min(lost)}'")]
    for quantity in source.quantities:
        limits = quantity.dimension == "age" or (
            quantity.comparison in ("<", ">", ">=") and quantity.dimension != "interval"
        )
        if limits and not any(quantity.same_value(q) for q in said):
            return [("unsupported", f"the source limits this to '{quantity.text}'")]
    return []


# Negation and action

_DENYING = v.NEGATORS | v.LOCAL_NEGATORS
_COUNTED = _DENYING - {"non", "un", "avoidance"}

def _wrong_signs(piece: Piece, statement: Statement) -> list[Problem]:
    actions: dict[str, set[str]] = {}
    for token in statement.tokens:
        if token.concept and token.action:
            actions.setdefault(token.concept, set()).add(token.action)
    said = piece.concepts
    for token in piece.tokens:
        if token.concept:
            signs = statement.signs.get(token.concept)
            if signs and token.negated not in signs and not token.vague:
                said = "negated" if token.negated else "not negated"
                return [("negation", f"'{token.word}' is {said} in the answer, otherwise in the source")]
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
    if statement.denies_bare and not denies and len(piece.concepts & statement.own) * 2 > len(statement.own):
        return [("negation", "the source says this is not so")]
    return []


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


_STOPS = frozenset(". ; : ( ) |".split())  # noqa: SIM905


# Conditions


def _touches(piece: Piece, statement: Statement, condition: Condition) -> bool:
    first, last = condition.tied
    said = piece.concepts
    values = [t.quantity for t in piece.tokens if t.quantity]
    tied = statement.tokens[first:last]
    if any(t.concept in said for t in tied if t.concept):
        return True
    if any(t.concept for t in tied):
        return False
    for token in tied:
        if token.quantity and any(token.quantity.same_value(q) for q in values):
            return True
    return False


def _lost_conditions(piece: Piece, statement: Statement) -> list[Problem]:
    if not statement.conditions:
        return []
    said = concepts(piece.sentence)
    values = [t.quantity for t in piece.sentence if t.quantity]
    words = {t.word for t in piece.sentence}
    problems: list[Problem] = []
    for condition in statement.conditions:
        if condition.concepts and condition.concepts <= _TRIVIAL and not condition.quantities:
            continue
        if not _touches(piece, statement, condition):
            continue
        share = len(condition.concepts & said) / len(condition.concepts) if condition.concepts else 1.0
        kept = all(any(q.same_value(o) for o in values) for q in condition.quantities)
        kept = kept and share >= (0.3 if condition.quantities else 0.6)
        if not condition.concepts and not condition.quantities:
            kept = bool(words & {"if", "when", "whenever", "where", "unless", "until"})
        kind = "negation" if condition.kind in ("exception", "only") else "unsupported"
        if condition.kind == "exception":
            kept = kept and (bool(words & v.EXCEPTIONS) or ("if" in words and bool(words & {"not", "no", "without"})))
        elif condition.kind == "only":
            kept = share >= 0.6 and (bool(words & v.ONLY) or bool(words & v.EXCEPTIONS))
        if not kept:
            text = " ".join(t.word for t in statement.tokens[condition.start : condition.end])
            problems.append((kind, f"the source's condition is dropped: '{text}'"))
    return problems


def _swapped_conditions(piece: Piece, statement: Statement) -> list[Problem]:
    """A condition of the answer must be tied to what the source ties it to, and be there at all."""
    words = {t.word for t in statement.tokens} | {w for lead in statement.leads for w in lead.lower().split()}
    for mark in ("unless", "except", "only"):
        if any(t.word == mark for t in piece.tokens) and mark not in words:
            if not words & (v.EXCEPTIONS | v.ONLY):
                return [("negation", f"'{mark}' is not in the source")]
    if not statement.conditions:
        return []
    for condition in conditions_of(piece.tokens):
        best = max(statement.conditions, key=lambda c: len(c.concepts & condition.concepts))
        if not best.concepts & condition.concepts or len(statement.conditions) < 2:
            continue
        tied = {
            t.concept for t in piece.tokens[slice(*condition.tied)] if t.concept
        } & statement.own - condition.concepts
        there = {t.concept for t in statement.tokens[slice(*best.tied)] if t.concept}
        if tied and there and not tied & there:
            return [("unsupported", "the source ties this condition to something else")]
    return []


# Joining words, order and strength


def _neighbours(tokens: Sequence[Token], index: int) -> tuple[Token | None, Token | None]:
    left = next((t for t in reversed(tokens[:index]) if t.carries), None)
    right = next((t for t in tokens[index + 1 :] if t.carries), None)
    return left, right


def wrong_sequence(left: Piece, right: Piece, whole: Piece, statement: Statement) -> list[Problem]:
    """Return what is wrong with how two pieces that one statement carries are joined."""
    if found := _wrong_joining(whole, statement):
        return found
    if any(t.word in ("then", "followed") for t in right.tokens[:3]):
        places = [
            next((i for i, t in enumerate(statement.tokens) if t.quantity and any(t.quantity.same_value(q) for q in said)), -1)
            for said in ([t.quantity for t in p.tokens if t.quantity] for p in (left, right))
        ]
        if places[0] > places[1] >= 0:
            return [("unsupported", "the steps stand in the other order in the source")]
    return []


_ORDER = {"then": False, "before": False, "after": True, "until": False}


def _wrong_joining(piece: Piece, statement: Statement) -> list[Problem]:
    positions: dict[str, list[int]] = {}
    for index, token in enumerate(statement.tokens):
        if token.concept:
            positions.setdefault(token.concept, []).append(index)
    for index, token in enumerate(piece.tokens):
        joins = token.word in ("and", "or")
        orders = token.word in _ORDER
        if not joins and not orders:
            continue
        left, right = _neighbours(piece.tokens, index)
        if not left or not right or left.concept not in positions or right.concept not in positions:
            continue
        if left.concept == right.concept or left.negated:
            continue
        a, b = min(
            ((i, j) for i in positions[left.concept] for j in positions[right.concept]),
            key=lambda p: (abs(p[0] - p[1]), p[0] > p[1]),
        )
        between = [t.word for t in statement.tokens[min(a, b) + 1 : max(a, b)]]
        if joins:
            other = "or" if token.word == "and" else "and"
            if other in between and token.word not in between and not (other == "and" and "," in between):
                return [("unsupported", f"the source joins '{left.word}' and '{right.word}' with '{other}'")]
        else:
            source_orders = [w for w in between if w in _ORDER]
            if source_orders:
                source_first = (a < b) != _ORDER[source_orders[0]]
                answer_first = not _ORDER[token.word]
                if source_first != answer_first:
                    return [("unsupported", f"the order of '{left.word}' and '{right.word}' is the other way round")]
    return []


def _wrong_strength(piece: Piece, statement: Statement) -> list[Problem]:
    said = {t.word for t in piece.tokens}
    words = {t.word for t in statement.tokens}
    if said & v.STRONG and not said & v.WEAK and words & v.WEAK and not words & v.STRONG:
        return [("unsupported", "the source only says that it may be")]
    if said & {"may", "might", "optional", "optionally"} and not words & v.WEAK and words & v.STRONGEST:
        return [("unsupported", "the source says that it must be")]
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
            places = [j - 1 for j in at.get(right, []) if j == 1 and right2 is not None and others[j + 1 : j + 2] == [right2]]
        elif right is None:
            left2 = keys[i - 2] if i >= 2 else None
            places = [j + 1 for j in at.get(left, []) if j + 2 == len(others) and j >= 1 and others[j - 1] == left2]
        else:
            places = [j + 1 for j in at.get(left, []) if j + 2 < len(others) and others[j + 2] == right]
        if (left is None or right is None) and any(0 < abs(p - j) <= 2 for p in at.get(key, []) for j in places):
            continue  # a word was left out at the edge
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


def _lost_purpose(piece: Piece, statement: Statement) -> list[Problem]:
    """'To prevent complications' is not 'for complications' and not 'to treat complications'."""
    if "prevent" not in statement.own or "prevent" in concepts(piece.sentence) | statement.led:
        return []
    carried = [t.concept for t in statement.tokens if t.concept]
    place = carried.index("prevent") if "prevent" in carried else len(carried)
    if carried[place + 1 : place + 2] and carried[place + 1] in piece.concepts:
        return [("unsupported", "the source says 'prevent'")]
    return []
