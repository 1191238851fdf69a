"""Reading Matrix Market files, and assembly plans: work of NumPy and SciPy users around kernels.

The data column says how large a file is; bytes by seconds is the rate at which it is read.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side

PLAN = 5.0  # a plan is to be this many times as fast as converting coordinates anew


@cache
def folder() -> Path:
    """Where the files are, until the end of the run."""
    path = Path(tempfile.mkdtemp(prefix="linnet-bench-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def linnet_read(path: Path) -> Side:
    return Side(lambda: ln.read(path), lambda A: A.to_scipy("csr"))


def c_read(path: Path) -> Side:
    with path.open() as file:
        size = next(line for line in file if not line.startswith("%"))
    shape = tuple(map(int, size.split()[:2]))
    name = np.frombuffer(str(path).encode() + b"\0", np.uint8)
    return native.building("files", "read_mtx", native.read_csr(shape), name)


def scipy_read(path: Path) -> Side:
    from scipy.io import _fast_matrix_market

    _fast_matrix_market.PARALLELISM = 1  # one thread, as we have

    def run() -> sp.csr_array:
        A = sp.csr_array(scipy.io.mmread(path))
        A.sum_duplicates()
        return A

    return Side(run)


def linnet_plan(i: np.ndarray, j: np.ndarray, values: np.ndarray, n: int) -> Side:
    plan = ln.assembly(i, j, (n, n))
    return Side(lambda: plan(values), lambda A: A.to_scipy("csr"))


def c_plan(i: np.ndarray, j: np.ndarray, values: np.ndarray, n: int) -> Side:
    order = np.lexsort((j, i)).astype(np.int32)
    i, j = i[order], j[order]
    first = np.flatnonzero(np.append(True, (i[1:] != i[:-1]) | (j[1:] != j[:-1])))
    ptr = np.append(first, len(i)).astype(np.int32)
    rows = np.searchsorted(i[first], np.arange(n + 1)).astype(np.int32)
    indices, result = j[first], np.empty(len(first))
    run = native.call("files", "assemble", len(first), ptr, order, values, result)
    return Side(run, lambda _: sp.csr_array((result, indices, rows), shape=(n, n)))


def scipy_convert(i: np.ndarray, j: np.ndarray, values: np.ndarray, n: int) -> Side:
    def run() -> sp.csr_array:
        A = sp.coo_array((values, (i, j)), shape=(n, n)).tocsr()
        A.sum_duplicates()
        return A

    return Side(run)


READ = {"linnet": linnet_read, "c": c_read, "scipy": scipy_read}
ASSEMBLE = {"linnet": linnet_plan, "c": c_plan, "scipy": scipy_convert}


def triangles(stored: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Nine pairs of nodes for each triangle of a square mesh, as finite elements give them."""
    side = max(2, int((stored / 18) ** 0.5))
    first = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel().astype(np.int32)
    lower = np.stack([first, first + side + 1, first + side + 2], axis=1)
    upper = np.stack([first, first + side + 2, first + 1], axis=1)
    corners = np.concatenate([lower, upper])
    i, j = np.repeat(corners, 3, axis=1).ravel(), np.tile(corners, (1, 3)).ravel()
    return i, j, np.random.default_rng(0).standard_normal(len(i)), (side + 1) ** 2


def files(load: data.Load) -> Iterator[tuple[str, int, Path]]:
    """Files by rows and by columns, and real ones as they come."""
    for stored in load.stored():
        A = data.uniform(stored)
        for word, format in (("rows", ln.CSR), ("columns", ln.CSC)):
            path = folder() / f"{stored}-{word}.mtx"
            ln.write(path, ln.asarray(A).to(format))
            yield f"{path.stat().st_size / 1e6:.0f} MB by {word}", A.nnz, path


def cases(load: data.Load) -> Iterator[Case]:
    for name, stored, path in files(load):
        yield Case("read mtx", name, stored, (path,), READ)
    for stored in load.stored():
        mesh = triangles(stored)
        count = len(mesh[0])
        yield Case("assembly plan", f"mesh of {count} entries", count, mesh, ASSEMBLE,
                   goals={"scipy": PLAN})  # fmt: skip
    if "large" in load.sizes:
        mesh = triangles(9_000_000)
        yield Case("assembly plan", "mesh of 9 M entries", len(mesh[0]), mesh, ASSEMBLE,
                   goals={"scipy": PLAN})  # fmt: skip
