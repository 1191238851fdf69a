"""Fused functions are run again where what is around them has changed, or may have."""

from __future__ import annotations

import math
import operator
import random

import numpy as np
import pytest
from tests.arrays.tracing import Traced, sparse

import linnet as ln
from linnet.arrays.captured import captured
from linnet.errors import RangeError
from linnet.testing import dense

SCALE = 2.0
ALWAYS = [3.0]
RNG = random.Random(0)


def scaled(X):
    return X * SCALE


def doubled(x):
    return operator.add(x, x)


def test_what_is_around_may_be_replaced(monkeypatch):
    f, X = Traced(scaled), ln.asarray(sparse(1), format=ln.CSR)
    for value in (2.0, 2.5, 2.0, 3):
        monkeypatch.setitem(globals(), "SCALE", value)
        for _ in range(4):
            np.testing.assert_array_equal(dense(f(X)), dense(X) * value)
        assert f.count == 0


@pytest.mark.parametrize("module", [math, np, ln], ids=lambda module: module.__name__)
def test_parts_of_modules_may_be_replaced(module, monkeypatch):
    known = {math: lambda X: X * math.pi, np: lambda X: X * np.pi, ln: lambda X: X * ln.pi}
    f, X = Traced(known[module]), ln.asarray(sparse(1), format=ln.CSR)
    for pi in (math.pi, 3.0, 4.0):
        monkeypatch.setattr(module, "pi", pi)
        for _ in range(3):
            np.testing.assert_array_equal(dense(f(X)), dense(X) * pi)
    assert f.count == 0


def test_cells_and_functions_may_be_replaced(monkeypatch):
    factor = 2.0
    f, X = Traced(lambda X: doubled(X) * factor), ln.asarray(sparse(1), format=ln.CSR)
    for factor in (2.0, 3.0):
        for _ in range(3):
            np.testing.assert_array_equal(dense(f(X)), dense(X) * 2 * factor)
    monkeypatch.setitem(globals(), "doubled", lambda x: x * 10)
    for _ in range(3):
        np.testing.assert_array_equal(dense(f(X)), dense(X) * 10 * factor)


def test_defaults_by_name_may_be_replaced():
    def by_name(X, *, scale=2.0):
        return X * scale

    f, X = ln.fuse(by_name), ln.asarray(sparse(1), format=ln.CSR)
    for scale in (2.0, 3.0, 4.0):
        by_name.__kwdefaults__ = {"scale": scale}
        for _ in range(3):
            np.testing.assert_array_equal(dense(f(X)), dense(X) * scale)


def test_a_name_that_hides_a_built_in_one(monkeypatch):
    f, X = Traced(lambda X: X * len((1, 2))), ln.asarray(sparse(1), format=ln.CSR)
    for _ in range(3):
        np.testing.assert_array_equal(dense(f(X)), dense(X) * 2)
    monkeypatch.setitem(globals(), "len", lambda x: 7)
    for _ in range(3):
        np.testing.assert_array_equal(dense(f(X)), dense(X) * 7)


def counts(X):
    global SCALE
    SCALE = SCALE + 0
    return X * SCALE


def imports(X):
    import math

    return X * math.pi


def around():
    cell = 0

    def inside(X):
        nonlocal cell
        cell += 1
        return X * cell

    return inside


def by_another_name(X):
    function = doubled
    return X * function.factor


RECORD = np.zeros((), [("scale", float)])[()]


UNKNOWN = {
    "a list": lambda X: X * ALWAYS[0],
    "an object": lambda X: X * RNG.random(),
    "a module": lambda X: X * random.random(),
    "a part of a module": lambda X: X * np.random.rand(),
    "a module by another name": lambda X: sum(X * m.pi for m in (math,)),
    "an attribute of a function": lambda X: X * doubled.factor,
    "a built-in function that does more": lambda X: print(end="") or X * 2,
    "a global that is set": counts,
    "an import": imports,
    "a cell that is set": around(),
    "an attribute of a function by another name": by_another_name,
    "a default that may change": lambda X, scale=[2.0]: X * scale[0],
    "a module as a default": lambda X, m=random: X * m.random(),
    "a module as a default by name": lambda X, *, m=random: X * m.random(),
    "a record of NumPy": lambda X: X * float(RECORD["scale"]),
    "what is not written in Python": np.sqrt,
    "a special attribute": lambda X: X * X.__class__.__name__.count("L"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_functions_that_depend_on_more_are_run_each_time(name, monkeypatch):
    monkeypatch.setattr(doubled, "factor", 2.0, raising=False)
    function = UNKNOWN[name]
    assert captured(function) is None
    if name == "what is not written in Python":
        return
    f, X = Traced(function), ln.asarray(sparse(1), format=ln.CSR)
    for _ in range(4):
        f(X)
        assert f.count == 1


def test_what_looks_at_elements_is_run_each_time():
    f = Traced(lambda X: X * 2 if float(X.sum()) > 0 else X * 3)
    for k in range(6):
        X = ln.asarray(sparse(k) * (-1) ** k, format=ln.CSR)
        np.testing.assert_array_equal(dense(f(X)), dense(X) * (3 if k % 2 else 2))
    inner = Traced(lambda X: X * float(ln.fuse(lambda x: x.sum())(X)))
    for k in range(6):
        X = ln.asarray(sparse(k), format=ln.CSR)
        np.testing.assert_array_equal(dense(inner(X)), dense(X) * dense(X).sum())
    one = Traced(lambda X, s: X * (2 if float(s) > 0 else 3))
    for k in range(6):
        s = ln.asarray((-1.0) ** k)
        np.testing.assert_array_equal(dense(one(X, s)), dense(X) * (3 if k % 2 else 2))


def test_exponents_are_looked_at_each_time():
    f = Traced(lambda X, Y: X**Y)
    X, Y = (ln.asarray(sparse(k, dtype="int64"), format=ln.DENSE) for k in (1, 2))
    for _ in range(4):
        np.testing.assert_array_equal(dense(f(X, Y)), dense(X) ** dense(Y))
    with pytest.raises(RangeError, match="negative"):
        f(X, -Y)
