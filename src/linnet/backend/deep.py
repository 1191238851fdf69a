"""Is a kernel one whose loops are nested so deeply that to optimize it takes seconds?

LLVM follows every address through all the loops around it, once for each operand that lies in
another order: of 24 loops `T.T + T` takes three seconds, of 32 seven. Not optimized, it takes one
hundredth. Arrays of so many dimensions have one or two elements along most, or do not fit memory.
"""

from __future__ import annotations

from linnet import imp

DEEPEST = 14  # loops in one another; up to here a kernel is optimized within a second


def is_deep(kernel: imp.Kernel) -> bool:
    """Whether a kernel is made machine code of as it is."""
    return _depth(kernel.body) > DEEPEST


def _depth(stmt: imp.Stmt) -> int:
    """How many loops stand in one another."""
    match stmt:
        case imp.For(body=body) | imp.While(body=body):
            return 1 + _depth(body)
        case imp.If(then=then, orelse=orelse):
            return max(_depth(then), _depth(orelse))
        case imp.Block(stmts=stmts):
            return max(map(_depth, stmts), default=0)
        case _:
            return 0
