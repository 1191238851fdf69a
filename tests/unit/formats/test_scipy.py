"""SciPy sparse arrays in and out: what is shared, and that the original is left alone."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from linnet.errors import ArgumentError, FormatError
from linnet.formats.construct import asarray, tensor
from linnet.formats.named import BSR, COO, CSC, CSR
from linnet.testing import assert_equal

sparse = pytest.importorskip("scipy.sparse")

ARRAY = np.array([[0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 4.0, 5.0]])
KINDS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def make(kind: str, array=ARRAY, suffix: str = "array"):
    return getattr(sparse, f"{kind}_{suffix}")(array)


def parts(obj) -> list[np.ndarray]:
    """The arrays of a csr, csc or coo object."""
    return [obj.data, *obj.coords] if obj.format == "coo" else [obj.data, obj.indices, obj.indptr]


@pytest.mark.parametrize("suffix", ["array", "matrix"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind, suffix):
    A = asarray(make(kind, suffix=suffix))
    assert_equal(A, ARRAY)
    expected = {"csc": "CSC", "coo": "COO(2)", "dok": "COO(2)", "bsr": "BSR(1, 1)"}.get(kind, "CSR")
    assert A.format.name == expected


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_nothing_is_copied(kind):
    obj = make(kind)
    A = asarray(obj, copy=False)
    arrays = list(A.buffers.values())
    for mine in parts(obj):
        assert any(np.shares_memory(mine, theirs) for theirs in arrays)
    assert not any(
        np.shares_memory(mine, theirs)
        for mine in parts(obj)
        for theirs in asarray(obj, copy=True).buffers.values()
    )


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_index_types_are_kept(kind):
    obj = make(kind)
    obj.indices, obj.indptr = obj.indices.astype(np.int64), obj.indptr.astype(np.int32)
    assert asarray(obj).signature.dtypes[1] == ("int32", "int64")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "complex64"])
def test_dtypes(dtype):
    obj = make("csr", ARRAY.astype(dtype))
    assert asarray(obj).dtype == dtype
    assert_equal(asarray(obj), ARRAY.astype(dtype))
    assert asarray(obj, dtype="complex128").dtype == np.complex128


def unsorted_csr():
    return sparse.csr_array(
        (np.array([2.0, 1.0, 5.0, 3.0]), np.array([3, 1, 2, 0]), np.array([0, 2, 2, 4])), (3, 4)
    )


def test_unsorted_indices_are_sorted_in_a_copy():
    obj = unsorted_csr()
    before = [part.copy() for part in parts(obj)]
    A = asarray(obj)
    for part, old in zip(parts(obj), before, strict=True):
        assert (part == old).all()
    assert A.buffers["idx1"].tolist() == [1, 3, 0, 2]
    assert_equal(A, obj.toarray())
    with pytest.raises(FormatError, match="not sorted"):
        asarray(unsorted_csr(), copy=False)


def test_flags_that_scipy_keeps_are_left_alone():
    obj = unsorted_csr()
    obj.has_sorted_indices = True  # a lie, which must neither be believed nor corrected
    assert_equal(asarray(obj), unsorted_csr().toarray())
    assert obj.has_sorted_indices


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_duplicates_are_summed(kind):
    coo = sparse.coo_array((np.ones(5), ([2, 0, 2, 0, 2], [1, 1, 1, 1, 0])), (3, 4))
    obj = coo
    if kind != "coo":
        obj = make(kind, np.zeros((3, 4)))
        major = 0 if kind == "csr" else 1
        order = np.argsort(coo.coords[major], kind="stable")
        obj.indices, obj.data = coo.coords[1 - major][order], np.ones(5)
        counts = np.bincount(coo.coords[major], minlength=obj.shape[major])
        obj.indptr = np.append(0, np.cumsum(counts))
    assert_equal(asarray(obj), coo.toarray())
    assert asarray(obj).nnz == 3


def test_room_at_the_end_is_not_stored():
    obj = sparse.csr_array((2, 3))
    obj.indptr, obj.indices = np.array([0, 1, 2]), np.array([2, 0, 99, 99])
    obj.data = np.array([1.0, 2.0, 3.0, 4.0])
    A = asarray(obj)
    assert A.nnz == 2
    assert len(A.buffers["val"]) == 2


def test_explicit_zeros_are_kept():
    obj = sparse.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), (1, 2))
    assert asarray(obj).nnz == 2


def test_blocks_are_shared():
    array = np.kron(np.eye(3)[[2, 0, 1]], np.array([[1.0, 0.0, 4.0], [2.0, 3.0, 5.0]]))
    obj = sparse.bsr_array(array, blocksize=(2, 3))
    A = asarray(obj, copy=False)
    assert A.format.name == "BSR(2, 3)"
    assert np.shares_memory(A.buffers["val"], obj.data)
    assert_equal(A, array)
    again = A.to_scipy()
    assert again.format == "bsr"
    assert again.blocksize == (2, 3)
    assert np.shares_memory(again.data, obj.data)
    assert (again.toarray() == array).all()


def test_blocks_out_of_order():
    blocks = np.arange(1.0, 9).reshape(2, 2, 2)
    obj = sparse.bsr_array((blocks, np.array([1, 0]), np.array([0, 2])), (2, 4))
    A = asarray(obj)
    assert A.format.name == "BSR(2, 2)"
    assert_equal(A, obj.toarray())
    with pytest.raises(FormatError, match="not sorted"):
        asarray(obj, copy=False)


def test_blocks_that_stand_out_become_csr():
    A = asarray(ARRAY, format=BSR(4, 5))
    assert any(n % b for n, b in zip(ARRAY.shape, (4, 5), strict=True))
    assert A.to_scipy().format == "csr"
    assert (A.to_scipy("bsr").toarray() == ARRAY).all()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_empty(kind, shape):
    A = asarray(make(kind, np.zeros(shape)))
    assert (A.shape, A.nnz) == (shape, 0)
    assert A.to_scipy(kind).shape == shape


def test_one_dimension():
    for kind in ("coo", "csr"):
        try:
            obj = make(kind, np.array([0.0, 1.0, 0.0, 2.0]))
        except ValueError:
            pytest.skip("this SciPy has matrices only")
        assert_equal(asarray(obj), obj.toarray())


def test_three_dimensions():
    array = np.zeros((2, 3, 4))
    array[1, 2, 3], array[0, 1, 0] = 5.0, 6.0
    try:
        obj = sparse.coo_array(array)
    except (ValueError, TypeError):
        pytest.skip("this SciPy has matrices only")
    A = asarray(obj)
    assert A.format.name == "COO(3)"
    assert_equal(A, array)
    assert (A.to_scipy().toarray() == array).all()


def test_what_is_not_stored_reads_as_the_fill_value():
    A = asarray(make("csr"), fill_value=np.inf)
    assert A.fill_value == np.inf
    assert_equal(A, np.where(ARRAY == 0, np.inf, ARRAY))
    assert_equal(asarray(make("csr"), format=CSR.with_fill(np.inf)), A)


# -- and back --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "format"), [("csr", CSR), ("csc", CSC), ("coo", COO)])
def test_to_scipy_shares_memory(kind, format):
    A = asarray(ARRAY, format=format)
    obj = A.to_scipy()
    assert type(obj).__name__ == f"{kind}_array"
    assert (obj.toarray() == ARRAY).all()
    for mine in parts(obj):
        assert any(np.shares_memory(mine, theirs) for theirs in A.buffers.values())
    assert obj.has_canonical_format
    own = A.to_scipy(copy=True)
    own.data[:] = 0
    assert_equal(A, ARRAY)


@pytest.mark.parametrize(("kind", "format"), [("csr", CSR), ("csc", CSC), ("coo", COO)])
def test_to_scipy_matrices(kind, format):
    obj = asarray(ARRAY, format=format).to_scipy(f"{kind}_matrix")
    assert type(obj).__name__ == f"{kind}_matrix"
    assert (obj.toarray() == ARRAY).all()


@pytest.mark.parametrize("kind", ["bsr", "dia", "lil", "dok"])
def test_to_other_kinds(kind):
    obj = asarray(ARRAY, format=COO).to_scipy(kind)
    assert obj.format == kind
    assert (obj.toarray() == ARRAY).all()


def test_there_and_back():
    for kind, format in (("csr", CSR), ("csc", CSC), ("coo", COO)):
        obj = make(kind)
        again = asarray(obj).to_scipy()
        assert again.format == kind
        assert all(np.shares_memory(a, b) for a, b in zip(parts(obj), parts(again), strict=True))
        assert asarray(again, format=format).signature is asarray(obj).signature


def test_scipy_computes_with_what_it_gets():
    obj = asarray(ARRAY, format=CSR).to_scipy()
    assert ((obj @ np.ones(4)) == ARRAY.sum(1)).all()
    assert ((obj + obj).toarray() == 2 * ARRAY).all()
    assert (obj.T.toarray() == ARRAY.T).all()
    with pytest.raises(ValueError, match="read-only"):
        obj.eliminate_zeros()


def test_another_fill_is_refused():
    A = tensor([[0], [0]], [1.0], (2, 2), format=CSR.with_fill(1.0))
    with pytest.raises(FormatError, match="SciPy reads 0 where nothing is stored"):
        A.to_scipy()


def test_unknown_kinds_are_refused():
    for kind in ("cxr", "csr_tensor"):
        with pytest.raises(ArgumentError, match="no sparse kind"):
            asarray(ARRAY, format=CSR).to_scipy(kind)
    with pytest.raises(FormatError, match="without dimensions"):
        asarray(1.0).to_scipy()


def test_scipy_is_not_imported():
    code = (
        "import sys; from linnet.formats.construct import asarray; asarray([[1.0]], format='csr');"
        "print('scipy' in sys.modules)"
    )
    path = [p for p in sys.path if p]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", [CSR, CSC, COO, "dense", "dcsr"])
def test_to_a_format_that_is_asked_for(kind, format):
    A = asarray(make(kind), format=format)
    assert_equal(A, ARRAY)
    assert (asarray(make(kind), dtype="float32", format=format).to_numpy() == ARRAY).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", [CSR, CSC, COO, "dense", "dcsr"])
def test_from_any_format_to_any_kind(kind, format):
    assert (asarray(ARRAY, format=format).to_scipy(kind).toarray() == ARRAY).all()


def test_a_conversion_is_a_copy():
    with pytest.raises(FormatError, match="without a copy"):
        asarray(make("csr"), format=CSC, copy=False)
