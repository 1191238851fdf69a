"""The C of the kernels that move elements of a CSR matrix: one walk, no search inside."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.api import moves, picking, reshaping
from linnet.api.storage import dense
from linnet.formats.level import APPEND
from linnet.runtime.slices import sizes

A = ln.asarray(np.eye(4), format=ln.CSR)
MAP = dense(np.arange(4, dtype=np.int32))
FORMAT, FILL = A.format, repr(0.0)
KERNELS = [
    (picking._gather(FORMAT, 0, FILL), (A, MAP), 0),
    (picking._rename(FORMAT, 1, FILL, APPEND), (A, MAP), 0),
    (picking._spread(FORMAT, 1, FILL, APPEND, True), (A, MAP, MAP), 0),
    (moves._concat(FORMAT, 1, FILL, 2), (A, A), 2),
    (moves._roll(FORMAT, 1, FILL), (A,), 2),
    (moves._flip(FORMAT, 0, FILL), (A,), 1),
    (moves._tile(FORMAT, 1, FILL), (A,), 1),
    (moves._triangle(FORMAT, True, FILL), (A,), 2),
    (reshaping._reshape(FORMAT, 2, (((0, 1), (0, 1)),), FILL), (A,), 0),
]


@pytest.mark.parametrize(("kernel", "operands", "numbers"), KERNELS, ids=lambda k: str(k)[:20])
def test_code(golden, kernel, operands, numbers):
    """The kernel itself, given how much it will store, two sizes, and further numbers."""
    code = kernel.code(ln.empty_tensor(FORMAT), *operands, sizes((9, 4, 4, *[2] * numbers)))
    golden(f"moves/{kernel.__name__}.c", code[code.index(f"i64 {kernel.__name__}(") :])
