"""Two lists are gone through until they meet, in a loop of its own, where much is done then.

    while q < q_end and p < p_end:         while q < q_end and p < p_end:
      i, j = idx[q], jdx[p]                  while q < q_end and p < p_end and idx[q] != jdx[p]:
      if i == j:                               i_2, j_2 = idx[q], jdx[p]
        …                             ->       q += i_2 <= j_2
        q += 1                                 p += j_2 <= i_2
        p += 1                               if q < q_end and p < p_end:
      else:                                    i, j = idx[q], jdx[p]
        q += i <= j                            …
        p += j <= i                            q += 1
                                               p += 1

A long list has many steps for each that meets. In one loop with all that is done then, their
variables are kept in memory.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements, substitute, walk
from linnet.names import Names


def skip_ahead(kernel: imp.Kernel) -> imp.Kernel:
    """Go through lists on their own where what follows has loops. Needs: simplified code."""
    names = fresh_names(kernel)

    def skipping(node: imp.Node) -> imp.Node | None:
        if isinstance(node, imp.While) and _is_search(node):
            return _skipping(node, names)
        return None

    body = rewrite_statements(kernel.body, skipping)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _is_search(loop: imp.While) -> bool:
    """Whether a loop walks two lists, and has loops where they meet."""
    match loop.body.stmts:
        case (*lets, imp.If(imp.Binary("==", imp.Var(), imp.Var()), then, orelse)):
            steps = all(isinstance(s, imp.Assign) for s in orelse.stmts)
            inner = any(isinstance(n, imp.While | imp.For) for n in walk(then))
            return steps and inner and all(isinstance(s, imp.Let) for s in lets)
    return False


def _skipping(loop: imp.While, names: Names) -> imp.While:
    """The same with a loop that skips what does not meet."""
    *lets, choice = loop.body.stmts
    assert isinstance(choice, imp.If)
    read: dict[str, imp.Expr] = {}
    known: dict[str, imp.Expr] = {}
    again: list[imp.Stmt] = []
    for let in lets:
        assert isinstance(let, imp.Let)
        name = let.var.name
        var = replace(let.var, name=names.fresh(name))
        again.append(imp.Let(var, substitute(let.value, known)))
        read[name], known[name] = substitute(let.value, read), var
    apart = imp.Binary("and", loop.cond, ~substitute(choice.cond, read), imp.BOOL)
    skip = imp.While(apart, imp.Block((*again, *substitute(choice.orelse, known).stmts)))
    met = imp.If(loop.cond, imp.Block((*lets, *choice.then.stmts)), imp.EMPTY)
    return replace(loop, body=imp.Block((skip, met)))
