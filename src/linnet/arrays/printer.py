"""Index notation as text, which `frontend.equations` reads back."""

from __future__ import annotations

from linnet.arrays.nodes import Notation
from linnet.loops.printer import show as show_expr


def show(notation: Notation) -> str:
    """`C[i, j] += A[i, k] * B[k, j]`; an operator without a symbol is written by name: `min=`."""
    op = notation.op
    sign = "" if op is None else op.symbol or op.name
    return f"{show_expr(notation.target)} {sign}= {show_expr(notation.value)}"
