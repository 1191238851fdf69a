"""What loops through a part of a range update goes to an array, and is written when it is complete.

    w[...] = 0
    for j in range(m):
        for k in ln.part(ln.stored(B[i, :]), t, 8):
            w[ln.place(…, k)] += …
    for k_2 in ln.part(ln.stored(B[i, :]), t, 8):
        C[i, k_2] = w[ln.place(…, k_2)]

The array has an element for each turn of these loops. Who wants it has to know that no other update
meets what is written: of sparse results that is `normalize.whole`, of dense ones
`scheduling.hold_sums`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.loops.bases import gone_through, unbound
from linnet.loops.rewrite import block, replaced, rewrite_stmt, substitute
from linnet.names import Names


def through_array(
    stmt: loops.Stmt,
    updates: Sequence[loops.Assign],
    over: Sequence[loops.Loop],
    begins: Sequence[loops.Declare],
    names: Names,
) -> loops.Stmt:
    """A statement that updates arrays instead, and loops as those `over` the part that write them.

    `begins` declare them, in place of the tensors that the only `updates` are of.
    """
    extent = over[0].extent
    assert extent is not None
    of = gone_through(extent)
    part = unbound(of)
    assert isinstance(part, loops.Part)
    at = tuple([loops.Index(loop.index) for loop in over])
    write = list[loops.Stmt]()
    for update, begin in zip(updates, begins, strict=True):
        element = loops.Access(begin.tensor, (loops.Place(of, at),), at=update.at)
        stmt = replaced(stmt, update, replace(update, target=element, partial=False))
        write.append(replace(update, op=None, value=element, partial=False))
    declared = [replace(begin, dims=(part.size,)) for begin in begins]
    return block([*declared, stmt, _once_more(over, block(write), names)])


def _once_more(over: Sequence[loops.Loop], stmt: loops.Stmt, names: Names) -> loops.Stmt:
    """The loops around another statement, under names of their own.

    How they are unrolled or run in vectors is said of the others.
    """
    new = {loop.index: names.fresh(loop.index) for loop in over}
    for loop in reversed(over):
        how = replace(loop.how, unroll=1, race="")
        stmt = replace(loop, body=stmt, how=how)
    stmt = substitute(stmt, {old: loops.Index(name) for old, name in new.items()})

    def rename(s: loops.Stmt) -> loops.Stmt | None:
        return replace(s, index=new[s.index]) if isinstance(s, loops.Loop) else None

    return rewrite_stmt(stmt, rename)
