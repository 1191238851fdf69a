"""Methods, options and attributes that NumPy's and SciPy's users expect, against NumPy's."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg
from tests.api.operands import close, cube, cube_formats, filled_matrices, matrix, same

import linnet as ln
from linnet.errors import ArgumentError, DTypeError, IndexBoundsError, RangeError, ShapeError

POINTS, VALUES = np.array([-1.5, 0.0, 0.5, 2.0]), np.array([3.0, 0.0, 4.0, -1.0])


# -- np.interp -------------------------------------------------------------------------------------


@filled_matrices
@pytest.mark.parametrize(
    "options", [{}, {"left": 7.0, "right": -7.0}, {"period": 2.5}], ids=["", "ends", "period"]
)
def test_interp(format: str, fill: float, options: dict[str, Any]):
    x, a = matrix(format, fill)
    if "period" in options and not np.isfinite(fill):
        return
    found = np.interp(x, POINTS, VALUES, **options)
    close(found, np.interp(a, POINTS, VALUES, **options))
    if format != "dense":
        assert found.nnz == x.nnz  # what is not stored is one value
        assert not found.format.dense


def test_interp_between_tensors():
    x, points = ln.asarray([0.25, -3.0, 9.0]), ln.asarray(POINTS)
    close(
        np.interp(x, points, ln.asarray(VALUES, format="csf")),
        np.interp([0.25, -3, 9], POINTS, VALUES),
    )
    close(np.interp(ln.lazy(x), points, VALUES), np.interp(x.to_numpy(), POINTS, VALUES))
    same(np.interp(ln.asarray([1, 2]), [0, 4], [0, 1]), np.interp([1, 2], [0, 4], [0, 1]))
    assert np.interp(ln.asarray(0.25), POINTS, VALUES).shape == ()


@pytest.mark.parametrize(
    ("points", "values", "options"),
    [
        ([0, 1], [0, 1, 2], {}),
        ([], [], {}),
        ([[0, 1]], [[0, 1]], {}),
        ([0, 1], [0, 1], {"period": 0}),
    ],
)
def test_interp_refuses(points: Any, values: Any, options: dict[str, Any]):
    with pytest.raises((ShapeError, RangeError)):
        np.interp(ln.ones(3), points, values, **options)
    with pytest.raises(DTypeError, match="real numbers"):
        np.interp(ln.ones(3, dtype="complex128"), [0, 1], [0, 1])


# -- shapes ----------------------------------------------------------------------------------------


@filled_matrices
def test_an_order_that_is_none(format: str, fill: float):
    x, a = matrix(format, fill)
    same(x.flatten(order=None), a.flatten())
    same(x.ravel(None), a.ravel())
    same(x.reshape((3, 8), order=None), a.reshape(3, 8))
    same(x.reshape(3, 8, order=None), a.reshape(3, 8))
    same(np.reshape(x, (3, 8), order=None), a.reshape(3, 8))
    with pytest.raises(RangeError, match="the order of elements"):
        x.reshape(3, 8, order="")


@cube_formats
def test_transpose(format: str):
    x, a = cube(format)
    for axes in (None, (1, 2, 0), [2, 0, 1], (-1, 0, 1)):
        for copy in (False, True):
            found = x.transpose(axes=axes, copy=copy)
            same(found, a.transpose(axes))
            same(x.transpose(axes, copy=copy), a.transpose(axes))
            assert not (copy and np.shares_memory(found.buffers["val"], x.buffers["val"]))
    same(x.transpose(1, 2, 0, copy=True), a.transpose(1, 2, 0))
    same(ln.lazy(x).transpose(axes=(1, 2, 0), copy=True).compute(), a.transpose(1, 2, 0))
    same(np.transpose(x, axes=(1, 2, 0)), a.transpose(1, 2, 0))
    with pytest.raises(ArgumentError):
        x.transpose(1, axes=(1, 2, 0))


# -- index notation --------------------------------------------------------------------------------


@pytest.mark.parametrize("einsum", [ln.einsum, np.einsum])
@filled_matrices
def test_lists_of_indices(einsum: Any, format: str, fill: float):
    x, a = matrix(format, fill)
    v = np.arange(6.0)
    with np.errstate(invalid="ignore"):
        for given in (
            ([0, 1], v, [1], [0]),
            ([0, 1], v, [1]),
            ([30, 2], v, [2], [30]),
            ([0, 1], v, (1,), (1, 0)),
            ([0, ...], [..., 0]),
            ([1, 0],),
            ([0, 1], []),
        ):
            if np.isfinite(fill):
                tensors = [ln.asarray(g) if isinstance(g, np.ndarray) else g for g in given]
                close(einsum(x, *tensors), np.einsum(a, *given))


def test_lists_of_indices_of_sparse_arrays_are_sparse():
    x, a = matrix("csr")
    found = ln.einsum(x, [0, 1], x, [0, 1], [1, 0])
    close(found, (a * a).T)
    assert found.format == ln.einsum("ij,ij->ji", x, x).format
    assert not found.format.dense
    lazy = ln.einsum(ln.lazy(x), [0, 1], [1])
    assert isinstance(lazy, ln.Lazy)
    close(lazy.compute(), a.sum(0))


@pytest.mark.parametrize(
    "given", [(3,), (3, 4), (ln.ones(3), [-1]), (ln.ones(3), [52]), (ln.ones(3), [0], "0"), ()]
)
def test_lists_of_indices_that_are_none(given: Any):
    with pytest.raises((ArgumentError, TypeError)):
        ln.einsum(*given)


@pytest.mark.parametrize("einsum", [ln.einsum, np.einsum])
def test_einsum_with_options(einsum: Any):
    a = np.array([[200, 100], [0, 100]], np.uint8)
    x = ln.asarray(a, format="csr")
    for optimize in (True, False, "greedy", "optimal", ["einsum_path", (0, 1)]):
        same(einsum("ij,jk->ik", x, x, optimize=optimize), a @ a)
    for dtype in ("int64", np.float64, "uint8", None):
        found = einsum("ij,jk->ik", x, x, dtype=dtype)
        same(found, np.einsum("ij,jk->ik", a, a, dtype=dtype))
        assert found.format.name == "CSR"
    same(einsum(x, [0, 1], [0], dtype="int64"), a.sum(1, dtype="int64"))
    with pytest.raises(DTypeError, match="the casting is 'safe'"):
        einsum("ij->i", x, dtype="int8")
    with pytest.raises(TypeError):
        np.einsum("ij->i", a, dtype="int8")
    options = {"dtype": "int8", "casting": "same_kind"}
    with pytest.raises(DTypeError):
        einsum("ij->i", x.astype("float64"), **options)
    y = ln.asarray(a.astype("int64"), format="csr")
    same(einsum("ij->i", y, **options), np.einsum("ij->i", a.astype("int64"), **options))
    same(einsum("ij->i", x, dtype="int8", casting="unsafe"), a.astype("int8").sum(1, dtype="int8"))
    with pytest.raises(RangeError, match="no casting 'never'"):
        einsum("ij->i", x, dtype="int64", casting="never")
    with pytest.raises(ArgumentError):
        ln.einsum("ij->i", x, optimize=3)


# -- results in a given place ----------------------------------------------------------------------


@filled_matrices
def test_methods_put_results_where_they_are_told(format: str, fill: float):
    x, a = matrix(format, fill)
    for name, args in (("round", (1,)), ("clip", (-1, 1)), ("cumsum", (0,)), ("conj", ())):
        if name == "conj" or (name == "cumsum" and not np.isfinite(fill)):
            continue
        expected = getattr(a, name)(*args)
        target, array = matrix("coo", fill, seed=1)[0], np.empty_like(a)
        assert getattr(x, name)(*args, out=target) is target
        same(target, expected)
        assert getattr(x, name)(*args, out=array) is array
        np.testing.assert_array_equal(array, expected)
    for name in ("sum", "mean", "max", "std"):
        if np.isfinite(fill):
            total, array = ln.zeros(6), np.zeros(6)
            assert getattr(x, name)(axis=0, out=total) is total
            close(total, getattr(a, name)(axis=0))
            getattr(x, name)(0, out=array)
            np.testing.assert_allclose(array, getattr(a, name)(axis=0))


def test_where_results_do_not_fit():
    x, a = matrix("csr")
    with pytest.raises(ShapeError, match="does not fit one of"):
        x.round(out=ln.zeros(3))
    for call in (x.round, lambda out: np.round(x, out=out), lambda out: np.add(x, x, out=out)):
        for target in (ln.zeros(a.shape, dtype="int64"), np.zeros(a.shape, np.int64)):
            with pytest.raises(DTypeError, match="does not fit one of int64"):
                call(out=target)
            assert not np.asarray(target).any()
    with pytest.raises(ArgumentError, match="is put into a tensor"):
        x.clip(0, 1, out=[1.0])
    same(x.clip(0, 1, out=ln.zeros(a.shape, dtype="float32")), a.clip(0, 1).astype("float32"))
    target = ln.zeros(a.shape)
    assert ln.lazy(x).clip(0, 1, out=target) is target
    same(target, a.clip(0, 1))


# -- what an object says of itself -----------------------------------------------------------------


def test_flags():
    a = np.ones((3, 4))
    x = ln.asarray(a)
    own = "owndata", "num"  # whose memory it is, and all of them as one number
    names = [name for name in dir(a.flags) if name[0] != "_" and name not in own]
    keys = "C_CONTIGUOUS F_CONTIGUOUS C F W A X B CA FA WRITEABLE CONTIGUOUS CARRAY FARRAY FORC"
    keys += " FORTRAN"
    for tensor, array in ((x, a), (x.T, a.T), (x[:1], a[:1]), (x[0], a[0]), (x[:0], a[:0])):
        for name in names:
            assert getattr(tensor.flags, name) == getattr(array.flags, name), name
        for key in keys.split():
            assert tensor.flags[key] == array.flags[key], key
    sparse = ln.eye(3, format="csr").flags
    assert (sparse.c_contiguous, sparse.f_contiguous, sparse.forc) == (False, False, False)
    with pytest.raises(KeyError):
        sparse["NONE"]
    with pytest.raises(AttributeError):
        sparse.writeable = False
    assert "C_CONTIGUOUS : True" in repr(x.flags)


def test_sizes_count_what_is_held():
    x = ln.asarray(np.ones(10_000))
    assert 80_000 < sys.getsizeof(x) < 80_500
    assert sys.getsizeof(ln.eye(1000, format="csr")) > 12_000
    assert sys.getsizeof(ln.empty_tensor(ln.CSR)) < 200


@filled_matrices
def test_items(format: str, fill: float):
    x, a = matrix(format, fill)
    for index in ((1, 2), (-1, 0), ((3, -2),), (7,), (-1,), (np.int64(23),), (np.int64(1), 5)):
        found = x.item(*index)
        assert type(found) is float
        np.testing.assert_equal(found, a.item(*index))
    assert ln.lazy(x).item(1, 2) == pytest.approx(a.item(1, 2), nan_ok=True)
    for index in ((24,), (-25,), (4, 0), (0, 6)):
        with pytest.raises(IndexError):
            x.item(*index)
    with pytest.raises(IndexBoundsError, match="there is no element 24 among 24"):
        x.item(24)
    for index in ((1, 2, 3), ((1, 2, 3),), (1.5,), ("a",), (None,), (slice(2),)):
        with pytest.raises(ArgumentError):
            x.item(*index)
    with pytest.raises(ShapeError, match=r"item\(\) wants one element, and the tensor has 24"):
        x.item()


def test_items_of_large_arrays():
    x = ln.tensor([[5], [7], [2]], [3.0], (10**6, 10**6, 10**5), format="coo")
    assert x.item(5, 7, 2) == x.item((5 * 10**6 + 7) * 10**5 + 2) == 3.0
    assert ln.asarray(2.5).item() == 2.5
    assert ln.asarray([2, 3]).item(-1) == 3


@filled_matrices
def test_argsort_and_searchsorted(format: str, fill: float):
    x, a = matrix(format, fill)
    for axis in (-1, 0, None):
        same(x.argsort(axis=axis), a.argsort(axis=axis, kind="stable"))
    same(x.argsort(0, kind="stable"), a.argsort(0, kind="stable"))
    same(x.argsort(stable=True), a.argsort(kind="stable"))
    line = ln.asarray([0.0, 0.5, 1.0, 2.0])
    same(line.searchsorted(x), line.to_numpy().searchsorted(a))
    same(line.searchsorted(x, "right"), line.to_numpy().searchsorted(a, "right"))
    same(line.searchsorted(0.7), np.int64(2))
    shuffled = ln.asarray([2.0, 0.0, 1.0])
    same(shuffled.searchsorted([0.5, 3], sorter=[1, 2, 0]), np.array([1, 3]))
    with pytest.raises(ArgumentError, match="no fields"):
        x.argsort(order="a")


# -- what goes on ----------------------------------------------------------------------------------


def test_nothing_is_warned_of():
    """NumPy warns of NaN and infinities; here they are values like others."""
    x = ln.asarray([[0.0, -1.0, np.nan], [np.inf, 0.0, 0.0]], format="csr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(all="raise"):
            for found in (1 / x, x / x, np.log(x), ln.sqrt(x), x - x, x * np.inf, np.power(x, -1)):
                assert found.shape == (2, 3)
            ln.nanmean(ln.asarray([np.nan]))
            ln.nanmax(ln.asarray([np.nan]))
            ln.asarray([1e300]) * 1e300
            ln.mean(ln.zeros(0))
            ln.asarray([1e300]).astype("float32")


def test_lazy_numbers_are_computed_to_be_formatted():
    total = ln.lazy(ln.asarray([1.5, 2.0])).sum()
    assert f"{total:.3f}" == "3.500"
    assert f"{total}" == str(total)
    with pytest.raises(ArgumentError, match="not a single number"):
        format(ln.lazy(ln.ones(2)), ".3f")


def test_arrays_like_tensors():
    """Dask makes arrays of the kind of another one."""
    x = ln.eye(3, format="csr")
    for make in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray):
        same(make([1, 2], like=x), np.array([1, 2]))
        same(make([1, 2], dtype="float32", like=x), np.array([1, 2], "float32"))
    same(np.array([1.0], ndmin=3, like=x), np.ones((1, 1, 1)))
    same(np.zeros((2, 3), like=x), np.zeros((2, 3)))
    assert np.common_type(x, np.ones(2, "float32")) is np.float64
    assert np.common_type(ln.ones(2, dtype="complex64")) is np.complex64


def test_options_that_say_what_goes_without_saying():
    x, a = matrix("csr")
    counts, _ = np.histogram(x, 3, (-2, 2), density=None, weights=None)
    same(counts, np.histogram(a, 3, (-2, 2))[0])
    same(np.isin(x, [1.0], assume_unique=False, invert=False, kind=None), np.isin(a, [1.0]))
    same(np.unique(x, axis=None, return_index=False), np.unique(a))
    with pytest.raises(ArgumentError, match="takes no weights"):
        np.histogram(x, 3, weights=a)
    with pytest.raises(ArgumentError, match="takes no assume_unique"):
        np.isin(x, [1.0], assume_unique=True)


N = 40


@pytest.fixture
def system() -> tuple[ln.Tensor, Any, Any]:
    rng = np.random.default_rng(0)
    a = sp.random_array((N, N), density=0.1, rng=rng, format="csr")
    a = (a + a.T + 20 * sp.eye_array(N)).tocsr()
    return ln.asarray(a), a, rng.standard_normal(N)


@pytest.mark.parametrize(
    "name",
    ["cg", "gmres", "bicgstab", "minres", "lgmres", "cgs", "qmr", "tfqmr", "bicg", "gcrotmk"],
)
def test_solvers_of_scipy(system: Any, name: str):
    A, a, b = system
    solver = getattr(scipy.sparse.linalg, name)
    expected = solver(a, b)[0]
    for given in (A, A.to("csc"), A.to("coo")):
        found, failed = solver(given, b)
        assert failed == 0
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    found, failed = solver(A, ln.asarray(b))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_eigenvalues_of_scipy(system: Any):
    A, a, _ = system
    linalg = scipy.sparse.linalg
    np.testing.assert_allclose(linalg.eigsh(A, k=3)[0], linalg.eigsh(a, k=3)[0])
    np.testing.assert_allclose(linalg.svds(A, k=3)[1], linalg.svds(a, k=3)[1])
    np.testing.assert_allclose(
        sorted(linalg.eigs(A, k=3)[0].real), sorted(linalg.eigs(a, k=3)[0].real)
    )
    X = np.random.default_rng(1).standard_normal((N, 3))
    for start in (X, ln.asarray(X)):
        values = linalg.lobpcg(A, start, tol=1e-8, maxiter=200)[0]
        np.testing.assert_allclose(np.sort(values), np.sort(linalg.eigsh(a, k=3)[0]), rtol=1e-5)
