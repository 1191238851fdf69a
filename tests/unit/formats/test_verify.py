"""With `check=True`, results are what their formats say; what is none is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet.api import moves
from linnet.api.programs import same_kind, stored
from linnet.errors import InternalError
from linnet.formats.assemble import wrap
from linnet.formats.format import Format
from linnet.formats.named import permute, settle
from linnet.formats.verify import unfinished
from linnet.runtime.compute import compute
from linnet.runtime.slices import sizes

SIZES = (2, 3)
FLOATS: Any = settle(ln.COO(2), "float64")
LISTS: Any = settle(ln.CSR, "float64")


def arrays(*found: Any) -> list[np.ndarray]:
    return [
        np.array(array, float if k == len(found) - 1 else "int32") for k, array in enumerate(found)
    ]


WRONG = [
    (FLOATS, arrays([0, 2], [1, 0], [0, 2], [1, 2]), r"has \(0, 2\) at position 1, after \(1, 0\)"),
    (FLOATS, arrays([0, 2], [1, 1], [2, 2], [1, 2]), r"has \(1, 2\) at position 1, after \(1, 2\)"),
    (FLOATS, arrays([0, 1], [2], [0], [1]), r"idx0\[0\] is 2, outside its dimension of size 2"),
    (LISTS, arrays([0, 1, 1], [0, 1], [1, 2]), r"ptr ends with 1, and 2 coordinates are stored"),
    (LISTS, arrays([0, 1, 2], [0, 1], [1]), r"val has 1 elements, and 2 are called for"),
    (LISTS, [*arrays([0, 0, 0], [], [])[:2], np.zeros(0, "float32")], "val has dtype float32"),
]


@pytest.mark.parametrize(("format", "held", "text"), WRONG)
def test_what_is_no_tensor_is_told(format: Format, held: list[np.ndarray], text: str):
    with pytest.raises(InternalError, match=f"a result is no tensor in the format .*{text}"):
        wrap(format, SIZES, held)
    with ln.config(check=False):
        assert wrap(format, SIZES, held).shape == SIZES
    with unfinished():
        assert wrap(format, SIZES, held).shape == SIZES


def by_columns(*rows: int) -> ln.Tensor:
    """A matrix of three columns, with an element in one row of each."""
    return ln.asarray(np.eye(3)[list(rows)].T, format=permute(ln.COO(2), (1, 0)))


def test_a_kernel_that_does_not_keep_its_promise_is_told_in_every_call():
    """It goes through columns and says that it writes in order, by rows."""
    x = by_columns(2, 0, 1)
    kernel = moves._tile(x.format, 1, "0.0")
    for _ in range(4):
        with pytest.raises(InternalError, match="coordinates must rise"):
            compute(kernel, FLOATS, (x,), (), (3 * stored(x), 3, 9, 3))
    assert compute(kernel, same_kind(x), (x,), (), (3 * stored(x), 3, 9, 3)).shape == (3, 9)


def test_what_is_written_to_memory_that_was_there_is_looked_at_too():
    right, wrong = by_columns(0, 1, 2), by_columns(0, 2, 1)
    kernel = moves._tile(right.format, 1, "0.0")
    C = ln.empty_tensor(FLOATS)
    for x in (right, right, right):
        kernel(C, x, sizes((3, 3, 3, 1)))
        np.testing.assert_array_equal(C.to_numpy(), np.eye(3))
    with pytest.raises(InternalError, match="coordinates must rise"):
        kernel(C, wrong, sizes((3, 3, 3, 1)))
