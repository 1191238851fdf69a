"""Python functions as loop programs: expressions, and updates by them."""

# ruff: noqa: E501 (a case is a line)

from __future__ import annotations

import enum

import numpy as np
import pytest
from tests.unit.frontend.bodies import body

from linnet import loops
from linnet.algebra import table
from linnet.algebra.function import Function
from linnet.errors import LinnetError
from linnet.frontend.parse import parse
from linnet.loops import Access, Assign, Call, Dimension, Index, Literal, Loop
from linnet.loops.printer import show
from linnet.loops.rewrite import walk

i, j = Index("i"), Index("j")


def value(text: str, **names: object) -> loops.Expr:
    """What is assigned to y[i] in a loop over i and j."""
    nest = body(f"for i, j in ...:\n    y[i] = {text}", **names)
    stmt = nest.body.body  # type: ignore[union-attr]
    assert isinstance(stmt, Assign)
    assert stmt.op is None
    return stmt.value


def update(text: str) -> Assign:
    stmt = body(f"for i in ...:\n    {text}")
    assert isinstance(stmt, Loop)
    assert isinstance(stmt.body, Assign)
    return stmt.body


# -- expressions -----------------------------------------------------------------------------------

x_i, x_j = Access("x", (i,)), Access("x", (j,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x[i] + x[j]", Call(table.add, (x_i, x_j))),
        ("x[i] / 2", Call(table.divide, (x_i, Literal(2)))),
        ("x[i] // i", Call(table.floor_divide, (x_i, i))),
        ("x[i] ** 2", Call(table.power, (x_i, Literal(2)))),
        ("x[i] % 2", Call(table.remainder, (x_i, Literal(2)))),
        ("i << j", Call(table.left_shift, (i, j))),
        ("i ^ j", Call(table.bitwise_xor, (i, j))),
        ("-i", Call(table.negative, (i,))),
        ("~i", Call(table.bitwise_invert, (i,))),
        ("not i", Call(table.logical_not, (i,))),
        ("-1", Literal(-1)),
        ("+1.5", Literal(1.5)),
        ("1 - 2j", Literal(1 - 2j)),
        ("True", Literal(True)),
        ("i < j", Call(table.less, (i, j))),
        (
            "0 <= i < j",
            Call(
                table.logical_and,
                (Call(table.less_equal, (Literal(0), i)), Call(table.less, (i, j))),
            ),
        ),
        ("i and j", Call(table.logical_and, (i, j))),
        ("i or j or 1", Call(table.logical_or, (Call(table.logical_or, (i, j)), Literal(1)))),
        ("i if j else 1", Call(table.where, (j, i, Literal(1)))),
        ("min(i, j)", Call(table.minimum, (i, j))),
        ("max(i, j, 1)", Call(table.maximum, (Call(table.maximum, (i, j)), Literal(1)))),
        ("abs(i)", Call(table.absolute, (i,))),
        ("pow(i, j)", Call(table.power, (i, j))),
        ("np.sqrt(i)", Call(table.sqrt, (i,))),
        ("math.sqrt(i)", Call(table.sqrt, (i,))),
        ("np.where(i, j, 1)", Call(table.where, (i, j, Literal(1)))),
        ("float(i)", Call(table.astype["float64"], (i,))),
        ("np.float32(i)", Call(table.astype["float32"], (i,))),
        ("np.float32(1)", Literal(1.0, "float32")),
        ("float('inf')", Literal(float("inf"))),
        ("-np.inf", Literal(float("-inf"))),
        ("math.pi", Literal(np.pi)),
        ("complex(1, 2)", Literal(1 + 2j)),
        ("ln.choose(0)(i, j)", Call(table.choose(0), (i, j))),
        ("ln.coalesce(x[~(i - 1)], 0)", Call(table.coalesce, (Access("x", (Call(table.subtract, (i, Literal(1))),), ("permissive",)), Literal(0)))),
        ("s", Access("s", ())),
        ("s[()]", Access("s", ())),
        ("x[i,]", x_i),
        ("A.shape[1]", Dimension("A", 1)),
        ("x[0]", Access("x", (Literal(0),))),
        ("x[i + 1]", Access("x", (Call(table.add, (i, Literal(1))),))),
        ("x[y[i]]", Access("x", (Access("y", (i,)),))),
        ("A[i, ln.gallop(j)]", Access("A", (i, j), ("", "gallop"))),
        ("A[ln.follow(i), ln.walk(j)]", Access("A", (i, j), ("follow", "walk"))),
    ],
)  # fmt: skip
def test_expression(text: str, expected: loops.Expr):
    assert value(text) == expected


class Size(enum.IntEnum):
    small = 3


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (3, Literal(3)),
        (2.5, Literal(2.5)),
        (True, Literal(True)),
        (1j, Literal(1j)),
        (Size.small, Literal(3)),
        (np.float32(0.1), Literal(float(np.float32(0.1)), "float32")),
        (np.int8(3), Literal(3, "int8")),
        (np.bool_(True), Literal(True, "bool")),
    ],
)
def test_numbers_of_the_surrounding_code(given: object, expected: loops.Literal):
    found = value("n", n=given)
    assert found == expected
    assert type(found.value) is type(expected.value)  # type: ignore[union-attr]


def test_numbers_in_containers_and_modules():
    assert value("sizes[0]", sizes=(4, 5)) == Literal(4)
    assert value("sizes['n']", sizes={"n": 4}) == Literal(4)


def test_closures():
    def make(n):
        def k(y):
            y[()] = n

        return k

    assert parse(make(3)).body == Assign(Access("y", ()), None, Literal(3))
    assert parse(make(4)).body == Assign(Access("y", ()), None, Literal(4))


def test_a_closure_without_a_value_yet():
    def k(y):
        y[()] = later

    with pytest.raises(LinnetError, match="`later` is not defined"):
        parse(k)
    later = 3


def test_user_functions():
    mine = Function("mine", 2, table.add.types, table.add.emit, table.add.numpy)
    assert value("mine(i, j)", mine=mine) == Call(mine, (i, j))


# -- updates ---------------------------------------------------------------------------------------

y_i = Access("y", (i,))


@pytest.mark.parametrize(
    ("symbol", "function"),
    [
        ("+", table.add), ("-", table.subtract), ("*", table.multiply), ("/", table.divide),
        ("//", table.floor_divide), ("%", table.remainder), ("**", table.power),
        ("|", table.bitwise_or), ("&", table.bitwise_and), ("^", table.bitwise_xor),
        ("<<", table.left_shift), (">>", table.right_shift),
    ],
)  # fmt: skip
def test_update_operators(symbol: str, function: Function):
    expected = Assign(y_i, function, x_i)
    assert update(f"y[i] {symbol}= x[i]") == expected
    assert update(f"y[i] = y[i] {symbol} x[i]") == expected
    swapped = update(f"y[i] = x[i] {symbol} y[i]")
    if function.commutative:
        assert swapped == expected
    else:
        assert swapped.op is None


@pytest.mark.parametrize(
    ("text", "op", "rest"),
    [
        ("y[i] = min(y[i], x[i])", table.minimum, "x[i]"),
        ("y[i] = max(x[i], y[i])", table.maximum, "x[i]"),
        ("y[i] = max(x[i], y[i], 2)", table.maximum, "max(x[i], 2)"),
        ("y[i] = y[i] or x[i] or 2", table.logical_or, "x[i] or 2"),
        ("y[i] = max(2, min(x[i], 3), y[i])", table.maximum, "max(2, min(x[i], 3))"),
        ("y[i] = y[i] < x[i]", table.less, "x[i]"),
        ("y[i] = ln.choose(0)(y[i], x[i])", table.choose(0), "x[i]"),
        ("y[i] = np.hypot(y[i], 2)", table.hypot, "2"),
    ],
)
def test_update_by_function(text: str, op: Function, rest: str):
    found = update(text)
    assert found.op is op
    assert show(found.value) == rest


def test_not_every_call_is_an_update():
    assert update("y[i] = y[i + 1] + x[i]").op is None
    assert update("y[i] = y[i] + x[i] + y[i]").op is None
    assert update("y[i] = x[i] - (y[i] + 2)").op is None
    assert update("y[i] = (2 if x[i] > 0 else y[i]) + 2").op is None


@pytest.mark.parametrize(
    ("value", "updates"),
    [
        ("y[i] + x[i] - 2", "y[i] += x[i]\ny[i] -= 2"),
        ("x[i] + (2 + y[i])", "y[i] += 2\ny[i] += x[i]"),
        ("3 * (y[i] - x[i])", "y[i] -= x[i]\ny[i] *= 3"),
        ("min(y[i], 2, 3) * max(2, x[i])", "y[i] = min(y[i], min(2, 3))\ny[i] *= max(2, x[i])"),
        ("max(y[i] + 1, x[i], 2)", "y[i] += 1\ny[i] = max(y[i], max(x[i], 2))"),
    ],
)
def test_updates_one_after_another(value: str, updates: str):
    (found,) = [
        s for s in walk(body(f"for i in ...:\n    y[i] = {value}")) if isinstance(s, loops.Block)
    ]
    assert isinstance(found, loops.Block)
    assert show(found) == updates
    assert [s.partial for s in found.stmts] == [True] * (len(found.stmts) - 1) + [False]
