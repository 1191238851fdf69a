"""Imperative code prints as what it is."""

from __future__ import annotations

import pytest

from linnet import imp
from linnet.imp.printer import show
from linnet.imp.rewrite import children, rebuild, rewrite, substitute, walk

X, Y = imp.Var("x"), imp.Var("y")
P = imp.Var("p", "bool")
A = imp.Buffer("A_val", "float64", growable=True)


@pytest.mark.parametrize(
    ("e", "text"),
    [
        ((X + 1) * Y, "(x + 1) * y"),
        (X - (Y - 1), "x - (y - 1)"),
        (X - Y - 1, "x - y - 1"),
        ((X < Y) & ~(P | (X <= 0)), "x < y and not (p or x <= 0)"),
        (imp.eq(P, X < Y), "p == (x < y)"),
        (imp.minimum(X, Y), "min(x, y)"),
        (imp.Select(P, X, imp.Select(P, Y, X)), "x if p else y if p else x"),
        (imp.Cast(A[X + 1], "int32"), "int32(A_val[x + 1])"),
        (imp.Const(3, "int32"), "int32(3)"),
        (imp.Unary("-", imp.Const(-1.0, "float64"), "float64"), "--1.0"),
        (imp.Call("search", (imp.Address(A), X), "int64"), "search(&A_val, x)"),
    ],
)
def test_expressions(e, text):
    assert show(e) == text


STATEMENTS = """\
kernel total(A[x]{A_val: float64+}):
    # the sum
    grow(A_val, x)
    s: float64 = 0.0
    for y in range(0, x):
        s += A_val[y]
        A_val[y:x] = s
    while p:
        break
    if p:
        pass
    elif x < 0:
        return x
    else:
        block:
            pass
    A_val[0] = s
    length(A_val, x)"""


def test_statements():
    s = imp.Var("s", "float64")
    body = imp.Block(
        (
            imp.Comment("the sum"),
            imp.Grow(A, X),
            imp.Let(s, imp.Const(0.0, "float64")),
            imp.For(
                Y, imp.ZERO, X, imp.Block((imp.Accumulate(s, "+", A[Y]), imp.Fill(A, Y, X, s)))
            ),
            imp.While(P, imp.Block((imp.Break(),))),
            imp.If(
                P,
                imp.EMPTY,
                imp.Block((imp.If(X < 0, imp.Block((imp.Return(X),)), imp.Block((imp.EMPTY,))),)),
            ),
            imp.Store(A, imp.ZERO, s),
            imp.SetLength(A, X),
        )
    )
    kernel = imp.Kernel("total", (imp.Argument("A", (X,), (A,)),), body)
    assert show(kernel) == STATEMENTS


def test_codelets():
    function = imp.Function("twice", (X,), imp.Block((imp.Return(X * 2),)), "int64")
    assert show(function) == "def twice(x: int64) -> int64:\n    return x * 2"


# -- rewriting ------------------------------------------------------------------------------------


def test_walk_visits_parents_first_in_order():
    stmt = imp.Store(A, X + 1, A[Y])
    assert list(walk(stmt)) == [stmt, X + 1, X, imp.ONE, A[Y], Y]
    assert list(children(stmt)) == [X + 1, A[Y]]


def test_nothing_changed_is_the_same_object():
    block = imp.Block((imp.Store(A, X + 1, A[Y]), imp.Return(None)))
    assert rewrite(block, lambda _: None) is block
    assert rebuild(block, lambda n: n) is block


def test_rewriting_leaves_what_is_bound_alone():
    block = imp.Block((imp.Let(X, X + Y), imp.For(X, X, Y, imp.EMPTY)))
    after = imp.Block((imp.Let(X, 5 + Y), imp.For(X, imp.wrap(5), Y, imp.EMPTY)))
    assert substitute(block, {"x": imp.wrap(5)}) == after
