"""Which tests are of indices alone? What they are is known without looking at any tensor."""

from __future__ import annotations

from linnet.loops.nodes import Call, Dimension, Expr, Index, Literal
from linnet.loops.rewrite import walk

RELATIONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def is_positional(expr: Expr) -> bool:
    """Whether an expression compares indices, with each other or with sizes and numbers."""
    if not isinstance(expr, Call) or expr.function.name not in RELATIONS:
        return False
    found = False
    for node in walk(expr):
        if isinstance(node, Index):
            found = True
        elif not isinstance(node, Call | Literal | Dimension):
            return False
    return found
