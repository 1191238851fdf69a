"""Fibers without which nothing is to be done lead a loop, and the others follow them."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

N = 60
ELEMENT = ln.Element(0.0)
FORMATS = [
    ln.CSF(1),
    ln.DENSE(1),
    ln.RunList(ELEMENT),
    ln.SparseRunList(ELEMENT),
    ln.SparseBlockList(ELEMENT),
    ln.SparseHash(ELEMENT),
]
RESULTS = [ln.CSF(1), ln.DENSE(1), ln.SparseBlockList(ELEMENT)]


def vector(seed: int, density: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(N) < density, rng.integers(1, 9, N).astype(float), 0)


A, B, C, D = (vector(seed, density) for seed, density in enumerate((0.4, 0.3, 0.5, 0.6)))


@ln.kernel
def led_by_one(r, a, b, c):
    r[...] = 0
    for i in ...:
        r[i] = (a[i] - b[i]) * c[i]


@ln.kernel
def led_by_two(r, a, b, c, d):
    r[...] = 0
    for i in ...:
        r[i] = c[i] * (a[i] + b[i]) * d[i]


@ln.kernel
def one_sided(r, a, c):
    r[...] = 0
    for i in ...:
        r[i] = ln.where(a[i] > 0, c[i], 2 * c[i])


@ln.kernel
def first_led(s, a, b, c):
    s[...] = 0
    for i in range(7, 50):
        s[()] += (a[i] + b[i]) * c[i]


@pytest.mark.parametrize("lead", FORMATS, ids=str)
@pytest.mark.parametrize("follow", FORMATS, ids=str)
def test_all_formats_lead_and_follow(lead, follow):
    out = RESULTS[(FORMATS.index(lead) + FORMATS.index(follow)) % len(RESULTS)]
    a, b = ln.asarray(A, format=follow), ln.asarray(B, format=ln.CSF(1))
    c, d = ln.asarray(C, format=lead), ln.asarray(D, format=ln.CSF(1))

    def result(kernel, *args):
        return kernel(ln.empty_tensor(out), *args).to_numpy()

    np.testing.assert_array_equal(result(led_by_one, a, b, c), (A - B) * C)
    np.testing.assert_array_equal(result(led_by_two, a, b, c, d), C * (A + B) * D)
    np.testing.assert_array_equal(result(one_sided, a, c), np.where(A > 0, C, 2 * C))
    assert first_led(ln.scalar(0.0), a, b, c).item() == ((A + B) * C)[7:50].sum()


def test_the_loop_counts_what_the_leading_fiber_stores():
    args = [ln.asarray(x, format=ln.CSF(1)) for x in (A, B, C)]
    code = led_by_one.code(ln.empty_tensor(ln.CSF(1)), *args)
    assert code.count("for (") == 1
    assert "while (a_i < c_i) {" in code
    found = led_by_one.visits(ln.empty_tensor(ln.CSF(1)), *args)
    assert found["i in c[i]"] == np.count_nonzero(C)
    count = np.count_nonzero(((A != 0) | (B != 0)) & (C != 0))
    assert led_by_one(ln.empty_tensor(ln.CSF(1)), *args).nnz == count
    assert found.total <= sum(t.nnz for t in args)


def test_several_that_lead_meet():
    args = [ln.asarray(x, format=ln.CSF(1)) for x in (A, B, C, D)]
    found = led_by_two.visits(ln.empty_tensor(ln.CSF(1)), *args)
    assert found["i in c[i], d[i]"] <= np.count_nonzero((C != 0) | (D != 0))
    count = np.count_nonzero(((A != 0) | (B != 0)) & (C != 0) & (D != 0))
    assert led_by_two(ln.empty_tensor(ln.CSF(1)), *args).nnz == count
    assert found.total <= sum(t.nnz for t in args)
