"""Hold the quantities of a piece against those of a statement: value, unit, comparison, medicine, population, role."""

from __future__ import annotations

from collections.abc import Sequence

from bot.answering import vocabulary as v
from bot.answering.clauses import concepts
from bot.answering.groups import Group, groups_of
from bot.answering.pieces import Piece, Problem
from bot.answering.quantities import Quantity
from bot.answering.statements import Statement

_DOSES = frozenset(["dose", "interval", "divided dose"])


def wrong_quantities(piece: Piece, statement: Statement) -> list[Problem]:
    """Return the quantities of the piece that no one group of the statement carries, and what they are bound to."""
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
        if best is None:  # the statement holds no words at all ("Or:")
            best = [_quantity_problem(quantity, ()) for quantity in group.quantities]
        problems += best
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
        alike = quantity.same_value(other) and quantity.unit == other.unit and quantity.comparison == other.comparison
        if alike and quantity.same_role(other) and _same_rate(quantity, other, beside, others):
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
