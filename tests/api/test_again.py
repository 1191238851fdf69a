"""A call like one before takes its plan from memory: it must give what a first call gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.api.operands import MATRIX_FORMATS, close, dense_matrix, stored

import linnet as ln

SHAPES = [(4, 6), (5, 3), (1, 6), (4, 1), (0, 6), (3, 3)]
formats = pytest.mark.parametrize("format", ["dense", "csr", "coo", "runs"])


def matrices(format: str, fill: float = 0.0) -> Iterator[tuple[ln.Tensor, Any]]:
    """Matrices of one format and many shapes."""
    for seed, shape in enumerate(SHAPES):
        array = dense_matrix(fill, shape, seed)
        yield stored(array, MATRIX_FORMATS[format], fill), array


WITH_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "times": lambda x, c: x * c,
    "number first": lambda x, c: c - x,
    "plus": lambda x, c: x + c,
    "compared": lambda x, c: x > c,
    "larger": lambda x, c: np.maximum(x, c),
}
NUMBERS = [2, -0.5, True, np.float64(3.0), np.float32(0.1), np.bool_(True), 0.0]


@pytest.mark.parametrize("format", ["dense", "csr"])
@pytest.mark.parametrize("name", list(WITH_NUMBERS))
def test_numbers_of_every_kind(format: str, name: str):
    function = WITH_NUMBERS[name]
    for _ in range(2):
        for number in NUMBERS:
            for x, a in list(matrices(format))[:2]:
                found, expected = function(x, number), function(a, number)
                close(found, expected)
                assert found.dtype == expected.dtype


@formats
def test_operands_that_are_repeated(format: str):
    rows = [np.arange(1.0, n + 1) for n in (6, 3, 1)]
    for _ in range(2):
        for x, a in matrices(format):
            for row in (*rows, np.arange(1.0, len(a) + 1)[:, None], np.float64(2.0), a):
                try:
                    expected = a * row
                except ValueError:
                    with pytest.raises(ValueError, match="do not fit together"):
                        x * row
                    continue
                close(x * row, expected)
                close(row * x, expected)
                close(x * ln.asarray(row), expected)


@formats
def test_one_operand_twice(format: str):
    for _ in range(2):
        for x, a in matrices(format):
            y = x.copy()
            close(x - x, a - a)
            close(x + y, a + a)
            close(y * x, a * a)
            close(ln.where(x > 0, x, x), a)
            close(ln.clip(x, 0, 1), a.clip(0, 1))


@formats
@pytest.mark.parametrize("fill", [0.0, 1.5])
def test_slices_of_other_sizes(format: str, fill: float):
    keys: list[Any] = [
        slice(1, 3), slice(0, 2), slice(None), slice(2, 1), slice(-2, None), slice(1, 99),
        (slice(1, 3), slice(0, 2)), (slice(None), slice(1, 2)), (slice(0, 1),),
        slice(None, None, 2), slice(None, None, -1), (slice(None), slice(None, None, 2)),
        (slice(1, 2), slice(None, None, -2)), slice(np.int64(1), np.int64(2)), (1, slice(0, 2)),
    ]  # fmt: skip
    for _ in range(2):
        for x, a in matrices(format, fill):
            if 1 not in a.shape and 0 not in a.shape:
                for key in keys:
                    close(x[key], a[key])
                    assert x[key].fill_value == (0.0 if format == "dense" else fill)
            close(x[0:1, 0:1], a[0:1, 0:1])


@formats
def test_products_of_other_sizes(format: str):
    for _ in range(2):
        for x, a in matrices(format):
            m, n = a.shape
            close(x @ np.ones(n), a @ np.ones(n))
            close(np.ones(m) @ x, np.ones(m) @ a)
            close(x @ np.eye(n, 2), a @ np.eye(n, 2))
            close(x @ x.T, a @ a.T)
            close(x.T @ x, a.T @ a)
            close(x @ np.arange(n), a @ np.arange(n))
            with pytest.raises(ValueError, match="do not fit"):
                x @ np.ones(n + 1)


def test_arrays_in_every_order_of_memory():
    x, a = next(matrices("csr"))
    rows = np.arange(24.0).reshape(6, 4)
    orders = [rows.T, rows.T.copy(), rows.T[:, ::-1], rows.T.astype(">f8"), rows.T.astype("f4")]
    unaligned = np.frombuffer(b"x" + rows.T.tobytes(), np.float64, 24, 1).reshape(4, 6)
    for other in [*orders, unaligned, np.broadcast_to(np.arange(6.0), (4, 6))]:
        close(x * other, np.multiply(a, other))
        close(x @ np.asarray(other).T, a @ np.asarray(other).T)
