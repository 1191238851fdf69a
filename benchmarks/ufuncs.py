"""Functions of elements over their own iteration spaces, one by one and fused (ARRAY §8.2.1-2).

The second operand is the first, one column to the right, with the value 2 everywhere; a third one
is another column to the right. All matrices are CSR; PyData/Sparse has them as COO.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import peer
from linnet.arrays import apply, compute, lazy

BAR = 0.9
SINGLE, FUSED = {"sparse": 20.0}, {"sparse": 40.0}  # times as fast as PyData/Sparse


def shifted(A: sp.csr_array, by: int, dtype: type = float) -> sp.csr_array:
    """A with its columns moved to the right, and the value 2 everywhere."""
    moved = sp.csr_array(A @ sp.eye_array(A.shape[1], k=by))
    moved.sort_indices()
    return sp.csr_array(
        (np.full(moved.nnz, 2, dtype), moved.indices.astype(np.int32), moved.indptr), moved.shape
    )


def plain(C: sp.csr_array, fill: float = 0.0) -> sp.csr_array:
    """What differs from the fill value, as numbers."""
    parts = (C.data.astype(float) - fill, C.indices.copy(), C.indptr.copy())
    found = sp.csr_array(parts, shape=C.shape)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def linnet(name: str, fill: float) -> Callable[..., Side]:
    def way(*operands: sp.csr_array) -> Side:
        tensors = [ln.asarray(A) for A in operands]
        run = FUSIONS[name] if name in FUSIONS else lambda *args: apply(name, *args)
        return Side(lambda: run(*tensors), lambda C: plain(_csr(C), fill))

    return way


def _csr(C: ln.Tensor) -> sp.csr_array:
    buffers = C.buffers
    return sp.csr_array((buffers["val"], buffers["idx1"], buffers["ptr1"]), shape=C.shape)


def xor_and(A: ln.Tensor, B: ln.Tensor, C: ln.Tensor) -> ln.Tensor:
    return compute(apply("logical_and", apply("logical_xor", lazy(A), B), C))


FUSIONS = {"xor_and": xor_and}


def c(function: str, fill: float) -> Callable[..., Side]:
    def way(*operands: sp.csr_array) -> Side:
        arrays = [array for A in operands for array in native.csr(A)]
        read = native.read_csr(operands[0].shape, "|b1" if "xor" in function else "<f8")
        side = native.building("ufuncs", function, read, operands[0].shape[0], *arrays)
        return Side(side.run, lambda result: plain(read(result), fill))

    return way


def pydata(name: str, fill: float) -> Callable[..., Side]:
    def way(*operands: sp.csr_array) -> Side:
        arrays = [peer("sparse").COO.from_scipy_sparse(A) for A in operands]
        if name == "xor_and":
            run = lambda: np.logical_and(np.logical_xor(*arrays[:2]), arrays[2])  # noqa: E731
        else:
            run = lambda: getattr(np, name)(*arrays)  # noqa: E731

        def read(C: object) -> sp.csr_array:
            coords, values = C.coords, C.data.astype(float) - fill  # type: ignore[attr-defined]
            return plain(sp.csr_array((values, tuple(coords)), shape=C.shape))  # type: ignore[attr-defined]

        return Side(run, read)

    return way


# -- what is expected, since SciPy has no such functions -------------------------------------------


def expected(name: str, A: sp.csr_array, B: sp.csr_array, *rest: sp.csr_array) -> sp.csr_array:
    both = sp.csr_array(A.multiply(B != 0))
    if name == "ldexp":
        return plain(A + both * 3.0)
    if name == "right_shift":
        moved = sp.csr_array((both.data // 4 - both.data, both.indices, both.indptr), both.shape)
        return plain(A + moved)
    if name == "power":
        return plain(sp.csr_array(both.multiply(A)) - sp.csr_array((B != 0) * 1.0))
    different = sp.csr_array((A != 0) != (B != 0)) * 1.0
    return plain(different.multiply(rest[0] != 0).tocsr() if rest else different)


def ways(name: str, function: str, fill: float = 0.0) -> dict[str, Callable[..., Side]]:
    return {
        "linnet": linnet(name, fill),
        "c": c(function, fill),
        "sparse": pydata(name, fill),
    }


def cases(load: data.Load) -> Iterator[Case]:
    matrices = [("uniform", data.uniform(stored)) for stored in load.stored()]
    if load.real:
        matrices += list(data.real_matrices("bcsstk16", "memplus", "web-Stanford"))
    for label, A in matrices:
        A = sp.csr_array((np.abs(A.data) + 0.5, A.indices, A.indptr), shape=A.shape)
        whole = sp.csr_array(
            ((A.data * 100).astype(np.int64) + 1, A.indices, A.indptr), shape=A.shape
        )
        B, C, exponents = shifted(A, 1), shifted(A, 2), shifted(A, 1, np.int64)
        for name, function, fill, args in (
            ("logical_xor", "logical_xor", 0.0, (A, B)),
            ("ldexp", "ldexp_", 0.0, (A, exponents)),
            ("right_shift", "right_shift", 0.0, (whole, exponents)),
            ("power", "power", 1.0, (A, B)),
            ("xor_and", "xor_and", 0.0, (A, B, C)),
        ):
            stored = sum(X.nnz for X in args)
            goals = FUSED if name in FUSIONS else SINGLE
            reference = lambda name=name, args=args: expected(name, *args)  # noqa: E731
            found = ways(name, function, fill)
            yield Case(name, label, stored, args, found, BAR, expected=reference, goals=goals)
