"""Temporaries: three ways to multiply sparse matrices, and one in which the compiler finds its own.

`python examples/temporaries.py`
"""

from __future__ import annotations

import time
from pathlib import Path

from market import read

import linnet as ln


# Row by row (Gustavson): a row of C is a sum of rows of B, collected in a byte map. It takes
# insertions anywhere, knows what it holds, and is cleared by undoing only what was written.
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


# Outer products: C is a sum of matrices, so the temporary is a matrix, too: a table of tables.
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


# Inner products: every entry is a merge of two lists, and no temporary is needed.
@ln.kernel
def inner(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


# The loops of Gustavson without the temporary. A row of CSR cannot take entries out of order, so
# the compiler collects it first.
@ln.kernel
def by_rows(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


def main() -> None:
    A = read(Path(__file__).parent / "data" / "bcsstk13.mtx.gz")
    a = A.to_numpy()
    expected = a @ a
    columns = A.to(ln.CSC)
    for kernel, *operands in (
        (gustavson, A, A),
        (outer, columns, A),
        (inner, A, columns),
        (by_rows, A, A),
    ):
        C = kernel(ln.empty_tensor(ln.CSR), *operands)
        start = time.perf_counter()
        kernel(C, *operands)
        spent = time.perf_counter() - start
        assert abs(C.to_numpy() - expected).max() <= 1e-12 * abs(expected).max()
        print(f"{kernel.__name__:12}{spent * 1e3:9.1f} ms   {C!r}")

    print("\nWhat the compiler made of by_rows:\n")
    print(by_rows.loops(ln.empty_tensor(ln.CSR), A, A))


if __name__ == "__main__":
    main()
