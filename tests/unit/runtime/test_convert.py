"""Conversions that keep a fill value read the memory of a tensor under another name."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.formats.named import settle
from linnet.runtime import convert

VALUES = np.array([[5.0, 1.0, 5.0], [2.0, 5.0, 3.0]])


@ln.kernel
def write(x, y):
    x[...] = 5
    for i, j in ...:
        x[i, j] = y[i, j]


@pytest.mark.parametrize("target", [ln.DENSE(2), ln.CSC], ids=str)
def test_who_writes_meanwhile_takes_other_memory(target: ln.Format, monkeypatch):
    y = ln.asarray(VALUES, format=ln.CSR, fill_value=5.0)
    z = ln.asarray(VALUES + 1, format=ln.CSR, fill_value=5.0)
    x = ln.empty_tensor(ln.CSR)
    write(x, y)
    name = "_filling_kernel" if target == ln.DENSE(2) else "convert"
    general, places = getattr(convert, name), []

    def interrupted(*args: object) -> object:
        places.append([b.address for b in x.contents().buffers])
        write(x, z)  # as another thread would
        places.append([b.address for b in x.contents().buffers])
        return general(*args)

    monkeypatch.setattr(convert, name, interrupted)
    found = convert._with_its_fill(x, settle(target, "float64", 5.0))
    assert not {*places[0]} & {*places[1]}
    np.testing.assert_array_equal(found.to_numpy(), VALUES)
    np.testing.assert_array_equal(x.to_numpy(), VALUES + 1)
