"""Random functions over random fill values, dtypes and formats: all ways to run them agree."""

from __future__ import annotations

import importlib.util
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

import linnet as ln
from linnet.algebra.exact import apply
from linnet.errors import DTypeError, KernelSyntaxError

FORMATS = [
    ln.CSF(1),
    ln.DENSE(1),
    ln.SparseByteMap(ln.Element(0.0)),
    ln.SparseHash(ln.Element(0.0)),
    ln.RunList(ln.Element(0.0)),
    ln.SparseBand(ln.Element(0.0)),
    ln.SparseBlockList(ln.Element(0.0)),
]
# A variable that holds values of two types has the one in which they meet, where Python has each in
# turn: in wide types that makes no difference to small numbers.
WIDE = ["int64", "float64", "complex128"]
NARROW = ["int8", "int32", "uint8", "float32"]
SIZE = 24


class Writer:
    """Writes a function at random: assignments, branches, loops, early returns."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.whole = self.rng.random() < 0.5  # only what integers can do

    def function(self) -> str:
        names = ["x", "y"]
        lines = ["def f(x, y):"]
        for k in range(self.rng.randint(0, 3)):
            lines += [f"    {line}" for line in self.statement(names, k)]
        return "\n".join([*lines, f"    return {self.value(names, 2)}"]) + "\n"

    def statement(self, names: list[str], k: int) -> list[str]:
        target = self.rng.choice(["t", "u", *names])
        value = self.value(names, 2)
        match self.rng.randrange(6):
            case 0 | 1:
                names.append(target)
                return [f"{target} = {value}"]
            case 2:
                return [f"if {self.test(names)}:", f"    return {value}"]
            case 3:
                known = self.rng.choice(names)
                return [
                    f"if {self.test(names)}:",
                    f"    {known} = {value}",
                    "else:",
                    f"    {known} = {self.value(names, 1)}",
                ]
            case 4:
                known, step = self.rng.choice(names), self.rng.choice(["", ", 0, -1", ", 7, 2"])
                return [
                    f"for k{k} in range({self.rng.randint(1, 4)}{step}):",
                    f"    {known} = {self.value([*names, f'k{k}'], 1)}",
                ]
            case _:
                a, b = self.rng.choice(names), self.rng.choice(names)
                return [f"{a}, {b} = {b}, {a}" if a != b else f"{a} += 1"]

    def test(self, names: list[str]) -> str:
        op = self.rng.choice(["==", "!="])
        return f"{self.value(names, 1)} {op} {self.value(names, 1)}"

    def value(self, names: list[str], depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.2:
            numbers = ["1", "2", "3"] + ([] if self.whole else ["0.5", "1.25"])
            return self.rng.choice([*names, *names, *numbers])
        a, b = self.value(names, depth - 1), self.value(names, depth - 1)
        match self.rng.randrange(6):
            case 0 | 1 | 2:
                return f"({a} {self.rng.choice('+-*')} {b})"
            case 3:
                return f"({a} if {a} != {b} else {b})"
            case 4:
                return f"abs({a})"
            case _:
                return f"({a} * {a} - {b})"


def written(seed: int, folder: Path) -> ln.Function:
    """A function with a file of its own, without claims."""
    path = folder / f"random_{seed}.py"
    path.write_text(Writer(seed).function(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return ln.function(module.f)


def operand(rng: np.random.Generator, format: object, dtype: str, fill: float) -> ln.Tensor:
    """A tensor that stores some values, a few of them equal to the fill value."""
    values = np.full(SIZE, fill, dtype)
    where = rng.random(SIZE) < 0.4
    low = 0 if dtype.startswith("u") else -4
    numbers = rng.integers(low, 6, SIZE).astype(dtype)
    if dtype.startswith("complex"):
        numbers = numbers + 1j * rng.integers(-2, 3, SIZE)
    values[where] = numbers[where]
    return ln.asarray(values, format=format, fill_value=fill)


def result_fill(f: ln.Function, fills: list[float], dtypes: list[str]) -> tuple[str, object]:
    dtype = f.types(tuple(dtypes))[1]
    return dtype, apply(f, tuple(fills), tuple(dtypes))


@pytest.mark.parametrize("seed", range(60))
def test_all_ways_agree(seed, tmp_path):
    rng = np.random.default_rng(seed)
    f = written(seed, tmp_path)
    dtypes = [str(d) for d in rng.choice(WIDE, 2)]
    if rng.random() < 0.5 and Writer(seed).whole:
        dtypes = [str(rng.choice(NARROW))] * 2
    fills = [int(rng.choice([0, 0, 1, 2])) for _ in range(2)]
    try:
        dtype, fill = result_fill(f, fills, dtypes)
    except (KernelSyntaxError, DTypeError):
        pytest.skip("not for these types")
    formats = [FORMATS[k] for k in rng.integers(len(FORMATS), size=2)]
    a, b = (operand(rng, *each) for each in zip(formats, dtypes, fills, strict=True))
    init = fill if rng.random() < 0.7 and fill == fill and abs(fill) < 1e9 else 0

    @ln.kernel
    def run(r, a, b):
        r[...] = init
        for i in ...:
            r[i] = f(a[i], b[i])

    out = ln.CSF(1).with_dtype(dtype)
    with np.errstate(all="ignore"):
        rows = zip(a.to_numpy(), b.to_numpy(), strict=True)
        expected = np.array([f.numpy(*row) for row in rows]).astype(dtype)
    backends = ["llvm", *(["c"] if seed % 4 == 0 and shutil.which("cc") else [])]
    for backend in backends:
        with ln.config(backend=backend, check=True):
            found = run(ln.empty_tensor(out), a, b).to_numpy()
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=1e-4, err_msg=Writer(seed).function())
    reference = run.reference(ln.empty_tensor(out), a, b)["r"]
    np.testing.assert_allclose(reference, expected, rtol=1e-4)
