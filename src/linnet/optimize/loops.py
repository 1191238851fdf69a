"""Which loops only reduce or only copy contiguous memory, and how long they are likely to be.

Compilers vectorize for long loops. A loop over a dimension is one; a loop over the stored entries
of a fiber, which starts anywhere, is mostly short, and what pays there is to do little around it.
"""

from __future__ import annotations

from linnet import imp
from linnet.imp.fold import fold
from linnet.imp.functions import MATH
from linnet.imp.rewrite import walk

SMALL = 64  # indices of a tile that is as short as a run


def is_short(loop: imp.For) -> bool:
    """Whether a loop walks the entries of one fiber, and not a dimension, a block or a level."""
    match loop.over.spans:
        case (imp.Span(part=False) as span,):
            return _is_of_one(span) and not isinstance(span.first, imp.Const)
    return False


def is_part(loop: imp.For) -> bool:
    """Whether a loop walks some of the entries that one fiber has."""
    return any(span.part and _is_of_one(span) for span in loop.over.spans)


def _is_of_one(span: imp.Span) -> bool:
    return bool(span.tensor) and span.last == fold(span.first + 1)


def is_piece(loop: imp.For) -> bool:
    """Whether a loop goes through a piece: a block, a run, entries, what lies within bounds.

    That are a few elements, or many. A whole range is long, and so are its tiles unless it is said
    that they are small; what begins with a dimension goes through most of it.
    """
    over = loop.over
    if isinstance(loop.start, imp.Const) or over.tile > SMALL:
        return False
    return not over.spans or any(span.tensor or span.part for span in over.spans)


def gathers(loop: imp.For) -> bool:
    """Whether a loop loads from places that are not neighbours, or calls math.h."""
    lets: set[str] = set()
    for stmt in loop.body.stmts:
        if isinstance(stmt, imp.Let | imp.Accumulate):
            if not _contiguous(stmt.value, loop.var.name, lets):
                return True
            lets.add(stmt.var.name)
    return False


def streams(loop: imp.For) -> bool:
    """Whether a loop writes neighbours that it computes from neighbours, and nothing else.

    Any compiler makes vectors of it: each array is written at one index, and if it is read, there.
    """
    var, lets, stored = loop.var.name, set[str](), dict[imp.Buffer, imp.Expr]()
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(name, value) if _is_plain(value) and _contiguous(value, var, lets):
                lets.add(name.name)
            case imp.Store(buffer, index, value) if _is_plain(value) and buffer not in stored:
                if not walks(index, var, lets) or not _contiguous(value, var, lets):
                    return False
                stored[buffer] = index
            case imp.Comment():
                pass
            case _:
                return False
    loads = (n for n in walk(loop.body) if isinstance(n, imp.Load))
    return bool(stored) and all(stored.get(n.buffer, n.index) == n.index for n in loads)


def scatters(loop: imp.For) -> bool:
    """Whether a loop writes to places all over an array, one after the other."""
    lets = {s.var.name for s in loop.body.stmts if isinstance(s, imp.Let)}
    stores = (s for s in loop.body.stmts if isinstance(s, imp.Store))
    return any(not _steps(s.index, loop.var.name, lets) for s in stores)


def is_refusal(stmt: imp.Stmt) -> bool:
    """Whether a statement does nothing but end the kernel, under a condition."""
    match stmt:
        case imp.If(_, imp.Block((imp.Return(),)), imp.Block(())):
            return True
    return False


def _is_plain(value: imp.Expr) -> bool:
    """Whether a value takes no branches, no calls, and nothing that vectors are slow at."""
    for node in walk(value):
        match node:
            case imp.Call() | imp.Select() | imp.Binary("and" | "or" | "div" | "rem"):
                return False
            case imp.Cast(x, dtype) if x.dtype[0] == "f" != dtype[0]:
                return False
            case imp.Var(_, dtype) | imp.Load(imp.Buffer(_, dtype)) if dtype.startswith("complex"):
                return False
    return True


def _contiguous(e: imp.Expr, var: str, lets: set[str]) -> bool:
    """Whether all loads of an expression are of neighbours, and it calls nothing of math.h."""
    match e:
        case imp.Load(_, index):
            return _steps(index, var, lets)
        case imp.Binary(_, a, b, _):
            return _contiguous(a, var, lets) and _contiguous(b, var, lets)
        case imp.Unary(_, x, _) | imp.Cast(x, _):
            return _contiguous(x, var, lets)
        case imp.Var() | imp.Const():
            return True
        case imp.Call(name, args) if name not in MATH:  # a codelet, which may become vectors
            return not any(isinstance(a, imp.Address) for a in args) and all(
                _contiguous(a, var, lets) for a in args if not isinstance(a, imp.Address)
            )
        case _:
            return False


def walks(index: imp.Expr, var: str, lets: set[str]) -> bool:
    """Whether an index goes from neighbour to neighbour as the loop variable does."""
    return _steps(index, var, lets) and not _fixed(index, var, lets)


def _steps(index: imp.Expr, var: str, lets: set[str]) -> bool:
    """Whether an index is the loop variable plus or minus something that stays the same."""
    match index:
        case imp.Var(name, _):
            return name not in lets
        case imp.Const():
            return True
        case imp.Binary("+", a, b, _):
            if _fixed(b, var, lets):
                return _steps(a, var, lets)
            return _fixed(a, var, lets) and _steps(b, var, lets)
        case imp.Binary("-", a, b, _):
            return _steps(a, var, lets) and _fixed(b, var, lets)
        case _:
            return False


def _fixed(e: imp.Expr, var: str, lets: set[str]) -> bool:
    match e:
        case imp.Var(name, _):
            return name != var and name not in lets
        case imp.Const():
            return True
        case imp.Binary(_, a, b, _):
            return _fixed(a, var, lets) and _fixed(b, var, lets)
        case _:
            return False
