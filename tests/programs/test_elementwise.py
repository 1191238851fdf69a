"""Element-wise programs: add, multiply, a fused three-way add, a scaled difference, transpose."""

from __future__ import annotations

import pytest
from tests.programs.cases import DTYPES, Case, cases, program
from tests.programs.meaning import added, multiplied

import linnet as ln

NUMBERS = tuple(d for d in DTYPES if d != "bool" and d[0] != "u")


@ln.kernel
def add_vectors(c, a, b):
    c[...] = 0
    for i in ...:
        c[i] = a[i] + b[i]


@ln.kernel
def add(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]


@ln.kernel
def add_by_columns(C, A, B):
    C[...] = 0
    for j, i in ...:
        C[i, j] = A[i, j] + B[i, j]


@ln.kernel
def multiply(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * B[i, j]


@ln.kernel
def add_three(D, A, B, C):
    D[...] = 0
    for i, j in ...:
        D[i, j] = A[i, j] + B[i, j] + C[i, j]


@ln.kernel
def scaled_difference(C, A, B, x):
    C[...] = 0
    for i, j in ...:
        C[i, j] = x[i] * (A[i, j] - 2 * B[i, j])


@ln.kernel
def transpose(B, A):
    B[...] = 0
    for i, j in ...:
        B[j, i] = A[i, j]


@ln.kernel
def copy(B, A):
    B[...] = 0
    for i, j, k in ...:
        B[i, j, k] = A[i, j, k]


@ln.kernel
def rotate(B, A):
    B[...] = 0
    for i, j, k in ...:
        B[k, i, j] = A[i, j, k]


@ln.kernel
def add_cubes(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = A[i, j, k] + B[i, j, k]


PROGRAMS = [
    program("i", "i", "i")(add_vectors)(added),
    program("ij", "ij", "ij")(add)(added),
    program("ij", "ij", "ij")(add_by_columns)(added),
    program("ij", "ij", "ij")(multiply)(multiplied),
    program("ij", "ij", "ij", "ij")(add_three)(added),
    program("ij", "ij", "ij", "i", dtypes=NUMBERS)(scaled_difference)(
        lambda a, b, x: x[:, None] * (a - 2 * b)
    ),
    program("ji", "ij")(transpose)(lambda a: added(a.T)),
    program("ijk", "ijk")(copy)(added),
    program("kij", "ijk")(rotate)(lambda a: added(a.transpose(2, 0, 1))),
    program("ijk", "ijk", "ijk")(add_cubes)(added),
]


@pytest.mark.parametrize("case", cases(PROGRAMS))
def test_elementwise(case: Case):
    case.check()
