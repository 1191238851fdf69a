"""Sums of parts of sparse matrices: windows and every second, fourth, eighth index (ARRAY §8.2.4).

Linnet walks the parts where they are; SciPy copies them first. The C is called as those are, with
the arrays of two matrices and for three arrays of a new one, which is more than the work in windows
of 500. *C prepared* is the same function with pointers made once, whose result is addresses.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side

BAR = 0.9
Window = tuple[slice, slice]


def linnet(A: sp.csr_array, B: sp.csr_array, window: Window) -> Side:
    first, second = ln.asarray(A), ln.asarray(B)

    @ln.fuse
    def add(A, B):
        return A[window] + B[window]

    return Side(lambda: add(first, second), lambda C: C.to_scipy())


def c_prepared(A: sp.csr_array, B: sp.csr_array, window: Window) -> Side:
    rows, columns = (range(*s.indices(n)) for s, n in zip(window, A.shape, strict=True))
    place = (len(rows), len(columns), rows.start, columns.start, rows.step)
    read = native.read_csr((len(rows), len(columns)))
    arrays = (*native.csr(A), *native.csr(B))
    return native.building("slicing", "add_windows", read, *place, *arrays)


def c(A: sp.csr_array, B: sp.csr_array, window: Window) -> Side:
    """The C as it is called with any two matrices, for a matrix: what Linnet and SciPy do."""
    rows, columns = (range(*s.indices(n)) for s, n in zip(window, A.shape, strict=True))
    shape = (len(rows), len(columns))
    place = (*shape, rows.start, columns.start, rows.step)
    arrays = (*native.csr(A), *native.csr(B))
    read = lambda found: sp.csr_array(found, shape=shape)  # noqa: E731
    return native.with_arrays("slicing", "add_windows", read, place, arrays)


def scipy_sum(A: sp.csr_array, B: sp.csr_array, window: Window) -> Side:
    return Side(lambda: A[window] + B[window], sp.csr_array)


WAYS = {"linnet": linnet, "c": c, "C prepared": c_prepared, "scipy": scipy_sum}


def windows(n: int) -> dict[str, tuple[Window, float]]:
    """Windows of an n by n matrix, and how many times as fast as SciPy to be."""
    quarter = n // 4
    small = np.s_[n // 2 : n // 2 + 500, n // 3 : n // 3 + 500]
    return {
        "add windows 500": (small, 2.0),
        "add a quarter": (np.s_[quarter : 2 * quarter, quarter : 2 * quarter], 1.0),
        "add all but ends": (np.s_[1 : n - 1, 1 : n - 1], 1.0),
        "add every 2nd": (np.s_[::2, ::2], 1.0),
        "add every 4th": (np.s_[::4, ::4], 1.0),
        "add every 8th": (np.s_[::8, ::8], 1.0),
    }


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        A, B = data.uniform(stored, 10, 0), data.uniform(stored, 10, 1)
        for name, (window, goal) in windows(A.shape[0]).items():
            goals = {"scipy": goal}
            yield Case(name, "uniform", A.nnz + B.nnz, (A, B, window), WAYS, BAR, goals=goals)
