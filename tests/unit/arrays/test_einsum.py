"""Index notation: read, printed, checked, interpreted, planned, compiled."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linnet as ln
from linnet.arrays.arrange import arrange
from linnet.arrays.check import index_sizes, indices, operands
from linnet.arrays.interpret import run
from linnet.arrays.printer import show
from linnet.errors import FormatError, KernelSyntaxError, ShapeError
from linnet.frontend.equations import read
from linnet.testing import dense

E0 = ln.Element(0.0)
MATRICES = [ln.CSR, ln.CSC, ln.COO(2), ln.DCSR, ln.DENSE(2), ln.SparseHash(ln.SparseByteMap(E0))]


def matrix(rows: int, columns: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 9, (rows, columns)).astype(float)
    return np.where(rng.random((rows, columns)) < 0.4, values, 0.0)


A, B, C = matrix(5, 6, 1), matrix(6, 4, 2), matrix(5, 6, 3)
x, u = np.arange(1.0, 7.0), np.arange(1.0, 6.0)
EQUATIONS = {
    "D[i, j] += A[i, k] * B[k, j]": (A, B),
    "D[j, i] += A[i, k] * B[k, j]": (A, B),
    "y[i] = A[i, j] * x[j]": (A, x),
    "y[j] = A[i, j] * u[i]": (A, u),
    "D[i, j] = A[i, j] + C[i, j]": (A, C),
    "D[i, j] = A[i, j] * C[i, j] - 2 * A[i, j]": (A, C),
    "s[()] += A[i, j] * C[i, j]": (A, C),
    "m[i] max= A[i, j]": (A,),
    "D[i, k, j] = A[i, k] * B[k, j]": (A, B),
    "d[i] = A[i, i]": (A[:, :5],),
    "D[i, j] = where(A[i, j] > 3, A[i, j], 0)": (A,),
    "t[i] += A[i, k] * B[k, j] * u[i]": (A, B, u),
}
NAMES = {id(A): "A", id(B): "B", id(C): "C", id(x): "x", id(u): "u"}


def named(equation: str, arrays: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
    found = [n for n in ("A", "B", "C", "x", "u") if f"{n}[" in equation.partition("=")[2]]
    return dict(zip(found, arrays, strict=True))


@pytest.mark.parametrize("equation", EQUATIONS)
def test_every_format_of_the_operands(equation):
    arrays = named(equation, EQUATIONS[equation])
    want = run(read(equation, tuple(arrays), ()).notation, arrays)
    choices = [MATRICES if a.ndim == 2 else [ln.DENSE(1), ln.CSF(1)] for a in arrays.values()]
    combinations = list(itertools.product(*choices))
    for formats in combinations[:: max(1, len(combinations) // 8)]:
        pairs = zip(arrays.items(), formats, strict=True)
        given = {n: ln.asarray(a, format=f) for (n, a), f in pairs}
        np.testing.assert_array_equal(dense(ln.einsum(equation, **given)), want)


@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO(2), ln.DCSC, ln.DENSE(2)])
def test_the_result_format_is_what_is_asked_for(format):
    result = ln.einsum("D[i,j] += A[i,k] * B[k,j]", A=A, B=B, format=format)
    assert result.format == ln.asarray(np.zeros((2, 2)), format=format).format
    np.testing.assert_array_equal(dense(result), A @ B)


def test_the_result_format_follows_from_the_operands():
    csr, csc = ln.asarray(A, format=ln.CSR), ln.asarray(A, format=ln.CSC)
    assert ln.einsum("D[i,j] = A[i,j] * 2", A=csr).format.name == "CSR"
    assert ln.einsum("D[i,j] = A[i,j] * 2", A=csc).format.name == "CSC"
    assert ln.einsum("D[i,j] = A[i,j] + B[i,j]", A=csr, B=csc).format.name in ("CSR", "CSC")
    assert ln.einsum("y[i] = A[i,j] * x[j]", A=csr, x=x).format.name == "DENSE(1)"
    shifted = ln.einsum("D[i,j] = A[i,j] + 1", A=csr)
    assert (shifted.fill_value, shifted.nnz) == (1.0, csr.nnz)  # not dense: the fill changes


def test_subscripts_of_numpy():
    for text, arrays in {
        "ij,jk->ik": (A, B),
        "ij,jk": (A, B),
        "ij->ji": (A,),
        "ij,ij->": (A, C),
        "ij->i": (A,),
        "i,j->ij": (u, x),
    }.items():
        result = ln.einsum(text, *(ln.asarray(a) for a in arrays))
        np.testing.assert_array_equal(dense(result), np.einsum(text, *arrays))


def test_min_plus_keeps_its_fill():
    G = ln.asarray(ln.asarray(A, format=ln.CSR).to_scipy(), fill_value=np.inf)
    d = ln.einsum("d[j] min= u[i] + G[i,j]", u=u, G=G)
    want = np.min(np.where(A == 0, np.inf, A) + u[:, None], axis=0)
    np.testing.assert_array_equal(dense(d), want)
    assert d.fill_value == np.inf


def test_functions_are_passed_by_name():
    result = ln.einsum("D[i,j] = f(A[i,j], C[i,j])", f=np.maximum, A=A, C=C)
    np.testing.assert_array_equal(dense(result), np.maximum(A, C))
    total = ln.einsum("y[i] f= A[i,j]", f=ln.maximum, A=A)
    np.testing.assert_array_equal(dense(total), A.max(axis=1))


@pytest.mark.parametrize("equation", EQUATIONS)
def test_what_is_printed_reads_back(equation):
    names = tuple(named(equation, EQUATIONS[equation]))
    notation = read(equation, names, ()).notation
    assert read(show(notation), names, ()).notation == notation


def test_loops_follow_what_is_stored():
    product = read("D[i,j] += A[i,k] * B[k,j]", ("A", "B"), ()).notation
    rows, columns = ln.CSR, ln.CSC

    def order(notation, formats, stored):
        found, against = arrange(indices(notation), operands(notation), formats, stored)
        return found, [access.tensor for access in against]

    assert order(product, {"A": rows, "B": rows}, {"A": 9, "B": 9}) == (["i", "k", "j"], [])
    found = order(product, {"A": columns, "B": columns}, {"A": 9, "B": 9})
    assert found == (["j", "k", "i"], [])
    sums = read("D[i,j] = A[i,j] + B[i,j]", ("A", "B"), ()).notation
    assert order(sums, {"A": rows, "B": columns}, {"A": 9, "B": 3}) == (["i", "j"], ["B"])
    assert index_sizes(product, {"A": (2, 3), "B": (3, 4)}) == {"i": 2, "k": 3, "j": 4}


@pytest.mark.parametrize(
    ("equation", "operands", "error", "message"),
    [
        ("D[i,j] += A[i,k] * B[k,j]", {"A": A, "B": A}, ShapeError, "`k` is 6 in A[i, k] but 5"),
        ("y[i] = A[i]", {"A": A}, ShapeError, "A[i] has 1 indices, and A has 2 dimensions"),
        ("y[i] = x[j]", {"x": x}, ShapeError, "nothing says how far `i` runs"),
        ("y[i,i] = A[i,j]", {"A": A}, FormatError, "must be different names"),
        ("y[i] = A[i,j] *", {"A": A}, KernelSyntaxError, "cannot read the equation"),
        ("A[i,j]", {"A": A}, KernelSyntaxError, "cannot read the equation"),
        ("y[i] = Z[i,j]", {"A": A}, KernelSyntaxError, "cannot read the equation"),
        ("y[i] foo= A[i,j]", {"A": A}, KernelSyntaxError, "cannot read the equation"),
        ("y[i] //= A[i,j]", {"A": A}, FormatError, "has no identity"),
    ],
)
def test_refused(equation, operands, error, message):
    with pytest.raises(error) as caught:
        ln.einsum(equation, **operands)
    assert message in str(caught.value)
