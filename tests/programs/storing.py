"""Vectors that store given places, and results that must."""

from __future__ import annotations

import itertools

import numpy as np
from tests.programs.cases import interpreted
from tests.programs.formats import nest

import linnet as ln
from linnet.formats.construct import unpack
from linnet.testing import assert_equal

SPARSE = ["S", "1", "B", "H"]
PAIRS = [(f, g) for f, g in itertools.product(SPARSE, SPARSE) if f <= g]
SIZE = 40


def drawn(seed: int, fill: float = 0.0, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Values, and the places at which they are stored; some stored ones are the fill value."""
    rng = np.random.default_rng(seed)
    places = rng.random(SIZE) < 0.5
    values = np.where(places, rng.integers(2, 9, SIZE), fill).astype(dtype)
    values[places & (rng.random(SIZE) < 0.2)] = fill
    return values, places


def stored(letters: str, values: np.ndarray, places: np.ndarray, fill: object = 0) -> ln.Tensor:
    """A vector that stores exactly these places."""
    return ln.tensor([np.flatnonzero(places)], values[places], values.shape, nest(letters), fill)


def check(
    kernel: ln.Kernel,
    letters: str,
    operands: list[ln.Tensor],
    values: np.ndarray,
    places: np.ndarray,
    fill: object = 0,
) -> None:
    """The result has these values, stored at these places."""
    made = interpreted(kernel, ln.empty_tensor(nest(letters)), operands, (SIZE,), fill)
    assert_equal(made, values)
    found = np.zeros(SIZE, bool)
    found[unpack(made)[0][0]] = True
    assert (found == places).all(), f"{found.sum()} places, expected {places.sum()}"
