"""Runs of a temporary that are walked once, right after they were written, or otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import Subject, check

import linnet as ln
from linnet.frontend.text import parse_text

RUNS = ln.Dense(ln.SparseRunList(ln.Pattern()))
WRITE = "row[x] = A[y, x] & A[max(y - 1, 0), x]"
WALK = "out[y, x] = ln.coalesce(row[~(x - 1)], True) & row[x] & ln.coalesce(row[~(x + 1)], True)"
COUNT = "s[()] += row[x]"
HANDED = {
    "window": (WRITE, WALK),
    "copy": (WRITE, "out[y, x] = row[x]"),
    "sum": (WRITE, COUNT),
    "one operand": ("row[x] = A[y, x]", WALK),
    "single": ("if x % 3 == 0:\n                row[x] = A[y, x]", WALK),
}
KEPT = {
    "two walks": (WRITE, f"{COUNT}\n        for x in range(A.shape[1]):\n            {WALK}"),
    "two looks": (WRITE, f"{WALK}\n            {COUNT}"),
    "two places": ("row[x] = A[y, x] | A[max(y - 1, 0), x]", WALK),
    "what is added up": (
        f"{WRITE}\n            s[()] += A[y, x]",
        f"t[()] = s[()]\n            {WALK}",
    ),
}


def program(write: str, walk: str) -> str:
    return f"""def program(out, s, t, A):
    row = ln.temp(ln.SparseRunList(ln.Pattern()))
    ln.declare(out, False, (A.shape[0], A.shape[1]))
    ln.declare(s, 0, ())
    for y in range(A.shape[0]):
        ln.declare(row, False, (A.shape[1],))
        for x in range(A.shape[1]):
            {write}
        for x in range(A.shape[1]):
            {walk}
    return out, s
"""


def given(seed: int) -> dict[str, ln.Tensor]:
    """An image some of whose runs touch: they were not joined when it was made."""
    rng = np.random.default_rng(seed)
    ptr, left, right = [0], [], []
    for _ in range(6):
        at = int(rng.integers(0, 3))
        while at < 24:
            stop = min(24, at + int(rng.integers(1, 7)))
            left.append(at)
            right.append(stop)
            at = stop + int(rng.integers(0, 3))
        ptr.append(len(left))
    arrays = {"ptr1": ptr, "left1": left, "right1": right}
    arrays = {name: np.array(array, np.int32) for name, array in arrays.items()}
    out = ln.empty_tensor(RUNS)
    numbers = {name: ln.scalar(0) for name in "st"}
    return {"out": out, **numbers, "A": ln.from_buffers(RUNS, (6, 24), arrays)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", {**HANDED, **KEPT})
def test_runs_that_are_walked(name, seed):
    operands = given(seed)
    subject = Subject.of(parse_text(program(*{**HANDED, **KEPT}[name])), operands)
    check(subject, operands)
