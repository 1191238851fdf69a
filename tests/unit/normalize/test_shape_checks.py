"""What is computed from shapes is exact: dimensions reach 2**63, and their products go beyond."""

import pytest

from linnet import loops
from linnet.algebra import table
from linnet.normalize.shape_checks import evaluate

LARGE = 2**63 - 1


@pytest.mark.parametrize(
    ("function", "other", "expected"),
    [
        (table.add, 1, 2**63),
        (table.multiply, 4, 4 * LARGE),
        (table.subtract, -LARGE, 2 * LARGE),
        (table.maximum, 2, LARGE),
        (table.minimum, 2, 2),
        (table.floor_divide, 2, 2**62 - 1),
        (table.floor_divide, 0, 0),
        (table.remainder, 10, LARGE % 10),
    ],
)
def test_large_sizes(function, other, expected):
    sizes = loops.Dimension("A", 0), loops.Literal(other)
    assert evaluate(loops.Call(function, sizes), {"A": (LARGE,)}) == expected
    twice = loops.Call(table.multiply, (loops.Call(function, sizes), loops.Literal(2**10)))
    assert evaluate(twice, {"A": (LARGE,)}) == expected * 2**10
