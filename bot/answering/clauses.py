"""Read a text as tokens that know whether they are negated and which action (start, stop …) governs them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from bot.answering import vocabulary as v
from bot.answering.quantities import Quantity, quantities_of
from bot.answering.wording import WORD, concept_of, is_medicine, parts_of, prepared


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a quantity or a mark (punctuation or a joining word) of a text.

    Attributes:
        concept: of a content word; "" for glue, quantities and marks.
        word: as written, lower case.
        quantity: the quantity, where it is one.
        negated: an odd number of negations covers it.
        action: the action word that governs it in its clause; "" for none.
        medicine, population, role: what kind of content word it is.
        vague: whether it is negated cannot be told.
    """

    concept: str
    word: str
    quantity: Quantity | None = None
    negated: bool = False
    action: str = ""
    medicine: bool = False
    population: bool = False
    role: bool = False
    vague: bool = False

    @property
    def carries(self) -> bool:
        return bool(self.concept) or self.quantity is not None


_SCAN = re.compile(rf"(?P<word>{WORD.pattern})|(?P<mark>[.,;:()\[\]|/–&+?!]|(?<=\s)-(?=\s)|<|>|≤|≥|=)")
_MARK_WORDS = v.words(
    "and or then but if unless when whenever because while whereas however until till instead once "
    "provided followed except"
)
CLAUSE_ENDS = v.words(
    ". ; : ( ) | but if unless when whenever because while whereas however until till – - then once provided ? ! except"
)
_CONDITIONAL = v.words("if unless when whenever until till once provided because while")
_SKIPPED = v.words("then also to do not never they it you he she patients patient")
_LOCAL_ENDS = v.words(", ; : . ( ) and but with – - if unless when | then until")


@lru_cache(maxsize=8192)
def tokens_of(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text in order; the text need not be normalised."""
    return _signed(_scan(prepared(text)))


@lru_cache(maxsize=65536)
def _word_token(word: str) -> Token:
    concept = concept_of(word)
    return Token(
        concept if word not in v.NEGATORS and word not in v.LOCAL_NEGATORS else "",
        word,
        medicine=bool(concept) and is_medicine(concept, word),
        population=concept in v.POPULATIONS,
        role=concept in v.ROLES,
    )


def _scan(text: str) -> list[Token]:
    quantities = quantities_of(text)
    tokens: list[Token] = []
    position = 0
    for quantity in (*quantities, None):
        end = quantity.start if quantity else len(text)
        for match in _SCAN.finditer(text, position, max(end, position)):
            if match["mark"]:
                tokens.append(Token("", match["mark"]))
                continue
            for part in parts_of(match["word"].lower()):
                tokens.append(Token("", part) if part in _MARK_WORDS else _word_token(part))
        if quantity:
            tokens.append(Token("", quantity.text.lower(), quantity))
            position = quantity.end
    return tokens


def _signed(tokens: list[Token]) -> tuple[Token, ...]:
    signed: list[Token] = []
    clause: list[Token] = []
    conditional = False
    for index, token in enumerate(tokens):
        ends = token.word in CLAUSE_ENDS and token.quantity is None
        if not ends and token.word in (",", "and", "or", "&"):
            # The comma after a condition in front ends it; so does a verb that opens the next instruction.
            ends = (conditional and token.word == ",") or opens_instruction(tokens, index + 1)
        if ends:
            signed += _signed_clause(clause)
            signed.append(token)
            clause = []
            conditional = token.word in _CONDITIONAL
        else:
            clause.append(token)
    signed += _signed_clause(clause)
    return tuple(signed)


def opens_instruction(tokens: Sequence[Token], index: int) -> bool:
    """Tell whether the words from `index` on begin a new instruction ("and stop …", ", should be …")."""
    if index < len(tokens) and tokens[index].word in v.AUXILIARIES:
        return True
    while index < len(tokens) and tokens[index].word in _SKIPPED:
        index += 1
    return index < len(tokens) and (tokens[index].word in v.VERBS or tokens[index].concept in v.ACTIONS)


def _signed_clause(clause: list[Token]) -> list[Token]:
    negators = [i for i, t in enumerate(clause) if t.word in v.NEGATORS]
    # 'Not contraindicated' and 'should not be avoided' allow; 'is not … and must not …' forbids twice.
    undone = sum(
        1 for a, b in pairwise(negators) if b - a <= 3 and clause[b].word not in ("not", "never", "nor", "neither")
    )
    negations = len(negators) - 2 * undone
    local = any(t.word in v.LOCAL_NEGATORS for t in clause)
    acts = [(i, t.concept) for i, t in enumerate(clause) if t.concept in v.ACTIONS]
    if not negators and not local and not acts:
        return clause
    base = negations > 0
    signed: list[Token] = []
    within = 0
    vague = False
    for index, token in enumerate(clause):
        if token.word in v.LOCAL_NEGATORS:
            within = 7
        elif index and clause[index - 1].word in ("non", "un"):
            within = 1
        elif token.word in _LOCAL_ENDS:
            # 'Avoidance of smoking, alcohol and exercise': how far it reaches cannot be told.
            vague = vague or (within > 0 and token.word in (",", "and"))
            within = 0
        elif index > 1 and clause[index - 2].word in ("non", "un"):
            within = 0
        if not token.carries:
            signed.append(token)
            continue
        negated = base != (within > 0)
        within = max(0, within - 1)
        action = ""
        if acts:
            action = next((a for i, a in reversed(acts) if i <= index), "" if token.quantity else acts[0][1])
        if negated or action or vague:
            token = replace(token, negated=negated, action=action, vague=vague)
        signed.append(token)
    return signed


def concepts(tokens: tuple[Token, ...]) -> frozenset[str]:
    return frozenset(t.concept for t in tokens if t.concept)


def is_negative(text: str) -> bool:
    """Tell whether a heading or lead-in forbids what stands below it ("Contraindications", "Avoid:")."""
    tokens = tokens_of(text)
    return any(t.word in v.NEGATORS for t in tokens) and sum(t.word in v.NEGATORS for t in tokens) % 2 == 1
