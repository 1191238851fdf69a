"""The C that we print for structured operands, beside what an expert would write."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import nest

import linnet as ln

RUNS, MATRIX = np.repeat([1.0, 0.0, 2.0, 3.0], 3), np.triu(np.ones((4, 4)))


@ln.kernel
def total(s, x):
    s[...] = 0
    for i in ...:
        s[()] += x[i]


@ln.kernel
def dot(s, x, y):
    s[...] = 0
    for i in ...:
        s[()] += x[i] * y[i]


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def multiply(z, x, y):
    z[...] = 0
    for i in ...:
        z[i] = x[i] * y[i]


@ln.kernel
def shared(z, x, y):
    z[...] = False
    for i in ...:
        z[i] = x[i] & y[i]


@ln.kernel
def erode(z, x):
    z[...] = False
    for i in ...:
        z[i] = ln.coalesce(x[~(i - 1)], True) & x[i] & ln.coalesce(x[~(i + 1)], True)


def vector(letter: str) -> ln.Tensor:
    return ln.asarray(RUNS, format=nest(letter))


def matrix(format: ln.Format) -> tuple[ln.Tensor, ln.Tensor]:
    halves = (ln.SYMMETRIC, ln.SYMMETRIC_TILES)
    whole = MATRIX + MATRIX.T if format in halves else MATRIX
    return ln.asarray(whole, format=format), ln.asarray(np.ones(4))


ROW = ln.SparseRunList(ln.Pattern())
PATTERN = ln.asarray(RUNS > 0, format=ROW)


PROGRAMS = {
    "run_total": (total, None, (vector("R"),)),
    "sparse_run_total": (total, None, (vector("U"),)),
    "run_dot": (dot, None, (vector("R"), vector("R"))),
    "run_and_list_dot": (dot, None, (vector("R"), vector("S"))),
    "band_spmv": (spmv, ln.DENSE(1), matrix(ln.BAND)),
    "block_spmv": (spmv, ln.DENSE(1), matrix(ln.BLOCK)),
    "pinpoint_spmv": (spmv, ln.DENSE(1), (ln.asarray(np.eye(4), format=ln.PERM), np.ones(4))),
    "symmetric_spmv": (spmv, ln.DENSE(1), matrix(ln.SYMMETRIC)),
    "symmetric_tiles_spmv": (spmv, ln.DENSE(1), matrix(ln.SYMMETRIC_TILES)),
    "shared_runs": (shared, ROW, (PATTERN, PATTERN)),
    "eroded_runs": (erode, ROW, (PATTERN,)),
    "eroded": (erode, ln.DENSE(1), (RUNS > 0,)),
    "sparse_run_multiply": (multiply, nest("U"), (vector("U"), vector("U"))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_code(golden, name):
    kernel, result, operands = PROGRAMS[name]
    out = ln.scalar(0.0) if result is None else ln.empty_tensor(result)
    code = kernel.code(out, *map(ln.asarray, operands))
    golden(f"levels/{name}.c", code[code.index(f"i64 {kernel.__name__}(") :])
