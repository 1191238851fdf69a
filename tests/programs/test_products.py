"""Products of matrices and vectors: dot, SpMV, SpMSpV, SpMM, SDDMM."""

from __future__ import annotations

import pytest
from tests.programs.cases import Case, cases, program
from tests.programs.meaning import einsum

import linnet as ln


@ln.kernel
def dot(s, a, b):
    s[...] = 0
    for i in ...:
        s[()] += a[i] * b[i]


@ln.kernel
def dot3(s, a, b, c):
    s[...] = 0
    for i in ...:
        s[()] += a[i] * b[i] * c[i]


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
def spmm(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]


@ln.kernel
def sddmm(C, S, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += S[i, j] * A[i, k] * B[j, k]


PROGRAMS = [
    program("", "i", "i")(dot)(lambda a, b: einsum("i,i->", a, b)),
    program("", "i", "i", "i")(dot3)(lambda a, b, c: einsum("i,i,i->", a, b, c)),
    program("i", "ij", "j")(spmv_rows)(lambda a, x: einsum("ij,j->i", a, x)),
    program("i", "ij", "j")(spmv_columns)(lambda a, x: einsum("ij,j->i", a, x)),
    program("ik", "ij", "jk")(spmm)(lambda a, b: einsum("ij,jk->ik", a, b)),
    program("ij", "ij", "ik", "jk")(sddmm)(lambda s, a, b: einsum("ij,ik,jk->ij", s, a, b)),
]


@pytest.mark.parametrize("case", cases(PROGRAMS))
def test_products(case: Case):
    case.check()
