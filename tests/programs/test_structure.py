"""Programs with more than one statement: several results, temporaries at depth, conditions, lets.

Each is run by the reference interpreter and as compiled code, in several formats of its tensors.
"""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from tests.programs.cases import all_interpreted
from tests.programs.formats import MATRICES, VECTORS, nest

import linnet as ln
from linnet.errors import DiscordanceWarning
from linnet.testing import dense


@ln.kernel
def two_results(C, y, A, B):
    C[...] = 0
    y[...] = 0
    for i, j in ...:
        s = A[i, j] + B[i, j]
        C[i, j] = s
        y[i] += s * s


@ln.kernel
def upper_and_lower(U, L, A, B):
    U[...] = 0
    L[...] = 0
    for i, j in ...:
        if i < j:
            U[i, j] = A[i, j]
        elif i > j:
            L[i, j] = B[i, j]
        else:
            U[i, j] += A[i, j]
            L[i, j] += B[i, j] * 2


@ln.kernel
def normalized_rows(C, y, A, B):
    total = ln.scalar(0.0)
    C[...] = 0
    y[...] = 0
    for i in ...:
        total[...] = 1
        for j in ...:
            total[()] += A[i, j] * A[i, j]
        for j in ...:
            C[i, j] = A[i, j] / total[()] + B[i, j]
        y[i] = total[()]


@ln.kernel
def product_then_sum(C, y, A, B):
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    C[...] = 0
    y[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j] + A[i, j]
        for j in ...:
            y[i] += w[j]


@ln.kernel
def temporary_of_each_kind(C, y, A, B):
    u = ln.temp(ln.SparseHash(ln.Element(0.0)))
    v = ln.temp(ln.Dense(ln.Element(0.0)))
    C[...] = 0
    y[...] = 0
    for i in ...:
        u[...] = 0
        v[...] = 0
        for j in ...:
            u[j] += A[i, j]
            v[j] += B[i, j]
        for j in ...:
            u[j] += v[j] * A[i, j]
        for j in ...:
            C[i, j] = u[j] * v[j]
            y[j] += u[j]


@ln.kernel
def transposed_twice(C, y, A, B):
    T = ln.temp(ln.CSR.with_dtype("float64"))
    T[...] = 0
    for i, j in ...:
        T[j, i] = A[i, j] + B[i, j]
    C[...] = 0
    y[...] = 0
    for j, i in ...:
        C[i, j] = T[j, i]
        y[j] += T[j, i]


@ln.kernel
def conditions_on_values(C, y, A, B):
    C[...] = 0
    y[...] = 0
    for i, j in ...:
        if A[i, j] > B[i, j]:
            C[i, j] = A[i, j]
            y[i] += 1
        elif B[i, j] > 2:
            C[i, j] = -B[i, j]


@ln.kernel
def written_twice(C, y, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] += A[i, j]
    for i, j in ...:
        C[i, j] += B[i, j]
    y[...] = 0
    for i, j in ...:
        y[j] += C[i, j]


@ln.kernel
def maxima_and_places(C, y, A, B):
    best = ln.scalar(0.0)
    C[...] = 0
    y[...] = -1
    for i in ...:
        best[...] = 0
        for j in ...:
            best[()] = max(best[()], A[i, j])
        for j in ...:
            if A[i, j] == best[()] and A[i, j] > 0:
                C[i, j] = B[i, j] + 1
                y[i] = j


@ln.kernel
def square_blocks(C, y, A, B):
    C[...] = 0
    y[...] = 0
    for i in range(1, A.shape[0]):
        for j in range(2, A.shape[1]):
            C[i, j] = A[i - 1, j - 2] * B[i, j]
    for i in range(A.shape[0] // 2):
        for j in ...:
            y[j] += A[2 * i, j]


@ln.kernel
def index_values(C, y, A, B):
    C[...] = 0
    y[...] = 0
    for i, j in ...:
        C[i, j] = (i + 1) * A[i, j] - j * B[i, j]
        y[i] += (i * j) * A[i, j]


@ln.kernel
def row_guard(C, y, A, B):
    C[...] = 0
    y[...] = 0
    for i in ...:
        if i % 2 == 1:
            for j in ...:
                C[i, j] = A[i, j] + B[i, j]
        else:
            for j in ...:
                C[i, j] = A[i, j] * B[i, j]
        y[i] += i


KERNELS = [
    two_results, upper_and_lower, normalized_rows, product_then_sum, temporary_of_each_kind,
    transposed_twice, conditions_on_values, written_twice, maxima_and_places, square_blocks,
    index_values, row_guard,
]  # fmt: skip
SQUARE = (5, 5)
USUAL = [("SS", "S", "DS", "DS")]


def combinations(seed: str, count: int) -> list[tuple[str, ...]]:
    """The usual formats of both results and both operands, and others."""
    drawn = random.Random(seed)
    places = (MATRICES, VECTORS, MATRICES, MATRICES)
    return USUAL + [tuple(drawn.choice(options) for options in places) for _ in range(count)]


def drawn(letters: str, rng: np.random.Generator) -> ln.Tensor:
    values = rng.integers(1, 5, SQUARE).astype(float)
    return ln.asarray(np.where(rng.random(SQUARE) < 0.4, values, 0.0), format=nest(letters))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_structure(kernel):
    rng = np.random.default_rng(11)
    for k, (c, y, a, b) in enumerate(combinations(kernel.__name__, 4)):
        formats = (c, c if kernel is upper_and_lower else y)
        results = [ln.empty_tensor(nest(f)) for f in formats]
        operands = [drawn(a, rng), drawn(b, rng)]
        expected = kernel.reference(*results, *operands)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscordanceWarning)
            if k < len(USUAL):
                kernel(*results, *operands)
            else:
                shapes = [array.shape for array in expected.values()]
                fills = [0, -1 if kernel is maxima_and_places else 0]
                results = all_interpreted(kernel, results, operands, shapes, fills)
        for result, (name, values) in zip(results, expected.items(), strict=True):
            where = f"{name} for {c}, {y}, {a}, {b}"
            np.testing.assert_allclose(dense(result), values, rtol=1e-12, err_msg=where)
