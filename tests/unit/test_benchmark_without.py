"""Rows of the benchmarks without steps of the compiler: what is timed, and what is said of it."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from benchmarks import harness, without
from benchmarks.harness import Case, Side

import linnet as ln
from linnet import target
from linnet.backend import back_ends
from linnet.optimize import vectorize
from linnet.options import current


@ln.kernel
def add(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]
    return C


def side(A: np.ndarray, B: np.ndarray) -> Side:
    a, b = (ln.asarray(x, format=ln.CSR) for x in (A, B))
    return Side(lambda: add(ln.empty_tensor(ln.CSR), a, b), lambda C: C.to_numpy())


@pytest.fixture
def found(monkeypatch) -> without.Found:
    back_end = back_ends.of(current())
    monkeypatch.setattr(back_end, "generate", back_end.generate)
    monkeypatch.setattr(without, "_KNOWN", {})
    made, A = without.recorded(), np.eye(3)
    case = Case("add", "made", 3, (A, A), {"linnet": side}, expected=lambda: A + A)
    groups = ("hoist+distribute", "reserve+hoist")
    return without.Found.of("sums", without.Row(case, made), groups, 0.0)


def test_only_what_has_other_code_is_timed(found):
    group = "reserve+hoist"
    assert set(found.seconds) == {"linnet", "the same", group}
    assert found.same == {"hoist+distribute": "linnet", "reserve": group, "hoist": "linnet"}
    assert not found.missing


def test_factors_and_their_summary(found):
    seconds = {"linnet": 2.0, "c": 3.0, "the same": 2.0, "a+b": 4.0, "b": 1.0}
    row = without.Found("f", "k", "d", 1, seconds, {"a": "a+b", "c+d": "linnet"}, {})
    assert row.factors == {"the same": 1.0, "a+b": 2.0, "b": 0.5, "a": 2.0}
    lines = list(without.summary([row, row]))
    assert "| a | 2 | 2.000 | 2.00 k d | 2.00 k d | 2 | 0 |" in lines
    assert "| b | 2 | 0.500 | 0.50 k d | 0.50 k d | 0 | 2 |" in lines
    assert "C 1.50" in str(row)


def test_a_wrong_result_is_told(monkeypatch):
    entered = []

    def within():
        entered.append(1)
        return nullcontext()

    ways = {"linnet": lambda: Side(lambda: 1.0, within=within), "c": lambda: Side(lambda: 2.0)}
    outcome = harness.run(Case("k", "d", 1, (), ways, expected=lambda: 1.0), 0.0)
    assert outcome.missing["c"].startswith("WRONG RESULT")
    assert len(entered) > 1


def test_constants_are_halved_and_doubled():
    with without.changed("misses/2"), without.changed("long*2"):
        assert target.of(current()).misses == 16
        assert vectorize._LONG == 64
    assert target.of(current()).misses == 32
    assert vectorize._LONG == 32
