"""What indices are in terms of others: every relation, evaluated (SCHED Figs. 17-19)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linnet import loops
from linnet.errors import ScheduleError
from linnet.loops.commands import Bound, Collapse, Pos, Split
from linnet.loops.printer import show
from linnet.loops.rewrite import rewrite_expr
from linnet.scheduling.provenance import (
    child_bounds,
    original_order,
    originals,
    parent_bounds,
    recover_derived,
    recover_original,
)

STORED = loops.Access("A", (loops.Index("i"), loops.Index("j")))

# -- the order of loops ----------------------------------------------------------------------------


def test_split_keeps_the_inner_loop_of_a_free_index():
    split = Split("i", "i0", "i1", 4)
    assert original_order(("i0", "k", "i1", "j"), (split,), {"k"}) == ("k", "i", "j")


def test_split_keeps_the_outer_loop_of_a_reduced_index():
    split = Split("k", "k0", "k1", 4)
    assert original_order(("k0", "i", "k1", "j"), (split,), {"k"}) == ("k", "i", "j")


def test_split_loops_may_be_reordered():
    split = Split("i", "i0", "i1", 4)
    assert original_order(("i1", "i0", "j"), (split,), ()) == ("i", "j")


def test_pos_and_fuse():
    assert original_order(("p", "j"), (Pos("i", "p", STORED),), ()) == ("i", "j")
    assert original_order(("f", "l"), (Collapse("i", "j", "f"),), ()) == ("i", "j", "l")
    relations = (Collapse("i", "j", "f"), Collapse("f", "l", "g"))
    assert original_order(("g",), relations, ()) == ("i", "j", "l")


def test_a_split_of_fused_reductions_is_a_reduction():
    relations = (Collapse("k", "l", "f"), Split("f", "f0", "f1", 8))
    assert original_order(("f0", "i", "f1"), relations, {"k", "l"}) == ("k", "l", "i")
    assert original_order(("f0", "i", "f1"), relations, {"k"}) == ("i", "k", "l")


def test_originals():
    relations = (
        Collapse("i", "k", "f"),
        Pos("f", "p", STORED),
        Split("p", "p0", "p1", 4),
    )
    assert originals("p1", relations) == ("i", "k")
    assert originals("j", relations) == ("j",)


def test_a_loop_that_is_not_there():
    with pytest.raises(ScheduleError, match="no loop over `p`"):
        original_order(("i", "j"), (Pos("i", "p", STORED),), ())


# -- every row, evaluated --------------------------------------------------------------------------


def value(expr, names):
    """An expression over indices, and arrays by their names."""
    match expr:
        case loops.Literal(number):
            return number
        case loops.Index(name) | loops.Name(name):
            return names[name]
        case loops.Access(tensor, (at,)):
            return int(names[tensor][value(at, names)])
        case loops.Parts(of, size):
            return -(-(value(of.stop, names) - value(of.start, names)) // value(size, names))
        case loops.Call(function, args):
            return function.numpy(*(value(a, names) for a in args))
    raise AssertionError(expr)


def extent(first, last):
    return loops.Extent(loops.Literal(first), loops.Literal(last))


def span(found, names):
    return range(value(found.start, names), value(found.stop, names))


RANGES = [(0, 10), (0, 12), (3, 17), (5, 5), (0, 1)]


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("size", [1, 3, 4, 20])
@pytest.mark.parametrize(("lo", "hi"), RANGES)
def test_split(lo, hi, size, up):
    """Every index is one pair, found in both directions, and narrowed by the outer one."""
    relation, bounds = Split("i", "o", "n", size, up), {"i": extent(lo, hi)}
    parts = child_bounds(relation, bounds)
    seen = []
    for o in span(parts["o"], {}):
        one = parent_bounds(relation, bounds, {"o"})["i"]
        within = span(one, {"o": o})
        for n in span(parts["n"], {}):
            names = {"o": o, "n": n}
            i = value(recover_original(relation, bounds)["i"], names)
            point = parent_bounds(relation, bounds, {"o", "n"})["i"]
            assert list(span(point, names)) == [i]
            if i >= hi:  # the parent may leave its range: the last part is cut off
                continue
            assert i in within
            derived = recover_derived(relation, bounds)
            found = [value(derived[x], {"i": i, **names}) for x in ("o", "n")]
            assert found == [o, n]
            seen.append(i)
        assert list(within) == [i for i in seen if i in within]
    assert seen == list(range(lo, hi))
    if up:
        assert list(span(parts["o"], {})) == list(range(size))
    assert parent_bounds(relation, bounds, {"n"}) == bounds


@pytest.mark.parametrize(("lo", "hi"), RANGES)
@pytest.mark.parametrize(("first", "last"), RANGES)
def test_collapse(lo, hi, first, last):
    relation = Collapse("i", "j", "f")
    bounds = {"i": extent(lo, hi), "j": extent(first, last)}
    seen = []
    for f in span(child_bounds(relation, bounds)["f"], {}):
        found = recover_original(relation, bounds)
        names = {"f": f, **{x: value(found[x], {"f": f}) for x in ("i", "j")}}
        assert value(recover_derived(relation, bounds)["f"], names) == f
        seen.append((names["i"], names["j"]))
    assert seen == [(i, j) for i in range(lo, hi) for j in range(first, last)]


ROWS = np.array([1, 4, 6, 9])  # of entries, in a matrix whose rows are stored sparsely
PTR = np.array([0, 2, 3, 6, 8])
COLUMNS = np.array([0, 5, 2, 1, 3, 7, 0, 4])


@pytest.mark.parametrize(("lo", "hi"), [(0, 10), (2, 7), (4, 4), (6, 10), (0, 5)])
def test_positions_of_a_level(lo, hi):
    """Ends of ranges are searched for, and those of the dimension are not."""
    relation, names = Pos("i", "p", STORED), {"A.crd_i": ROWS, "A.begin_i": 0, "A.end_i": 4}
    stop = loops.Dimension("A", 0) if hi == 10 else loops.Literal(hi)
    bounds = {"i": loops.Extent(loops.Literal(lo), stop)}
    found = child_bounds(relation, bounds)["p"]
    assert ("search" in show(found.start)) == (lo > 0)
    assert ("search" in show(found.stop)) == (hi < 10)
    positions = span(found, names)
    coordinates = [value(recover_original(relation, bounds)["i"], {"p": p, **names})
                   for p in positions]  # fmt: skip
    assert coordinates == [i for i in ROWS if lo <= i < hi]
    for p, i in zip(positions, coordinates, strict=True):
        assert value(recover_derived(relation, bounds)["p"], {"i": i, **names}) == p


def test_positions_of_several_levels():
    """Of what has been collapsed, the last index is read, and the others are searched for."""
    relations = (Collapse("i", "j", "f"), Pos("f", "p", STORED))
    bounds = {"i": loops.Extent(loops.Literal(0), loops.Dimension("A", 0)),
              "j": loops.Extent(loops.Literal(0), loops.Dimension("A", 1))}  # fmt: skip
    bounds |= child_bounds(relations[0], bounds)
    names = {"A.crd_i": ROWS, "A.pos_j": PTR, "A.crd_j": COLUMNS, "A.count_j": 8}
    positions = span(child_bounds(relations[1], bounds, relations)["p"], names)
    assert list(positions) == list(range(8))  # the whole level
    found = recover_original(relations[1], bounds, relations)
    pairs = [(value(found["i"], {"p": p, **names}), value(found["j"], {"p": p, **names}))
             for p in positions]  # fmt: skip
    rows = np.repeat(ROWS, np.diff(PTR)).tolist()
    assert pairs == list(zip(rows, COLUMNS.tolist(), strict=True))


def test_positions_of_the_fibers_that_a_loop_comes_to():
    """Where coordinates are collapsed with positions, the outer ones are found from these."""
    relations = (Pos("j", "p", STORED), Collapse("i", "p", "f"))
    bounds = {name: loops.Extent(loops.Literal(0), loops.Dimension("A", mode))
              for mode, name in enumerate("ij")}  # fmt: skip
    for relation in relations:
        bounds |= child_bounds(relation, bounds, relations)
    names = {"A.crd_i": ROWS, "A.pos_j": PTR, "A.crd_j": COLUMNS, "A.count_j": 8}
    positions, rows = span(bounds["f"], names), []
    for f in positions:
        found = recover_original(relations[1], bounds, relations)
        rows.append(value(found["i"], {"f": f, **names}))
        p = value(found["p"], {"f": f, **names})
        j = recover_original(relations[0], bounds, relations)["j"]
        assert value(j, {"p": p, **names}) == COLUMNS[f]
        assert recover_derived(relations[1], bounds, relations) == {"f": loops.Index("p")}
        assert p == f
    assert rows == np.repeat(ROWS, np.diff(PTR)).tolist()
    assert original_order(("f", "k"), relations, ()) == ("i", "j", "k")
    assert originals("f", relations) == ("i", "j")


def test_positions_within_a_part_are_found_by_its_ends():
    relations = (Split("i", "i0", "i1", 4), Split("i1", "i2", "i3", 2), Pos("i3", "p", STORED))
    bounds = {"i": loops.Extent(loops.Literal(0), loops.Dimension("A", 0))}
    for relation in relations:
        bounds |= child_bounds(relation, bounds, relations)
    for i0, i2 in ((0, 0), (0, 1), (1, 1), (2, 0)):
        names = {"A.crd_i": ROWS, "A.begin_i": 0, "A.end_i": 4, "i0": i0, "i2": i2}
        whole = replace(bounds["p"], stop=evaluated(bounds["p"].stop))
        found = span(replace(whole, start=evaluated(whole.start)), names)
        first = 4 * i0 + 2 * i2
        assert [ROWS[p] for p in found] == [i for i in ROWS if first <= i < min(first + 2, 10)]


def evaluated(expr):
    """An expression in which the size of A is 10."""
    size = loops.Dimension("A", 0)
    return rewrite_expr(expr, lambda e: loops.Literal(10) if e == size else None)


def test_splitting_positions_leaves_coordinates_as_they_are():
    relations = (Pos("i", "p", STORED), Split("p", "p0", "p1", 2))
    bounds = {"i": loops.Extent(loops.Literal(0), loops.Dimension("A", 0))}
    bounds |= child_bounds(relations[0], bounds)
    assert show(recover_original(relations[1], bounds)["p"]) == "A.begin_i + p0 * 2 + p1"
    assert parent_bounds(relations[1], bounds, {"p1"})["p"] == bounds["p"]
    assert bounds["i"].start == loops.Literal(0)


@pytest.mark.parametrize(
    ("kind", "bounds"),
    [
        ("MinExact", (4, 12)),
        ("MaxExact", (3, 4)),
        ("MinConstraint", (3, 12)),
        ("MaxConstraint", (3, 12)),
        ("Divisible", (3, 12)),
    ],
)
@pytest.mark.parametrize("name", ["b", ""])
def test_bounds(kind, bounds, name):
    """An end that is said is that; what is only known of a range leaves it as it is."""
    relation, whole = Bound("i", name, 4, kind), {"i": extent(3, 12)}
    assert child_bounds(relation, whole) == {name or "i": extent(*bounds)}
    assert recover_original(relation, whole) == ({"i": loops.Index("b")} if name else {})
    assert recover_derived(relation, whole) == ({"b": loops.Index("i")} if name else {})
    assert original_order((name or "i", "j"), (relation,), ()) == ("i", "j")
