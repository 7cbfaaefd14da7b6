"""Exact search over windows, and from windows to the passages they belong to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding import Matrix, Vector
from retrieval.vectors import cosines

_CHUNK = 4096
_NEAR = 1e-6
"""A product may differ by this much between two shapes of the same matrix."""


class WindowSearch:
    """The windows of a generation.

    Args:
        read: returns the vectors of rows; the windows lie passage after passage.
        first_window: row of each passage's first window, shape [passages].
        windows: how many there are.
    """

    def __init__(
        self, read: Callable[[NDArray[np.int64]], Matrix], first_window: NDArray[np.int64], windows: int
    ) -> None:
        self._read = read
        self._first = first_window
        self._end = np.append(first_window[1:], windows)

    def rows_of(self, passages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of all windows of these passages, in the passages' order."""
        first, end = self._first[passages], self._end[passages]
        ends = np.cumsum(end - first)
        rows: NDArray[np.int64] = np.arange(ends[-1] if len(ends) else 0)
        return rows + np.repeat(end - ends, end - first)

    def passages_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the passage of each window row."""
        passages: NDArray[np.int64] = np.searchsorted(self._first, rows, side="right") - 1
        return passages

    def exactly(self, passages: NDArray[np.int64], vector: Vector, n: int) -> NDArray[np.int64]:
        """Return rows of windows among which are the best of the `n` passages nearest to `vector`.

        Args:
            passages: to search, ascending.
        """
        rows = self.rows_of(passages)
        if not len(rows):
            return rows
        blocks = [rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK)]
        scores = np.concatenate([self._read(block) @ vector for block in blocks])
        wanted = 2 * n + 10
        while wanted < len(rows):
            last = np.partition(scores, len(rows) - wanted)[len(rows) - wanted]
            near: NDArray[np.int64] = rows[scores >= last - _NEAR]
            if len(np.unique(self.passages_of(near))) >= n:
                return near
            wanted *= 4
        return rows

    def best(self, rows: NDArray[np.int64], vector: Vector, n: int) -> list[tuple[int, float]]:
        """Score windows and return the `n` best of their passages, each with its best cosine.

        Ties stand in the passages' order.
        """
        if not len(rows):
            return []
        rows = np.unique(rows)
        passages, first = np.unique(self.passages_of(rows), return_index=True)
        best = np.maximum.reduceat(cosines(self._read(rows), vector), first)
        order = np.lexsort((passages, -best))[:n]
        return [(int(passages[index]), float(best[index])) for index in order]
