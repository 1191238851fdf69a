"""The inner product of two sparse tensors of order 3 (CSF)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.data import Coordinates
from benchmarks.harness import Case, Side
from benchmarks.peers import peer
from benchmarks.ttv import interleaved

BAR = 0.9


@ln.kernel
def inner(s, A, B):
    s[...] = 0
    for i, j, k in ...:
        s[()] += A[i, j, k] * B[i, j, k]
    return s


def linnet(A: Coordinates, B: Coordinates) -> Side:
    s = ln.scalar(0.0)
    first, second = (ln.tensor(T.coords, T.values, T.shape, format=ln.CSF(3)) for T in (A, B))
    return Side(lambda: inner(s, first, second), lambda s: s.to_numpy())


def c(A: Coordinates, B: Coordinates) -> Side:
    given = (*interleaved(A), A.values, *interleaved(B), B.values)
    return native.scalar("inner", "inner", *given)


def scipy_flat(A: Coordinates, B: Coordinates) -> Side:
    """Both tensors flattened to one long row, which SciPy can multiply."""
    first, second = (_flat(T) for T in (A, B))
    return Side(lambda: first.multiply(second).sum())


def _flat(T: Coordinates) -> sp.csr_array:
    size = int(np.prod(T.shape))
    keys = np.ravel_multi_index(tuple(T.coords), T.shape)
    return sp.csr_array((T.values, keys, np.array([0, len(keys)])), shape=(1, size))


def pydata(A: Coordinates, B: Coordinates) -> Side:
    COO = peer("sparse").COO
    first, second = (COO(T.coords, T.values, shape=T.shape) for T in (A, B))
    return Side(lambda: (first * second).sum(), lambda s: s.todense())


WAYS = {"linnet": linnet, "c": c, "scipy": scipy_flat, "sparse": pydata}


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        A, B = (data.tensor(stored // 2, 3, seed) for seed in (3, 4))
        yield Case(
            "inner csf 3", "random", len(A.values) + len(B.values), (A, B), WAYS, BAR, idiom=True
        )
    if load.real:
        for name, A in data.real_tensors("nell995_3d"):
            keep = np.random.default_rng(13).random(len(A.values)) < 0.5
            B = Coordinates(np.ascontiguousarray(A.coords[:, keep]), A.values[keep], A.shape)
            yield Case(
                "inner csf 3", name, len(A.values) + len(B.values), (A, B), WAYS, BAR, idiom=True
            )
