"""Results that are declared in a loop or an `if`: they exist in any case, and in one size."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from linnet.errors import ShapeError
from linnet.loops.nodes import Access, Block, Declare, Index, Let, Literal, Name, Node, Program
from linnet.loops.rewrite import block, children, walk
from linnet.normalize.beginnings import kept_params, written_params
from linnet.normalize.shape_checks import Check, worth_making
from linnet.normalize.shapes import unwritten


def begin_results(program: Program, checks: tuple[Check, ...]) -> tuple[Program, tuple[Check, ...]]:
    """Declare results at the start that are declared only inside; also says what must be one size.

    Needs: dimensions. Gives: every result has contents when the program ends.
    """
    agreed = agreeing_sizes(program)
    return declare_first(program), tuple(worth_making((*checks, *agreed))) if agreed else checks


def declare_first(program: Program) -> Program:
    """Let a result that is declared only in a loop or an `if` exist also if that never runs.

    Needs: dimensions. One whose size is known only inside is left to be refused.
    """
    inside = written_params(program) - kept_params(program)
    firsts: dict[str, Declare] = {}
    for node in walk(program.body):
        if isinstance(node, Declare) and node.tensor in inside:
            firsts.setdefault(node.tensor, node)
    stmts = [s for s in firsts.values() if not _is_outermost(program.body, s) and _is_known(s)]
    return replace(program, body=block([*stmts, program.body])) if stmts else program


def _is_outermost(node: Node, declare: Declare) -> bool:
    """Whether a declaration stands in the outermost block."""
    if isinstance(node, Block | Let):
        return any(_is_outermost(child, declare) for child in children(node))
    return node is declare


def _is_known(declare: Declare) -> bool:
    inside = (n for d in declare.dims or () for n in walk(d) if isinstance(n, Index | Name))
    return isinstance(declare.init, Literal) and next(inside, None) is None


def agreeing_sizes(program: Program) -> tuple[Check, ...]:
    """A result that is declared in several places, one of which may be the last: in one size.

    Needs: dimensions. Only what a declaration in the outermost block ends may have another size.
    """
    found: list[Check] = []
    for name in written_params(program):
        declares = [n for n in walk(program.body) if isinstance(n, Declare) and n.tensor == name]
        outer = [k for k, d in enumerate(declares) if _is_outermost(program.body, d)]
        for one, other in pairwise(declares[outer[-1] if outer else 0 :]):
            for mode, (a, b) in enumerate(zip(one.dims or (), other.dims or (), strict=True)):
                left, right = unwritten(name, mode, one.at), unwritten(name, mode, other.at)
                if any(isinstance(n, Access | Index | Name) for n in (*walk(a), *walk(b))):
                    raise _not_told(name, other)
                found.append(Check(a, b, "==", left, right))
    return tuple(found)


def _not_told(name: str, declare: Declare) -> ShapeError:
    return ShapeError(
        f"`{name}` is declared in several places, and its size is not known before the kernel runs",
        at=declare.at,
        hint="declare it once, in the outermost block",
    )
