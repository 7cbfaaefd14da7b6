"""Exact search over windows, and from windows to the passages they belong to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding import Matrix, Vector
from retrieval.vectors import cosines

_CHUNK = 8192
_NEAR = 1e-6
"""A product may differ by this much between two shapes of the same matrix."""


class WindowSearch:
    """The windows of a generation.

    Args:
        windows: their vectors, passage after passage, shape [windows, dimension].
        first_window: row of each passage's first window, shape [passages].
    """

    def __init__(self, windows: Matrix, first_window: NDArray[np.int64]) -> None:
        self._windows = windows
        self._first = first_window
        self._end = np.append(first_window[1:], len(windows))

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
        scores = np.concatenate([block @ vector for block in self._blocks(rows)])
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
        best = np.maximum.reduceat(cosines(self._windows[rows], vector), first)
        order = np.lexsort((passages, -best))[:n]
        return [(int(passages[index]), float(best[index])) for index in order]

    def _blocks(self, rows: NDArray[np.int64]) -> Iterator[Matrix]:
        """Yield the rows' vectors in blocks, without copying those that lie together."""
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            first, last = int(part[0]), int(part[-1])
            yield np.asarray(self._windows[first : last + 1] if last - first + 1 == len(part) else self._windows[part])
