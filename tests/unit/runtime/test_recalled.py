"""Kernels that another process has compiled: found by what they are, and told apart by it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.robustness.kernels import passes

import linnet as ln
from linnet import backend
from linnet.runtime import recalled
from linnet.testing import dense


@pytest.fixture(autouse=True)
def own_cache(tmp_path):
    with ln.config(cache_dir=str(tmp_path / "cache"), check=False):
        yield


def spmv():
    @ln.kernel
    def spmv(y, A, x):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j] * x[j]
        return y

    return spmv


def scaled(by):
    @ln.kernel
    def scaled(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i] * by
        return y

    return scaled


def accumulate():
    @ln.kernel
    def accumulate(y, x):
        for i in ...:
            y[i] += x[i]
        return y

    return accumulate


def gather():
    @ln.kernel
    def gather(y, x, I):
        y[...] = 0
        for i in ...:
            y[i] = x[I[i]]
        return y

    return gather


def neighbours():
    @ln.kernel
    def neighbours(y, x):
        y[...] = 0
        for i in range(x.shape[0] - 1):
            y[i] = x[i] + x[i + 1]
        return y

    return neighbours


A = np.arange(12.0).reshape(3, 4) % 3


def vector():
    return ln.empty_tensor(ln.DENSE(1))


def entry_of(kernel):
    (entry,) = kernel._entries.values()
    return entry


def test_the_second_process_does_not_compile():
    for kind in (False, True, True):
        kernel = spmv()  # as another process would make it
        x = np.arange(4.0)
        for k in range(3):
            y = kernel(vector(), ln.asarray(A, format=ln.CSR), x + k)
            np.testing.assert_array_equal(y.to_numpy(), A @ (x + k))
        assert entry_of(kernel).recalled is kind


def test_captured_values_are_told_apart():
    x = np.arange(4.0)
    for by in (2.0, 3.0, 2, np.float32(2), -0.0):
        for _ in range(2):
            np.testing.assert_array_equal(scaled(by)(vector(), x).to_numpy(), x * by)


def _apply(f):
    def apply(y, x):
        y[...] = 0
        for i in ...:
            y[i] = f(x[i])
        return y

    return apply


def test_redefined_functions_are_others():
    x = np.arange(4.0)

    @ln.function
    def f(v):
        return v + 1

    assert ln.kernel(_apply(f))(vector(), x).to_numpy()[1] == 2

    @ln.function
    def f(v):
        return v + 5

    assert ln.kernel(_apply(f))(vector(), x).to_numpy()[1] == 6
    kernel = ln.kernel(_apply(f))
    assert kernel(vector(), x).to_numpy()[1] == 6
    assert entry_of(kernel).recalled


@pytest.mark.parametrize("fill", [0.0, 1.0, np.inf])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_formats_are_told_apart(dtype, fill):
    if dtype == "int32" and fill == np.inf:
        return
    for format in (ln.CSR, ln.DCSR, ln.COO(2), ln.RAGGED):
        values = np.where(A == 0, fill, A).astype(dtype)
        given = ln.asarray(values, format=format.with_fill(fill), dtype=dtype)
        x = np.ones(4, dtype)
        for _ in range(2):
            np.testing.assert_allclose(spmv()(vector(), given, x).to_numpy(), values @ x)


def test_what_is_updated_is_updated():
    for _ in range(3):
        y, kernel = ln.asarray(np.ones(4)), accumulate()
        for k in range(3):
            kernel(y, np.arange(4.0))
            np.testing.assert_array_equal(y.to_numpy(), 1 + (k + 1) * np.arange(4.0))
    assert entry_of(kernel).recalled


def test_errors_are_told_as_if_it_were_compiled_here():
    gather()(vector(), np.arange(4.0), np.array([0, 2]))
    spmv()(vector(), ln.asarray(A, format=ln.CSR), np.ones(4))
    neighbours()(ln.asarray(np.zeros(5)), np.arange(5.0))
    for _ in range(2):
        kernel = gather()
        with pytest.raises(ln.errors.IndexBoundsError, match="gather") as caught:
            kernel(vector(), np.arange(4.0), np.array([0, 9]))
        assert caught.value.at is not None
        assert caught.value.at.file == __file__
        np.testing.assert_array_equal(
            kernel(vector(), np.arange(4.0), np.array([3])).to_numpy(), [3]
        )
        with pytest.raises(ln.errors.ShapeError, match="`j`"):
            spmv()(vector(), ln.asarray(A, format=ln.CSR), np.ones(5))


def test_warnings_are_given_in_every_process():
    @ln.kernel
    def against(y, A):
        y[...] = 0
        for i, j in ...:
            y[i] += A[j, i]
        return y

    for _ in range(2):
        with pytest.warns(ln.errors.DiscordanceWarning):
            ln.Kernel(against.program)(vector(), ln.asarray(A, format=ln.CSR))


@pytest.mark.parametrize("data", [b"", b"junk", pickle.dumps(3), pickle.dumps((1, "f", b""))])
def test_damaged_entries_are_compiled_again(data, monkeypatch):
    given = ln.asarray(A, format=ln.CSR), np.ones(4)
    spmv()(vector(), *given)
    genuine = backend.stored

    def damaged(key, options):
        return data if key.startswith("kernel\n") else genuine(key, options)

    monkeypatch.setattr(backend, "stored", damaged)
    kernel = spmv()
    np.testing.assert_array_equal(kernel(vector(), *given).to_numpy(), A.sum(1))
    assert not entry_of(kernel).recalled


def test_machine_code_that_cannot_be_linked(monkeypatch):
    given = ln.asarray(A, format=ln.CSR), np.ones(4)
    spmv()(vector(), *given)
    genuine = backend.stored

    def cut(key, options):
        data = genuine(key, options)
        if data is None or not key.startswith("kernel\n"):
            return data
        thing, ((symbol, code),) = pickle.loads(data)
        return pickle.dumps((thing, [(symbol, code[:100])]))

    monkeypatch.setattr(backend, "stored", cut)
    kernel = spmv()
    np.testing.assert_array_equal(kernel(vector(), *given).to_numpy(), A.sum(1))
    assert not entry_of(kernel).recalled


def test_with_checks_everything_is_compiled():
    given = ln.asarray(A, format=ln.CSR), np.ones(4)
    spmv()(vector(), *given)
    with ln.config(check=True):
        kernel = spmv()
        kernel(vector(), *given)
        assert not entry_of(kernel).recalled


def test_results_beyond_32_bits_are_compiled_for_them(monkeypatch):
    """What a recalled kernel cannot do is done by one that is compiled here."""
    given = ln.asarray(A, format=ln.CSR), np.ones(4)
    spmv()(vector(), *given)
    monkeypatch.setattr(recalled.Recalled, "run", lambda *args: False)
    kernel = spmv()
    np.testing.assert_array_equal(kernel(vector(), *given).to_numpy(), A.sum(1))
    assert not entry_of(kernel).recalled


PROGRAM = """
A = ln.asarray(matrix(20, 0), format='csr')
B = A.to(ln.CSC)
found = A * 2, A.mean(axis=0), A[matrix(20, 1).sum(1) > 10], ln.concat([A, A]), A == B, A[3]
found += (ln.einsum('y[i] += A[i,j] * x[j]', A=A, x=np.ones(20)),)
import sys
print('linnet.compiler' in sys.modules, 'llvmlite' in sys.modules)
print([float(np.abs(each.to_numpy()).sum()) for each in found])
"""


@pytest.mark.own_loader
def test_operations_of_a_second_process_need_no_compiler(tmp_path):
    where = {"LINNET_CACHE_DIR": str(tmp_path / "c"), "LINNET_CHECK": "0"}
    first, again = (passes(PROGRAM, **where) for _ in range(2))
    assert first.splitlines()[0] == "True True"
    assert again.splitlines()[0] == "False False"
    assert again.splitlines()[1] == first.splitlines()[1]


FIRST = """
import sys
A, x = ln.asarray(matrix(20, 0), format='csr'), np.ones(20)
before = set(sys.modules)
found = A @ x, A + A, A * 2, A @ A, A.sum(0), A[2:9], A.to(ln.CSC), A.to_numpy()
print(sorted(set(sys.modules) - before))
"""


@pytest.mark.own_loader
def test_first_operations_of_a_second_process_import_nothing(tmp_path):
    """All that they need comes with `import linnet`: to find modules takes longer than they do."""
    where = {"LINNET_CACHE_DIR": str(tmp_path / "c"), "LINNET_CHECK": "0"}
    first, again = (passes(FIRST, **where) for _ in range(2))
    assert "linnet.compiler" in first
    assert again.strip() == "[]"


def test_results_are_those_of_the_reference():
    for _ in range(2):
        kernel, given = spmv(), ln.asarray(A, format=ln.CSR)
        y = kernel(vector(), given, np.arange(4.0))
        (expected,) = kernel.reference(vector(), given, np.arange(4.0)).values()
        np.testing.assert_array_equal(dense(y), expected)


def test_products_are_recalled_up_to_the_size_where_workspaces_may_be_others():
    @ln.kernel
    def product(C, A, B):
        C[...] = 0
        for i, k, j in ...:
            C[i, j] += A[i, k] * B[k, j]
        return C

    def multiplied(n):
        kernel, b = ln.Kernel(product.program), np.tile(A.T, n)
        given = ln.asarray(A, format=ln.CSR), ln.asarray(b, format=ln.CSR)
        found = kernel(ln.empty_tensor(ln.CSR), *given)
        np.testing.assert_array_equal(found.to_numpy(), A @ b)
        return entry_of(kernel)

    ((_, _, most),) = multiplied(1).limits
    assert multiplied(1).recalled
    assert multiplied(most // 3).recalled
    assert not multiplied(most // 3 + 1).recalled
