"""The interpreter: right where compiled code is right, and strict where that would be silent."""

from collections import Counter

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


def test_turns_of_loops_are_counted_by_what_they_walk():
    """The one that is left is among them; what a codelet does is counted by its name."""
    inner = For(i, ZERO, n, Block((imp.If(imp.eq(i, ONE), Block((imp.Break(),)), imp.EMPTY),)))
    count = imp.While(s < 3, Block((imp.Assign(s, s + 1),)), over=imp.Over("s in three"))
    endless = imp.While(imp.TRUE, Block((Return(None),)))
    helper = imp.Function("look_i32_b", (n,), Block((For(i, ZERO, n, imp.EMPTY), endless)), None)
    do = imp.Do(imp.Call("look_i32_b", (n,), "int64"))
    outer = For(Var("o"), ONE, n, Block((inner, do, Fill(x, ONE, n, ONE))))
    body = Block((Let(s, ZERO), count, outer, For(i, n, ZERO, imp.EMPTY)))
    code = Kernel("k", (Argument("y", (n,), (x,)),), body, (helper,))
    visits = Counter()
    run(code, {"y": ([4], {"x": np.arange(4)})}, visits)
    assert visits == {"s in three": 3, "o": 3, "i": 6, "look": 15, "fill y": 9}
    assert list(visits) == ["s in three", "o", "i", "fill y", "look"]


def test_what_a_task_has_is_out_of_reach():
    helper = imp.Function("task", (x,), Block((Store(x, ZERO, ONE),)), None)
    call = imp.Call("task", (imp.Address(x),), "int64")
    spawn, join = imp.Spawn("t", call), imp.Join("t", (x,))
    for touch in (Store(x, ZERO, ONE), Let(s, x[0]), imp.Do(call), spawn):
        body = Block((spawn, touch, join))
        code = Kernel("k", (Argument("x", (n,), (x,)),), body, (helper,))
        with pytest.raises(InternalError, match=r"the task t (has x|is spawned before)"):
            run(code, {"x": ([4], {"x": np.arange(4)})})
    code = Kernel("k", (Argument("x", (n,), (x,)),), Block((spawn, join, Let(s, x[0]))), (helper,))
    assert run(code, {"x": ([4], {"x": np.zeros(4, int)})})[1]["x"].tolist() == [1, 0, 0, 0]
    left = Kernel("k", (Argument("x", (n,), (x,)),), Block((spawn,)), (helper,))
    assert run(left, {"x": ([4], {"x": np.zeros(4, int)})})[1]["x"].tolist() == [1, 0, 0, 0]


def test_what_is_read_only_is_not_written():
    array = np.arange(4)
    array.setflags(write=False)
    with pytest.raises(TypeError, match="read-only"):
        run(kernel(Store(x, ZERO, ONE)), {"x": ([4], {"x": array})})


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_floats_are_computed_in_their_own_precision(dtype):
    big, zero = convert(3e38, dtype), convert(0, dtype)
    with np.errstate(all="ignore"):
        assert np.asarray(operate("+", big, big, dtype)).dtype == dtype
        assert np.isinf(operate("+", big, big, dtype)) == (dtype in ("float32", "complex64"))
        assert not np.isfinite(operate("/", big, zero, dtype))
    if dtype[0] == "f":
        nan = convert(np.nan, dtype)
        for op in ("min", "max"):
            assert np.isnan(operate(op, nan, zero, dtype))
            assert np.isnan(operate(op, zero, nan, dtype))
            assert operate(op, big, zero, dtype) == (zero if op == "min" else big)
