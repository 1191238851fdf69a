"""`body(lines)`: what a few lines of a kernel are parsed to."""

from __future__ import annotations

import textwrap

from tests.unit.frontend.kernels import kernel

from linnet import loops


def body(lines: str, **names: object) -> loops.Stmt:
    """The body of a kernel over y, A, x and s."""
    text = textwrap.indent(textwrap.dedent(lines).strip("\n"), "    ")
    return kernel(f"def k(y, A, x, s):\n{text}\n", **names).body
