"""What is refused when a tensor is made of coordinates or by SciPy, and in which words."""

from __future__ import annotations

import numpy as np
import pytest
from tests.errors.refusing import refused

from linnet.errors import ArgumentError, DTypeError, FormatError, ShapeError
from linnet.formats.construct import asarray, tensor

MASKED = np.ma.array([1, 2], mask=[0, 1])


# -- coordinates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coords", "kind", "text"),
    [
        ([[0, 3], [0, 0]], FormatError, "coords[0][1] is 3, outside its dimension of size 3"),
        ([[0, 1], [0, -1]], FormatError, "coords[1][1] is -1, outside its dimension of size 3"),
        ([[0, 1], [0]], ShapeError, "coords[1] has 1 elements, coords[0] 2"),
        ([[0, 1], [0, 1], [0, 1]], ShapeError, "coords has 3 rows"),
        (
            [[0.0, 1.0], [0, 1]],
            DTypeError,
            "coords[0] has dtype float64, and coordinates are integers",
        ),
        ([[0, 1], [0, np.nan]], DTypeError, "coords[1] has dtype float64"),
        ([[True, False], [0, 1]], DTypeError, "coords[0] has dtype bool"),
        (np.array([[0, 1], [0, 1]], object), DTypeError, "coords[0] has dtype object"),
        ([["0", "1"], [0, 1]], DTypeError, "coords[0] has dtype <U1"),
        ([[[0], [1]], [0, 1]], ShapeError, "coords[0] has 2 dimensions"),
        ([[0, [1]], [0, 1]], ShapeError, "the rows of coords[0] differ in length"),
        (np.array([[2**63, 0], [0, 1]], "u8"), ShapeError, "coords[0][0] is 9223372036854775808"),
        ([MASKED, [0, 1]], ArgumentError, "coords[0] is a masked array"),
        (np.ma.array([[0, 1], [0, 1]]), ArgumentError, "coords is a masked array"),
        (5, ArgumentError, "coords is one array per dimension, not int"),
        (None, ArgumentError, "coords is one array per dimension, not NoneType"),
        ("ab", ArgumentError, "coords is one array per dimension, not str"),
        ({0: [1]}, ArgumentError, "coords is one array per dimension, not dict"),
    ],
)
def test_coordinates(coords, kind, text):
    refused(kind, lambda: tensor(coords, [1.0, 2.0], (3, 3)), text)


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        ([1.0], ShapeError, "values has shape (1,), and there are 2 coordinates"),
        ([1.0, 2.0, 3.0], ShapeError, "values has shape (3,), and there are 2 coordinates"),
        ([[1.0, 2.0]], ShapeError, "values has shape (1, 2)"),
        (["a", "b"], DTypeError, "dtype <U1"),
        ([None, None], DTypeError, "dtype object"),
        ([[1], [1, 2]], ShapeError, "the rows of values differ in length"),
        (MASKED, ArgumentError, "is a masked array"),
    ],
)
def test_values_of_coordinates(values, kind, text):
    refused(kind, lambda: tensor([[0, 1], [0, 1]], values, (3, 3)), text)


def test_combining_functions():
    refused(
        ArgumentError, lambda: tensor([[0, 1]], [1, 2], (2,), op="sum"), "'sum' is not a function"
    )
    refused(DTypeError, lambda: tensor([[0, 0]], [1, 2], (1,), op=np.true_divide), "gives float64")


# -- SciPy objects that somebody has broken --------------------------------------------------------


def broken(kind: str = "csr", **parts):
    sparse = pytest.importorskip("scipy.sparse")
    obj = getattr(sparse, f"{kind}_array")(np.eye(3))
    for name, array in parts.items():
        setattr(obj, name, np.asarray(array))
    return obj


@pytest.mark.parametrize(
    ("kind", "parts", "text"),
    [
        ("csr", {"indptr": [0, 2, 1, 3]}, "indptr falls from 2 to 1 at position 2\n"),
        ("csr", {"indptr": [0, 2, 1, 3]}, "row 1 is stored from indptr[1] to indptr[2]"),
        ("csc", {"indptr": [0, 2, 1, 3]}, "column 1 is stored from"),
        ("csr", {"indptr": [1, 1, 2, 3]}, "indptr[0] is 1, and must be 0"),
        ("csr", {"indptr": [0, 1, 2, 9]}, "indices has 3 elements, and indptr calls for 9"),
        ("csr", {"indptr": [0, 1]}, "indptr has 2 elements, and 4 are called for"),
        ("csr", {"indptr": []}, "indptr has 0 elements, and 4 are called for"),
        ("csr", {"indices": [0, 1, 3]}, "indices[2] is 3, outside its dimension of size 3"),
        ("csr", {"indices": [0, -1, 2]}, "indices[1] is -1, outside"),
        ("csr", {"data": [1.0]}, "data has 1 elements, and indptr calls for 3"),
        ("bsr", {"indices": [0, 1, 3]}, "indices[2] is 3, outside its dimension of size 3"),
        ("bsr", {"indptr": [0, 1, 2, 9]}, "calls for 9"),
        ("coo", {"data": [1.0]}, "coords[0] has 3 elements, and 1 are called for"),
    ],
)
def test_broken_scipy_arrays(kind, parts, text):
    obj = broken(kind, **parts)
    refused(FormatError, lambda: asarray(obj), text)


def test_broken_scipy_coordinates():
    obj = broken("coo")
    obj.coords = (np.array([0, 1, 3]), np.array([0, 1, 2]))
    refused(FormatError, lambda: asarray(obj), "coords[0][2] is 3, outside its dimension of size 3")


def test_scipy_values_of_other_dtypes():
    refused(DTypeError, lambda: asarray(broken(data=np.array([1, 2, 3], object))), "dtype object")
