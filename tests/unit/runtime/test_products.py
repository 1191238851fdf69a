"""Products of one tensor with many arrays: the last are as right as the first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linnet as ln
from linnet.formats.addresses import _asked, address_of

FORMATS = {"csr": ln.CSR, "csc": ln.CSC, "coo": ln.COO, "dense": ln.DENSE}


def matrix(n=7, m=5, dtype="float64"):
    rng = np.random.default_rng(n)
    return np.where(rng.random((n, m)) < 0.4, rng.integers(1, 9, (n, m)), 0).astype(dtype)


def multiplied(A):
    """A tensor that has been multiplied before."""
    for _ in range(3):
        A @ np.ones(A.shape[1], str(A.dtype))
    return A


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("name", FORMATS)
def test_other_arrays(name, dtype):
    a = matrix(dtype=dtype)
    A = multiplied(ln.asarray(a, format=FORMATS[name]))
    found = [A @ np.full(5, k, dtype) for k in range(6)]
    for k, y in enumerate(found):  # whose memory is their own
        np.testing.assert_array_equal(y.to_numpy(), a @ np.full(5, k, dtype))
        assert str(y.dtype) == dtype


@pytest.mark.parametrize(
    "change",
    {
        "another dtype": lambda x: x.astype("float32"),
        "another order of bytes": lambda x: x.astype(">f8"),
        "gaps": lambda x: np.repeat(x, 2)[::2],
        "backwards": lambda x: x[::-1],
        "read-only": lambda x: np.frombuffer(x.tobytes()),
        "not aligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(float),
        "a matrix": lambda x: np.stack([x, 2 * x], axis=1),
        "a column": lambda x: x[:, None],
        "a tensor": lambda x: ln.asarray(x),
    }.values(),
)
def test_arrays_of_another_kind(change):
    a, x = matrix(), np.arange(5.0)
    A = multiplied(ln.asarray(a, format=ln.CSR))
    for _ in range(3):
        given = change(x)
        expected = a @ (given if isinstance(given, np.ndarray) else x)
        np.testing.assert_allclose(np.asarray((A @ given).to_numpy()), expected)
        np.testing.assert_array_equal((A @ x).to_numpy(), a @ x)


def test_shapes_that_do_not_fit_are_refused():
    A = multiplied(ln.asarray(matrix(), format=ln.CSR))
    for shape in (4, 6, (4, 2), (1, 5)):
        with pytest.raises(ln.errors.ShapeError):
            A @ np.ones(shape)


def test_other_options_are_another_kernel():
    a = matrix()
    A = multiplied(ln.asarray(a, format=ln.CSR))
    for optimize in (True, False, True):
        with ln.config(optimize=optimize):
            for _ in range(2):
                np.testing.assert_array_equal((A @ np.ones(5)).to_numpy(), a.sum(1))


@ln.kernel
def twice(B, A):
    B[...] = 0
    for i, j in ...:
        B[i, j] = 2 * A[i, j]
    return B


@pytest.mark.parametrize("n", [6, 400])
def test_a_tensor_that_is_written_to(n):
    a = matrix(n, n)
    A, B = ln.empty_tensor(ln.CSR), ln.asarray(a, format=ln.CSR)
    multiplied(twice(A, B))
    was = A.contents().buffers[-1].address
    twice(A, ln.asarray(2 * a, format=ln.CSR))
    assert A.contents().buffers[-1].address == was
    np.testing.assert_array_equal((A @ np.ones(n)).to_numpy(), 4 * a.sum(1))
    A += B
    np.testing.assert_array_equal((A @ np.ones(n)).to_numpy(), 5 * a.sum(1))
    assert not A.contents().pins


@pytest.mark.parametrize("first", ["an array", "a tensor"])
def test_arrays_and_tensors_by_turns(first):
    a = matrix(5, 5)
    A, x = ln.asarray(a, format=ln.CSR), np.arange(5.0)
    for _ in range(3):
        A @ (x if first == "an array" else ln.asarray(x))
    y, expected = A @ x, a @ x
    for _ in range(3):  # what was computed is multiplied again
        y, expected = A @ y, a @ expected
        np.testing.assert_array_equal(y.to_numpy(), expected)


@pytest.mark.parametrize(
    "given",
    {
        "another dtype": ln.asarray(np.arange(5), dtype="float32"),
        "another fill value": ln.asarray(np.arange(5.0), fill_value=1.5),
        "sparse": ln.asarray(np.arange(5.0), format=ln.SparseList(ln.Element())),
        "by columns": ln.asarray(np.arange(10.0).reshape(5, 2, order="F")),
        "a matrix": ln.asarray(np.arange(15.0).reshape(5, 3)),
    }.values(),
)
def test_tensors_of_another_kind(given):
    a = matrix(5, 5)
    A, b = multiplied(ln.asarray(a, format=ln.CSR)), given.to_numpy()
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray((A @ given).to_numpy()), a @ b)
        np.testing.assert_array_equal((A @ ln.ones(5)).to_numpy(), a.sum(1))
        np.testing.assert_array_equal((A @ A).to_numpy(), a @ a)
    with pytest.raises(ln.errors.ShapeError):
        A @ ln.ones(4)


@ln.kernel
def halve(y, x):
    y[...] = 0
    for i in ...:
        y[i] = x[i] / 2
    return y


def test_a_vector_that_is_written_to():
    a, x = matrix(5, 5), np.arange(5.0)
    A, y = ln.asarray(a, format=ln.CSR), ln.empty_tensor(ln.DENSE(1))
    for k in range(1, 5):
        halve(y, ln.asarray(k * x))
        for _ in range(2):
            np.testing.assert_array_equal((A @ y).to_numpy(), a @ (k * x / 2))


def test_threads_have_blocks_of_their_own():
    a = matrix(9, 9)
    A = multiplied(ln.asarray(a, format=ln.CSR))

    def products(k):
        return all(((A @ np.full(9, k)).to_numpy() == a @ np.full(9, k)).all() for _ in range(200))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(products, np.arange(4.0)))


@pytest.mark.parametrize("shape", [(3,), (2, 2), (0,), ()])
def test_addresses_are_those_that_numpy_tells(shape):
    for array in (np.zeros(shape), np.ones((4, *shape), "int8")[1:]):
        assert address_of(array) == _asked(array)
