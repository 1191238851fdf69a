"""Random expressions of functions with claims: compiled, interpreted and by NumPy the same.

What is claimed is true, so that leaving out what the claims allow changes no value.
"""

from __future__ import annotations

import random
import shutil

import numpy as np
import pytest
from tests.functions.claimed import gcd, implied, larger, unless

import linnet as ln
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel

SHAPE = (5, 7)


@ln.function(commutative=True, iteration_space="(x | y) & ~(x & y)")
def one_of(x, y):
    if x != 0 and y != 0:
        return 0 * x
    return x + y


@ln.function(commutative=True, associative=True, annihilator=0, distributes_over=np.add)
def times(x, y):
    return x * y


@ln.function(annihilator={0: "x"}, identity={1: "y"})
def scaled(x, y):
    return x * (y * y)


@ln.function(iteration_space="x & y", fills={"x": 1, "y": 0}, outside=0)
def odd_fills(x, y):
    return (x - 1) * y


FUNCTIONS = {
    f.name: f for f in (gcd, unless, implied, one_of, times, scaled, larger, odd_fills)
} | {"plus": ln.function(lambda x, y: x + y, name="plus", commutative=True, identity=0)}
FORMATS = [
    ln.CSR,
    ln.DCSR,
    ln.COO,
    ln.DENSE(2),
    ln.CSF(2),
    ln.RLE,
    ln.BAND,
    ln.Dense(ln.SparseHash(ln.Element(0.0))),
]


def expression(rng: random.Random, names: list[str], depth: int) -> str:
    if depth == 0 or rng.random() < 0.15:
        return f"{rng.choice(names)}[i, j]" if rng.random() < 0.9 else str(rng.choice([0, 1, 2]))
    function = rng.choice(list(FUNCTIONS))
    return f"{function}({expression(rng, names, depth - 1)}, {expression(rng, names, depth - 1)})"


def evaluated(text: str, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The expression element by element, by Python."""
    found = np.empty(SHAPE, "int64")
    for i, j in np.ndindex(*SHAPE):
        found[i, j] = eval(text, {**FUNCTIONS, **arrays, "i": i, "j": j})
    return found


@pytest.mark.parametrize("seed", range(20))
def test_all_ways_agree(seed):
    check(seed, 3)


@pytest.mark.parametrize("seed", range(3))
def test_deep_expressions(seed):
    check(seed, 6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("depth", [4, 5, 6])
def test_more_deep_expressions(seed, depth):
    check(seed, depth)


def check(seed: int, depth: int) -> None:
    """An expression at random of at most this depth."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    tensors: dict[str, ln.Tensor] = {}
    for name in "abc":
        fill = rng.choice([0, 0, 0, 1, 2])
        values = np.where(
            numbers.random(SHAPE) < 0.4, numbers.integers(-3, 7, SHAPE), np.int64(fill)
        )
        tensors[name] = ln.asarray(values, format=rng.choice(FORMATS), fill_value=fill)
    text = expression(rng, list("abc"), depth)
    init = rng.choice([0, 0, 1])
    program = parse_text(
        f"r[...] = {init}\nfor i, j in ...:\n    r[i, j] = {text}", dict(FUNCTIONS)
    )
    if program.params == ("r",):
        pytest.skip("nothing is read")
    kernel = Kernel(program)
    used = [tensors[p] for p in program.params[1:]]
    try:
        expected = evaluated(text, {n: t.to_numpy() for n, t in tensors.items()})
    except OverflowError:
        pytest.skip("numbers of Python are larger than those of a tensor")
    out = rng.choice([ln.CSR, ln.DENSE(2), ln.DCSR]).with_dtype("int64")
    for backend in ["llvm", *(["c"] if seed % 5 == 0 and shutil.which("cc") else [])]:
        with ln.config(backend=backend, check=True):
            found = kernel(ln.empty_tensor(out), *used).to_numpy()
        np.testing.assert_array_equal(found, expected, err_msg=text)
    reference = kernel.reference(ln.empty_tensor(out), *used)["r"]
    np.testing.assert_array_equal(reference, expected, err_msg=text)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=repr)
def test_what_is_claimed_is_true(function):
    assert ln.check_properties(function, dtypes=["int64"]), ln.check_properties(function)
