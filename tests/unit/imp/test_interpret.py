"""The interpreter: right where compiled code is right, and strict where that would be silent."""

import numpy as np
import pytest

from linnet import imp
from linnet.errors import InternalError
from linnet.imp import (
    ONE,
    ZERO,
    Argument,
    Block,
    Buffer,
    Const,
    Fill,
    For,
    Grow,
    Kernel,
    Let,
    Return,
    Select,
    SetLength,
    Store,
    Var,
)
from linnet.imp.calculate import convert, operate
from linnet.imp.interpret import run

n, i, s = Var("n"), Var("i"), Var("s")
x = Buffer("x", "int64")
g = Buffer("g", "int64", growable=True)


def kernel(*stmts, buffers=(x,)):
    return Kernel("k", (Argument("x", (n,), buffers),), Block(stmts))


def test_a_kernel_writes_the_arrays_it_is_given():
    double = For(i, ZERO, n, Block((Store(x, i, x[i] * 2),)))
    array = np.arange(4)
    status, buffers = run(kernel(double), {"x": ([4], {"x": array})})
    assert status == imp.OK
    assert list(array) == [0, 2, 4, 6]
    assert buffers["x"] is not array or list(buffers["x"]) == [0, 2, 4, 6]


@pytest.mark.parametrize("at", [-1, 4, 10**12])
def test_accesses_are_checked(at):
    for stmt in (Let(s, x[at]), Store(x, Const(at, "int64"), ZERO)):
        with pytest.raises(InternalError, match=r"x\[-?\d+\] is out of bounds: it has 4 elements"):
            run(kernel(stmt), {"x": ([4], {"x": np.arange(4)})})


def test_fills_are_checked():
    with pytest.raises(InternalError, match="out of bounds"):
        run(kernel(Fill(x, ZERO, n + 1, ONE)), {"x": ([4], {"x": np.arange(4)})})
    run(kernel(Fill(x, n + 5, n, ONE)), {"x": ([4], {"x": np.arange(4)})})


def test_both_sides_of_a_choice_must_be_safe():
    choice = Select(n > 0, x[n - 1], ZERO)
    with pytest.raises(InternalError, match="out of bounds"):
        run(kernel(Return(choice)), {"x": ([0], {"x": np.zeros(0, "int64")})})


def test_growable_buffers_have_the_room_that_was_asked_for():
    with pytest.raises(InternalError, match="it has 3 elements"):
        run(kernel(Grow(g, n), Store(g, n, ONE), buffers=(g,)), {"x": ([3], {})})
    stmts = (Grow(g, n), Store(g, ZERO, ONE), SetLength(g, ONE))
    status, buffers = run(kernel(*stmts, buffers=(g,)), {"x": ([3], {})})
    assert (status, list(buffers["g"])) == (imp.OK, [1])


def test_memory_that_was_not_written_holds_odd_values():
    status, buffers = run(kernel(Grow(g, n), SetLength(g, n), buffers=(g,)), {"x": ([3], {})})
    assert status == imp.OK
    assert all(buffers["g"] != 0)


def test_absurd_growth_is_out_of_memory():
    stmts = (Grow(g, Const(2**60, "int64")), Return(ONE))
    assert run(kernel(*stmts, buffers=(g,)), {"x": ([3], {})})[0] == imp.OUT_OF_MEMORY


def test_arrays_must_have_their_types():
    with pytest.raises(InternalError, match="x holds int64, not int32"):
        run(kernel(), {"x": ([4], {"x": np.arange(4, dtype="int32")})})


def test_unknown_variables_and_dimensions():
    with pytest.raises(InternalError, match="s has no value"):
        run(kernel(Return(s)), {"x": ([0], {})})
    with pytest.raises(InternalError, match="1 dimensions"):
        run(kernel(), {"x": ([], {})})


def test_conversions():
    assert convert(300, "uint8") == 44
    assert convert(200, "int8") == -56
    assert convert(np.float64(1e30), "int32") == 2**31 - 1
    assert convert(np.float64(-5.7), "int64") == -5
    assert convert(np.float64("nan"), "int64") == 0
    assert convert(np.float64(-1.0), "uint16") == 0
    assert convert(np.float64("nan"), "bool") is True


def test_integer_division_truncates_and_never_fails():
    assert [operate("div", a, b, "int64") for a, b in ((7, 2), (-7, 2), (7, -2), (5, 0))] == [
        3,
        -3,
        -3,
        0,
    ]
    assert [operate("rem", a, b, "int64") for a, b in ((7, 2), (-7, 2), (7, -2), (5, 0))] == [
        1,
        -1,
        1,
        0,
    ]
    assert operate("div", -(2**63), -1, "int64") == -(2**63)
