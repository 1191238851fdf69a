"""Random schedules for random programs: commands that may be legal or not."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from linnet import loops
from linnet.imp.how import How
from linnet.loops.bases import one_at_least
from linnet.loops.commands import (
    Bound,
    Collapse,
    Command,
    Coord,
    CPUVector,
    Divisible,
    MaxConstraint,
    MinConstraint,
    NoRaces,
    Parallelize,
    ParallelReduction,
    Pos,
    Precompute,
    Reorder,
    Split,
    Unroll,
)
from linnet.loops.printer import show
from linnet.loops.rewrite import accesses, rewrite_stmt, walk
from linnet.normalize.scopes import name_scopes
from linnet.scheduling.nest import loops_of, names_of

SIZES = (1, 2, 3, 5)
KINDS = (Split, Split, Reorder, Collapse, Pos, Pos, Unroll, Bound, Precompute)
# bounds that hold of all ranges of small programs
HOLD = ((MinConstraint, -1000), (MaxConstraint, 1000), (Divisible, 1))

# What commands keep. New ones belong into one of these, or into both.
LOOPS_IN_ORDER = (Split, Collapse, Pos, Bound)  # of which nothing is said of how they are run
SUMS_IN_ORDER = (*LOOPS_IN_ORDER, Coord, Unroll)


def keeps_loops(commands: tuple[Command, ...]) -> bool:
    """Whether all iterations are made as they would be without: in order, walking operands.

    Beside a flat loop operands are looked up.
    """
    flat = any(isinstance(command, Pos) and command.flat for command in commands)
    return not flat and all(isinstance(command, LOOPS_IN_ORDER) for command in commands)


def keeps_sums(commands: tuple[Command, ...]) -> bool:
    """Whether all sums are made in the order of the program."""
    plain = [c for c in commands if not (isinstance(c, Parallelize) and c.race == NoRaces)]
    return all(isinstance(command, SUMS_IN_ORDER) for command in plain)


def untiled(commands: tuple[Command, ...], longest: int) -> tuple[Command, ...]:
    """The same commands, of which none makes more than one tile of a range no longer than this."""
    size = max([longest, *(c.size for c in commands if isinstance(c, Split))])
    return tuple([replace(c, size=size, up=False) if isinstance(c, Split) else c for c in commands])


@st.composite
def schedules(draw: st.DrawFn, program: loops.Program) -> tuple[Command, ...]:
    """A few commands for a program; most name loops that there are by then."""
    scoped = name_scopes(program)
    names = list(names_of(loops_of(program), loops_of(scoped)))
    reads = [a for a, is_target in accesses(scoped.body) if not is_target and a.indices]
    values = [n.value for n in walk(program.body) if isinstance(n, loops.Assign)]
    nodes = [n for value in values for n in walk(value)]
    parts = [show(n) for n in nodes if isinstance(n, loops.Access | loops.Call)]
    found: list[Command] = []
    for k in range(draw(st.integers(1, 5))):
        if not names:
            break
        kind = draw(st.sampled_from(KINDS))
        at = draw(st.integers(0, len(names) - 1))
        new: list[str] = []
        if kind is Split:
            new = [f"s{k}", f"t{k}"]
            size, up = draw(st.sampled_from(SIZES)), draw(st.booleans())
            found.append(Split(names[at], *new, size, up))
        elif kind is Pos and reads:
            new = [f"p{k}"]
            access = draw(st.sampled_from(reads))
            if draw(st.booleans()):
                access = loops.Access(access.tensor, ())  # the only one, whatever its indices are
            found.append(Pos(names[at], *new, access, draw(st.booleans())))
            if draw(st.booleans()):
                tiled, index = draw(tiles_of_positions(new[0], k))
                found += tiled
                new = index
            elif at > 0 and draw(st.booleans()):  # with the loop around
                at, new = at - 1, [f"g{k}"]
                found.append(Collapse(names.pop(at), f"p{k}", *new))
        elif kind is Collapse and at + 1 < len(names):
            new = [f"f{k}"]
            found.append(Collapse(names[at], names.pop(at + 1), *new))
        elif kind is Bound:
            said, value = draw(st.sampled_from(HOLD))
            new = draw(st.sampled_from(([], [f"b{k}"])))
            found.append(Bound(names[at], "".join(new), value, said))
        elif kind is Precompute and parts:
            index = names[at]
            early = draw(st.sampled_from((index, f"e{k}")))
            found.append(Precompute(draw(st.sampled_from(parts)), (index,), (early,), f"w{k}"))
            if early == index:
                new = [f"{index}:1", f"{index}:2"]
            else:
                names.insert(at, early)
        elif kind is Unroll:
            found.append(Unroll(names[at], draw(st.sampled_from((2, 3, 4)))))
        elif len(names) > 1:
            order = draw(st.permutations(names))
            found.append(Reorder(tuple(order[: draw(st.integers(2, min(4, len(names))))])))
        if new:
            names[at : at + 1] = new
    if names and draw(st.integers(0, 3)) == 0:
        race = draw(st.sampled_from((NoRaces, ParallelReduction)))  # others are promises
        found.append(Parallelize(draw(st.sampled_from(names)), CPUVector, race))
    return tuple(found)


@st.composite
def tiles_of_positions(draw: st.DrawFn, position: str, k: int) -> tuple[list[Command], list[str]]:
    """Tiles of positions, which become ranges of coordinates; and the names of their loops."""
    found, names = list[Command](), [position]
    for depth in range(draw(st.integers(0, 2))):
        new = [f"q{k}{depth}", f"r{k}{depth}"]
        found.append(Split(names[-1], *new, draw(st.sampled_from(SIZES)), draw(st.booleans())))
        names[-1:] = new
    found.append(Coord(names[-1], f"c{k}"))
    return found, [*names[:-1], f"c{k}"]


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
