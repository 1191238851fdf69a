"""How much work the compiler does grows with a program, not with the ways to combine its parts.

Work is counted in function calls, which are the same on every machine. Twice the program may take
up to three times the work: each operand is looked at once, in a body that has all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest

import linnet as ln
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel

Program = tuple[str, list[ln.Tensor]]
LEVELS = {
    "dense": ln.Dense(ln.Element()),
    "list": ln.SparseList(ln.Element()),
    "runs": ln.SparseRunList(ln.Element()),
    "blocks": ln.SparseBlockList(ln.Element()),
}
MATRIX = ln.asarray(np.eye(4), format=ln.CSR)


def operands(n: int, level: str, operator: str) -> Program:
    """`y[i] = a0[i] + a1[i] + …`."""
    names = [f"a{k}" for k in range(n)]
    text = (
        f"def f(y, {', '.join(names)}):\n"
        "    ln.declare(y, 0.0, (a0.shape[0],))\n"
        "    for i in range(a0.shape[0]):\n"
        f"        y[i] = {operator.join(f'{a}[i]' for a in names)}\n"
        "    return y\n"
    )
    held = ln.asarray(np.arange(4.0), format=LEVELS[level])
    return text, [ln.empty_tensor(LEVELS["list"]), *[held] * n]


def unions(n: int) -> Program:
    """The sum of n matrices of coordinates."""
    names = [f"a{k}" for k in range(n)]
    text = (
        f"def f(y, {', '.join(names)}):\n"
        "    ln.declare(y, 0.0, (a0.shape[0], a0.shape[1]))\n"
        "    for i in range(a0.shape[0]):\n"
        "        for j in range(a0.shape[1]):\n"
        f"            y[i, j] = {' + '.join(f'{a}[i, j]' for a in names)}\n"
        "    return y\n"
    )
    return text, [ln.empty_tensor(ln.COO(2)), *[ln.asarray(np.eye(4), format=ln.COO(2))] * n]


def statements(n: int) -> Program:
    """n products in one loop."""
    results = [f"y{k}" for k in range(n)]
    text = f"def f({', '.join(results)}, A, x):\n"
    text += "".join(f"    ln.declare({y}, 0.0, (A.shape[0],))\n" for y in results)
    text += "    for i in range(A.shape[0]):\n        for j in range(A.shape[1]):\n"
    text += "".join(f"            {y}[i] += A[i, j] * x[j]\n" for y in results)
    text += f"    return {', '.join(results)}\n"
    vectors = [ln.empty_tensor(ln.DENSE(1)) for _ in results]
    return text, [*vectors, MATRIX, ln.asarray(np.ones(4))]


def conditions(n: int) -> Program:
    """n conditions on two indices."""
    text = "def f(y, A):\n    ln.declare(y, 0.0, (A.shape[0],))\n"
    text += "    for i in range(A.shape[0]):\n        for j in range(A.shape[1]):\n"
    for k in range(n):
        text += f"            if j < i + {k} and i > {k} or j == {k + 1}:\n"
        text += f"                y[i] += A[i, j] * {k}\n"
    return text + "    return y\n", [ln.empty_tensor(ln.DENSE(1)), MATRIX]


def work(program: Program) -> int:
    """How many functions are called to make code of it."""
    count = 0

    def seen(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    text, args = program
    kernel, before = Kernel(parse_text(text)), sys.getprofile()
    sys.setprofile(seen)
    try:
        kernel.lowered(*args)
    finally:
        sys.setprofile(before)
    return count


GROWING: dict[str, Callable[[int], Program]] = {
    **{f"{level} +": lambda n, level=level: operands(n, level, " + ") for level in LEVELS},
    **{f"{level} *": lambda n, level=level: operands(n, level, " * ") for level in LEVELS},
    "matrices": unions,
    "statements": statements,
    "conditions": conditions,
}


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING)
def test_work_grows_with_the_program(make):
    work(make(4))  # what is loaded and remembered at the first time
    small, large = work(make(8)), work(make(16))
    assert large < 3 * small
