"""Levels by letter, arrays that they can hold, and one program run against its meaning."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from tests.oracle.check import HAS_CC, Arguments, Subject, check_output, meaning

import linnet as ln
from linnet.errors import DiscordanceWarning
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.formats.named import stack
from linnet.runtime.kernel import Kernel

LEVELS = {
    "D": ln.Dense,
    "S": ln.SparseList,
    "B": ln.SparseByteMap,
    "H": ln.SparseHash,
    "C": lambda child: ln.SparseCOO(1, child),
    "R": ln.RunList,
    "U": ln.SparseRunList,
    "V": ln.SparseInterval,
    "P": ln.SparsePinpoint,
    "N": ln.SparseBand,
    "K": ln.SparseBlockList,
}
NEW = "RUVPNK"
ONE = "VP"  # a fiber has one run, or one element
ALL = "".join(LEVELS)


def nest(letters: str, order: tuple[int, ...] | None = None, leaf: Level | None = None) -> Format:
    """`nest("DR")` is Dense(RunList(Element(0.0)))."""
    tree = leaf or ln.Element(0.0, "float64")
    for letter in reversed(letters):
        tree = LEVELS[letter](tree)
    return stack(tree, order)


def array_for(letters: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """An array with the structure that levels are made for, and can hold."""
    result = np.zeros(shape)
    if not letters:
        return np.array(float(rng.integers(-2, 4)))
    n, fill = shape[0], np.zeros(shape[1:])
    if letters[0] in "RUV":
        ends = np.cumsum(rng.integers(1, 4, n))
        runs = [array_for(letters[1:], shape[1:], rng) for _ in range(n)]
        chosen = rng.random(n) < 0.6
        if letters[0] == "V":
            chosen = np.arange(n) == rng.integers(n + 1)
        for i in range(n):
            run = int(np.searchsorted(ends, i, side="right"))
            result[i] = runs[run] if chosen[run] else fill
    elif letters[0] == "P":
        if n and rng.random() < 0.8:
            result[rng.integers(n)] = array_for(letters[1:], shape[1:], rng)
    else:
        density = rng.choice([0.2, 0.5, 0.9])
        for i in range(n):
            if rng.random() < density:
                result[i] = array_for(letters[1:], shape[1:], rng)
    return result


def stored(letters: str, shape: tuple[int, ...], rng: np.random.Generator) -> ln.Tensor:
    """A tensor of these levels; by chance with index arrays of 64 bits."""
    tensor = ln.asarray(array_for(letters, shape, rng), format=nest(letters))
    buffers = {
        name: b.astype("int64") if b.dtype.kind == "i" and rng.random() < 0.3 else b
        for name, b in tensor.buffers.items()
    }
    return ln.from_buffers(tensor.format, tensor.shape, buffers)


def agree(kernel: Kernel, args: Arguments, ways: Sequence[str] = ()) -> dict[str, ln.Tensor]:
    """Run a program in the interpreter of code, and as machine code; compare with its meaning."""
    subject = Subject.of(kernel.program, args)
    expected = meaning(subject.kernel, args)
    shapes = {n: t.shape for n, t in args.items() if t.shape is not None}
    shapes |= {n: e.values.shape for n, e in expected.items()}
    results = [subject.interpreted(args, shapes)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        results += [subject.compiled(args, way) for way in ways if way != "c" or HAS_CC]
    for found in results:
        for name, output in found.items():
            check_output(output, expected[name], name)
            assert_maximal(output)
    return results[-1]


def assert_maximal(tensor: ln.Tensor) -> None:
    """Neighbouring runs over values are not equal."""
    format = tensor.format
    if len(format.levels) < 2 or not isinstance(format.levels[-2], ln.RunList | ln.SparseRunList):
        return
    if not format.leaf.arrays:
        return
    arrays, val = tensor.contents().levels()[-2], tensor.buffers["val"]
    ptr, right = arrays["ptr"], arrays["right"]
    for p in range(len(ptr) - 1):
        for q in range(ptr[p] + 1, ptr[p + 1]):
            apart = "left" in arrays and arrays["left"][q] > right[q - 1]
            same = val[q].tobytes() == val[q - 1].tobytes()
            assert apart or not same, f"runs {q - 1} and {q} of fiber {p} hold the same"
