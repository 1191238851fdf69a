"""Results that grow in a loop know how far it is, and get room for what it lets expect."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.backend.harness import WITHOUT_CACHE, Block, C, has_cc

from linnet import backend, imp
from linnet.imp.check import check
from linnet.imp.foresee import foresee
from linnet.imp.printer import show
from linnet.imp.rewrite import statements

N, I, J, COUNT, OWN, SIZE = map(imp.Var, ("n", "i", "j", "count", "own", "size"))
SIZES = imp.Buffer("sizes", "int64")
OUT = imp.Buffer("out", "int64", growable=True)
GROW = imp.Grow(OUT, COUNT + SIZE)


def kernel(*stmts: imp.Stmt, start: imp.Expr = imp.ZERO, stop: imp.Expr = N) -> imp.Kernel:
    """For each row: as many entries as its size says."""
    append = imp.Block((imp.Store(OUT, COUNT, I), imp.Assign(COUNT, COUNT + 1)))
    row = (imp.Let(SIZE, SIZES[I]), *stmts, imp.For(J, imp.ZERO, SIZE, append))
    loop = imp.For(I, start, stop, imp.Block(row))
    body = imp.Block((imp.Let(COUNT, imp.ZERO), loop, imp.SetLength(OUT, COUNT)))
    return imp.Kernel("k", (imp.Argument("A", (N,), (SIZES, OUT)),), body)


def grown(k: imp.Kernel) -> list[imp.Grow]:
    told = foresee(k)
    check(told)
    return [s for s in statements(told.body) if isinstance(s, imp.Grow)]


def test_what_is_appended_to_knows_how_much_is_done():
    assert grown(kernel(GROW)) == [imp.Grow(OUT, GROW.count, I - imp.ZERO + 1, N - imp.ZERO)]
    assert ", i - 0 + 1 of n - 0)" in show(foresee(kernel(GROW)))
    inside = imp.If(SIZE > 0, imp.Block((GROW,)), imp.EMPTY)
    assert grown(kernel(inside)) == grown(kernel(GROW))


@pytest.mark.parametrize(
    "k",
    [
        kernel(imp.Assign(COUNT, imp.ZERO), GROW),  # which begins again in each row
        kernel(imp.Let(OWN, imp.ZERO), imp.Grow(OUT, OWN + SIZE)),
        kernel(imp.Grow(OUT, N)),  # for all rows
        kernel(GROW, stop=COUNT),  # which is another number by now
    ],
    ids=["reset", "own", "all", "bounds"],
)
def test_what_tells_nothing_of_the_end_grows_to_twice_its_size(k):
    assert all((g.done, g.whole) == (imp.ONE, imp.TWO) for g in grown(k))


def test_without_loops_nothing_changes():
    plain = imp.Kernel("k", (imp.Argument("A", (N,), (OUT,)),), imp.Block((imp.Grow(OUT, N),)))
    assert foresee(plain) is plain


def capacity(sizes: np.ndarray, way: str, k: imp.Kernel) -> tuple[int, int]:
    """How much room there is in the end, and how much is used."""
    compiled = backend.build(k, "", C if way == "c" else WITHOUT_CACHE)
    block = Block(k, {"n": len(sizes), "sizes": sizes})
    assert compiled.call(block.address) == imp.OK
    room = int(block.slots[block.places["out"][0] + 1])
    found = block.buffers()["out"]
    np.testing.assert_array_equal(found, np.repeat(np.arange(len(sizes)), sizes))
    return room, len(found)


@pytest.mark.parametrize("way", ["llvm", *(["c"] if has_cc else [])])
def test_room_is_made_for_what_is_expected(way):
    told, n = foresee(kernel(GROW)), 14_000
    even, more = np.full(n, 10), np.arange(n) // 1000
    room, used = capacity(even, way, told)
    assert used < room <= 1.25 * used
    assert capacity(even, way, kernel(GROW))[0] >= 1.5 * used  # by doubling
    for sizes in (more, more[::-1].copy()):
        room, used = capacity(sizes, way, told)  # the first rows have less than others, or more
        assert used <= room <= 2 * used
    assert capacity(np.zeros(n, int), way, told) == (0, 0)


@pytest.mark.parametrize("way", ["llvm", *(["c"] if has_cc else [])])
def test_growth_goes_on_where_less_was_expected(way):
    """Rows of which the last one is as long as all others."""
    sizes = np.append(np.full(1000, 10), 10_000)
    room, used = capacity(sizes, way, foresee(kernel(GROW)))
    assert used <= room <= 2 * used
