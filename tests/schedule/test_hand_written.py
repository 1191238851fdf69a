"""Tiles that are written by hand: it is proved that they follow one another."""

from __future__ import annotations

import linecache
import textwrap

import numpy as np
import pytest
from tests.visits import work

import linnet as ln

# loops around the rows i of A, 8 of them in a tile
IN_ORDER = {
    "times": """
        for t in range(A.shape[0] // 8 + 1):
            for i in range(8 * t, min(A.shape[0], 8 * t + 8)):
    """,
    "next": """
        for t in range(A.shape[0] // 8 + 1):
            for i in range(t * 8, min((t + 1) * 8, A.shape[0])):
    """,
    "both ends": """
        for t in range(A.shape[0] // 8 + 1):
            for i in range(min(A.shape[0], 8 * t), min(A.shape[0], 8 * (1 + t))):
    """,
    "names": """
        for t in range(A.shape[0] // 8 + 1):
            lo = 8 * t
            hi = min(A.shape[0], lo + 8)
            for i in range(lo, hi):
    """,
    "from elsewhere": """
        for t in range(-2, A.shape[0] // 8 + 1):
            for i in range(max(0, 8 * t - 8 + 8), min(max(8 * t + 8, 0), A.shape[0])):
    """,
    "tiles of tiles": """
        for t in range(A.shape[0] // 8 + 1):
            for u in range(2):
                for i in range(8 * t + 4 * u, min(A.shape[0], 8 * t + 4 * u + 4)):
    """,
    "counted on": """
        for t in range(A.shape[0] // 8 + 1):
            for u in range(2 * t, 2 * t + 2):
                for i in range(4 * u, min(A.shape[0], 4 * u + 4)):
    """,
}
NOT_IN_ORDER = {
    "overlapping": """
        for t in range(A.shape[0] // 8 + 1):
            for i in range(8 * t, min(A.shape[0], 8 * t + 9)):
    """,
    "backwards": """
        for t in range(A.shape[0] // 8 + 1):
            for i in range(max(0, A.shape[0] - 8 * t - 8), A.shape[0] - 8 * t):
    """,
    "again": """
        for t in range(3):
            for i in range(A.shape[0]):
    """,
}


def kernel_of(nest: str) -> ln.Kernel:
    """A product with 2 by rows, in these loops."""
    loops = textwrap.dedent(nest).strip().splitlines()
    depth = len(loops[-1]) - len(loops[-1].lstrip()) + 8
    lines = ["@ln.kernel", "def tiled(C, A):", "    C[...] = 0"]
    lines += [f"    {line}" for line in loops]
    lines += [" " * depth + "for j in ...:", " " * (depth + 4) + "C[i, j] = A[i, j] * 2"]
    text, file = "\n".join(lines) + "\n", f"<{hash(nest)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, object] = {"ln": ln}
    exec(compile(text, file, "exec"), names)
    kernel = names["tiled"]
    assert isinstance(kernel, ln.Kernel)
    return kernel


@pytest.fixture
def rows() -> np.ndarray:
    rng = np.random.default_rng(2)
    A = rng.integers(1, 9, (45, 300)) * (rng.random((45, 300)) < 0.05)
    A[10:20] = 0
    return A.astype(float)


@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO(2)], ids=str)
@pytest.mark.parametrize("spelling", IN_ORDER)
def test_tiles_in_order_stay_sparse(rows, spelling, format):
    A, C = ln.asarray(rows, format=format), ln.empty_tensor(format)
    tiled, plain = kernel_of(IN_ORDER[spelling]), kernel_of("for i in range(A.shape[0]):")
    assert "Sparse" not in tiled.loops(C, A)  # no temporary
    assert np.array_equal(tiled(C, A).to_numpy(), 2 * rows)
    searches = 8 * 2 * 16  # two in each tile, of DCSR and COO
    assert work(tiled, C, A) <= work(plain, C, A) + 2 * len(rows) + searches


LEVELS = [ln.Dense, ln.SparseList, ln.SparseByteMap, ln.SparseHash, ln.SparseBand]
LEVELS += [ln.SparseBlockList, ln.RunList, ln.SparseRunList]


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.__name__)
@pytest.mark.parametrize("spelling", [*IN_ORDER, *NOT_IN_ORDER])
def test_tiles_of_any_level(rows, spelling, level):
    """A level that is written in one go is opened around all tiles."""
    nest = {**IN_ORDER, **NOT_IN_ORDER}[spelling]
    for format in (ln.Dense(level(ln.Element())), level(ln.SparseList(ln.Element()))):
        C = ln.zeros(rows.shape, format=format)
        kernel_of(nest)(C, ln.asarray(rows, format=ln.CSR))
        assert np.array_equal(C.to_numpy(), 2 * rows)


@ln.kernel
def by_columns(C, A):
    C[...] = 0
    for i in ...:
        for t in range(A.shape[1] // 32 + 1):
            for j in range(32 * t, min(A.shape[1], 32 * t + 32)):
                C[i, j] = A[i, j] * 2
    return C


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.__name__)
def test_tiles_inside_rows(rows, level):
    C = by_columns(ln.empty_tensor(ln.Dense(level(ln.Element()))), ln.asarray(rows, format=ln.CSR))
    assert np.array_equal(C.to_numpy(), 2 * rows)


@ln.kernel
def of_tiles(C, A):
    C[...] = 0
    for t in range(A.shape[0] // 8 + 1):
        for i in range(8 * t, min(A.shape[0], 8 * t + 8)):
            for j in ...:
                C[t, j] += A[i, j]
    return C


@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.DENSE(2)], ids=str)
def test_a_counter_that_is_a_coordinate_is_a_loop_like_others(rows, format):
    C = ln.zeros((6, rows.shape[1]), format=format)
    expected = np.add.reduceat(rows, range(0, 45, 8))
    assert np.array_equal(of_tiles(C, ln.asarray(rows, format=ln.CSR)).to_numpy(), expected)


@ln.kernel
def far_apart(y, x, k):
    y[...] = 0
    for t in range(k[()]):
        for i in range(4611686018427387904 * t, min(x.shape[0], 4611686018427387904 * t + 8)):
            y[i] += x[i]
    return y


def test_factors_that_wrap_prove_nothing():
    """Every fourth tile would begin at 0 again."""
    x = ln.asarray(np.ones(9))
    assert np.array_equal(
        far_apart(ln.empty_tensor(ln.DENSE(1)), x, ln.scalar(1)).to_numpy(), [1.0] * 8 + [0]
    )
