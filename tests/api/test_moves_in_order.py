"""Functions that sort values or count them, by kernels: as NumPy, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.api.operands import same, stored

import linnet as ln
from linnet.errors import FormatError, ShapeError

WIDE = 10**9  # columns: whoever goes through all of them is noticed
SORTED = [("float64", float("nan")), ("float32", -0.0), ("int8", 3), ("uint64", 0), ("bool", 0)]


@pytest.fixture(autouse=True)
def always_compiled() -> Iterator[None]:
    """Arrays of any size are large."""
    with ln.config(many=0):
        yield


@pytest.mark.parametrize(("dtype", "fill"), SORTED, ids=str)
@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO(2)], ids=str)
def test_fibers_are_sorted(format: Any, dtype: str, fill: float):
    rng = np.random.default_rng(0)
    array = rng.integers(-9 if dtype[0] in "fi" else 0, 9, (6, 40)).astype(dtype)
    if dtype[0] == "f":
        array[rng.random(array.shape) < 0.1] = rng.choice([np.nan, -np.nan, np.inf, -0.0])
    if dtype == "uint64":
        array[0] += np.uint64(2**63)
    array[rng.random(array.shape) < 0.5] = fill
    x = stored(array, format, fill)
    for d in (0, 1):
        same(ln.sort(x, axis=d), np.sort(array, d))
        same(ln.sort(x, axis=d, descending=True), np.flip(np.sort(array, d), d))
    values, counts = np.unique(array, return_counts=True, equal_nan=False)
    same(ln.unique_values(x), values)
    assert ln.unique_counts(x).counts.to_numpy().tolist() == counts.tolist()


def ragged(dtype: str, fill: float, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Small numbers, many of them equal, some the fill value; NaN and both zeros if there are."""
    rng = np.random.default_rng(seed)
    array = rng.integers(0 if dtype[0] in "bu" else -4, 4, shape).astype(dtype)
    if dtype[0] == "f":
        array[rng.random(shape) < 0.1] = np.nan
        array[rng.random(shape) < 0.1] = -0.0
    array[rng.random(shape) < rng.choice([0.1, 0.5, 0.9])] = fill
    return array


@pytest.mark.parametrize(
    ("dtype", "fill"), [*SORTED[:1], ("float32", -1.0), ("uint64", 2)], ids=str
)
@pytest.mark.parametrize("format", [ln.CSC, ln.CSF(3)], ids=str)
def test_extremes_of_fibers(format: Any, dtype: str, fill: float):
    for seed in range(4):
        array = ragged(dtype, fill, (3, 4, 6)[: format.ndim], seed)
        x = stored(array, format, fill)
        for axis in (*range(format.ndim), None):
            same(ln.argmax(x, axis=axis), np.argmax(array, axis))
            same(ln.argmin(x, axis=axis, keepdims=True), np.argmin(array, axis, keepdims=True))
        for d in range(format.ndim):
            k = (0, 1, 3, array.shape[d])[seed]
            for largest in (True, False):
                found = ln.topk(x, min(k, array.shape[d]), axis=d, largest=largest)
                expected = ln.topk(
                    ln.asarray(array), min(k, array.shape[d]), axis=d, largest=largest
                )
                for ours, theirs in zip(found, expected, strict=True):
                    same(ours, theirs.to_numpy())


ORDERED = [*SORTED, ("float32", 1.0), ("int64", -4), ("uint8", 2)]
LAYOUTS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "csf": (ln.CSF(3), (3, 4, 40)),
    "coo": (ln.COO(3), (3, 4, 40)),
    "dense": (ln.DENSE(3), (3, 4, 40)),
    "csc": (ln.CSC, (4, 40)),
    "runs": (ln.RLE, (4, 40)),
    "bytemap": (ln.Dense(ln.SparseByteMap(ln.Element())), (4, 40)),
    "hash": (ln.SparseList(ln.SparseHash(ln.Element())), (4, 40)),
    "list": (ln.SparseList(ln.Element()), (40,)),
}


@pytest.mark.parametrize(("dtype", "fill"), ORDERED, ids=str)
@pytest.mark.parametrize("format", list(LAYOUTS))
def test_positions_in_order(format: str, dtype: str, fill: float):
    """Of equal elements, the first stays first in both directions; NaN is the largest."""
    for seed in range(3):
        layout, shape = LAYOUTS[format]
        array = ragged(dtype, fill, shape, seed)
        x = stored(array, layout, fill)
        for d in range(array.ndim):
            same(ln.argsort(x, axis=d), np.argsort(array, d, kind="stable"))
            back = np.flip(np.argsort(np.flip(array, d), d, kind="stable"), d)
            same(ln.argsort(x, axis=d, descending=True), array.shape[d] - 1 - back)


@pytest.mark.parametrize(("dtype", "fill"), [*ORDERED, ("complex64", 1.0)], ids=str)
@pytest.mark.parametrize("format", list(LAYOUTS))
def test_different_values(format: str, dtype: str, fill: float):
    for seed in range(3):
        layout, shape = LAYOUTS[format]
        array = ragged(dtype, fill, shape, seed)
        if dtype == "complex64":
            array = array + 1j * ragged(dtype, 0.0, shape, seed + 9)
        x, expected = stored(array, layout, fill), np.unique(array, True, True, True)
        if dtype[0] != "f":
            for ours, theirs in zip(ln.unique_all(x), expected, strict=True):
                same(ours, theirs.reshape(ours.shape))
        check_distinct(x, array)


@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO(2)], ids=str)
@pytest.mark.parametrize("shape", [(0, 3), (4, 5), (1, 1)], ids=str)
def test_different_values_where_nothing_or_all_is_stored(shape: tuple[int, int], format: Any):
    for array in (np.zeros(shape), np.ones(shape), np.full(shape, np.nan)):
        x = stored(array, format)
        check_distinct(x, array)
        same(ln.argsort(x), np.argsort(array, kind="stable"))


def check_distinct(x: ln.Tensor, array: np.ndarray) -> None:
    """What is said of different values is true of an array, NaN being equal to nothing."""
    values, places, inverse, counts = (found.to_numpy() for found in ln.unique_all(x))
    expected, often = np.unique(array, return_counts=True, equal_nan=False)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(counts, often)
    np.testing.assert_array_equal(values[inverse], array)
    np.testing.assert_array_equal(array.reshape(-1)[places], values)
    for k in np.flatnonzero(values == values):
        assert places[k] == np.flatnonzero(array == values[k])[0]
    lost = inverse[array != array]
    assert len(np.unique(lost)) == len(lost)
    same(ln.unique_inverse(x).inverse_indices, inverse)
    for name, found in ln.unique_counts(x)._asdict().items():
        same(found, values if name == "values" else counts)


def test_different_values_of_more_elements_than_memory_has():
    x = ln.tensor(([0, 2, 2], [5, 7, WIDE - 1]), [1.0, 0.0, 1.0], (3, WIDE), format="csr")
    found = ln.unique_all(x)
    assert [part.to_numpy().tolist() for part in (found.values, found.indices, found.counts)] == [
        [0.0, 1.0], [0, 5], [3 * WIDE - 2, 2]
    ]  # fmt: skip
    assert found.inverse_indices.data.tolist() == [1, 0, 1]
    assert found.inverse_indices.format.name == "CSR"
    lost = ln.tensor(([0], [5]), [1.0], (3, WIDE), fill_value=np.nan)
    with pytest.raises(FormatError, match="every NaN"):
        ln.unique_all(lost)


@pytest.mark.parametrize(("dtype", "fill"), ORDERED, ids=str)
@pytest.mark.parametrize("format", list(LAYOUTS))
def test_extremes_of_all(format: str, dtype: str, fill: float):
    """The fill value takes part where something is not stored, and only there."""
    layout, shape = LAYOUTS[format]
    for seed in range(3):
        array = ragged(dtype, fill, shape, seed)
        for stands in (array, np.full(shape, 5, dtype), np.full(shape, fill, dtype)):
            x = stored(stands, layout, fill)
            for ours, theirs in ((x.max(), stands.max()), (x.min(), stands.min())):
                same(ours, theirs)


def test_values_of_more_elements_than_can_be_counted():
    """They are known all the same; how often each occurs is no number of 64 bits."""
    x = ln.tensor([[0], [0]], [2.0], (2**33, 2**33))
    assert ln.unique_values(x).to_numpy().tolist() == [0.0, 2.0]
    for counting in (ln.unique_counts, ln.unique_inverse, ln.unique_all):
        with pytest.raises(ShapeError, match="more elements than 64 bits can count"):
            counting(x)
