"""Random programs whose loops go through what an operand stores, as a user writes them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from tests.oracle.schedules import SIZES

from linnet import loops
from linnet.imp.how import How
from linnet.loops.bases import one_at_least
from linnet.loops.rewrite import accesses, rewrite_stmt, walk


@st.composite
def led(draw: st.DrawFn, program: loops.Program) -> loops.Program | None:
    """The program with loops through what one of its operands stores, or through parts of that.

    It is another program, which need not have a meaning. None if no loops are over the indices of
    an operand, directly inside one another.
    """
    found: list[tuple[loops.Loop, loops.Access]] = []
    for loop in walk(program.body):
        if isinstance(loop, loops.Loop):
            inside = [a for a, is_target in accesses(loop.body) if not is_target and a.indices]
            found += [(loop, a) for a in inside if nest_of(loop, a) is not None]
    if not found:
        return None
    loop, access = draw(st.sampled_from(found))
    nest = nest_of(loop, access)
    assert nest is not None
    within = draw(st.sampled_from((None, None, loops.Extent(loops.Literal(1), loops.Literal(3)))))
    positions: loops.Range = loops.Positions(str(access.tensor), (), within=within)
    size, counter = draw(st.sampled_from((None, *SIZES))), "tile"
    gaps = draw(st.booleans())
    how = How(flat=not gaps and draw(st.booleans()))
    of = positions
    if size is not None:
        of = loops.Part(positions, loops.Index(counter), loops.Literal(size))
    if gaps:  # all coordinates from there on
        of = loops.Coordinates(of)
    stmt = nest[-1].body
    between = size is not None and is_free(stmt) and draw(st.booleans())
    around = stmt if between and isinstance(stmt, loops.Loop) else None
    stmt = stmt if around is None else around.body
    for depth, index in reversed(list(enumerate(access.indices))):
        assert isinstance(index, loops.Index)
        extent = loops.Along(of, access.indices[:depth]) if len(nest) > 1 else of
        stmt = loops.Loop(index.name, extent, stmt, how=how)
    if around is not None:
        stmt = replace(around, body=stmt)  # between the parts and what is in them
    if size is not None:
        count = loops.Parts(positions, loops.Literal(size))
        most = draw(st.sampled_from((count, one_at_least(count))))
        stmt = loops.Loop(counter, loops.Extent(loops.Literal(0), most), stmt)
    body = rewrite_stmt(program.body, lambda s: stmt if s is loop else None)
    return replace(program, body=body)


def is_free(stmt: loops.Stmt) -> bool:
    """Whether a statement is a loop whose range depends on no other loop."""
    if not isinstance(stmt, loops.Loop):
        return False
    return stmt.extent is None or not any(
        isinstance(n, loops.Index | loops.Name) for n in walk(stmt.extent)
    )


def nest_of(loop: loops.Loop, access: loops.Access) -> list[loops.Loop] | None:
    """The loops over all indices of an access, directly inside one another from this one on."""
    wanted = {i.name for i in access.indices if isinstance(i, loops.Index)}
    nest, stmt = [], loop
    while len(wanted) == len(access.indices) and stmt.index in wanted:
        nest.append(stmt)
        if len(nest) == len(wanted):
            return nest
        if not isinstance(stmt.body, loops.Loop):
            return None
        stmt = stmt.body
    return None
