"""Loops through positions of every level: right, or refused by an error that names the level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.levels.samples import LEVELS, agree, array_for, nest

import linnet as ln
from linnet.errors import FormatError, LinnetError, ScheduleError
from linnet.runtime.kernel import Kernel
from linnet.scheduling.text import parse_schedule

POSITIONS = "DSCPN"  # levels that have them; those of P may be empty, and are not counted
NESTS = [*LEVELS, *(a + b for a in LEVELS for b in LEVELS)]
OTHERS = {
    "COO": ln.COO,
    "CSC": ln.CSC,
    "symmetric": ln.SYMMETRIC,
    "symmetric tiles": ln.SYMMETRIC_TILES,
    "triangular": ln.TRIANGULAR,
}


@ln.kernel
def one(y, A, x):
    y[...] = 0
    for j in ln.stored(A):
        y[j] += A[j] * x[j]
    return y


@ln.kernel
def one_in_tiles(y, A, x):
    y[...] = 0
    for t in range(ln.parts(ln.stored(A), 2)):
        for j in ln.part(ln.stored(A), t, 2):
            y[j] += A[j] * x[j]
    return y


@ln.kernel
def two(y, A, x):
    y[...] = 0
    for i, j in ln.stored(A):
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def two_in_tiles(y, A, x):
    y[...] = 0
    for t in range(ln.parts(ln.stored(A), 3)):
        for i, j in ln.part(ln.stored(A), t, 3):
            y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def rows(y, A, x):
    y[...] = 0
    for i in ...:
        for j in ln.stored(A[i, :]):
            y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def rows_in_tiles(y, A, x):
    y[...] = 0
    for i in ...:
        for t in range(ln.parts(ln.stored(A[i, :]), 2)):
            for j in ln.part(ln.stored(A[i, :]), t, 2):
                y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def plain_one(y, A, x):
    y[...] = 0
    for j in ...:
        y[j] += A[j] * x[j]
    return y


@ln.kernel
def plain_two(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


WRITTEN = {1: (one, one_in_tiles), 2: (two, two_in_tiles, rows, rows_in_tiles)}
COMMANDS = {
    1: ("pos(j, p, A)", "pos(j, p, A) split(p, p0, p1, 2)"),
    2: (
        "collapse(i, j, f) pos(f, p, A)",
        "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 3)",
        "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 2, up)",
        "pos(j, p, A)",
        "pos(j, p, A) split(p, p0, p1, 2)",
    ),
}


def check(kernel: Kernel, array: np.ndarray, format: ln.Format) -> bool:
    """Whether a program is run, and then it is right."""
    x = ln.asarray(np.arange(1.0, 1 + array.shape[-1]))
    given = {"y": ln.empty_tensor(ln.DENSE(1)), "A": ln.asarray(array, format=format), "x": x}
    refusal: LinnetError | None = None
    try:
        agree(kernel, given)
    except (ScheduleError, FormatError) as error:
        refusal = error
    if refusal is None:
        return True
    names = [type(level).__name__ for level in format.levels]
    told = any(name in refusal.message for name in names) or "stores all" in refusal.message
    assert told or "is stored in the order" in refusal.message, refusal.message
    assert refusal.hint
    return False


def kernels_of(ndim: int) -> list[Kernel]:
    """Programs with loops over what is stored, and such programs as commands make."""
    plain = (plain_one if ndim == 1 else plain_two).program
    texts = map(parse_schedule, COMMANDS[ndim])
    return [*WRITTEN[ndim], *(Kernel(replace(plain, schedule=text)) for text in texts)]


@pytest.mark.parametrize("letters", NESTS)
def test_every_level(letters: str):
    rng = np.random.default_rng(len(letters) * 7 + ord(letters[-1]))
    shape = (6, 7)[-len(letters) :]
    array = array_for(letters, shape, rng)
    done = [check(kernel, array, nest(letters)) for kernel in kernels_of(len(letters))]
    if set(letters) <= set(POSITIONS) - {"P"}:
        assert all(done[: len(WRITTEN[len(letters)])])
    elif set(letters) <= set(POSITIONS):
        assert done[0]
    elif letters[-1] not in POSITIONS:
        assert not any(done)


@pytest.mark.parametrize("format", OTHERS.values(), ids=OTHERS)
def test_other_formats(format: ln.Format):
    rng = np.random.default_rng(3)
    array = rng.integers(1, 9, (6, 6)) * (rng.random((6, 6)) < 0.4)
    array = np.asarray(array + array.T, np.float64)
    if format == ln.TRIANGULAR:
        array = np.tril(array)
    done = [check(kernel, array, format) for kernel in kernels_of(2)]
    assert any(done) == (format in (ln.COO, ln.CSC, ln.TRIANGULAR))
