"""CSR from coordinates: sorted ones, and unsorted ones with duplicates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import peer

BAR = 0.9


def linnet_sorted(A: sp.coo_array) -> Side:
    matrix = ln.tensor(np.stack(A.coords), A.data, A.shape, format=ln.COO(2))
    return Side(lambda: matrix.to(ln.CSR), lambda B: B.to_scipy())


def linnet_unsorted(A: sp.coo_array) -> Side:
    coords = np.stack(A.coords)
    run = lambda: ln.tensor(coords, A.data, A.shape, format=ln.CSR)  # noqa: E731
    return Side(run, lambda B: B.to_scipy())


def c_sorted(A: sp.coo_array) -> Side:
    return _native("sorted_coo_to_csr", A)


def c_unsorted(A: sp.coo_array) -> Side:
    return _native("coo_to_csr", A)


def _native(function: str, A: sp.coo_array) -> Side:
    read, given = native.read_csr(A.shape), (A.shape[0], A.nnz, *A.coords, A.data)
    return native.building("coo_to_csr", function, read, *given)


def scipy_way(A: sp.coo_array) -> Side:
    def run() -> sp.csr_array:
        B = A.tocsr()
        B.sum_duplicates()
        return B

    return Side(run)


def graphblas(A: sp.coo_array) -> Side:
    gb = peer("graphblas")
    rows, columns = A.coords

    def run() -> object:
        B = gb.Matrix.from_coo(
            rows, columns, A.data, nrows=A.shape[0], ncols=A.shape[1], dup_op=gb.binary.plus
        )
        B.wait()
        return B

    return Side(run, gb.io.to_scipy_sparse)


def pydata(A: sp.coo_array) -> Side:
    COO = peer("sparse").COO
    coords = np.stack(A.coords)

    def run() -> object:
        return COO(coords, A.data, shape=A.shape).asformat("gcxs", compressed_axes=(0,))

    return Side(run, lambda B: sp.csr_array(B.to_scipy_sparse()))


PEERS = {"scipy": scipy_way, "graphblas": graphblas, "sparse": pydata}
SORTED = {"linnet": linnet_sorted, "c": c_sorted} | PEERS
UNSORTED = {"linnet": linnet_unsorted, "c": c_unsorted} | PEERS


def shuffled(A: sp.csr_array) -> sp.coo_array:
    """The same entries in another order, one in ten of them twice."""
    rng, A = np.random.default_rng(10), A.tocoo()
    order = rng.permutation(np.append(np.arange(A.nnz), rng.integers(0, A.nnz, A.nnz // 10)))
    row, col = (c.astype(np.int32)[order] for c in A.coords)
    return sp.coo_array((A.data[order], (row, col)), shape=A.shape)


def matrices(load: data.Load) -> Iterator[tuple[str, sp.csr_array]]:
    for stored in load.stored():
        yield "uniform", data.uniform(stored)
    if load.real:
        yield from data.real_matrices("bcsstk16", "web-Stanford")


def cases(load: data.Load) -> Iterator[Case]:
    for name, A in matrices(load):
        yield Case("coo to csr, sorted", name, A.nnz, (A.tocoo(),), SORTED, BAR)
        mixed = shuffled(A)
        yield Case("coo to csr, unsorted", name, mixed.nnz, (mixed,), UNSORTED, BAR)
