"""Parts of positions that are as long as most have a version in which that length is known.

    end = start + min(8, last - start)          end = start + min(8, last - start)
    for q in start … end:                       if last - start >= 8:
      t[q - start] += …                           for q in start … start + 8: …
                                                else:
                                                  for q in start … end: …

It pays where an array of the kernel's own has an element for each position: loops of a known length
are written out by back ends, and then its elements are in registers.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.rewrite import rebuild, rewrite, statements, substitute, walk
from linnet.records import dataclass

_LONGEST = 16
"""Elements that registers hold, some of them in vectors."""


def whole_parts(kernel: imp.Kernel) -> imp.Kernel:
    """Give what is done with parts of a few positions a version for whole parts.

    Needs: simplified code.
    """
    own = frozenset(s.buffer.name for s in kernel.scratch if s.size <= _LONGEST)
    if not own:
        return kernel
    body = _block(kernel.body, own)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _block(block: imp.Block, own: frozenset[str]) -> imp.Block:
    """A block, of which what follows the end of a part may be there twice."""
    stmts = block.stmts
    for k, stmt in enumerate(stmts):
        rest = imp.Block(stmts[k + 1 :])
        found = _part(stmt, rest, own)
        if found is not None:
            whole = imp.If(found.most <= found.left, found.version(rest), rest)
            return imp.Block((*stmts[: k + 1], whole))
    return rebuild(block, lambda n: _inside(n, own))


def _inside(node: imp.Node, own: frozenset[str]) -> imp.Node:
    if isinstance(node, imp.Block):
        return _block(node, own)
    return rebuild(node, lambda n: _inside(n, own)) if isinstance(node, _NESTED) else node


_NESTED = (imp.For, imp.While, imp.If)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a range: it has `most` elements, or those that are `left`."""

    start: imp.Var
    end: imp.Var
    most: imp.Const
    left: imp.Expr

    def version(self, rest: imp.Block) -> imp.Block:
        """What follows, where it is a whole one."""
        known: dict[str, imp.Expr] = {self.end.name: self.start + self.most}

        def sure(node: imp.Node) -> imp.Node | None:
            return imp.TRUE if node == (self.start < self.end) else None

        return substitute(rewrite(rest, sure), known)


def _part(stmt: imp.Stmt, rest: imp.Block, own: frozenset[str]) -> _Part | None:
    """The part that a statement finds the end of, if it has elements in an array of the kernel."""
    match stmt:
        case imp.Let(end, imp.Binary("+", imp.Var() as start, imp.Binary("min", most, left))):
            pass
        case _:
            return None
    if not isinstance(most, imp.Const):
        most, left = left, most
    if not isinstance(most, imp.Const) or not 1 < int(most.value) <= _LONGEST:  # type: ignore[arg-type]
        return None
    through = [s for s in statements(rest) if isinstance(s, imp.For)]
    through = [loop for loop in through if (loop.start, loop.stop) == (start, end)]
    fits = any(_uses(loop, own) for loop in through)
    return _Part(start, end, most, left) if fits else None


def _uses(loop: imp.For, own: frozenset[str]) -> bool:
    """Whether a loop uses an array itself, and not only in loops inside."""
    simple = [s for s in loop.body.stmts if not isinstance(s, imp.For | imp.While)]
    nodes = (n for s in simple for n in walk(s))
    return any(isinstance(n, imp.Load | imp.Store) and n.buffer.name in own for n in nodes)
