"""Temporaries that are computed for nobody: where they vanish, and where their value lasts."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet import loops
from linnet.frontend.text import parse_text
from linnet.normalize.unread import forgotten, without_unread

NAMES = frozenset("st")


def program(text: str) -> loops.Program:
    """A program with temporaries `s` and `t`."""
    head = "def f(y, A):\n    s = ln.temp(ln.Element(0.0))\n    t = ln.temp(ln.Element(0.0))\n"
    return parse_text(head + "\n".join(f"    {line}" for line in text.strip().splitlines()))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("s[...] = 0\nfor i in ...:\n    s[...] = 0\n    s[()] += A[i]\n    y[i] = s[()]", "st"),
        ("for i in ...:\n    s[...] = 0\n    y[i] = s[()]\n    s[...] = 1\n    y[i] = s[()]", "st"),
        # the last of them is read
        ("s[...] = 0\nfor i in ...:\n    s[...] = 0\n    s[()] += A[i]\ny[0] = s[()]", "t"),
        # the next iteration sees what this one has left
        ("s[...] = 0\nfor i in ...:\n    y[i] = s[()]\n    s[...] = 0\n    s[()] += A[i]", "t"),
        ("s[...] = 0\nfor i in ...:\n    if A[i] > 0:\n        s[...] = 1\n    y[i] = s[()]", "t"),
        ("s[...] = 0\nfor i in ...:\n    for j in range(0, s[()]):\n        s[...] = 1", "t"),
        ("s[...] = 0\nt[...] = 0\nfor i in ...:\n    s, t = t, s\n    y[i] = s[()]", ""),
    ],
)
def test_forgotten(text: str, names: str) -> None:
    assert forgotten(program(text)) == frozenset(names)


def test_what_is_computed_for_another_unread_one_vanishes() -> None:
    text = """
s[...] = 0
for k in ...:
    s[()] += A[k]
t[...] = 0
if A[0] > 1:
    t[()] += s[()]
y[...] = 0
"""
    only = without_unread(program(text).body, NAMES)
    assert isinstance(only, loops.Declare)
    assert only.tensor == "y"


@pytest.mark.parametrize("index", ["k + 1", "A[k]"])
def test_what_may_be_beyond_the_bounds_stays(index: str) -> None:
    body = program(f"s[...] = 0\nfor k in ...:\n    s[()] += A[{index}]").body
    assert without_unread(body, NAMES) is body


@ln.kernel
def last_row(y, C, A, U, V):
    s = ln.scalar(0.0)
    C[...] = 0
    y[...] = 0
    for i, j in ...:
        s[...] = 0
        for k in ...:
            s[()] += U[i, k] * V[j, k]
        C[i, j] = A[i, j] * s[()]
    y[()] += s[()]
    return y, C


@ln.kernel
def sampled(C, A, U, V):
    s = ln.scalar(0.0)
    C[...] = 0
    for i, j in ...:
        s[...] = 0
        for k in ...:
            s[()] += U[i, k] * V[j, k]
        C[i, j] = A[i, j] * s[()]
    return C


@pytest.mark.parametrize("form", [ln.CSR, ln.DCSR, ln.COO(2), ln.DENSE(2)])
def test_masked_sums(form: ln.Format) -> None:
    rng = np.random.default_rng(3)
    mask = rng.random((5, 7)) * (rng.random((5, 7)) < 0.3)
    U, V = rng.random((5, 4)), rng.random((7, 4))
    A = ln.asarray(mask, format=form)
    C = sampled(ln.empty_tensor(ln.CSR), A, ln.asarray(U), ln.asarray(V))
    y, D = last_row(ln.scalar(0.0), ln.empty_tensor(ln.CSR), A, ln.asarray(U), ln.asarray(V))
    np.testing.assert_allclose(C.to_numpy(), mask * (U @ V.T))
    np.testing.assert_allclose(D.to_numpy(), mask * (U @ V.T))
    np.testing.assert_allclose(y.to_numpy(), (U @ V.T)[-1, -1])


def test_a_masked_sum_is_a_loop_over_positions() -> None:
    A = ln.asarray(np.eye(3), format=ln.CSR)
    X = ln.asarray(np.ones((3, 2)))
    code = sampled.code(ln.empty_tensor(ln.CSR), A, X, X)
    assert "while" not in code[code.index("i64 sampled(") :]
    assert code.count("grow(C_val") == 1
