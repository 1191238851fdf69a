"""Parts that are assigned to, by kernels: as NumPy, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.api.operands import cube, dense_matrix, matrix, same
from tests.api.test_indexing import VALUES

import linnet as ln

WIDE = 10**9  # columns: whoever goes through all of them is noticed
SOME = [("csr", 0.0), ("csc", 1.5), ("coo", float("nan"))]


@pytest.fixture(autouse=True)
def always_compiled() -> Iterator[None]:
    """Arrays of any size are large."""
    with ln.config(many=0):
        yield


@pytest.mark.parametrize("value", list(VALUES))
@pytest.mark.parametrize(("format", "fill"), [*SOME, ("runs", 0.0)])
def test_assignments(format: str, fill: float, value: str):
    x, array = matrix(format, fill)
    alias, before, kept = x[...], array.copy(), x.format
    key, new = VALUES[value]
    x[key] = new
    array[key] = new
    same(x, array)
    same(alias, before)
    assert x.format.describe() == kept.describe()


PARTS: dict[str, Any] = {
    "box": (slice(1, 3), slice(0, 2), slice(2, 5)),
    "plane": (slice(None), 2),
    "line": (1, slice(None), 3),
    "steps": (slice(None, None, 2), slice(None, None, -3)),
    "positions": (slice(1, 3), np.array([3, 0]), slice(None, 4)),
    "mask": (slice(None), np.array([True, False, True, True])),
    "nothing": slice(2, 2),
}


@pytest.mark.parametrize("part", list(PARTS))
@pytest.mark.parametrize("format", ["csf", "coo"])
def test_parts_of_cubes_are_assigned_to(format: str, part: str):
    key = PARTS[part]
    for sparse in (False, True):
        x, array = cube(format)
        new = dense_matrix(0.0, array[key].shape[-2:], 3)
        x[key] = ln.asarray(new, format="coo") if sparse else new
        array[key] = new
        same(x, array)


def test_what_is_assigned_where_a_sparse_mask_is_true():
    x, array = matrix("csr")
    x[x > 0.5] = 0.0
    array[array > 0.5] = 0.0
    same(x, array)
    x[ln.asarray(array < 0, format="coo")] = 2.5
    array[array < 0] = 2.5
    same(x, array)
    x[~(x == 2.5)] = 1.0  # true where nothing is stored
    array[array != 2.5] = 1.0
    same(x, array)


def test_an_element_of_a_wide_array_is_assigned_to():
    x = ln.tensor(([0, 2, 2], [5, 7, WIDE - 1]), [1.0, 2.0, 3.0], (3, WIDE), format="csr")
    x[2, 8] = 4.0
    x[0] = 0.0
    assert x.coords[1].tolist() == [7, 8, WIDE - 1]
    with pytest.raises(ValueError, match="do not fit"):
        x[1, 0:3] = np.ones(4)
    with pytest.raises(ValueError, match="would be dense"):
        x[1] = 1.0


@pytest.mark.parametrize("fill", [0.0, 1.0])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "runs", "band", "block", "hash"])
def test_points_are_assigned_to(format: str, fill: float):
    rng = np.random.default_rng(0)
    i, j = rng.integers(-4, 4, 9), rng.integers(-6, 6, 9)  # some of them twice: the last one counts
    mask = np.arange(24).reshape(4, 6) % 5 == 0
    for key, value in (
        ((i, j), 3.0),
        ((i, j), fill),
        ((i, j), rng.random(9)),
        ((i[:, None], j[:2]), rng.random((9, 2))),
        ((2, j), rng.random(9)),
        (mask, rng.random(5)),
    ):
        x, array = matrix(format, fill)
        array[key] = value
        old, x[key] = x.copy(), value
        same(x, array)
        assert x.fill_value == fill
        assert not np.array_equal(old.to_numpy(), array)
    x, array = matrix(format, fill)
    x[i, j] = ln.asarray([0.0, 2.0, 0.0], format=ln.COO)[np.arange(9) % 3]
    array[i, j] = np.array([0.0, 2.0, 0.0])[np.arange(9) % 3]
    same(x, array)
    with pytest.raises(ValueError, match=r"shapes \(2,\), \(9,\) do not fit together"):
        x[i, j] = [1.0, 2.0]
