"""What tests of loops over steps share: formats of vectors, a graph, and where to begin."""

from __future__ import annotations

import numpy as np

import linnet as ln

E = ln.Element(0.0)
VECTORS = {
    "dense": ln.Dense(E),
    "list": ln.SparseList(E),
    "coo": ln.SparseCOO(1, E),
    "map": ln.SparseByteMap(E),
    "hash": ln.SparseHash(E),
    "runs": ln.RunList(E),
    "sparse runs": ln.SparseRunList(E),
    "blocks": ln.SparseBlockList(E),
    "band": ln.SparseBand(E),
}
MATRIX = np.array(
    [[0, 1, 0, 0, 2], [0, 0, 3, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 2, 0, 1, 0]], float
)
START = np.array([0.0, 0, 2, 0, 0])


def scalar(value: float) -> ln.Tensor:
    return ln.asarray(np.array(value))
