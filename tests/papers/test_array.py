"""ARRAY, figure by figure: the iteration space, its lattice, and what compiled loops visit.

Vectors store three of the letters of a Venn diagram each, so that every region has coordinates. A
loop has to run its body once for every coordinate of the region, and nowhere else.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.functions.claimed import gcd
from tests.papers.spaces import (
    INF,
    bitwise_and,
    check,
    lattice_of,
    points,
    region_of,
    vectors,
)
from tests.visits import work

import linnet as ln
from linnet.algebra import regions
from linnet.algebra.lattice import lattice
from linnet.algebra.regions import equivalent, parse


@ln.function(commutative=True, annihilator=INF)
def max3(x, y, z):
    return max(x, y, z)


# -- Figure 2: computation spaces ------------------------------------------------------------------


def test_fig2a_sum_and_product():
    @ln.kernel
    def total(r, b, c):
        r[...] = 0
        for i in ...:
            r[i] = b[i] + c[i]

    @ln.kernel
    def both(r, b, c):
        r[...] = 0
        for i in ...:
            r[i] = b[i] * c[i]

    check(total, vectors("bc", {}, "float64"), "b | c", "bc b c")
    check(both, vectors("bc", {}, "float64"), "b & c", "bc")


@ln.kernel
def masked_power(r, b, c, d):
    r[...] = 1
    for i in ...:
        r[i] = b[i] ** c[i] * (not d[i])


@ln.kernel
def masked_power_0(r, b, c, d):
    r[...] = 0
    for i in ...:
        r[i] = b[i] ** c[i] * (not d[i])


def test_fig2b_masked_power_with_zeros_left_out():
    """What is 1 nearly everywhere is computed everywhere, if 0 is what is left out."""
    tensors = vectors("bcd", {}, "float64")
    assert region_of(masked_power_0, tensors) == regions.UNIVERSE
    assert lattice_of(masked_power_0, tensors) == {
        f"{b}{c}{d}U" for b in ("", "b") for c in ("", "c") for d in ("", "d")
    }
    args = [tensors[n] for n in "bcd"]
    n = tensors["b"].shape[0]
    assert work(masked_power_0, ln.empty_tensor(ln.CSF(1)), *args) == n
    out = masked_power_0(ln.empty_tensor(ln.CSF(1)), *args)
    b, c, d = (t.to_numpy() for t in args)
    np.testing.assert_array_equal(out.to_numpy(), b**c * (d == 0))


def test_fig2c_masked_power_with_ones_left_out():
    tensors = vectors("bcd", {}, "float64")
    out = check(masked_power, tensors, "c | d", "bcd cd bc c bd d")
    b, c, d = (tensors[n].to_numpy() for n in "bcd")
    np.testing.assert_array_equal(out.to_numpy(), b**c * (d == 0))
    assert out.fill_value == 1


# -- Figures 4 to 6, 9: functions ------------------------------------------------------------------


def test_fig5_gcd_with_cases():
    @ln.kernel
    def apply(r, b, c):
        r[...] = 0
        for i in ...:
            r[i] = gcd(b[i], c[i])

    tensors = vectors("bc", {}, "int64")
    out = check(apply, tensors, "b | c", "bc b c")
    b, c = (tensors[n].to_numpy() for n in "bc")
    np.testing.assert_array_equal(out.to_numpy(), np.gcd(b, c))
    code = apply.code(ln.empty_tensor(ln.CSF(1)), *tensors.values())
    # the loop of Euclid only where both are stored; the case in the four other places
    assert code.count("gcd_case_i64(") == 1 + 4
    assert code.count("gcd_i64(") == 1 + 1


def test_fig9_bitwise_and():
    @ln.kernel
    def apply(r, b, c):
        r[...] = 0
        for i in ...:
            r[i] = bitwise_and(b[i], c[i])

    check(apply, vectors("bc", {}, "int64"), "b & c", "bc")


# -- Figures 11 to 13: deriving spaces -------------------------------------------------------------


def test_fig11_annihilator():
    @ln.kernel
    def apply(r, a, b, c):
        r[...] = INF
        for i in ...:
            r[i] = max3(a[i], b[i], c[i])

    check(apply, vectors("abc", {"a": INF, "b": INF}, "float64"), "a & b", "abc ab")


def test_fig12_idempotent():
    @ln.kernel
    def apply(r, a, b):
        r[...] = 7
        for i in ...:
            r[i] = min(a[i], b[i])

    check(apply, vectors("ab", {"a": 7, "b": 7}, "float64"), "a | b", "ab a b")


def test_fig13_identity():
    @ln.kernel
    def apply(r, a, b):
        r[...] = 42
        for i in ...:
            r[i] = max(a[i], b[i])

    out = check(apply, vectors("ab", {"a": 42, "b": -INF}, "float64"), "a | b", "ab a b")
    assert out.fill_value == 42


def test_case_4_annihilator_on_one_side():
    @ln.kernel
    def apply(r, a, b):
        r[...] = 0
        for i in ...:
            r[i] = a[i] / b[i]

    tensors = vectors("ab", {"b": 1}, "float64")
    check(apply, tensors, "a", "ab a")
    # b is brought back for its values: augmentation
    assert points(lattice(parse("a"), ("a", "b"))) == ({"ab", "a"}, set())
    other = vectors("ab", {"a": 1, "b": 0}, "float64")
    assert region_of(apply, other) == regions.UNIVERSE


@pytest.mark.parametrize(
    ("claims", "fills", "text"),
    [
        ({"annihilator": {0: "x"}}, {}, "a"),
        ({"annihilator": {0: "y"}}, {}, "b"),
        ({"annihilator": {0: 1}}, {"a": 3}, "b"),
        ({"identity": {0: "y"}}, {}, "a | b"),
        ({"annihilator": {5: "x"}}, {"a": 5}, "a"),
    ],
)
def test_laws_of_one_argument(claims, fills, text):
    """What is claimed need not be true to be used: that is the user's business."""
    value = fills["a"] if text == "a" and fills else 0
    f = ln.function(lambda x, y: x * y, **claims)

    @ln.kernel
    def apply(r, a, b):
        r[...] = value
        for i in ...:
            r[i] = f(a[i], b[i])

    tensors = vectors("ab", fills, "float64")
    assert equivalent(region_of(apply, tensors), parse(text))


def test_inferred_fill_value():
    """Nothing is known of the function; the fill value is what it makes of those of arguments."""
    odd = ln.function(lambda x, y: 2 * x + y + 1)

    @ln.kernel
    def apply(r, a, b):
        r[...] = 8
        for i in ...:
            r[i] = odd(a[i], b[i])

    check(apply, vectors("ab", {"a": 3, "b": 1}, "float64"), "a | b", "ab a b")


# -- §5.2: the fill values that a space speaks of --------------------------------------------------


def test_explicit_space_with_another_fill_value():
    """`{x != 0} ∪ {y != 0}` is everywhere for a tensor whose fill value is 6."""

    @ln.kernel
    def apply(r, b, c):
        r[...] = 0
        for i in ...:
            r[i] = gcd(b[i], c[i])

    tensors = vectors("bc", {"b": 6}, "int64")
    assert region_of(apply, tensors) == regions.UNIVERSE
    out = apply(ln.empty_tensor(ln.DENSE(1)), *tensors.values())
    expected = np.gcd(*(t.to_numpy() for t in tensors.values()))
    np.testing.assert_array_equal(out.to_numpy(), expected)


# -- work ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("out", [ln.CSR, ln.DENSE(2), ln.CSC], ids=str)
@pytest.mark.parametrize("n", [50, 400])
def test_work_of_products_and_transposes(n, out):
    """A few turns for each product, to put results in order included; never one for each place."""

    @ln.kernel
    def by_columns(C, A, B):
        C[...] = 0
        for k, i, j in ...:
            C[i, j] += A[k, i] * B[k, j]

    @ln.kernel
    def turned(C, A):
        C[...] = 0
        for i, j in ...:
            C[j, i] = A[i, j]

    rng = np.random.default_rng(3)
    a, b = np.where(rng.random((2, n, n)) < 5 / n, 2.0, 0.0)
    A, B = (ln.asarray(v, format=ln.CSR) for v in (a, b))
    products = int(((a != 0).sum(1) * (b != 0).sum(1)).sum())
    multiplied, copied = (
        work(by_columns, ln.empty_tensor(out), A, B),
        work(turned, ln.empty_tensor(out), A),
    )
    if out == ln.DENSE(2):
        assert multiplied == n * n + n + A.nnz + products
        assert copied == n * n + n + A.nnz
    else:
        assert multiplied <= 4 * (n + A.nnz + B.nnz + products)
        assert copied <= 3 * (n + A.nnz)
