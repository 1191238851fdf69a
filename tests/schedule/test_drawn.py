"""Random equations as one nest of loops, under splits: in every respect what einsum computes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linnet as ln
from linnet.errors import LinnetError

RANKS = {"A": 2, "B": 2, "x": 1, "c": 0}
FORMATS = {
    2: (ln.CSR, ln.DCSR, ln.COO, ln.DENSE, ln.CSC),
    1: (ln.DENSE, ln.SparseList(ln.Element())),
    0: (ln.SCALAR,),
}
DTYPES = ("float64", "float64", "int64", "int8", "bool")


@st.composite
def values(draw: st.DrawFn, indices: list[str], depth: int) -> str:
    """An expression over the operands."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from([*RANKS, "1"]))
        where = [draw(st.sampled_from(indices)) for _ in range(RANKS.get(name, 0))]
        return f"{name}[{','.join(where)}]" if where else name
    op = draw(st.sampled_from(["+", "-", "*", "*", "max"]))
    a, b = (draw(values(indices, depth - 1)) for _ in range(2))
    return f"max({a}, {b})" if op == "max" else f"({a} {op} {b})"


@st.composite
def equations(draw: st.DrawFn) -> str:
    """An equation over two or three indices."""
    indices = ["i", "j", "k"][: draw(st.integers(2, 3))]
    free = draw(st.lists(st.sampled_from(indices), unique=True, max_size=2))
    target = f"y[{','.join(free)}]" if free else "y"
    op = draw(st.sampled_from(["=", "=", "+=", "max=", "*="]))
    return f"{target} {op} {draw(values(indices, draw(st.integers(1, 3))))}"


@st.composite
def operands(draw: st.DrawFn, equation: str) -> dict[str, ln.Tensor]:
    """What the equation reads, in formats of any kind."""
    size, found = draw(st.sampled_from([1, 3, 5])), {}
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    for name, rank in RANKS.items():
        if re.search(rf"\b{name}\b", equation.partition("=")[2]):
            shape = (size,) * rank
            data = rng.integers(0, 4, shape) * (rng.random(shape) < 0.5)
            data = np.asarray(data).astype(draw(st.sampled_from(DTYPES)))
            found[name] = ln.asarray(data, format=draw(st.sampled_from(FORMATS[rank])))
    return found


def outcome(compute):
    """What comes out: all that is known of a tensor, or the kind of the error."""
    try:
        found = compute()
    except LinnetError as error:
        return type(error), error
    return found.to_numpy().tolist(), found.dtype, found.format, repr(found.fill_value)


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@settings(max_examples=max(10, settings().max_examples // 4))
@given(st.data())
def test_equations_are_the_same_under_a_schedule(data: st.DataObject) -> None:
    equation = data.draw(equations())
    given = data.draw(operands(equation))
    expected = outcome(lambda: ln.einsum(equation, **given))
    text = data.draw(st.sampled_from(["", "split(i, i0, i1, 2)", "split(j, j0, j1, 2, up)"]))
    found = outcome(lambda: ln.einsum(equation, schedule=text, **given))
    if found[0] is ln.errors.ScheduleError:  # there is no such loop, or several
        assert text
        assert "loop" in str(found[1])
        found = outcome(lambda: ln.einsum(equation, schedule="", **given))
    if isinstance(expected[0], type):
        found, expected = found[:1], expected[:1]
    assert found == expected
