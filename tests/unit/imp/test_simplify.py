"""Simplified code is simpler, and means the same: rules one by one, and random programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
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


# -- random programs ------------------------------------------------------------------------------

WRITES = imp.Function(
    "bump",
    (A, imp.Var("at")),
    block(imp.Store(A, imp.Var("at"), A[imp.Var("at")] + 1), imp.Return(A[imp.Var("at")])),
    "int64",
)
READS = imp.Function("peek", (A, imp.Var("at")), block(imp.Return(A[imp.Var("at")])), "int64")
DTYPES = ("int64", "int32", "uint8", "float64", "float32", "bool")
NUMBERS = {
    "int64": [0, 1, -1, 2, 7, 2**63 - 1, -(2**63)],
    "int32": [0, 1, -1, 3, 2**31 - 1, -(2**31)],
    "uint8": [0, 1, 2, 255],
    "float64": [0.0, -0.0, 1.0, -1.5, 1e300, math.inf],
    "float32": [0.0, -0.0, 1.0, 0.5, -2.0],
    "bool": [True, False],
}


class Generator:
    """Makes well-formed programs, one choice at a time."""

    def __init__(self, draw):
        self.draw, self.count = draw, 0

    def pick(self, options):
        return self.draw(st.sampled_from(options))

    def fresh(self, dtype):
        self.count += 1
        return imp.Var(f"v{self.count}", dtype)

    def expr(self, dtype, scope, depth=2):
        variables = [v for v in scope if v.dtype == dtype]
        kinds = ["const", *(["var"] * 3 if variables else [])]
        if depth:
            kinds += ["binary", "binary", "cast", "select", "load"]
            kinds += ["compare", "logical", "not"] if dtype == "bool" else ["negative"]
        match self.pick(kinds):
            case "const":
                return imp.Const(self.pick(NUMBERS[dtype]), dtype)
            case "var":
                return self.pick(variables)
            case "binary" if dtype != "bool":
                ops = ["+", "-", "*", "min", "max"]
                ops += ["/"] if dtype[0] == "f" else ["&", "|", "^", "<<", ">>", "div", "rem"]
                return self.two(self.pick(ops), dtype, dtype, scope, depth)
            case "cast":
                return imp.Cast(self.expr(self.pick(DTYPES), scope, depth - 1), dtype)
            case "select":
                cond = self.expr("bool", scope, depth - 1)
                arms = [self.expr(dtype, scope, depth - 1) for _ in "ab"]
                return imp.Select(cond, *arms)
            case "load":
                buffer = {"int64": A, "float64": B, "bool": C}.get(dtype)
                if buffer is None:
                    return imp.Const(0, dtype)
                return buffer[self.index(scope)]
            case "compare":
                op = self.pick(sorted(imp.COMPARISONS))
                return self.two(op, self.pick(DTYPES[:-1]), "bool", scope, depth)
            case "not":
                return imp.Unary("not", self.expr("bool", scope, depth - 1), "bool")
            case "negative":
                return imp.Unary("-", self.expr(dtype, scope, depth - 1), dtype)
            case _:
                return self.two(self.pick(["and", "or"]), "bool", "bool", scope, depth)

    def two(self, op, given, dtype, scope, depth):
        a = self.expr(given, scope, depth - 1)
        b = a if self.pick(range(6)) == 0 else self.expr(given, scope, depth - 1)
        return imp.Binary(op, a, b, dtype)

    def index(self, scope):
        return imp.Binary("&", self.expr("int64", scope, 1), imp.Const(3, "int64"), "int64")

    def block(self, scope, assignable, depth, loops):
        scope, assignable = list(scope), list(assignable)
        stmts = []
        for _ in range(self.pick([0, 1, 2, 3, 4])):
            stmts += self.statement(scope, assignable, depth, loops)
        return imp.Block(tuple(stmts))

    def statement(self, scope, assignable, depth, loops):
        kinds = ["let", "let", "store", *(["assign"] * 3 + ["accumulate"] if assignable else [])]
        kinds += ["if", "if", "for", "while", "block"] if depth else []
        kinds += ["break"] if loops else []
        kinds += ["call", "fill", "return"]
        match self.pick(kinds):
            case "let":
                var = self.fresh(self.pick(DTYPES))
                stmts = [imp.Let(var, self.expr(var.dtype, scope))]
                scope.append(var)
                assignable.append(var)
                return stmts
            case "assign":
                var = self.pick(assignable)
                return [imp.Assign(var, self.expr(var.dtype, scope))]
            case "accumulate":
                var = self.pick(assignable)
                op = "or" if var.dtype == "bool" else "+"
                return [imp.Accumulate(var, op, self.expr(var.dtype, scope))]
            case "store":
                buffer = self.pick([A, B, C])
                return [imp.Store(buffer, self.index(scope), self.expr(buffer.dtype, scope))]
            case "fill":
                start, stop = self.index(scope), self.index(scope)
                return [imp.Fill(A, start, stop, self.expr("int64", scope, 1))]
            case "break":
                return [branch(self.expr("bool", scope), [imp.Break()])]
            case "return":
                cond = self.expr("bool", scope)
                return [branch(cond, [imp.Return(imp.Const(3, "int64"))])]
            case "call":
                return self.call(scope, assignable)
            case kind:
                return self.nested(kind, scope, assignable, depth, loops)

    def call(self, scope, assignable):
        name = self.pick(["bump", "peek"])
        call = imp.Call(name, (imp.Address(A), self.index(scope)), "int64")
        if self.pick([True, False]):
            return [imp.Do(call)]
        var = self.fresh("int64")
        scope.append(var)
        assignable.append(var)
        return [imp.Let(var, call)]

    def nested(self, kind, scope, assignable, depth, loops):
        match kind:
            case "if":
                cond = self.expr("bool", scope)
                then = self.block(scope, assignable, depth - 1, loops)
                orelse = self.block(scope, assignable, depth - 1, loops)
                stmts = [imp.If(cond, then, orelse)]
                if self.pick([True, False]):
                    again = self.block(scope, assignable, depth - 1, loops)
                    stmts.append(imp.If(cond, again, imp.EMPTY))
                return stmts
            case "for":
                var = self.fresh("int64")
                start, stop = self.index(scope), self.index(scope)
                return [
                    imp.For(
                        var, start, stop, self.block([*scope, var], assignable, depth - 1, True)
                    )
                ]
            case "while":
                var = self.fresh("int64")
                cond = (var < 3) & self.expr("bool", scope, 1)
                body = self.block([*scope, var], assignable, depth - 1, True)
                step = imp.Assign(var, var + 1)
                loop = imp.While(cond, imp.Block((step, *body.stmts)))
                return [imp.Let(var, imp.ZERO), loop]
            case _:
                return [self.block(scope, assignable, depth - 1, loops)]


@st.composite
def kernels(draw):
    body = Generator(draw).block([X, Y], [], 3, False)
    argument = imp.Argument("t", (X, Y), (A, B, C))
    return imp.Kernel("k", (argument,), body, (WRITES, READS))


def outcome(kernel, dims, seed):
    rng = np.random.default_rng(seed)
    arrays = {
        "a": rng.integers(-4, 5, 4),
        "b": rng.choice([0.0, -0.0, 1.0, np.nan, np.inf, -2.5], 4),
        "c": rng.random(4) < 0.5,
    }
    status, after = run(kernel, {"t": (dims, arrays)})
    return status, {name: array.tobytes() for name, array in after.items()}


@given(kernels(), st.tuples(st.integers(-1, 4), st.integers(-1, 4)), st.integers(0, 3))
def test_meaning_is_kept(kernel, dims, seed):
    check(kernel)
    simple = simplify(kernel)
    check(simple)
    assert outcome(simple, dims, seed) == outcome(kernel, dims, seed)
