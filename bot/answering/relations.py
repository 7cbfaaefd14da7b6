"""Hold the conditions, the order and the joining of a piece against a statement: if, unless, before, or, must."""

from __future__ import annotations

from collections.abc import Sequence

from bot.answering import vocabulary as v
from bot.answering.clauses import Token, concepts, opens_instruction
from bot.answering.conditions import Condition, conditions_of
from bot.answering.pieces import Piece, Problem
from bot.answering.statements import Statement
from bot.answering.wording import concepts_of

_TRIVIAL = frozenset(["avail", "feasibl"])


def _touches(piece: Piece, statement: Statement, condition: Condition) -> bool:
    first, last = condition.tied
    said = piece.concepts
    values = [t.quantity for t in piece.tokens if t.quantity]
    tied = statement.tokens[first:last]
    if any(t.concept in said for t in tied if t.concept):
        return True
    if any(t.concept for t in tied) and said & statement.own:
        return False
    if not any(t.carries for t in tied):
        # 'If all is well induce at 38 weeks': where the condition ends cannot be told.
        return any(q.same_value(o) for q in condition.quantities for o in values)
    return any(t.quantity is not None and any(t.quantity.same_value(q) for q in values) for t in tied)


def lost_conditions(piece: Piece, statement: Statement) -> list[Problem]:
    """Return the conditions that the statement ties to what the piece says and the answer drops."""
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
            kept = kept and (bool(words & v.EXCEPTIONS) or _denied_if(piece))
        elif condition.kind == "only":
            kept = share >= 0.6 and (bool(words & v.ONLY) or bool(words & v.EXCEPTIONS))
        if not kept:
            text = " ".join(t.word for t in statement.tokens[condition.start : condition.end])
            problems.append((kind, f"the source's condition is dropped: '{text}'"))
    return problems


def _denied_if(piece: Piece) -> bool:
    """Tell whether the answer has 'if … not …', which may stand for 'unless'."""
    return any(
        c.kind == "if" and any(t.word in ("not", "no", "never", "without") for t in piece.sentence[c.start : c.end])
        for c in conditions_of(piece.sentence)
    )


def swapped_conditions(piece: Piece, statement: Statement) -> list[Problem]:
    """A condition of the answer must be tied to what the source ties it to, and be there at all."""
    words = {t.word for t in statement.tokens} | {w for lead in statement.leads for w in lead.lower().split()}
    for mark in ("unless", "except", "only"):
        marked = any(t.word == mark for t in piece.tokens)
        if marked and mark not in words and not words & (v.EXCEPTIONS | v.ONLY):
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


def _neighbours(tokens: Sequence[Token], index: int) -> tuple[Token | None, Token | None]:
    left = next((t for t in reversed(tokens[:index]) if t.carries), None)
    right = next((t for t in tokens[index + 1 :] if t.carries), None)
    return left, right


def wrong_sequence(left: Piece, right: Piece, whole: Piece, statement: Statement) -> list[Problem]:
    """Return what is wrong with how two pieces that one statement carries are joined."""
    if found := wrong_joining(whole, statement):
        return found
    if any(t.word in ("then", "followed") for t in right.tokens[:3]):
        places = [
            next(
                (
                    i
                    for i, t in enumerate(statement.tokens)
                    if t.quantity and any(t.quantity.same_value(q) for q in said)
                ),
                -1,
            )
            for said in ([t.quantity for t in p.tokens if t.quantity] for p in (left, right))
        ]
        if places[0] > places[1] >= 0:
            return [("unsupported", "the steps stand in the other order in the source")]
    return []


_ORDER = {"then": False, "before": False, "after": True, "until": False}


def wrong_joining(piece: Piece, statement: Statement) -> list[Problem]:
    """Return where the answer has 'and' for 'or', or an order that is not the statement's."""
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


def wrong_strength(piece: Piece, statement: Statement) -> list[Problem]:
    """Return where the answer says must for may, or may for must."""
    said = {t.word for t in piece.tokens}
    words = {t.word for t in statement.tokens}
    if said & v.STRONG and not said & v.WEAK and words & v.WEAK and not words & v.STRONG:
        return [("unsupported", "the source only says that it may be")]
    if said & {"may", "might", "optional", "optionally"} and not words & v.WEAK and words & v.STRONGEST:
        return [("unsupported", "the source says that it must be")]
    return []


def lost_purpose(piece: Piece, statement: Statement) -> list[Problem]:
    """'To prevent complications' is not 'for complications' and not 'to treat complications'."""
    if "prevent" not in statement.own or "prevent" in concepts(piece.sentence) | statement.led:
        return []
    carried = [t.concept for t in statement.tokens if t.concept]
    place = carried.index("prevent") if "prevent" in carried else len(carried)
    if carried[place + 1 : place + 2] and carried[place + 1] in piece.concepts:
        return [("unsupported", "the source says 'prevent'")]
    return []


def turned_to_use(piece: Piece, statement: Statement) -> list[Problem]:
    """'Ceftriaxone may cause diarrhoea' does not make ceftriaxone a medicine for diarrhoea."""
    said = {t.word for t in piece.tokens}
    if not said & v.USES or piece.concepts & v.HARMS or said & (v.NEGATORS | v.LOCAL_NEGATORS):
        return []
    harmed: set[str] = set()
    harms = False
    for index, token in enumerate(statement.tokens):
        opens = token.word in (",", "and") and opens_instruction(statement.tokens, index + 1)
        if opens or token.word in (".", ";", "|"):
            harms = False
        elif token.concept in v.HARMS:
            harms = True
        elif harms and token.concept:
            harmed.add(token.concept)
    if wrong := piece.concepts & harmed:
        return [("unsupported", f"the source names '{min(wrong)}' as a harm or a risk")]
    heading = concepts_of(statement.path[0]) if statement.path else frozenset()
    subjects = statement.label | statement.medicines
    if heading & v.HARMFUL_HEADINGS - piece.concepts and not {t.word for t in statement.tokens} & v.USES:
        wrong = piece.concepts & statement.own - subjects - v.POPULATIONS - v.ACTIONS
        if wrong and piece.concepts & subjects:
            return [("unsupported", f"the source lists '{min(wrong)}' under '{statement.path[0]}'")]
    return []
