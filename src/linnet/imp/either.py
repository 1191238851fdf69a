"""Two branches of which one is taken, and that do the same, become one.

    if a:                       if a != b: …
      if not b: …       ->
    else:
      if b: …

That is what becomes of one or the other of two walks (`xor`), each of which is asked about alone.
What stretches of one have in common can be foretold, so that there is a branch, and one will do.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import effects_of
from linnet.imp.fold import negation, same
from linnet.imp.rewrite import rewrite_statements


def either(kernel: imp.Kernel) -> imp.Kernel:
    """Ask once whether exactly one of two conditions holds. Needs: simplified code."""
    effects = effects_of(kernel.codelets)

    def rule(node: imp.Node) -> imp.Node | None:
        found = _either(node) if isinstance(node, imp.If) else None
        return None if found is None or effects.of(found.cond).changes else found

    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _either(stmt: imp.If) -> imp.If | None:
    match stmt.then.stmts, stmt.orelse.stmts:
        case (imp.If(a, one, imp.Block(())),), (imp.If(b, other, imp.Block(())),):
            if same(negation(a), b) and one == other and repr(one) == repr(other):
                return imp.If(imp.Binary("!=", stmt.cond, b, imp.BOOL), one, imp.EMPTY)
    return None
