"""Every operator, conversion and function of every type: LLVM, C and the interpreter agree."""

import random

import numpy as np
import pytest
from tests.unit.backend.harness import same
from tests.unit.backend.kernels import elementwise

from linnet import imp
from linnet.algebra.dtypes import DTYPES
from linnet.imp import Binary, Call, Cast, Const, Select, Unary, Var
from linnet.imp.check import _KINDS as KINDS
from linnet.imp.functions import MATH, TESTS

INTS = [d for d in DTYPES if d[0] in "iu"]
FLOATS = ["float32", "float64"]
COMPLEX = {"complex64": "float32", "complex128": "float64"}


def edges(dtype: str) -> np.ndarray:
    """Values at which operations go wrong."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype[0] in "iu":
        info = np.iinfo(dtype)
        some = {0, 1, 2, 3, 7, 31, 33, 63, 64, 100, info.max, info.max - 1, info.min, info.min + 1}
        some |= {-1, -2, -7, -100} if dtype[0] == "i" else {info.max // 2}
        return np.array(sorted(some), dtype=dtype)
    reals = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.5,
        -3.75,
        1e10,
        -1e10,
        3e38,
        np.inf,
        -np.inf,
        np.nan,
        1e-40,
    ]
    if dtype[0] == "f":
        return np.array(
            [*reals, 127.9, 255.5, -128.5, 2.0**31, 2.0**63, -(2.0**63), 2.0**64], dtype=dtype
        )
    return np.array([complex(x, y) for x in (0, 1, -2.5, 3e10) for y in (0, -1, 0.5)], dtype=dtype)


def pairs(dtype: str) -> dict[str, np.ndarray | int]:
    a, b = (x.ravel() for x in np.meshgrid(edges(dtype), edges(dtype)))
    return {"n": len(a), "a_val": a.copy(), "b_val": b.copy()}


def outputs(n: int, outs: list[tuple[imp.Expr, str]]) -> dict[str, np.ndarray]:
    return {f"out{k}": np.zeros(n, d) for k, (_, d) in enumerate(outs)}


@pytest.mark.parametrize("dtype", DTYPES)
def test_binary_operators_and_choices(dtype):
    a, b = Var("a", dtype), Var("b", dtype)
    outs = []
    for op, kinds in KINDS.items():
        if dtype[0] in kinds:
            result = "bool" if op in imp.COMPARISONS else dtype
            outs.append((Binary(op, a, b, result), result))
    outs.append((Select(Binary("==", a, b, "bool"), a, b), dtype))
    data = pairs(dtype)
    with np.errstate(all="ignore"):
        same(
            elementwise("ops", {"a": dtype, "b": dtype}, outs),
            data | outputs(data["n"], outs),
            dtype[0] != "c",
        )


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d[0] in "iu"])
def test_division_and_shifts_by_constants(dtype):
    a = Var("a", dtype)
    outs = [
        (Binary(op, a, Const(v, dtype), dtype), dtype)
        for op in ("div", "rem")
        for v in (0, 1, 3, 8)
    ]
    outs += [
        (Binary(op, a, Const(v, dtype), dtype), dtype)
        for op in ("<<", ">>")
        for v in (0, 1, 7, 100)
    ]
    if dtype[0] == "i":
        outs += [
            (Binary(op, a, Const(v, dtype), dtype), dtype)
            for op in ("div", "rem")
            for v in (-1, -3)
        ]
    data = {"n": len(edges(dtype)), "a_val": edges(dtype)}
    same(elementwise("ops", {"a": dtype}, outs), data | outputs(data["n"], outs))


@pytest.mark.parametrize("dtype", DTYPES)
def test_unary_operators_and_conversions(dtype):
    a = Var("a", dtype)
    outs = [(Cast(a, target), target) for target in DTYPES]
    outs += (
        [(Unary("-", a, dtype), dtype)] if dtype != "bool" else [(Unary("not", a, dtype), dtype)]
    )
    outs += [(Unary("~", a, dtype), dtype)] if dtype[0] in "biu" else []
    part = COMPLEX.get(dtype, dtype)
    outs += [(Call(f, (a,), part), part) for f in ("abs", "real", "imag") if dtype != "bool"]
    outs += [(Call("conj", (a,), dtype), dtype)]
    outs += [(Call(f, (a,), "bool"), "bool") for f in TESTS if f != "signbit" or dtype[0] == "f"]
    data = {"n": len(edges(dtype)), "a_val": edges(dtype)}
    exact = dtype[0] != "c"
    with np.errstate(all="ignore"):
        same(elementwise("ops", {"a": dtype}, outs), data | outputs(data["n"], outs), exact)


@pytest.mark.parametrize("dtype", FLOATS)
def test_mathematical_functions(dtype):
    names = ("a", "b", "c")
    outs = [
        (Call(f.name, tuple(Var(v, dtype) for v in names[: f.arity]), dtype), dtype)
        for f in MATH.values()
    ]
    rng = np.random.default_rng(0)
    data = {"n": 40} | {f"{v}_val": rng.uniform(0.1, 0.9, 40).astype(dtype) for v in names}
    same(
        elementwise("ops", dict.fromkeys(names, dtype), outs), data | outputs(40, outs), exact=False
    )


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers_are_made_and_divided(dtype):
    part = COMPLEX[dtype]
    re, im = Var("a", part), Var("b", part)
    z = Call("complex", (re, im), dtype)
    outs = [
        (z, dtype),
        (Binary("/", Const(1 + 2j, dtype), z, dtype), dtype),
        (Binary("*", z, z, dtype), dtype),
    ]
    values = np.array([1, -2, 0.5, 3e10, 1e-10, 0], dtype=part)
    a, b = (x.ravel().copy() for x in np.meshgrid(values, values))
    data = {"n": len(a), "a_val": a, "b_val": b}
    with np.errstate(all="ignore"):
        got = same(
            elementwise("ops", {"a": part, "b": part}, outs),
            data | outputs(len(a), outs),
            exact=False,
        )
        np.testing.assert_allclose(
            got["out1"], np.dtype(dtype).type(1 + 2j) / (a + 1j * b).astype(dtype), rtol=1e-5
        )


# -- random expressions: precedence, conversions, nesting ----------------------------------------


class Maker:
    """Makes well-typed expressions over variables a, b, … of all types."""

    def __init__(self, seed: int, dtypes: list[str]) -> None:
        self.random, self.dtypes = random.Random(seed), dtypes

    def expression(self, dtype: str, depth: int) -> imp.Expr:
        pick = self.random.random()
        if depth == 0 or pick < 0.1:
            return self.leaf(dtype)
        if pick < 0.2:
            return Cast(self.expression(self.random.choice(self.dtypes), depth - 1), dtype)
        if pick < 0.3:
            return Select(*(self.expression(d, depth - 1) for d in ("bool", dtype, dtype)))
        if pick < 0.4:
            op = {"b": "not", "i": self.random.choice("-~"), "u": "~", "f": "-"}[dtype[0]]
            return Unary(op, self.expression(dtype, depth - 1), dtype)
        operands = dtype
        if dtype == "bool" and self.random.random() < 0.6:
            operands = self.random.choice(self.dtypes)
            op = self.random.choice(sorted(imp.COMPARISONS))
        else:
            # no division: whether min(0, -0) is 0 or -0 is open, and a quotient would show it
            ops = [
                o for o, k in KINDS.items() if dtype[0] in k and o not in imp.COMPARISONS | {"/"}
            ]
            op = self.random.choice(ops)
        a, b = self.expression(operands, depth - 1), self.expression(operands, depth - 1)
        return Binary(op, a, b, dtype)

    def leaf(self, dtype: str) -> imp.Expr:
        if self.random.random() < 0.7:
            return Var(f"v_{dtype}", dtype)
        if dtype == "bool":
            return Const(self.random.random() < 0.5, dtype)
        if dtype[0] == "f":
            return Const(self.random.choice([0.0, 1.0, -2.0, 0.5, -0.0]), dtype)
        info = np.iinfo(dtype)
        return Const(self.random.choice([0, 1, 2, 5, info.max, info.min, 40]), dtype)


@pytest.mark.parametrize("seed", range(6))
def test_random_expressions(seed):
    dtypes = [d for d in DTYPES if d[0] != "c"]
    maker = Maker(seed, dtypes)
    outs = [(maker.expression(d, 4), d) for d in dtypes for _ in range(4)]
    ins = {f"v_{d}": d for d in dtypes}
    rng = np.random.default_rng(seed)
    data = {"n": 30} | {f"v_{d}_val": rng.choice(edges(d), 30) for d in dtypes}
    same(elementwise("ops", ins, outs), data | outputs(30, outs))
