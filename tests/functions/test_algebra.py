"""Regions, lattices, and what is claimed of functions."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

import linnet as ln
from linnet.algebra import regions
from linnet.algebra.derive import Space, derive
from linnet.algebra.lattice import U, lattice
from linnet.algebra.lookup import lookup
from linnet.algebra.properties import check_properties
from linnet.algebra.regions import Complement, Leaf, equivalent, holds, parse, show
from linnet.algebra.table import FUNCTIONS, choose, multiply

A, B, C = Leaf("a"), Leaf("b"), Leaf("c")


def some_region(rng: random.Random, depth: int) -> regions.Region:
    if depth == 0 or rng.random() < 0.2:
        return Leaf(rng.choice("abcd"))
    match rng.choice("uic"):
        case "c":
            return Complement(some_region(rng, depth - 1))
        case kind:
            join = regions.union if kind == "u" else regions.intersection
            return join(some_region(rng, depth - 1), some_region(rng, depth - 1))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("x | y & z", "x | (y & z)"),
        ("(x | y) & z", "(x | y) & z"),
        ("~(x & y)", "~x | ~y"),
        ("~(x | ~y)", "~x & y"),
        ("~~x", "x"),
        ("x ∪ ¬y", "x | ~y"),
        ("x | x | y", "x | y"),
        ("x & U", "x"),
        ("x | U", "U"),
        ("x & ~U", "~U"),
    ],
)
def test_regions_as_text(text, printed):
    found = regions.normalize(parse(text))
    assert show(found) == printed
    assert regions.normalize(parse(show(found))) == found


@pytest.mark.parametrize("text", ["", "x +", "x + y", "f(x)", "x and y", "1"])
def test_what_is_no_region(text):
    with pytest.raises(ValueError, match=r"it cannot be read|is none of"):
        parse(text)


def test_normalization_keeps_the_set():
    rng = random.Random(5)
    for _ in range(500):
        region = some_region(rng, 4)
        flat = regions.normalize(region)
        assert equivalent(region, flat)
        assert equivalent(regions.complement(flat), Complement(region))
        assert equivalent(regions.augment(flat, ("e", "f")), flat)
        assert _only_leaves_are_complemented(flat)


def _only_leaves_are_complemented(region: regions.Region) -> bool:
    match region:
        case Complement(inner):
            return isinstance(inner, Leaf)
        case regions.Union(parts) | regions.Intersection(parts):
            return all(_only_leaves_are_complemented(p) for p in parts)
        case _:
            return True


def test_what_is_possible():
    region = parse("(x | y) & ~z")
    assert regions.possible(region, {})
    assert regions.possible(region, {"x": False})
    assert not regions.possible(region, {"x": False, "y": False})
    assert not regions.possible(region, {"z": True})


@pytest.mark.parametrize("extra", [(), ("a", "e")])
def test_the_largest_point_decides(extra):
    """At any coordinate, of the points whose tensors are there the largest says what to do."""
    rng = random.Random(6)
    for _ in range(300):
        region = regions.normalize(some_region(rng, 3))
        found = lattice(region, extra)
        names = tuple(dict.fromkeys((*regions.leaves(region), *extra)))
        for n in range(len(names) + 1):
            for present in map(frozenset, combinations(names, n)):
                below = [p for p in found.points if p.tensors - {U} <= present]
                largest = [p for p in below if not any(q.dominates(p) for q in below)]
                decisions = {p.producer for p in largest} or {False}
                assert decisions == {holds(region, present.__contains__)}, show(region)


def test_omitters_dominate_a_producer():
    rng = random.Random(7)
    for _ in range(300):
        found = lattice(some_region(rng, 3))
        for p in found.points:
            assert p.producer or any(q.producer and p.dominates(q) for q in found.points)


def test_drawing():
    assert str(lattice(parse("(a | b) & ~(a & b)"))).split() == ["×{a,", "b}", "{a}", "{b}"]
    assert str(lattice(parse("a & ~a"))) == "(nowhere)"


# -- spaces of calls -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "fills", "region", "fill", "case"),
    [
        (np.multiply, (0.0, 0.0), "a & b", 0, "annihilator"),
        (np.multiply, (0.0, 1.0), "a", 0, "annihilator"),
        (np.multiply, (1.0, 2.0), "a | b", 2, "identity"),
        (np.multiply, (2.0, 3.0), "a | b", 6, "inferred"),
        (np.add, (0.0, 0.0), "a | b", 0, "identity"),
        (np.add, (np.inf, 1.0), "a", np.inf, "annihilator"),
        (np.minimum, (7.0, 7.0), "a | b", 7, "idempotent"),
        (np.maximum, (-np.inf, 42.0), "a | b", 42, "identity"),
        (np.divide, (0.0, 5.0), "a", 0, "annihilator"),
        (np.subtract, (4.0, 0.0), "a | b", 4, "identity"),
        (np.power, (3.0, 0.0), "b", 1, "annihilator"),
        (np.logical_xor, (False, False), "(a | b) & ~(a & b)", False, "given"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_derivation(function, fills, region, fill, case):
    dtype = "bool" if isinstance(fills[0], bool) else "float64"
    args = tuple(Space(Leaf(n), v, dtype) for n, v in zip("ab", fills, strict=True))
    found = derive(lookup(function), args)
    assert equivalent(found.region, parse(region))
    assert found.fill == fill
    assert found.case == case


# -- claims ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [*FUNCTIONS.values(), choose(0), choose(3)], ids=repr)
def test_every_claim_of_the_table_holds(function):
    assert check_properties(function), str(check_properties(function))


def test_claims_that_are_made_are_tried():
    assert check_properties(multiply).claims[:2] == ("commutative", "associative")
    named = set(check_properties(multiply).claims)
    assert {"identity", "annihilator", "distributes over add"} <= named


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"commutative": True}, "commutative"),
        ({"associative": True}, "associative"),
        ({"idempotent": True}, "idempotent"),
        ({"identity": 0}, "identity"),
        ({"identity": {1: "x"}}, "left identity"),
        ({"annihilator": 0}, "annihilator"),
        ({"annihilator": {0: "y"}}, "annihilator 0"),
        ({"distributes_over": [multiply]}, "distributes over multiply"),
        ({"iteration_space": "x & y"}, "iteration space x & y"),
    ],
    ids=str,
)
def test_false_claims_have_counterexamples(claims, said):
    f = ln.function(lambda x, y: 3 * x - y, name="odd", **claims)
    report = ln.check_properties(f)
    assert not report
    assert [c.claim for c in report.counterexamples] == [said]
    example = report.counterexamples[0]
    assert f"odd: {said} fails for {example.dtype} at" in str(report)


def test_false_cases_have_counterexamples():
    @ln.function(commutative=True)
    def total(x, y):
        return x + y

    @total.case(y=0)
    def _(x, y):
        return 2 * x

    report = ln.check_properties(total, dtypes=["float32"])
    assert {c.claim for c in report.counterexamples} == {"case y=0", "case x=0"}


def test_true_claims_have_none():
    @ln.function(
        commutative=True, associative=True, identity=0, annihilator=1, iteration_space="x | y"
    )
    def probably(x, y):
        return x + y - x * y

    report = ln.check_properties(probably, dtypes=["float64"])
    assert report
    assert str(report).startswith("probably: no counterexample to commutative")


# -- semirings -------------------------------------------------------------------------------------


def test_semirings():
    assert ln.semirings.min_plus == ln.semiring("minimum", np.add)
    assert repr(ln.semirings.or_and) == "semiring(logical_or, logical_and)"
    assert ln.semirings.min_plus.zero("float64") == np.inf
    assert ln.semirings.any_pair.multiply(3.0, 0.0) == 0
    assert ln.semirings.any_pair.add(0, 5) == 5


@pytest.mark.parametrize("pair", [(np.sqrt, np.add), (np.subtract, np.add), ("nonsense", np.add)])
def test_what_is_no_semiring(pair):
    with pytest.raises(ln.errors.ArgumentError):
        ln.semiring(*pair)
