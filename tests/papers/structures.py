"""FINCH, Table 1: matrices of every structure, each with the formats that fit it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import linnet as ln

N = 12
VECTOR = ln.DENSE(1)
LIST = ln.SparseList(ln.Element(0.0))


def values(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 9, (N, N)).astype(float)


def places() -> tuple[np.ndarray, np.ndarray]:
    return np.indices((N, N))


def scattered(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random((N, N)) < 0.3, values(rng), 0)


def ragged(rng: np.random.Generator) -> np.ndarray:
    return np.where(np.arange(N) < rng.integers(0, N + 1, (N, 1)), values(rng), 0)


def banded(rng: np.random.Generator) -> np.ndarray:
    i, j = places()
    return np.where(abs(i - j) <= 2, values(rng), 0)


def triangular(rng: np.random.Generator) -> np.ndarray:
    return np.triu(values(rng))


def runs(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 3, (N, N // 3)).astype(float).repeat(3, axis=1)


def one_run(rng: np.random.Generator) -> np.ndarray:
    left, right = np.sort(rng.integers(0, N + 1, (2, N, 1)), axis=0)
    j = np.arange(N)
    return np.where((left <= j) & (j < right), rng.integers(1, 9, (N, 1)), 0).astype(float)


def blocks(rng: np.random.Generator) -> np.ndarray:
    return np.where((rng.random((N, N // 4)) < 0.4).repeat(4, axis=1), values(rng), 0)


def permutation(rng: np.random.Generator) -> np.ndarray:
    return np.eye(N)[rng.permutation(N)]


STRUCTURES: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], tuple[object, ...]]] = {
    "dense": (values, (ln.DENSE(2),)),
    "list": (
        scattered,
        (ln.CSR, ln.DCSR, ln.COO(2), ln.SparseHash(ln.SparseByteMap(ln.Element()))),
    ),
    "runs": (runs, (ln.RLE, ln.SRLE, ln.RunList(ln.RunList(ln.Element())))),
    "one-run": (one_run, (ln.Dense(ln.SparseInterval(ln.Element())),)),
    "ragged": (ragged, (ln.RAGGED, ln.SparseList(ln.SparseBand(ln.Element())))),
    "band": (banded, (ln.BAND,)),
    "triangular": (triangular, (ln.TRIANGULAR,)),
    "blocks": (blocks, (ln.BLOCK, ln.SparseList(ln.SparseBlockList(ln.Element())))),
    "permutation": (permutation, (ln.Dense(ln.SparsePinpoint(ln.Element())),)),
}
# The first format of each structure always, the others in deep runs.
CASES = [
    pytest.param(make, format, id=f"{name}-{k}", marks=pytest.mark.slow if k else ())
    for name, (make, formats) in STRUCTURES.items()
    for k, format in enumerate(formats)
]
every_structure = pytest.mark.parametrize(("make", "format"), CASES)


def empty(format: object = VECTOR) -> ln.Tensor:
    return ln.empty_tensor(format)  # type: ignore[arg-type]


def body(kernel: ln.Kernel, *tensors: object) -> str:
    """The code of a kernel, without what it shares with all others."""
    code = kernel.code(*tensors)
    return code[code.index(f"i64 {kernel.__name__}(") :]
