"""Arrays where a sequence is asked for: their rows, of which there may be too many to be made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ArgumentError, FormatError, ShapeError

VAST = 2**40
FORMATS = ["dense", "coo", "csf"]


def values(*shape: int) -> Any:
    found = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    return np.where(found % 3 == 0, 0.0, found)


def vast(*shape: int) -> ln.Tensor:
    """One element of many, at 3, 5, …"""
    return ln.tensor([[3], [5]][: len(shape)], [1.0], shape, format=ln.COO)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (4, 1, 2, 3)])
def test_rows_are_joined(shape: tuple[int, ...], format: str):
    given = values(*shape)
    x = ln.asarray(given, format=format)
    for axis in (*range(-len(shape) + 1, len(shape) - 1), None):
        found = ln.concat(x, axis=axis)
        assert np.array_equal(found.to_numpy(), np.concatenate(given, axis=axis))
        assert np.array_equal(np.concatenate(x, axis=axis).to_numpy(), found.to_numpy())
    for axis in range(-len(shape), len(shape)):
        found = ln.stack(x, axis=axis)
        assert np.array_equal(found.to_numpy(), np.stack(given, axis=axis))
        assert found.format.order == tuple(range(len(shape)))
    for ours, theirs in ((ln.vstack, np.vstack), (ln.hstack, np.hstack)):
        assert np.array_equal(ours(x).to_numpy(), theirs(given))


@pytest.mark.parametrize("format", FORMATS)
def test_numbers_are_joined(format: str):
    given = values(5)
    x = ln.asarray(given, format=format)
    for ours, theirs in ((ln.stack, np.stack), (ln.vstack, np.vstack), (ln.hstack, np.hstack)):
        assert np.array_equal(ours(x).to_numpy(), theirs(given))
    with pytest.raises(np.exceptions.AxisError):
        ln.concat(x)
    with pytest.raises(FormatError, match="nothing to join"):
        ln.concat(ln.asarray(np.zeros((0, 3)), format=format))


def test_more_rows_than_can_be_made():
    matrix, vector = vast(VAST, 8), vast(VAST)
    assert (ln.concat(matrix).shape, ln.concat(matrix).coords[0].tolist()) == ((8 * VAST,), [29])
    assert ln.concat(matrix, axis=None).shape == ln.hstack(matrix).shape == (8 * VAST,)
    assert ln.stack(matrix, axis=1).shape == (8, VAST)
    assert ln.vstack(matrix).shape == (VAST, 8)
    assert ln.stack(vector).shape == ln.hstack(vector).shape == (VAST,)
    assert ln.vstack(vector).shape == (VAST, 1)


def test_an_array_as_a_shape():
    one = ln.asarray(1.0)
    assert ln.broadcast_to(one, ln.asarray([2, 3])).shape == (2, 3)
    for shape in (vast(VAST), np.broadcast_to(1, (VAST,))):
        with pytest.raises(ShapeError, match=f"not an array of {VAST}"):
            ln.broadcast_to(one, shape)


SHIFTS = [((1, 2), None), ([3, -1], None), ((1, 2), 0), ((1, -3), 1), ((2,), (0, 1)), (1, (0, 1)),
          ((1, 2), (1, 0)), ((1, 2), (1, 1)), ((), ()), ((), 0), ((2,), None)]  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("shift", "axis"), SHIFTS)
def test_several_shifts(shift: Any, axis: Any, format: str):
    given = values(3, 4)
    expected = np.roll(given, shift, axis)
    x = ln.asarray(given, format=format)
    assert np.array_equal(np.roll(x, shift, axis).to_numpy(), expected)
    assert np.array_equal(ln.roll(x, shift, axis=axis).to_numpy(), expected)


def test_shifts_that_go_with_no_axes():
    with pytest.raises(ShapeError, match="3 shifts do not go with 2 axes"):
        ln.roll(ln.asarray(values(3, 4)), (1, 2, 3), axis=(0, 1))


@pytest.mark.parametrize("format", FORMATS)
def test_products_of_all_elements(format: str):
    """NumPy takes the elements of any array; the standard, and `ln.outer`, vectors alone."""
    a, b = values(2, 3), values(2, 1, 2)
    x, y = (ln.asarray(each, format=format) for each in (a, b))
    assert np.array_equal(np.outer(x, y).to_numpy(), np.outer(a, b))
    assert np.array_equal(np.outer(x, 2.0).to_numpy(), np.outer(a, 2.0))
    with pytest.raises(ShapeError, match="two vectors"):
        ln.outer(x, y)


@pytest.mark.parametrize("family", [ln.COO, ln.CSF, ln.DENSE])
def test_a_family_of_formats_is_no_constructor(family: Any):
    with pytest.raises(FormatError, match="takes a number of dimensions") as caught:
        family(ln.asarray(values(2, 3)))
    assert "family(ln.asarray(values(2, 3)))" in str(caught.value)
    assert f"ln.asarray(x, format=ln.{family.name})" in str(caught.value)


@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.BAND])
def test_a_format_is_no_constructor(format: Any):
    with pytest.raises(TypeError, match="is a format, and is not called") as caught:
        format(ln.asarray(values(2, 3)))
    assert "format(ln.asarray(values(2, 3)))" in str(caught.value)
    assert f"ln.asarray(x, format=ln.{format})" in str(caught.value)


def test_what_is_no_function_holds_a_list():
    with pytest.raises(ArgumentError, match=r"\(\[\],\) is not a function"):
        ln.reduce(([],), ln.asarray(values(2, 3)))


@pytest.mark.parametrize("format", FORMATS)
def test_the_size_of_what_is_not_read(format: str):
    x, v = ln.asarray(values(3, 4), format=format), np.ones(2)
    assert ln.einsum("y[i] += x.shape[1] * v[i]", x=x, v=v).tolist() == [4, 4]
    assert int(ln.einsum("y = x.shape[0]", x=x)) == 3


@pytest.mark.parametrize("format", FORMATS)
def test_an_array_tells_whether_a_value_is_in_it(format: str):
    x = ln.asarray(values(3, 4), format=format)
    assert 5.0 in x
    assert 0 in x
    assert 3.0 not in x
    assert np.nan not in x
    assert "words" not in x


def test_a_value_is_looked_for_among_what_is_stored():
    assert 1.0 in vast(VAST, VAST)
    assert 0.0 in vast(VAST)
    assert 2.0 not in vast(VAST)
