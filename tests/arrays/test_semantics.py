"""Random array expressions over random fills, dtypes and formats mean what they mean in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import linnet as ln
from linnet.algebra.table import astype
from linnet.arrays import apply, broadcast_to, compute, contract, lazy, permute, reduce, view
from linnet.testing import dense

DTYPES = ("float64", "float32", "int64", "int32", "int8", "uint8", "complex64", "bool")
FORMATS: dict[int, list[Any]] = {
    0: [ln.SCALAR],
    1: [
        ln.DENSE,
        ln.CSF,
        ln.COO,
        ln.SparseByteMap(ln.Element()),
        ln.RunList(ln.Element()),
        ln.SparseRunList(ln.Element()),
        ln.SparseBlockList(ln.Element()),
        ln.SparseHash(ln.Element()),
    ],
    2: [ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.DENSE, ln.BAND, ln.RLE, ln.DCSC, ln.SRLE, ln.BLOCK],
    3: [ln.CSF, ln.COO, ln.DENSE, ln.Dense(ln.SparseList(ln.Dense(ln.Element())))],
}
BINARY = "add subtract multiply minimum maximum less equal logical_or logical_xor".split()
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
UNARY = ("negative", "abs", "square", "sign", "logical_not", "isfinite")
UNORDERED = ("minimum", "maximum", "less", "greater", "sign")  # not for complex numbers
REDUCTIONS = {
    "add": "sum",
    "maximum": "max",
    "minimum": "min",
    "multiply": "prod",
    "logical_or": "any",
    "logical_and": "all",
}
EXACT = 2**24  # up to here a float32 holds every integer


def _bend(x):
    return 2 * x if x < 1 else x - 3


def _pick(x, y):
    if x == y:
        return x
    return x - y if y < x else y


bend = ln.function(_bend)
pick = ln.function(_pick, idempotent=True)


@dataclass
class Pair:
    """The same array twice."""

    array: np.ndarray
    node: Any

    def __post_init__(self) -> None:
        large = self.array.dtype != bool and self.array.size and np.abs(self.array).max() >= EXACT
        assume(not large)  # what is rounded depends on the order


@st.composite
def leaves(draw, shape: tuple[int, ...]) -> Pair:
    dtype = draw(st.sampled_from(DTYPES))
    signed = dtype[0] not in "bu"
    fill = draw(st.sampled_from([0, 0, 1, -2] if signed else [0, 1]))
    count = int(np.prod(shape))
    some = st.integers(-3 if signed else 0, 3) | st.none()
    given = draw(st.lists(some, min_size=count, max_size=count))
    values = np.array([fill if v is None else v for v in given]).astype(dtype).reshape(shape)
    format = draw(st.sampled_from(FORMATS[len(shape)]))
    made = ln.asarray(values, format=format, fill_value=values.dtype.type(fill).item())
    return Pair(values, lazy(made))


@st.composite
def expressions(draw, depth: int) -> Pair:
    """An expression of at most this depth."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        shape = draw(st.sampled_from([(3, 4), (3, 4), (4,), (3, 1), (4, 3), (2, 3, 4), ()]))
        return draw(leaves(shape))
    kinds = "binary binary unary number reduce view product where function".split()
    match draw(st.sampled_from(kinds)):
        case "binary":
            return both(draw, depth)
        case "unary":
            x = draw(expressions(depth - 1))
            name = draw(st.sampled_from(UNARY))
            assume(_is_defined(name, x.array.dtype))
            return Pair(getattr(np, name)(x.array), apply(name, x.node))
        case "number":
            x = draw(expressions(depth - 1))
            number = draw(st.sampled_from([2, 3, 0, 1.5]))
            name = draw(st.sampled_from(["add", "multiply", "maximum", "greater"]))
            assume(_is_defined(name, x.array.dtype))
            return Pair(getattr(np, name)(x.array, number), apply(name, x.node, number))
        case "reduce":
            return reduced(draw, depth)
        case "view":
            return viewed(draw, depth)
        case "where":
            return chosen(draw, depth)
        case "function":
            return own(draw, depth)
        case _:
            return product(draw, depth)


def _is_defined(name: str, *dtypes: np.dtype) -> bool:
    """Whether a function takes values of these types, in NumPy and here."""
    meet = np.result_type(*dtypes)
    if name in ("negative", "subtract", "sign", "square", "abs") and meet.kind == "b":
        return False
    if name in BITS and meet.kind not in "biu":
        return False
    return not (name in UNORDERED and meet.kind == "c")


def partner(draw, x: Pair, depth: int) -> Pair:
    """Another expression whose shape fits."""
    y = draw(expressions(draw(st.integers(0, depth - 1))))
    try:
        np.broadcast_shapes(x.array.shape, y.array.shape)
    except ValueError:
        return draw(leaves(x.array.shape))
    return y


def chosen(draw, depth: int) -> Pair:
    """`where`, by an expression that is or is not a truth value."""
    x = draw(expressions(depth - 1))
    y = partner(draw, x, min(depth, 2))
    both_of = np.broadcast_shapes(x.array.shape, y.array.shape)
    cond = draw(leaves(both_of))
    want = np.where(cond.array != 0, x.array, y.array)
    return Pair(want, apply("where", cond.node, x.node, y.node))


def own(draw, depth: int) -> Pair:
    """A function of a user."""
    x = draw(expressions(depth - 1))
    assume(x.array.dtype.kind in "if")
    if draw(st.booleans()):
        want = np.where(x.array < 1, 2 * x.array, x.array - 3)
        return Pair(want, apply(bend, x.node))
    y = partner(draw, x, depth)
    assume(y.array.dtype == x.array.dtype)
    a, b = np.broadcast_arrays(x.array, y.array)
    want = np.where(a == b, a, np.where(b < a, a - b, b))
    return Pair(want, apply(pick, x.node, y.node))


def both(draw, depth: int) -> Pair:
    x = draw(expressions(depth - 1))
    y = partner(draw, x, depth)
    name = draw(st.sampled_from([*BINARY, draw(st.sampled_from(BITS))]))
    assume(_is_defined(name, x.array.dtype, y.array.dtype))
    return Pair(getattr(np, name)(x.array, y.array), apply(name, x.node, y.node))


def reduced(draw, depth: int) -> Pair:
    x = draw(expressions(depth - 1))
    axes = tuple(draw(st.sets(st.sampled_from(range(x.array.ndim))))) if x.array.ndim else ()
    name = draw(st.sampled_from(sorted(REDUCTIONS)))
    keep = draw(st.booleans())
    assume(x.array.size or name not in ("maximum", "minimum"))
    assume(_is_defined(name, x.array.dtype))
    want = getattr(np, REDUCTIONS[name])(x.array, axis=axes, keepdims=keep)
    arg = apply(astype["bool"], x.node) if name.startswith("logical") else x.node
    return Pair(np.asarray(want), reduce(name, arg, axes, keep))


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


# -- graphs: parts that are used again, and said again ---------------------------------------------


@st.composite
def graphs(draw) -> list[Pair]:
    """Several results of the same operands, some of which are made of the others."""
    known = [draw(leaves(shape)) for shape in ((4, 4), (4, 4), (4, 5))]
    for _ in range(draw(st.integers(2, 8))):
        made = step(draw, known)
        if made is not None:
            known.append(made)
    assume(len(known) > 3)
    return draw(st.lists(st.sampled_from(known[3:]), min_size=1, max_size=3))


def step(draw, known: list[Pair]) -> Pair | None:
    """One operation more, on what is known already; None if it is not defined."""
    x, y = draw(st.sampled_from(known)), draw(st.sampled_from(known))
    kinds = "binary number window windows windows matmul masked reduce transpose again".split()
    match draw(st.sampled_from(kinds)):
        case "binary" if x.array.shape == y.array.shape:
            name = draw(st.sampled_from(["add", "multiply", "subtract", "maximum"]))
            if _is_defined(name, x.array.dtype, y.array.dtype):
                return Pair(getattr(np, name)(x.array, y.array), apply(name, x.node, y.node))
        case "number":
            name, number = draw(st.sampled_from([("add", 2), ("multiply", 3), ("add", 1.5)]))
            return Pair(getattr(np, name)(x.array, number), apply(name, x.node, number))
        case "window" if x.array.ndim == 2 and min(x.array.shape) > 2:
            return _window(draw, x)
        case "windows" if x.array.ndim == y.array.ndim == 2:
            if min(*x.array.shape, *y.array.shape) > 2:
                x, y = _window(draw, x), _window(draw, y)
                want = (x.array * 3 + 2) - y.array
                return Pair(want, apply("subtract", x.node * 3 + 2, y.node))
        case "matmul" | "masked" as how if x.array.ndim == y.array.ndim == 2:
            return _multiplied(draw, x, y, known if how == "masked" else [])
        case "reduce" if x.array.ndim:
            axis, keep = draw(st.sampled_from(range(x.array.ndim))), draw(st.booleans())
            return Pair(x.array.sum(axis, keepdims=keep), reduce("add", x.node, (axis,), keep))
        case "transpose" if x.array.ndim == 2:
            return Pair(x.array.T, permute(x.node, (1, 0)))
        case "again":  # the same once more, as another object
            whole = (slice(None),) * x.array.ndim
            return Pair(x.array + x.array, apply("add", x.node, view(x.node, whole)))
    return None


def _window(draw, x: Pair) -> Pair:
    """A part of a matrix, which begins anywhere."""
    parts = tuple([slice(a, a + 3) for a in [draw(st.integers(0, n - 3)) for n in x.array.shape]])
    return Pair(x.array[parts], view(x.node, parts))


def _multiplied(draw, x: Pair, y: Pair, masks: list[Pair]) -> Pair | None:
    """A product of matrices, perhaps under a mask."""
    if x.array.shape[1] != y.array.shape[0] or x.array.dtype == y.array.dtype == bool:
        return None
    found = np.einsum("ij,jk->ik", x.array, y.array), contract("ij,jk->ik", x.node, y.node)
    fitting = [m for m in masks if m.array.shape == found[0].shape]
    if not fitting:
        return Pair(*found)
    mask = draw(st.sampled_from(fitting))
    if draw(st.booleans()):
        return Pair(found[0] * mask.array, apply("multiply", found[1], mask.node))
    want = np.einsum("ik,ij,jk->ik", mask.array, x.array, y.array)
    return Pair(want, contract("ik,ij,jk->ik", mask.node, x.node, y.node))


def check(*pairs: Pair) -> None:
    found = compute(*[p.node for p in pairs])
    for pair, got in zip(pairs, found if len(pairs) > 1 else (found,), strict=True):
        assert pair.node.shape == pair.array.shape
        assert pair.node.dtype == pair.array.dtype
        np.testing.assert_array_equal(dense(got), pair.array)


PATIENT = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
}


# An example compiles a kernel or a few, which takes half a second: 60 of them are for every day.


@settings(max_examples=25, derandomize=True, **PATIENT)
@given(expressions(2))
def test_small_expressions(pair):
    check(pair)


@settings(max_examples=25, derandomize=True, **PATIENT)
@given(expressions(6))
def test_deep_expressions(pair):
    check(pair)


@settings(max_examples=10, derandomize=True, **PATIENT)
@given(expressions(4), expressions(3))
def test_several_results(x, y):
    check(x, y)


@settings(max_examples=15, derandomize=True, **PATIENT)
@given(graphs())
def test_parts_that_are_shared(pairs):
    check(*pairs)


@pytest.mark.slow
@settings(max_examples=300, print_blob=True, **PATIENT)
@given(graphs())
def test_more_parts_that_are_shared(pairs):
    check(*pairs)


@pytest.mark.slow
@settings(max_examples=300, print_blob=True, **PATIENT)
@given(expressions(6))
def test_more_deep_expressions(pair):
    check(pair)


@pytest.mark.slow
@settings(max_examples=200, print_blob=True, **PATIENT)
@given(expressions(4), expressions(3))
def test_more_several_results(x, y):
    check(x, y)
