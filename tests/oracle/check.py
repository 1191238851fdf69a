"""One program, run in every way: what is computed, what is stored, and what is left alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linnet as ln
from linnet import loops
from linnet.backend import toolchain
from linnet.errors import DiscordanceWarning
from linnet.formats.assemble import unpack
from linnet.imp import interpret as imp_interpret
from linnet.loops.interpret import DenseTensor
from linnet.loops.interpret import run as run_reference
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.dtypes import infer_dtypes
from linnet.normalize.scopes import name_scopes
from linnet.options import Options
from linnet.runtime.kernel import Kernel
from linnet.runtime.specialize import formats_of
from linnet.testing import dense, identical

HAS_CC = toolchain.available(Options())
Arguments = dict[str, ln.Tensor]


@dataclass(frozen=True)
class Expected:
    """What an output should hold, and which of its elements may be stored (None: all)."""

    values: NDArray[Any]
    stored: NDArray[np.bool_] | None


def expectations(kernel: Kernel, args: Arguments) -> dict[str, Expected]:
    """The meaning of a program: every output, with the elements that an update reached."""
    tensors = [args[p] for p in kernel.program.params]
    formats = formats_of(kernel, tensors) | dict(kernel.program.temporaries)
    ndims = {name: format.ndim for name, format in formats.items()}
    program, checks = infer_dimensions(kernel.program, ndims)
    program = name_scopes(program)
    formats = infer_dtypes(program, formats)
    given = {}
    for name, format in formats.items():
        held = args.get(name)
        if held is None or held.shape is None or name in kernel.outputs - kernel.kept:
            empty = np.zeros((0,) * format.ndim, format.dtype)
            given[name] = DenseTensor(empty, format.fill_value, format)
        else:
            given[name] = DenseTensor(dense(held), format.fill_value, format, stored(held))
    shapes = {name: given[name].values.shape for name in program.params}
    for check in checks:
        assert check.holds(shapes), check.explain(shapes)
    found = run_reference(program, given)
    return {p: Expected(found[p].values, found[p].stored) for p in program.params if p in kernel.outputs}


def stored(tensor: ln.Tensor) -> NDArray[np.bool_]:
    """Which elements are stored."""
    mask = np.zeros(tensor.shape, bool)
    mask[tuple(unpack(tensor)[0])] = True
    return mask


def call(kernel: Kernel, args: Arguments, backend: str = "llvm") -> None:
    """Run compiled code."""
    with ln.config(backend=backend), warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        kernel(*[args[p] for p in kernel.program.params])


def check_output(got: ln.Tensor, expected: Expected, name: str) -> None:
    """The same values; stored only where an update reached; arrays that are valid."""
    values = dense(got)
    assert values.shape == expected.values.shape, (name, values.shape, expected.values.shape)
    assert values.dtype == expected.values.dtype, (name, values.dtype, expected.values.dtype)
    same = (values == expected.values) | ((values != values) & (expected.values != expected.values))
    assert same.all(), f"{name} is\n{values}\nand should be\n{expected.values}"
    if expected.stored is not None:
        extra = stored(got) & ~expected.stored
        assert not extra.any(), f"{name} stores {np.argwhere(extra).tolist()}, which nothing reaches"
    ln.from_buffers(got.format, got.shape, dict(got.buffers))


def run_imp(kernel: Kernel, args: Arguments, expected: dict[str, Expected]) -> Arguments:
    """The outputs of the imperative code, interpreted strictly: what would crash raises here."""
    code = kernel.lowered(*[args[p] for p in kernel.program.params]).kernel
    given = {}
    for argument in code.arguments:
        name, held = argument.name, args.get(argument.name)
        if name in expected and name not in kernel.kept:
            given[name] = (expected[name].values.shape, {})
        elif held is None:
            given[name] = ((0,) * len(argument.dims), {})
        else:
            names, arrays = [b.name for b in argument.buffers], held.buffers.values()
            copies = {n: a.copy() for n, a in zip(names, arrays, strict=True)}
            given[name] = (held.shape, copies)
    status, arrays = imp_interpret.run(code, given)
    assert status == 0, f"status {status}"
    return {
        a.name: [arrays[b.name] for b in a.buffers] for a in code.arguments if a.name in expected
    }


def check(
    kernel: Kernel, args: Arguments, *, c: bool = False, imp: bool = False
) -> None:
    """Run a program on arguments in every way, and compare.

    `args` has all parameters; outputs that are declared hold nothing.
    """
    expected = expectations(kernel, args)
    before = {n: [a.copy() for a in t.buffers.values()] for n, t in args.items() if t.shape is not None}

    def fresh() -> Arguments:
        return {
            n: (t.copy() if t.shape is not None else ln.empty_tensor(t.format)) if n in expected else t
            for n, t in args.items()
        }

    interpreted = run_imp(kernel, args, expected) if imp else {}
    first = fresh()
    call(kernel, first)
    results = {n: first[n] for n in expected}
    for name in expected:
        check_output(results[name], expected[name], name)
    second = fresh()
    for name in expected:
        if name not in kernel.kept:
            second[name] = results[name].copy() if name in results else second[name]
    call(kernel, second)
    for name in expected:
        assert identical(second[name], first[name]), f"{name} differs when called again"
    if c and HAS_CC:
        third = fresh()
        call(kernel, third, "c")
        for name in expected:
            assert identical(third[name], first[name]), f"{name} differs in C:\n{dense(third[name])}\n{dense(first[name])}"
    for name, arrays in interpreted.items():
        for old, (label, new) in zip(arrays, results[name].buffers.items(), strict=True):
            assert old.tobytes() == new.tobytes(), f"{name}.{label} is {new}, interpreted {old}"
    for name, arrays in before.items():
        for old, new in zip(arrays, args[name].buffers.values(), strict=True):
            assert old.tobytes() == new.tobytes(), f"{name} was changed"


def script(program: loops.Program, args: Arguments) -> str:
    """Python that does it again."""
    from linnet.loops.printer import show

    lines = [show(program), ""]
    for name in program.params:
        t = args[name]
        if t.shape is None:
            lines.append(f"{name}: output {t.format.describe()}")
            continue
        arrays = {n: f"{a.tolist()}:{a.dtype}" for n, a in t.buffers.items()}
        lines.append(f"{name}: {t.format.describe()} shape {t.shape} {arrays}")
    return "\n".join(lines)
