"""Which indices others tell: parts, several indices together, sums of steps."""

from __future__ import annotations

import pytest

from linnet.frontend.text import parse_text
from linnet.loops.nodes import Assign
from linnet.loops.rewrite import walk
from linnet.loops.told import ranges_in, told_by

CASES = [
    ("for i in range(9):", "i", "i"),
    ("for i in range(9):", "2 * i - 5", "i"),
    ("for i in range(9):\nfor j in range(3):", "3 * i + j", "i j"),
    ("for i in range(9):\nfor j in range(4):", "3 * i + j", ""),
    ("for i in range(9):\nfor j in range(x.shape[0]):", "3 * i + j", ""),
    ("for i in range(9):\nfor j in range(1, 3):", "3 * i + j", ""),
    ("for i in range(9):\nfor j in range(3):", "i", "i"),
    ("for t in range(9):\nfor i in ln.part(range(9), t, 3):", "i", "i t"),
    ("for t in range(9):\nfor i in ln.part(range(3), t, 2):", "3 * t + i", "i t"),
    ("for t in range(9):\nfor i in ln.part(range(t, 9), t, 3):", "i", "i"),
    ("for t in range(9):\nfor i in ln.part(range(9), c[t], 3):", "i", "i"),
    ("for t in range(9):\nfor i in ln.part(range(9), t, c[t]):", "i", "i"),
    (
        "for t in range(9):\nfor s in range(9):\nfor i in ln.part(ln.part(range(9), t, 4), s, 2):",
        "i",
        "i s t",
    ),
    ("for t in range(9):\nfor i, j in ln.part(ln.stored(A), t, 3):", "i", "i"),
    ("for t in range(9):\nfor i, j in ln.part(ln.stored(A), t, 3):", "j, i", "i j t"),
    ("for t in range(9):\nfor i in range(t, t + 1):", "i", "i t"),
    (
        "for t in range(9):\nfor j in ln.part(range(9), t, 3):\nfor i in ln.part(range(9), t, 3):",
        "i",
        "i t",
    ),
    (
        "for t in range(9):\nfor i in ln.part(range(9), t, 3):",
        "t, ln.place(ln.part(range(9), t, 3), i)",
        "i t",
    ),
    (
        "for t in range(9):\nfor i in ln.part(range(9), t, 3):\n"
        "for p in range(ln.place(ln.part(range(9), t, 3), i),"
        " ln.place(ln.part(range(9), t, 3), i) + 1):",
        "t, p",
        "i p t",
    ),
    (
        "for t in range(9):\nfor i in ln.part(range(9), t, 3):",
        "ln.place(ln.part(range(9), t, 3), i)",
        "",
    ),
    ("for i in range(3):\nfor t in range(ln.parts(range(i, 9), 3)):", "3 * t + i", "i t"),
    ("for t in range(x.shape[0]):\nfor s in range(ln.parts(range(9), 3)):", "3 * t + s", "s t"),
    ("for t in range(x.shape[0]):\nfor s in range(ln.parts(range(-1, 9), 3)):", "3 * t + s", ""),
]


@pytest.mark.parametrize(("heads", "index", "expected"), CASES)
def test_indices_that_are_told(heads, index, expected):
    lines = [f"{'    ' * (k + 1)}{head}" for k, head in enumerate(heads.split("\n"))]
    write = f"{'    ' * (len(lines) + 1)}y[{index}] = 1.0"
    program = parse_text("\n".join(["def f(y, x, c, A):", *lines, write, "    return y"]))
    target = next(n.target for n in walk(program.body) if isinstance(n, Assign))
    found = told_by(target.indices, ranges_in(program.body))
    assert sorted(found) == expected.split()
