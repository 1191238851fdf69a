"""The same code through the back ends: machine code agrees with NumPy at every edge."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.algebra.samples import grid
from tests.unit.algebra.test_emit import ALL, accepted, assert_same

from linnet import imp, target
from linnet.algebra import table
from linnet.algebra.codelets import resolve
from linnet.algebra.function import Function
from linnet.backend import build
from linnet.options import Options, current

# Those whose code is more than one operator or call, and so the likeliest to trap.
TRICKY = [
    table.floor_divide,
    table.remainder,
    table.fmod,
    table.power,
    table.gcd,
    table.lcm,
    table.left_shift,
    table.right_shift,
    table.less,
    table.minimum,
    table.ldexp,
    table.astype["int8"],
    table.astype["uint64"],
]


def elementwise(function: Function) -> imp.Kernel:
    """A kernel that applies the function to arrays, with one loop for each type it takes."""
    registry: dict[str, imp.Function] = {}
    arguments, loops = [], []
    for k, dtypes in enumerate(accepted(function)):
        result, i, n = function.types(dtypes)[1], imp.Var("i"), imp.Var(f"n{k}")
        inputs = [imp.Buffer(f"x{k}_{j}", d) for j, d in enumerate(dtypes)]
        output = imp.Buffer(f"y{k}", result)
        written = function.emit(tuple(x[i] for x in inputs), result)
        code = resolve(written, registry, target.of(current()))
        loops.append(imp.For(i, imp.ZERO, n, imp.Block((imp.Store(output, i, code),))))
        arguments.append(imp.Argument(f"A{k}", (n,), (*inputs, output)))
    return imp.Kernel("apply", tuple(arguments), imp.Block(tuple(loops)), tuple(registry.values()))


def check(function: Function, backend: str) -> None:
    call = build(elementwise(function), function.name, Options(backend=backend, cache=False)).call
    cases = [(dtypes, grid(*dtypes)) for dtypes in accepted(function)]
    outputs = [np.zeros(len(args[0]), function.types(d)[1]) for d, args in cases]
    block: list[int] = []
    for (_, args), output in zip(cases, outputs, strict=True):
        block.append(len(output))
        for array in (*args, output):
            block += [array.ctypes.data, len(array), len(array)]
    assert call(np.array(block, np.int64).ctypes.data) == 0
    for (dtypes, args), output in zip(cases, outputs, strict=True):
        assert_same(function, output, np.asarray(function.numpy(*args)), dtypes)


@pytest.mark.parametrize("function", TRICKY, ids=repr)
def test_machine_code_agrees_with_numpy(function):
    check(function, "llvm")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("function", ALL, ids=repr)
def test_all_machine_code_agrees_with_numpy(function, backend):
    check(function, backend)
