"""Rows of float32 unit vectors in one file: appended once, then only read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding import Matrix, Vector


class VectorWriter:
    """Appends rows to a new file."""

    def __init__(self, path: Path, dimension: int) -> None:
        self.rows = 0
        self._dimension = dimension
        self._file: BinaryIO = path.open("xb")

    def append(self, vectors: Matrix) -> None:
        """Append `vectors`, shape [n, dimension].

        Raises:
            ValueError: they have another dimension, or are no unit vectors.
        """
        if vectors.ndim != 2 or vectors.shape[1] != self._dimension:
            raise ValueError(f"vectors of shape {vectors.shape} where [n, {self._dimension}] is needed")
        if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
            raise ValueError("a vector is not of length 1")
        self._file.write(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
        self.rows += len(vectors)

    def close(self) -> None:
        self._file.close()


class VectorFile:
    """A finished file, read row by row.

    It is not mapped into memory: mapped pages count as the process's own, and in time that is the whole file.

    Args:
        rows: how many it must hold.

    Raises:
        ValueError: it does not.
    """

    def __init__(self, path: Path, rows: int, dimension: int) -> None:
        if path.stat().st_size != rows * dimension * 4:
            raise ValueError(f"{path.name} does not hold {rows} vectors of {dimension} numbers")
        self.rows = rows
        self._dimension = dimension
        self._file = os.open(path, os.O_RDONLY)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def read(self, rows: NDArray[np.int64]) -> Matrix:
        """Return a copy of some rows in the order asked for, shape [len(rows), dimension]."""
        vectors = np.empty((len(rows), self._dimension), dtype="<f4")
        if not len(rows):
            return vectors
        if int(rows.min()) < 0 or int(rows.max()) >= self.rows:
            raise IndexError(f"there are {self.rows} vectors")
        begins = np.append(0, np.flatnonzero(np.diff(rows) != 1) + 1)  # rows that lie together are read together
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(rows)], strict=True):
            target = vectors[begin:end].data.cast("B")
            if os.preadv(self._file, [target], int(rows[begin]) * self._dimension * 4) != target.nbytes:
                raise OSError(f"row {rows[begin]} cannot be read")
        return vectors


def cosines(vectors: Matrix, vector: Vector) -> NDArray[np.float64]:
    """Return the similarity of each row to `vector`, in [-1, 1].

    Summed row by row in float64, so that a row's number never depends on the rows beside it.
    """
    products = vectors.astype(np.float64) * vector.astype(np.float64)
    sums: NDArray[np.float64] = products.sum(axis=1)
    return sums.clip(-1.0, 1.0)
