"""Which loops of the C text may say `#pragma omp simd`: sums and products of contiguous floats.

C compilers do not reorder float additions by themselves. Integers, minima and maxima they vectorize
unasked, or not at all; loops with indirect loads are left alone, since rows are short.
"""

from __future__ import annotations

from linnet import imp


def vectorizable(loop: imp.For) -> list[tuple[str, list[str]]]:
    """The reductions of a loop that does nothing else: operators, each with its variables."""
    found: dict[str, list[str]] = {}
    lets: set[str] = set()
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(var, value) if _contiguous(value, loop.var.name, lets):
                lets.add(var.name)
            case imp.Accumulate(var, ("+" | "*") as op, value) if var.dtype[
                0
            ] == "f" and _contiguous(value, loop.var.name, lets):
                found.setdefault(op, []).append(var.name)
            case imp.Comment():
                pass
            case _:
                return []
    names = [name for group in found.values() for name in group]
    return list(found.items()) if len(found) == 1 and len(set(names)) == len(names) else []


def _contiguous(e: imp.Expr, var: str, lets: set[str]) -> bool:
    """Whether all loads of an expression are of neighbours, and it calls nothing."""
    match e:
        case imp.Load(_, index):
            return _steps(index, var, lets)
        case imp.Binary(_, a, b, _):
            return _contiguous(a, var, lets) and _contiguous(b, var, lets)
        case imp.Unary(_, x, _) | imp.Cast(x, _):
            return _contiguous(x, var, lets)
        case imp.Var() | imp.Const():
            return True
        case _:
            return False


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
