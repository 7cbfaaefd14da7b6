"""Rows of float32 unit vectors in one file: appended once, then read through a memory map."""

from __future__ import annotations

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


def open_vectors(path: Path, rows: int, dimension: int) -> Matrix:
    """Map a file of vectors into memory, read-only. Only what is looked at is read.

    Raises:
        ValueError: the file does not hold that many rows.
    """
    if path.stat().st_size != rows * dimension * 4:
        raise ValueError(f"{path.name} does not hold {rows} vectors of {dimension} numbers")
    if rows == 0:
        return np.zeros((0, dimension), dtype=np.float32)
    return np.memmap(path, dtype="<f4", mode="r", shape=(rows, dimension))


def cosines(vectors: Matrix, vector: Vector) -> NDArray[np.float64]:
    """Return the similarity of each row to `vector`, in [-1, 1].

    Summed row by row in float64, so that a row's number never depends on the rows beside it.
    """
    products = vectors.astype(np.float64) * vector.astype(np.float64)
    sums: NDArray[np.float64] = products.sum(axis=1)
    return sums.clip(-1.0, 1.0)
