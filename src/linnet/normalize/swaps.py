"""Temporaries that change places, `v, w = w, v`: may they, and what holds for all of them?"""

from __future__ import annotations

from collections.abc import Iterable

from linnet.algebra.dtypes import as_python
from linnet.errors import FormatError, KernelSyntaxError
from linnet.formats.format import Format
from linnet.loops.nodes import (
    Assign,
    Block,
    Declare,
    Expr,
    If,
    Let,
    Literal,
    Loop,
    Program,
    Stmt,
    Swap,
)
from linnet.loops.printer import show
from linnet.loops.rewrite import walk


def check_swaps(program: Program, formats: dict[str, Format]) -> None:
    """Refuse to swap what is no temporary with dimensions, or stored in another way.

    Needs: dtypes. That sizes agree is checked when the kernel is called (`normalize.dimensions`).
    """
    nodes = list(walk(program.body))
    for swap in (n for n in nodes if isinstance(n, Swap)):
        for name in (swap.a, swap.b):
            if name in program.params or formats[name].ndim == 0:
                raise KernelSyntaxError(
                    f"`{name}` cannot change places",
                    at=swap.at,
                    why="only the memory of temporaries with dimensions may be exchanged",
                    hint="copy what it holds, `for i in ...:` and `t[i] = x[i]`",
                )
        begun = {
            (formats[n.tensor], _number(n.init, formats[n.tensor]))
            for n in nodes
            if isinstance(n, Declare) and n.tensor in (swap.a, swap.b)
        }
        if len(begun) > 1:
            raise FormatError(
                f"`{swap.a}` and `{swap.b}` cannot change places: they differ",
                at=swap.at,
                why="; ".join(sorted(f"{format!r}, declared with {n}" for format, n in begun)),
                hint="declare both in one format, and with one value: `w[...] = 0`",
            )


def with_swapped(program: Program, tensors: Iterable[str]) -> set[str]:
    """These tensors, and those that change places with one of them, however often."""
    pairs = [(n.a, n.b) for n in walk(program.body) if isinstance(n, Swap)]
    found = set(tensors)
    while more := {t for pair in pairs if not found.isdisjoint(pair) for t in pair} - found:
        found |= more
    return found


def is_updated_elsewhere(stmt: Stmt, tensor: str) -> bool:
    """Whether a tensor that was declared before is updated where another one has been meanwhile."""
    return _follow(stmt, tensor, False)[1]


def _follow(stmt: Stmt, tensor: str, away: bool) -> tuple[bool, bool]:
    """Whether a tensor has changed places after a statement, and whether it was updated then."""
    match stmt:
        case Swap(a, b):
            return away or tensor in (a, b), False
        case Assign(target):
            return away, away and target.tensor == tensor
        case Let(_, _, body):
            return _follow(body, tensor, away)
        case If(_, then, orelse):
            found = [_follow(s, tensor, away) for s in (then, orelse)]
            return found[0][0] or found[1][0], found[0][1] or found[1][1]
        case Loop(_, _, body):
            after, updated = _follow(body, tensor, away)
            if after and not away:  # in the next iteration it begins so
                updated = updated or _follow(body, tensor, after)[1]
            return after, updated
        case Block(stmts):
            updated = False
            for s in stmts:
                away, here = _follow(s, tensor, away)
                updated = updated or here
            return away, updated
    return away, False


def _number(init: Expr, format: Format) -> str:
    """What a tensor begins with, however it is written: 0, 0.0, np.int8(0); NaN is NaN."""
    if not isinstance(init, Literal) or format.dtype is None:
        return show(init)
    return repr(as_python(init.value, format.dtype))
