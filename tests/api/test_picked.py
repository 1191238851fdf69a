"""Rows, masks, points and slices with steps of large arrays: the same the first time and later."""

import numpy as np
import pytest

import linnet as ln

RNG = np.random.default_rng(3)
DENSE = np.where(RNG.random((300, 200)) < 0.1, RNG.integers(1, 9, (300, 200)), 0).astype(float)
FORMATS = [ln.CSR, ln.CSC, ln.DCSR, ln.COO(2)]
ROWS, COLUMNS = RNG.integers(0, 200, 150), RNG.integers(0, 200, 150)
MASK = np.arange(300) % 3 == 1


def others(given):
    """The same kind of index with other numbers, of another length."""
    return given[: len(given) // 2][::-1].copy()


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("fill", [0.0, np.nan])
@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_rows_and_points_at_any_integers(format, fill, dtype):
    x = ln.asarray(np.where(DENSE == 0, fill, DENSE), format=format, fill_value=fill)
    expected = x.to_numpy()
    for change in (np.asarray, others, np.asarray):
        rows, columns = (change(p).astype(dtype) for p in (ROWS, COLUMNS))
        np.testing.assert_array_equal(x[rows].to_numpy(), expected[rows])
        np.testing.assert_array_equal(x[rows, columns].to_numpy(), expected[rows, columns])
    assert x[rows].format == x.format


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_what_counts_from_the_end_what_selects_nothing_and_what_is_outside(format):
    x = ln.asarray(DENSE, format=format)
    for _ in range(2):
        np.testing.assert_array_equal(x[ROWS - 200].to_numpy(), DENSE[ROWS - 200])
        at = ROWS - 200, COLUMNS - 200
        np.testing.assert_array_equal(x[at].to_numpy(), DENSE[at])
        np.testing.assert_array_equal(x[MASK].to_numpy(), DENSE[MASK])
        assert x[np.zeros(300, bool)].shape == (0, 200)
        assert x[ROWS[:0]].shape == (0, 200)
        assert x[ROWS[:0], ROWS[:0]].shape == (0,)
        for wrong in (300, -301):
            with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for dimension 0"):
                x[np.array([1, wrong])]
        with pytest.raises(IndexError, match="index 200 is out of bounds for dimension 1"):
            x[np.array([1, 2]), np.array([0, 200])]
        with pytest.raises(IndexError, match="a mask of shape"):
            x[MASK[1:]]
        with pytest.raises(ValueError, match="do not fit together"):
            x[ROWS, COLUMNS[1:]]


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize(
    "keys",
    [
        (np.s_[::2], np.s_[1::2], np.s_[7:90:2], np.s_[400::2]),
        (np.s_[:, ::3], np.s_[:, 5:50:3], np.s_[:, 199::3]),
        (np.s_[::2, 1::3], np.s_[3:9:2, 8:100:3], np.s_[::1000, ::3]),
    ],
    ids=["rows", "columns", "both"],
)
def test_slices_with_steps_of_any_bounds(format, keys):
    x = ln.asarray(DENSE, format=format)
    for key in (*keys, *keys):
        found = x[key]
        assert found.format == x.format
        np.testing.assert_array_equal(found.to_numpy(), DENSE[key])
