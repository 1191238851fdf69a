"""Diagonals of rows that are equal: along one of them, and not index by index."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet.frontend.text import parse_text

INNER = {
    "list": ln.SparseList(ln.Element(0.0)),
    "runs": ln.RunList(ln.Element(0.0)),
    "sparse runs": ln.SparseRunList(ln.Element(0.0)),
    "blocks": ln.SparseBlockList(ln.Element(0.0)),
    "band": ln.SparseBand(ln.Element(0.0)),
    "coordinates": ln.SparseCOO(1, ln.Element(0.0)),
    "bytes": ln.SparseByteMap(ln.Element(0.0)),
    "hash": ln.SparseHash(ln.Element(0.0)),
    "dense": ln.Dense(ln.Element(0.0)),
}
BODIES = {
    "sum": "s[()] += A[i, i]",
    "largest": "s[()] = max(s[()], A[i, i])",
    "with an index": "s[()] += A[i, i] * i",
    "with a vector": "s[()] += A[i, i] * v[i]",
    "of two": "s[()] += A[i, i] * B[i, i]",
    "beside": "s[()] += ln.coalesce(A[i, ~(i + 2)], 5)",
    "before": "s[()] += ln.coalesce(A[i, ~(i - 3)], 5)",
    "every other": "s[()] += ln.coalesce(A[i, ~(2 * i)], 1)",
    "where": "if A[i, i] > 1:\n            s[()] += v[i]",
    "and the row": "s[()] += A[i, i] * A[i, 3]",
}
LIST = ln.RunList(INNER["list"])


def program(body: str) -> str:
    return f"""def diagonal(s, A, B, v):
    s[...] = 0
    for i in range(A.shape[0]):
        {body}
    return s
"""


def rows() -> np.ndarray:
    a = np.zeros((4, 24))
    a[0, 3:9] = 3.0
    a[1, 5:20] = 1.0
    a[3, 18:24] = 7.0
    return np.repeat(a, 6, axis=0)


PAIRS = [(body, "list") for body in BODIES] + [(body, "runs") for body in BODIES]
PAIRS += [(body, inner) for inner in INNER for body in ("sum", "beside")]


@pytest.mark.parametrize(("body", "inner"), dict.fromkeys(PAIRS))
def test_diagonals(body, inner):
    outer = ln.SparseRunList if body in ("sum", "of two") else ln.RunList
    v = np.where(np.arange(24) % 3 == 0, 0.0, np.arange(24) + 1.0)
    vector = INNER["list"] if inner == "list" else INNER["dense"]
    given = {"s": ln.scalar(0.0), "A": ln.asarray(rows()).to(outer(INNER[inner]))}
    given |= {"B": given["A"], "v": ln.asarray(v).to(vector)}
    check(Subject.of(parse_text(program(BODIES[body])), given), given, BACKENDS)


@pytest.mark.parametrize("result", [ln.DENSE(1), ln.SparseList(ln.Element(0.0))], ids=str)
def test_they_are_results(result):
    text = """def diagonal(y, A):
    y[...] = 0
    for i in range(A.shape[0]):
        y[i] = A[i, i]
    return y
"""
    given = {"y": ln.empty_tensor(result), "A": ln.asarray(rows()).to(LIST)}
    check(Subject.of(parse_text(text), given), given, BACKENDS)


def test_one_walk_for_all_rows_that_are_equal():
    """Of 2**33 rows in three runs, the diagonal has the entries that these have."""
    n = 2**33
    buffers = {
        "ptr0": np.array([0, 3]),
        "right0": np.array([10, 2**32, n]),
        "ptr1": np.array([0, 2, 5, 6]),
        "idx1": np.array([4, 10, 7, 2**31, 2**32, n - 1]),
        "val": np.arange(1.0, 7.0),
    }
    A = ln.from_buffers(LIST, (n, n), buffers)
    kernel = ln.Kernel(parse_text(program(BODIES["sum"]).replace(", A, B, v", ", A")))
    assert "; i++)" not in kernel.code(ln.scalar(0.0), A)
    assert float(kernel(ln.scalar(0.0), A)) == 1.0 + 4.0 + 6.0
