"""The C that we print for the programs that everybody writes, beside what an expert would write.

A change of one of these files is a change of the product: read it as a colleague's code.
"""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

CSR, CSC, LIST = ln.CSR, ln.CSC, ln.SparseList(ln.Element())
VECTOR, MATRIX = np.eye(4)[0], np.eye(4)


@ln.kernel
def spmv_rows(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def spmv_columns(y, A, x):
    y[...] = 0
    for j, i in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def dot(s, a, b):
    s[...] = 0
    for i in ...:
        s[()] += a[i] * b[i]


@ln.kernel
def dot_gallop(s, a, b):
    s[...] = 0
    for i in ...:
        s[()] += a[ln.gallop(i)] * b[ln.gallop(i)]


@ln.kernel
def add(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]


@ln.kernel
def add_three(d, a, b, c):
    d[...] = 0
    for i in ...:
        d[i] = a[i] + b[i] + c[i]


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


@ln.kernel
def sddmm(C, S, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += S[i, j] * A[i, k] * B[j, k]


@ln.kernel
def spmm(Y, A, X):
    Y[...] = 0
    for i, j, k in ...:
        Y[i, k] += A[i, j] * X[j, k]


@ln.kernel
def total(s, A):
    s[...] = 0
    for i, j, k in ...:
        s[()] += A[i, j, k]


@ln.kernel
def transpose(B, A):
    B[...] = 0
    for i, j in ...:
        B[j, i] = A[i, j]


@ln.kernel
def scale(B, A):
    B[...] = 0
    for i, j in ...:
        B[i, j] = A[i, j] * 2


def stored(format: object, ndim: int) -> ln.Tensor:
    array = np.ones((4,) * ndim) if ndim > 2 else VECTOR if ndim == 1 else MATRIX
    return ln.asarray(array, format=format)  # type: ignore[arg-type]


DENSE_VECTOR = (ln.DENSE, 1)
PROGRAMS = [
    (spmv_rows, ln.DENSE(1), (CSR, 2), DENSE_VECTOR),
    (spmv_columns, ln.DENSE(1), (CSC, 2), DENSE_VECTOR),
    (dot, None, (LIST, 1), (LIST, 1)),
    (dot_gallop, None, (LIST, 1), (LIST, 1)),
    (add, CSR, (CSR, 2), (CSR, 2)),
    (add_three, LIST, (LIST, 1), (LIST, 1), (LIST, 1)),
    (gustavson, CSR, (CSR, 2), (CSR, 2)),
    (scale, CSR, (CSR, 2)),
    (sddmm, CSR, (CSR, 2), (ln.DENSE, 2), (ln.DENSE, 2)),
    (spmm, ln.DENSE(2), (CSR, 2), (ln.DENSE, 2)),
    (total, None, (ln.CSF(3), 3)),
    (transpose, CSR, (CSR, 2)),
]


@pytest.mark.parametrize(("kernel", "result", "operands"), [(k, r, o) for k, r, *o in PROGRAMS])
def test_code(golden, kernel, result, operands):
    """The kernel itself; the codelets that it calls are tested by what they do."""
    out = ln.scalar(0.0) if result is None else ln.empty_tensor(result)
    code = kernel.code(out, *(stored(*o) for o in operands))
    golden(f"{kernel.__name__}.c", code[code.index(f"i64 {kernel.__name__}(") :])
