"""A piece of an answer sentence, as it is held against the statements of a source."""

from __future__ import annotations

from dataclasses import dataclass

from bot.answering.clauses import Token, concepts

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
