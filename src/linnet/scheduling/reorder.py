"""`reorder(i1, j, i0)`: loops directly inside one another are put into another order.

Two parts of one range keep their order by themselves, as `i0` must be known where `i1` begins; the
other way round, the inner loop takes steps:

    for i0 in range(ln.parts(range(n), 32)):        for i1 in range(32):
        for i in ln.part(range(n), i0, 32):             for i0 in range(ln.parts(range(i1, n), 32)):
            y[i] += …                                       y[32 * i0 + i1] += …
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from linnet import loops
from linnet.algebra.function import Function
from linnet.algebra.table import add, multiply
from linnet.loops.bases import ends_of
from linnet.loops.commands import Reorder
from linnet.loops.nodes import base_of
from linnet.loops.printer import show, show_range
from linnet.loops.rewrite import (
    accesses,
    is_left,
    leaves,
    map_range,
    substitute,
    substitute_expr,
    walk,
)
from linnet.loops.told import ranges_in, told_by
from linnet.scheduling.nest import Nest

_KEEP = "leave these loops in their order"


def reorder(nest: Nest, command: Reorder) -> None:
    """Put loops into another order."""
    names = command.order
    if len(set(names)) < len(names) or len(names) < 2:
        hint = "`reorder(j, i)`"
        nest.refuse("two or more different loops are put into an order", hint=hint)
    chain = _chain(nest, names)
    body = chain[-1].body
    check_order(nest, chain, body)
    heads = {loop.index: loop for loop in chain}
    order = [heads[index] for name in names for index in nest.stands[name]]
    stmt = _nested(nest, order, body)
    nest.replaced(chain[0], stmt)


def _chain(nest: Nest, names: Sequence[str]) -> list[loops.Loop]:
    """The loops of these names, the outermost first, each directly inside the one before."""
    found = {id(loop): loop for name in names for loop in nest.named(name)}
    if any(map(is_left, found.values())):
        hint = "split it, or reorder loops inside of it"
        nest.refuse("a loop that may be left by `break` keeps its order", hint=hint)
    inner = {id(n) for loop in found.values() for n in walk(loop.body)}
    outermost = [loop for key, loop in found.items() if key not in inner]
    chain = outermost[:1]
    while len(chain) < len(found):
        below = chain[-1].body
        if not isinstance(below, loops.Loop) or id(below) not in found:
            _refuse_between(nest, nest.name_of(chain[-1]), below)
        chain.append(below)
    return chain


def _refuse_between(nest: Nest, outer: str, below: loops.Stmt) -> NoReturn:
    """Say what stands directly inside a loop, instead of the one that is to."""
    if isinstance(below, loops.Loop):
        problem = f"directly inside the loop over `{outer}` is that over `{nest.name_of(below)}`"
        nest.refuse(problem, hint="name the loops between, or put them elsewhere")
    beside = [s for s in getattr(below, "stmts", (below,)) if isinstance(s, loops.Assign)]
    what = show(beside[-1] if beside else below).splitlines()[0]
    nest.refuse(
        f"directly inside the loop over `{outer}` is `{what}`",
        why="it is done once for every turn of this loop, and would be done more often",
        hint="schedule the term in an equation of its own" if beside else "put it elsewhere",
    )


def check_order(nest: Nest, chain: Sequence[loops.Loop], body: loops.Stmt) -> None:
    """Refuse another order of iterations where that could give another result."""
    if leaves(body) or any(isinstance(n, loops.Swap) for n in walk(body)):
        hint = "split it, or reorder loops inside of it"
        nest.refuse("a loop that may be left by `break` keeps its order", hint=hint)
    moved = {loop.index for loop in chain}
    declared = {n.tensor for n in walk(body) if isinstance(n, loops.Declare)}
    writes = [n for n in walk(body) if isinstance(n, loops.Assign)]
    written = {str(w.target.tensor) for w in writes} - declared
    ops: dict[str, set[Function | None]] = {}
    for write in writes:
        name = str(write.target.tensor)
        if name in written:
            ops.setdefault(name, set()).add(write.op)
            _check_write(nest, write, moved)
    for name, functions in ops.items():
        if len(functions) > 1:
            nest.refuse(f"`{name}` is updated in several ways, whose order counts", hint=_KEEP)
    for access, is_target in accesses(body):
        if not is_target and access.tensor in written:
            nest.refuse(f"`{show(access)}` reads what other iterations write", hint=_KEEP)


def _check_write(nest: Nest, write: loops.Assign, moved: set[str]) -> None:
    """Refuse an assignment of which another one may come last, or an update that has an order."""
    if moved <= told_by(write.target.indices, ranges_in(nest.program.body)):
        return  # every iteration has an element of its own
    text = show(write)
    if write.op is None:
        nest.refuse(
            f"`{text}` may assign to an element several times: the last one counts",
            hint="let every loop that is reordered be an index of what is assigned",
        )
    if not (write.op.associative and write.op.commutative):
        nest.refuse(f"`{text}` updates by a function whose order counts", hint=_KEEP)


def _nested(nest: Nest, order: list[loops.Loop], body: loops.Stmt) -> loops.Stmt:
    """Loops in an order, the outermost first, around a statement."""
    for k, loop in enumerate(order):
        assert loop.extent is not None
        inside = {n.index for n in order[k:]} - {_counter(loop)}
        for name in sorted(indices_of(loop.extent) & inside):
            problem = f"how far `{nest.name_of(loop)}` runs depends on `{name}`, which is inside"
            nest.refuse(problem, hint=f"put `{name}` outside of it")
    for k, loop in enumerate(order):
        counter = _counter(loop)
        later = [n.index for n in order[k + 1 :]]
        if counter in later:
            body = _in_steps(nest, order, k, k + 1 + later.index(counter), body)
    for k, loop in enumerate(order):
        assert loop.extent is not None
        inside = {n.index for n in order[k:]}
        for name in sorted(indices_of(loop.extent) & inside):
            problem = f"how far `{nest.name_of(loop)}` runs depends on `{name}`, which is inside"
            nest.refuse(problem, hint=f"put `{name}` outside of it")
    for loop in reversed(order):
        body = replace(loop, body=body)
    return body


def _counter(loop: loops.Loop) -> str:
    """The index that counts the parts of which a loop runs over one, or nothing."""
    number = loop.extent.number if isinstance(loop.extent, loops.Part) else None
    return number.name if isinstance(number, loops.Index) else ""


def _in_steps(
    nest: Nest, order: list[loops.Loop], outer: int, inner: int, body: loops.Stmt
) -> loops.Stmt:
    """A loop that ran within parts stands outside, and the one that counted them takes steps.

    Gives the body with their index put together again.
    """
    within, counter = order[outer], order[inner]
    part, zero = _part_in_steps(nest, within, counter), loops.Literal(0)
    name = nest.name_of(within)
    del nest.stands[name]
    index = nest.introduce(name)
    first, stop = ends_of(part.of)
    start: loops.Expr = loops.Index(index)
    if first != zero:
        start = loops.Call(add, (first, start))
    steps = loops.Parts(loops.Extent(start, stop), part.size)
    order[outer] = replace(within, index=index, extent=loops.Extent(zero, part.size))
    order[inner] = replace(counter, extent=loops.Extent(zero, steps))
    step = loops.Call(multiply, (part.size, loops.Index(counter.index)))
    place: dict[str, loops.Expr] = {within.index: loops.Call(add, (step, start))}
    for k in range(outer + 1, len(order)):
        extent = order[k].extent
        if k != inner and extent is not None and within.index in indices_of(extent):
            changed = map_range(extent, lambda e: substitute_expr(e, place))
            order[k] = replace(order[k], extent=changed)
            if k < inner:
                problem = f"how far `{nest.name_of(order[k])}` runs depends on both of them"
                nest.refuse(problem, hint="put it inside both")
    return substitute(body, place)


def _part_in_steps(nest: Nest, within: loops.Loop, counter: loops.Loop) -> loops.Part:
    """The part that one loop goes through and another counts, if steps can be made of these."""
    part = within.extent
    assert isinstance(part, loops.Part)
    if not isinstance(base_of(part), loops.Extent):
        where = show_range(base_of(part))
        hint = "only parts of coordinates are gone through in steps"
        nest.refuse(f"parts of `{where}` stay inside the loop that counts them", hint=hint)
    if any(isinstance(n, loops.Bounded) for n in walk(part.of)):
        nest.refuse(
            f"loops in steps do not go through `{show_range(part.of)}`, of which something is said",
            hint="reorder first, and bound the loops that there are then",
        )
    if counter.extent != loops.Extent(loops.Literal(0), loops.Parts(part.of, part.size)):
        hint = "split it down, into parts of one size"
        nest.refuse("a loop that was split up stays inside the one that counts parts", hint=hint)
    return part


def indices_of(node: loops.Node) -> set[str]:
    """The loop indices in an expression or a range."""
    return {n.name for n in walk(node) if isinstance(n, loops.Index)}
