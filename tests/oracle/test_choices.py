"""What is structural: compiled code and the reference agree on what takes no part in arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check
from tests.oracle.functions import both, one_of, unless

import linnet as ln
from linnet.formats.format import Format
from linnet.frontend.text import parse_text

FUNCTIONS = {f.label: f for f in (both, one_of, unless)}
VECTORS = (
    "(1.0 if A[i] > 0 else 0.0) * x[i]",
    "(1.0 if i > 5 else A[i]) * x[i]",
    "(A[i] if c[i] > 0 else 1.0) * x[i]",
    "(A[i] if c[i] > 0 else B[i]) * x[i]",
    "A[i] if c[i] > 0 else 1.0",
    "(A[i] if c[i] > 0 else (B[i] if x[i] > 0 else 2.0)) * x[i]",
    "max(A[i] if c[i] > 0 else 1.0, 0.0) * x[i]",
    "(A[i] if i % 2 == 0 else B[i]) * x[i]",
    "(c[i] > 0 and A[i] > 0) * x[i]",
    "(c[i] > 0 or A[i] > 0) * x[i]",
    "(A[i] > 0 and i < 2) * x[i]",
    "(A[i] == 0 and False) * x[i]",
    "(i < 2) * x[i]",
    "(i * i < 4) * x[i]",
    "(A[i] + (0.0 if i < 2 else 2.0)) * x[i]",
    "(1.0 if i < 2 and A[i] > 0 else 0.0) * x[i]",
    "(0 * c[i]) * x[i]",
    "((0 * c[i]) if A[i] > 0 else 0) * x[i]",
    "both(A[i], x[i]) * x[i]",
    "unless(A[i], x[i]) * x[i]",
    "both(i < 2, c[i]) * x[i]",
    "both(A[i] if c[i] > 0 else 1.0, c[i]) * x[i]",
)
LETS = (
    "d = i < 2\n        Y[i] = d * x[i]",
    "d = A[i] if c[i] > 0 else 1.0\n        Y[i] = d * x[i]",
    "d = 0.0\n        Y[i] = (A[i] + d) * x[i]",
    "d = i < 2 and c[i] > 0\n        Y[i] = (0.0 if d else 1.0) * x[i]",
)
MATRICES = (
    "(j < c[i]) * x[j]",
    "(j < c[i] and A[j] > 0) * x[j]",
    "(A[j] if j < c[i] else B[j]) * x[j]",
    "(A[j] + (0.0 if j < c[i] else 2.0)) * x[j]",
    "(0.0 if i <= j else A[j]) * x[j] + 0 * c[i]",
    "(i <= j and A[j] > 0) * x[j] + 0 * c[i]",
)


def compare(lines: str, result: Format) -> None:
    """Run a program in all ways on vectors that store little, and one that is NaN everywhere."""
    text = (
        f"def f(Y, A, B, x, c):\n    Y[...] = 0.0\n    for i in ...:\n        {lines}\n    return Y"
    )
    args = {
        "Y": ln.empty_tensor(result),
        "A": ln.tensor([[0, 1]], [1.0, 0.0], (4,), format=ln.CSF(1)),
        "B": ln.tensor([[1, 2]], [1.0, 0.0], (4,), format=ln.CSF(1)),
        "x": ln.asarray(np.full(4, np.nan)),
        "c": ln.asarray(np.array([1, 0, 2, -1])),
    }
    check(Subject.of(parse_text(text, FUNCTIONS), args), args, BACKENDS[:1])


@pytest.mark.parametrize("level", [ln.SparseList, ln.Dense, ln.SparseHash])
@pytest.mark.parametrize("value", VECTORS)
def test_what_is_chosen(value: str, level: type) -> None:
    compare(f"Y[i] = {value}", level(ln.Element(0.0)))


@pytest.mark.parametrize("lines", LETS)
def test_what_is_named(lines: str) -> None:
    compare(lines, ln.SparseList(ln.Element(0.0)))


@pytest.mark.parametrize("value", MATRICES)
def test_tests_that_cut_a_loop(value: str) -> None:
    compare(f"for j in ...:\n            Y[i, j] = {value}", ln.CSR)
    compare(f"m = c[i]\n        for j in ...:\n            Y[i, j] = {value}", ln.CSR)


def test_names_that_nobody_reads() -> None:
    """What is known of a value is said once: to say it again and again had no end."""
    compare("d = (i == 1 and c[i] > 0) * x[i]\n        Y[i] = A[i]", ln.SparseList(ln.Element(0.0)))


def test_names_have_types_before_anything_is_lowered() -> None:
    """Whether a vector leads a loop is asked of updates that use names."""
    lines = (
        "for j in ...:\n            d = c[i] != A[j]\n            Y[i, j] = both(d, B[j]) + B[i]"
    )
    compare(lines, ln.Dense(ln.SparseHash(ln.Element(0.0))))


@ln.kernel
def chosen(Y, A):
    Y[...] = 0
    for i in ...:
        Y[i] = int(math.inf if A[i] <= 3 else 1)
    return Y


@pytest.mark.parametrize("level", [ln.Dense, ln.SparseList, ln.SparseHash])
def test_a_number_that_is_chosen_is_converted_wherever(level: type[ln.Dense]) -> None:
    """Where nothing is stored it was taken for a number of the user: infinity is no integer."""
    args = {"Y": ln.empty_tensor(ln.Dense(ln.Element(0, "int64")))}
    args["A"] = ln.asarray(np.array([0.0, 2.0, 7.0]), format=level(ln.Element(0.0)))
    check(Subject.of(chosen.program, args), args)
