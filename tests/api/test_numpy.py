"""NumPy's functions, called with Linnet's arrays: the same results as with NumPy's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.api.operands import FILLS, cube, cube_formats, matrix

import linnet as ln
from linnet.api.numpy import dispatch

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
    "average returned": lambda x: np.average(x, axis=0, returned=True),
    "average weighted returned": lambda x: np.average(x, 1, np.arange(6.0), returned=True),
    "quantile lower": lambda x: np.quantile(x, [0.2, 0.5], axis=0, method="lower"),
    "quantile higher": lambda x: np.quantile(x, 0.4, method="higher", keepdims=True),
    "percentile midpoint": lambda x: np.percentile(x, 35, axis=1, method="midpoint"),
    "nanmedian": np.nanmedian,
    "nanmedian of columns": lambda x: np.nanmedian(x, axis=0),
    "nanmedian of single precision": lambda x: np.nanmedian(x.astype("float32"), axis=1),
    "nanquantile": lambda x: np.nanquantile(x, [0.25, 0.6], axis=1, keepdims=True),
    "nanpercentile": lambda x: np.nanpercentile(x, 10, axis=0, method="higher"),
    "insert": lambda x: np.insert(x, 2, 7.0, axis=0),
    "insert a row": lambda x: np.insert(x, -1, np.arange(6.0), axis=0),
    "insert flat": lambda x: np.insert(x, 3, 1.0),
    "diff": lambda x: np.diff(x, axis=0),
    "diff prepended": lambda x: np.diff(x, prepend=0),
    "diff appended": lambda x: np.diff(x, axis=0, append=1.0),
    "ediff1d": np.ediff1d,
    "sort of a kind": lambda x: np.sort(x, axis=0, kind="stable"),
    "partition": lambda x: np.partition(x, 2)[:, 2],
    "argpartition": lambda x: np.take_along_axis(x, np.argpartition(x, 1), -1)[:, 1],
    "clip by name": lambda x: np.clip(x, a_min=-1, a_max=None),
    "clip": lambda x: np.clip(x, -1, 0.5),
    "around": lambda x: np.around(x / 3, 1),
    "fix": lambda x: np.fix(x * 1.7),
    "angle": np.angle,
    "ptp": lambda x: np.ptp(x, axis=1),
    "rollaxis": lambda x: np.rollaxis(x, 1),
    "nan_to_num": np.nan_to_num,
    "nan_to_num given": lambda x: np.nan_to_num(x, nan=1.0, posinf=9.0, neginf=-9.0),
    "nan_to_num of integers": lambda x: np.nan_to_num(np.nan_to_num(x).astype(np.int32)),
    "nan_to_num of complex": lambda x: np.nan_to_num(x * (1 + 0j)),
    "matvec": lambda x: np.matvec(x, np.arange(6.0)),
    "vecmat": lambda x: np.vecmat(np.arange(4.0), x),
    "accumulate": lambda x: np.add.accumulate(x, axis=1),
    "sum of some": lambda x: np.sum(x, axis=0, where=x > 0),
    "sum from 3": lambda x: np.sum(x, 1, initial=3.0),
    "prod of some": lambda x: np.prod(x, where=x > 0.5, initial=2.0),
    "max of some": lambda x: np.max(x, axis=0, where=x < 1, initial=-9.0),
    "min of nothing": lambda x: np.min(x[:0], axis=0, initial=4.0),
    "any of some": lambda x: np.any(x, axis=1, where=x < 0),
    "all of some": lambda x: np.all(x, axis=1, where=np.arange(6) < 2),
    "mean of some": lambda x: np.mean(x, axis=0, where=[[True], [False], [True], [True]]),
    "var of some": lambda x: np.var(x, axis=1, where=np.arange(6) < 5, ddof=1),
    "std of some": lambda x: np.std(x, where=np.arange(6) % 2 == 0),
    "reduce of some": lambda x: np.add.reduce(x, where=x > 0),
    "reduce from 2": lambda x: np.maximum.reduce(x, axis=1, initial=2.0),
    "reduce over nothing from 2": lambda x: np.subtract.reduce(x, axis=(), initial=2.0),
    "reduce of some from 5": lambda x: np.minimum.reduce(x, where=x > 0, initial=5.0),
    "iscomplex": np.iscomplex,
}
UNDEFINED = {"cov", "corrcoef", "cov of columns", "cov of one", "histogram", "bincount"}
UNDEFINED |= {"quantile", "percentile", "percentile midpoint", "nanquantile", "angle"}
"""Of infinities and NaN, NumPy refuses these, or says that inf between inf and inf is NaN."""


SOME = [("csr", 0.0), ("csc", FILLS[2]), ("coo", FILLS[3]), ("runs", 1.5)]


@pytest.mark.parametrize("name", OF_MATRICES)
@pytest.mark.parametrize(("format", "fill"), SOME, ids=str)
def test_functions_of_matrices(name: str, format: str, fill: float):
    if name in UNDEFINED and not np.isfinite(fill):
        pytest.skip("NumPy has no value of its own for this")
    if name in ("matvec", "vecmat") and not hasattr(np, name):
        pytest.skip("new in NumPy 2.2")
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
        lambda x: np.median(x, axis=(0, 2), keepdims=True),
        lambda x: np.nanquantile(x, [0.3, 0.5], axis=(-1, 0)),
        lambda x: np.full_like(x, 3.0, np.float32),
        lambda x: np.zeros_like(x, shape=(2, 5)),
        lambda x: np.ones_like(x, dtype=int, shape=4),
        lambda x: np.einsum("ijk,ijk->i", x, x, optimize=True),
        lambda x: np.transpose(x, (1, 2, 0)),
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
        lambda: np.average(x, weights=[1, 2]),
        lambda: np.select([x > 0], []),
        lambda: np.swapaxes(x, 0, 2),
        lambda: np.linalg.multi_dot([x]),
        lambda: np.cov(x[None]),
        lambda: np.max(x, where=x > 0),
        lambda: np.insert(x, 9, 0, axis=0),
        lambda: np.sum(x, axis=0, out=np.zeros(3)),
    ):
        with pytest.raises(ValueError, match=r".+"):
            wrong()


@pytest.mark.parametrize("name", ["max", "min", "sum", "prod"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "float32"])
def test_initial_values_have_the_type_of_results(dtype: str, name: str):
    """As in NumPy, where a number that is none of it is refused or rounded."""
    a = np.array([[3, 0, 1], [0, 0, 2]], dtype)
    x, call = ln.asarray(a, format="csr"), getattr(np, name)
    for where in (True, a > 0, np.zeros((2, 3), bool)):
        for initial in (0, True, 1.0, np.int8(1)):
            found = call(x, axis=1, where=where, initial=initial)
            expected = call(a, axis=1, where=where, initial=initial)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.to_numpy(), expected)
        if dtype != "float32":
            with pytest.raises(ln.errors.DTypeError, match="does not fit"):
                call(x, axis=1, where=where, initial=np.inf)


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


CONCATENATE = """concatenate(
    (a1, a2, ...),
    axis=0,
    out=None,
    casting="same_kind"
)"""
TOLD = [
    (CONCATENATE, "(a1, a2, ...) axis out casting", [0, None, "same_kind"]),
    ("inner(a, b, /)", "a b", []),
    ("where(condition, [x, y], /)", "condition [x, y]", []),
    ("like(prototype, dtype=None, order='K', *,\n     device=None)", "prototype dtype order device",
     [None, "K", None]),
    ("Joins arrays.", "", []),
    ("", "", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names", "defaults"), TOLD)
def test_what_the_documentation_of_older_numpys_tells(text, names, defaults):
    found = dispatch._documented(f"{text}\n\nMore on it.")
    assert " ".join(found) == names
    assert [value for value in found.values() if value is not inspect.Parameter.empty] == defaults


@pytest.mark.parametrize("text", [CONCATENATE, None])
def test_functions_of_older_numpys_have_no_signature(text, monkeypatch):
    """They are not written in Python; and with `python -OO` nothing tells of their arguments."""

    def concatenate(*args, **named):
        raise AssertionError("not to be called")

    def refuse(function):
        if function is concatenate:
            raise ValueError("no signature found")
        return inspect.signature(function)

    monkeypatch.setattr(dispatch, "signature", refuse)
    concatenate.__doc__ = text
    x, a = matrix("csr")

    def call(*args, **named):
        return dispatch.array_function(concatenate, (ln.Tensor,), args, named)

    _check(call([x, x], axis=1), np.concatenate([a, a], axis=1))
    if text is None:
        with pytest.raises(ln.LinnetError, match="does not tell what the arguments"):
            call([x, x], 1)
        return
    _check(call([x, x], 1), np.concatenate([a, a], 1))
    _check(call([x, x], 1, None, casting="same_kind"), np.concatenate([a, a], 1))


def test_variances_of_groups_with_means_far_apart():
    x = ln.asarray([1e16, 1e16, 1.0, 3.0])
    _check(ln.groupby(x, [0, 0, 1, 1]).var(), np.array([0.0, 1.0]))
    infinite = ln.groupby(ln.asarray([np.inf, 2.0, 3.0]), [0, 1, 1]).var()
    _check(infinite, np.array([np.nan, 0.25]))
    for fill in (0.0, 2.0, float("nan"), float("inf")):
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


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: np.unique(x, axis=0), "takes no axis"),
        (lambda x: np.percentile(x, 50, method="hazen"), "linear, lower, higher, midpoint"),
        (lambda x: np.cov(x, fweights=[1, 2]), "takes no fweights"),
        (lambda x: np.unwrap(x), "`np.unwrap` is not there"),
        (lambda x: np.save("nowhere.npy", x), r"ln\.write"),
        (lambda x: np.add.at(x, 0, 1), r"x\[i\] \+= y"),
        (lambda x: np.exp(x, where=x > 0), "takes no where"),
        (lambda x: np.transpose(x, nonsense=1), "unexpected keyword"),
        (lambda x: ln.permute_dims(x, 0), "not an order"),
        (lambda x: ln.tile(x, -1), "-1 times"),
    ],
)
def test_refusals_have_words(call: Callable[[Any], Any], said: str):
    with pytest.raises((TypeError, ValueError), match=said):
        call(matrix("csr")[0])


def test_what_is_found_is_put_where_it_is_wanted():
    x, a = matrix("csr")
    array, tensor = np.zeros(6), ln.zeros(6)
    assert np.sum(x, axis=0, out=array) is array
    assert np.sum(x, axis=0, out=tensor) is tensor
    for found in (array, tensor.to_numpy()):
        assert np.allclose(found, a.sum(0))


def test_elements_are_changed_as_numpy_does():
    x, a = matrix("csr")
    for f in (
        lambda y: np.copyto(y, 2.0, where=y > 1),
        lambda y: np.putmask(y, y < 0, 0.0),
        lambda y: np.fill_diagonal(y, 5.0),
    ):
        assert f(x) is f(a) is None
        assert np.array_equal(x.to_numpy(), a)
