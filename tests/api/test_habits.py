"""Methods under the names of SciPy, NumPy and PyData/Sparse: right, or a word on what to write."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as solvers

import linnet as ln

BY_ROWS = ln.Dense(ln.SparseList(ln.SparseHash(ln.Element())))
HASHED = ln.Dense(ln.SparseHash(ln.Element()))
FORMATS = ["csr", "coo", ln.BSR(2, 3), ln.DENSE, HASHED]
a = sp.random_array((12, 9), density=0.3, format="csr", rng=0)
a.data[::4] = 0  # stored zeros


@pytest.fixture(params=FORMATS, ids=str)
def A(request: pytest.FixtureRequest) -> ln.Tensor:
    return ln.asarray(a, format=request.param)


def equal(found: object, expected: object) -> bool:
    dense = expected.toarray() if sp.issparse(expected) else np.asarray(expected)
    assert isinstance(found, ln.Tensor)
    return found.shape == dense.shape and np.allclose(found.to_numpy(), dense)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_conversions(A: ln.Tensor, kind: str):
    found = getattr(A, f"to{kind}")()
    assert found.format.name == (kind.upper() if kind != "coo" else "COO(2)")
    assert equal(found, a)
    assert equal(A.asformat(kind), a)


def test_what_is_asked_for_as_numpy_has_it_may_be_written_to(A: ln.Tensor):
    for found in (A.toarray(), A.todense()):
        assert np.array_equal(found, a.toarray())
        found[0, 0] = 7.0
    assert np.array_equal(A.to_numpy(), a.toarray())


def test_lists_are_operands(A: ln.Tensor):
    x, rows = [float(k) for k in range(9)], [[1, 2], *[[0, k] for k in range(8)]]
    dense = a.toarray()
    assert equal(A @ x, dense @ x)
    assert equal(A @ tuple(x), dense @ x)
    assert equal(list(range(12)) @ A, np.arange(12) @ dense)
    assert equal(A @ rows, dense @ np.array(rows))
    assert equal(A + x, dense + x)
    assert equal([2] * A, dense * 2)
    assert equal(A == [0.0] * 9, dense == 0)
    assert equal((ln.lazy(A) * x).compute(), dense * x)
    A += x
    assert equal(A, dense + x)
    with pytest.raises(ln.errors.ShapeError, match="differ in length"):
        A @ [1, [2], 3]
    with pytest.raises(TypeError, match="unsupported operand"):
        A @ "x"


def test_blocks_need_a_size(A: ln.Tensor):
    assert A.tobsr((3, 3)).format == A.to(ln.BSR(3, 3)).format
    with pytest.raises(ln.LinnetError, match="how large"):
        A.tobsr()


def test_parts(A: ln.Tensor):
    for k in (0, 2, -3):
        assert equal(A.diagonal(k), a.diagonal(k))
        assert np.isclose(A.trace(k).item(), a.trace(k))
    assert A.diagonal(offset=1).shape == (8,)
    assert A.to_scipy_sparse().shape == a.shape
    assert A.getnnz() == A.nnz
    assert A.density == A.nnz / A.size


def test_how_much_is_stored_along_a_dimension():
    for kind in ("csr", "csc", "coo"):
        A = ln.asarray(a, format=kind)
        assert equal(A.getnnz(axis=0), np.bincount(a.indices, minlength=9))
        assert equal(A.getnnz(axis=1), np.diff(a.indptr))


def test_arrays_of_compressed_matrices():
    for kind in ("csr", "csc"):
        A, b = ln.asarray(a, format=kind), a.asformat(kind)
        assert np.array_equal(A.indptr, b.indptr)
        assert np.array_equal(A.indices, b.indices)
    A, b = ln.asarray(a, format="coo"), a.tocoo()
    assert np.array_equal(A.row, b.row)
    assert np.array_equal(A.col, b.col)
    for name in ("indptr", "indices"):
        with pytest.raises(AttributeError, match="buffers"):
            getattr(A, name)


@pytest.mark.parametrize("name", ["multiply", "maximum", "minimum"])
def test_pairs(A: ln.Tensor, name: str):
    other = sp.random_array(a.shape, density=0.4, format="csr", rng=1)
    assert equal(getattr(A, name)(other), getattr(a, name)(other))
    assert equal(getattr(A, name)(ln.asarray(other)), getattr(a, name)(other))


def test_powers_and_rounding(A: ln.Tensor):
    assert equal(A.power(2), a.power(2))
    assert equal(A**2, a**2)
    assert A.power(2, dtype="float32").dtype == np.float32
    assert equal(A.round(1), np.round(a.toarray(), 1))
    assert equal(round(A, 2), round(a, 2))
    assert equal(A.cumsum(0), a.toarray().cumsum(0))
    assert equal(A.cumsum(), a.toarray().cumsum())
    assert equal(A.cumprod(1), a.toarray().cumprod(1))
    assert equal(A.swapaxes(0, 1), a.T)
    assert equal(A.tensordot(a.T, axes=1), (a @ a.T))


@pytest.mark.parametrize(
    "name",
    "sqrt sign floor ceil trunc rint log1p expm1 sin tan sinh tanh arcsin arctan arcsinh arctanh "
    "deg2rad rad2deg conjugate".split(),
)
def test_functions_of_values(name: str):
    A = ln.asarray(a)
    found = getattr(A, name)()
    assert equal(found, getattr(a, name)())
    assert found.fill_value == 0
    assert getattr(ln.Tensor, name).__name__ == name


@pytest.mark.parametrize("name", ["argmax", "argmin", "count_nonzero", "nanmax", "nanmin", "max"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_the_axis_comes_first(A: ln.Tensor, name: str, axis: int | None):
    found, expected = getattr(A, name)(axis), getattr(a, name)(axis)
    dense = expected.toarray() if sp.issparse(expected) else expected
    assert np.array_equal(found.to_numpy(), dense)


# -- in place --------------------------------------------------------------------------------------


def test_zeros_are_eliminated(A: ln.Tensor):
    expected = a.copy()
    expected.eliminate_zeros()
    shared = A[...]
    assert A.eliminate_zeros() is None
    assert equal(A, a)
    assert equal(shared, a)
    if A.format.name in ("CSR", "CSC", "COO(2)", "DCSR"):
        assert A.nnz == expected.nnz < shared.nnz


@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan, np.inf])
@pytest.mark.parametrize("format", [ln.CSF(3), ln.COO(3), BY_ROWS], ids=str)
@pytest.mark.parametrize("rows", [3, 300])  # moved by NumPy, and by a kernel
def test_stored_fill_values_are_eliminated(fill: float, format: ln.Format, rows: int):
    rng = np.random.default_rng(0)
    values = np.where(rng.random(rows * 30) < 0.3, fill, 1.5)
    coordinates = np.unravel_index(np.arange(rows * 30) * 2, (rows, 10, 6))
    A = ln.tensor(coordinates, values, (rows, 10, 6), format=format, fill_value=fill)
    expected = A.to_numpy()
    A.eliminate_zeros()
    assert A.nnz == (values == 1.5).sum()
    assert np.array_equal(A.to_numpy(), expected, equal_nan=True)


@pytest.mark.parametrize("k", [0, 2, -1])
@pytest.mark.parametrize("values", [5.0, np.arange(1.0, 4.0), np.arange(20.0)], ids=str)
def test_a_diagonal_is_set(A: ln.Tensor, k: int, values: object):
    expected = a.copy()
    expected.setdiag(values, k)
    A.setdiag(values, k)
    assert equal(A, expected)


def test_diagonals_that_are_not_there():
    with pytest.raises(ValueError, match="no diagonal 9"):
        ln.eye(3).setdiag(1.0, 9)
    with pytest.raises(ValueError, match="matrix"):
        ln.zeros((2, 2, 2)).setdiag(1.0)


def test_what_is_stored_is_in_order_and_once():
    A = ln.asarray(a)
    assert A.sum_duplicates() is None
    assert A.sort_indices() is None
    assert A.has_sorted_indices
    assert A.has_canonical_format


# -- what is written otherwise ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [("tolil", "ln.tensor"), ("todia", "BAND"), ("H", r"conj\(\)\.T"), ("getrow", r"A\[i\]"),
     ("repeat", r"ln\.repeat\(A"), ("topk", r"ln\.topk\(A"), ("sort", "another array"),
     ("change_compressed_axes", r"A\.to\(format\)")],
)  # fmt: skip
def test_methods_that_are_not_there_say_what_is(name: str, said: str):
    with pytest.raises(AttributeError, match=said):
        getattr(ln.eye(3), name)


def test_names_that_mean_nothing_say_nothing():
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        ln.eye(3).nonsense


@pytest.mark.parametrize("call", [sp.csr_array, sp.coo_array, sp.tril, sp.find])
def test_what_scipy_would_make_dense_names_the_line_of_the_user(call: object):
    with pytest.raises((ln.LinnetError, ValueError)) as caught:
        call(ln.asarray(a))  # the line of the user
    error = caught.value if isinstance(caught.value, ln.LinnetError) else caught.value.__cause__
    assert "the line of the user" in str(error)
    assert ".to_scipy()" in str(error)


def test_solvers_take_tensors():
    b = np.random.default_rng(0).random(12)
    square = (a @ a.T + 12 * sp.eye_array(12)).tocsr()
    S = ln.asarray(square)
    for solver in (solvers.cg, solvers.gmres, solvers.bicgstab, solvers.minres):
        assert np.allclose(solver(S, b, rtol=1e-10)[0], solvers.spsolve(square, b))
    assert np.allclose(solvers.eigsh(S, k=2)[0], solvers.eigsh(square, k=2)[0])
    assert np.allclose(solvers.svds(ln.asarray(a), k=2)[1], solvers.svds(a, k=2)[1])
    assert np.allclose(solvers.expm_multiply(S / 9, b), solvers.expm_multiply(square / 9, b))
    assert np.allclose(solvers.lsqr(ln.asarray(a), b)[0], solvers.lsqr(a, b)[0])


@pytest.mark.parametrize("format", ["csr", "coo", ln.DENSE], ids=str)
def test_softmax_of_what_is_stored(format: object):
    scores = np.where(np.abs(np.subtract.outer(np.arange(9), np.arange(9))) < 3, a.data[0], -np.inf)
    scores = scores * np.linspace(1, 2, 9)
    scores[4] = -np.inf  # nothing at all
    found = ln.softmax(ln.asarray(scores, format=format, fill_value=-np.inf))
    powers = np.exp(scores - scores.max(1, keepdims=True, where=scores > -np.inf, initial=-9.0))
    total = powers.sum(1, keepdims=True)
    assert np.allclose(found.to_numpy(), powers / np.where(total > 0, total, 1))
    if format != ln.DENSE:
        assert found.fill_value == 0
        assert found.nnz == np.isfinite(scores).sum()


def test_softmax_along_any_dimension():
    x = np.random.default_rng(0).normal(size=(3, 4, 5))
    found = ln.softmax(ln.asarray(x), axis=1).to_numpy()
    assert np.allclose(found, np.exp(x) / np.exp(x).sum(1, keepdims=True))
    assert np.allclose(ln.softmax([1, 1, 2]).to_numpy().sum(), 1)


def test_names_of_arguments():
    values, places = ln.topk(ln.asarray([[3.0, 9.0, 4.0]]), k=2, axis=1)
    assert places.to_numpy().tolist() == [[1, 2]]
    assert values.to_numpy().tolist() == [[9.0, 4.0]]
    assert ln.transpose(ln.zeros((2, 3, 4))).shape == (4, 3, 2)
    assert ln.zeros((2, 3, 4)).transpose(1, 0, 2).shape == (3, 2, 4)


@pytest.mark.parametrize("count", [20, 20_000])
def test_functions_that_combine_duplicates_have_names(count):
    rng = np.random.default_rng(0)
    places, values = rng.integers(0, 9, count), rng.random(count)
    expected = np.full(9, np.inf)
    np.minimum.at(expected, places, values)
    found = ln.tensor([places], values, (9,), op="min", fill_value=np.inf)
    np.testing.assert_array_equal(found.to_numpy(), expected)


@pytest.mark.parametrize("format", [ln.CSR, ln.COO, ln.DENSE], ids=str)
@pytest.mark.parametrize("order", "CF")
def test_shapes_by_columns(format, order):
    array = np.arange(12.0).reshape(3, 4)
    x = ln.asarray(array, format=format)
    for found, expected in [
        (x.reshape((2, 6), order=order), array.reshape((2, 6), order=order)),
        (x.reshape(6, -1, order=order), array.reshape(6, -1, order=order)),
        (x.ravel(order), array.ravel(order)),
        (x.flatten(order=order), array.flatten(order=order)),
    ]:
        np.testing.assert_array_equal(found.to_numpy(), expected)
    np.testing.assert_array_equal(x.ravel("K").to_numpy(), array.ravel("K"))
    with pytest.raises(ln.LinnetError, match="order of elements"):
        x.ravel("X")


@pytest.mark.parametrize("shape", [(6,), (1, 6), (6, 1), (2, 3)])
@pytest.mark.parametrize("order", "CF")
def test_shapes_as_elements_lie(shape, order):
    """A vector lies by rows and by columns, which tells nothing."""
    array = np.asarray(np.arange(6.0).reshape(shape), order=order)
    found, expected = (np.reshape(x, (3, 2), order="A") for x in (ln.asarray(array), array))
    np.testing.assert_array_equal(found.to_numpy(), expected)
