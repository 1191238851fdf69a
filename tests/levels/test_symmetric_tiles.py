"""Symmetric matrices in tiles: what is stored, which programs walk it, and what is refused."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from tests.levels.samples import agree
from tests.levels.test_symmetric import (
    gathered,
    largest,
    many_products,
    matrix,
    product,
    quadratic,
    row_by_row,
    vector,
)

import linnet as ln
from linnet.errors import DiscordanceWarning, FormatError, IndexBoundsError
from linnet.formats.named import stack
from linnet.testing import assert_equal

N = 9
SMALL = stack(ln.SparseSymmetricTiles(ln.Element(), rows=2))
SINGLE = stack(ln.SparseSymmetricTiles(ln.Element(), rows=1))


def result() -> ln.Tensor:
    return ln.empty_tensor(ln.DENSE(1))


def large(n: int, stored: int, seed: int = 0) -> sp.csr_array:
    """A symmetric matrix of many rows, some of whose entries are on the diagonal."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, stored))
    i[:9], j[:9] = n - 1 - np.arange(9), n - 1 - np.arange(9)
    values = rng.integers(1, 9, stored).astype(float)
    a = sp.csr_array(sp.coo_array((values, (i, j)), shape=(n, n)))
    return sp.csr_array(a + a.T)


def test_words():
    """The list of a tile is by columns; the last one is the diagonal."""
    a = np.zeros((5, 5))
    for i, j, value in ((1, 0, 1), (4, 0, 2), (4, 1, 3), (3, 2, 4), (2, 2, 5), (4, 4, 6)):
        a[i, j] = a[j, i] = value
    A = ln.asarray(a, format=SMALL)
    assert A.buffers["ptr0"].tolist() == [0, 1, 2, 4, 6]
    assert A.buffers["idx0"].tolist() == [1, 5, 0, 2, 2, 4]
    assert A.buffers["val"].tolist() == [1, 4, 2, 3, 5, 6]
    assert_equal(A, a)


@pytest.mark.parametrize("rows", [1, 2048, 32768])
@pytest.mark.parametrize("n", [65536, 65537, 150_000])
def test_several_tiles_beside_each_other(n, rows):
    if rows == 1 and n > 65537:
        n = 131_073
    a = large(n, 3000)
    usual = rows == ln.SparseSymmetricTiles.rows
    others = ln.SparseSymmetricTiles(ln.Element(), rows=rows)
    A = ln.asarray(a).to(ln.SYMMETRIC_TILES if usual else others)
    assert len(A.buffers["ptr0"]) == -(-n // rows) * -(-n // 65536) + 2
    assert A.buffers["idx0"].dtype == "int32"
    x = np.arange(n) % 7.0
    assert_equal(product(result(), A, x), a @ x)
    B = A.to(ln.CSR)
    assert np.array_equal(B.buffers["idx1"], a.indices)
    assert np.array_equal(B.buffers["val"], a.data)
    again = ln.from_buffers(A.format, A.shape, dict(A.buffers))
    rng = np.random.default_rng(1)
    picked = rng.integers(0, a.nnz, 40)
    rows_, columns = sp.coo_array(a).coords
    i = np.append(rows_[picked], rng.integers(0, n, 40))
    j = np.append(columns[picked], rng.integers(0, n, 40))
    assert_equal(elements(result(), again, i, j), np.asarray(a[i, j]).ravel())
    assert_equal(elements(result(), again, j, i), np.asarray(a[i, j]).ravel())


@ln.kernel
def elements(y, A, i, j):
    y[...] = 0
    for k in ...:
        y[k] = A[i[k], j[k]]
    return y


@ln.kernel
def shortest(y, A, x):
    y[...] = np.inf
    for i, j in ...:
        y[i] = min(y[i], A[i, j] + x[j])
    return y


@ln.kernel
def together(y, A, B, x):
    y[...] = 0
    for i, j in ...:
        y[j] += (A[i, j] + B[j, i]) * x[i]
    return y


@ln.kernel
def scaled(C, A, x):
    C[...] = 0
    for i, j in ...:
        C[i, j] += A[i, j] * x[j]
    return C


@ln.kernel
def beside(y, A, x):
    y[...] = 0
    for i, j in ...:
        if i < j:
            y[i] += A[i, j] * x[i] * j
    return y


@pytest.mark.parametrize("format", [ln.SYMMETRIC_TILES, SMALL, SINGLE, SMALL.with_order(1, 0)])
def test_programs_that_walk_the_lists(format):
    A, x = ln.asarray(matrix(), format=format), ln.asarray(vector())
    X, empty = ln.asarray(np.arange(3.0 * N).reshape(N, 3)), ln.empty_tensor
    far = np.where(matrix() == 0, np.inf, matrix())
    D = ln.asarray(far, format=format.with_fill(np.inf))
    programs = [
        (product, {"y": result(), "A": A, "x": x}),
        (product, {"y": empty(ln.SparseList(ln.Element())), "A": A, "x": x}),
        (product, {"y": result(), "A": A, "x": x.to(ln.SparseList(ln.Element()))}),
        (many_products, {"Y": empty(ln.DENSE(2)), "A": A, "X": X}),
        (many_products, {"Y": empty(ln.CSR), "A": A, "X": X.to(ln.CSR)}),
        (quadratic, {"s": ln.scalar(0.0), "A": A, "x": x}),
        (shortest, {"y": result(), "A": D, "x": x}),
        (shortest, {"y": result(), "A": D, "x": x.to(ln.SparseList(ln.Element()))}),
        (scaled, {"C": empty(ln.DENSE(2)), "A": A, "x": x}),
        (scaled, {"C": empty(ln.CSR), "A": A, "x": x}),
        (beside, {"y": result(), "A": A, "x": x}),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        for kernel, arguments in programs:
            assert "ln.word(" in kernel.loops(*arguments.values()), kernel.__name__
            agree(kernel, arguments, ("llvm", "c"))


@ln.kernel
def weighted(C, A, B, s):
    C[...] = 0
    c = s[()] + 1
    for i, j in ...:
        C[j, i] = c * A[i, j] * B[i, j]
    return C


@ln.kernel
def differences(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] - B[j, i]
    return C


@ln.kernel
def last_values(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] = A[i, j]
    return y


@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO(2), ln.DENSE(2), ln.CSC], ids=repr)
def test_assignments(format):
    """Every element is written once, wherever it lies; nothing is stored where nothing is."""
    A, B = (ln.asarray(matrix(k), format=ln.SYMMETRIC_TILES) for k in (0, 1))
    C, s = ln.empty_tensor(format), ln.scalar(2.0)
    for other in (B, B.to(ln.CSR), B.to(SMALL)):
        arguments = {"C": ln.empty_tensor(format), "A": A, "B": other, "s": s}
        assert "ln.word(" in weighted.loops(*arguments.values())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscordanceWarning)
            agree(weighted, arguments, ("llvm", "c"))
            both = weighted(ln.empty_tensor(format), A, other, s)
        if format != ln.DENSE(2):
            assert both.nnz == np.count_nonzero(matrix(0) * matrix(1))
    assert "ln.word(" in differences.loops(C, A, B)
    agree(differences, {"C": ln.empty_tensor(format), "A": A, "B": B}, ("llvm", "c"))


def test_assignments_that_meet_are_left_alone():
    A = ln.asarray(matrix(), format=SMALL)
    assert "ln.word(" not in last_values.loops(result(), A)
    agree(last_values, {"y": result(), "A": A}, ("llvm",))


def test_how_much_is_collected_is_known():
    """As much as is stored, twice; and not the words that there might be."""
    A = ln.asarray(large(20_000, 5000)).to(ln.SYMMETRIC_TILES)
    why = ln.explain(differences, ln.empty_tensor(ln.CSR), A, A)["results"]
    assert re.search(r"about 2e\+04 updates", why)


@pytest.mark.parametrize("other", ["tiles", "other tiles", "rows", "csr", "dense"])
def test_two_operands(other):
    formats = {
        "tiles": ln.SYMMETRIC_TILES, "other tiles": SMALL, "rows": ln.SYMMETRIC, "csr": ln.CSR,
        "dense": ln.DENSE(2),
    }  # fmt: skip
    A = ln.asarray(matrix(), format=ln.SYMMETRIC_TILES)
    B, x = ln.asarray(matrix(1), format=formats[other]), ln.asarray(vector())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        # what B adds where A stores nothing is not to be found in A's lists
        walked = "ln.word(" in together.loops(result(), A, B, x)
        assert walked == (other == "tiles")
        for pair in ((A, B), (B, A)):
            agree(together, {"y": result(), "A": pair[0], "B": pair[1], "x": x}, ("llvm", "c"))


def test_programs_that_do_something_everywhere():
    A, x = ln.asarray(matrix(), format=SMALL), vector()
    assert "ln.word(" not in largest.loops(result(), result(), A)
    assert "ln.word(" not in row_by_row.loops(result(), A, x)
    assert "ln.word(" not in gathered.loops(result(), A, np.array([3, 1]))
    assert "ln.word(" not in shortest.loops(result(), A, x)  # its fill is 0


@ln.kernel
def onto(y, A, x):
    for i, j in ...:
        if A[i, j] != 0:
            y[i] += A[i, j] * x[j + 1]
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j]
    return y


def test_what_may_be_shorter_is_tested():
    """`y` begins anew, and is another then; how far `j + 1` goes, no list says."""
    a, x = matrix(), np.append(vector(), 3.0)
    a[0, N - 1] = a[N - 1, 0] = 2
    for format in (ln.SYMMETRIC_TILES, SMALL):
        A, y = ln.asarray(a, format=format), ln.asarray(np.zeros(N))
        assert "BOUNDS" in onto.code(y, A, x)
        with pytest.raises(IndexBoundsError):
            onto(y, A, vector())
        assert_equal(onto(y, A, x), a.sum(axis=1))


@ln.kernel
def lower_sums(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, ln.stored(j)]
    return y


def test_what_is_stored():
    for format in (ln.SYMMETRIC, ln.SYMMETRIC_TILES, SMALL):
        A = ln.asarray(matrix(), format=format)
        assert_equal(lower_sums(result(), A), np.tril(matrix()).sum(axis=1))


def test_nothing_is_added_up_for_a_row():
    A = ln.asarray(matrix(), format=ln.SYMMETRIC_TILES)
    code = product.code(result(), A, vector())
    body = code[code.index("i64 product(") :]
    assert "sum" not in body
    assert "BOUNDS" not in body  # what is stored lies inside the matrix, and x and y are as long
    assert not re.search(r"[/%]", body.split("// A_word")[1].split("\n      }")[0])


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex128"])
def test_values(dtype):
    a = matrix().astype(dtype)
    a = a * (1 + 2j) if dtype == "complex128" else a  # symmetric, and not Hermitian
    A = ln.asarray(a, format=SMALL)
    x = np.arange(N).astype("complex128" if dtype == "complex128" else "int64")
    assert A.dtype == dtype
    assert_equal(product(result(), A, x), a @ x)
    if dtype == "bool":
        B = ln.asarray(a, format=ln.SparseSymmetricTiles(ln.Pattern(), rows=4))
        assert_equal(product(result(), B, x), a @ x)


def test_what_is_printed():
    assert repr(ln.SYMMETRIC_TILES) == "SYMMETRIC_TILES"
    assert repr(ln.SparseSymmetricTiles(ln.Element())) == "SparseSymmetricTiles(Element())"
    assert repr(SMALL) == "SparseSymmetricTiles(Element(), rows=2)"
    assert "[1, 0]  5.0" in str(ln.asarray([[0.0, 5.0], [5.0, 1.0]], format=SMALL))


@pytest.mark.parametrize("rows", [0, 3, -2, 65536, True, 2.0, "2"])
def test_rows_of_a_tile(rows):
    with pytest.raises(FormatError, match=r"a tile has 1, 2, 4 … or 32768 rows, not"):
        ln.SparseSymmetricTiles(ln.Element(), rows=rows)


def test_too_many_tiles():
    n = 1 << 27
    with pytest.raises(FormatError, match=r"134217728 rows has 134217728 tiles .* than 67108864"):
        ln.tensor([[1], [1]], [1.0], (n, n), format=ln.SYMMETRIC_TILES)
    empty = {"ptr0": [0], "idx0": [], "val": []}
    with pytest.raises(FormatError, match="more than 67108864"):
        ln.from_buffers(ln.SYMMETRIC_TILES, (n, n), empty)
    tall = ln.SparseSymmetricTiles(ln.Element(), rows=32768)
    A = ln.tensor([[1, n - 1], [1, n - 1]], [1.0, 2.0], (n, n), format=tall)
    assert A[n - 1, n - 1].item() == 2.0


GOOD = {"ptr0": [0, 1, 3, 5], "idx0": [1, 1, 2, 0, 3], "val": [1.0, 2.0, 3.0, 4.0, 5.0]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ptr0": [0, 1, 5]}, r"level0\.ptr has 3 elements, and 4 are called for"),
        ({"ptr0": [0, 3, 1, 5]}, r"level0\.ptr falls from 3 to 1"),
        ({"idx0": [1, 2, 1, 0, 3]}, r"tile 1 of level0\.idx has 1 at position 2, after 2"),
        ({"idx0": [1, 1, 1, 0, 3]}, r"tile 1 of level0\.idx has 1 at position 2, after 1"),
        ({"idx0": [0, 1, 2, 0, 3]}, r"idx\[0\] is 0, the place \[0, 0\] in tile 0, not below"),
        ({"idx0": [3, 1, 2, 0, 3]}, r"idx\[0\] is 3, the place \[1, 1\] in tile 0, not below"),
        ({"idx0": [1, 1, 9, 0, 3]}, r"idx\[2\] is 9, the place \[3, 4\] in tile 1, not below"),
        ({"idx0": [1, 1, 2, 0, 4]}, r"idx\[4\] is 4, the place \[4, 4\] in tile 2, outside"),
        ({"idx0": [-1, 1, 2, 0, 3]}, r"level0\.idx\[0\] is -1, outside"),
        ({"idx0": [1, 1, 131072, 0, 3]}, r"level0\.idx\[2\] is 131072, outside"),
        ({"val": [1.0, 2.0, 3.0]}, r"level1\.val"),
    ],
)
def test_bad_arrays(changes, message):
    A = ln.from_buffers(SMALL, (4, 4), GOOD)
    a = np.array([[4, 1, 0, 2], [1, 0, 3, 0], [0, 3, 0, 0], [2, 0, 0, 5]], float)
    assert_equal(A, a)
    with pytest.raises(FormatError, match=message):
        ln.from_buffers(SMALL, (4, 4), GOOD | changes)


def test_rows_beyond_the_matrix():
    good = {"ptr0": [0, 0, 1, 1], "idx0": [0], "val": [1.0]}
    assert_equal(ln.from_buffers(SMALL, (3, 3), good), np.array([[0, 0, 1], [0] * 3, [1, 0, 0.0]]))
    with pytest.raises(FormatError, match=r"the place \[3, 0\] in tile 1, outside the matrix"):
        ln.from_buffers(SMALL, (3, 3), good | {"idx0": [1]})
