"""A program, its meaning in NumPy, and the check of one combination of formats.

A combination is checked in one of three ways: `imp` runs the imperative code in its interpreter,
which is strict about memory and costs milliseconds, so that many combinations fit; `llvm` and `c`
run machine code on more data.
"""

from __future__ import annotations

import random
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from tests.programs.formats import nest, of_ndim, one_at_a_time, patterned, spread

import linnet as ln
from linnet.backend import toolchain
from linnet.errors import DiscordanceWarning
from linnet.formats.construct import from_buffers
from linnet.formats.tensor import buffer_names
from linnet.imp import interpret
from linnet.options import current
from linnet.testing import assert_equal

DTYPES = (
    "float64", "int64", "float32", "complex128", "int32", "bool", "uint8", "complex64", "int8",
    "uint32", "int16",
)  # fmt: skip
REAL = tuple(d for d in DTYPES if d[0] != "c")
KINDS = ("some", "mixed", "empty", "full", "none")  # of data; `none` has no elements at all
QUICK, DEEP = 9, 40  # combinations of formats per program
SIZES = {"i": 4, "j": 5, "k": 3, "l": 3, "m": 2, "n": 2}
LARGE = {"i": 40, "j": 60, "k": 30}  # of machine code: tables grow, and sorts recurse
LARGER = {"i": 9, "j": 20, "k": 7, "l": 5, "m": 4, "n": 3}


@dataclass(frozen=True)
class Program:
    """`kernel(result, *operands)`, the indices of the result and the operands, and the answer."""

    kernel: ln.Kernel
    result: str
    operands: tuple[str, ...]
    meaning: Callable[..., np.ndarray]
    dtypes: tuple[str, ...] = DTYPES
    results: tuple[str, ...] = ()  # formats of the result, if not all
    label: str = ""
    fill: object = 0  # what the result is declared with
    small: bool = False  # rounding would show in larger data

    @property
    def name(self) -> str:
        return self.label or self.kernel.__name__

    @property
    def choices(self) -> list[Sequence[str]]:
        results = self.results or of_ndim(len(self.result))
        return [results, *(of_ndim(len(o)) for o in self.operands)]


def program(result: str, *operands: str, **options: object) -> Callable[[ln.Kernel], Callable]:
    """`program("i", "ij", "j")(kernel)(meaning)`: dimensions are named as in an einsum."""

    def of(kernel: ln.Kernel) -> Callable[[Callable[..., np.ndarray]], Program]:
        return lambda meaning: Program(kernel, result, operands, meaning, **options)  # type: ignore[arg-type]

    return of


@dataclass(frozen=True)
class Case:
    """One combination of formats and dtypes, and how it is run."""

    program: Program
    formats: tuple[str, ...]
    dtypes: tuple[str, ...]
    how: str

    def __str__(self) -> str:
        formats = ",".join(f.replace(" ", "~") or "scalar" for f in self.formats)
        return f"{self.program.name}-{formats}-{','.join(self.dtypes)}-{self.how}"

    @property
    def seed(self) -> int:
        return zlib.crc32(str(self).encode())

    def check(self) -> None:
        """Run on data of every kind, and compare with NumPy."""
        if self.how == "c" and not toolchain.available(current()):
            pytest.skip("there is no C compiler")
        kinds = [random.Random(self.seed).choice(KINDS)] if self.how == "imp" else (*KINDS, "large")
        result = ln.empty_tensor(nest(self.formats[0]))
        for kind in kinds:
            self._check(kind, np.random.default_rng(self.seed), result)

    def _check(self, kind: str, rng: np.random.Generator, result: ln.Tensor) -> None:
        """Check one kind of data; the result's memory is that of the kind before."""
        sizes = self._sizes(kind)
        operands, arrays = [], []
        for indices, letters, dtype in zip(
            self.program.operands, self.formats[1:], self.dtypes, strict=True
        ):
            array = draw(tuple(sizes[i] for i in indices), dtype, kind, rng)
            arrays.append(array)
            operands.append(store(array, letters, kind, rng))
        expected = np.asarray(self.program.meaning(*arrays))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscordanceWarning)
            if self.how == "imp" or kind == "some":  # what would crash is refused here
                self._compare(self._interpreted(operands, expected.shape), expected)
            if self.how != "imp":
                with ln.config(backend=self.how):
                    self.program.kernel(result, *operands)
                self._compare(result, expected)

    def _sizes(self, kind: str) -> dict[str, int]:
        """The size of every dimension."""
        if kind == "large":
            few = set().union(*self.program.operands) <= set(LARGE)
            return LARGE if few and not self.program.small else LARGER
        return {i: 0 if kind == "none" and i in "jm" else n for i, n in SIZES.items()}

    def _interpreted(self, operands: list[ln.Tensor], shape: tuple[int, ...]) -> ln.Tensor:
        result = ln.empty_tensor(nest(self.formats[0]))
        return interpreted(self.program.kernel, result, operands, shape, self.program.fill)

    def _compare(self, result: ln.Tensor, expected: np.ndarray) -> None:
        """The same values, in arrays that the constructors would accept."""
        assert_equal(result, expected)
        from_buffers(result.format, result.shape, result.buffers)


def draw(shape: tuple[int, ...], dtype: str, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Small whole numbers, so that every order of summation gives the same."""
    values = rng.integers(1, 4, shape)
    if dtype[0] in "fic":
        values = values * rng.choice([-1, 1], shape)
    array = values.astype(dtype)
    if dtype[0] == "c":
        array = array + np.asarray(1j * rng.integers(-3, 4, shape), dtype)
    density = {"full": 1.0, "empty": 0.0}.get(kind, 0.4)
    keep = rng.random(shape) < density
    if kind == "mixed" and len(shape) > 1 and shape[0]:
        keep[rng.integers(shape[0])] = False
    return np.where(keep, array, np.zeros((), dtype))


def store(array: np.ndarray, letters: str, kind: str, rng: np.random.Generator) -> ln.Tensor:
    """The array in a format; with stored fill values and wide indices where the kind is mixed."""
    format = nest(letters)
    pattern = patterned(format) if array.dtype == bool and rng.random() < 0.7 else None
    if pattern is not None:
        return narrow_or_wide(ln.asarray(array, format=pattern), rng)
    if kind != "mixed" or array.ndim == 0:
        return narrow_or_wide(ln.asarray(array, format=format), rng)
    places = (array != 0) | (rng.random(array.shape) < 0.2)
    found = ln.tensor(np.nonzero(places), array[places], array.shape, format)
    return narrow_or_wide(found, rng)


def narrow_or_wide(tensor: ln.Tensor, rng: np.random.Generator) -> ln.Tensor:
    """The same tensor with each index array as int32 or int64, by chance."""
    buffers = {
        name: b.astype(rng.choice(["int32", "int64"])) if name[:3] in ("ptr", "idx") else b
        for name, b in tensor.buffers.items()
    }
    return from_buffers(tensor.format, tensor.shape, buffers)


def interpreted(
    kernel: ln.Kernel,
    result: ln.Tensor,
    operands: Sequence[ln.Tensor],
    shape: tuple[int, ...],
    fill: object = 0,
) -> ln.Tensor:
    """The only result of a kernel, made by the interpreter of imperative code."""
    return all_interpreted(kernel, [result], operands, [shape], [fill])[0]


def all_interpreted(
    kernel: ln.Kernel,
    results: Sequence[ln.Tensor],
    operands: Sequence[ln.Tensor],
    shapes: Sequence[tuple[int, ...]],
    fills: Sequence[object],
) -> list[ln.Tensor]:
    """The results of a kernel, which are its first arguments, made by the interpreter."""
    code = kernel.lowered(*results, *operands).kernel
    params = kernel.program.params
    given = dict(zip(params[len(results) :], operands, strict=True))
    sizes = dict(zip(params, shapes, strict=False))
    arguments = {}
    for a in code.arguments:
        held = {}
        if a.name in given:
            names = [b.name for b in a.buffers]
            held = dict(zip(names, given[a.name].buffers.values(), strict=True))
            sizes[a.name] = given[a.name].shape
        arguments[a.name] = (sizes.get(a.name, (0,) * len(a.dims)), held)
    status, buffers = interpret.run(code, arguments)
    assert status == 0
    made = {a.name: [buffers[b.name] for b in a.buffers] for a in code.arguments}
    return [
        rebuilt(result.output_format, shape, made[name], fill)
        for name, result, shape, fill in zip(params, results, shapes, fills, strict=False)
    ]


def rebuilt(
    format: ln.Format, shape: tuple[int, ...], arrays: Sequence[np.ndarray], fill: object
) -> ln.Tensor:
    """A tensor of the arrays that a kernel has made, which are checked."""
    if format.dtype is None:
        format = format.with_dtype(arrays[-1].dtype)
    if format.fill_value is None:
        format = format.with_fill(fill)  # type: ignore[arg-type]
    return from_buffers(format, shape, dict(zip(buffer_names(format), arrays, strict=True)))


def cases(programs: Sequence[Program]) -> list[ParameterSet]:
    """A sample of the combinations of formats: most in the interpreter, some as machine code.

    The rest of a larger sample, with every format at every place, is marked slow.
    """
    found = []
    for n, program in enumerate(programs):
        hows = ["llvm", "c" if n % 4 == 0 else "imp"] + ["imp"] * QUICK
        for k, formats in enumerate(spread(program.choices, QUICK, program.name)):
            case = Case(program, formats, _dtypes(program, k), hows[k])
            found.append(pytest.param(case, id=str(case)))
        many = [*one_at_a_time(program.choices), *spread(program.choices, DEEP, "deep")]
        for k, formats in enumerate(dict.fromkeys(many)):
            how = ("imp", "llvm", "imp", "imp", "c")[k % 5]
            case = Case(program, formats, _dtypes(program, k), how)
            found.append(pytest.param(case, id=f"deep-{case}", marks=pytest.mark.slow))
    return found


def _dtypes(program: Program, k: int) -> tuple[str, ...]:
    """One dtype for all operands; a different one for each in every third case."""
    drawn = random.Random(f"{program.name} {k}")
    if k % 3 == 2:
        return tuple(drawn.choice(program.dtypes) for _ in program.operands)
    return (drawn.choice(program.dtypes),) * len(program.operands)
