"""Operands that are put in order instead of updates: the same results, in all ways to run them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import Subject, check, deciding

import linnet as ln
from linnet.formats.insertion import OPERAND
from linnet.formats.named import stack
from linnet.frontend.text import parse_text
from linnet.normalize.choice import MERGED

RESULTS = [ln.CSR, ln.DCSR, ln.COO(2), ln.CSF(2), ln.Dense(ln.SparseRunList(ln.Element(0.0)))]
BLOCKS = ln.Dense(ln.SparseBlockList(ln.Element(0.0)))
FIBERS = ln.Dense(ln.Dense(ln.SparseList(ln.Element(0.0))))


def sparse(shape, share, seed, dtype="float64", fill=0):
    """Small numbers, whose sums and products are exact."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 9, shape).astype(dtype)
    return np.where(rng.random(shape) < share, values, np.dtype(dtype).type(fill))


def stored(shape, share, seed, format, dtype="float64", fill=0):
    """A tensor, of which some values are stored."""
    return ln.asarray(sparse(shape, share, seed, dtype, fill), format=format, fill_value=fill)


def agree(text, **args):
    """Every way to run a program gives what it means; an operand is put in order."""
    program = parse_text(text)
    subject = Subject.of(program, args, (OPERAND, MERGED))
    assert "put in order first" in told(subject, args)
    check(subject, args)


def told(subject, args):
    """What is said of the results."""
    with deciding((OPERAND, MERGED)):
        given = [args[p] for p in subject.kernel.program.params]
        return ln.explain(subject.kernel, *given)["results"]


BY_COLUMNS = "C[...] = 0\nfor k, i, j in ...:\n    C[i, j] += A[i, k] * B[k, j]"


@pytest.mark.parametrize("format", [*RESULTS, BLOCKS], ids=str)
@pytest.mark.parametrize("order", ["k, i, j", "k, j, i"])
def test_a_product_by_columns(format, order):
    A, B = stored((7, 9), 0.3, 1, ln.CSC), stored((9, 5), 0.3, 2, ln.CSR)
    agree(BY_COLUMNS.replace("k, i, j", order), C=ln.empty_tensor(format), A=A, B=B)


@pytest.mark.parametrize(
    "format", [ln.CSC, ln.DCSR.with_order(1, 0), ln.COO(2).with_order(1, 0)], ids=str
)
def test_operands_by_columns(format):
    A, B = stored((7, 9), 0.3, 1, format), stored((9, 5), 0.3, 2, ln.CSR)
    agree(BY_COLUMNS, C=ln.empty_tensor(ln.CSR), A=A, B=B)


def test_a_result_by_columns():
    """Stored by j: it is B that comes out of order."""
    A, B = stored((7, 9), 0.3, 1, ln.CSC), stored((9, 5), 0.3, 2, ln.CSR)
    agree(BY_COLUMNS, C=ln.empty_tensor(ln.CSC), A=A, B=B)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "complex128"])
def test_types(dtype):
    A, B = stored((7, 9), 0.3, 1, ln.CSC, dtype), stored((9, 5), 0.3, 2, ln.CSR, dtype)
    agree(BY_COLUMNS, C=ln.empty_tensor(ln.CSR), A=A, B=B)


def test_nothing_is_infinite():
    text = "C[...] = np.inf\nfor k, i, j in ...:\n    C[i, j] = min(C[i, j], A[i, k] + B[k, j])"
    far = np.inf
    A = stored((7, 9), 0.3, 1, ln.CSC.with_fill(far), fill=far)
    B = stored((9, 5), 0.3, 2, ln.CSR.with_fill(far), fill=far)
    agree(text, C=ln.empty_tensor(ln.CSR.with_fill(far)), A=A, B=B)


@pytest.mark.parametrize("update", ["=", "-=", "*=", "+="])
def test_any_update_meets_elements_in_the_same_order(update):
    """The last one counts, or each in its turn: no workspace could merge these."""
    text = BY_COLUMNS.replace("+=", update).replace("= 0", "= 2")
    A, B = stored((7, 9), 0.4, 1, ln.CSC), stored((9, 5), 0.4, 2, ln.CSR)
    agree(text, C=ln.empty_tensor(ln.CSR.with_fill(2.0)), A=A, B=B)


def test_patterns():
    A = ln.asarray(sparse((7, 9), 0.3, 1) != 0, format=stack_of_patterns())
    agree(BY_COLUMNS, C=ln.empty_tensor(ln.CSR), A=A, B=stored((9, 5), 0.3, 2, ln.CSR))


def stack_of_patterns():
    """A matrix by columns that stores places, and no values."""
    return stack(ln.Dense(ln.SparseList(ln.Pattern()))).with_order(1, 0)


def test_what_is_stored_counts_and_nothing_else():
    """A stored 0 times NaN is NaN, and what is not stored takes no part."""
    A = ln.tensor(([0, 1, 2], [0, 0, 1]), [0.0, 2.0, 3.0], (4, 3), format=ln.CSC)
    B = ln.tensor(([0, 1, 2], [1, 0, 0]), [np.nan, np.inf, np.nan], (3, 2), format=ln.CSR)
    assert A.nnz == 3
    agree(BY_COLUMNS, C=ln.empty_tensor(ln.CSR), A=A, B=B)


def test_one_operand_twice():
    """A times its transpose: one access is put in order, the other is as it was."""
    text = "C[...] = 0\nfor k, i, j in ...:\n    C[i, j] += A[i, k] * A[j, k]"
    agree(text, C=ln.empty_tensor(ln.CSR), A=stored((7, 9), 0.3, 1, ln.CSC))
    text = "C[...] = 0\nfor k, i, j in ...:\n    C[i, j] += A[i, k] * B[k, j] + A[i, k] * B[k, j]"
    A, B = stored((7, 9), 0.3, 1, ln.CSC), stored((9, 5), 0.3, 2, ln.CSR)
    agree(text, C=ln.empty_tensor(ln.CSR), A=A, B=B)


@pytest.mark.parametrize("mask", [ln.CSR, ln.DCSR, ln.COO(2)], ids=str)
def test_what_is_stored_as_the_result_stays(mask):
    text = "C[...] = 0\nfor k, i, j in ...:\n    C[i, j] += d[i] * A[i, k] * B[k, j] * M[i, j]"
    A, B = stored((7, 9), 0.3, 1, ln.CSC), stored((9, 5), 0.4, 2, ln.CSR)
    M, d = stored((7, 5), 0.5, 3, mask), ln.asarray(np.arange(7.0))
    agree(text, C=ln.empty_tensor(ln.CSR), d=d, A=A, B=B, M=M)


@pytest.mark.parametrize("format", [ln.CSF(3), ln.COO(3), FIBERS], ids=str)
def test_more_dimensions(format):
    """What is left is collected by rows: a matrix for each i."""
    text = "C[...] = 0\nfor k, i, j, l in ...:\n    C[i, j, l] += A[i, k] * B[k, j] * D[k, l]"
    A, B = stored((6, 8), 0.3, 1, ln.CSC), stored((8, 5), 0.3, 2, ln.CSR)
    agree(text, C=ln.empty_tensor(format), A=A, B=B, D=stored((8, 4), 0.3, 3, ln.CSR))


def test_other_sums_stay_inside():
    text = "C[...] = 0\nfor k, l, i, j in ...:\n    C[i, j] += A[i, k] * B[k, j] * d[l]"
    A, B = stored((6, 8), 0.3, 1, ln.CSC), stored((8, 5), 0.3, 2, ln.CSR)
    agree(text, C=ln.empty_tensor(ln.CSR), A=A, B=B, d=ln.asarray(np.arange(3.0)))


def test_parts_of_dimensions():
    text = (
        "ln.declare(C, 0, (7, 5))\nfor k in range(2, 8):\n    for i in range(1, 6):\n"
        "        for j in range(0, 4):\n            C[i, j] += A[i, k] * B[k, j]"
    )
    A, B = stored((7, 9), 0.4, 1, ln.CSC), stored((9, 5), 0.4, 2, ln.CSR)
    agree(text, C=ln.empty_tensor(ln.CSR), A=A, B=B)


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 3, 0)])
def test_nothing_at_all(shape):
    n, m, p = shape
    A, B = stored((n, m), 0.5, 1, ln.CSC), stored((m, p), 0.5, 2, ln.CSR)
    agree(BY_COLUMNS, C=ln.empty_tensor(ln.CSR), A=A, B=B)


def test_a_temporary_is_put_in_order():
    """The operand is made by the program itself, which says how large it is."""
    text = (
        "T[...] = 0\nfor k, i in ...:\n    T[i, k] = A[i, k] + 1\n"
        "C[...] = 0\nfor k, i, j in ...:\n    C[i, j] += T[i, k] * B[k, j]"
    )
    A, B = stored((7, 9), 0.4, 1, ln.CSC), stored((9, 5), 0.4, 2, ln.CSR)
    T, C = ln.empty_tensor(ln.CSC.with_fill(1.0)), ln.empty_tensor(ln.CSR)
    program = parse_text(text)
    args = {p: {"A": A, "B": B, "C": C, "T": T}[p] for p in program.params}
    check(Subject.of(program, args, (OPERAND, MERGED)), args)
