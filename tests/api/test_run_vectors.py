"""Vectors of runs: searched, sorted, picked from, repeated, however many elements they have."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.api import runs

VAST = 2**40
LEVELS = [ln.RunList, ln.SparseRunList]
ARRAYS = [
    np.array([2.0, 2, 0, 0, 7, 7, 7, 0, -1, 2]),
    np.array([0.0, 0, 0]),
    np.array([1.0, np.nan, np.nan, 3, np.nan]),
    np.array([0.0, -0.0, -0.0, 0.0]),
    np.array([3, 3, 1, 0, 0], "int8"),
    np.array([False, True, True, False]),
]

levels = pytest.mark.parametrize("level", LEVELS)
arrays = pytest.mark.parametrize("array", ARRAYS, ids=str)


@pytest.fixture
def long(monkeypatch):
    """As if a few elements were too many to be listed."""
    monkeypatch.setattr(runs, "_LONG", 1)
    monkeypatch.setattr("linnet.api.programs._LONG", 1)


def check(found, expected):
    given = found.to_numpy()
    assert given.dtype == expected.dtype
    np.testing.assert_array_equal(given, expected)
    np.testing.assert_array_equal(
        np.signbit(given.astype(float)), np.signbit(expected.astype(float))
    )


@levels
@arrays
@pytest.mark.parametrize("fill", [0, 2])
def test_as_numpy_does(level, array, fill, long):
    x = ln.asarray(array, format=level(ln.Element()), fill_value=array.dtype.type(fill))
    if array.dtype != bool:
        check(ln.sort(x), np.sort(array, kind="stable"))
        check(ln.sort(x, descending=True), np.sort(array, kind="stable")[::-1])
        assert ln.argmax(x).item() == np.argmax(array)
        assert ln.argmin(x).item() == np.argmin(array)
        assert ln.argmax(x, keepdims=True).shape == (1,)
        for k in (0, 1, len(array)):
            for largest in (False, True):
                listed = ln.topk(ln.asarray(array), k, largest=largest)
                for found, expected in zip(ln.topk(x, k, largest=largest), listed, strict=True):
                    check(found, expected.to_numpy())
        ordered, sought = np.sort(array), np.array([-9, 0, 1, 2, 8, *array], array.dtype)
        for side in ("left", "right"):
            found = ln.searchsorted(ln.sort(x), ln.asarray(sought), side=side)
            check(found, np.searchsorted(ordered, sought, side))
    listed = np.unique(array, True, True, True, equal_nan=False)
    for found, expected in zip(ln.unique_all(x), listed, strict=True):
        np.testing.assert_array_equal(found.to_numpy(), expected)
    check(ln.nonzero(x)[0], np.nonzero(array)[0])
    at = np.array([2, 0, 2, -1])
    check(x[at], array[at])
    check(ln.take(x, at % len(array)), array[at])
    for mask in (array == array[0], array != array, np.isfinite(array)):
        check(x[ln.asarray(mask, format=level(ln.Element(False)))], array[mask])
    for times in (0, 1, 3):
        check(ln.repeat(x, times), np.repeat(array, times))


@levels
def test_what_is_stored_decides_the_time(level):
    x = ln.repeat(ln.asarray([2.0, 5.0, 0.0, 7.0], format=level(ln.Element())), VAST // 4)
    assert x.shape == (VAST,)
    assert (ln.argmax(x).item(), ln.argmin(x).item()) == (3 * VAST // 4, VAST // 2)
    ordered = ln.sort(x)
    assert [ordered[k].item() for k in (0, VAST // 4, VAST // 2, VAST - 1)] == [0, 2, 5, 7]
    assert [part.to_numpy().tolist() for part in ln.topk(x, 2)] == [
        [7.0, 7.0],
        [3 * VAST // 4, 3 * VAST // 4 + 1],
    ]
    sought = ln.searchsorted(ordered, ln.asarray([1.0, 5.0, 9.0]))
    assert sought.to_numpy().tolist() == [VAST // 4, VAST // 2, VAST]
    assert x[x == 5.0].shape == (VAST // 4,)
    assert x[x > 100.0].shape == (0,)
    assert (x == 5.0).sum().item() == ln.count_nonzero(x == 5.0).item() == VAST // 4
    assert x[np.array([0, VAST - 1, VAST // 2])].to_numpy().tolist() == [2.0, 7.0, 0.0]
    assert ln.unique_values(x).to_numpy().tolist() == [0.0, 2.0, 5.0, 7.0]
    assert np.median(x).item() == 3.5
    found = ln.unique_all(x)
    assert found.values.to_numpy().tolist() == [0.0, 2.0, 5.0, 7.0]
    assert found.indices.to_numpy().tolist() == [VAST // 2, 0, VAST // 4, 3 * VAST // 4]
    assert found.counts.to_numpy().tolist() == [VAST // 4] * 4
    assert found.inverse_indices.shape == (VAST,)
    at = np.array([0, VAST // 4, VAST // 2, VAST - 1])
    assert ln.unique_inverse(x).inverse_indices[at].to_numpy().tolist() == [1, 2, 0, 3]
    few = ln.zeros((VAST,), format=level(ln.Element(0.0)))
    few[VAST - 2 :] = 1.0
    assert ln.nonzero(few)[0].to_numpy().tolist() == [VAST - 2, VAST - 1]
    with pytest.raises(ValueError, match="not zero would be dense"):
        ln.nonzero(x)
    with pytest.raises(ValueError, match="too large"):
        ln.repeat(x, 2**40)
    with pytest.raises(IndexError, match="out of bounds"):
        x[np.array([VAST])]


@pytest.mark.parametrize("part", ["data", "coords"])
def test_what_cannot_be_listed_is_told_with_the_line(part):
    x = ln.full((VAST,), 1.0, format=ln.RunList(ln.Element()))
    with pytest.raises(MemoryError, match="test_run_vectors"):
        getattr(x, part)
