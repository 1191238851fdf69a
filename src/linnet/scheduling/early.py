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
from linnet.algebra.function import Function
from linnet.algebra.table import add, multiply, subtract
from linnet.formats.format import Format
from linnet.formats.named import DENSE
from linnet.loops.bases import gone_through, unbound
from linnet.loops.commands import Precompute
from linnet.loops.nodes import base_of
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
from linnet.scheduling.factors import Found, part_of
from linnet.scheduling.nest import Nest
from linnet.scheduling.positions import goes_through_positions
from linnet.scheduling.precompute import Around, collected_by, indices_of, scope_of

_ZERO = loops.Literal(0)


def precompute(nest: Nest, command: Precompute) -> None:
    """Compute a part of an update before the rest, into a workspace."""
    program, name = nest.program, command.workspace
    given = [_together(nest, index) for index in command.indices]
    if not given or len(command.early) != len(given):
        nest.refuse("every index has a name where the workspace is computed")
    if name in {*nest.formats, *program.params}:
        nest.refuse(f"there is a tensor `{name}` already")
    found = part_of(program, command.expr, nest.as_written)
    i_vars = [loop.index for together in given for loop in together]
    around = scope_of(program.body, found, i_vars, nest.refusal)
    _check_nest(nest, around, found)
    format = _format(nest, found, around, len(given))
    _check_result(nest, around, found)
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


def _check_nest(nest: Nest, around: Around, found: Found) -> None:
    """Refuse what is not a nest of loops around one update."""
    stmt = around.stmt
    while isinstance(stmt, loops.Loop):
        stmt = stmt.body
    if stmt is not found.update:
        what = show(stmt).splitlines()[0]
        nest.refuse(f"between the loops and the update stands `{what}`")
    if leaves(stmt):
        nest.refuse("a loop that may be left by `break` computes nothing before")
    used = {str(n.tensor) for n in walk(found.part) if isinstance(n, loops.Access)}
    if str(found.update.target.tensor) in used:
        nest.refuse("it depends on what is updated")


def _check_result(nest: Nest, around: Around, found: Found) -> None:
    """Refuse a sparse result that would store what is in the workspace and was never written.

    What uses the workspace comes by what is stored in a tensor whose positions it goes through.
    """
    result = str(found.update.target.tensor)
    ranges = [base_of(loop.extent) for loop in around.kept if loop.extent is not None]
    led = {extent.tensor for extent in ranges if isinstance(extent, loops.Positions)}
    read = {str(n.tensor) for n in walk(found.part) if isinstance(n, loops.Access)} - led
    sparse = [name for name in sorted(read) if not _is_full(nest.formats[name])]
    if sparse and not _is_full(nest.formats[result]):
        nest.refuse(
            f"`{result}` would store elements where `{sparse[0]}` stores nothing",
            why="the workspace is dense, and does not know what was written to it",
            hint=f"let `{result}` be dense, or precompute what is dense",
        )


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


def _is_full(format: Format) -> bool:
    """Whether a tensor stores all its elements."""
    return all(level.full for level in format.levels[:-1])


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
    op = _added_by(found)
    identity = None if op is None else op.identity(dtype)
    if around.summed and identity is None:
        nest.refuse(f"`{show(update)}` has nothing to begin a sum with")
    return DENSE(ndim).with_dtype(dtype).with_fill(0 if identity is None else identity)


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
    return loops.Place(of, tuple([loops.Index(loop.index) for loop in together])), part.size


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
    return _first(nest, loop, extent), extent.size


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
    stored = all(isinstance(place, loops.Place) for place in workspace.indices)
    op = None if stored and not around.summed else _added_by(found)
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


def _added_by(found: Found) -> Function | None:
    """By what parts are added to the workspace: as their sums are to the result, if they are."""
    return collected_by(found.update) if found.distributes else None


def _consumer(around: Around, found: Found, workspace: loops.Access) -> loops.Stmt:
    """The loops that use the workspace, as they were."""
    stmt: loops.Stmt = replace(found.update, value=found.rest(workspace))
    for loop in reversed(around.kept):
        stmt = replace(loop, body=stmt)
    return stmt
