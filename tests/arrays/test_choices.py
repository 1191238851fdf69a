"""Random choices between arrays and numbers, nested: values and dtypes as NumPy's.

Where nothing is stored a choice may be a number that its kernel is given, and not a value of any
array. Operands come in any format, with any fill value; beside them are numbers, elements and
arrays of NumPy. What is computed eagerly, lazily and by `fuse` is the same.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st
from tests.oracle.data import SIGNED, recipes, square, tensors
from tests.oracle.formats import READ, formats

import linnet as ln
from linnet.formats.format import Format

Draw = st.DrawFn
Names = tuple[str, ...]  # what is written, each as often as it is wanted: operands, and + -
DTYPES = ("float64", "float64", "float32", "int64", "uint8")
FINITE = (0.0, 0.0, 0.0, 0.0, -0.0, 1.0, 2.0, -1.0)
# An infinity that is not stored decides a minimum, whatever the other is; NumPy's would be NaN.
NUMBERS = {"infinite": (*FINITE, math.inf, -math.inf), "undefined": (*FINITE, math.nan)}
HOW = ("eager", "lazy", "fused")


def _called(name: str, *args: str) -> str:
    """A function of arguments that are not all numbers, which NumPy makes arrays of."""
    first = "x" if all(re.fullmatch(r"[n0-9+() -]*", arg) for arg in args) else args[0]
    return f"xp.{name}({', '.join((first, *args[1:]))})"


def operand(names: Names) -> st.SearchStrategy[str]:
    return st.sampled_from([name for name in names if name != "+"])


@st.composite
def conditions(draw: Draw, depth: int, names: Names) -> str:
    """A condition on some values, as both write it."""
    if depth and draw(st.integers(0, 2)) == 2:
        kind = draw(st.sampled_from(["and", "or", "xor", "not"]))
        args = [draw(conditions(depth - 1, names)) for _ in range(1 if kind == "not" else 2)]
        return _called(f"logical_{kind}", *args)
    x, y = draw(values(depth - 1, names)), draw(values(depth - 1, names))
    if draw(st.integers(0, 4)) == 4:
        return _called(draw(st.sampled_from(["isnan", "isfinite"])), x)
    compared = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
    return _called(draw(st.sampled_from(compared)), x, y)


@st.composite
def values(draw: Draw, depth: int, names: Names) -> str:
    """A value that is chosen from others."""
    if depth <= 0:
        return draw(operand(names))
    rest = values(depth - 1, names)
    kinds = ["where", "where", "where", "extreme", "clip", "leaf", *"+-" * ("+" in names)]
    match draw(st.sampled_from(kinds)):
        case "where":
            otherwise = draw(st.just("n") | rest)  # which it is where nothing is stored
            return _called("where", draw(conditions(depth - 1, names)), draw(rest), otherwise)
        case "extreme":
            return _called(draw(st.sampled_from(["maximum", "minimum"])), draw(rest), draw(rest))
        case "clip":
            low, high = draw(st.sampled_from([("0", "2"), ("1", "3"), ("2", "2")]))
            return _called("clip", draw(rest), low, high)
        case "+" | "-" as sign:
            return f"({draw(rest)} {sign} {draw(rest)})"
        case _:
            return draw(operand(names))


@st.composite
def filled(draw: Draw, ndim: int, numbers: tuple[float, ...]) -> Format:
    """A format with a fill value."""
    format = draw(formats(ndim, READ, draw(st.sampled_from(DTYPES))))
    some = str(format.dtype).startswith("float")
    return format.with_fill(draw(st.sampled_from(numbers))) if some else format


@st.composite
def operands(draw: Draw, numbers: tuple[float, ...]) -> dict[str, tuple[Any, Any]]:
    """What names mean to us, and to NumPy."""
    ndim = draw(st.integers(1, 2))
    kinds = [draw(filled(ndim, numbers)) for _ in "xyz"]
    shape = tuple(draw(st.sampled_from([3, 4, 2, 1, 0])) for _ in range(ndim))
    for format in kinds:
        shape = square(shape, format)
    found: dict[str, tuple[Any, Any]] = {}
    for name, format in zip("xyz", kinds, strict=True):
        tensor = draw(tensors(draw(recipes(format, SIGNED)), shape))
        found[name] = tensor, tensor.to_numpy()
        note(f"{name} = {found[name][1]!r} of {format}")
    dtype = draw(st.sampled_from(DTYPES))
    held = np.array(draw(st.lists(st.integers(0, 3), min_size=shape[-1], max_size=shape[-1])))
    found["d"] = (held.astype(dtype),) * 2
    number = draw(st.sampled_from(numbers) if dtype.startswith("float") else st.integers(0, 3))
    found["n"] = number, number
    element = np.array(draw(st.integers(0, 3)), dtype)
    found["e"] = ln.asarray(element) if draw(st.booleans()) else element, element
    note(f"d = {found['d'][1]!r}, n = {number!r}, e = {element!r}")
    return found


def _computed(text: str, how: str, names: list[str], args: list[Any]) -> ln.Tensor:
    function = eval(f"lambda {', '.join(names)}: {text}", {"xp": ln})
    if how == "fused":
        return ln.fuse(function)(*args)
    if how == "lazy":
        args = [ln.lazy(arg) if isinstance(arg, ln.Tensor) else arg for arg in args]
    return ln.compute(function(*args))


@given(data=st.data())
def test_choices_are_as_numpys(data: st.DataObject) -> None:
    with ln.config(many=data.draw(st.sampled_from([0, None]))):
        check_choices(data.draw)


def check_choices(draw: st.DrawFn) -> None:
    """A drawn program of drawn operands."""
    numbers = draw(st.sampled_from(sorted(NUMBERS)))
    found = draw(operands(NUMBERS[numbers]))
    depth = draw(st.sampled_from([1, 1, 1, 2, 2, 3]))  # deep ones take long to compile
    sums = "+" if numbers == "undefined" else ""  # inf - inf would be NaN
    text = draw(values(depth, (*"xxyyznnde", *sums)))
    if not re.search(r"\b[xyz]\b", text):
        text = f"xp.where(x == y, {text}, z)"
    how = draw(st.sampled_from(HOW))
    note(f"{how}: {text}")
    names = list(found)
    with np.errstate(all="ignore"):
        theirs = eval(f"lambda {', '.join(names)}: {text}", {"xp": np})
        expected = np.asarray(theirs(*[found[name][1] for name in names]))
    got = _computed(text, how, names, [found[name][0] for name in names])
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got.to_numpy(), expected)
