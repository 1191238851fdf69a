"""Which updates are made of all elements along some dimensions, or of none."""

from __future__ import annotations

import pytest

import linnet as ln
from linnet import loops
from linnet.formats.format import Format
from linnet.frontend.text import parse_text
from linnet.normalize.whole import is_whole

FORMATS: dict[str, Format] = {
    "C": ln.CSR, "A": ln.CSR, "B": ln.DENSE(2), "S": ln.CSR, "x": ln.DENSE(1), "v": ln.CSF(1),
}  # fmt: skip
ROW = "for k in range(B.shape[1]):"
PART = "for k in ln.part(range(B.shape[1]), t, 4):"
CASES = [
    # loops inside that over i, the update, and whether all of row i is updated, or nothing
    ([ROW], "C[i, k] += B[i, k]", True),
    (["for j in range(B.shape[0]):", ROW], "C[i, k] += A[i, j] * B[j, k]", True),
    ([ROW, "for j in range(B.shape[0]):"], "C[i, k] += A[i, j] * B[j, k]", True),
    ([ROW, "for j in ln.stored(A[i, :]):"], "C[i, k] += A[i, j] * B[j, k]", True),
    ([ROW, "for j in ln.stored(A[k, :]):"], "C[i, k] += A[k, j] * B[j, k]", False),
    ([ROW, "for j in range(k):"], "C[i, k] += B[j, k]", False),
    ([ROW, "for j in range(x.shape[0]):"], "C[i, k] += v[j] * B[i, k]", True),
    ([ROW], "C[i, k] += S[i, k]", False),
    ([ROW], "C[i, k] += x[i] * S[i, k] + B[i, k]", False),
    ([ROW], "C[i, k] += B[i, k] * (k < 3)", False),
    ([ROW, "if x[i] > 2:"], "C[i, k] += B[i, k]", False),
    ([ROW, "d = S[i, k]"], "C[i, k] += d", False),
    ([ROW, "d = B[i, k]"], "C[i, k] += d * 2", True),
    (["for k in range(3):"], "C[i, k] += B[i, k]", False),
    (["for k in range(1, B.shape[1]):"], "C[i, k] += B[i, k]", False),
    ([ROW], "C[i, 2 * k] += B[i, k]", False),
    ([ROW], "C[i, k] += B[i, ~k]", False),
    (["for t in range(ln.parts(range(B.shape[1]), 4)):", PART], "C[i, k] += B[i, k]", True),
    (["for t in range(3):", PART], "C[i, k] += B[i, k]", False),
]


@pytest.mark.parametrize(("heads", "update", "expected"), CASES)
def test_what_is_updated_as_a_whole(heads, update, expected):
    heads = ["for i in range(A.shape[0]):", *heads]
    lines = [f"{'    ' * (n + 1)}{head}" for n, head in enumerate(heads)]
    depth = sum(head.endswith(":") for head in heads)
    lines = [f"{'    ' * (1 + min(n, depth))}{line.strip()}" for n, line in enumerate(lines)]
    text = "\n".join(["def f(C, A, B, S, x, v):", *lines, f"{'    ' * (depth + 1)}{update}"])
    body = parse_text(f"{text}\n    return C").body
    while not isinstance(body, loops.Loop):
        body = body.stmts[0]
    dims = [loops.Dimension("B", 1)]
    assert is_whole(body.body, "C", [1], dims, FORMATS) == expected
