"""What is refused when a tensor is made, and in which words."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from tests.errors.refusing import refused

from linnet.errors import (
    ArgumentError,
    DTypeError,
    FormatError,
    OutOfMemoryError,
    ShapeError,
)
from linnet.formats.construct import asarray, empty_tensor, from_buffers, scalar, tensor
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.named import COO, CSC, CSF, CSR, DENSE
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_hash import SparseHash
from linnet.formats.sparse_list import SparseList

GOOD = {"ptr1": [0, 2, 2, 3], "idx1": [0, 2, 1], "val": [1.0, 2.0, 3.0]}
MASKED = np.ma.array([1, 2], mask=[0, 1])


def test_the_layout_of_a_message():
    error = refused(FormatError, lambda: from_buffers(CSR, (3, 3), GOOD | {"idx1": [0, 3, 1]}))
    lines = str(error).splitlines()
    assert lines[0] == "level1.idx[1] is 3, outside its dimension of size 3"
    assert lines[1].startswith(f'  File "{__file__}", line ')
    assert "from_buffers(CSR, (3, 3)" in lines[2]
    assert lines[3] == "why:  coordinates run from 0 to 2"


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"ptr1": [1, 2, 2, 3]}, FormatError, "level1.ptr[0] is 1, and must be 0"),
        ({"ptr1": [0, 2, 1, 3]}, FormatError, "level1.ptr falls from 2 to 1 at position 2"),
        ({"ptr1": [0, 2, 2, 2]}, FormatError, "level1.ptr ends with 2, and 3 coordinates"),
        ({"ptr1": [0, 2, 2, 9]}, FormatError, "level1.ptr ends with 9, and 3 coordinates"),
        ({"ptr1": [0, 2, 3]}, FormatError, "level1.ptr has 3 elements, and 4 are called for"),
        ({"ptr1": []}, FormatError, "level1.ptr has 0 elements, and 4 are called for"),
        ({"ptr1": [0, -1, 2, 3]}, FormatError, "level1.ptr falls from 0 to -1 at position 1"),
        ({"idx1": [0, 2, 3]}, FormatError, "level1.idx[2] is 3, outside its dimension of size 3"),
        ({"idx1": [-1, 2, 1]}, FormatError, "level1.idx[0] is -1, outside"),
        ({"idx1": [2, 0, 1]}, FormatError, "fiber 0 of level1.idx has 0 at position 1, after 2"),
        ({"idx1": [2, 2, 1]}, FormatError, "a coordinate is stored twice"),
        ({"idx1": [0, 2]}, FormatError, "level1.ptr ends with 3, and 2 coordinates"),
        ({"idx1": [0.0, 2.0, 1.0]}, DTypeError, "level1.idx has dtype float64"),
        ({"idx1": [True, False, True]}, DTypeError, "level1.idx has dtype bool"),
        ({"idx1": [[0, 2, 1]]}, ShapeError, "level1.idx has 2 dimensions"),
        ({"idx1": 3}, ShapeError, "level1.idx has 0 dimensions"),
        ({"idx1": ["a"]}, DTypeError, "level1.idx has dtype <U1"),
        (
            {"idx1": np.array([0, 2, 2**63], "u8")},
            ShapeError,
            "level1.idx[2] is 9223372036854775808",
        ),
        ({"val": [1.0, 2.0]}, FormatError, "level2.val has 2 elements, and 3 are called for"),
        ({"val": [[1.0, 2.0, 3.0]]}, ShapeError, "level2.val has 2 dimensions"),
        ({"val": ["a", "b", "c"]}, DTypeError, "does not hold values of dtype <U1"),
        ({"val": np.zeros(3, "f2")}, DTypeError, "does not hold values of dtype float16"),
        ({"val": np.ma.array([1.0, 2, 3])}, ArgumentError, "level2.val is a masked array"),
        ({"idx1": np.ma.array([0, 2, 1])}, ArgumentError, "level1.idx is a masked array"),
        ({"pos1": [0]}, FormatError, "CSR has no array pos1"),
    ],
)
def test_raw_buffers(change, kind, text):
    refused(kind, lambda: from_buffers(CSR, (3, 3), GOOD | change), text)


def test_raw_buffers_that_are_good():
    from_buffers(CSR, (3, 3), GOOD)
    from_buffers(CSR, (3, 3), {n: np.array(a, order="C")[::1] for n, a in GOOD.items()})
    from_buffers(CSR, (3, 3), GOOD | {"idx1": np.array([0, 2, 1], "u2")})


@pytest.mark.parametrize("given", [list(GOOD.values()), [np.zeros(3)], None, "val", 3])
def test_buffers_without_names(given):
    refused(ArgumentError, lambda: from_buffers(CSR, (3, 3), given), "given by their names")


def test_missing_buffers():
    for name in GOOD:
        rest = {n: a for n, a in GOOD.items() if n != name}
        refused(FormatError, lambda rest=rest: from_buffers(CSR, (3, 3), rest), "is missing")


def test_values_of_another_dtype():
    format = CSR.with_dtype("float32")
    refused(
        DTypeError,
        lambda: from_buffers(format, (3, 3), GOOD),
        "dtype float64, and the format wants float32",
    )


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        (
            {"idx0_0": [0, 1, 1], "idx0_1": [0, 2, 1]},
            "fiber 0 of level0 has (1, 1) at position 2, after (1, 2)",
        ),
        ({"idx0_0": [0, 1, 1], "idx0_1": [0, 2, 2]}, "a coordinate is stored twice"),
        ({"idx0_0": [1, 0, 1], "idx0_1": [0, 2, 2]}, "has (0, 2) at position 1, after (1, 0)"),
        (
            {"idx0_0": [0, 1, 2], "idx0_1": [0, 1, 2]},
            "level0.idx0[2] is 2, outside its dimension of size 2",
        ),
        (
            {"idx0_0": [0, 1, 1], "idx0_1": [0, 1]},
            "level0.idx1 has 2 elements, and 3 are called for",
        ),
        ({"idx0_0": [0, 1], "idx0_1": [0, 1]}, "level0.ptr ends with 3, and 2 coordinates"),
    ],
)
def test_raw_coordinates(arrays, text):
    given = {"ptr0": [0, 3], "val": [1.0, 2.0, 3.0]} | arrays
    refused(FormatError, lambda: from_buffers(COO, (2, 3), given), text)


@pytest.mark.parametrize(
    ("arrays", "kind", "text"),
    [
        ({"tbl0": [True, False]}, FormatError, "level0.tbl has 2 elements, and 3 are called for"),
        ({"tbl0": [True, False, False]}, FormatError, "level0.tbl[2] is not set"),
        ({"tbl0": [True, True, True]}, FormatError, "level0.tbl[1] is set"),
        ({"tbl0": [1, 0, 1]}, DTypeError, "level0.tbl has dtype int64, and must have bool"),
        ({"key0": [0, 1]}, FormatError, "level0.key does not list the positions"),
        ({"key0": [0]}, FormatError, "level0.key does not list the positions"),
        ({"idx0": [0, 7]}, FormatError, "level0.idx[1] is 7, outside"),
        ({"val": [1.0, 2.0]}, FormatError, "level1.val has 2 elements, and 3 are called for"),
    ],
)
def test_byte_maps(arrays, kind, text):
    given = {"ptr0": [0, 2], "idx0": [0, 2], "val": [1.0, 0.0, 2.0]} | arrays
    refused(kind, lambda: from_buffers(SparseByteMap(Element(0.0)), 3, given), text)


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"sub0": [0, 0]}, "level0.sub[1] is 0, which another entry has already"),
        ({"sub0": [0, 2]}, "level0.sub[1] is 2, outside"),
        ({"sub0": [0]}, "level0.sub has 1 elements, and 2 are called for"),
        ({"idx0": [2, 0]}, "fiber 0 of level0.idx has 0 at position 1, after 2"),
    ],
)
def test_hashes(arrays, text):
    given = {"ptr0": [0, 2], "idx0": [0, 2], "val": [1.0, 2.0]} | arrays
    refused(FormatError, lambda: from_buffers(SparseHash(Element(0.0)), 3, given), text)


# -- shapes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((2, -1), "dimension 1 of the shape (2, -1) is negative"),
        ((2**63, 1), "dimension 0 of the shape"),
        ((2.0, 1), "a shape is a tuple of integers"),
        ((True, 1), "a shape is a tuple of integers"),
        ("ab", "a shape is a tuple of integers"),
        (None, "a shape is a tuple of integers"),
        ((2, None), "a shape is a tuple of integers"),
    ],
)
def test_shapes(shape, text):
    refused(ShapeError, lambda: tensor([[0], [0]], [1.0], shape), text)
    refused(ShapeError, lambda: from_buffers(CSR, shape, {}), text)


@pytest.mark.parametrize("format", [DENSE, SparseList(Dense(Dense(Element())))])
def test_products_beyond_64_bits(format):
    n = 2**40
    refused(ShapeError, lambda: tensor([[0], [0], [0]], [1.0], (n, n, n), format), "64 bits")
    refused(ShapeError, lambda: from_buffers(DENSE, (n, n, n), {"val": []}), "64 bits")


def test_more_than_there_is_memory():
    n = 2**58
    for format in (DENSE, CSR, SparseByteMap(SparseList(Element()))):
        refused(
            OutOfMemoryError, lambda f=format: tensor([[0], [0]], [1.0], (n, 2), f), "sparse level"
        )


def test_the_number_of_dimensions():
    refused(
        FormatError,
        lambda: asarray([1.0], format=CSR),
        "CSR stores 2 dimensions, and the data has 1",
    )
    refused(FormatError, lambda: from_buffers(CSR, (3,), GOOD), "the data has 1")
    refused(FormatError, lambda: tensor([[0]], [1.0], 3, CSC), "the data has 1")
    refused(FormatError, lambda: asarray(np.eye(2), format=CSF(3)), "the data has 2")
    refused(
        ShapeError, lambda: tensor([[0]], [1.0], (3, 3)), "coords has 1 rows, and the shape (3, 3)"
    )
    refused(ShapeError, lambda: scalar([1.0]), "a scalar is one number")


def test_formats():
    refused(FormatError, lambda: asarray([1.0], format="nope"), "'nope' is not a format")
    refused(FormatError, lambda: empty_tensor(COO), "say it: COO(2)")
    refused(FormatError, lambda: empty_tensor(7), "7 is not a format")
    refused(
        FormatError,
        lambda: asarray([True, False], format=Dense(Pattern())),
        "stores more than is true",
    )
    with pytest.raises(FormatError, match="at least one dimension"):
        SparseCOO(0, Element())


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("obj", "kind", "text"),
    [
        (np.array([None]), DTypeError, "dtype object"),
        (np.array(["a"]), DTypeError, "dtype <U1"),
        (np.array([b"a"]), DTypeError, "dtype |S1"),
        (np.array(["2020-01-01"], "M8[D]"), DTypeError, "dtype datetime64[D]"),
        (np.array([1], "m8[s]"), DTypeError, "dtype timedelta64[s]"),
        (np.zeros(2, "f2"), DTypeError, "dtype float16"),
        (np.zeros(2, np.longdouble), DTypeError, "dtype"),
        (np.zeros(2, [("a", "f8")]), DTypeError, "dtype"),
        (MASKED, ArgumentError, "this MaskedArray is a masked array"),
        ([[1, 2], [3]], ShapeError, "the rows of this list differ in length"),
        (["a", 1], DTypeError, "dtype"),
        ([None], DTypeError, "dtype object"),
        (None, DTypeError, "dtype object"),
        ("text", DTypeError, "dtype <U4"),
        ({"a": 1}, DTypeError, "dtype object"),
        ({1, 2}, DTypeError, "dtype object"),
        (object(), DTypeError, "dtype object"),
        (datetime.date(2020, 1, 1), DTypeError, "dtype object"),
        (2**70, DTypeError, "dtype object"),
        ([2**70], DTypeError, "dtype object"),
        ((x for x in [1]), DTypeError, "dtype object"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_numbers(obj, kind, text):
    refused(kind, lambda: asarray(obj), text)


@pytest.mark.parametrize(
    ("obj", "dtype", "text"),
    [
        (np.array([1.0, np.nan]), "int32", "the value nan at [1] does not fit the dtype int32"),
        (
            np.array([[1.0], [np.inf]]),
            "int64",
            "the value inf at [1, 0] does not fit the dtype int64",
        ),
        (np.array([2.0**63]), "int64", "does not fit the dtype int64"),
        (np.array([-1.0]), "uint8", "does not fit the dtype uint8"),
        (np.array([300]), "uint8", "the value 300 at [0] does not fit the dtype uint8"),
        (np.array([-1]), "uint64", "the value -1 at [0] does not fit"),
        (np.array([2**63], "u8"), "int64", "does not fit the dtype int64"),
        (np.array([1j]), "float64", "complex values do not fit the dtype float64"),
        ([300], "int8", "does not hold numbers that fit"),
        ([1.0], "float16", "Linnet does not hold values of dtype float16"),
        ([1.0], "nonsense", "'nonsense' is not a dtype"),
        ([1.0], object, "dtype object"),
    ],
)
def test_values_that_do_not_fit(obj, dtype, text):
    refused(DTypeError, lambda: asarray(obj, dtype=dtype), text)


def test_limits_that_do_fit():
    assert asarray(np.array([-(2.0**63)]), dtype="int64").to_numpy()[0] == -(2**63)
    assert asarray(np.array([-0.5, 255.9]), dtype="uint8").to_numpy().tolist() == [0, 255]


def test_fill_values_that_do_not_fit():
    refused(
        DTypeError,
        lambda: asarray(np.eye(2, dtype=int), format=CSR, fill_value=0.5),
        "0.5 does not fit",
    )
    refused(
        DTypeError,
        lambda: asarray(np.eye(2, dtype=int), format=CSR.with_fill(np.nan)),
        "nan does not fit",
    )
    refused(DTypeError, lambda: tensor([[0]], [1], (1,), fill_value=np.inf), "inf does not fit")
    refused(DTypeError, lambda: asarray([1.0], fill_value="x"), "'x' does not fit")


def test_copies_that_are_refused():
    refused(
        FormatError, lambda: asarray([1.0], copy=False), "this list cannot be used without a copy"
    )
    refused(
        FormatError, lambda: asarray(1.0, copy=False), "this float cannot be used without a copy"
    )
    refused(FormatError, lambda: asarray(np.eye(2), format=CSR, copy=False), "only with a copy")
    refused(FormatError, lambda: asarray(np.ones(4)[::2], copy=False), "asks for a copy")
    refused(FormatError, lambda: asarray(np.ones(2), dtype="int8", copy=False), "copy")
    refused(FormatError, lambda: asarray(np.ones((2, 3)).T, format=DENSE, copy=False), "copy")
