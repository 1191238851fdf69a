"""NumPy's functions, called with Linnet's arrays: the same results as with NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.api.operands import FILLS, cube, cube_formats, matrix

import linnet as ln

OF_MATRICES: dict[str, Callable[[Any], Any]] = {
    "atleast_2d": np.atleast_2d,
    "atleast_3d": np.atleast_3d,
    "atleast_1d of two": lambda x: np.atleast_1d(x, x[0, 0]),
    "atleast_3d of a row": lambda x: np.atleast_3d(x[1]),
    "swapaxes": lambda x: np.swapaxes(x, 0, -1),
    "rot90": np.rot90,
    "rot90 twice": lambda x: np.rot90(x, 2),
    "rot90 back": lambda x: np.rot90(x, -1),
    "fliplr": np.fliplr,
    "flipud": np.flipud,
    "split": lambda x: np.split(x, 2),
    "split at": lambda x: np.split(x, [1, 3], axis=1),
    "array_split": lambda x: np.array_split(x, 4, axis=1),
    "hsplit": lambda x: np.hsplit(x, 3),
    "vsplit": lambda x: np.vsplit(x, 2),
    "append": lambda x: np.append(x, x, axis=1),
    "append flat": lambda x: np.append(x, x[0]),
    "delete": lambda x: np.delete(x, [0, 2], axis=1),
    "delete flat": lambda x: np.delete(x, slice(0, 24, 3)),
    "column_stack": lambda x: np.column_stack([x, x[:, 1]]),
    "dstack": lambda x: np.dstack([x, x]),
    "diagonal": lambda x: np.diagonal(x, 1),
    "trace": np.trace,
    "compress": lambda x: np.compress([True, False, True], x, axis=1),
    "extract": lambda x: np.extract(x > 0, x),
    "argwhere": np.argwhere,
    "flatnonzero": np.flatnonzero,
    "select": lambda x: np.select([x > 0, x < -1], [x, x * 2], 7),
    "unique": np.unique,
    "unique counted": lambda x: np.unique(x, return_counts=True),
    "unique inverse": lambda x: np.unique(x, return_inverse=True),
    "union1d": lambda x: np.union1d(x[0], x[1]),
    "intersect1d": lambda x: np.intersect1d(x[0], x[1]),
    "setdiff1d": lambda x: np.setdiff1d(x, x[1]),
    "average": lambda x: np.average(x, axis=0),
    "average weighted": lambda x: np.average(x, axis=1, weights=np.arange(6)),
    "average all weighted": lambda x: np.average(x, weights=np.abs(np.arange(24).reshape(4, 6))),
    "median": np.median,
    "median of columns": lambda x: np.median(x, axis=0),
    "median kept": lambda x: np.median(x, axis=1, keepdims=True),
    "quantile": lambda x: np.quantile(x, [0, 0.3, 1], axis=1),
    "percentile": lambda x: np.percentile(x, 30),
    "cov": np.cov,
    "cov of columns": lambda x: np.cov(x, rowvar=False, bias=True),
    "cov of one": lambda x: np.cov(x[0]),
    "corrcoef": np.corrcoef,
    "bincount": lambda x: np.bincount(abs(x.astype(np.int64)).reshape(-1), minlength=9),
    "histogram": lambda x: np.histogram(x, bins=5, range=(-2, 2)),
    "inner": lambda x: np.inner(x, x),
    "vdot": lambda x: np.vdot(x, x),
    "cross": lambda x: np.cross(x[:, :3], x[:, 3:]),
    "tensordot": lambda x: np.tensordot(x, x, ((0,), (0,))),
    "take_along_axis": lambda x: np.take_along_axis(x, np.array([[0], [2], [1], [5]]), 1),
    "multi_dot": lambda x: np.linalg.multi_dot([x, x.T, x]),
    "multi_dot of vectors": lambda x: np.linalg.multi_dot([x[:, 0], x, x[1]]),
    "norm": np.linalg.norm,
    "norm of rows": lambda x: np.linalg.norm(x, axis=1, keepdims=True),
    "norm of order": lambda x: np.linalg.norm(x, 1),
    "norm in a plane": lambda x: np.linalg.norm(x, "fro", axis=(0, 1)),
    "isreal": np.isreal,
    "iscomplex": np.iscomplex,
}
UNDEFINED = {"cov", "corrcoef", "cov of columns", "cov of one", "histogram", "bincount"}
UNDEFINED |= {"quantile", "percentile"}
"""Of infinities and NaN, NumPy refuses these, or says that inf between inf and inf is NaN."""


SOME = [("csr", 0.0), ("csc", FILLS[2]), ("coo", FILLS[3]), ("runs", 1.5)]


@pytest.mark.parametrize("name", OF_MATRICES)
@pytest.mark.parametrize(("format", "fill"), SOME, ids=str)
def test_functions_of_matrices(name: str, format: str, fill: float):
    if name in UNDEFINED and not np.isfinite(fill):
        pytest.skip("NumPy has no value of its own for this")
    x, a = matrix(format, fill)
    with np.errstate(all="ignore"):
        _check(OF_MATRICES[name](x), OF_MATRICES[name](a))


@cube_formats
def test_functions_of_cubes(format: str):
    x, a = cube(format)
    for f in (
        lambda x: np.diagonal(x, 1, 0, 2),
        lambda x: np.trace(x, axis1=1, axis2=2),
        lambda x: np.swapaxes(x, 0, 2),
        lambda x: np.median(x, axis=1),
        lambda x: np.dsplit(x, [2]),
        lambda x: np.linalg.norm(x, axis=(0, 2)),
        lambda x: np.linalg.norm(x, 1, axis=(2, 0), keepdims=True),
        lambda x: np.inner(x, x[0]),
        np.rot90,
    ):
        _check(f(x), f(a))


def _check(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            _check(one, other)
        return
    assert isinstance(found, ln.Tensor)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12, atol=1e-12)


def test_refusals():
    x, _ = matrix("csr")
    for wrong in (
        lambda: np.split(x, 3),
        lambda: np.array_split(x, 0),
        lambda: np.quantile(x, 2),
        lambda: np.median(x[:0]),
        lambda: np.average(x, weights=[1, 2]),
        lambda: np.select([x > 0], []),
        lambda: np.swapaxes(x, 0, 2),
        lambda: np.linalg.multi_dot([x]),
        lambda: np.cov(x[None]),
    ):
        with pytest.raises(ValueError, match=r".+"):
            wrong()


def test_covariances_of_large_numbers():
    a = 1e9 + np.array([[1.0, 2, 3], [2, 4, 7]])
    for x in (ln.asarray(a), ln.asarray(a, format="csr")):
        _check(np.cov(x), np.cov(a))
        _check(np.corrcoef(x), np.corrcoef(a))


def test_arguments_in_numpys_order():
    x, a = matrix("csr")
    _check(np.tril(x, 1), np.tril(a, 1))
    _check(np.triu(x, -1), np.triu(a, -1))
    _check(np.roll(x, (1, 2), (0, 1)), np.roll(a, (1, 2), (0, 1)))
    _check(np.tile(x, 2), np.tile(a, 2))
    for f in (
        lambda x: np.sum(x, 0, np.float32),
        lambda x: np.var(x, 0, None, None, 1),
        lambda x: np.max(x, 1),
        lambda x: np.concatenate([x, x], 1),
        np.cumsum,
        lambda x: np.cumsum(x, 1),
        np.nancumsum,
        lambda x: np.take(x, [1]),
        lambda x: np.take(x, [1, -1], 1),
        lambda x: np.sort(x, None),
    ):
        _check(f(x), f(a))
    assert np.allclose(x > 0, a > 0)
    for refused in ({"where": a > 0}, {"initial": 3.0}, {"out": np.zeros(6)}):
        with pytest.raises(TypeError, match="takes no"):
            np.sum(x, axis=0, **refused)


def test_variances_of_groups_with_means_far_apart():
    x = ln.asarray([1e16, 1e16, 1.0, 3.0])
    _check(ln.groupby(x, [0, 0, 1, 1]).var(), np.array([0.0, 1.0]))
    infinite = ln.groupby(ln.asarray([np.inf, 2.0, 3.0]), [0, 1, 1]).var()
    _check(infinite, np.array([np.nan, 0.25]))
    for fill in (0.0, 2.0, float("nan")):
        y, a = matrix("csc", fill)
        parts = [a[[0, 2]].var(axis=0, ddof=1), a[[1, 3]].var(axis=0, ddof=1)]
        _check(ln.groupby(y, list("abab")).var(ddof=1), np.stack(parts))


@pytest.mark.parametrize("format", ["csr", "csc", "dcsr", "coo"])
def test_what_changes_nothing_is_another_array(format: str):
    x, a = matrix(format)
    moved = [x[0:], x[0:, :], x[:4, 0:6], x[-4:], np.array_split(x, 1)[0], ln.pad(x, 0)]
    moved += [np.rot90(x, 0), ln.lazy(x).compute(), ln.fuse(lambda x: x)(x)]
    for other in moved:
        other[0, 0] = 9.0
    np.testing.assert_array_equal(x.to_numpy(), a)
