"""Room is made before loops whose needs add up; elsewhere nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linnet as ln
from linnet import imp
from linnet.imp.check import check
from linnet.imp.consecutive import Known
from linnet.imp.interpret import run
from linnet.imp.reserve_ahead import reserve_ahead
from linnet.imp.rewrite import statements

N, I, J, Q, C, V = (imp.Var(name) for name in ("n", "i", "j", "q", "c", "visits"))
A, B = imp.Buffer("a_ptr", "int32"), imp.Buffer("b_ptr", "int64")
OUT = imp.Buffer("out", "int64", growable=True)
KNOWN = Known(frozenset({"n"}), frozenset({"a_ptr", "b_ptr"}))


def length(ptr: imp.Buffer, at: imp.Expr) -> imp.Expr:
    return imp.widen(ptr[at + 1]) - imp.widen(ptr[at])


def kernel(count: imp.Expr, *lets: imp.Let) -> imp.Kernel:
    """For each row: room for `count`, then as many entries as row i of A has."""
    append = imp.Block((imp.Store(OUT, C, I), imp.Assign(C, C + 1)))
    row = imp.For(Q, imp.widen(A[I]), imp.widen(A[I + 1]), append)
    body = imp.Block((*lets, imp.Grow(OUT, count), row))
    stmts = (imp.Let(C, imp.ZERO), imp.For(I, imp.ZERO, N, body), imp.SetLength(OUT, C))
    return imp.Kernel("k", (imp.Argument("A", (N,), (A, B, OUT)),), imp.Block(stmts))


def before(k: imp.Kernel) -> list[imp.Stmt]:
    """What is done before the loop, after the count is set to zero."""
    stmts = reserve_ahead(k, KNOWN).body.stmts
    return list(stmts[1 : [isinstance(s, imp.For) for s in stmts].index(True)])


ALL_A = imp.widen(A[N]) - imp.widen(A[0])
ALL_B = B[N] - B[0]


@pytest.mark.parametrize(
    ("count", "total"),
    [
        (C + length(A, I), C + ALL_A),
        (C + (length(A, I) + length(B, I)), C + (ALL_A + ALL_B)),
        ((C + length(A, I)) * N, (C + ALL_A) * N),
        (C + imp.minimum(length(A, I), length(B, I)), C + imp.minimum(ALL_A, ALL_B)),
        (C + imp.minimum(length(A, I), N), C + ALL_A),
    ],
    ids=["one", "two", "rows", "both", "bounded"],
)
def test_lengths_add_up(count, total):
    let, grow = before(kernel(count))
    assert let.value == total
    assert grow == imp.Grow(OUT, let.var)


def test_lengths_are_found_through_variables():
    let, _ = before(kernel(C + V, imp.Let(J, imp.widen(A[I])), imp.Let(V, imp.widen(A[I + 1]) - J)))
    assert let.value == C + ALL_A


def test_the_outermost_loop_that_will_do():
    inner = imp.For(
        J, imp.widen(A[I]), imp.widen(A[I + 1]), imp.Block((imp.Grow(OUT, C + length(B, J)),))
    )
    outer = imp.For(I, imp.ZERO, N, imp.Block((inner,)))
    argument = imp.Argument("A", (N,), (A, B, OUT))
    k = imp.Kernel("k", (argument,), imp.Block((imp.Let(C, imp.ZERO), outer)))
    stmts = reserve_ahead(k, KNOWN).body.stmts
    assert stmts[1].value == C + (B[imp.widen(A[N])] - B[imp.widen(A[0])])
    assert stmts[3] == outer


def products(*inner: imp.Stmt) -> tuple[imp.Stmt, ...]:
    """`for i: for j in row i of A: make room for all of B …`: each entry of A with each of B."""
    walk = imp.For(V, imp.widen(B[0]), imp.widen(B[N]), imp.Block(inner))
    grow = imp.Grow(OUT, C + (imp.widen(B[N]) - imp.widen(B[0])))
    entries = imp.For(J, imp.widen(A[I]), imp.widen(A[I + 1]), imp.Block((grow, walk)))
    outer = imp.For(I, imp.ZERO, N, imp.Block((entries,)))
    argument = imp.Argument("A", (N,), (A, B, OUT))
    k = imp.Kernel("k", (argument,), imp.Block((imp.Let(C, imp.ZERO), outer)))
    return reserve_ahead(k, KNOWN).body.stmts


APPEND = imp.Assign(C, C + 1)


def test_as_much_in_each_iteration():
    let = products(imp.Store(OUT, C, V), APPEND)[1]
    all_b = imp.widen(B[N]) - imp.widen(B[0])
    assert let.value == C + all_b * ALL_A


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
    lets = [s.value for s in products(*inner) if isinstance(s, imp.Let)]
    assert lets in ([imp.ZERO], [imp.ZERO, C + ALL_A * 2])


def test_stretches_that_follow_one_another():
    """`while j < a_ptr[n]: v = stop of the stretch at j; …; j = v` walks it all, whatever v is."""
    end, stop = imp.widen(A[N]), imp.Var("stop")
    found = imp.Let(stop, imp.Binary("min", imp.widen(A[J]), end, imp.INT))
    length_here = imp.Let(V, stop - J)
    body = imp.Block((found, length_here, imp.Grow(OUT, C + V), imp.Assign(J, stop)))
    start = (
        imp.Let(C, imp.ZERO),
        imp.Let(J, imp.ZERO),
        imp.While(imp.Binary("<", J, end, imp.BOOL), body),
    )
    argument = imp.Argument("A", (N,), (A, B, OUT))
    stmts = reserve_ahead(imp.Kernel("k", (argument,), imp.Block(start)), KNOWN).body.stmts
    assert stmts[2].value == C + (end - J)
    assert stmts[3] == imp.Grow(OUT, stmts[2].var)
    assert stmts[4] == start[2]


def asked_inside(k: imp.Kernel) -> int:
    """How often room is asked for in the loops, once it has been made before them."""
    stmts = reserve_ahead(k, KNOWN).body.stmts
    loops = [s for s in stmts if isinstance(s, imp.For | imp.While)]
    return sum(isinstance(s, imp.Grow) for loop in loops for s in statements(loop.body))


@pytest.mark.parametrize(
    "count",
    [
        C + length(A, I),
        C + (length(A, I) + length(B, I)),
        C + imp.minimum(length(A, I), N),
    ],
    ids=["one", "two", "bounded"],
)
def test_what_cannot_fail_is_not_tested(count):
    assert asked_inside(kernel(count)) == 0


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
        C + imp.minimum(length(A, I), length(B, I) + 1),
    ],
    ids=["dense", "more", "product", "times", "elsewhere", "number", "one more", "the less"],
)
def test_what_may_fail_is_tested(count):
    assert asked_inside(kernel(count)) == 1


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


def row(*stmts: imp.Stmt) -> imp.Kernel:
    """The same for each row."""
    argument = imp.Argument("A", (N,), (A, B, OUT))
    outer = imp.For(I, imp.ZERO, N, imp.Block(stmts))
    return imp.Kernel("k", (argument,), imp.Block((imp.Let(C, imp.ZERO), outer)))


def test_two_tests_for_one_buffer_stay():
    """Each is for its own entries: together they need more than each of them."""
    append = imp.Block((imp.Store(OUT, C, I), APPEND))
    walks = [imp.For(Q, imp.widen(p[I]), imp.widen(p[I + 1]), append) for p in (A, B)]
    first, second = (imp.Grow(OUT, C + length(p, I)) for p in (A, B))
    assert asked_inside(row(first, walks[0], second, walks[1])) == 2


def test_an_end_that_jumps_is_tested():
    jump = imp.Assign(C, C + length(B, I))
    assert asked_inside(row(imp.Grow(OUT, C + length(A, I)), APPEND, jump)) == 1


def test_what_is_known_of_inner_loops_only_is_tested_before_them():
    """The outer loop repeats: nobody knows how often."""
    append = imp.Block((imp.Store(OUT, C, I), APPEND))
    walk = imp.For(Q, imp.widen(A[I]), imp.widen(A[I + 1]), append)
    rows = imp.For(I, imp.ZERO, N, imp.Block((imp.Grow(OUT, C + length(A, I)), walk)))
    again = imp.For(J, imp.ZERO, imp.widen(B[0]), imp.Block((rows,)))
    argument = imp.Argument("A", (N,), (A, B, OUT))
    k = imp.Kernel("k", (argument,), imp.Block((imp.Let(C, imp.ZERO), again)))
    outer = reserve_ahead(k, KNOWN).body.stmts[-1]
    kinds = [type(s) for s in outer.body.stmts]
    assert kinds == [imp.Let, imp.Grow, imp.For]
    assert asked_inside(k) == 1


END = imp.widen(A[N])


def called(name: str, *args: imp.Expr) -> imp.Expr:
    """A call of a codelet that looks through B."""
    return imp.Call(name, (imp.Address(B), *args), imp.INT)


@pytest.mark.parametrize(
    ("end_of_stretch", "count"),
    [
        (imp.Binary("min", J + 2, END, imp.INT), 0),
        (imp.Binary("min", J + 2, N, imp.INT), 1),
        (called("run_end_i64", J, END), 0),
        (called("run_end_i64", J + 1, END), 1),
        (called("beyond_i64", J, END), 1),
    ],
    ids=["end", "beyond", "run", "another run", "any call"],
)
def test_stretches_that_end_in_time(end_of_stretch, count):
    """`while j < a_ptr[n]`: a stretch that may end later may be longer than what there is."""
    end, stop = END, imp.Var("stop")
    found = imp.Let(stop, end_of_stretch)
    append = imp.For(Q, J, stop, imp.Block((imp.Store(OUT, C, Q), APPEND)))
    body = imp.Block((found, imp.Grow(OUT, C + (stop - J)), append, imp.Assign(J, stop)))
    start = (imp.Let(C, imp.ZERO), imp.Let(J, imp.ZERO))
    loop = imp.While(imp.Binary("<", J, end, imp.BOOL), body)
    argument = imp.Argument("A", (N,), (A, B, OUT))
    assert asked_inside(imp.Kernel("k", (argument,), imp.Block((*start, loop)))) == count


@pytest.mark.parametrize(
    "count",
    [C + N, C + I, C + imp.widen(A[I]), C + (imp.widen(A[I + 2]) - imp.widen(A[I]))],
    ids=["dense", "index", "pointer", "overlap"],
)
def test_what_cannot_be_told_is_guessed(count):
    let, _ = before(kernel(count))
    assert let.value == C + ALL_A * 2


@pytest.mark.parametrize(
    ("count", "known"),
    [
        (N, KNOWN),  # not appended
        (C + N, Known(frozenset({"n"}), frozenset())),  # nothing is known to be walked
        (C + length(A, I), Known(frozenset(), KNOWN.pointers)),
    ],
    ids=["whole", "pointers", "sizes"],
)
def test_what_nothing_is_known_about(count, known):
    k = kernel(count)
    assert reserve_ahead(k, known) is k


@given(st.lists(st.integers(0, 3), max_size=5), st.lists(st.integers(0, 3), max_size=5))
def test_the_meaning_stays(a, b):
    n = min(len(a), len(b))
    arrays = {
        "a_ptr": np.cumsum([0, *a[:n]]).astype(np.int32),
        "b_ptr": np.cumsum([0, *b[:n]]).astype(np.int64),
    }
    plain = kernel(C + (length(A, I) + length(B, I)))
    ahead = reserve_ahead(plain, KNOWN)
    check(ahead)
    (status, expected), (same_status, found) = (
        run(k, {"A": ((n,), dict(arrays))}) for k in (plain, ahead)
    )
    assert status == same_status == 0
    np.testing.assert_array_equal(found["out"], expected["out"])
