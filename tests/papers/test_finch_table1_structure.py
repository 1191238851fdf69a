"""FINCH, Table 1, last column: structure, row by row.

The tests look at the code, too: what is known not to matter must not be visited.
"""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from tests.papers import test_finch_table1, test_finch_table1_conditions
from tests.papers.structures import (
    LIST,
    VECTOR,
    N,
    blocks,
    body,
    empty,
    every_structure,
    one_run,
    permutation,
    ragged,
    runs,
    scattered,
    values,
)
from tests.papers.test_finch_table1 import contraction, shifted

import linnet as ln
from linnet.errors import DiscordanceWarning, IndexBoundsError
from linnet.testing import assert_equal, dense

BSR = ln.Dense(ln.SparseList(ln.Dense(ln.Dense(ln.Element(0.0)))))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def full_loops(code: str, index: str) -> int:
    """How many loops run over all of a dimension, one index at a time."""
    return len(re.findall(rf"for \(i64 {index}\w* = 0; \w+ < n_{index}; \w+\+\+\)", code))


@ln.kernel
def copy(B, A):
    B[...] = 0
    for i, j in ...:
        B[i, j] = A[i, j] * 2
    return B


@ln.kernel
def total(s, A):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j]
    return s


@every_structure
def test_every_structure_is_a_result(rng, make, format):
    a = make(rng)
    B, packed = copy(empty(format), ln.asarray(a, format=format)), ln.asarray(2 * a, format=format)
    assert_equal(B, 2 * a)
    sizes = ({k: v.size for k, v in T.buffers.items() if "table" not in k} for T in (B, packed))
    assert next(sizes) == next(sizes)


def test_dense(rng):
    a, x = values(rng), rng.random(N)
    code = body(contraction, empty(), a, x)
    assert full_loops(code, "i") == full_loops(code, "j") == 1
    assert "while" not in code


@ln.kernel
def padded(y, x):
    y[...] = 0
    for i in ...:
        y[i] = ln.coalesce(x[~(i - 1)], 7) + x[i] + ln.coalesce(x[~(i + 2)], 0)
    return y


FIBERS = [VECTOR, LIST, ln.RunList(ln.Element(0.0)), ln.SparseBand(ln.Element(0.0))]


@pytest.mark.parametrize("format", FIBERS, ids=str)
def test_padded(rng, format):
    x = np.zeros(N)
    x[3:8] = rng.integers(1, 3, 5)
    y = padded(empty(), ln.asarray(x, format=format))
    assert_equal(y, np.append(7, x[:-1]) + x + np.append(x[2:], [0, 0]))


def test_padded_only_where_asked(rng):
    with pytest.raises(IndexBoundsError, match=r"x\[i \+ j\]"):
        shifted(empty(ln.DENSE(2)), empty(), values(rng), np.zeros(N))


def test_one_sparse_operand(rng):
    A = ln.asarray(scattered(rng), format=ln.CSR)
    code = body(contraction, empty(), A, rng.random(N))
    assert full_loops(code, "j") == 0
    assert "while" not in code


@ln.kernel
def meet(s, A, B):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j] * B[i, j]
    return s


@ln.kernel
def join(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]
    return C


@every_structure
def test_multiple_sparse_operands(rng, make, format):
    """A structured matrix meets a list, and itself."""
    a, b = make(rng), scattered(rng)
    A, B = ln.asarray(a, format=format), ln.asarray(b, format=ln.CSR)
    for left, right in ((A, B), (B, A), (A, A)):
        expected = dense(left) * dense(right)
        assert_equal(meet(ln.scalar(0.0), left, right), np.asarray(expected.sum()))
        assert_equal(join(empty(ln.CSR), left, right), dense(left) + dense(right))


def test_multiple_sparse_operands_are_merged(rng):
    A, B = (ln.asarray(scattered(rng), format=ln.CSR) for _ in range(2))
    for kernel, result in ((meet, ln.scalar(0.0)), (join, empty(ln.CSR))):
        assert full_loops(body(kernel, result, A, B), "j") == 0


def test_run_length(rng):
    """Sums over runs are products; runs meet at their ends, and are written as runs."""
    a, b = runs(rng), runs(rng)
    A, B = ln.asarray(a, format=ln.RLE), ln.asarray(b, format=ln.SRLE)
    for kernel, operands in ((total, (A,)), (meet, (A, B))):
        s = ln.scalar(0.0)
        kernel(s, *operands)
        assert_equal(s, np.asarray((a if kernel is total else a * b).sum()))
        code = body(kernel, s, *operands)
        assert full_loops(code, "j") == 0
        assert not re.search(r"for \(i64 j", code)


def test_run_length_results(rng):
    a, b = runs(rng), runs(rng)
    A, B = ln.asarray(a, format=ln.RLE), ln.asarray(b, format=ln.RLE)
    C = join(empty(ln.RLE), A, B)
    assert_equal(C, a + b)
    assert C.nnz == 1 * N + (np.diff(a + b, axis=1) != 0).sum()
    assert not re.search(r"for \(i64 j", body(join, empty(ln.RLE), A, B))


@ln.kernel
def symmetric(y, U, D, x):
    y_i = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        x_i = x[i]
        y_i[...] = 0
        for j in ...:
            u = U[i, j]
            y[j] += u * x_i
            y_i[()] += u * x[j]
        y[i] += y_i[()] + D[i] * x_i
    return y


@ln.kernel
def symmetric_by_mask(y, A, x):
    y[...] = 0
    for i, j in ...:
        if i < j:
            a = A[i, j]
            y[i] += a * x[j]
            y[j] += a * x[i]
        elif i == j:
            y[i] += A[i, j] * x[i]
    return y


@pytest.mark.parametrize("format", [ln.CSR, ln.TRIANGULAR, ln.DENSE(2), ln.BLOCK, ln.RLE], ids=str)
def test_symmetric(rng, format):
    """Every entry of one triangle is read once, and written twice."""
    a, x = scattered(rng), rng.integers(0, 5, N).astype(float)
    a = a + a.T
    U = ln.asarray(np.triu(a, 1), format=format)
    y = symmetric(empty(), U, a.diagonal().copy(), x)
    assert_equal(y, a @ x)
    assert_equal(symmetric_by_mask(empty(), ln.asarray(a, format=format), x), a @ x)


def test_symmetric_format(rng):
    """The plain program, on a format that stores one half."""
    a, x = scattered(rng), rng.integers(0, 5, N).astype(float)
    a = a + a.T
    A = ln.asarray(a, format=ln.SYMMETRIC)
    assert A.nnz == np.count_nonzero(np.tril(a))
    assert_equal(contraction(empty(), A, x), a @ x)
    assert "if j < i:" in contraction.loops(empty(), A, x)
    assert_equal(contraction(empty(), A.to(ln.SYMMETRIC_TILES), x), a @ x)


def test_symmetric_reads_once(rng):
    U = ln.asarray(np.triu(scattered(rng), 1), format=ln.CSR)
    code = body(symmetric, empty(), U, rng.random(N), rng.random(N))
    pairs, last = code.split("U_q += 2;")  # two entries at a time, and the one that may be left
    assert re.findall(r"U_val\[(.*?)\]", pairs) == ["U_q", "U_q + 1"]
    assert re.findall(r"U_val\[(.*?)\]", last) == ["U_q"]
    assert full_loops(code, "j") == 0


@ln.kernel
def by_blocks(y, A, x):
    y[...] = 0
    for i, j, p, q in ...:
        y[i, p] += A[i, j, p, q] * x[j, q]
    return y


def test_regular_sparse_blocks(rng):
    """Blocks of one size: a list of dense matrices. The index array has one entry for each."""
    kept = rng.random((3, 3)) < 0.5
    a = np.where(kept.repeat(4, 0).repeat(4, 1), values(rng), 0)
    x = rng.integers(0, 5, N).astype(float)
    A = ln.asarray(a.reshape(3, 4, 3, 4).transpose(0, 2, 1, 3).copy(), format=BSR)
    assert A.buffers["idx1"].size == kept.sum()
    y = by_blocks(empty(ln.DENSE(2)), A, x.reshape(3, 4))
    assert_equal(y, (a @ x).reshape(3, 4))
    assert full_loops(body(by_blocks, y, A, x.reshape(3, 4)), "j") == 0


def test_regular_sparse_blocks_of_a_matrix(rng):
    """The same as a matrix: `A[i, j]` finds its block."""
    kept = rng.random((3, 3)) < 0.5
    a = np.where(kept.repeat(4, 0).repeat(4, 1), values(rng), 0)
    x = rng.integers(0, 5, N).astype(float)
    A = ln.asarray(a, format=ln.BSR(4, 4))
    assert A.buffers["idx1"].size == kept.sum()
    assert_equal(contraction(empty(), A, x), a @ x)
    assert full_loops(body(contraction, empty(), A, x), "j") == 0


def test_irregular_sparse_blocks(rng):
    """Blocks of any length: no index for every element, and neighbours stay neighbours."""
    A = ln.asarray(blocks(rng), format=ln.BLOCK)
    assert A.buffers["idx1"].size < A.buffers["val"].size / 3
    code = body(contraction, empty(), A, rng.random(N))
    assert full_loops(code, "j") == 0
    assert not re.search(r"x_val\[A_idx", code)


def test_ragged(rng):
    """Rows of any length, and no index array: one loop per row, to its end."""
    a = ragged(rng)
    A = ln.asarray(a, format=ln.RAGGED)
    assert A.buffers["idx1"].tolist() == (a != 0).sum(1).tolist()
    code = body(contraction, empty(), A, rng.random(N))
    assert full_loops(code, "j") == 0
    assert "while" not in code
    assert not re.search(r"x_val\[A_idx", code)


def test_permutation_has_no_inner_loop(rng):
    """There is a loop over rows, and none within a row."""
    A = ln.asarray(permutation(rng), format=ln.PERM)
    code = body(contraction, empty(), A, rng.random(N))
    assert set(re.findall(r"for \(\w+ (\w+)", code)) == {"i"}
    for row in re.findall(r"for \(i64 i = .*?y_val\[i\] = y_i;", code, re.DOTALL):
        assert row.count("x_val[") == 1
    assert "while" not in code


def test_one_run_has_no_inner_loop(rng):
    A = ln.asarray(one_run(rng), format=ln.Dense(ln.SparseInterval(ln.Element())))
    code = body(total, ln.scalar(0.0), A)
    assert code.count("for (") == 1
    assert "while" not in code


@ln.kernel
def against_the_order(s, A):
    s[...] = 0
    for j, i in ...:
        s[()] += A[i, j]
    return s


@every_structure
def test_against_the_order(rng, make, format):
    a = make(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        s = against_the_order(ln.scalar(0.0), ln.asarray(a, format=format))
    assert_equal(s, np.asarray(a.sum()))


ROWS = """
    einsums_and_contractions multiple_left_hand_sides affine_indices recurrence if_conditions masks
    scatter_and_gather early_break unrestricted_read_and_write dense padded one_sparse_operand
    multiple_sparse_operands run_length symmetric regular_sparse_blocks irregular_sparse_blocks
    ragged
""".split()


def test_every_row_of_the_table_has_a_test():
    found = vars(test_finch_table1) | vars(test_finch_table1_conditions) | globals()
    assert not [row for row in ROWS if not callable(found.get(f"test_{row}"))]
