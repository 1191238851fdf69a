"""The command `precompute(B[i, k, l] * D[l, j], j, j, w)`: a dense workspace inside a nest.

    for i, k:                                       for i, k:
        for l, j:                                       w[...] = 0
            A[i, j] += B[i, k, l] * C[k, j] * D[l, j]   for l, j: w[j] += B[i, k, l] * D[l, j]
                                                        for j: A[i, j] += w[j] * C[k, j]

Of a loop over a part of a range, the workspace has as many elements as the part; so it is with
loops over a part of positions, where an element belongs to each position:

    for p0:                                         for p0:
        for i, j in ln.part(ln.stored(A), p0, 16):      w[...] = 0
            y[i] += A[i, j] * x[j]                      for i, j: w[place] = A[i, j] * x[j]
                                                        for i, j: y[i] += w[place]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.algebra.dtypes import concrete
from linnet.algebra.table import add, minimum, multiply, subtract
from linnet.formats.format import Format
from linnet.formats.named import DENSE
from linnet.loops.bases import gone_through, unbound
from linnet.loops.commands import Precompute
from linnet.loops.printer import show
from linnet.loops.rewrite import (
    block,
    leaves,
    replaced,
    rewrite_expr,
    rewrite_stmt,
    substitute,
    walk,
)
from linnet.loops.types import dtype_of, with_lets
from linnet.optimize.own_arrays import MOST
from linnet.scheduling.factors import Found, part_of
from linnet.scheduling.nest import Nest
from linnet.scheduling.positions import goes_through_positions
from linnet.scheduling.precompute import Around, collected_by, indices_of, scope_of
from linnet.scheduling.structural import fill_of

_ZERO = loops.Literal(0)


def precompute(nest: Nest, command: Precompute) -> None:
    """Compute a part of an update before the rest, into a workspace."""
    program, name = nest.program, command.workspace
    given = [_together(nest, index) for index in command.indices]
    if not given or len(command.early) != len(given):
        hint = "`precompute(A[i, j] * x[j], (i, j), (iw, jw), w)`"
        nest.refuse("every index has a name where the workspace is computed", hint=hint)
    if name in {*nest.formats, *program.params}:
        nest.refuse(f"there is a tensor `{name}` already", hint="another name for the workspace")
    found = part_of(program, command.expr, nest.as_written)
    i_vars = [loop.index for together in given for loop in together]
    around = scope_of(program.body, found, i_vars, nest.refusal)
    _check_nest(nest, around, found)
    format = _format(nest, found, around, len(given))
    places = [_place(nest, together) for together in given]
    workspace = loops.Access(name, tuple([place for place, _ in places]), at=command.at)
    assert format.fill_value is not None
    sizes = tuple([size for _, size in places])
    _check_sizes(nest, command, around, sizes)
    begin = loops.Declare(name, loops.Literal(format.fill_value), sizes, command.at)
    consume = _consumer(around, found, workspace)
    made = _producer(nest, command, around, found, workspace)
    body = replaced(program.body, around.stmt, block([begin, made, consume]))
    temporaries = (*program.temporaries, (name, format))
    nest.program = replace(program, body=body, temporaries=temporaries)
    nest.formats[name] = format
    nest.early[name] = command, bool(around.summed)


def _check_nest(nest: Nest, around: Around, found: Found) -> None:
    """Refuse what is not a nest of loops around one update."""
    stmt = around.stmt
    while isinstance(stmt, loops.Loop):
        stmt = stmt.body
    if stmt is not found.update:
        what = show(stmt).splitlines()[0]
        hint = "precompute over loops inside of that"
        nest.refuse(f"between the loops and the update stands `{what}`", hint=hint)
    if leaves(stmt):
        hint = "compute it in loops of their own, which the program has"
        nest.refuse("a loop that may be left by `break` computes nothing before", hint=hint)
    used = {str(n.tensor) for n in walk(found.part) if isinstance(n, loops.Access)}
    if str(found.update.target.tensor) in used:
        nest.refuse("it depends on what is updated", hint="precompute what reads operands only")


def _check_sizes(
    nest: Nest, command: Precompute, around: Around, sizes: Sequence[loops.Expr]
) -> None:
    """Refuse a workspace whose size is not known where it begins."""
    inside = {loop.index for loop in (*around.kept, *around.summed)}
    for index, size in zip(command.indices, sizes, strict=True):
        for other in sorted(indices_of(size) & inside):
            nest.refuse(
                f"how far `{index}` runs depends on `{nest.as_written(loops.Index(other))}`",
                why="the workspace begins before both, and has one size",
                hint="precompute over the inner one alone, or over loops that run by themselves",
            )


def _format(nest: Nest, found: Found, around: Around, ndim: int) -> Format:
    """The format of the workspace: dense, of the type in which the sum is taken."""
    update = found.update
    types = {n: f.dtype for n, f in nest.formats.items() if f.dtype is not None}
    known = with_lets(types, nest.program.body)
    dtype = concrete(dtype_of(found.part, known))
    total = types[str(update.target.tensor)]
    if around.summed:
        if not found.whole and {concrete(dtype_of(update.value, known)), dtype} != {total}:
            nest.refuse(
                f"products of type {dtype} are added up in {total}",
                why="a sum of smaller numbers may be another one",
                hint=f"convert what is multiplied to {total}",
            )
        dtype = total
    if around.summed:
        op = collected_by(update)
        fill = None if op is None else op.identity(dtype)
        if fill is None:
            hint = "let what is precomputed be no sum: give all indices of its loops"
            nest.refuse(f"`{show(update)}` has nothing to begin a sum with", hint=hint)
    else:
        fill = fill_of(found.part, nest.formats, known)
    return DENSE(ndim).with_dtype(dtype).with_fill(0 if fill is None else fill)


def _together(nest: Nest, index: str) -> tuple[loops.Loop, ...]:
    """The loops that an index stands for: one, or those that go through positions together."""
    found = nest.named(index)
    return found if goes_through_positions(found[0]) else (nest.loop(index),)


def _place(nest: Nest, together: Sequence[loops.Loop]) -> tuple[loops.Expr, loops.Expr]:
    """Where in the workspace a turn of some loops has its element, and how many there may be."""
    extent, last = together[0].extent, loops.Index(together[-1].index)
    if not goes_through_positions(together[0]):
        first, size = _span(nest, together[0])
        return _less(last, first), size
    assert extent is not None
    of = gone_through(extent)
    part = unbound(of)
    if not isinstance(part, loops.Part):
        nest.refuse(
            f"`{nest.name_of(together[0])}` goes through all positions",
            why="the workspace has an element for each of them",
            hint="split it, and precompute over the positions of a part",
        )
    place = loops.Place(of, tuple([loops.Index(loop.index) for loop in together]))
    return place, _size_of(part)


def _span(nest: Nest, loop: loops.Loop) -> tuple[loops.Expr, loops.Expr]:
    """The first index of a loop, and how many there may be."""
    extent = unbound(loop.extent)
    if isinstance(extent, loops.Extent):
        return extent.start, _less(rewrite_expr(extent.stop, _at_most), extent.start)
    if not isinstance(extent, loops.Part):
        nest.refuse(
            f"`{nest.name_of(loop)}` is one of several indices of a part",
            hint="precompute over a loop that runs by itself",
        )
    return _first(nest, loop, extent), _size_of(extent)


def _size_of(part: loops.Part) -> loops.Expr:
    """How many elements a part may have: no more than its range, which may be far shorter.

    A few are an array of the kernel's own, if their number is known.
    """
    match part.size:
        case loops.Literal(int(size)) if size <= MOST:
            return part.size
        case _:
            return loops.Call(minimum, (part.size, loops.Parts(part.of, loops.Literal(1))))


def _first(nest: Nest, loop: loops.Loop, extent: loops.Range | None) -> loops.Expr:
    """Where a part begins, if there is one of its number."""
    match unbound(extent):
        case loops.Extent(start):
            return start
        case loops.Part(of, number, size):
            whole = _first(nest, loop, of)
            step = loops.Call(multiply, (size, number))
            return step if whole == _ZERO else loops.Call(add, (whole, step))
    return _span(nest, replace(loop, extent=extent))[0]


def _at_most(expr: loops.Expr) -> loops.Expr | None:
    """How many parts a part has, of which the last may have fewer."""
    if isinstance(expr, loops.Parts) and isinstance(part := unbound(expr.of), loops.Part):
        return replace(expr, of=loops.Extent(_ZERO, part.size))
    return None


def _less(a: loops.Expr, b: loops.Expr) -> loops.Expr:
    return a if b == _ZERO else loops.Call(subtract, (a, b))


def _producer(
    nest: Nest, command: Precompute, around: Around, found: Found, workspace: loops.Access
) -> loops.Stmt:
    """The loops that compute the workspace, under names of their own."""
    op = collected_by(found.update) if around.summed else None
    compute = loops.Assign(workspace, op, found.part, found.update.at)
    stmt = replaced(around.stmt, found.update, compute)
    values: dict[str, loops.Expr] = {}
    new: dict[str, str] = {}
    for index, early in zip(command.indices, command.early, strict=True):
        if index == early:
            own = nest.forget(index)
            nest.introduce(f"{index}:2", *own)
            early = f"{index}:1"
        else:
            own = nest.stands[index]
        new |= zip(own, nest.introduce_like(early, own), strict=True)
    values |= {i: loops.Index(name) for i, name in new.items()}
    stmt = substitute(stmt, values)

    def rename(s: loops.Stmt) -> loops.Stmt | None:
        if isinstance(s, loops.Loop) and s.index in new:
            return replace(s, index=new[s.index])
        return None

    return rewrite_stmt(stmt, rename)


def _consumer(around: Around, found: Found, workspace: loops.Access) -> loops.Stmt:
    """The loops that use the workspace, as they were."""
    stmt: loops.Stmt = replace(found.update, value=found.rest(workspace))
    for loop in reversed(around.kept):
        stmt = replace(loop, body=stmt)
    return stmt
