"""ARRAY, figures 14 to 18, 20 and 24: lattices, and what loops visit that are made of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.functions.claimed import gcd, implied, unless
from tests.papers.spaces import (
    bitwise_and,
    check,
    lattice_of,
    points,
    region_of,
    stored,
    vectors,
    xor,
)
from tests.visits import work

import linnet as ln
from linnet.algebra.lattice import lattice
from linnet.algebra.regions import equivalent, parse
from linnet.normalize.spaces import spaces_of

# -- Figures 14 to 18: lattices --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "producers", "omitters"),
    [
        ("(b | c) & d", "bcd bd cd", ""),  # Fig. 14
        ("(a | b) & ~(a & b)", "a b", "ab"),  # Fig. 15
        ("a & ~b", "a", "ab"),  # Fig. 16
        ("a | ~b", "abU aU U", "bU"),  # Fig. 17
        ("(a | b) & b", "ab b", ""),  # Fig. 18: b is on both sides
        ("(a | b) & (b | c)", "abc ab ac bc b", ""),
        ("a & b & ~(b & c)", "ab", "abc"),
        ("a", "a", ""),
        ("~a", "U", "aU"),
        ("U", "U", ""),
        ("c | (a & b)", "abc ab c", ""),
    ],
)
def test_lattices(text, producers, omitters):
    assert points(lattice(parse(text))) == (set(producers.split()), set(omitters.split()))


def test_fig14_both_expressions():
    @ln.kernel
    def algebra(r, b, c, d):
        r[...] = 0
        for i in ...:
            r[i] = (b[i] + c[i]) * d[i]

    @ln.kernel
    def functions(r, b, c, d):
        r[...] = 0
        for i in ...:
            r[i] = bitwise_and(gcd(b[i], c[i]), d[i])

    for kernel in (algebra, functions):
        tensors = vectors("bcd", {}, "int64")
        check(kernel, tensors, "(b | c) & d", "bcd bd cd")
        drawn = ln.explain(kernel, ln.empty_tensor(ln.CSF(1)), *tensors.values())["lattices"]
        assert "(b[i] | c[i]) & d[i]" in drawn
        assert "{b[i], c[i], d[i]}\n" in drawn


def test_fig15_xor_omits_what_both_store():
    @ln.kernel
    def apply(r, a, b):
        r[...] = False
        for i in ...:
            r[i] = xor(a[i], b[i])

    tensors = vectors("ab", {}, "bool")
    check(apply, tensors, "(a | b) & ~(a & b)", "×ab a b")
    drawn = ln.explain(apply, ln.empty_tensor(ln.CSF(1)), *tensors.values())["lattices"]
    assert "×{a[i], b[i]}" in drawn


def test_fig15_a_stored_fill_value_is_not_defined():
    """§7.1: what is stored but is the fill value does not make an omitter."""

    @ln.kernel
    def apply(r, a, b):
        r[...] = False
        for i in ...:
            r[i] = xor(a[i], b[i])

    a = ln.tensor([[0, 1, 2]], [True, False, False], (5,), format=ln.CSF(1))
    b = ln.tensor([[0, 1, 2]], [True, True, False], (5,), format=ln.CSF(1))
    out = apply(ln.empty_tensor(ln.CSF(1)), a, b)
    assert out.to_numpy().tolist() == [False, True, False, False, False]
    assert work(apply, ln.empty_tensor(ln.CSF(1)), a, b) == 3


def test_fig15_two_dimensions():
    """Only in the last loop can something be left out because both are stored (§7.1)."""

    @ln.kernel
    def apply(r, a, b):
        r[...] = False
        for i, j in ...:
            r[i, j] = xor(a[i, j], b[i, j])

    rng = np.random.default_rng(15)
    x, y = rng.random((2, 7, 9)) < 0.4
    a, b = (ln.asarray(v, format=ln.DCSR) for v in (x, y))
    out = apply(ln.empty_tensor(ln.DCSR), a, b)
    np.testing.assert_array_equal(out.to_numpy(), x ^ y)
    assert out.nnz == np.count_nonzero(x ^ y)
    rows = np.count_nonzero((x | y).any(1))
    assert work(apply, ln.empty_tensor(ln.DCSR), a, b) == np.count_nonzero(x | y) + rows
    outer, inner = spaces_of(apply.program, {"a": a.format, "b": b.format})
    assert points(outer.lattice)[1] == set()
    assert len(points(inner.lattice)[1]) == 1


def test_fig16_difference():
    @ln.kernel
    def apply(r, a, b):
        r[...] = 0
        for i in ...:
            r[i] = unless(a[i], b[i])

    check(apply, vectors("ab", {}, "float64"), "a & ~b", "×ab a")


def test_fig17_union_with_a_complement():
    @ln.kernel
    def apply(r, a, b):
        r[...] = 0
        for i in ...:
            r[i] = implied(a[i], b[i])

    tensors = vectors("ab", {}, "float64")
    assert equivalent(region_of(apply, tensors), parse("a | ~b"))
    assert lattice_of(apply, tensors) == {"abU", "aU", "×bU", "U"}
    out = apply(ln.empty_tensor(ln.CSF(1)), *tensors.values())
    a, b = (t.to_numpy() for t in tensors.values())
    np.testing.assert_array_equal(out.to_numpy(), np.where(b == 0, 1 + a, a))
    inside = {i for i in range(len(a)) if a[i] or not b[i]}
    assert stored(out) == inside
    assert len(inside) <= work(apply, ln.empty_tensor(ln.CSF(1)), *tensors.values()) <= len(a)


def test_fig18_repeated_tensor():
    @ln.kernel
    def apply(r, a, b):
        r[...] = 0
        for i in ...:
            r[i] = (a[i] + b[i]) * b[i]

    check(apply, vectors("ab", {}, "float64"), "b", "ab b")


# -- Figures 20 and 24: ufuncs and fused ufuncs ----------------------------------------------------


@pytest.mark.parametrize(
    ("ufunc", "dtype", "fill", "text", "words"),
    [
        (np.logical_xor, "bool", False, "(a | b) & ~(a & b)", "×ab a b"),
        (np.ldexp, "float64", 0, "a", "ab a"),
        (np.right_shift, "int64", 0, "a", "ab a"),
        (np.left_shift, "int64", 0, "a", "ab a"),
        (np.power, "float64", 1, "b", "ab b"),
        (np.floor_divide, "int64", 0, "a", "ab a"),
        (np.arctan2, "float64", 0, "a | b", "ab a b"),
        (np.copysign, "float64", 0, "a | b", "ab a b"),
        (np.hypot, "float64", 0, "a | b", "ab a b"),
        (np.heaviside, "float64", 0, "a | b", "ab a b"),
        (np.equal, "float64", True, "a | b", "ab a b"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_fig20_ufuncs(ufunc, dtype, fill, text, words):
    @ln.kernel
    def apply(r, a, b):
        r[...] = fill
        for i in ...:
            r[i] = ufunc(a[i], b[i])

    tensors = vectors("ab", {}, dtype)
    if ufunc is np.ldexp:
        b = tensors["b"]
        tensors["b"] = ln.tensor([sorted(stored(b))], np.full(b.nnz, 2), b.shape, format=ln.CSF(1))
    out = check(apply, tensors, text, words)
    with np.errstate(all="ignore"):
        expected = ufunc(*(t.to_numpy() for t in tensors.values()))
    np.testing.assert_array_equal(out.to_numpy(), expected)


@pytest.mark.parametrize(
    ("text", "meaning", "region", "words"),
    [
        ("and_xor", lambda a, b, c: (a ^ b) & c, "(a | b) & ~(a & b) & c", "×abc ac bc"),
        (
            "or_xor",
            lambda a, b, c: (a ^ b) | c,
            "((a | b) & ~(a & b)) | c",
            "abc ×ab ac bc a b c",
        ),
        (
            "xor_xor",
            lambda a, b, c: a ^ b ^ c,
            "(((a | b) & ~(a & b)) | c) & ~((a | b) & ~(a & b) & c)",
            "abc ×ab ×ac ×bc a b c",
        ),
        ("and_or", lambda a, b, c: (a | b) & c, "(a | b) & c", "abc ac bc"),
        ("or_and", lambda a, b, c: (a & b) | c, "(a & b) | c", "abc ab c"),
    ],
    ids=lambda x: x if isinstance(x, str) and "_" in x else None,
)
def test_fig24_fused(text, meaning, region, words):
    @ln.kernel
    def and_xor(r, a, b, c):
        r[...] = False
        for i in ...:
            r[i] = np.logical_and(np.logical_xor(a[i], b[i]), c[i])

    @ln.kernel
    def or_xor(r, a, b, c):
        r[...] = False
        for i in ...:
            r[i] = np.logical_or(np.logical_xor(a[i], b[i]), c[i])

    @ln.kernel
    def xor_xor(r, a, b, c):
        r[...] = False
        for i in ...:
            r[i] = np.logical_xor(np.logical_xor(a[i], b[i]), c[i])

    @ln.kernel
    def and_or(r, a, b, c):
        r[...] = False
        for i in ...:
            r[i] = np.logical_and(np.logical_or(a[i], b[i]), c[i])

    @ln.kernel
    def or_and(r, a, b, c):
        r[...] = False
        for i in ...:
            r[i] = np.logical_or(np.logical_and(a[i], b[i]), c[i])

    kernel = {k.__name__: k for k in (and_xor, or_xor, xor_xor, and_or, or_and)}[text]
    tensors = vectors("abc", {}, "bool")
    out = check(kernel, tensors, region, words)
    np.testing.assert_array_equal(
        out.to_numpy(), meaning(*(t.to_numpy() for t in tensors.values()))
    )
