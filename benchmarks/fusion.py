"""A chain of operations in two passes: log1p of scaled rows, then means and variances of columns.

`log1p(X * (target / X.sum(1)))` over a CSR matrix of float32, as in the analysis of single cells.
Linnet and C make no array of the size of X; SciPy's users do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from linnet.arrays import apply, fuse, reduce

BAR = 0.9
TARGET = 1e4
MANY = 10_000_000  # as in an atlas of cells


@fuse
def statistics(X):
    wide = apply("float64", X)
    scale = apply("divide", TARGET, reduce("add", wide, 1, keepdims=True))
    Y = apply("log1p", apply("multiply", wide, scale))
    mean = apply("divide", reduce("add", Y, 0), X.shape[0])
    squares = apply("square", apply("subtract", Y, mean))
    return mean, apply("divide", reduce("add", squares, 0), X.shape[0])


def linnet(A: sp.csr_array) -> Side:
    X = ln.asarray(A)
    return Side(lambda: statistics(X), lambda r: (r[0].to_numpy(), r[1].to_numpy()))


def c(A: sp.csr_array) -> Side:
    n, m = A.shape
    out = np.zeros(2 * m)
    function = native.load("fusion").statistics
    function.restype = ctypes.c_int64
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*native.csr(A), out)]
    target = ctypes.c_double(TARGET)
    sizes = ctypes.c_int64(n), ctypes.c_int64(m)

    def run() -> int:
        return function(*sizes, *pointers[:3], target, pointers[3])

    return Side(run, lambda _: (out[:m].copy(), out[m:].copy()))


def scipy_statistics(A: sp.csr_array) -> Side:
    def run() -> tuple[np.ndarray, np.ndarray]:
        wide = A.astype(np.float64)
        scale = TARGET / np.asarray(wide.sum(axis=1))
        Y = sp.csr_array((wide.data, A.indices, A.indptr), shape=A.shape)
        Y.data *= np.repeat(scale, np.diff(A.indptr))
        np.log1p(Y.data, out=Y.data)
        mean = np.asarray(Y.mean(axis=0))
        Y.data **= 2
        return mean, np.asarray(Y.mean(axis=0)) - mean**2

    return Side(run)


WAYS = {"linnet": linnet, "c": c, "scipy": scipy_statistics}


def cases(load: data.Load) -> Iterator[Case]:
    sizes = load.stored()
    for stored in (*sizes, *([MANY] if max(sizes) > MANY // 10 else [])):
        A = data.uniform(stored, 50)
        counts = np.random.default_rng(0).integers(1, 20, A.nnz).astype(np.float32)
        X = sp.csr_array((counts, A.indices, A.indptr), shape=A.shape)
        yield Case("scaled log1p, mean, var", "uniform", X.nnz, (X,), WAYS, BAR, idiom=True)
