"""One program, run in every way: what is computed, what is stored, and what is left alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linnet as ln
from linnet import imp, loops
from linnet.backend import toolchain
from linnet.compiler import normalize
from linnet.errors import DiscordanceWarning
from linnet.formats.assemble import unpack, wrap
from linnet.formats.format import Format
from linnet.imp.interpret import run as run_code
from linnet.imp.rewrite import walk
from linnet.loops.interpret import DenseTensor
from linnet.loops.interpret import run as run_program
from linnet.loops.printer import show
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.dtypes import infer_dtypes
from linnet.normalize.scopes import name_scopes
from linnet.options import Options
from linnet.runtime.kernel import Kernel
from linnet.runtime.specialize import formats_of
from linnet.testing import dense

HAS_CC = toolchain.available(Options())
Arguments = dict[str, ln.Tensor]


# -- what a program means --------------------------------------------------------------------------


@dataclass(frozen=True)
class Expected:
    """What an output should hold, and which of its elements an update reaches (None: all)."""

    values: NDArray[Any]
    stored: NDArray[np.bool_] | None


def meaning(kernel: Kernel, args: Arguments) -> dict[str, Expected]:
    """Every output, computed one element at a time."""
    formats = formats_of(kernel, _in_order(kernel, args)) | dict(kernel.program.temporaries)
    ndims = {name: format.ndim for name, format in formats.items()}
    program, checks = infer_dimensions(kernel.program, ndims)
    program = name_scopes(program)
    given = {}
    for name, format in infer_dtypes(program, formats).items():
        if name in args and name not in fresh_outputs(kernel):
            held = args[name]
            given[name] = DenseTensor(dense(held), format.fill_value, format, stored(held))
        else:
            nothing = np.zeros((0,) * format.ndim, format.dtype)
            given[name] = DenseTensor(nothing, format.fill_value, format)
    shapes = {name: given[name].values.shape for name in program.params}
    for check in checks:
        assert check.holds(shapes), check.explain(shapes)
    found = run_program(program, given)
    outputs = [p for p in program.params if p in kernel.outputs]
    reached = {name: found[name].stored for name in outputs if not _overwrites(kernel, name)}
    return {name: Expected(found[name].values, reached.get(name)) for name in outputs}


def _overwrites(kernel: Kernel, name: str) -> bool:
    """Whether what is written with `=` may replace something, so that a fill value is stored."""
    writes = list(_writes(kernel.program.body, name, ()))
    plain = [w for w, _ in writes if w.op is None]
    every = all(loops.Index(i) in w.target.indices for w, path in writes for i in path)
    return bool(plain) and (name in kernel.kept or len(writes) > 1 or not every)


def _writes(
    stmt: loops.Stmt, name: str, path: tuple[str, ...]
) -> Iterator[tuple[loops.Assign, tuple[str, ...]]]:
    """The updates of a tensor, and the loops around each."""
    match stmt:
        case loops.Assign(target) if target.tensor == name:
            yield stmt, path
        case loops.Loop(index, _, body):
            yield from _writes(body, name, (*path, index))
        case loops.Let(_, _, body):
            yield from _writes(body, name, path)
        case loops.If(_, then, orelse):
            yield from _writes(then, name, path)
            yield from _writes(orelse, name, path)
        case loops.Block(stmts):
            for s in stmts:
                yield from _writes(s, name, path)


def fresh_outputs(kernel: Kernel) -> frozenset[str]:
    """Outputs whose contents before the call do not matter."""
    return kernel.outputs - kernel.kept


def stored(tensor: ln.Tensor) -> NDArray[np.bool_]:
    """Which elements are stored."""
    mask = np.zeros(tensor.contents().shape, bool)
    mask[tuple(unpack(tensor)[0])] = True
    return mask


def _in_order(kernel: Kernel, args: Arguments) -> list[ln.Tensor]:
    return [args[p] for p in kernel.program.params]


# -- ways of running it ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A program for arguments of certain formats, and its imperative code."""

    kernel: Kernel
    code: imp.Kernel
    results: dict[str, Format]

    @staticmethod
    def of(program: loops.Program, args: Arguments) -> Subject:
        """Lower a program."""
        kernel = Kernel(program)
        tensors = _in_order(kernel, args)
        results = normalize(program, formats_of(kernel, tensors)).results
        return Subject(kernel, kernel.lowered(*tensors).kernel, results)

    @property
    def size(self) -> int:
        """How much code there is."""
        return sum(1 for _ in walk(self.code.body))

    def interpreted(self, args: Arguments, shapes: dict[str, tuple[int, ...]]) -> Arguments:
        """The outputs by the interpreter of code, which refuses what would crash."""
        given = {}
        for a in self.code.arguments:
            if a.name in fresh_outputs(self.kernel):
                given[a.name] = (shapes[a.name], {})
            elif a.name in args:
                buffers = zip(a.buffers, args[a.name].buffers.values(), strict=True)
                copies = {buffer.name: array.astype(buffer.dtype) for buffer, array in buffers}
                given[a.name] = (shapes[a.name], copies)
            else:
                given[a.name] = ((0,) * len(a.dims), {})
        status, arrays = run_code(self.code, given)
        assert status == 0, f"the kernel returns {status}"
        return {
            a.name: wrap(self.results[a.name], shapes[a.name], [arrays[b.name] for b in a.buffers])
            for a in self.code.arguments
            if a.name in self.kernel.outputs
        }

    def compiled(self, args: Arguments, backend: str) -> Arguments:
        """The outputs by machine code."""
        given = {
            n: t if n not in self.kernel.outputs else t.copy() if t.shape is not None
            else ln.empty_tensor(t.format)
            for n, t in args.items()
        }  # fmt: skip
        with ln.config(backend=backend), warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscordanceWarning)
            self.kernel(*_in_order(self.kernel, given))
        return {n: given[n] for n in self.kernel.outputs}


# -- comparing -------------------------------------------------------------------------------------


def check(subject: Subject, args: Arguments, ways: Iterable[str] = ("llvm", "c")) -> None:
    """Run a program on arguments in every way, and compare.

    `args` has all parameters; outputs that are declared hold nothing. The code is interpreted
    before it is compiled, so that no code runs which would crash the process.
    """
    kernel = subject.kernel
    expected = meaning(kernel, args)
    before = {n: _bits(t) for n, t in args.items() if t.shape is not None}
    shapes = {n: t.shape for n, t in args.items()}
    shapes |= {n: e.values.shape for n, e in expected.items()}
    found = subject.interpreted(args, shapes)
    for name, output in found.items():
        check_output(output, expected[name], name)
    for way in ways:
        first = subject.compiled(args, way)
        _same(first, found, f"{way} and interpreted code")
        held = {n: t for n, t in first.items() if n in fresh_outputs(kernel)}
        _same(subject.compiled({**args, **held}, way), first, f"{way} called again")
    for name, bits in before.items():
        assert _bits(args[name]) == bits, f"{name} is an operand, and has changed"


def check_output(got: ln.Tensor, expected: Expected, name: str) -> None:
    """The same values; stored only where an update reached; arrays that are valid."""
    ln.from_buffers(got.format, got.shape, dict(got.buffers))
    values, right = dense(got), expected.values
    assert (values.shape, values.dtype) == (right.shape, right.dtype), name
    same = (values == right) | ((values != values) & (right != right))
    assert same.all(), f"{name} is\n{values}\nand should be\n{right}"
    if expected.stored is not None:
        extra = np.argwhere(stored(got) & ~expected.stored)
        assert not len(extra), f"{name} stores {extra.tolist()}, which nothing reaches"


def _same(got: Arguments, expected: Arguments, what: str) -> None:
    """The same coordinates and values to the last bit, stored in the same order."""
    for name in expected:
        (here, a), (there, b) = unpack(got[name]), unpack(expected[name])
        assert np.array_equal(here, there), f"{name} differs: {what}\n{here}\n{there}"
        same = (a == b) | ((a != a) & (b != b))
        assert a.dtype == b.dtype, f"{name} differs: {what}\n{a.dtype} {b.dtype}"
        assert same.all(), f"{name} differs: {what}\n{a}\n{b}"


def _bits(tensor: ln.Tensor) -> list[bytes]:
    return [array.tobytes() for array in tensor.buffers.values()]


def describe(program: loops.Program, args: Arguments) -> str:
    """A program and its arguments, to be read."""
    lines = [show(program), ""]
    for name in program.params:
        t = args[name]
        if t.shape is None:
            lines.append(f"{name}: output {t.format.describe()}")
            continue
        arrays = {n: f"{a.tolist()}:{a.dtype}" for n, a in t.buffers.items()}
        lines.append(f"{name}: {t.format.describe()} shape {t.shape} {arrays}")
    return "\n".join(lines)
