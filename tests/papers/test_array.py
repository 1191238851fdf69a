"""ARRAY, figure by figure: the iteration space, its lattice, and what compiled loops visit.

Vectors store three of the letters of a Venn diagram each, so that every region has coordinates. A
loop has to run its body once for every coordinate of the region, and nowhere else.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import linnet as ln
from linnet.algebra import regions
from linnet.algebra.lattice import Lattice, U, lattice
from linnet.algebra.regions import equivalent, holds, parse, show
from linnet.formats.assemble import unpack
from linnet.normalize.spaces import spaces_of

INF = np.inf
COPIES = 3  # coordinates in every region of the diagram


@ln.function(commutative=True, iteration_space="x | y")
def gcd(x, y):
    x, y = abs(x), abs(y)
    while x != 0:
        x, y = y % x, x
    return y


@gcd.case(y=0)
def _(x, y):
    return abs(x)


@ln.function(commutative=True, annihilator=0)
def bitwise_and(x, y):
    return x & y


@ln.function(commutative=True, iteration_space="(x | y) & ~(x & y)", fills=False)
def xor(x, y):
    return x != y


@ln.function(commutative=True, annihilator=INF)
def max3(x, y, z):
    return max(x, y, z)


@ln.function(iteration_space="x & ~y")
def unless(x, y):
    return x if y == 0 else 0 * x


@ln.function(iteration_space="x | ~y", outside=0)
def implied(x, y):
    return 1 + x if y == 0 else x


def vectors(names: str, fills: dict[str, object], dtype: str) -> dict[str, ln.Tensor]:
    """Vectors whose stored coordinates make up all regions of a diagram."""
    rng = np.random.default_rng(len(names))
    subsets = [s for s in product((False, True), repeat=len(names)) for _ in range(COPIES)]
    rng.shuffle(subsets)
    found = {}
    for k, name in enumerate(names):
        where = [i for i, s in enumerate(subsets) if s[k]]
        values = (rng.integers(2, 6, len(where)) if dtype != "bool" else np.ones(len(where))) > 0
        if dtype != "bool":
            values = rng.integers(2, 6, len(where))
        found[name] = ln.tensor(
            [where],
            values.astype(dtype),
            (len(subsets),),
            format=ln.CSF(1),
            fill_value=fills.get(name, False if dtype == "bool" else 0),
        )
    return found


def stored(tensor: ln.Tensor) -> set[int]:
    return set(unpack(tensor)[0][0].tolist())


def region_of(kernel: ln.Kernel, tensors: dict[str, ln.Tensor]) -> regions.Region:
    formats = {name: t.format for name, t in tensors.items()}
    (found,) = spaces_of(kernel.program, formats)
    names = {f"{name}[i]": regions.Leaf(name) for name in tensors}
    return regions.substitute(found.lattice.region, names)


def lattice_of(kernel: ln.Kernel, tensors: dict[str, ln.Tensor]) -> set[str]:
    """The points of a kernel's only loop, as words; those that are passed over with a cross."""
    (found,) = spaces_of(kernel.program, {name: t.format for name, t in tensors.items()})
    producers, omitters = points(found.lattice)
    words = producers | {f"×{word}" for word in omitters}
    return {word.replace("[i]", "") for word in words}


def check(kernel: ln.Kernel, tensors: dict[str, ln.Tensor], text: str, words: str) -> ln.Tensor:
    """The space and its lattice are as said, and the loop visits just that space.

    The result is the interpreter's.
    """
    region = parse(text)
    result = kernel.program.params[0]
    found = region_of(kernel, tensors)
    assert equivalent(found, region), show(found)
    assert lattice_of(kernel, tensors) == set(words.split())
    size = next(iter(tensors.values())).shape[0]
    where = {name: stored(t) for name, t in tensors.items()}
    inside = {i for i in range(size) if holds(region, lambda name: i in where[name])}  # noqa: B023
    args = [tensors[name] for name in kernel.program.params[1:]]
    (count,) = kernel.visits(ln.empty_tensor(ln.CSF(1)), *args).values()
    assert count == len(inside)
    out = kernel(ln.empty_tensor(ln.CSF(1)), *args)
    assert stored(out) == inside
    expected = kernel.reference(ln.empty_tensor(ln.CSF(1)), *args)[result]
    np.testing.assert_array_equal(out.to_numpy(), expected)
    return out


def points(found: Lattice) -> tuple[set[str], set[str]]:
    """The producers and the omitters, each as a word of its tensors."""

    def words(sets) -> set[str]:
        return {"".join(sorted(s, key=lambda n: (n == U, n))) for s in sets}

    return words(found.producers), words(found.omitters)


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
    (count,) = masked_power_0.visits(ln.empty_tensor(ln.CSF(1)), *args).values()
    assert count == tensors["b"].shape[0]
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
        assert "(b[i] ∪ c[i]) ∩ d[i]" in drawn
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
    assert apply.visits(ln.empty_tensor(ln.CSF(1)), a, b) == {"r[i] = xor(a[i], b[i])": 1}


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
    (count,) = apply.visits(ln.empty_tensor(ln.DCSR), a, b).values()
    assert count == np.count_nonzero(x ^ y)
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
    (count,) = apply.visits(ln.empty_tensor(ln.CSF(1)), *tensors.values()).values()
    assert count == len(inside)


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


# -- counters --------------------------------------------------------------------------------------


@pytest.mark.parametrize("out", [ln.CSR, ln.DENSE(2), ln.CSC], ids=str)
def test_visits_are_those_of_the_user(out):
    """Copies from workspaces and the counting of room are not among them."""

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
    a, b = np.where(rng.random((2, 6, 6)) < 0.4, 2.0, 0.0)
    A, B = (ln.asarray(v, format=ln.CSR) for v in (a, b))
    products = int(sum((a[k] != 0).sum() * (b[k] != 0).sum() for k in range(6)))
    assert list(by_columns.visits(ln.empty_tensor(out), A, B).values()) == [products]
    assert list(turned.visits(ln.empty_tensor(out), A).values()) == [A.nnz]
