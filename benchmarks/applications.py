"""Two programs of arrays (ARRAY §8.4): edges of a thresholded image, and minimax over a tree.

The image is smooth noise, in which the parts above 75 % and 80 % are sparse; edges are wanted in a
region of interest. The tree is a tensor of values, of which a node stores some of its moves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy import ndimage

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import peer
from linnet.arrays import apply, fuse, reduce

BAR = 0.9
PATTERN = ln.Dense(ln.SparseList(ln.Pattern()))


@fuse
def find_edges(A, B, R):
    inside = [apply("logical_and", X, R) for X in (B, A)]
    return apply("logical_xor", *inside)


@fuse
def best_move(T):
    return reduce("maximum", reduce("minimum", reduce("maximum", T, 2), 1), 0)


# -- edges -----------------------------------------------------------------------------------------


def image(pixels: int) -> tuple[sp.csr_array, ...]:
    """The parts of an image above two thresholds, and the region of interest."""
    side = int(pixels**0.5)
    smooth = ndimage.gaussian_filter(np.random.default_rng(0).random((side, side)), 3)
    smooth = (smooth - smooth.min()) / (smooth.max() - smooth.min())
    region = np.zeros((side, side), bool)
    region[side // 4 : 3 * side // 4, side // 4 : 3 * side // 4] = True
    return tuple(sp.csr_array(part) for part in (smooth > 0.75, smooth > 0.8, region))


def linnet_edges(*parts: sp.csr_array) -> Side:
    tensors = [ln.asarray(X).to(PATTERN) for X in parts]

    def read(C: ln.Tensor) -> sp.csr_array:
        return plain(sp.csr_array(C.to(ln.CSR).to_scipy()))

    return Side(lambda: find_edges(*tensors), read)


def plain(C: sp.csr_array) -> sp.csr_array:
    found = sp.csr_array(C.astype(float), copy=True)
    found.eliminate_zeros()
    return found


def c_edges(*parts: sp.csr_array) -> Side:
    arrays = [array for X in parts for array in native.csr(X)[:2]]
    shape = parts[0].shape
    return native.building("applications", "edges", native.read_csr(shape), shape[0], *arrays)


def numpy_edges(*parts: sp.csr_array) -> Side:
    A, B, R = (X.toarray() for X in parts)
    return Side(lambda: (B & R) ^ (A & R), lambda C: plain(sp.csr_array(C)))


def pydata_edges(*parts: sp.csr_array) -> Side:
    A, B, R = (peer("sparse").COO.from_scipy_sparse(X) for X in parts)
    return Side(lambda: (B & R) ^ (A & R), lambda C: plain(sp.csr_array(C.to_scipy_sparse())))


def expected_edges(A: sp.csr_array, B: sp.csr_array, R: sp.csr_array) -> sp.csr_array:
    return plain(sp.csr_array(((A != B) * 1.0).multiply(R * 1.0)))


# -- minimax ---------------------------------------------------------------------------------------


def linnet_minimax(t: data.Coordinates) -> Side:
    T = ln.tensor(list(t.coords), t.values, t.shape, format=ln.CSF)
    return Side(lambda: best_move(T), float)


def c_minimax(t: data.Coordinates) -> Side:
    pointers, _ = data.csf(t)
    return native.scalar("applications", "minimax", *t.shape, *pointers, t.values)


def pydata_minimax(t: data.Coordinates) -> Side:
    T = peer("sparse").COO(np.stack(t.coords), t.values, shape=t.shape)
    return Side(lambda: T.max(axis=2).min(axis=1).max(), float)


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        parts = image(stored * 4)
        ways = {"linnet": linnet_edges, "c": c_edges, "numpy": numpy_edges, "sparse": pydata_edges}
        expected = lambda parts=parts: expected_edges(*parts)  # noqa: E731
        count = sum(X.nnz for X in parts)
        yield Case("edges", "smooth noise", count, parts, ways, BAR, expected=expected)
        t = data.tensor(stored, 3)
        moves = {"linnet": linnet_minimax, "c": c_minimax, "sparse": pydata_minimax}
        reference = lambda t=t: c_minimax(t).run()  # noqa: E731
        yield Case("minimax", "tensor", stored, (t,), moves, BAR, expected=reference)
