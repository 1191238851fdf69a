"""Symmetric matrices: one half is stored, the whole is read; every entry once, where it can be."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from tests.levels.samples import agree

import linnet as ln
from linnet.errors import DiscordanceWarning, FormatError, ShapeError
from linnet.formats.named import as_format, stack
from linnet.testing import assert_equal

N = 9


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def many_products(Y, A, X):
    Y[...] = 0
    for i, j, k in ...:
        Y[i, k] += A[i, j] * X[j, k]
    return Y


@ln.kernel
def quadratic(s, A, x):
    s[...] = 0
    for i, j in ...:
        s[()] += x[i] * A[i, j] * x[j]
    return s


@ln.kernel
def largest(y, z, A):
    y[...] = -np.inf
    z[...] = 0
    for i, j in ...:
        a = A[j, i]
        y[i] = max(y[i], a)
        z[j] += a * a + 1
    return y, z


@ln.kernel
def difference(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] - B[i, j]
    return C


@ln.kernel
def upper(s, A):
    s[...] = 0
    for i, j in ...:
        if i <= j:
            s[()] += A[i, j]
    return s


@ln.kernel
def row_by_row(y, A, x):
    s = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        s[...] = 0
        for j in ...:
            s[()] += A[i, j] * x[j]
        y[i] = s[()]
    return y


@ln.kernel
def last_of_row(y, A):
    y[...] = -1
    for i, j in ...:
        if A[i, j] > 0:
            y[i] = j
    return y


@ln.kernel
def gathered(y, A, rows):
    y[...] = 0
    for k, j in ...:
        y[k] += A[rows[k], j] + A[j, rows[k]] + ln.coalesce(A[j, ~(rows[k] - 3)], 0)
    return y


def matrix(seed: int = 0, n: int = N) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a = np.where(rng.random((n, n)) < 0.4, rng.integers(-3, 6, (n, n)), 0).astype(float)
    return np.tril(a) + np.tril(a, -1).T


def vector(n: int = N) -> np.ndarray:
    return np.random.default_rng(9).integers(-3, 4, n).astype(float)


FORMATS = {
    "rows": ln.SYMMETRIC,
    "tiles": ln.SYMMETRIC_TILES,
    "small tiles": stack(ln.SparseSymmetricTiles(ln.Element(), rows=2)),
}


@pytest.fixture(params=FORMATS)
def symmetric(request):
    """Every way in which one half of a matrix is stored."""
    return FORMATS[request.param]


@pytest.mark.parametrize("n", [0, 1, 2, N])
def test_the_whole_is_read(symmetric, n):
    a, x = matrix(n=n), vector(n)
    A = ln.asarray(a, format=symmetric)
    assert A.nnz == np.count_nonzero(np.tril(a))
    assert_equal(A, a)
    assert_equal(product(ln.empty_tensor(ln.DENSE(1)), A, x), a @ x)
    assert_equal(row_by_row(ln.empty_tensor(ln.DENSE(1)), A, x), a @ x)


@pytest.mark.parametrize("transposed", [False, True])
def test_programs(symmetric, transposed):
    A = ln.asarray(matrix(), format=symmetric)
    A = A.T if transposed else A
    x, X = ln.asarray(vector()), ln.asarray(np.arange(3.0 * N).reshape(N, 3))
    B = ln.asarray(matrix(1), format=ln.CSR)
    empty = ln.empty_tensor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        agree(product, {"y": empty(ln.DENSE(1)), "A": A, "x": x}, ("llvm", "c"))
        agree(product, {"y": empty(ln.SparseList(ln.Element())), "A": A, "x": x}, ("llvm",))
        agree(many_products, {"Y": empty(ln.DENSE(2)), "A": A, "X": X}, ("llvm", "c"))
        agree(quadratic, {"s": ln.scalar(0.0), "A": A, "x": x}, ("llvm",))
        agree(largest, {"y": empty(ln.DENSE(1)), "z": empty(ln.DENSE(1)), "A": A}, ("llvm",))
        for format in (ln.CSR, ln.DENSE(2), ln.COO(2)):
            agree(difference, {"C": empty(format), "A": A, "B": B}, ("llvm",))
        agree(upper, {"s": ln.scalar(0.0), "A": A}, ("llvm",))
        agree(last_of_row, {"y": empty(ln.DENSE(1)), "A": A}, ("llvm", "c"))
        rows = ln.asarray([3, 8, 0])
        agree(gathered, {"y": empty(ln.DENSE(1)), "A": A, "rows": rows}, ("llvm", "c"))


def test_every_entry_is_read_once():
    """FINCH Fig. 19 comes out: one loop over the stored half, two results in it."""
    A, y = ln.asarray(matrix(), format=ln.SYMMETRIC), ln.empty_tensor(ln.DENSE(1))
    loops = product.loops(y, A, vector())
    assert "if j < i:" in loops
    code = product.code(y, A, vector())
    assert "BOUNDS" not in code  # its sides are equal, and what is below one is below the other
    inner = re.search(r"while \(A_q \+ 1 < A_q_end\) \{.*?\n      }", code, re.DOTALL)
    assert inner is not None
    for q, j, odd in (("A_q", "j", ""), ("A_q + 1", "j_2", "_odd")):  # two entries at a time
        assert f"y_sum{odd} += A_val[{q}] * x_val[{j}];" in inner[0]
        assert f"y_val[{j}] += A_val[{q}] * x_i;" in inner[0]
    assert not re.search(r"j < n_", code)


def test_a_transpose_is_walked_too(symmetric):
    A, x = ln.asarray(matrix(), format=symmetric).T, vector()
    with warnings.catch_warnings():
        warnings.simplefilter("error", DiscordanceWarning)
        assert_equal(product(ln.empty_tensor(ln.DENSE(1)), A, x), matrix() @ x)


def test_where_the_order_matters_nothing_is_exchanged(symmetric):
    A, y = ln.asarray(matrix(), format=symmetric), ln.empty_tensor(ln.DENSE(1))
    assert "stored" not in last_of_row.loops(y, A)
    assert "stored" not in row_by_row.loops(y, A, vector())


@pytest.mark.parametrize("format", ["csr", "csc", "dcsr", "coo", "dense", "band", "block", "rle"])
def test_conversions(symmetric, format):
    a = matrix(2)
    B = ln.asarray(a, format=symmetric).to(as_format(format, 2))
    assert_equal(B, a)
    again = B.to(symmetric)
    assert_equal(again, a)
    assert again.format.name == symmetric.name


def test_many_entries(symmetric):
    n = 400
    rng = np.random.default_rng(5)
    i, j = rng.integers(0, n, (2, 60_000))
    A = ln.tensor([i, j], np.ones(len(i)), (n, n), format=ln.CSR)
    dense = A.to_numpy()
    A = ln.asarray(dense + dense.T, format=symmetric)
    assert_equal(A, dense + dense.T)
    x = rng.random(n)
    y = product(ln.empty_tensor(ln.DENSE(1)), A, x)
    np.testing.assert_allclose(y.to_numpy(), (dense + dense.T) @ x)


@pytest.mark.parametrize("level", [ln.SparseSymmetric, ln.SparseSymmetricTiles])
def test_several_matrices_and_other_fills(level):
    a = np.stack([matrix(3), matrix(4)])
    tree = ln.Dense(level(ln.Element(0.0)))
    assert_equal(ln.asarray(a, format=stack(tree)), a)
    b = np.where(matrix(6) == 0, np.inf, matrix(6))
    B = ln.asarray(b, format=stack(level(ln.Element(np.inf))))
    assert_equal(B, b)
    rows = ln.asarray(matrix(7).reshape(N, N, 1).repeat(2, 2), format=level(
        ln.SparseList(ln.Element(0.0))
    ))  # fmt: skip
    assert_equal(rows, matrix(7).reshape(N, N, 1).repeat(2, 2))


def test_what_is_not_symmetric_is_refused(symmetric):
    a = matrix()
    a[5, 2] = 7
    with pytest.raises(FormatError, match=r"not symmetric: .*\[5, 2\] and \[2, 5\] differ"):
        ln.asarray(a, format=symmetric)
    with pytest.raises(FormatError, match="not symmetric"):
        ln.asarray(np.tril(np.ones((3, 3))), format=ln.CSR).to(symmetric)
    with pytest.raises(ShapeError, match="square, and this one has 2 rows and 3 columns"):
        ln.asarray(np.zeros((2, 3)), format=symmetric)


@ln.kernel
def gram(C, A):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * A[j, k]
    return C


@ln.kernel
def half(C, A):
    w = ln.temp(ln.SYMMETRIC)
    w[...] = 0
    for i, j in ...:
        w[i, j] = A[i, j]
    C[...] = 0
    for i, j in ...:
        C[i, j] = w[i, j]
    return C


@ln.kernel
def grow(C, A):
    for i, j in ...:
        C[i, j] += A[i, j]
    return C


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64"])
def test_results(symmetric, backend, dtype):
    a = np.random.default_rng(3).integers(-1, 2, (6, 4)).astype(dtype)
    C = ln.empty_tensor(symmetric)
    with ln.config(backend=backend, check=True):
        assert gram(C, ln.asarray(a, format=ln.CSR)) is C
    assert C.format == ln.asarray(a @ a.T, format=symmetric).format
    assert repr(C.format) == repr(ln.asarray(a @ a.T, format=symmetric).format)
    assert_equal(C, a @ a.T)
    assert len(C.buffers["idx0"]) == np.count_nonzero(np.tril(a @ a.T))
    assert "grow(C_" in gram.code(C, ln.asarray(a, format=ln.CSR))  # both halves are written


def test_results_with_another_fill_value(symmetric):
    b = np.where(matrix(6) == 0, np.inf, matrix(6))
    B = ln.asarray(b, format=symmetric.with_fill(np.inf))
    C = least(ln.empty_tensor(symmetric), B, B)
    assert_equal(C, b)
    assert C.fill_value == np.inf


@ln.kernel
def least(C, A, B):
    C[...] = np.inf
    for i, j in ...:
        C[i, j] = min(A[i, j], B[i, j])
    return C


@ln.kernel
def sums_of_indices(C):
    C[...] = 0
    for i, j in ...:
        C[i, j] = i + j
    return C


def test_results_have_the_shape_of_what_is_passed(symmetric):
    """Nothing else says how large it is."""
    C = sums_of_indices(ln.asarray(np.zeros((3, 3)), format=symmetric))
    assert C.format.name == symmetric.name
    assert_equal(C, np.add.outer(np.arange(3.0), np.arange(3.0)))
    with pytest.raises(ShapeError, match="`C` has no shape"):
        sums_of_indices(ln.empty_tensor(symmetric))


def test_results_that_are_not_symmetric_are_refused(symmetric):
    a, C = matrix(), ln.empty_tensor(symmetric)
    A = ln.asarray(a, format=symmetric)
    difference(C, A, ln.asarray(0 * a))
    lower = ln.asarray(np.tril(np.ones((N, N)), -1))
    with pytest.raises(
        FormatError, match=r"not symmetric: .*\[1, 0\] and \[0, 1\] differ"
    ) as error:
        difference(C, A, lower)
    assert "difference(C, A, lower)" in str(error.value)
    assert_equal(C, a)  # as it was
    with pytest.raises(ShapeError, match="square"):
        outer(ln.empty_tensor(symmetric), np.ones(2), np.ones(3))


@ln.kernel
def outer(C, x, y):
    C[...] = 0
    for i, j in ...:
        C[i, j] = x[i] * y[j]
    return C


def test_what_kernels_cannot_write(symmetric):
    A = ln.asarray(matrix(), format=symmetric)
    with pytest.raises(FormatError, match="`w` is written here, and a symmetric format is made"):
        half(ln.empty_tensor(ln.CSR), A)
    with pytest.raises(FormatError, match="updated without being declared"):
        grow(A.copy(), A)


GOOD = {"ptr0": [0, 1, 2, 4], "idx0": [0, 0, 0, 2], "val": [1.0, 2.0, 3.0, 4.0]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ptr0": [0, 1, 4]}, r"level0\.ptr"),
        ({"ptr0": [0, 2, 1, 4]}, r"level0\.ptr"),
        ({"idx0": [0, 0, 2, 0]}, r"row 2 of level0\.idx has 0 at position 3, after 2"),
        ({"idx0": [0, 2, 0, 2]}, r"level0\.idx\[1\] is 2, to the right of the diagonal in row 1"),
        ({"idx0": [0, 0, 0, 3]}, r"level0\.idx\[3\] is 3"),
        ({"val": [1.0, 2.0, 3.0]}, r"level1\.val"),
    ],
)
def test_bad_arrays(changes, message):
    A = ln.from_buffers(ln.SYMMETRIC, (3, 3), GOOD)
    assert_equal(A, np.array([[1.0, 2.0, 3.0], [2.0, 0.0, 0.0], [3.0, 0.0, 4.0]]))
    with pytest.raises(FormatError, match=message):
        ln.from_buffers(ln.SYMMETRIC, (3, 3), GOOD | changes)


@pytest.mark.parametrize("shape", [(0, 0, 1, 0), (2, 3, 1, 3)])
@pytest.mark.parametrize("level", [ln.SparseSymmetric, ln.SparseSymmetricTiles])
def test_an_operand_that_is_stored_anew_in_another_order_need_not_be_symmetric(level, shape):
    """The halves of rows and columns are not those of the two dimensions that come first now."""
    tree = ln.SparseHash(level(ln.SparseBlockList(ln.Element(0.0))))
    x = np.zeros(shape)
    x[:, :, 0, :] = np.eye(shape[1])
    X = ln.asarray(x, format=ln.empty_tensor(tree).format.with_order(0, 1, 3, 2))
    found = ln.where(ln.flip(X) == X, X, ln.flip(X))
    assert_equal(found, np.where(np.flip(x) == x, x, np.flip(x)))


@pytest.mark.parametrize(
    "change",
    [
        lambda xp, x: xp.reshape(x, (N * N,)),
        lambda xp, x: xp.reshape(x, (1, N, N)),
        lambda xp, x: xp.pad(x, [(1, 0), (0, 0)]),
        lambda xp, x: xp.pad(x, [(0, 0), (0, 2)]),
    ],
    ids=["flat", "deeper", "row", "columns"],
)
def test_what_is_made_of_a_symmetric_array_need_not_be_symmetric(symmetric, change):
    for many in (None, 0):
        with ln.config(many=many):
            assert_equal(change(ln, ln.asarray(matrix(), format=symmetric)), change(np, matrix()))
