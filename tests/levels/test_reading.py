"""Every level as an operand, with every other: merge loops over runs, blocks, bands and lists."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from tests.levels.samples import ALL, NEW, agree, nest, stored

import linnet as ln

SIZES = (0, 1, 5, 9)


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
def largest_gap(s, x, y):
    s[...] = -9
    for i in ...:
        s[()] = max(s[()], x[i] - y[i])


@ln.kernel
def add(z, x, y):
    z[...] = 0
    for i in ...:
        z[i] = x[i] + y[i]


@ln.kernel
def choose_by(z, x, y):
    z[...] = 0
    for i in ...:
        z[i] = ln.where(y[i] != 0, x[i], 3)


@ln.kernel
def with_index(z, x, y):
    z[...] = 0
    for i in ...:
        z[i] = x[i] * i + y[i]


@ln.kernel
def shifted(z, x, y):
    z[...] = 0
    for i in ...:
        z[i] = ln.coalesce(x[~(i + 1)], 0) + y[i]


@ln.kernel
def window(z, x, y):
    z[...] = 0
    for i in range(2, 6):
        z[i] = x[i] * y[i] + x[i]


@ln.kernel
def product_and_sum(z, x, y, w):
    z[...] = 0
    for i in ...:
        z[i] = x[i] * y[i] + w[i]


@ln.kernel
def sum_and_product(z, x, y, w):
    z[...] = 0
    for i in ...:
        z[i] = (x[i] + y[i]) * w[i]


SCALARS = (total, dot, largest_gap)
PAIRS = (dot, largest_gap, add, choose_by, with_index, shifted, window)


def arguments(
    kernel: ln.Kernel, letters: tuple[str, ...], n: int, seed: int
) -> dict[str, ln.Tensor]:
    rng = np.random.default_rng(seed)
    result, *operands = kernel.program.params
    n = 8 if kernel is window else n
    dims = "" if kernel in SCALARS else "D"
    args = {result: ln.empty_tensor(nest(dims))}
    return args | {p: stored(w, (n,), rng) for p, w in zip(operands, letters, strict=True)}


@pytest.mark.parametrize("letters", [p for p in itertools.product(ALL, ALL) if set(p) & set(NEW)])
def test_two_vectors(letters):
    chosen = random.Random("".join(letters)).sample(PAIRS, 2)
    for k, kernel in enumerate(chosen):
        agree(kernel, arguments(kernel, letters, SIZES[3 - k], k))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", PAIRS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("letters", list(itertools.product(ALL, ALL)))
def test_two_vectors_in_every_program(kernel, letters):
    for n in SIZES:
        agree(kernel, arguments(kernel, letters, n, n), ("llvm", "c") if n == 9 else ())


@pytest.mark.parametrize("letter", NEW)
@pytest.mark.parametrize("kernel", [total, shifted, window], ids=lambda k: k.__name__)
def test_machine_code(kernel, letter):
    letters = (letter,) * (len(kernel.program.params) - 1)
    agree(kernel, arguments(kernel, letters, 9, 1), ("llvm",))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kernel", [product_and_sum, sum_and_product], ids=lambda k: k.__name__)
def test_three_vectors(kernel, seed):
    drawn = random.Random(seed)
    letters = tuple(drawn.choice(ALL) for _ in range(3))
    agree(kernel, arguments(kernel, letters, drawn.choice(SIZES), seed))


# -- matrices ------------------------------------------------------------------------------------


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def against_storage(y, A, x):
    y[...] = 0
    for j, i in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def symmetric(y, A, x):
    y[...] = 0
    for i, j in ...:
        if i < j:
            y[i] += A[i, j] * x[j]
            y[j] += A[i, j] * x[i]
        if i == j:
            y[i] += A[i, i] * x[i]


@ln.kernel
def below_diagonal(y, A, x):
    y[...] = 0
    for i, j in ...:
        if j <= i:
            y[i] += A[i, j] * x[j]


MATRIX = (spmv, against_storage, symmetric, below_diagonal)
TWO = [a + b for a, b in itertools.product(ALL, ALL) if {a, b} & set(NEW)]


@pytest.mark.parametrize("letters", TWO)
def test_matrix_and_vector(letters):
    drawn = random.Random(letters)
    kernel, n = drawn.choice(MATRIX), drawn.choice(SIZES)
    rng = np.random.default_rng(n)
    args = {
        "y": ln.empty_tensor(nest("D")),
        "A": stored(letters, (n, n), rng),
        "x": stored(drawn.choice(ALL), (n,), rng),
    }
    agree(kernel, args)


@ln.kernel
def add_matrices(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]


@ln.kernel
def matmul(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]


@pytest.mark.parametrize("seed", range(60))
def test_two_matrices(seed):
    drawn = random.Random(seed)
    kernel, n = drawn.choice((add_matrices, matmul)), drawn.choice(SIZES[:3])
    rng = np.random.default_rng(seed)
    args = {"C": ln.empty_tensor(nest("DD"))}
    args |= {p: stored(drawn.choice(TWO), (n, n), rng) for p in ("A", "B")}
    agree(kernel, args, ("llvm",) if seed % 20 == 0 else ())


# -- how much work ---------------------------------------------------------------------------------


HUGE = 10**15


def runs(*ends_and_values: tuple[int, float]) -> ln.Tensor:
    """A run list of enormous length."""
    ends, values = zip(*ends_and_values, strict=True)
    arrays = {"ptr0": [0, len(ends)], "right0": np.array(ends), "val": np.array(values)}
    return ln.from_buffers(ln.RunList(ln.Element(0.0)), (HUGE,), arrays)


def summed(kernel: ln.Kernel, *operands: ln.Tensor) -> float:
    s = ln.scalar(0.0)
    kernel(s, *operands)
    return s.item()


def test_runs_integrate():
    x = runs((10**14, 1.0), (HUGE, 0.5))
    y = runs((5 * 10**14, 2.0), (HUGE, -1.0))
    assert summed(total, x) == 10**14 + 0.5 * 9 * 10**14
    assert summed(dot, x, y) == 2e14 + 4e14 - 2.5e14


def test_runs_and_lists_meet_at_entries():
    x = runs((10**14, 1.0), (HUGE, 0.5))
    y = ln.tensor([[3, HUGE - 1]], [7.0, 4.0], (HUGE,), ln.SparseList(ln.Element(0.0)))
    assert summed(dot, x, y) == summed(dot, y, x) == 9.0


def test_runs_are_written_as_runs():
    x = runs((10**14, 1.0), (HUGE, 0.5))
    y = runs((10**13, 1.0), (HUGE, 0.0))
    z = ln.empty_tensor(ln.RunList(ln.Element(0.0)))
    add(z, x, y)
    assert z.buffers["right0"].tolist() == [10**13, 10**14, HUGE]
    assert z.buffers["val"].tolist() == [2.0, 1.0, 0.5]


def test_sparse_runs_are_written_as_runs():
    x = runs((10**14, 0.0), (HUGE, 0.5)).to(ln.SparseRunList(ln.Element(0.0)))
    assert x.buffers["left0"].tolist() == [10**14]
    z = ln.empty_tensor(ln.SparseRunList(ln.Element(0.0)))
    add(z, x, x)
    assert (z.buffers["left0"].tolist(), z.buffers["right0"].tolist()) == ([10**14], [HUGE])
    assert z.buffers["val"].tolist() == [1.0]
