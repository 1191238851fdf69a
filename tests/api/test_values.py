"""Functions of values, reductions and products of arrays, against NumPy in every format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.api.operands import (
    MATRIX_FORMATS,
    close,
    cube,
    cube_formats,
    filled_matrices,
    matrix,
    matrix_formats,
    same,
    stored,
)

import linnet as ln

quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / (y + 10),
    "<": lambda x, y: x < y,
    ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "**": lambda x, y: x**2 + y,
    "unary": lambda x, y: abs(-x) + +y,
    "reflected": lambda x, y: 2 - x + 3 * y,
}


@pytest.mark.parametrize("operator", list(OPERATORS))
@pytest.mark.parametrize("fill", [0.0, 1.5], ids=str)
@pytest.mark.parametrize("format", ["dense", "csr", "coo"])
def test_operators(format: str, fill: float, operator: str):
    (x, a), (y, b) = matrix(format, fill), matrix(format, fill, seed=1)
    same(OPERATORS[operator](x, y), OPERATORS[operator](a, b))


def test_operators_with_arrays_of_others():
    sp = pytest.importorskip("scipy.sparse")
    x, a = matrix("csr")
    same(x + sp.csr_array(a), a + a)
    same(x * a[0], a * a[0])
    same(a[0] * x, a[0] * a)
    same(np.float64(2.0) * x, 2 * a)
    close(x @ a.T, a @ a.T)
    close(a.T @ x, a.T @ a)
    assert (x * a[0]).format.name == "CSR"
    assert (x + sp.csr_array(a)).format.name == "CSR"


def test_operators_leave_strangers_alone():
    x, _ = matrix("csr")
    with pytest.raises(TypeError):
        x + "a"
    assert (x == "a") is False
    with pytest.raises(TypeError):
        hash(x)


REDUCTIONS = "sum prod min max mean var std any all".split()


@quiet
@pytest.mark.parametrize("axis", [None, 0, 1], ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
@filled_matrices
def test_reductions(format: str, fill: float, name: str, axis: Any):
    x, a = matrix(format, fill)
    close(getattr(ln, name)(x, axis=axis), getattr(np, name)(a, axis=axis))


@pytest.mark.parametrize("name", REDUCTIONS)
@cube_formats
def test_reductions_of_cubes_keep_dimensions(format: str, name: str):
    x, a = cube(format)
    found = getattr(x, name)(axis=(0, 2), keepdims=True)
    close(found, getattr(np, name)(a, axis=(0, 2), keepdims=True))


def test_sums_are_wide():
    assert ln.sum(ln.asarray(np.full(3, 200, np.uint8))).dtype == np.uint64
    assert int(ln.sum(ln.asarray(np.full(300, 127, np.int8)))) == 300 * 127
    assert ln.sum(ln.asarray([True, True])).dtype == np.int64
    assert ln.sum(ln.asarray([1, 2]), dtype=ln.float32).dtype == np.float32


def test_sums_of_single_precision_keep_their_digits():
    ones = np.ones(1 << 25, np.float32)
    ones[0] = 1 << 24
    assert float(ln.sum(ln.asarray(ones))) == np.float32((1 << 24) + (1 << 25) - 1)
    assert float(ln.mean(ln.asarray(ones))) == pytest.approx(1.5, rel=1e-6)
    half = ln.sum(ln.asarray(ones), acc_dtype=ln.float32)
    assert half.dtype == np.float32


def test_corrections():
    x, a = matrix("csr")
    close(x.var(axis=0, correction=1), a.var(0, ddof=1))
    close(x.std(axis=1, ddof=2), a.std(1, ddof=2))


@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax"])
def test_nothing_has_no_extreme(name: str):
    for format in ("dense", "coo"):
        with pytest.raises(ValueError, match=r"\(0,\)|no"):
            getattr(ln, name)(ln.zeros((0,), format=format))


@filled_matrices
def test_searches(format: str, fill: float):
    x, a = matrix(format, fill)
    for axis in (None, 0, 1):
        same(ln.argmax(x, axis=axis), np.argmax(a, axis))
        same(ln.argmin(x, axis=axis), np.argmin(a, axis))
        same(ln.count_nonzero(x, axis=axis), np.count_nonzero(a, axis))
    for found, expected in zip(ln.nonzero(x), np.nonzero(a), strict=True):
        same(found, expected)
    same(ln.argsort(x), np.argsort(a, kind="stable"))


@filled_matrices
def test_sets(format: str, fill: float):
    x, a = matrix(format, fill)
    found = ln.unique_all(x)
    values, first, inverse, counts = np.unique(a, True, True, True, equal_nan=False)
    same(found.values, values)
    same(found.counts, counts)
    if fill == fill:  # the order of different NaNs is not said
        same(found.indices, first)
        same(found.inverse_indices, inverse.reshape(a.shape))
    same(x.reshape(-1)[found.indices], values)
    same(found.values[found.inverse_indices], a)
    same(ln.isin(x, ln.asarray([1.0, 1.5])), np.isin(a, [1.0, 1.5]))


def test_searchsorted():
    x, a = matrix("csr")
    line = np.array([-1.0, 0.0, 0.0, 1.0])
    for side in ("left", "right"):
        same(ln.searchsorted(line, x, side=side), np.searchsorted(line, a, side))


@pytest.mark.parametrize("format", ["dense", "csr", "coo"])
def test_topk(format: str):
    x, a = matrix(format)
    values, places = ln.topk(x, 2)
    same(values, -np.sort(-a, 1)[:, :2])
    same(ln.take_along_axis(x, places, axis=1), values.to_numpy())
    low, _ = ln.topk(x, 3, axis=0, largest=False)
    same(low, np.sort(a, 0)[:3])
    with pytest.raises(ValueError, match="7 are asked for"):
        ln.topk(x, 7)


@pytest.mark.parametrize("format", ["dense", "csr"])
@pytest.mark.parametrize("largest", [False, True])
def test_topk_of_equal_elements(format: str, largest: bool):
    """The first of them, wherever the others are; NaN is larger than all numbers."""
    a = np.random.default_rng(0).integers(-1, 2, (40, 30)).astype(float)
    a[::2, ::7] = np.nan
    turned = np.where(np.isnan(a), 9, a) * (-1 if largest else 1)
    for k in (1, 3, 6, 20):
        places = np.argsort(turned, 1, kind="stable")[:, :k]
        found, at = ln.topk(ln.asarray(a, format=MATRIX_FORMATS[format]), k, largest=largest)
        same(at, places)
        same(found, np.take_along_axis(a, places, 1))


@pytest.mark.parametrize("format", ["dense", "csr", "csc", "coo", "runs"])
def test_running(format: str):
    x, a = matrix(format)
    for axis in (0, 1):
        close(ln.cumulative_sum(x, axis=axis), np.cumsum(a, axis))
        close(ln.cumulative_prod(x, axis=axis), np.cumprod(a, axis))
        same(ln.diff(x, axis=axis), np.diff(a, axis=axis))
    wide = ln.cumulative_sum(x, axis=1, include_initial=True)
    close(wide, np.concatenate([np.zeros((4, 1)), np.cumsum(a, 1)], 1))
    same(ln.diff(x, n=2, prepend=x[:, :1]), np.diff(a, n=2, prepend=a[:, :1]))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_running_sum_begins_with_its_first_element(dtype: str):
    a = np.array([-0.0, -0.0, 0.0, -0.0], dtype)
    for initial in (False, True):
        found = ln.cumulative_sum(ln.asarray(a), include_initial=initial).to_numpy()
        same(ln.asarray(np.signbit(found)), [False] * initial + [True, True, False, False])
    gaps = ln.tensor([[1]], np.array([5], dtype), (3,), format="csf")
    assert not np.signbit(ln.cumulative_sum(gaps).to_numpy()).any()


@pytest.mark.parametrize("fill", [0.0, -0.0])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
@pytest.mark.parametrize("format", ["dense", "csr", "csc", "coo", "runs"])
def test_a_running_sum_keeps_the_signs_of_zeros(format: str, dtype: str, fill: float):
    minus = complex(-0.0, -0.0) if dtype.startswith("c") else -0.0
    a = np.array([[minus, minus, 0, minus], [0, minus, 1, -1], [minus, 2, 0, 0], [0] * 4], dtype)
    x = ln.asarray(a, format=MATRIX_FORMATS[format], fill_value=fill)
    for axis in (0, 1):
        assert ln.cumulative_sum(x, axis=axis).to_numpy().tobytes() == np.cumsum(a, axis).tobytes()


@matrix_formats
def test_products(format: str):
    (x, a), (y, b) = matrix(format), matrix(format, seed=1)
    close(x @ y.T, a @ b.T)
    close(x @ np.arange(6.0), a @ np.arange(6.0))
    close(np.arange(4.0) @ x, np.arange(4.0) @ a)
    close(ln.vecdot(x, y), (a * b).sum(1))
    close(ln.tensordot(x, y, axes=2), np.tensordot(a, b, 2))
    close(ln.tensordot(x, y, axes=((0,), (0,))), np.tensordot(a, b, ((0,), (0,))))
    close(x.dot(y.T), a.dot(b.T))


@cube_formats
def test_products_of_stacks(format: str):
    (x, a), (y, b) = cube(format), cube(format, seed=1)
    close(x @ y.mT, a @ np.swapaxes(b, 1, 2))
    close(x[:1] @ y.mT, a[:1] @ np.swapaxes(b, 1, 2))
    close(
        ln.vecdot(x, y, axis=1) if format == "dense" else ln.vecdot(x, y, axis=-2), (a * b).sum(1)
    )


BOUNDS = [
    (0.5, 2.5), (None, 2.7), (-200, 300), (np.int64(1), np.int64(2)), (1, 2), (0, np.int16(300)),
    (np.array([0, 0, 0], np.int16), None), (0, np.array([1, 2, 3], np.uint8)), (True, None),
    (np.array([0.5, -1, 2]), None), (np.float64(1.1), None), (np.float32(0.1), 3),
    ([-1, 0, 1], np.uint64(2)),
]  # fmt: skip


@pytest.mark.parametrize("bounds", BOUNDS, ids=repr)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
def test_clip_has_the_dtype_of_numpy_where_numpy_is_asked(dtype: str, bounds: Any):
    a = np.array([-5, 3, 100]).astype(dtype)
    x = ln.asarray(a, format=ln.COO(1))
    try:
        right = np.clip(a, *bounds)
    except OverflowError:  # NumPy before 2.1 refuses Python's numbers that do not fit
        right = np.clip(a.astype(int), *bounds).astype(dtype)
    for found in (np.clip(x, *bounds), x.clip(min=bounds[0], max=bounds[1])):
        same(found, right)


def test_clip_of_the_standard_keeps_the_dtype():
    x = ln.asarray(np.array([-5, 3, 100], np.int8))
    same(
        ln.clip(x, np.int16(-300), np.array([1, 200, 300], np.int16)), np.array([-5, 3, 100], "i1")
    )
    same(
        ln.clip(x, max=ln.asarray(np.array([1, 200, 300], np.uint16))), np.array([-5, 3, 100], "i1")
    )
    assert ln.clip(x, 0.0, 2.0).dtype == x.dtype
    same(ln.clip(ln.asarray(np.array([3], np.uint8)), np.int8(-5), None), np.array([3], np.uint8))


def test_clip_where_round():
    x, a = matrix("csr")
    same(ln.clip(x, -1.0, 1.0), np.clip(a, -1, 1))
    same(ln.clip(x, max=0.5), np.clip(a, None, 0.5))
    same(x.clip(0), np.clip(a, 0, None))
    same(ln.where(x > 0, x, -1.0), np.where(a > 0, a, -1.0))
    same(ln.round(x), np.round(a))
    assert ln.clip(x, -1.0, 1.0).nnz == x.nnz


def test_values_have_types():
    x, a = matrix("csr")
    same(x.astype(ln.float32), a.astype(np.float32))
    same(ln.astype(x, bool), a.astype(bool))
    assert x.astype(ln.float32).buffers["idx1"] is not None
    with pytest.raises(TypeError, match="complex"):
        ln.astype(ln.asarray([1j]), ln.float64)
    assert ln.result_type(ln.float32, 1.0) == np.float32
    assert ln.can_cast(ln.int8, ln.int16)
    assert not ln.can_cast(ln.float64, ln.float32)
    assert ln.isdtype(x.dtype, ("integral", "real floating"))
    assert isinstance(ln.finfo(ln.float32).eps, float)
    assert ln.iinfo("int8").max == 127


def test_updates_in_place():
    x, a = matrix("csr")
    y, z = x, x.copy()
    x += x
    x *= 3
    same(y, a * 6)
    same(z, a)
    with pytest.raises(ValueError, match="cannot hold"):
        x += ln.zeros((2, 4, 6))
    n = ln.asarray([1, 2])
    with pytest.raises(TypeError, match="int64 cannot hold"):
        n += 0.5
    n += 1
    same(n, np.array([2, 3]))


@matrix_formats
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_fill_values_that_are_left_out_of_sums(format: str, dtype: str):
    """A column that is stored as a whole does not hear of an infinite fill value."""
    a = np.array([[1.0, np.inf, 3.0], [2.0, 3.0, np.inf]], dtype)
    x = stored(a, MATRIX_FORMATS[format], np.inf)
    for axis in (0, 1, None):
        same(ln.sum(x, axis=axis), a.sum(axis))
        same(ln.compute(ln.conj(ln.lazy(x)).sum(axis=axis)), a.conj().sum(axis))
    missing = stored(np.where(np.isinf(a), np.nan, a), MATRIX_FORMATS[format], np.nan)
    same(ln.sum(missing, axis=0), np.where(np.isinf(a), np.nan, a).sum(0))


@cube_formats
@pytest.mark.parametrize("fill", [0.0, 1.5])
def test_a_choice_between_arrays_of_many_dimensions(format: str, fill: float):
    """Kernels for three sparse arrays that meet grow with the power of the dimensions: not ours."""
    x, a = cube(format, fill)
    y, b = cube(format, fill, seed=1)
    positive, negative = a > 0, b < 0
    conditions = [(x > 0, positive), ((y < 0)[:1], negative[:1])]
    conditions.append(((x > 0)[:, :, 1:2], positive[:, :, 1:2]))
    for c, d in conditions:
        found = ln.where(c, x, y)
        close(found, np.where(d, a, b))
        close(ln.where(c, x, y[:, 1:2]), np.where(d, a, b[:, 1:2]))
        if format in ("coo", "csf"):
            assert found.format.name == x.format.name


def test_a_choice_in_six_dimensions():
    rng = np.random.default_rng(0)
    shapes = [(2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 2), (2, 2, 2, 2, 2, 2)]
    arrays = [np.where(rng.random(shape) < 0.5, rng.random(shape), 0.0) for shape in shapes]
    x, y, c = (ln.asarray(a, format=ln.COO) for a in arrays)
    close(ln.where(c > 0, x, y), np.where(arrays[2] > 0, arrays[0], arrays[1]))


MANY = [("dense", 3 * 10**6), ("csr", 3 * 10**6)]
MANY += [pytest.param("dense", 10**8, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("format", "count"), MANY)
def test_sums_of_many_small_values(format: str, count: int):
    """Of 10**8 tenths, too: where each is added to a sum of single precision, it is lost."""
    rows = np.full((10, count // 10), 0.1, np.float32)
    exact = count * float(np.float32(0.1))
    naive = float(np.cumsum(rows.reshape(-1), dtype=np.float32)[-1])
    assert abs(naive - exact) / exact > 1e-3
    x = ln.asarray(rows, format=MATRIX_FORMATS[format])
    del rows
    for total in (ln.sum(x), ln.sum(ln.sum(x, axis=0)), ln.sum(ln.sum(x, axis=1))):
        assert total.dtype == np.float32
        assert abs(float(total) - exact) / exact < 1e-6
    assert abs(float(ln.mean(x)) * count - exact) / exact < 1e-6


def test_types_that_are_given_for_means_and_variances():
    a = np.array([[1.0, 0.0, 3.0], [0.0, 0.0, 4.0]], np.float32)
    x = ln.asarray(a, format="csr")
    for name in ("mean", "var", "std"):
        found = getattr(ln, name)(x, axis=0, acc_dtype="f8", dtype="f8")
        close(found, getattr(np, name)(a, axis=0, dtype="f8"), 1e-6)
        assert getattr(ln, name)(x, axis=0, acc_dtype="f4").dtype == np.float32
    close(x.var(0, ddof=1, acc_dtype="f8"), a.var(0, ddof=1), 1e-6)
    with pytest.raises(TypeError, match="complex values are not accumulated"):
        ln.mean(ln.asarray([1j]), acc_dtype="f8")
