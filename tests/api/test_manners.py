"""Manners: SciPy arrays on the left, lazy arrays as numbers, and refusals that help."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest
from tests.api.operands import close, matrix, same

import linnet as ln
from linnet.algebra.lookup import by_name

OPERATORS = [operator.add, operator.sub, operator.mul, operator.eq, operator.lt, operator.ge]
KINDS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


# -- SciPy on the left -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mine", ["csr", "coo", "dense"])
def test_operators_of_scipy_arrays_are_left_to_us(kind: str, mine: str):
    sparse = pytest.importorskip("scipy.sparse")
    x, a = matrix(mine)
    s = sparse.coo_array(np.round(a * 0.6)).asformat(kind)
    for function in OPERATORS:
        found = function(s, x)
        assert isinstance(found, ln.Tensor)
        close(found, function(s.toarray(), a))
    found = s @ x.T
    assert isinstance(found, ln.Tensor)
    close(found, s.toarray() @ a.T)
    close(s / ln.asarray(a + 9.0), s.toarray() / (a + 9.0))


def test_operators_of_scipy_arrays_with_lazy_ones():
    sparse = pytest.importorskip("scipy.sparse")
    x, a = matrix("csr")
    found = sparse.csr_array(a) @ ln.lazy(x).T
    assert isinstance(found, ln.Lazy)
    close(found.compute(), a @ a.T)


def test_the_product_of_old_matrices_is_not_ours():
    """`*` is the matrix product there, and would be another one here."""
    sparse = pytest.importorskip("scipy.sparse")
    x, a = matrix("csr")
    with pytest.raises(ln.LinnetError, match="NumPy asked for a dense array"):
        sparse.csr_matrix(a) * x.T
    close(sparse.csr_matrix(a) @ x.T, a @ a.T)


def test_other_questions_of_scipy_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    x, a = matrix("csr")
    s = sparse.csr_array(a)
    for ask in (s.multiply, sparse.coo_array(a).dot):
        with pytest.raises(ln.LinnetError, match="NumPy asked for a dense array"):
            ask(x)
    # SciPy 1.15 does not ask
    refused = "NumPy asked for a dense array|Operands not compatible"
    with pytest.raises((ln.LinnetError, ValueError), match=refused):
        s.maximum(x)
    with pytest.raises(ln.LinnetError, match="NumPy asked for a dense array"):
        np.asarray(x)


# -- lazy arrays -----------------------------------------------------------------------------------


def test_lazy_numbers_are_computed_where_numbers_are_needed():
    x, a = matrix("csr")
    total = ln.lazy(x).sum()
    assert float(total) == pytest.approx(a.sum())
    assert complex(total) == pytest.approx(a.sum())
    assert int(ln.lazy(x).max()) == int(a.max())
    assert total.item() == pytest.approx(a.sum())
    assert [10, 20, 30][ln.lazy(ln.asarray(1)) + 1] == 30
    assert len(ln.lazy(x)) == len(a)


@pytest.mark.parametrize("name", ["add", "where", "astype_int8"])
def test_functions_are_pickled_by_name(name: str):
    function = by_name[name]
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function


def test_lazy_arrays_are_pickled_with_what_they_are_of():
    x, a = matrix("csr")
    close(pickle.loads(pickle.dumps((ln.lazy(x) * 2.0).sum(axis=0))).compute(), 2 * a.sum(0))


@pytest.mark.parametrize("name", ["nnz", "to_numpy", "to_scipy", "format", "data", "buffers"])
def test_what_a_lazy_array_cannot_tell(name: str):
    x = ln.lazy(matrix("csr")[0])
    assert not hasattr(x, name)
    with pytest.raises(ln.errors.NotComputedError, match=f"no `{name}` before it is computed"):
        getattr(x, name)


def test_lazy_arrays_are_not_made_dense():
    x = ln.lazy(matrix("csr")[0])
    with pytest.raises(ln.LinnetError, match="compute it first"):
        np.asarray(x)
    with pytest.raises(TypeError, match="not a single number"):
        float(x)
    with pytest.raises(TypeError, match="no length"):
        len(x.sum())
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = x.nonsense


# -- refusals --------------------------------------------------------------------------------------

D = ln.asarray(np.eye(3))
REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "step of a sparse slice": (lambda: matrix("csr")[0][::0], ValueError, "step of a slice"),
    "step of a dense slice": (lambda: ln.arange(4)[::0], ValueError, "step of a slice"),
    "step of a lazy slice": (lambda: ln.lazy(ln.eye(3))[::0], ValueError, "step of a slice"),
    "step of a range": (lambda: ln.arange(0, 3, 0), ValueError, "step of a range"),
    "density": (lambda: ln.random((3, 3), 2.0), ValueError, "density"),
    "density of words": (lambda: ln.random((3, 3), "x"), ValueError, "density"),
    "option": (lambda: ln.config(foo=1), TypeError, "no option foo"),
    "option without a name": (lambda: ln.config(1), TypeError, "given by name"),
    "level above nothing": (lambda: ln.Dense(3), ValueError, "3 is none"),
    "levels above a name": (lambda: ln.SparseCOO(2, "csr"), ValueError, "'csr' is none"),
    "fill value": (lambda: ln.Element("x"), TypeError, "is no number"),
    "nothing to join": (lambda: ln.concat([]), ValueError, "nothing to join"),
    "correction": (lambda: ln.eye(3).var(ddof="x"), TypeError, "a correction is a number"),
    "kind of SciPy": (lambda: ln.eye(3).to_scipy(3), TypeError, "no sparse kind"),
    "SciPy in 3-d": (lambda: ln.zeros((2, 2, 2)).to_scipy("csr"), ValueError, "cannot hold"),
    "axes of one array": (lambda: ln.tensordot(D, D, axes=((0,),)), ValueError, "two arrays"),
    "axes in words": (lambda: ln.tensordot(D, D, axes="x"), TypeError, "number of axes"),
    "range of words": (lambda: ln.arange("x"), TypeError, "numbers for its ends"),
    "line of words": (lambda: ln.linspace("a", 1, 3), TypeError, "ends are numbers"),
    "seed": (lambda: ln.random((3, 3), rng="x"), TypeError, "neither a generator nor a seed"),
    "samples": (lambda: ln.random((3, 3), 1.0, sampler=lambda n: [1]), ValueError, "asked for 9"),
    "right side": (lambda: ln.linalg.solve(D, np.ones(4)), ValueError, "do not fit"),
    "length": (lambda: ln.fft.fft(D, n=-1), ValueError, "fft: "),
    "no function": (lambda: ln.fuse(3), TypeError, "fuse takes a function"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refusals_are_of_the_kind_that_numpy_raises(name: str):
    call, kind, text = REFUSED[name]
    with pytest.raises(ln.LinnetError, match=text) as caught:
        call()
    assert isinstance(caught.value, kind)
    if caught.value.at is not None:
        assert caught.value.at.file == __file__


def test_diagonals_by_position():
    same(ln.diag([1.0, 2.0], 1), np.diag([1.0, 2.0], 1))


def test_other_names_of_what_there_is():
    x, a = matrix("csr")
    same(x.ravel(), a.ravel())
    same(x.flatten(), a.ravel())
    assert x.tolist() == a.tolist()


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
def test_integers_that_are_far_from_each_other_are_not_close(dtype):
    """Their difference, and the absolute value of the least of them, wrap around."""
    limits = np.iinfo(dtype)
    a = np.array([0, 1, limits.max, limits.min, 100], dtype)
    for b in (a, a[::-1].copy(), np.zeros(5, "bool"), np.ones(5, "int16")):
        x, y = ln.asarray(a, format="coo"), ln.asarray(b, format="coo")
        same(np.isclose(x, y), np.isclose(a, b))
        same(np.isclose(y, x), np.isclose(b, a))


def test_questions_of_numpy():
    x, a = matrix("csr")
    assert np.allclose(x, a + 1e-12)
    assert not np.allclose(x, a + 1.0)
    assert np.array_equal(x, a)
    assert not np.array_equal(x, a[:2])
    assert not np.iscomplexobj(x)
    gaps = ln.asarray([np.nan, np.inf, 1.0], format="csf")
    assert np.isclose(gaps, gaps).tolist() == [False, True, True]
    assert np.allclose(gaps, gaps, equal_nan=True)
    assert np.array_equal(gaps, gaps, equal_nan=True)
    same(np.ptp(x, axis=0), np.ptp(a, axis=0))
    for found, expected in zip(np.where(x), np.where(a), strict=True):
        same(found, expected)
    same(np.sum(x, where=True), np.sum(a))
    with pytest.raises(TypeError):
        np.add(x, x, where=a > 0)


BAD: dict[str, tuple[Any, str]] = {
    "a ragged list": (lambda xp, x: xp.asarray([[1.0], [1.0, 2.0]]), "differ in length"),
    "shapes": (lambda xp, x: x + xp.ones((2, 3)), r"\(3, 3\), \(2, 3\)"),
    "an axis": (lambda xp, x: x.sum(axis=2), "axis 2 .* 2 dimensions"),
    "an axis from behind": (lambda xp, x: xp.sort(x, axis=-3), "axis -3 .* 2 dimensions"),
    "an axis of an order": (lambda xp, x: xp.argsort(x, axis=2), "axis 2 .* 2 dimensions"),
    "an axis twice": (lambda xp, x: x.sum(axis=(0, 0)), r"\(0, 0\) name one dimension twice"),
    "half an axis": (lambda xp, x: x.sum(axis=0.5), "integer, not 0.5"),
    "bits of floats": (lambda xp, x: x & x, "not defined for float64"),
    "the complement of floats": (lambda xp, x: ~x, "not defined for float64"),
    "a mask": (lambda xp, x: x[np.ones((2, 3), bool)], r"\(2, 3\) does not fit: .* 2 .* 0, .* 3"),
    "a short mask": (lambda xp, x: x[np.ones(2, bool)], r"\(2,\) does not fit: .* 2 .* 0, .* 3"),
    "NaN as an index": (lambda xp, x: x[float("nan")], "nan is not an index"),
    "NaN among indices": (lambda xp, x: x[np.array([np.nan])], "is not an index"),
    "a position": (lambda xp, x: x[[0, 3]], "index 3 is out of bounds for dimension 0 with size 3"),
    "a shape": (lambda xp, x: x.reshape((2, 4)), r"9 elements .* \(2, 4\)"),
    "a product": (lambda xp, x: x @ xp.ones(4), r"\(3, 3\) and \(4,\)"),
    "what is joined": (lambda xp, x: xp.concat([x, xp.ones((3, 2))]), r"\(3, 3\) and \(3, 2\)"),
    "a dimension of size 3": (lambda xp, x: xp.squeeze(x, axis=0), r"\(3, 3\) has size 3"),
}


@pytest.mark.parametrize("name", list(BAD))
@pytest.mark.parametrize("format", [ln.CSR, ln.COO, ln.DENSE], ids=str)
def test_bad_input_is_what_it_is_to_numpy(name: str, format: Any):
    """The exception is one of NumPy's kind, and has the shapes and positions in its words."""
    call, text = BAD[name]
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        call(np, np.eye(3))
    with pytest.raises(ln.LinnetError, match=text) as ours:
        call(ln, ln.asarray(np.eye(3), format=format))
    for kind in (ValueError, IndexError, TypeError):
        assert not isinstance(theirs.value, kind) or isinstance(ours.value, kind)
