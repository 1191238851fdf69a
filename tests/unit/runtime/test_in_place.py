"""Entries that are sorted where they are come out as those that are sorted elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.algebra.table import add, logical_or
from linnet.formats.coordinates import sort_unique
from linnet.runtime import in_place

CASES = {
    "matrix": (40_000, (3000, 5000), "float64"),
    "many at each place": (30_000, (30, 7), "float64"),
    "three dimensions": (20_000, (700, 20, 50), "int64"),
    "one bucket": (20_000, (1, 600), "complex128"),
    "one place": (2_000, (1, 1), "float32"),
    "fewer than a block": (100, (9, 9), "float64"),
    "nothing": (0, (3, 3), "float64"),
    "large dimensions": (5_000, (1 << 40, 1 << 20), "float64"),
    "conditions": (20_000, (100, 100), "bool"),
}


@pytest.mark.parametrize("name", CASES)
def test_as_elsewhere(name):
    """To the last bit: values at equal coordinates are added in given order."""
    count, dims, dtype = CASES[name]
    rng = np.random.default_rng(0)
    coords = [rng.integers(0, n, count).astype("i4" if n < 2**31 else "i8") for n in dims]
    values = (1e6 * rng.random(count) ** 9).astype(dtype)
    op = logical_or if dtype == "bool" else add
    want, total = sort_unique([idx.copy() for idx in coords], dims, values.copy(), op)
    found, held = in_place.sort_in_place(coords, dims, values, op)
    for a, b in zip((*want, total), (*found, held), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_nothing_but_what_is_given_is_written_to():
    """The result lies where the entries were; what cannot be written to is copied."""
    i, j, values = np.array([3, 1, 2] * 900), np.arange(2700) % 7, np.ones(2700)
    for array in (j, values):
        array.flags.writeable = False
    (rows, columns), held = in_place.sort_in_place([i, j], (4, 7), values, add)
    assert np.shares_memory(rows, i)
    assert not np.shares_memory(columns, j)
    assert (values == 1).all()
    assert held.sum() == 2700


def test_a_large_file_is_sorted_in_place(tmp_path, monkeypatch):
    monkeypatch.setattr("linnet.files.build.LARGE", 1000)
    rng = np.random.default_rng(1)
    i, j, values = rng.integers(0, 90, 5000), rng.integers(0, 80, 5000), rng.integers(1, 9, 5000)
    lines = [f"{r + 1} {c + 1} {v}" for r, c, v in zip(i, j, values, strict=True)]
    path = tmp_path / "large.mtx"
    head = "%%MatrixMarket matrix coordinate integer general\n90 80 5000\n"
    path.write_text(head + "\n".join(lines) + "\n")
    want = np.zeros((90, 80), np.int64)
    np.add.at(want, (i, j), values)
    for format in (None, ln.COO, ln.CSC):
        np.testing.assert_array_equal(ln.read(path, format=format).to_numpy(), want)
