"""What a tensor says of itself, and what it becomes."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from linnet.errors import ArgumentError, FormatError, LifecycleError, ShapeError
from linnet.formats import show
from linnet.formats.construct import asarray, empty_tensor, from_buffers, scalar, tensor
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.named import COO, CSC, CSF, CSR, DCSR, DENSE, stack
from linnet.formats.show import human_bytes
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_list import SparseList
from linnet.testing import assert_equal, dense, identical

ARRAY = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])


def test_properties():
    A = asarray(ARRAY, format=CSR)
    assert A.shape == (2, 3)
    assert (A.ndim, A.size, A.nnz, len(A)) == (2, 6, 2, 2)
    assert A.dtype == np.float64
    assert isinstance(A.dtype, np.dtype)
    assert A.fill_value == 0.0
    assert A.format == CSR.with_dtype("float64").with_fill(0.0)
    assert A.nbytes == 3 * 4 + 2 * 4 + 2 * 8


def test_buffers_are_named_after_their_level():
    assert list(asarray(ARRAY, format=CSR).buffers) == ["ptr1", "idx1", "val"]
    assert list(asarray(ARRAY, format=COO).buffers) == ["ptr0", "idx0_0", "idx0_1", "val"]
    assert list(asarray(ARRAY, format=DCSR).buffers) == ["ptr0", "idx0", "ptr1", "idx1", "val"]
    assert list(asarray(ARRAY).buffers) == ["val"]


def test_buffers_are_read_only():
    A = asarray(ARRAY, format=CSR)
    with pytest.raises(ValueError, match="read-only"):
        A.buffers["val"][0] = 9
    with pytest.raises(TypeError):
        A.buffers["val"] = 9


def test_equal_signatures_are_one_object():
    A, B = asarray(ARRAY, format=CSR), asarray(2 * ARRAY, format="csr")
    assert A.signature is B.signature
    assert A.signature is not asarray(ARRAY.astype("float32"), format=CSR).signature
    assert A.signature is not asarray(ARRAY, format=CSR, fill_value=1.0).signature
    assert A.signature is not asarray(ARRAY, format=CSC).signature
    assert A.signature.dtypes == ((), ("int32", "int32"), ("float64",))
    wide = {name: array.astype(np.int64) for name, array in A.buffers.items() if name != "val"}
    C = from_buffers(CSR, (2, 3), wide | {"val": A.buffers["val"]})
    assert C.signature.dtypes == ((), ("int64", "int64"), ("float64",))
    assert pickle.loads(pickle.dumps(C.signature)) is C.signature


def test_fills_that_compare_equal_are_told_apart():
    zero, minus, nan = (asarray(ARRAY, format=CSR, fill_value=f) for f in (0.0, -0.0, np.nan))
    assert zero.signature is not minus.signature
    assert nan.signature is asarray(ARRAY, format=CSR, fill_value=float("nan")).signature


def test_repr():
    A = asarray(ARRAY, format=CSR)
    assert repr(A) == (
        "Tensor(shape=(2, 3), dtype=float64, format=CSR, stored=2, fill=0.0, 36 bytes)"
    )
    assert str(A).splitlines()[1:] == ["  [0, 0]  1.0", "  [0, 2]  2.0"]
    assert repr(A.T) == repr(A).replace("(2, 3)", "(3, 2)").replace("CSR", "CSC")
    assert repr(empty_tensor(CSR)) == "Tensor(not declared, dtype=open, format=CSR)"
    nested = asarray(ARRAY, format=Dense(SparseByteMap(Element())))
    assert "format=Dense(SparseByteMap(Element(0.0, 'float64')))" in repr(nested)


def test_str_of_a_dense_tensor_is_numpys():
    for array in (np.ones(1000), np.ones((100, 100)), np.array([0.1, 2.0], "float32"), np.eye(0)):
        assert str(asarray(array)) == f"{asarray(array)}" == str(array)
    assert str(asarray(ARRAY).T) == str(ARRAY.T)


def test_str_of_many_values_has_some_of_them():
    few, many = (str(asarray(np.eye(n), format=CSR)).splitlines() for n in (20, 21))
    assert [line.split()[-1] for line in few[1:]] == ["1.0"] * 20
    assert [line.strip() for line in many[1:]] == [*(f"[{k}, {k}]  1.0" for k in range(10)), "…"]
    assert "  [0,  9]  1.0\n  [0, 10]  1.0" in str(asarray(np.ones((1, 11)), format=CSR))


def test_str_of_very_many_values_looks_at_some_of_them(monkeypatch):
    """To print a matrix of a million values it was listed, or nothing of it was shown."""
    array = np.zeros((60, 50))
    array[37:] = np.arange(23 * 50).reshape(23, 50)
    formats = (CSR, CSC, COO, DCSR, Dense(SparseByteMap(Element())), SparseList(Dense(Element())))
    for format in formats:
        stored = asarray(array, format=format)
        whole = str(stored)
        with monkeypatch.context() as patch:
            patch.setattr(show, "_LISTED", 0)
            patch.setattr("linnet.formats.assemble.unpack", None)
            assert str(stored) == whole
    assert len(str(asarray(array, format=COO)).splitlines()) == 12


@pytest.mark.parametrize("value", [2.5, 3, True, 2 - 1j, np.float32(0.1), np.nan])
@pytest.mark.parametrize("given", [scalar, lambda value: asarray(np.full(2, value))[0],
                                   lambda value: asarray([[value]], format=CSR)[0, 0]])  # fmt: skip
def test_a_tensor_without_dimensions_is_its_number(given, value):
    s = given(value)
    number = np.asarray(value)[()]
    assert str(s) == f"{s}" == s._repr_html_() == str(number)
    assert repr(s) == f"Tensor({number!s}, dtype={number.dtype})"
    if number == number:
        assert s == value
        assert hash(s) == hash(s.item()) == hash(number)
        assert {s: "found"}[s.item()] == "found"
        assert f"{s:>12}" == f"{s.item():>12}"
    if not np.iscomplexobj(value):
        assert f"{s:.3f}" == f"{value:.3f}" == "%.3f" % s  # noqa: UP031


def test_arrays_have_no_hash():
    with pytest.raises(TypeError, match="unhashable type: 'Tensor'"):
        hash(asarray([1.0]))
    with pytest.raises(ArgumentError, match="not a single number"):
        f"{asarray([1.0]):.3f}"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
     (20 * 2**20, "20.0 MiB"), (2**30, "1.0 GiB"), (5000 * 2**40, "5000.0 TiB")],
)  # fmt: skip
def test_human_bytes(count, text):
    assert human_bytes(count) == text


def test_names_follow_the_transpose():
    assert asarray(ARRAY, format=CSR).T.format.name == "CSC"
    assert asarray(ARRAY, format=CSC).T.format.name == "CSR"
    assert asarray(ARRAY).T.format.order == (1, 0)
    assert asarray(np.ones((2, 3, 4)), format=CSF).T.shape == (4, 3, 2)


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_to_numpy_of_a_dense_tensor_is_a_view(axes):
    array = np.arange(24.0).reshape(2, 3, 4).transpose(axes)
    x = asarray(array)
    assert np.shares_memory(x.to_numpy(), array)
    assert (x.to_numpy() == array).all()
    assert not x.to_numpy().flags.writeable
    own = x.to_numpy(copy=True)
    assert own.flags.writeable
    assert not np.shares_memory(own, array)


def test_numpy_takes_dense_tensors():
    x = asarray([1.0, 2.0])
    assert np.asarray(x).tolist() == [1.0, 2.0]
    assert np.asarray(x, dtype="int32").dtype == np.int32
    assert np.array(x).flags.writeable
    assert np.add(x, 1).to_numpy().tolist() == [2.0, 3.0]  # a ufunc gives a tensor


def test_numpy_is_not_given_a_sparse_tensor():
    with pytest.raises(FormatError, match=r"(?s)NumPy asked.*unless you say so.*\.to_numpy\(\)"):
        np.asarray(asarray(ARRAY, format=CSR))


def test_to_its_own_format_is_the_tensor():
    A = asarray(ARRAY, format=CSR)
    assert A.to(CSR) is A
    assert A.to("csr") is A
    assert A.to(A.format) is A


@pytest.mark.parametrize("format", [CSR, CSC, COO, DCSR, SparseByteMap(Dense(Element()))])
def test_to_numpy_of_a_sparse_tensor(format):
    A = asarray(ARRAY, format=format)
    assert (A.to_numpy() == ARRAY).all()
    assert asarray([[0.0]], format=format).item() == 0.0


def test_permutations_are_checked():
    with pytest.raises(ShapeError, match="not an order of 2 dimensions"):
        asarray(ARRAY).permute((0, 0))


# -- one number ------------------------------------------------------------------------------------


def test_scalar():
    s = scalar(2.5)
    assert (s.shape, s.ndim, s.size, s.nnz) == ((), 0, 1, 1)
    assert (float(s), int(s), bool(s), complex(s), s.item()) == (2.5, 2, True, 2.5 + 0j, 2.5)
    assert s.format.name == "Scalar"
    assert s.slots[1:] == (1, 1)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(True, "bool"), (1, "int64"), (1.0, "float64"), (1j, "complex128"),
     (np.float32(1), "float32"), (np.uint8(1), "uint8"), (np.array(1, "int16"), "int16")],
)  # fmt: skip
def test_scalar_dtypes(value, dtype):
    assert scalar(value).dtype == dtype
    assert scalar(value).item() == value
    assert type(scalar(value).item()) in (bool, int, float, complex)


def test_scalar_of_a_dtype_and_fill():
    s = scalar(3, dtype="float32", fill_value=np.inf)
    assert (s.dtype, s.fill_value, s.item()) == (np.float32, np.inf, 3.0)


def test_scalar_does_not_alias():
    array = np.array(1.0)
    s = scalar(array)
    array[...] = 2.0
    assert s.item() == 1.0


def test_index():
    assert [10, 20, 30][scalar(1)] == 20
    with pytest.raises(ArgumentError, match="not an index"):
        [10, 20, 30][scalar(1.0)]


def test_one_element_in_some_dimensions():
    assert asarray([[7]]).item() == 7
    with pytest.raises(ArgumentError, match="not a single number"):
        float(asarray([7.0]))
    with pytest.raises(ShapeError, match="has 2"):
        asarray([1, 2]).item()
    assert bool(asarray([[7]]))
    for several in (asarray([1, 2]), asarray(np.zeros(0))):
        with pytest.raises(ValueError, match="neither true nor false"):  # as in NumPy
            bool(several)
    with pytest.raises(ArgumentError, match="no length"):
        len(scalar(1))


# -- not declared ----------------------------------------------------------------------------------


def test_a_tensor_without_contents():
    C = empty_tensor(CSR)
    assert C.shape is None
    assert C.dtype is None
    assert C.ndim == 2
    assert C.format == CSR
    assert C.output_format == CSR
    for use in (
        lambda: C.nnz, lambda: C.signature, lambda: C.slots, lambda: C.buffers, lambda: C.T,
        lambda: C.to_numpy(), lambda: C.to("csc"), lambda: C.copy(), lambda: len(C),
        lambda: C.pin([], sys._getframe()),
    ):  # fmt: skip
        with pytest.raises(LifecycleError, match="no contents yet"):
            use()
    assert pickle.loads(pickle.dumps(C)).format == CSR
    assert empty_tensor("csr").format == CSR
    assert empty_tensor(Dense(SparseList(Element(0.0)))).fill_value == 0.0


def test_what_was_asked_for_is_remembered():
    C = empty_tensor(CSR)
    A = asarray(ARRAY, format=CSR).contents()
    C._rebind(A.format, A.shape, A.buffers)
    assert C.dtype == np.float64
    assert C.output_format.dtype is None


# -- counting --------------------------------------------------------------------------------------


def test_count_of_values_in_blocks():
    A = asarray(ARRAY, format=SparseList(Dense(Element())))
    assert A.nnz == 3
    B = asarray(ARRAY, format=SparseByteMap(Dense(Element())))
    assert B.nnz == 3
    assert len(B.buffers["val"]) == 6
    assert asarray(ARRAY != 0, format=Dense(SparseList(Pattern()))).nnz == 2


def test_index_arrays_are_as_narrow_as_they_can_be():
    n = 2**31
    small, large = (tensor([[0, m - 1], [0, 0]], [1.0, 2.0], (m, 3)) for m in (n - 1, n))
    assert small.signature.dtypes[0] == ("int32", "int32", "int32")
    assert large.signature.dtypes[0] == ("int32", "int64", "int32")


# -- linnet.testing --------------------------------------------------------------------------------


def test_assert_equal():
    A = asarray(ARRAY, format=CSR)
    assert_equal(A, ARRAY)
    assert_equal(A, asarray(ARRAY, format=COO))
    assert_equal(asarray([np.nan]), np.array([np.nan]))
    assert_equal(asarray([1.0]), np.array([1.0 + 1e-12]), rtol=1e-9)
    for other, text in (
        (ARRAY.T, "shape"),
        (ARRAY.astype("float32"), "dtype"),
        (ARRAY + np.eye(2, 3), r"2 values differ, first at \[0, 0\]: 1.0, not 2.0"),
    ):
        with pytest.raises(AssertionError, match=text):
            assert_equal(A, other)


def test_identical():
    A = asarray(ARRAY, format=CSR)
    assert identical(A, A.copy())
    assert not identical(A, asarray(ARRAY, format=COO))
    assert not identical(asarray([0.0]), asarray([-0.0]))


def test_dense_of_any_fill():
    A = tensor([[1]], [5.0], (3,), stack(SparseList(Element(np.inf))))
    assert dense(A).tolist() == [np.inf, 5.0, np.inf]
    assert dense(asarray(ARRAY, format=DENSE)).tolist() == ARRAY.tolist()
