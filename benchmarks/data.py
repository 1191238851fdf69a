"""What the benchmarks run on: matrices and tensors of given sizes, and real ones where present.

Real data are looked for in the folder that LINNET_DATA names, else in `../shared/data` beside the
checkout; without them the benchmarks run on what is made here.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

SIZES = {"small": 100_000, "medium": 2_000_000, "large": 20_000_000}
CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("LINNET_DATA", CHECKOUT.parent / "shared" / "data"))


@dataclass(frozen=True)
class Load:
    """How much to run: names of sizes, and whether to use real data."""

    sizes: tuple[str, ...]
    real: bool = True

    def stored(self, most: int = 20_000_000) -> list[int]:
        """The numbers of stored values, without repetition, cut at what a kernel can take."""
        return sorted({min(SIZES[size], most) for size in self.sizes})


@lru_cache(maxsize=2)
def uniform(stored: int, per_row: int = 10, seed: int = 0) -> sp.csr_array:
    """A square matrix with about `per_row` entries in each row, anywhere."""
    rng = np.random.default_rng(seed)
    n = max(per_row, stored // per_row)
    columns = np.sort(rng.integers(0, n, (n, per_row), dtype=np.int32), axis=1)
    first = np.ones(columns.shape, bool)
    first[:, 1:] = columns[:, 1:] != columns[:, :-1]
    ptr = np.zeros(n + 1, np.int32)
    np.cumsum(first.sum(axis=1), out=ptr[1:])
    idx = columns[first]
    return sp.csr_array((rng.random(len(idx)) + 0.5, idx, ptr), shape=(n, n))


@lru_cache(maxsize=1)
def skewed(stored: int, per_row: int = 10, seed: int = 0) -> sp.csr_array:
    """A square matrix whose rows and columns follow a power law, as graphs do."""
    rng = np.random.default_rng(seed)
    n = max(per_row, stored // per_row)
    rows, columns = ((n * rng.random(stored) ** 3).astype(np.int32) for _ in range(2))
    A = sp.csr_array((np.ones(stored), (rows, columns)), shape=(n, n))
    A.sum_duplicates()
    A.data = rng.random(A.nnz) + 0.5
    return A


def vector(n: int, seed: int = 1) -> np.ndarray:
    """A dense vector."""
    return np.random.default_rng(seed).random(n) + 0.5


def sparse_vector(n: int, stored: int, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Sorted coordinates and values of a sparse vector."""
    rng = np.random.default_rng(seed)
    idx = np.unique(rng.integers(0, n, stored, dtype=np.int32))
    return idx, rng.random(len(idx)) + 0.5


@dataclass(frozen=True)
class Coordinates:
    """A sparse tensor of any order: sorted coordinates (one row per mode), values, shape."""

    coords: np.ndarray
    values: np.ndarray
    shape: tuple[int, ...]


def tensor(stored: int, order: int, seed: int = 3) -> Coordinates:
    """A tensor whose fibers get shorter with depth, as in event logs: long modes first."""
    rng = np.random.default_rng(seed)
    shape = tuple(max(4, int(stored ** (0.55 if mode == 0 else 0.4))) for mode in range(order))
    coords = np.stack([rng.integers(0, n, stored) for n in shape])
    return sorted_unique(coords, shape, rng)


def sorted_unique(
    coords: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator
) -> Coordinates:
    """Coordinates in lexicographic order, each once, with random values."""
    keys = np.unique(np.ravel_multi_index(tuple(coords), shape))
    coords = np.stack([c.astype(np.int32) for c in np.unravel_index(keys, shape)])
    return Coordinates(coords, rng.random(coords.shape[1]) + 0.5, shape)


def csf(t: Coordinates) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The ptr and idx arrays of compressed sparse fibers, one of each per mode."""
    stored, order = t.coords.shape[1], len(t.shape)
    ptrs, idxs = [], []
    starts = np.zeros(1, np.int64)  # where each fiber of the level above begins
    new = np.zeros(stored, bool)
    for mode in range(order):
        new[1:] |= t.coords[mode, 1:] != t.coords[mode, :-1]
        new[0] = True
        begins = np.flatnonzero(new)
        ptrs.append(np.append(np.searchsorted(begins, starts), len(begins)).astype(np.int32))
        idxs.append(np.ascontiguousarray(t.coords[mode, begins]))
        starts = begins
    return ptrs, idxs


# -- real data -------------------------------------------------------------------------------------


def real_matrices(*names: str) -> Iterator[tuple[str, sp.csr_array]]:
    """Those of the named matrices that are present, as CSR.

    The structure is real; the values are drawn anew, so that nothing cancels (SciPy drops zeros).
    """
    for name in names:
        path = FOLDER / "matrix" / f"{name}.mtx.gz"
        if path.exists():
            A = sp.csr_array(scipy.io.mmread(path)).astype(np.float64)
            A.sum_duplicates()
            A.data = np.random.default_rng(9).random(A.nnz) + 0.5
            yield name, A


def real_tensors(*names: str) -> Iterator[tuple[str, Coordinates]]:
    """Those of the named tensors that are present."""
    catalog = FOLDER / "catalog.json"
    if not catalog.exists():
        return
    shapes = {entry["name"]: entry.get("shape") for entry in json.loads(catalog.read_text())}
    for name in names:
        path = FOLDER / "tensor" / f"{name}.tns.gz"
        if path.exists():
            with gzip.open(path, "rt") as file:
                table = np.loadtxt(file, dtype=np.float64, ndmin=2)
            coords = table[:, :-1].T.astype(np.int64) - 1
            yield name, sorted_unique(coords, tuple(shapes[name]), np.random.default_rng(4))
