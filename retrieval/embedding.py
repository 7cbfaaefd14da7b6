"""Turning text into unit vectors: the interface, and the embedder that needs no model.

An embedder's `identity` names what decides its vectors (weights, pooling, prefixes, length) and not the
backend that runs it: an index made under one identity is refused under another.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.gate import HASH_MIN_SCORE, MINILM_MIN_SCORE
from retrieval.terms import is_content, stem, words

Vector: TypeAlias = NDArray[np.float32]
"""Shape [dimension], length 1."""
Matrix: TypeAlias = NDArray[np.float32]
"""Shape [n, dimension], each row of length 1."""
Progress: TypeAlias = Callable[[int], None]
"""Is told how many more texts are done."""

MIN_SCORES: dict[str, float] = {
    "sentence-transformers": MINILM_MIN_SCORE,
    "ollama": 0.5,
    "hash": HASH_MIN_SCORE,
}
"""What the gate needs by default with each kind of embedder; a site measures its own."""


class Embedder(Protocol):
    """Turns questions and passages into unit vectors; safe to use from several threads.

    Attributes:
        identity: names the weights, pooling, prefixes and length.
        dimension: length of a vector.
        max_tokens: the most tokens a text may have, special tokens and prefix included.
        min_score: what the gate needs with these vectors where the site has not set its own.
    """

    @property
    def identity(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def min_score(self) -> float: ...

    def encode_question(self, text: str) -> Vector:
        """Embed a question. One that is too long is cut at `max_tokens`."""
        ...

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        """Embed texts of guidelines; a vector depends on its own text only, not on its neighbours.

        Raises:
            ValueError: a text is longer than `max_tokens`; windows must be made short enough before.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a passage text, special tokens and prefix included: ≤ `max_tokens` fits."""
        ...


class HashEmbedder:
    """A deterministic embedder without a model: hashed word stems and pairs of neighbours.

    Near texts are those that share words. It is for tests and the self-test; it knows nothing of meaning.
    """

    identity = "hash:stems+pairs:512:v1"
    dimension = 512
    max_tokens = 8192
    min_score = MIN_SCORES["hash"]

    def encode_question(self, text: str) -> Vector:
        return self._encode(text)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            if self.count_tokens(text) > self.max_tokens:
                raise too_long(row, self.count_tokens(text), self.max_tokens)
            vectors[row] = self._encode(text)
            if progress:
                progress(1)
        return vectors

    def count_tokens(self, text: str) -> int:
        return len(words(text)) + 2  # as a model counts: one to begin with, one to end with

    def _encode(self, text: str) -> Vector:
        stems = [stem(word) for word in words(text) if is_content(word)]
        features = Counter(stems) + Counter(f"{left} {right}" for left, right in pairwise(stems))
        vector = np.zeros(self.dimension, dtype=np.float64)
        for feature, count in features.items():
            digest = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
            weight = np.sqrt(count) * (0.5 if " " in feature else 1.0)
            vector[digest % self.dimension] += weight if digest >> 63 else -weight
        length = float(np.linalg.norm(vector))
        if length == 0.0:  # no content word: one direction for all such texts
            vector[0] = length = 1.0
        return (vector / length).astype(np.float32)


def too_long(row: int, tokens: int, max_tokens: int) -> ValueError:
    """Return the error for a passage text that the model would cut in silence."""
    return ValueError(f"text {row} has {tokens} tokens where {max_tokens} fit: divide it into shorter windows")
