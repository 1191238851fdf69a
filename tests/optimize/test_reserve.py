"""Room is made before loops whose needs add up; what else grows knows how far its loop is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.optimize.changes import changes
from tests.optimize.data import arguments
from tests.optimize.programs import CORPUS
from tests.unit.backend.harness import WITHOUT_CACHE, Block, has_cc
from tests.unit.backend.harness import C as C_OPTIONS

import linnet as ln
from linnet import backend, imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.rewrite import statements, walk
from linnet.optimize.reserve import reserve
from linnet.runtime.kernel import Kernel

N, I, J, Q, C, V = (imp.Var(name) for name in ("n", "i", "j", "q", "c", "visits"))


def pointers(name: str, dtype: str) -> imp.Buffer:
    """Where the fibers of level 1 of a tensor begin."""
    holds = imp.Holds(name, 1, "ptr", "position", fiber=True, ascends=True)
    return imp.Buffer(f"{name}_ptr", dtype, holds=holds)


A, B = pointers("a", "int32"), pointers("b", "int64")
SIZES = imp.Buffer("sizes", "int64")
OUT = imp.Buffer("out", "int64", growable=True)
APPEND = imp.Assign(C, C + 1)
WRITE = imp.Block((imp.Store(OUT, C, I), APPEND))


def length(ptr: imp.Buffer, at: imp.Expr) -> imp.Expr:
    return imp.widen(ptr[at + 1]) - imp.widen(ptr[at])


OTHER = imp.Buffer("other", "int64", growable=True)
MANY = imp.Buffer("many", "int64", growable=True)


def whole(*stmts: imp.Stmt) -> imp.Kernel:
    """A kernel with a count that begins at 0."""
    body = imp.Block((imp.Let(C, imp.ZERO), *stmts, imp.SetLength(OUT, C)))
    used = {n.buffer for n in walk(body) if isinstance(n, imp.Load | imp.Store | imp.Grow)}
    used |= {n.b for n in walk(body) if isinstance(n, imp.Swap)}
    buffers = tuple(sorted(used, key=lambda buffer: buffer.name))
    entries = imp.Entries(imp.widen(A[imp.FIRST]), imp.widen(A[imp.LAST]))
    argument = imp.Argument("a", (N,), buffers, (None, entries if A in buffers else None))
    return imp.Kernel("k", (argument,), body)


def rows(*stmts: imp.Stmt, over: imp.Over = imp.NOWHERE) -> imp.Kernel:
    """The same for each row."""
    return whole(imp.For(I, imp.ZERO, N, imp.Block(stmts), over))


def row(ptr: imp.Buffer = A) -> imp.For:
    """As many entries as row i has."""
    return imp.For(Q, imp.widen(ptr[I]), imp.widen(ptr[I + 1]), WRITE)


def kernel(count: imp.Expr, *lets: imp.Let) -> imp.Kernel:
    """For each row: room for `count`, then as many entries as row i of A has."""
    return rows(*lets, imp.Grow(OUT, count), row())


def reserved(k: imp.Kernel) -> imp.Kernel:
    found = reserve(k)
    check(found)
    return found


def before(k: imp.Kernel) -> list[imp.Expr]:
    """How much room is made before the first loop."""
    stmts = reserved(k).body.stmts
    first = [isinstance(s, imp.For | imp.While) for s in stmts].index(True)
    lets = {s.var: s.value for s in stmts[:first] if isinstance(s, imp.Let)}
    return [lets[s.count] for s in stmts[:first] if isinstance(s, imp.Grow)]


def asked_inside(k: imp.Kernel) -> int:
    """How often room is asked for in loops, once it has been made before them."""
    loops = [s for s in reserved(k).body.stmts if isinstance(s, imp.For | imp.While)]
    return sum(isinstance(s, imp.Grow) for loop in loops for s in statements(loop.body))


ALL_A = imp.widen(A[N]) - imp.widen(A[0])
ALL_B = B[N] - B[0]


# -- what adds up ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "total"),
    [
        (C + length(A, I), C + ALL_A),
        (C + (length(A, I) + length(B, I)), C + (ALL_A + ALL_B)),
        (C + imp.minimum(length(A, I), length(B, I)), C + imp.minimum(ALL_A, ALL_B)),
        (C + imp.minimum(length(A, I), N), C + ALL_A),
        (C + imp.minimum(length(A, I), length(B, I) + 1), C + ALL_A),
        (C + imp.maximum(length(A, I), 0), C + ALL_A),
    ],
    ids=["one", "two", "both", "bounded", "the less", "at least none"],
)
def test_lengths_add_up(count, total):
    """And what cannot fail is not tested any more."""
    assert before(kernel(count)) == [total]
    assert asked_inside(kernel(count)) == 0


def test_lengths_are_found_through_variables():
    k = kernel(C + V, imp.Let(J, imp.widen(A[I])), imp.Let(V, imp.widen(A[I + 1]) - J))
    assert before(k) == [C + ALL_A]
    assert asked_inside(k) == 0


def test_the_outermost_loop_that_will_do():
    entries = imp.Block((imp.Grow(OUT, C + length(B, J)), imp.For(Q, B[J], B[J + 1], WRITE)))
    k = rows(imp.For(J, imp.widen(A[I]), imp.widen(A[I + 1]), entries))
    assert before(k) == [C + (B[imp.widen(A[N])] - B[imp.widen(A[0])])]
    assert asked_inside(k) == 0


def test_what_is_known_of_inner_loops_only_is_asked_for_before_them():
    """The outer loop repeats: nobody knows how often."""
    inner = imp.For(I, imp.ZERO, N, imp.Block((imp.Grow(OUT, C + length(A, I)), row())))
    k = whole(imp.For(J, imp.ZERO, imp.widen(B[0]), imp.Block((inner,))))
    outer = reserved(k).body.stmts[-2]
    assert [type(s) for s in outer.body.stmts] == [imp.Let, imp.Grow, imp.For]
    assert asked_inside(k) == 1


def test_two_loops_for_one_array():
    """Together they need as much as both."""
    first, second = (imp.Grow(OUT, C + length(p, I)) for p in (A, B))
    k = rows(first, row(A), second, row(B))
    assert before(k) == [C + (ALL_A + ALL_B)]
    assert asked_inside(k) == 0
    other = rows(first, row(A), imp.Grow(OUT, C + N), row(B))
    assert asked_inside(other) == 2


def test_arrays_that_share_an_end():
    """One has an element more, and another several for each: that may be more than is counted."""
    asks = [(OUT, C + length(A, I)), (OTHER, C + length(A, I) + 1), (MANY, (C + length(A, I)) * N)]
    k = rows(*(imp.Grow(buffer, count) for buffer, count in asks), row())
    assert before(k) == [C + ALL_A, C + (ALL_A + 1), (C + ALL_A) * N]
    assert asked_inside(k) == 1


@pytest.mark.parametrize(
    "count",
    [
        C + N,
        C + length(A, I) + N,
        C + length(A, I) * length(B, I),
        C + length(A, I) * N,  # which may be more than can be counted
        N + length(A, I),
        C + 3,  # in each row, though A may have no entry
        C + length(A, I) + 1,
        C + (imp.widen(A[I + 2]) - imp.widen(A[I])),
        C + (imp.widen(SIZES[I + 1]) - SIZES[I]),  # which may decrease
    ],
    ids=[
        "dense", "more", "product", "times", "elsewhere", "number", "one more",
        "overlap", "any numbers",
    ],
)  # fmt: skip
def test_what_may_fail_is_tested(count):
    assert asked_inside(kernel(count)) == 1


def test_an_end_that_jumps_is_tested():
    jump = imp.Assign(C, C + length(B, I))
    assert asked_inside(rows(imp.Grow(OUT, C + length(A, I)), APPEND, jump)) == 1


def test_another_array_each_time_is_tested():
    k = rows(imp.Grow(OUT, C + length(A, I)), row(), imp.Swap(OUT, OTHER))
    assert asked_inside(k) == 1


def test_pointers_that_change_are_not_relied_upon():
    ptr = imp.Buffer("a_ptr", "int64", growable=True, holds=A.holds)
    body = imp.Block((imp.Grow(OUT, C + length(ptr, I)), row(ptr), imp.Store(ptr, I, I)))
    argument = imp.Argument("A", (N,), (ptr, OUT))
    stmts = imp.Block((imp.Let(C, imp.ZERO), imp.For(I, imp.ZERO, N, body)))
    assert asked_inside(imp.Kernel("k", (argument,), stmts)) == 1


# -- what loops say of their ranges ----------------------------------------------------------------


def part_of_row(over: imp.Over = imp.NOWHERE) -> imp.Kernel:
    """Some of the entries of each row: what an index is compared with cuts it."""
    lo = imp.Let(J, SIZES[I])
    some = imp.For(Q, J, imp.widen(A[I + 1]), WRITE, over)
    return rows(lo, imp.Grow(OUT, C + (imp.widen(A[I + 1]) - J)), some)


def test_a_part_of_a_row_is_no_more_than_the_row():
    over = imp.Over("", (imp.Span("a", 1, I, I + 1, part=True),))
    assert before(part_of_row(over)) == [C + ALL_A]
    assert asked_inside(part_of_row(over)) == 0
    assert asked_inside(part_of_row()) == 1


def tiles(over: imp.Over) -> imp.Kernel:
    """Four rows at a time: what each appends is known for all that a tile goes through."""
    stop = imp.Let(J, imp.minimum(V * 4 + 4, N))
    body = imp.Block((imp.Grow(OUT, C + length(A, I)), row()))
    tile = imp.For(I, V * 4, J, body, over)
    return whole(imp.For(V, imp.ZERO, SIZES[0], imp.Block((stop, tile)), imp.Over(counter="i")))


def test_parts_that_follow_one_another():
    span = imp.Span("", -1, imp.ZERO, N, part=True)
    assert before(tiles(imp.Over("", (span,), ordered=True))) == [C + ALL_A]
    assert asked_inside(tiles(imp.Over("", (span,), ordered=True))) == 0
    assert asked_inside(tiles(imp.Over())) == 1  # nobody says that they are of one range


def stretches(stop: imp.Expr, over: imp.Over) -> imp.Kernel:
    """`while j < a_ptr[n]: a stretch from j to `stop` is appended, and j goes on there."""
    end, at = imp.widen(A[N]), imp.Var("at")
    append = imp.For(Q, J, at, imp.Block((imp.Store(OUT, C, Q), APPEND)))
    body = (imp.Let(at, stop), imp.Grow(OUT, C + (at - J)), append, imp.Assign(J, at))
    loop = imp.While(imp.Binary("<", J, end, imp.BOOL), imp.Block(body), over)
    return whole(imp.Let(J, imp.widen(A[0])), loop)


def test_stretches_that_follow_one_another():
    """A position is never beyond what a loop goes through, and that is checked."""
    over = imp.Over("", (imp.Span("a", 1, imp.ZERO, N, part=True, position=J),))
    assert before(stretches(SIZES[J], over)) == [C + (imp.widen(A[N]) - J)]
    assert asked_inside(stretches(SIZES[J], over)) == 0
    assert asked_inside(stretches(SIZES[J], imp.Over())) == 1


# -- what is of use, though somebody asks again ----------------------------------------------------


def products(*inner: imp.Stmt) -> imp.Kernel:
    """`for i: for j in row i of A: make room for all of B …`: each entry of A with each of B."""
    each = imp.For(V, imp.widen(B[0]), imp.widen(B[N]), imp.Block(inner))
    grow = imp.Grow(OUT, C + (imp.widen(B[N]) - imp.widen(B[0])))
    entries = imp.For(J, imp.widen(A[I]), imp.widen(A[I + 1]), imp.Block((grow, each)))
    return rows(entries)


def test_as_much_in_each_iteration():
    k = products(imp.Store(OUT, C, V), APPEND)
    assert before(k) == [C + ALL_A * ALL_B]
    assert asked_inside(k) == 1


@pytest.mark.parametrize(
    "inner",
    [
        (imp.If(imp.Binary("<", V, N, imp.BOOL), imp.Block((APPEND,)), imp.EMPTY),),
        (APPEND, imp.If(imp.Binary("<", V, N, imp.BOOL), imp.Block((imp.Break(),)), imp.EMPTY)),
    ],
    ids=["perhaps", "until"],
)
def test_not_as_much_for_sure(inner):
    """Room for every pair could be far more than is ever written."""
    assert before(products(*inner)) == []


@pytest.mark.parametrize("count", [C + N, C + I, C + imp.widen(A[I]), N])
def test_what_nothing_is_known_about(count):
    assert before(kernel(count)) == []


# -- what grows in a loop --------------------------------------------------------------------------

SIZE, OWN = imp.Var("size"), imp.Var("own")
GROW = imp.Grow(OUT, C + SIZE)


def by_size(*stmts: imp.Stmt, start: imp.Expr = imp.ZERO, stop: imp.Expr = N) -> imp.Kernel:
    """For each row: as many entries as its size says."""
    body = (imp.Let(SIZE, SIZES[I]), *stmts, imp.For(J, imp.ZERO, SIZE, WRITE))
    return whole(imp.For(I, start, stop, imp.Block(body)))


def told(k: imp.Kernel) -> list[tuple[imp.Expr, imp.Expr]]:
    """How much of a loop is done, for all that grows in it."""
    return [(s.done, s.whole) for s in statements(reserved(k).body) if isinstance(s, imp.Grow)]


def test_what_is_appended_to_knows_how_much_is_done():
    assert told(by_size(GROW)) == [(I - imp.ZERO + 1, N - imp.ZERO)]
    assert ", i - 0 + 1 of n - 0)" in show(reserve(by_size(GROW)))
    inside = imp.If(SIZE > 0, imp.Block((GROW,)), imp.EMPTY)
    assert told(by_size(inside)) == told(by_size(GROW))


@pytest.mark.parametrize(
    "k",
    [
        by_size(imp.Assign(C, imp.ZERO), GROW),  # which begins again in each row
        by_size(imp.Let(OWN, imp.ZERO), imp.Grow(OUT, OWN + SIZE)),
        by_size(imp.Grow(OUT, N)),  # for all rows
        by_size(GROW, stop=C),  # which is another number by now
    ],
    ids=["reset", "own", "all", "bounds"],
)
def test_what_tells_nothing_of_the_end_grows_to_twice_its_size(k):
    assert all(found == (imp.ONE, imp.TWO) for found in told(k))


def test_without_loops_nothing_changes():
    plain = imp.Kernel("k", (imp.Argument("A", (N,), (OUT,)),), imp.Block((imp.Grow(OUT, N),)))
    assert reserve(plain) is plain


def capacity(sizes: np.ndarray, way: str, k: imp.Kernel) -> tuple[int, int]:
    """How much room there is in the end, and how much is used."""
    compiled = backend.build(k, "", C_OPTIONS if way == "c" else WITHOUT_CACHE)
    block = Block(k, {"n": len(sizes), "sizes": sizes})
    assert compiled.call(block.address) == imp.OK
    room = int(block.slots[block.places["out"][0] + 1])
    found = block.buffers()["out"]
    np.testing.assert_array_equal(found, np.repeat(np.arange(len(sizes)), sizes))
    return room, len(found)


@pytest.mark.parametrize("way", ["llvm", *(["c"] if has_cc else [])])
def test_room_is_made_for_what_is_expected(way):
    k, n = reserve(by_size(GROW)), 14_000
    even, more = np.full(n, 10), np.arange(n) // 1000
    room, used = capacity(even, way, k)
    assert used < room <= 1.25 * used
    assert capacity(even, way, by_size(GROW))[0] >= 1.5 * used  # by doubling
    for sizes in (more, more[::-1].copy()):
        room, used = capacity(sizes, way, k)  # the first rows have less than others, or more
        assert used <= room <= 2 * used
    assert capacity(np.zeros(n, int), way, k) == (0, 0)


@pytest.mark.parametrize("way", ["llvm", *(["c"] if has_cc else [])])
def test_growth_goes_on_where_less_was_expected(way):
    """Rows of which the last one is as long as all others."""
    sizes = np.append(np.full(1000, 10), 10_000)
    room, used = capacity(sizes, way, reserve(by_size(GROW)))
    assert used <= room <= 2 * used


# -- programs --------------------------------------------------------------------------------------


@ln.kernel
def three_of_each(C, y, A):
    C[...] = 0
    y[...] = 0
    for i in ...:
        for j in range(3):
            C[i, j] = i + j + 1
        for j in range(A.shape[1]):
            y[i] += A[i, j]
    return C, y


def test_rows_that_are_written_though_others_are_empty():
    n = 3000
    A = ln.asarray(np.zeros((n, 4)), format=ln.CSR)
    C = ln.asarray(np.zeros((n, 4)), format=ln.CSR)
    three_of_each(C, ln.empty_tensor(ln.DENSE(1)), A)
    i, j = np.indices((n, 3))
    np.testing.assert_array_equal(C.to_numpy()[:, :3], i + j + 1)


@given(st.lists(st.integers(0, 3), max_size=5), st.lists(st.integers(0, 3), max_size=5))
def test_the_meaning_stays(a, b):
    n = min(len(a), len(b))
    arrays = {
        "a_ptr": np.cumsum([0, *a[:n]]).astype(np.int32),
        "b_ptr": np.cumsum([0, *b[:n]]).astype(np.int64),
    }
    first, second = (imp.Grow(OUT, C + length(p, I)) for p in (A, B))
    for plain in (
        kernel(C + (length(A, I) + length(B, I))),
        rows(first, row(A), second, row(B)),
        products(imp.Store(OUT, C, V), APPEND),
    ):
        (status, expected), (same_status, found) = (
            run(k, {"a": ((n,), dict(arrays))}) for k in (plain, reserved(plain))
        )
        assert status == same_status == 0
        np.testing.assert_array_equal(found["out"], expected["out"])


def grown_in_loops(program) -> int:
    """How often room is asked for in the loops of a kernel of the corpus."""
    args = arguments(program)
    body = Kernel(program.program).lowered(*[args[p] for p in program.program.params]).kernel.body
    loops = [s for s in statements(body) if isinstance(s, imp.For | imp.While)]
    return sum(isinstance(s, imp.Grow) for loop in loops for s in loop.body.stmts)


SUMS = ("sum of two", "to coordinates", "sddmm", "diagonals behind one another", "logarithms")


@pytest.mark.parametrize("program", [p for p in CORPUS if p.name in SUMS], ids=lambda p: p.name)
def test_small_changes_make_no_difference(program):
    """What is appended is known before the first loop, and nobody asks in one."""
    assert grown_in_loops(program) == 0
    for name, changed in changes(program):
        assert grown_in_loops(changed) == 0, name
