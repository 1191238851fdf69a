"""Conversions keep fill values of any kind, by one kernel for all of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import ALL, array_for, nest

import linnet as ln
from linnet.formats.construct import asarray
from linnet.runtime.convert import copy_kernel

SOURCES = ["D" + letter for letter in ALL] + ["SS", "CS", "SU", "BH"]
TARGETS = [nest("DS"), nest("DD", (1, 0)), nest("SC"), nest("DN")]


@pytest.mark.parametrize("letters", SOURCES)
def test_every_format(letters):
    rng = np.random.default_rng(len(letters) + ord(letters[-1]))
    whole = array_for(letters, (6, 7), rng)
    for fill in (2.5, np.nan):
        array = np.where(whole == 0, fill, whole)
        tensor = asarray(array, format=nest(letters).with_fill(fill))
        for target in TARGETS:
            made = tensor.to(target.with_fill(fill))
            np.testing.assert_array_equal(made.to_numpy(), array, str((letters, fill, target)))
            np.testing.assert_equal(made.fill_value, fill)


def test_a_thousand_fill_values_are_one_kernel():
    A = ln.asarray(np.eye(3), format=ln.CSR)
    (A + 0.25).to_numpy(), (A + 0.25).to(ln.COO), (A + 0.25).to(ln.CSC)
    before = copy_kernel.cache_info().misses
    for c in np.linspace(1, 2, 1000):
        np.testing.assert_array_equal((A + c).to_numpy(), np.eye(3) + c)
    for c in np.linspace(1, 2, 10):
        for format in (ln.COO, ln.CSC):
            np.testing.assert_array_equal((A + c).to(format).to_numpy(), np.eye(3) + c)
    assert copy_kernel.cache_info().misses <= before + 4  # for 0, there and back
