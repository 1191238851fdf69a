"""How many entries the fibers of a result get: what is left of the code that writes them.

Where entries are put in place, their number is known before. It is counted by a copy of the very
code that writes, of which all is dropped but what decides whether something is written, and to
which fiber: what is counted and what is written are the same by construction.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.formats.fiber import Storage
from linnet.imp.dead import remove_dead
from linnet.imp.effects import Effects
from linnet.imp.rewrite import rewrite, rewrite_statements, statements
from linnet.lower.collapse import one_loop
from linnet.lower.context import Context


def counting(ctx: Context, storage: Storage, writing: imp.Block) -> imp.Block:
    """Code that adds up, per fiber, the entries that other code will write.

    Needs: code that reads nothing of what it writes, but to write it. An entry is complete when
    the place for the next one of its fiber p is stored, in `ptr[p + 1]`.
    """
    counts, ptr = storage.counts, storage.buffers[-2]["ptr"]
    assert counts is not None

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.Store(buffer, after) if buffer == ptr:
                fiber = _before(after)
                return imp.Store(counts, fiber, counts[fiber] + imp.Const(1, counts.dtype))
            case imp.Store() | imp.Fill() | imp.Grow():
                return imp.EMPTY
        return None

    effects = Effects(ctx.b.codelets.values())
    left = rewrite_statements(writing, rule)
    while (less := remove_dead(left, effects)) is not left:
        left = less
    left = rewrite_statements(left, lambda node: one_loop(ctx, node))
    before, after = effects.of(writing), effects.of(left)
    own = dict.fromkeys(s.var for s in statements(left) if isinstance(s, imp.Let | imp.For))
    # what writes finds everything as it was
    assert after.changes <= {counts.name}
    assert after.assigns <= {var.name for var in own}
    assert not after.loads & before.changes
    return _renamed(left, {var.name: ctx.b.var(var.name, var.dtype) for var in own})


def _before(index: imp.Expr) -> imp.Expr:
    """`p` of `p + 1`."""
    match index:
        case imp.Binary("+", fiber, imp.Const(1)):
            return fiber
        case _:
            return index - 1


def _renamed(block: imp.Block, new: dict[str, imp.Var]) -> imp.Block:
    """A copy of code with other variables."""

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.Var(name):
                return new.get(name)
            case imp.Let(var) | imp.Assign(var) | imp.Accumulate(var) | imp.For(var):
                return replace(node, var=new.get(var.name, var))
        return None

    return rewrite(block, rule)
