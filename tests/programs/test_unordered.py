"""Temporaries that nobody needs in order are not sorted; results are the same."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

FLAGS = ln.SparseByteMap(ln.Pattern())
N = 400


# Each kernel marks x[p[i]], in any order, and goes through what is marked.
@ln.kernel
def count(y, p, x):
    w = ln.temp(FLAGS)
    y[...] = 0
    ln.declare(w, False, (x.shape[0],))
    for i in ...:
        w[p[i]] |= x[p[i]] > 0
    for i in ...:
        if w[i]:
            y[()] += 1
    return y


@ln.kernel
def largest(y, p, x):
    w = ln.temp(FLAGS)
    y[...] = -np.inf
    ln.declare(w, False, (x.shape[0],))
    for i in ...:
        w[p[i]] |= x[p[i]] > 0
    for i in ...:
        if w[i]:
            y[()] = max(y[()], x[i])
    return y


@ln.kernel
def looked_up(y, p, x):
    w = ln.temp(FLAGS)
    y[...] = 0
    ln.declare(w, False, (x.shape[0],))
    for i in ...:
        w[p[i]] |= x[p[i]] > 0
    for i in ...:
        if w[ln.follow(i)]:
            y[()] += x[i]
    return y


@ln.kernel
def each_for_itself(y, p, x):
    w = ln.temp(FLAGS)
    y[...] = 0
    ln.declare(w, False, (x.shape[0],))
    for i in ...:
        w[p[i]] |= x[p[i]] > 0
    for i in ...:
        if w[i]:
            y[i] = 2 * x[i]
    return y


@ln.kernel
def first(y, p, x):
    w = ln.temp(FLAGS)
    y[...] = -1
    ln.declare(w, False, (x.shape[0],))
    for i in ...:
        w[p[i]] |= x[p[i]] > 0
    for i in ...:
        if w[i]:
            y[()] = ln.choose(-1)(y[()], i)
    return y


@ln.kernel
def from_ten_on(y, p, x):
    w = ln.temp(FLAGS)
    y[...] = 0
    ln.declare(w, False, (x.shape[0],))
    for i in ...:
        w[p[i]] |= x[p[i]] > 0
    for i in range(10, x.shape[0]):
        if w[i]:
            y[()] += 1
    return y


@ln.kernel
def below_thirty(y, p, x):
    w = ln.temp(FLAGS)
    y[...] = 0
    ln.declare(w, False, (x.shape[0],))
    for i in ...:
        w[p[i]] |= x[p[i]] > 0
    for i in ...:
        if w[i] and i < 30:
            y[()] += 1
    return y


@ln.kernel
def gaps(y, p, x):
    w = ln.temp(FLAGS)
    y[...] = 0
    ln.declare(w, False, (x.shape[0],))
    for i in ...:
        w[p[i]] |= x[p[i]] > 0
    for i in ...:
        if not w[i]:
            y[()] += 1
    return y


@ln.kernel
def swapped(y, p, x):
    w = ln.temp(FLAGS)
    v = ln.temp(FLAGS)
    y[...] = -1
    ln.declare(w, False, (x.shape[0],))
    ln.declare(v, False, (x.shape[0],))
    for i in ...:
        w[p[i]] |= x[p[i]] > 0
        v[i] |= x[i] < 0
    v, w = w, v
    for i in ...:
        if v[i]:
            y[()] = ln.choose(-1)(y[()], i)
    return y


SCALAR, VECTOR = ln.Element(0), ln.DENSE(1)
LIST = ln.SparseList(ln.Element(0.0))
CASES = [
    (count, SCALAR, "any order"),
    (largest, ln.Element(0.0), "any order"),
    (looked_up, ln.Element(0.0), "any order"),
    (each_for_itself, VECTOR, "any order"),
    (each_for_itself, LIST, "in order"),
    (first, SCALAR, "in order"),
    (from_ten_on, SCALAR, "in order"),
    (below_thirty, SCALAR, "in order"),
    (gaps, SCALAR, "in order"),
    (swapped, SCALAR, "in order"),
]


@pytest.mark.parametrize(
    ("kernel", "format", "order"), CASES, ids=[f"{c[0].__name__} {c[1]}" for c in CASES]
)
def test_order_is_made_where_it_is_needed(kernel: ln.Kernel, format: ln.Format, order: str):
    rng = np.random.default_rng(1)
    p = rng.permutation(N)
    for density in (0.03, 0.5):
        x = np.where(rng.random(N) < density, rng.integers(1, 9, N), 0).astype(float)
        y = ln.empty_tensor(format)
        code = kernel.code(y, p, x)
        main = code[code.index(f"i64 {kernel.__name__}(") :]
        assert ("order_if_cheap" in main) == (order == "any order")
        assert ("order_b_i32(" in main) == (order == "in order")
        kernel(y, p, x)
        told = kernel.reference(ln.empty_tensor(format), p, x)["y"]
        assert y.to_numpy().tolist() == told.tolist()


def test_sums_of_floats_are_made_in_order():
    p, x = np.random.default_rng(2).permutation(N), np.linspace(0.1, 0.7, N)
    y = ln.asarray(np.zeros(3), copy=True)

    @ln.kernel
    def into(y, p, x):
        w = ln.temp(FLAGS)
        ln.declare(w, False, (x.shape[0],))
        for i in ...:
            w[p[i]] |= x[p[i]] > 0
        for i in ...:
            if w[i]:
                for j in ...:
                    y[j] += x[i] / (j + 1)
        return y

    code = into.code(y, p, x)
    assert "order_b_i32(" in code[code.index("i64 into(") :]
    into(y, p, x)
    np.testing.assert_allclose(y.to_numpy(), x.sum() / np.arange(1, 4))
