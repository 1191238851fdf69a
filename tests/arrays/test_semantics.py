"""Random array expressions over random fills, dtypes and formats mean what they mean in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import linnet as ln
from linnet.arrays import apply, broadcast_to, compute, contract, lazy, permute, reduce, view
from linnet.testing import dense

DTYPES = ("float64", "float32", "int64", "int32", "bool")
FORMATS: dict[int, list[Any]] = {
    0: [ln.SCALAR],
    1: [ln.DENSE, ln.CSF, ln.COO, ln.SparseByteMap(ln.Element()), ln.RunList(ln.Element())],
    2: [ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.DENSE, ln.BAND, ln.RLE, ln.DCSC],
    3: [ln.CSF, ln.COO, ln.DENSE, ln.Dense(ln.SparseList(ln.Dense(ln.Element())))],
}
BINARY = ("add", "subtract", "multiply", "minimum", "maximum", "less", "equal", "logical_or")
UNARY = ("negative", "abs", "square", "sign", "logical_not")
REDUCTIONS = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "prod"}


@dataclass
class Pair:
    """The same array twice."""

    array: np.ndarray
    node: Any


@st.composite
def leaves(draw, shape: tuple[int, ...]) -> Pair:
    dtype = draw(st.sampled_from(DTYPES))
    fill = draw(st.sampled_from([0, 1] if dtype == "bool" else [0, 0, 1, -2]))
    count = int(np.prod(shape))
    given = draw(st.lists(st.integers(-3, 3) | st.none(), min_size=count, max_size=count))
    values = np.array([fill if v is None else v for v in given], dtype).reshape(shape)
    format = draw(st.sampled_from(FORMATS[len(shape)]))
    made = ln.asarray(values, format=format, fill_value=values.dtype.type(fill).item())
    return Pair(values, lazy(made))


@st.composite
def expressions(draw, depth: int) -> Pair:
    """An expression of at most this depth."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        shape = draw(st.sampled_from([(3, 4), (3, 4), (4,), (3, 1), (4, 3), (2, 3, 4), ()]))
        return draw(leaves(shape))
    match draw(
        st.sampled_from(["binary", "binary", "unary", "number", "reduce", "view", "product"])
    ):
        case "binary":
            return both(draw, depth)
        case "unary":
            x = draw(expressions(depth - 1))
            name = draw(st.sampled_from(UNARY))
            assume(not (x.array.dtype == bool and name != "logical_not"))
            return Pair(getattr(np, name)(x.array), apply(name, x.node))
        case "number":
            x = draw(expressions(depth - 1))
            number = draw(st.sampled_from([2, -1, 0, 1.5]))
            name = draw(st.sampled_from(["add", "multiply", "maximum", "greater"]))
            return Pair(getattr(np, name)(x.array, number), apply(name, x.node, number))
        case "reduce":
            return reduced(draw, depth)
        case "view":
            return viewed(draw, depth)
        case _:
            return product(draw, depth)


def both(draw, depth: int) -> Pair:
    x, y = draw(expressions(depth - 1)), draw(expressions(draw(st.integers(0, depth - 1))))
    try:
        np.broadcast_shapes(x.array.shape, y.array.shape)
    except ValueError:
        y = draw(leaves(x.array.shape))
    name = draw(st.sampled_from(BINARY))
    assume(not (name == "subtract" and x.array.dtype == y.array.dtype == bool))
    return Pair(getattr(np, name)(x.array, y.array), apply(name, x.node, y.node))


def reduced(draw, depth: int) -> Pair:
    x = draw(expressions(depth - 1))
    axes = tuple(draw(st.sets(st.sampled_from(range(x.array.ndim))))) if x.array.ndim else ()
    name = draw(st.sampled_from(sorted(REDUCTIONS)))
    keep = draw(st.booleans())
    assume(x.array.size or name in ("add", "multiply"))
    want = getattr(np, REDUCTIONS[name])(x.array, axis=axes, keepdims=keep)
    return Pair(np.asarray(want), reduce(name, x.node, axes, keep))


def viewed(draw, depth: int) -> Pair:
    x = draw(expressions(depth - 1))
    if draw(st.booleans()):
        order = draw(st.permutations(range(x.array.ndim)))
        return Pair(x.array.transpose(order), permute(x.node, order))
    if draw(st.integers(0, 3)) == 0 and x.array.ndim < 3:
        shape = (2, *x.array.shape)
        return Pair(np.broadcast_to(x.array, shape), broadcast_to(x.node, shape))
    parts: list[Any] = []
    for size in x.array.shape:
        index = st.integers(-size, size - 1) if size else st.nothing()
        whole = st.slices(size)
        parts.append(draw(st.just(slice(None)) | whole | index))
    if draw(st.integers(0, 4)) == 0 and x.array.ndim < 3:
        parts.insert(draw(st.integers(0, len(parts))), None)
    return Pair(np.asarray(x.array[tuple(parts)]), view(x.node, tuple(parts)))


def product(draw, depth: int) -> Pair:
    x = draw(expressions(depth - 1))
    assume(x.array.ndim in (1, 2))
    shape = (x.array.shape[-1], draw(st.sampled_from([2, 3])))
    y = draw(leaves(shape))
    assume(not (x.array.dtype == bool and y.array.dtype == bool))
    text = "ij,jk->ik" if x.array.ndim == 2 else "j,jk->k"
    return Pair(np.einsum(text, x.array, y.array), contract(text, x.node, y.node))


def check(pair: Pair) -> None:
    want = pair.array
    assume(want.size == 0 or want.dtype == bool or np.abs(want).max() < 2**24)
    assert pair.node.shape == want.shape
    assert pair.node.dtype == want.dtype
    np.testing.assert_array_equal(dense(compute(pair.node)), want)


SETTINGS = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
    "derandomize": True,
}


@settings(max_examples=40, **SETTINGS)
@given(expressions(2))
def test_small_expressions(pair):
    check(pair)


@pytest.mark.slow
@settings(max_examples=300, **SETTINGS)
@given(expressions(6))
def test_deep_expressions(pair):
    check(pair)


@pytest.mark.slow
@settings(max_examples=200, **SETTINGS)
@given(expressions(4), expressions(3))
def test_several_results(x, y):
    assume(all(p.array.size == 0 or np.abs(p.array).max() < 2**24 for p in (x, y)))
    found = compute(x.node, y.node)
    np.testing.assert_array_equal(dense(found[0]), x.array)
    np.testing.assert_array_equal(dense(found[1]), y.array)
