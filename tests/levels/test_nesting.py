"""Every level above and below every other: what it holds is read, and written, or refused.

Pairs of the levels that store one dimension each are in `test_reading` and `test_writing`; here are
those that store two, or are shared by several rows.
"""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest
from tests.levels.samples import LEVELS, agree, array_for, nest

import linnet as ln
from linnet.errors import FormatError
from linnet.formats.level import Inner
from linnet.formats.named import stack

OTHERS = {
    "SparseCOO(2)": lambda child: ln.SparseCOO(2, child),
    "SparseTiles": lambda child: ln.SparseTiles(2, 2, child),
    "SparseSymmetric": ln.SparseSymmetric,
    "SparseSymmetricTiles": ln.SparseSymmetricTiles,
}
WAYS = {**LEVELS, **OTHERS}
WIDE = ("SparseCOO(2)", "SparseSymmetric", "SparseSymmetricTiles")
PAIRS = [pair for pair in itertools.product(WAYS, WAYS) if set(pair) & set(OTHERS)]
IN_ORDER = "SCRUVNK"  # levels that are written in order, which rows of tiles are not


@ln.kernel
def copy_matrix(B, A):
    B[...] = 0
    for i, j in ...:
        if A[i, j] != 0:
            B[i, j] = A[i, j]
    return B


@ln.kernel
def copy_cube(B, A):
    B[...] = 0
    for i, j, k in ...:
        if A[i, j, k] != 0:
            B[i, j, k] = A[i, j, k]
    return B


@ln.kernel
def copy_all(B, A):
    B[...] = 0
    for i, j, k, m in ...:
        if A[i, j, k, m] != 0:
            B[i, j, k, m] = A[i, j, k, m]
    return B


COPIES = {2: copy_matrix, 3: copy_cube, 4: copy_all}


def test_all_levels_are_here():
    public = {n for n, x in vars(ln).items() if inspect.isclass(x) and issubclass(x, Inner)}
    made = {type(way(ln.Element())).__name__ for way in WAYS.values()}
    assert made == public - {"SparseWorkspace"}  # of temporaries: see test_workspace


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_two_levels(pair):
    outer, inner = pair
    if outer == "SparseTiles" and (inner in IN_ORDER or inner == "SparseCOO(2)"):
        with pytest.raises(FormatError, match="written in order, and tiles are not visited"):
            WAYS[outer](WAYS[inner](ln.Element(0.0)))
        return
    format = stack(WAYS[outer](WAYS[inner](ln.Element(0.0))))
    a = np.zeros((4,) * sum(2 if name in WIDE else 1 for name in pair))
    a[(2,) * a.ndim] = 3.0
    a[(1,) * a.ndim] = 0.0 if outer in "VP" else 5.0
    copy, dense = COPIES[a.ndim], ln.DENSE(a.ndim)
    stored = ln.asarray(a, format=format)
    np.testing.assert_array_equal(stored.to_numpy(), a)
    agree(copy, {"B": ln.empty_tensor(dense), "A": stored}, ("llvm",))
    written = ln.empty_tensor(format)
    np.testing.assert_array_equal(copy(written, a).to_numpy(), a)
    ln.from_buffers(written.format, a.shape, dict(written.buffers))  # which looks at them


@pytest.mark.parametrize("letters", "PSS PDS PDN DPK PDU VDS SPR PVP PVD HDR HDU HDS PDV".split())
def test_what_is_not_kept_leaves_no_trace(letters):
    """A child that several indices share, or that is given up, is written for each of them."""
    for seed in range(4):
        a = array_for(letters, (3, 4, 3), np.random.default_rng(seed))
        agree(copy_cube, {"B": ln.empty_tensor(nest(letters)), "A": ln.asarray(a)})
    a = np.zeros((4, 4, 4))
    a[2, 2, 2] = 3.0
    agree(copy_cube, {"B": ln.empty_tensor(nest(letters)), "A": ln.asarray(a)}, ("llvm",))
