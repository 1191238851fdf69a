"""Assembly plans: the same tensors as from coordinates, with shared index arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import linnet as ln

FORMATS = [
    ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.CSF, ln.DENSE, ln.BAND, ln.BLOCK, ln.RLE, ln.SRLE,
    ln.Dense(ln.SparseByteMap(ln.Element())), ln.Dense(ln.SparseHash(ln.Element())),
    ln.SparseHash(ln.SparseHash(ln.Element())),
]  # fmt: skip


def entries(n: int = 60, shape: tuple[int, ...] = (7, 9), seed: int = 0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, dim, n) for dim in shape], rng.standard_normal(n)


@pytest.mark.parametrize("format", FORMATS, ids=repr)
@pytest.mark.parametrize("count", [0, 1, 60, 3000])
def test_every_format(format: object, count: int):
    coords, values = entries(count)
    plan = ln.assembly(*coords, (7, 9), format=format)
    for scale in (1.0, -3.0):
        found = plan(scale * values)
        expected = np.zeros((7, 9))
        np.add.at(expected, tuple(coords), scale * values)
        assert np.allclose(found.to_numpy(), expected, atol=1e-12)
    assert len(plan) == count
    assert plan.nnz == len(set(zip(*map(list, coords), strict=True)))


@given(
    hnp.arrays(np.int64, st.integers(0, 40), elements=st.integers(0, 5)),
    st.randoms(use_true_random=False),
    st.sampled_from(["float64", "int64", "float32", "uint8", "bool", "complex128"]),
)
def test_the_same_as_from_coordinates(i: np.ndarray, random: object, dtype: str):
    j = np.array([random.randrange(4) for _ in i], np.int64)
    values = np.array([random.randrange(9) for _ in i]).astype(dtype)
    plan = ln.assembly(i, j, (6, 4))
    expected = ln.tensor([i, j], values, (6, 4), format=ln.CSR)
    found = plan(values)
    assert found.dtype == np.dtype(dtype)
    assert np.array_equal(found.to_numpy(), expected.to_numpy())
    assert found.nnz == expected.nnz


@pytest.mark.parametrize("op", [ln.maximum, np.minimum, ln.multiply, ln.subtract, "maximum"])
def test_any_function_in_the_order_given(op: object):
    plan = ln.assembly([2, 0, 2, 2], (3,), op=op)
    found = plan([5.0, 1.0, 2.0, 7.0]).to_numpy()
    expected = {"maximum": 7.0, "minimum": 2.0, "multiply": 70.0, "subtract": -4.0}
    name = op if isinstance(op, str) else getattr(op, "__name__", None) or op.name
    assert found.tolist() == [1.0, 0.0, expected[name]]


def test_negative_zero_and_nan_are_kept():
    found = ln.assembly([0, 1, 2, 2], (4,))([-0.0, np.nan, np.inf, 1.0])
    assert np.signbit(found.buffers["val"][0])
    assert np.isnan(found.buffers["val"][1])
    assert found.buffers["val"][2] == np.inf


def test_index_arrays_are_shared():
    coords, values = entries()
    plan = ln.assembly(*coords, (7, 9))
    A, B = plan(values), plan(values)
    assert np.shares_memory(A.buffers["idx1"], B.buffers["idx1"])
    assert np.shares_memory(A.buffers["ptr1"], B.buffers["ptr1"])
    assert not np.shares_memory(A.buffers["val"], B.buffers["val"])
    assert np.array_equal(A.buffers["val"], B.buffers["val"])


def test_given_arrays_are_not_changed():
    coords, values = entries()
    kept = [c.copy() for c in coords], values.copy()
    ln.assembly(*coords, (7, 9))(values)
    assert all(np.array_equal(a, b) for a, b in zip(coords, kept[0], strict=True))
    assert np.array_equal(values, kept[1])


def test_dtypes_fills_and_single_values():
    plan = ln.assembly([0, 1, 1], [0, 1, 1], (2, 2), format=ln.CSR.with_dtype("float32"))
    assert plan([1, 2, 3]).dtype == np.float32
    assert plan(1).to_numpy().tolist() == [[1, 0], [0, 2]]
    filled = ln.assembly([1], (3,), format=ln.DENSE, fill_value=np.inf)([4.0])
    assert filled.to_numpy().tolist() == [np.inf, 4.0, np.inf]
    assert filled.fill_value == np.inf


def test_many_dimensions_and_large_ones():
    coords, values = entries(500, (3, 4, 5, 6))
    expected = np.zeros((3, 4, 5, 6))
    np.add.at(expected, tuple(coords), values)
    assert np.allclose(ln.assembly(*coords, (3, 4, 5, 6))(values).to_numpy(), expected)
    wide = ln.assembly([10**15, 5, 10**15], [3, 10**12, 3], (10**16, 10**13), format=ln.COO)
    assert wide([1.0, 2.0, 4.0]).buffers["val"].tolist() == [2.0, 5.0]


REFUSED = [
    (lambda: ln.assembly([0], (1, 1)), ln.errors.ShapeError, "1 arrays of coordinates are given"),
    (lambda: ln.assembly((1, 1)), ln.errors.ArgumentError, "one array of coordinates for each"),
    (lambda: ln.assembly([0], [0, 1], (2, 2)), ln.errors.ShapeError, "has 2 elements"),
    (lambda: ln.assembly([0], [2], (2, 2)), ln.errors.FormatError, r"coords\[1\]\[0\] is 2"),
    (lambda: ln.assembly([-1], (2,)), ln.errors.FormatError, "is -1, outside"),
    (lambda: ln.assembly([0.5], (2,)), ln.errors.DTypeError, "coordinates are integers"),
    (lambda: ln.assembly([0], (-2,)), ln.errors.ShapeError, "is negative"),
    (lambda: ln.assembly([0], [0], (2, 2), format=ln.CSF(3)), ln.errors.FormatError, "stores 3"),
    (
        lambda: ln.assembly([0], [0], (2, 2), format=ln.PERM),
        ln.errors.FormatError,
        "holds no values to fill in",
    ),
    (lambda: ln.assembly([0], (2,))([1.0, 2.0]), ln.errors.ShapeError, "the plan has 1 coord"),
    (lambda: ln.assembly([0], (2,))(["a"]), ln.errors.DTypeError, "dtype"),
    (lambda: ln.assembly([0], (2,), op=len)([1.0]), ln.errors.ArgumentError, "op combines two"),
    (lambda: ln.assembly([0], (2,), op=ln.divide)([1]), ln.errors.DTypeError, "gives float64"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_bad_input(call, kind: type, message: str):
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "test_assembly.py" in str(caught.value)


ELEMENTS = np.array([[0, 1, 2], [1, 2, 3], [3, 2, 0]])
OF_ELEMENTS = np.arange(27.0).reshape(3, 3, 3)


def test_matrices_of_elements_are_given_as_they_are():
    plan = ln.assembly(ELEMENTS[:, :, None], ELEMENTS[:, None, :], shape=(4, 4))
    expected = np.zeros((4, 4))
    i, j = np.broadcast_arrays(ELEMENTS[:, :, None], ELEMENTS[:, None, :])
    np.add.at(expected, (i, j), OF_ELEMENTS)
    for values in (OF_ELEMENTS, OF_ELEMENTS.ravel()):
        assert np.array_equal(plan(values).to_numpy(), expected)
    assert len(plan) == 27
    with pytest.raises(ValueError, match=r"shape \(3, 3\), and the plan has \(3, 3, 3\)"):
        plan(OF_ELEMENTS[0])
    with pytest.raises(ValueError, match=r"\(3, 3, 1\) and \(7, 7\) do not fit"):
        ln.assembly(ELEMENTS[:, :, None], np.zeros((7, 7), int), (4, 4))


@pytest.mark.parametrize("format", [ln.SYMMETRIC, ln.SYMMETRIC_TILES], ids=repr)
def test_one_half_of_a_symmetric_matrix(format):
    values = OF_ELEMENTS + OF_ELEMENTS.transpose(0, 2, 1)
    whole = ln.assembly(ELEMENTS[:, :, None], ELEMENTS[:, None, :], (4, 4))
    half = ln.assembly(ELEMENTS[:, :, None], ELEMENTS[:, None, :], (4, 4), format=format)
    assert half(values).format.name == format.name
    assert half(values).nnz < whole(values).nnz
    assert np.array_equal(half(values).to_numpy(), whole(values).to_numpy())
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 50, (2, 3000))
    large = ln.assembly(np.append(i, j), np.append(j, i), (50, 50), format=format)
    v = rng.integers(0, 9, 3000).astype(float)
    expected = ln.assembly(np.append(i, j), np.append(j, i), (50, 50))(np.append(v, v))
    assert np.array_equal(large(np.append(v, v)).to_numpy(), expected.to_numpy())
