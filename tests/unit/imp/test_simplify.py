"""Simplified code is simpler, and means the same: rules one by one."""

from __future__ import annotations

import pytest

from linnet import imp
from linnet.imp.rewrite import statements
from linnet.imp.simplify import simplify

X, Y, Z = imp.Var("x"), imp.Var("y"), imp.Var("z")
P, Q = imp.Var("p", "bool"), imp.Var("q", "bool")
F = imp.Var("f", "float64")
A = imp.Buffer("a", "int64")
B = imp.Buffer("b", "float64")
C = imp.Buffer("c", "bool")


def block(*stmts: imp.Stmt) -> imp.Block:
    return imp.Block(stmts)


def number(value: float, dtype: str = "float64") -> imp.Const:
    return imp.Const(value, dtype)


def branch(cond: imp.Expr, then: list[imp.Stmt], orelse: list[imp.Stmt] | None = None) -> imp.If:
    return imp.If(cond, block(*then), block(*(orelse or [])))


def store(value: imp.Expr | int, at: int = 0) -> imp.Store:
    return imp.Store(A, imp.wrap(at), imp.wrap(value))


# -- expressions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (X + 0, X),
        (imp.binary("+", 0, X), X),
        (X - 0, X),
        (X * 1, X),
        (1 * X, X),
        (X * 0, imp.ZERO),
        ((X - 1) + 1, X),
        ((X + 1) - 1, X),
        ((X + 3) - 1, X + 2),
        ((X - 3) + 1, X - 2),
        (X - imp.wrap(-1), X + 1),
        (X + imp.wrap(-2), X - 2),
        (X - imp.wrap(-(2**63)), X - imp.wrap(-(2**63))),
        (X - X, imp.ZERO),
        ((X + Y) - Y, X),
        ((X + Y) - X, Y),
        ((X - Y) + Y, X),
        (Y + (X - Y), X),
        (X - (X - Y), Y),
        ((X * 2) * 3, X * 6),
        (imp.minimum(X, X), X),
        (imp.maximum(2, 3), imp.Const(3, "int64")),
        (imp.wrap(2**62) + imp.wrap(2**62), imp.Const(-(2**63), "int64")),
        (imp.binary("div", imp.wrap(-7), imp.wrap(2)), imp.Const(-3, "int64")),
        (~~P, P),
        (~(X < Y), X >= Y),
        (~imp.eq(F, F), imp.ne(F, F)),
        (X < X, imp.FALSE),
        (X <= X, imp.TRUE),
        (imp.eq(X + 1, 3), imp.eq(X, 2)),
        (imp.eq(P, imp.TRUE), P),
        (imp.eq(P, imp.FALSE), ~P),
        (P & imp.TRUE, P),
        (imp.FALSE & P, imp.FALSE),
        (P | imp.TRUE, imp.TRUE),
        (P | P, P),
        (imp.Select(imp.TRUE, X, Y), X),
        (imp.Select(P, X, X), X),
        (imp.Select(~P, X, Y), imp.Select(P, Y, X)),
        (imp.Select(P, imp.TRUE, imp.FALSE), P),
        (imp.Cast(imp.Const(300, "int64"), "uint8"), imp.Const(44, "uint8")),
        (imp.Cast(imp.Const(-1, "int64"), "bool"), imp.TRUE),
        (imp.Cast(imp.Cast(X, "int64"), "int64"), X),
        (imp.Cast(imp.Cast(imp.Var("n", "int32"), "int64"), "int32"), imp.Var("n", "int32")),
        (F * number(1.0), F),
        (F - number(0.0), F),
        (number(1.5) + number(2.0), number(3.5)),
    ],
    ids=repr,
)
def test_rules(before, after):
    found = before
    for _ in range(3):
        found = _bottom_up(found)
    assert found == after


def _bottom_up(e):
    (simple,) = simplify(block(imp.Assign(imp.Var("out", e.dtype), e))).stmts
    return simple.value


@pytest.mark.parametrize(
    "e",
    [
        F + number(0.0),  # -0.0
        F * number(0.0),  # NaN
        imp.eq(F, F),  # NaN
        F <= F,
        imp.Unary("not", imp.binary("<", F, number(1.0)), "bool"),
        number(1e308) * number(10.0),
        imp.Binary("/", number(1.0), number(0.0), "float64"),
        imp.Cast(imp.Cast(X, "int32"), "int64"),
        imp.Cast(imp.Const(2**63 - 1, "int64"), "float64"),
        imp.Cast(imp.Cast(imp.Var("n", "int32"), "float64"), "int8"),  # saturates
        imp.Select(P, number(0.0), number(-0.0)),
        X < X + 1,  # wraps
    ],
    ids=repr,
)
def test_what_no_rule_may_touch(e):
    assert repr(_bottom_up(e)) == repr(e)


def test_signed_zeros_stay_apart():
    facts = block(
        imp.Let(F, number(0.0)),
        branch(P, [imp.Assign(F, number(-0.0))], [imp.Assign(F, number(0.0))]),
        imp.Store(B, imp.ZERO, F),
    )
    assert isinstance(simplify(facts).stmts[-1].value, imp.Var)


# -- statements -----------------------------------------------------------------------------------


def test_constants_travel_along_straight_lines():
    program = block(
        imp.Let(P, imp.FALSE),
        store(1),
        imp.Assign(P, imp.TRUE),
        branch(P, [store(2)], [store(3)]),
    )
    assert simplify(program) == block(store(1), store(2))


def test_constants_stop_at_branches_and_loops():
    program = block(
        imp.Let(P, imp.FALSE),
        imp.For(X, imp.ZERO, Y, block(imp.Assign(P, imp.TRUE))),
        branch(P, [store(2)]),
    )
    assert simplify(program) == program


def test_copies_are_seen_through():
    program = block(imp.Let(X, Y), imp.Let(Z, X + 1), store(X), store(Z))
    assert simplify(program) == block(imp.Let(Z, Y + 1), store(Y), store(Z))


def test_a_copy_ends_when_either_side_changes():
    program = block(
        imp.Let(X, A[0]),
        imp.Let(Y, X),
        imp.Assign(X, X + 1),
        store(Y),
        store(X, 1),
    )
    assert simplify(program) == program


def test_a_copy_of_an_inner_variable_stays_inside():
    program = block(
        imp.Let(X, imp.ZERO),
        branch(P, [imp.Let(Y, A[0]), store(Y), imp.Assign(X, Y)]),
        store(X, 1),
    )
    assert simplify(program) == program


def test_empty_statements_go():
    program = block(
        imp.For(X, imp.ZERO, imp.ZERO, block(store(1))),
        imp.For(X, imp.ZERO, Y, block(imp.Comment("nothing"))),
        imp.While(imp.FALSE, block(store(1))),
        branch(P, [], []),
        imp.Fill(A, Y, Y, imp.ZERO),
        block(block()),
    )
    assert simplify(program) == imp.EMPTY


def test_a_loop_of_one_iteration_is_none():
    program = block(imp.For(X, Y, Y + 1, block(store(X))))
    assert simplify(program) == block(store(Y))
    left = block(imp.For(X, Y, Y + 1, block(branch(P, [imp.Break()]), store(X))))
    assert simplify(left) == left


def test_only_else():
    assert simplify(block(branch(X < Y, [], [store(1)]))) == block(branch(X >= Y, [store(1)]))


def test_equal_branches():
    assert simplify(block(branch(P, [store(1)], [store(1)]))) == block(store(1))


def test_equal_conditions_are_merged():
    program = block(branch(P, [store(1)]), branch(P, [store(2)], [store(3)]))
    assert simplify(program) == block(branch(P, [store(1), store(2)], [store(3)]))
    program = block(branch(P, [store(1)]), branch(~P, [store(2)]))
    assert simplify(program) == block(branch(P, [store(1)], [store(2)]))


def test_a_flag_that_says_which_way_was_taken_is_that_way():
    flag = [imp.Let(P, imp.FALSE), branch(Q, [store(1), imp.Assign(P, imp.TRUE)])]
    body = block(*flag, branch(P, [store(2, 1)]))
    assert simplify(body) == block(branch(Q, [store(1), store(2, 1)]))
    between = block(*flag, store(3, 2), branch(P, [store(2, 1)]))
    assert simplify(between) == between
    turned = block(branch(Q, [], [store(1), imp.Assign(P, imp.TRUE)]), branch(Q, [store(2)]))
    expected = branch(
        imp.Unary("not", Q, imp.BOOL), [store(1), imp.Assign(P, imp.TRUE)], [store(2)]
    )
    assert simplify(turned) == block(expected)


def test_what_is_not_negative_is_not_tested_again():
    wide, narrow = imp.Var("wide"), imp.Var("narrow", "int32")
    outside = (wide < 0) | (wide >= X)
    inner = [imp.Let(wide, imp.widen(narrow)), branch(outside, [store(1)]), store(wide)]
    found = simplify(block(branch(imp.widen(narrow) >= 0, inner)))
    inner[1] = branch(wide >= X, [store(1)])
    assert found == block(branch(imp.widen(narrow) >= 0, inner))
    unknown = block(branch(imp.widen(narrow) >= -1, [store(1)]), branch(Y < 0, [store(2)]))
    assert simplify(unknown) == unknown
    changed = block(branch(Y >= 0, [imp.Assign(Y, Y - 1), branch(Y < 0, [store(2)])]))
    assert simplify(changed) == changed


def test_what_was_asked_is_not_asked_again():
    inside = (X >= 0) & (X < Y)
    found = simplify(block(branch(inside, [branch(X < Y, [store(1)], [store(2)])], [store(3)])))
    assert found == block(branch(inside, [store(1)], [store(3)]))
    found = simplify(block(branch(inside, [store(1)], [branch(inside, [store(2)], [store(3)])])))
    assert found == block(branch(inside, [store(1)], [store(3)]))
    found = simplify(block(branch(X < Y, [branch(X >= Y, [store(1)], [store(2)])])))
    assert found == block(branch(X < Y, [store(2)]))
    leaving = branch(X >= Y, [imp.Return(imp.ONE)])
    assert simplify(block(leaving, store(1), leaving, store(2))) == block(
        leaving, store(1), store(2)
    )


def test_what_may_have_changed_is_asked_again():
    changed = block(branch(X < Y, [imp.Assign(X, X + 1), branch(X < Y, [store(1)])]))
    assert simplify(changed) == changed
    float_ = imp.Binary("<", F, number(1.0), imp.BOOL)
    turned = imp.Binary(">=", F, number(1.0), imp.BOOL)
    unordered = block(branch(float_, [store(1)], [branch(turned, [store(2)])]))
    assert simplify(unordered) == unordered
    stored = block(branch(A[0] < 3, [store(7), branch(A[0] < 3, [store(2)])]))
    assert simplify(stored) == stored


def test_conditions_that_may_have_changed_are_not_merged():
    cond = A[0] < 3
    program = block(branch(cond, [store(1)]), branch(cond, [store(2)]))
    assert simplify(program) == program
    program = block(imp.Let(Q, C[0]), branch(Q, [imp.Assign(Q, C[1])]), branch(Q, [store(2)]))
    assert simplify(program) == program


def test_what_follows_break_and_return_goes():
    program = block(imp.For(X, imp.ZERO, Y, block(store(1), imp.Break(), store(2))))
    assert simplify(program) == block(imp.For(X, imp.ZERO, Y, block(store(1), imp.Break())))
    ended = branch(P, [imp.Return(imp.ZERO)], [imp.Return(imp.ONE)])
    assert simplify(block(ended, store(1))) == block(ended)


def test_what_an_iteration_introduces_is_not_kept_for_the_next():
    once = branch(Y > 0, [imp.Let(Z, Y), store(Y)])
    again = imp.For(Z, imp.ZERO, Y, block(store(Z)))
    found = simplify(block(imp.For(X, imp.ZERO, Y, block(once, again))))
    assert imp.Let(Z, Y) not in list(statements(found))


def test_what_an_iteration_leaves_is_kept_for_the_next():
    body = block(store(Z), imp.Assign(Z, X))
    found = simplify(block(imp.Let(Z, imp.ZERO), imp.For(X, imp.ZERO, Y, body)))
    assert imp.Assign(Z, X) in list(statements(found))


def test_a_loop_that_is_left_at_once_does_nothing():
    assert simplify(block(imp.For(X, imp.ZERO, Y, block(imp.Break())))) == imp.EMPTY
    inner = imp.For(X, imp.ZERO, Y, block(imp.Break()))
    assert simplify(block(imp.For(Z, imp.ZERO, Y, block(inner)))) == imp.EMPTY


def test_dead_variables_go_with_what_feeds_them():
    program = block(
        imp.Let(X, A[0]),
        imp.Let(Y, X + 1),
        imp.For(Z, imp.ZERO, imp.Var("n"), block(imp.Accumulate(Y, "+", Z), store(Z))),
    )
    assert simplify(program) == block(imp.For(Z, imp.ZERO, imp.Var("n"), block(store(Z))))


def test_overwritten_values_go():
    program = block(imp.Let(X, imp.ZERO), store(1), imp.Assign(X, A[1]), store(X))
    assert simplify(program) == block(store(1), imp.Let(X, A[1]), store(X))


def test_blocks_are_opened_where_names_allow():
    inner = block(imp.Let(X, A[0]), store(X))
    assert simplify(block(inner, store(1))) == block(*inner.stmts, store(1))
    twice = block(inner, inner)
    assert simplify(twice) == twice


def test_equal_branches_stay_a_block_where_names_do_not_allow():
    """One of them was opened into a block in which a loop introduces the same variable."""
    inner = [imp.Let(X, A[0]), store(X)]
    both = branch(P, inner, inner)
    loop = imp.For(imp.Var("i"), imp.ZERO, imp.Var("n"), block(*inner))
    assert simplify(block(both, loop)) == block(block(*inner), loop)
    assert simplify(block(both, store(1))) == block(*inner, store(1))


def test_codelets_are_known_by_what_they_write():
    writes = imp.Function("writes", (A,), block(imp.Store(A, imp.ZERO, imp.ONE)), "int64")
    passes = imp.Function(
        "passes", (A, B), block(imp.Do(imp.Call("writes", (imp.Address(A),), "int64"))), None
    )
    reads = imp.Function("reads", (A,), block(imp.Return(A[0])), "int64")
    codelets = (writes, passes, reads)
    dead = block(imp.Let(X, imp.Call("reads", (imp.Address(A),), "int64")))
    assert simplify(dead, codelets) == imp.EMPTY
    assert simplify(dead) == dead  # who knows
    kept = block(imp.Let(X, imp.Call("writes", (imp.Address(A),), "int64")))
    assert simplify(kept, codelets) == kept
    call = imp.Do(imp.Call("passes", (imp.Address(A), imp.Address(B)), "void"))
    cond_b = imp.Binary("<", B[0], number(1.0), "bool")
    program = block(branch(cond_b, [call]), branch(cond_b, [store(1)]))
    assert simplify(program, codelets) == block(branch(cond_b, [call, store(1)]))


def test_the_same_object_if_there_is_nothing_to_do():
    program = block(imp.For(X, imp.ZERO, Y, block(store(A[X] + 1))), imp.Return(imp.ZERO))
    assert simplify(program) is program
