"""One program, run in every way: what is computed, what is stored, and what is left alone."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
import pytest
from tests.oracle.formats import CORE
from tests.oracle.meaning import Arguments, Expected, fresh_outputs, meaning, stored
from tests.oracle.room import fits

import linnet as ln
from linnet import compiler, imp, loops
from linnet.backend import toolchain
from linnet.compiler import Normalized, normalize
from linnet.errors import (
    DiscordanceWarning,
    FormatError,
    IndexBoundsError,
    InternalError,
    LinnetError,
    ScheduleError,
)
from linnet.formats.assemble import unpack, wrap
from linnet.formats.format import Format
from linnet.formats.insertion import COORD, DENSE, OPERAND
from linnet.imp.interpret import run as run_code
from linnet.imp.rewrite import walk
from linnet.loops.printer import show
from linnet.lower.arrays import Arrays
from linnet.lower.program import Lowered
from linnet.normalize.choice import MERGED, UNPACKED, Choice, Chosen, Unpacking
from linnet.options import Options, current
from linnet.runtime import deciding as runtime_deciding
from linnet.runtime import specialize
from linnet.runtime.kernel import Kernel
from linnet.runtime.specialize import formats_of
from linnet.target import Target
from linnet.testing import dense

HAS_CC = toolchain.available(Options())
BACKENDS = ("c",) if current().target == "c" else ("llvm", "c") if HAS_CC else ("llvm",)
Shapes = dict[str, tuple[int, ...]]
LIMITS = ("too many cases", "cannot be updated in place")
Kinds = tuple[str, str]
Generated = dict[str, Lowered]  # by what code depends on
KINDS: tuple[Kinds | None, ...] = (
    None,
    (DENSE, UNPACKED),
    (COORD, MERGED),
    (COORD, UNPACKED),
    (OPERAND, MERGED),
)
"""Of workspaces, and of sparse vectors that meet many rows: as for large operands, or (None) as the
sizes of small ones say."""


# -- ways of running a program ---------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A program for arguments of certain formats, and its imperative code."""

    kernel: Kernel
    code: imp.Kernel
    results: dict[str, Format]
    kinds: Kinds | None = None
    earlier: Arguments = field(default_factory=dict)  # outputs of an earlier call
    generated: Generated = field(default_factory=dict)

    @staticmethod
    def of(program: loops.Program, args: Arguments, kinds: Kinds | None = None) -> Subject:
        """Lower a program."""
        kernel = Kernel(program)
        tensors = [args[p] for p in program.params]
        results = normalize(program, formats_of(kernel, tensors)).results
        generated: Generated = {}
        with deciding(kinds), generating(generated):
            code = kernel.lowered(*tensors).kernel
        return Subject(kernel, code, results, kinds, generated=generated)

    @property
    def size(self) -> int:
        """How much code there is."""
        return sum(1 for _ in walk(self.code.body))

    def interpreted(
        self, args: Arguments, shapes: Shapes, visits: Counter[str] | None = None
    ) -> Arguments:
        """The outputs by the interpreter of code, which refuses what would crash."""
        given = {}
        for a in self.code.arguments:
            if a.name in fresh_outputs(self.kernel):
                given[a.name] = (shapes[a.name], {})
            elif a.name in args:
                held = zip(a.buffers, args[a.name].buffers.values(), strict=True)
                copies = {buffer.name: array.astype(buffer.dtype) for buffer, array in held}
                given[a.name] = (shapes[a.name], copies)
            else:
                given[a.name] = ((0,) * len(a.dims), {})
        status, arrays = run_code(self.code, given, visits)
        if status & 0xFF == imp.OUT_OF_BOUNDS:
            raise IndexBoundsError("the code says so")
        if status & 0xFF == imp.NO_PLACE:
            raise FormatError("the code says so")
        if status & 0xFF == imp.UNBOUND:
            raise ScheduleError("the code says so")
        assert status == 0, f"the kernel returns {status}"
        return {
            a.name: wrap(self.results[a.name], shapes[a.name], [arrays[b.name] for b in a.buffers])
            for a in self.code.arguments
            if a.name in self.kernel.outputs
        }

    def compiled(self, args: Arguments, backend: str, lent: tuple[str, ...] = ()) -> Arguments:
        """The outputs by machine code; `args` are left as they are, but for those lent."""
        outputs = {n: args[n] if n in lent else _another(args[n]) for n in self.kernel.outputs}
        given = {**args, **outputs}
        with ExitStack() as ways:
            ways.enter_context(deciding(self.kinds))
            ways.enter_context(generating(self.generated))
            ways.enter_context(ln.config(backend=backend))
            ways.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", DiscordanceWarning)
            self.kernel(*[given[p] for p in self.kernel.program.params])
        return outputs


@contextmanager
def deciding(kinds: Kinds | None) -> Iterator[None]:
    """Workspaces of a given kind, whatever the operands are."""

    def decide(choice: Choice | Unpacking, held: object) -> Chosen:
        assert kinds is not None
        kind = kinds[isinstance(choice, Unpacking)]
        if kind == OPERAND and getattr(choice, "operand", None) is None:
            kind = choice.usual
        return Chosen(kind, "drawn")

    if kinds is None:
        yield
        return
    with ExitStack() as patches:
        for module in (specialize, runtime_deciding):
            patches.enter_context(mock.patch.object(module, "decide", decide))
        yield


@contextmanager
def generating(known: Generated) -> Iterator[None]:
    """Back ends are given the code that is interpreted, and not the same made again."""

    def generate(normalized: Normalized, arrays: Arrays, target: Target) -> Lowered:
        key = specialize.key_of(normalized, arrays)
        if key not in known:
            known[key] = compiler.generate(normalized, arrays, target)
        return known[key]

    with mock.patch.object(specialize, "generate", generate):
        yield


def _another(tensor: ln.Tensor) -> ln.Tensor:
    return ln.empty_tensor(tensor.format) if tensor.shape is None else tensor.copy()


# -- comparing -------------------------------------------------------------------------------------


def lowered(program: loops.Program, args: Arguments, kinds: Kinds | None = None) -> Subject | None:
    """The program's code; None if it is refused: then it has no meaning, or its formats are why."""
    try:
        return Subject.of(program, args, kinds)
    except (InternalError, ScheduleError):
        raise
    except LinnetError as refusal:
        if not any(limit in refusal.message for limit in LIMITS):
            with pytest.raises(type(refusal)):
                meaning(Kernel(program), args)
    return None


def check(
    subject: Subject,
    args: Arguments,
    backends: Iterable[str] = BACKENDS,
    expected: dict[str, Expected] | None = None,
) -> Shapes | None:
    """Run a program on arguments in every way, and compare; None if results have no room for it.

    Gives the shapes of all arguments. `args` has all parameters; outputs that are declared hold
    nothing. The code is interpreted
    before it is compiled, so that no code runs which would crash the process.
    """
    expected = expected or meaning(subject.kernel, args)
    before = {n: _bits(t) for n, t in args.items() if t.shape is not None}
    shapes = {n: t.shape for n, t in args.items() if t.shape is not None}
    shapes |= {n: e.values.shape for n, e in expected.items()}
    held = {n: subject.results[n].fill_value for n in expected}
    room = {fits(args[n].format, held[n], e) for n, e in expected.items()}
    if room != {True} and is_refused(subject, args, shapes, backends, False in room):
        return None
    assert False not in room, "what does not fit is not refused"
    found = subject.interpreted(args, shapes)
    for name, output in found.items():
        check_output(output, expected[name], name)
    for backend in backends:
        first = subject.compiled(args, backend)
        given = {
            n: t if args[n].format.written is args[n].format else t.to(first[n].format)
            for n, t in found.items()
        }
        check_same(first, given, f"{backend} and interpreted code")
        fresh = {n: t for n, t in first.items() if n in fresh_outputs(subject.kernel)}
        again = subject.compiled({**args, **fresh, **subject.earlier}, backend)
        check_same(again, first, f"{backend} called again")
        subject.earlier.update(fresh)
        check_aliases(subject, args, first, backend)
    for name, bits in before.items():
        assert _bits(args[name]) == bits, f"{name} is an operand, and has changed"
    return shapes


def is_refused(
    subject: Subject, args: Arguments, shapes: Shapes, backends: Iterable[str], surely: bool
) -> bool:
    """Whether code in all forms says that a result has no room for what is written to it.

    What is written to another format first may `surely` not fit: that is seen when it is converted.
    """
    later = any(args[n].format.written is not args[n].format for n in subject.kernel.outputs)
    try:
        subject.interpreted(args, shapes)
    except FormatError:
        pass
    else:
        if not (later and surely):
            return False
    for backend in backends:
        with pytest.raises(FormatError, match=r"not symmetric|a second"):
            subject.compiled(args, backend)
    return True


def check_aliases(subject: Subject, args: Arguments, first: Arguments, backend: str) -> None:
    """An output that is also an operand is read as it was before."""
    for name in sorted(fresh_outputs(subject.kernel)):
        for operand in sorted(args.keys() - subject.kernel.outputs):
            if args[operand].format == args[name].format:
                both = args[operand].copy()
                outputs = subject.compiled({**args, name: both, operand: both}, backend, (name,))
                check_same(outputs, first, f"{backend}, {name} being {operand}")


def check_output(got: ln.Tensor, expected: Expected, name: str) -> None:
    """The same values; stored only where an update reached; arrays that are valid."""
    assert got.shape is not None
    ln.from_buffers(got.format, got.shape, dict(got.buffers))
    values, right = dense(got), expected.values
    assert (values.shape, values.dtype) == (right.shape, right.dtype), name
    same = (values == right) | ((values != values) & (right != right))
    assert same.all(), f"{name} is\n{values}\nand should be\n{right}"
    plain = all(isinstance(l, CORE) for l in got.format.levels[:-1])
    if expected.reached is not None and plain:
        extra = np.argwhere(stored(got) & ~expected.reached)
        assert not len(extra), f"{name} stores {extra.tolist()}, which nothing reaches"
    if plain and 0 not in got.shape:
        check_no_empty_fibers(got, name)


def check_no_empty_fibers(tensor: ln.Tensor, name: str) -> None:
    """What a sparse level stores has something below it."""
    coordinates, _ = unpack(tensor)
    inner: list[int] = []
    for k, (level, arrays) in enumerate(
        zip(tensor.format.levels[:-1], tensor.contents().levels(), strict=False)
    ):
        inner += tensor.format.modes_of(k)
        index = next((a.name for a in level.arrays if a.role == "coordinate"), None)
        if index is not None:
            count = len(arrays[index])
            distinct = len(np.unique([coordinates[m] for m in inner], axis=1).T)
            assert count == distinct, (
                f"level {k} of {name} stores {count} fibers, {distinct} in use"
            )


def check_same(got: Arguments, expected: Arguments, what: str) -> None:
    """The same coordinates and values, in the same order."""
    for name in expected:
        (here, a), (there, b) = unpack(got[name]), unpack(expected[name])
        assert np.array_equal(here, there), f"{name} differs: {what}\n{here}\n{there}"
        same = (a == b) | ((a != a) & (b != b))
        assert a.dtype == b.dtype, f"{name} differs: {what}\n{a.dtype}\n{b.dtype}"
        assert same.all(), f"{name} differs: {what}\n{a}\n{b}"


def _bits(tensor: ln.Tensor) -> list[bytes]:
    return [array.tobytes() for array in tensor.buffers.values()]


# -- what to read when it fails --------------------------------------------------------------------


def describe(program: loops.Program, args: Arguments) -> str:
    """A program and its arguments."""
    lines = [show(program), ""]
    for name in program.params:
        tensor = args[name]
        if tensor.shape is None:
            lines.append(f"{name}: output {tensor.format.describe()}")
            continue
        arrays = [f"{n}={a.tolist()}:{a.dtype}" for n, a in tensor.buffers.items()]
        lines.append(f"{name}: {tensor.format.describe()} {tensor.shape} {' '.join(arrays)}")
    return "\n".join(lines)
