"""Products of sparse matrices in three ways, and how they scale (FINCH §7.2, Figs. 21 and 23).

On N x N matrices with four entries in a row, inner products take N² steps, since every pair of a
row and a column is met; outer products and Gustavson's algorithm take 16 N. Outer products that
are collected in a dense matrix take N² again, to clear it and to look through it.

`python examples/finch/spgemm.py`
"""

from __future__ import annotations

import math
import time

import numpy as np
import scipy.sparse as sp

import linnet as ln


# Inner products: A by rows, B by columns.
@ln.kernel
def inner(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


# Gustavson: A and B by rows; a row of C is collected in a byte map.
@ln.kernel
def gustavson(C, A, B):
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]
    return C


# Outer products: A by columns, B by rows; all of C is collected, in a table of tables …
@ln.kernel
def outer(C, A, B):
    w = ln.temp(ln.SparseHash(ln.SparseHash(ln.Element(0.0))))
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    C[...] = 0
    for i, j in ...:
        C[i, j] = w[i, j]
    return C


# … or in a dense matrix.
@ln.kernel
def outer_dense(C, A, B):
    w = ln.temp(ln.Dense(ln.Dense(ln.Element(0.0))))
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    C[...] = 0
    for i, j in ...:
        if w[i, j] != 0:
            C[i, j] = w[i, j]
    return C


# How the factors are stored for each.
WAYS = {
    inner: (ln.CSR, ln.CSC),
    gustavson: (ln.CSR, ln.CSR),
    outer: (ln.CSC, ln.CSR),
    outer_dense: (ln.CSC, ln.CSR),
}


def erdos_renyi(n: int, rng: np.random.Generator) -> sp.csr_array:
    """Every entry of an n x n matrix is there with probability 4 / n."""
    return sp.csr_array(sp.random_array((n, n), density=min(1.0, 4 / n), rng=rng))


def seconds(kernel: ln.Kernel, A: sp.csr_array, B: sp.csr_array, times: int = 3) -> float:
    """The time of the fastest call, after its result has been checked."""
    left, right = (ln.asarray(X).to(f) for X, f in zip((A, B), WAYS[kernel], strict=True))
    C = kernel(ln.empty_tensor(ln.CSR), left, right)
    assert abs(C.to_scipy() - A @ B).max() < 1e-12
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        kernel(ln.empty_tensor(ln.CSR), left, right)
        spent.append(time.perf_counter() - start)
    return min(spent)


def growth(sizes: list[int], spent: list[float]) -> float:
    """The exponent p for which n ** p fits the times at the larger sizes."""
    half = len(sizes) // 2
    return math.log(spent[-1] / spent[half]) / math.log(sizes[-1] / sizes[half])


def study(sizes: list[int]) -> dict[str, list[float]]:
    """Seconds of each way at each size."""
    rng = np.random.default_rng(0)
    pairs = [(erdos_renyi(n, rng), erdos_renyi(n, rng)) for n in sizes]
    return {way.__name__: [seconds(way, A, B) for A, B in pairs] for way in WAYS}


def main() -> None:
    sizes = [2**k for k in range(6, 12)]
    print(f"{'N':12}" + "".join(f"{n:10}" for n in sizes) + "    grows as")
    exponents = {}
    for name, spent in study(sizes).items():
        exponents[name] = growth(sizes, spent)
        cells = "".join(f"{t * 1e3:7.2f} ms" for t in spent)
        print(f"{name:12}{cells}     N^{exponents[name]:.1f}")
    assert exponents["inner"] > exponents["gustavson"] + 0.3
    assert exponents["outer_dense"] > exponents["outer"] + 0.3


if __name__ == "__main__":
    main()
