"""Functions of whole arrays on CSR, as users of SciPy write them: parts, joints, arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import peer

Function = Callable[[Any, Any, Any], Any]


def _scipy(result: Any) -> Any:
    """A result of any library as a CSR array, or an array of NumPy."""
    if isinstance(result, ln.Tensor):
        dense = all(level.full for level in result.format.levels[:-1]) or result.ndim == 1
        return result.to_numpy() if dense else _scipy(result.to_scipy("csr"))
    if hasattr(result, "to_scipy_sparse"):
        return _scipy(result.to_scipy_sparse()) if result.ndim == 2 else result.todense()
    if not sp.issparse(result) or result.ndim != 2:
        return result
    found = sp.csr_array(result, copy=True)
    found.eliminate_zeros()  # a comparison stores what it found to be false
    found.sort_indices()  # SciPy leaves columns that were picked as they come
    return found


def _ways(ours: Function, theirs: Function, pydata: Function | None) -> dict[str, Any]:
    def linnet(A: Any, B: Any, rows: Any) -> Side:
        x, y = ln.asarray(A), ln.asarray(B)
        return Side(lambda: ours(x, y, rows), _scipy)

    def scipy(A: Any, B: Any, rows: Any) -> Side:
        return Side(lambda: theirs(A, B, rows), _scipy)

    def sparse(A: Any, B: Any, rows: Any) -> Side:
        x, y = (peer("sparse").GCXS.from_scipy_sparse(M) for M in (A, B))
        assert pydata is not None
        return Side(lambda: pydata(x, y, rows), _scipy)

    return {"linnet": linnet, "scipy": scipy} | ({} if pydata is None else {"sparse": sparse})


def _picked(A: Any, B: Any, rows: Any) -> Side:
    read = native.read_csr((len(rows), A.shape[1]))
    return native.building("arrays", "pick", read, len(rows), rows, *native.csr(A))


def _below(A: Any, B: Any, rows: Any) -> Side:
    read = native.read_csr((2 * A.shape[0], A.shape[1]))
    return native.building("arrays", "below", read, A.shape[0], *native.csr(A), *native.csr(B))


def _beside(A: Any, B: Any, rows: Any) -> Side:
    read = native.read_csr((A.shape[0], 2 * A.shape[1]))
    return native.building("arrays", "beside", read, *A.shape, *native.csr(A), *native.csr(B))


IN_C = {"A[rows]": _picked, "concat": _below, "concat columns": _beside}


def _same(f: Function) -> tuple[Function, Function, Function]:
    return f, f, f


def _mask(A: Any) -> Any:
    return np.arange(A.shape[0]) % 3 == 0


def _columns(A: Any) -> Any:
    return np.random.default_rng(2).permutation(A.shape[1])


def _sorted(found: Any) -> Any:
    """A result of SciPy with the columns of each row in order, as ours always are."""
    found.sort_indices()
    return found


def _halved(A: Any) -> tuple[int, int]:
    """Another shape: two rows become one."""
    return A.shape[0] // 2, A.shape[1] * 2


ARITHMETIC: dict[str, tuple[Function, Function, Function | None]] = {
    "A + B": _same(lambda A, B, rows: A + B),
    "A * B": _same(lambda A, B, rows: A * B),
    "A @ B": _same(lambda A, B, rows: A @ B),
    "A @ B, sorted": (lambda A, B, rows: A @ B, lambda A, B, rows: _sorted(A @ B), None),
    "A.sum(0)": _same(lambda A, B, rows: A.sum(axis=0)),
    "A.sum(1)": _same(lambda A, B, rows: A.sum(axis=1)),
    "A.max(1)": (
        lambda A, B, rows: A.max(axis=1),
        lambda A, B, rows: A.max(axis=1).toarray().reshape(-1),
        lambda A, B, rows: A.max(axis=1),
    ),
    "A.sum()": _same(lambda A, B, rows: A.sum()),
    "A.max()": _same(lambda A, B, rows: A.max()),
    "A > 1": _same(lambda A, B, rows: A > 1.0),
}
PARTS: dict[str, tuple[Function, Function, Function | None]] = {
    "A[a:b]": _same(lambda A, B, rows: A[A.shape[0] // 4 : A.shape[0] // 2]),
    "A[:, a:b]": _same(lambda A, B, rows: A[:, A.shape[0] // 4 : A.shape[0] // 2]),
    "A[::2]": _same(lambda A, B, rows: A[::2]),
    "A[rows]": (lambda A, B, rows: A[rows], lambda A, B, rows: A[rows], None),
    "A[mask]": (lambda A, B, rows: A[_mask(A)], lambda A, B, rows: A[_mask(A)], None),
    "A[:, mask]": (lambda A, B, rows: A[:, _mask(A)], lambda A, B, rows: A[:, _mask(A)], None),
    "A[:, columns]": (
        lambda A, B, rows: A[:, _columns(A)],
        lambda A, B, rows: A[:, _columns(A)],
        None,
    ),
    "A[:, columns], sorted": (
        lambda A, B, rows: A[:, _columns(A)],
        lambda A, B, rows: _sorted(A[:, _columns(A)]),
        None,
    ),
    "A[rows, rows]": (
        lambda A, B, rows: A[rows, rows],
        lambda A, B, rows: A[rows, rows],
        None,
    ),
    "tril": (
        lambda A, B, rows: ln.tril(A),
        lambda A, B, rows: sp.tril(A, format="csr"),
        None,
    ),
    "diagonal": (
        lambda A, B, rows: ln.diag(A),
        lambda A, B, rows: A.diagonal(),
        lambda A, B, rows: peer("sparse").diagonal(A.tocoo()),
    ),
}
MOVES: dict[str, tuple[Function, Function, Function | None]] = {
    "concat": (
        lambda A, B, rows: ln.concat([A, B]),
        lambda A, B, rows: sp.vstack([A, B], format="csr"),
        lambda A, B, rows: peer("sparse").concatenate([A, B]),
    ),
    "concat columns": (
        lambda A, B, rows: ln.concat([A, B], axis=1),
        lambda A, B, rows: sp.hstack([A, B], format="csr"),
        lambda A, B, rows: peer("sparse").concatenate([A, B], axis=1),
    ),
    "block": (
        lambda A, B, rows: ln.block([[A, None], [None, B]]),
        lambda A, B, rows: sp.block_array([[A, None], [None, B]], format="csr"),
        None,
    ),
    "reshape": (
        lambda A, B, rows: ln.reshape(A, _halved(A)),
        lambda A, B, rows: A.reshape(_halved(A)).tocsr(),
        lambda A, B, rows: A.reshape(_halved(A)),
    ),
    "flip rows": (lambda A, B, rows: ln.flip(A, axis=0), lambda A, B, rows: A[::-1], None),
    "transpose": (
        lambda A, B, rows: A.T.to(ln.CSR),
        lambda A, B, rows: A.T.tocsr(),
        lambda A, B, rows: A.T.change_compressed_axes((0,)),
    ),
    "to CSC": (
        lambda A, B, rows: A.to(ln.CSC),
        lambda A, B, rows: A.tocsc(),
        lambda A, B, rows: A.change_compressed_axes((1,)),
    ),
    "to COO": (
        lambda A, B, rows: A.to(ln.COO),
        lambda A, B, rows: A.tocoo(),
        lambda A, B, rows: A.tocoo(),
    ),
}
FUNCTIONS = ARITHMETIC | PARTS | MOVES
# of matrices of 10 by 10, where nothing counts but the call; the third argument is a vector
TINY: dict[str, tuple[Function, Function, Function | None]] = {
    "A @ x": (lambda A, B, x: A @ x, lambda A, B, x: A @ x, None),
    "A + B": _same(lambda A, B, x: A + B),
    "A * 2": _same(lambda A, B, x: A * 2),
    "A.sum(0)": _same(lambda A, B, x: A.sum(axis=0)),
    "A[2:9]": _same(lambda A, B, x: A[2:9]),
    "A @ B": _same(lambda A, B, x: A @ B),
}


def cases(load: data.Load) -> Iterator[Case]:
    """Every function, on matrices with entries anywhere; some on tiny ones."""
    A, B = (sp.random_array((10, 10), density=0.3, format="csr", rng=k) for k in (0, 1))
    for name, functions in TINY.items():
        x = np.linspace(0.0, 1.0, 10)
        yield Case(name, "tiny", A.nnz, (A, B, x), _ways(*functions), goals={"scipy": 1.0})
    for stored in load.stored(10_000_000):
        A, B = data.uniform(stored, 10, 0), data.uniform(stored, 10, 1)
        rows = np.random.default_rng(0).integers(0, A.shape[0], A.shape[0] // 3)
        for name, functions in FUNCTIONS.items():
            ways = _ways(*functions) | ({"c": IN_C[name]} if name in IN_C else {})
            goals = {"scipy": 1.0, "sparse": 5.0}
            yield Case(name, "uniform", A.nnz, (A, B, rows), ways, goals=goals)
