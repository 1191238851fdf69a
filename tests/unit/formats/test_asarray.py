"""NumPy arrays, lists and numbers as tensors: what is shared, what is copied, what is stored."""

from __future__ import annotations

import numpy as np
import pytest

from linnet.algebra.dtypes import DTYPES
from linnet.errors import FormatError
from linnet.formats.construct import asarray, tensor
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.named import COO, CSC, CSR, DENSE
from linnet.formats.sparse_list import SparseList
from linnet.testing import assert_equal, dense

CUBE = np.arange(24.0).reshape(2, 3, 4)


def shares(x, array) -> bool:
    return np.shares_memory(x.buffers["val"], array)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_without_a_copy(dtype):
    array = np.array([[0, 1], [1, 0]]).astype(dtype)
    x = asarray(array)
    assert x.dtype == dtype
    assert x.format.dtype == dtype
    assert shares(x, array)
    assert_equal(x, array)
    assert_equal(asarray(array, format=CSR), array)


@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_any_contiguous_order_is_shared(axes):
    array = CUBE.transpose(axes)
    x = asarray(array)
    assert shares(x, CUBE)
    assert_equal(x, array)
    assert asarray(array, copy=False).shape == array.shape


def test_fortran_order_is_an_order_of_modes():
    x = asarray(np.asfortranarray(np.ones((2, 3))))
    assert x.format.order == (1, 0)
    assert asarray(np.ones((2, 3))).format == DENSE(2).with_dtype("float64").with_fill(0.0)


@pytest.mark.parametrize(
    "array",
    [
        CUBE[:, ::2],
        CUBE[::-1],
        CUBE[:, :, 1:3],
        np.broadcast_to(np.ones(3), (4, 3)),
        CUBE.astype(">f8"),
        np.lib.stride_tricks.sliding_window_view(np.arange(6.0), 3),
        np.frombuffer(b"\0" + np.ones(3).tobytes(), "u1")[1:].view("f8"),
    ],
    ids=["step", "reversed", "window", "broadcast", "byte order", "overlapping", "unaligned"],
)
def test_other_layouts_are_copied(array):
    x = asarray(array)
    assert not shares(x, array)
    assert x.buffers["val"].flags.aligned
    assert_equal(x, array.astype("f8"))
    with pytest.raises(FormatError, match="copy"):
        asarray(array, copy=False)


def test_read_only_arrays_are_shared():
    array = np.ones(3)
    array.flags.writeable = False
    assert shares(asarray(array), array)


def test_a_copy_on_demand():
    array = np.ones(3)
    x = asarray(array, copy=True)
    array[0] = 5
    assert x.to_numpy()[0] == 1
    assert shares(asarray(array, copy=False), array)


def test_tensors_do_not_change_flags_of_what_they_borrow():
    array = np.ones(3)
    asarray(array)
    assert array.flags.writeable


@pytest.mark.parametrize(
    "array", [np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((2, 0, 3))]
)
@pytest.mark.parametrize("family", [DENSE, COO])
def test_empty(array, family):
    x = asarray(array, format=family)
    assert (x.shape, x.size, x.nnz) == (array.shape, 0, 0)
    assert_equal(x, array)


@pytest.mark.parametrize(
    ("obj", "dtype", "shape"),
    [
        (3, "int64", ()),
        (3.0, "float64", ()),
        (True, "bool", ()),
        (2j, "complex128", ()),
        ([1, 2], "int64", (2,)),
        ([[1.0], [2]], "float64", (2, 1)),
        ([], "float64", (0,)),
        (((1, 2), (3, 4)), "int64", (2, 2)),
        (np.float32(1), "float32", ()),
        (range(3), "int64", (3,)),
        ([np.ones(2), np.zeros(2)], "float64", (2, 2)),
        (memoryview(b"ab"), "uint8", (2,)),
    ],
)
def test_other_things(obj, dtype, shape):
    x = asarray(obj)
    assert (x.dtype, x.shape) == (dtype, shape)
    assert type(x.to_numpy()) is np.ndarray
    assert_equal(x, np.asarray(obj))


def test_a_dtype_is_converted_to():
    assert asarray([1, 2], dtype="float32").dtype == np.float32
    assert asarray(np.array([1.7, -1.7]), dtype="int8").to_numpy().tolist() == [1, -1]
    assert asarray(np.array([2, 0]), dtype=bool).to_numpy().tolist() == [True, False]
    assert asarray(np.eye(2, dtype=int), format=CSR.with_dtype("float32")).dtype == np.float32


def test_fill_is_not_stored():
    array = np.array([[1.0, 7.0], [7.0, 0.0]])
    A = asarray(array, format=CSR, fill_value=7)
    assert (A.nnz, A.fill_value) == (2, 7.0)
    assert type(A.fill_value) is float
    assert_equal(A, array)
    assert asarray(array, format=CSR.with_fill(7.0)).format == A.format


def test_nan_is_a_fill():
    A = asarray([np.nan, 1.0, np.nan], format=SparseList(Element(np.nan)))
    assert A.nnz == 1
    assert_equal(A, np.array([np.nan, 1.0, np.nan]))


def test_minus_zero_is_not_zero():
    A = asarray([0.0, -0.0, 1.0], format=SparseList(Element(0.0)))
    assert A.nnz == 2
    assert np.signbit(dense(A)).tolist() == [False, True, False]


def test_a_pattern_stores_what_is_true():
    array = np.array([[True, False], [False, False]])
    A = asarray(array, format=Dense(SparseList(Pattern())))
    assert list(A.buffers) == ["ptr1", "idx1"]
    assert_equal(A, array)
    assert asarray(np.array([0.0, 2.0]), format=SparseList(Pattern())).nnz == 1


def test_a_tensor_is_itself():
    A = asarray(np.eye(3), format=CSR)
    assert asarray(A) is A
    assert asarray(A, format="csr") is A
    assert asarray(A, dtype="float64", copy=False) is A
    again = asarray(A, copy=True)
    assert again is not A
    assert not np.shares_memory(again.buffers["val"], A.buffers["val"])


# -- coordinates -----------------------------------------------------------------------------------


def test_duplicates_are_added():
    A = tensor([[1, 0, 1], [2, 0, 2]], [1.0, 2.0, 4.0], (2, 3), format=CSR)
    assert dense(A).tolist() == [[2.0, 0.0, 0.0], [0.0, 0.0, 5.0]]


@pytest.mark.parametrize(
    ("op", "expected"), [(np.multiply, 24.0), (np.maximum, 4.0), (np.minimum, 2.0), (max, 4.0)]
)
def test_duplicates_by_other_functions(op, expected):
    def function(a, b):
        return np.vectorize(op)(a, b)

    combine = op if isinstance(op, np.ufunc) else function
    assert dense(tensor([[0, 0, 0]], [2.0, 3.0, 4.0], (1,), op=combine))[0] == expected


def test_duplicates_stay_in_their_dtype():
    A = tensor([[0, 0]], np.array([200, 100], "uint8"), (1,))
    assert A.dtype == np.uint8
    assert dense(A)[0] == 44
    assert dense(tensor([[0, 0]], [True, True], (1,)))[0]


def test_the_default_is_coo_and_keeps_explicit_zeros():
    A = tensor([[0, 1], [1, 0]], [0.0, 1.0], (2, 2))
    assert A.format.name == "COO(2)"
    assert A.nnz == 2


@pytest.mark.parametrize(
    "coords", [[[0, 2]], [0, 2], np.array([0, 2]), np.array([[0, 2]]), ([0, 2],)]
)
def test_coordinates_of_one_dimension(coords):
    assert dense(tensor(coords, [1, 2], 3)).tolist() == [1, 0, 2]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_coordinates_of_any_integer_type(dtype):
    coords = np.array([[1, 0], [0, 1]], dtype)
    assert dense(tensor(coords, [1, 2], (2, 2))).tolist() == [[0, 2], [1, 0]]


def test_one_value_for_all():
    assert dense(tensor([[0, 2]], 5.0, (3,))).tolist() == [5.0, 0.0, 5.0]


def test_no_coordinates():
    assert dense(tensor([[], []], [], (2, 2), format=CSC)).tolist() == [[0, 0], [0, 0]]
    assert dense(tensor((), [2.0, 3.0], ())).item() == 5.0
    assert dense(tensor((), [], (), fill_value=9.0)).item() == 9.0


def test_values_are_not_shared():
    values = np.array([1.0, 2.0])
    A = tensor([[0, 1]], values, (2,))
    values[0] = 9.0
    assert dense(A).tolist() == [1.0, 2.0]


def test_shapes_whose_product_is_beyond_64_bits():
    n = 2**62
    A = tensor([[n - 1, 0, n - 1], [5, n - 1, 5]], [1.0, 2.0, 3.0], (n, n))
    assert A.size == n * n
    assert A.buffers["val"].tolist() == [2.0, 4.0]
    assert A.buffers["idx0_0"].tolist() == [0, n - 1]


def test_inputs_are_not_changed():
    coords, values = np.array([[1, 0], [0, 1]]), np.array([1.0, 2.0])
    tensor(coords, values, (2, 2))
    assert coords.tolist() == [[1, 0], [0, 1]]
    assert values.tolist() == [1.0, 2.0]
