"""Simplified code means the same: random programs."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.simplify import simplify

X, Y, Z = imp.Var("x"), imp.Var("y"), imp.Var("z")
U, V = imp.Var("u"), imp.Var("v")
A = imp.Buffer("a", "int64")
B = imp.Buffer("b", "float64")
C = imp.Buffer("c", "bool")


def block(*stmts: imp.Stmt) -> imp.Block:
    return imp.Block(stmts)


def branch(cond: imp.Expr, then: list[imp.Stmt], orelse: list[imp.Stmt] | None = None) -> imp.If:
    return imp.If(cond, block(*then), block(*(orelse or [])))


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


class Asking(Generator):
    """Makes programs that ask the same of two variables again and again, and change them."""

    def expr(self, dtype, scope, depth=2):
        if dtype == "bool":
            a, b = self.pick([(U, V), (U, X), (imp.ONE, V)])
            cond = imp.Binary(self.pick(sorted(imp.COMPARISONS)), a, b, "bool")
            both = imp.Binary(self.pick(["and", "or"]), cond, imp.Binary("<", U, Y, "bool"), "bool")
            return self.pick([cond, cond, both])
        return self.pick([X, Y, U, V, U + 1, V - 1, imp.ZERO, imp.ONE])

    def statement(self, scope, assignable, depth, loops):
        match self.pick(["assign", "store", "for", "while", "break", *["if"] * 4]):
            case "assign":
                return [imp.Assign(self.pick([U, V]), self.expr("int64", scope))]
            case "store":
                self.count += 1
                return [imp.Store(A, imp.wrap(self.pick(range(4))), imp.wrap(self.count))]
            case "break":
                leave = imp.Break() if loops else imp.Return(imp.ONE)
                return [branch(self.expr("bool", scope), [leave])]
            case kind if depth:
                return self.nested(kind, scope, assignable, depth, loops)
        return []


@st.composite
def kernels(draw):
    if draw(st.booleans()):
        body = Generator(draw).block([X, Y], [], 3, False)
    else:
        begin = imp.Let(U, A[0]), imp.Let(V, A[1])
        asking = Asking(draw)
        body = imp.Block((*begin, *(s for _ in "abc" for s in asking.statement([], [], 3, False))))
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
