"""The checker finds what a pass could get wrong, and says in which node."""

import pytest
from tests.unit.backend import kernels

from linnet import imp
from linnet.errors import InternalError
from linnet.imp import (
    ONE,
    TRUE,
    ZERO,
    Accumulate,
    Address,
    Argument,
    Assign,
    Binary,
    Block,
    Break,
    Buffer,
    Call,
    Cast,
    Const,
    Do,
    For,
    Function,
    Grow,
    If,
    Kernel,
    Let,
    Return,
    Select,
    SetLength,
    Store,
    Unary,
    Var,
    While,
)
from linnet.imp.check import check

n, a, b, i = (Var(v) for v in "n a b i".split())
f = Var("f", "float64")
x = Buffer("x", "float64")
g = Buffer("g", "int64", growable=True)
LET = Let(a, ZERO)
size = Function("size", (x, n), Block((Return(n),)), "int64")
clear = Function("clear", (x,), Block((Return(None),)), None)


def kernel(*stmts, codelets=(size, clear), buffers=(x, g)):
    return Kernel("k", (Argument("x", (n,), buffers),), Block(stmts), codelets)


@pytest.mark.parametrize(
    "made", [kernels.spmv(), kernels.spmv("int32"), kernels.union(), kernels.spgemm()]
)
def test_good_kernels_pass(made):
    check(made)


def test_names_may_be_used_again_in_another_block():
    loop = For(i, ZERO, n, Block((LET,)))
    check(kernel(loop, loop, If(TRUE, Block((LET,)), Block((LET,)))))


def test_codelets_are_called_as_they_are_declared():
    check(
        kernel(
            Return(Call("size", (Address(x), n), "int64")), Do(Call("clear", (Address(x),), "void"))
        )
    )


@pytest.mark.parametrize(
    ("problem", "stmts"),
    [
        ("a is used before it is introduced", [Assign(a, ZERO)]),
        ("a is used before it is introduced", [If(TRUE, Block((LET,)), imp.EMPTY), Assign(a, ONE)]),
        ("a is introduced twice", [LET, LET]),
        ("a is introduced twice", [LET, While(TRUE, Block((LET,)))]),
        ("n is introduced twice", [Let(n, ZERO)]),
        ("a has two types", [Block((LET,)), Let(Var("a", "bool"), TRUE)]),
        ("i is not a variable that may be assigned", [For(i, ZERO, n, Block((Assign(i, ZERO),)))]),
        ("n is not a variable that may be assigned", [Accumulate(n, "+", ONE)]),
        ("bool where int64 is wanted", [Let(a, TRUE)]),
        ("float64 where int64 is wanted", [LET, Assign(a, x[0])]),
        ("int64 where float64 is wanted", [Store(x, ZERO, ONE)]),
        ("float64 where an integer is wanted", [Store(x, x[0], x[0])]),
        ("int64 where bool is wanted", [If(ONE, imp.EMPTY, imp.EMPTY)]),
        ("int64 where bool is wanted", [While(ONE, imp.EMPTY)]),
        ("bool where int64 is wanted", [Let(a, Binary("+", ONE, TRUE, "int64"))]),
        ("there is no / of int64", [Let(a, Binary("/", ONE, ONE, "int64"))]),
        ("there is no & of float64", [Let(f, Binary("&", x[0], x[0], "float64"))]),
        ("< of int64 does not give int64", [Let(a, Binary("<", ONE, ONE, "int64"))]),
        ("there is no unary ~ of float64", [Let(f, Unary("~", x[0], "float64"))]),
        ("int64 where float64 is wanted", [Let(f, Select(TRUE, x[0], ONE))]),
        ("no reduction < of int64", [LET, Accumulate(a, "<", ONE)]),
        ("the constant 300 does not fit uint8", [Let(Var("c", "uint8"), Const(300, "uint8"))]),
        ("the constant 1.5 is not a int64", [Let(a, Const(1.5, "int64"))]),
        ("the constant True is not a int64", [Let(a, Const(True, "int64"))]),
        ("the buffer y is unknown", [Let(f, Buffer("y", "float64")[0])]),
        ("the buffer x is unknown, or has another type", [Store(Buffer("x", "int64"), ZERO, ONE)]),
        ("the buffer x cannot be grown", [Grow(x, ONE)]),
        ("the buffer x cannot be grown", [SetLength(x, ONE)]),
        ("break outside a loop", [Break()]),
        ("the loop variable f is not an int64", [For(f, ZERO, n, imp.EMPTY)]),
        ("bool where int64 is wanted", [Return(TRUE)]),
        ("there is no codelet sqrt", [Do(Call("sqrt", (x[0],), "float64"))]),
        ("there is no function sing", [Let(f, Call("sing", (x[0],), "float64"))]),
        ("sqrt takes and gives floats", [Let(a, Call("sqrt", (ONE,), "int64"))]),
        ("pow takes and gives floats", [Let(f, Call("pow", (x[0],), "float64"))]),
        ("isnan takes one number", [Let(a, Call("isnan", (x[0],), "int64"))]),
        (
            "complex takes two floats",
            [Let(Var("z", "complex64"), Call("complex", (x[0], x[0]), "complex64"))],
        ),
        ("abs of float64 gives float64", [Let(a, Call("abs", (x[0],), "int64"))]),
        ("size takes", [LET, Assign(a, Call("size", (n, n), "int64"))]),
        ("size takes", [LET, Assign(a, Call("size", (Address(g), n), "int64"))]),
        ("the variable b is used", [Let(a, Cast(Var("b", "int32"), "int64"))]),
    ],
)
def test_malformed_kernels_are_refused(problem, stmts):
    with pytest.raises(InternalError) as caught:
        check(kernel(*stmts))
    assert problem in str(caught.value)
    assert "why:  in " in str(caught.value)


def test_buffers_have_their_own_names():
    with pytest.raises(InternalError, match="two buffers x"):
        check(kernel(buffers=(x, x)))


@pytest.mark.parametrize(
    ("problem", "function"),
    [
        (
            "a codelet returns without its value",
            Function("c", (n,), Block((Return(None),)), "int64"),
        ),
        ("from a codelet that has none", Function("c", (n,), Block((Return(n),)), None)),
        ("cannot be grown here", Function("c", (g,), Block((Grow(g, ONE),)), None)),
        (
            "the buffer x is unknown",
            Function("c", (n,), Block((Return(Cast(x[0], "int64")),)), "int64"),
        ),
    ],
)
def test_malformed_codelets_are_refused(problem, function):
    with pytest.raises(InternalError, match=problem):
        check(kernel(codelets=(function,)))
