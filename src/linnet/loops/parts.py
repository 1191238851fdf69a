"""Loops that count parts, and loops over those parts: together they go through a whole range.

    for t in range(ln.parts(range(n), 32)):
        for i in ln.part(range(n), t, 32):
            …

visits every i below n once, in order. What holds of a loop over the whole range holds of the two of
them, as long as nothing stands between: passes leave counters out of the path to a statement.

Several loops may go through the parts of one range together:

    for t in range(ln.parts(ln.stored(A), 32)):
        for i, j in ln.part(ln.stored(A), t, 32):
            …

Their indices come in order, too. But a part may end anywhere: all of them but the last come again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linnet.loops.ascending import ascends
from linnet.loops.bases import (
    coordinates,
    coordinates_of,
    one_at_least,
    part_in,
    parts_counted,
    unbound,
)
from linnet.loops.nodes import (
    Along,
    Assign,
    Block,
    Coordinates,
    Expr,
    Extent,
    If,
    Index,
    Let,
    Literal,
    Loop,
    Name,
    Node,
    Part,
    Parts,
    Range,
    Stmt,
)
from linnet.loops.rewrite import changes, is_left, map_range, point_of, substitute_expr, walk


def counted(loop: Loop) -> Loop | None:
    """The loop directly inside over whose parts a loop goes in order; None if it is no counter.

    Between the two there may be names, and counters: of smaller parts, or a loop that counts parts
    and of whose own range this one counts the parts. Parts may also be written by hand, if it is
    known that they follow one another.
    """
    inner, lets = _inside(loop)
    if inner is None or _is_one(loop):
        return None
    if _has_part_of(inner.extent, loop.index):
        found: Loop | None = counted(inner) or inner
    else:
        inside = _has_part_of(_in_parts(inner), loop.index)
        found = counted(inner) if inside else _by_hand(loop)
    if found is None or is_left(loop) or is_left(found):
        return None
    return None if _is_coordinate({loop.index, *lets}, found) else found


def counted_together(loop: Loop) -> tuple[Loop, ...]:
    """The loops directly inside that go together through the parts that a loop counts in order."""
    inner, lets = _inside(loop)
    found = () if inner is None else _through_parts(loop, inner, counted_together)
    if not found or _is_coordinate({loop.index, *lets}, found[-1]):
        return ()
    return found


def written_in_parts(loop: Loop, tensor: str) -> tuple[Loop, ...]:
    """The loops through the parts that a loop counts, if a tensor is written there and only there.

    Its elements come in order, then, part by part, whatever else is done for each of them.
    """
    inner: Stmt | None = loop.body
    while inner is not None and not isinstance(inner, Loop):
        inner = _only_writer(inner, tensor)
    if inner is None:
        return ()
    return _through_parts(loop, inner, lambda loop: written_in_parts(loop, tensor), alone=True)


def _through_parts(
    loop: Loop, inner: Loop, deeper: Callable[[Loop], tuple[Loop, ...]], *, alone: bool = False
) -> tuple[Loop, ...]:
    """The loops through the parts that a loop counts, the outermost of which is the `inner` one.

    Where that counts other parts, they are found `deeper`. A loop may go through a part `alone`.
    """
    if is_left(loop) or _is_one(loop):
        return ()
    found: tuple[Loop, ...] = ()
    if _has_part_of(_in_parts(inner), loop.index):
        found = deeper(inner)
    elif isinstance(inner.extent, Along) and _has_part_of(inner.extent.of, loop.index):
        found = _along(inner, inner.extent.of) if inner.extent.depth == 0 else ()
    elif _has_part_of(inner.extent, loop.index):
        found = deeper(inner) or ((inner,) if alone else ())
    return () if any(map(is_left, found)) else found


def _only_writer(stmt: Stmt, tensor: str) -> Stmt | None:
    """The only statement in one that writes a tensor; None if there are several, or it begins."""
    match stmt:
        case Block(stmts):
            inside = stmts
        case Let(_, _, body):
            inside = (body,)
        case If(_, then, orelse):
            inside = (then, orelse)
        case _:
            return None
    found = [s for s in inside if any(changes(n, tensor) for n in walk(s))]
    return found[0] if len(found) == 1 else None


def _along(loop: Loop, of: Range) -> tuple[Loop, ...]:
    """Loops directly inside one another that go through something together."""
    found = [loop]
    while isinstance(inner := found[-1].body, Loop) and isinstance(inner.extent, Along):
        if inner.extent.of != of:
            break
        found.append(inner)
    return tuple(found) if len(found) == coordinates(of) else ()


def come_again(body: Node) -> frozenset[str]:
    """The indices that have a value again, perhaps, as the next part begins where one has ended.

    They are those of loops that go through a part together, but for the last.
    """
    found: set[str] = set()
    for loop in (n for n in walk(body) if isinstance(n, Loop)):
        place = point_of(loop.extent)
        if isinstance(place, Index) and place.name in found:
            found.add(loop.index)  # another name for it
        match loop.extent:
            case Along(of) if loop.extent.depth + 1 < coordinates(of):
                found |= set() if part_in(of) is None else {loop.index}
    return frozenset(found)


def _inside(loop: Loop) -> tuple[Loop | None, dict[str, Expr]]:
    """The loop directly inside one, and what is named between the two."""
    lets: dict[str, Expr] = {}
    inner = loop.body
    while isinstance(inner, Let):
        lets[inner.name] = substitute_expr(inner.value, lets)
        inner = inner.body
    return (inner if isinstance(inner, Loop) else None), lets


def _is_coordinate(names: set[str], loop: Loop) -> bool:
    """Whether something is written at coordinates that depend on one of these names."""
    places = (i for n in walk(loop.body) if isinstance(n, Assign) for i in n.target.indices)
    return any(isinstance(n, Index | Name) and n.name in names for i in places for n in walk(i))


def _by_hand(loop: Loop) -> Loop | None:
    """The loop inside whose ranges follow one another, as far as is known, whoever wrote them."""
    counters, lets = list[Loop](), dict[str, Expr]()
    leaf: Loop | None = loop
    while leaf is not None and (not counters or counted(leaf) is not None):
        counters.append(_named(leaf, lets))
        leaf, more = _inside(leaf)
        lets |= {name: substitute_expr(value, lets) for name, value in more.items()}
    if leaf is None or not all(isinstance(c.extent, Extent) for c in counters):
        return None
    extent = _named(leaf, lets).extent
    return leaf if isinstance(extent, Extent) and ascends(counters, extent) else None


def _named(loop: Loop, lets: dict[str, Expr]) -> Loop:
    """The loop with values in the place of names in its range."""
    if not lets or loop.extent is None:
        return loop
    return replace(loop, extent=map_range(loop.extent, lambda e: substitute_expr(e, lets)))


def _is_one(loop: Loop) -> bool:
    """Whether a loop has a single index, which is not the number of the only part of a range."""
    return point_of(loop.extent) is not None and _in_parts(loop) is None


def _in_parts(loop: Loop) -> Range | None:
    """The range of which a loop counts the parts, of some size or as many as it has turns."""
    parts = parts_counted(loop.extent)
    if parts is not None:
        return parts.of
    match unbound(loop.extent):
        case Extent(Literal(0), Literal() as count):
            found = (n for n in walk(loop.body) if isinstance(n, Part))
            mine = (part for part in found if part.number == Index(loop.index))
            return next((part.of for part in mine if _are_all(count, part)), None)
        case _:
            return None


def _has_part_of(extent: Range | None, counter: str) -> bool:
    """Whether a range is the part that a counter has come to."""
    part = part_in(extent)
    if part is None or part.number != Index(counter):
        return False
    rest = (*walk(part.of), *walk(part.size))
    return not any(isinstance(n, Index) and n.name == counter for n in rest)


def covered(loop: Loop) -> Range | None:
    """The range of which a loop, with the loop that it counts for, visits every index once."""
    inner, _ = _inside(loop)
    if inner is None or counted(loop) is None:
        return loop.extent
    if _has_part_of(inner.extent, loop.index) and counted(inner) is not None:
        numbers = _all_parts(loop, inner.extent)
        return None if numbers is None else covered(replace(inner, extent=numbers))
    return _all_parts(loop, covered(inner))


def _all_parts(loop: Loop, extent: Range | None) -> Range | None:
    """The range whose parts are such as this one, if a loop counts all of them."""
    extent = unbound(extent)
    part = unbound(extent.of) if isinstance(extent, Coordinates) else extent
    if not isinstance(part, Part) or part.number != Index(loop.index):
        return None
    parts, outer = Parts(part.of, part.size), unbound(loop.extent)
    stop = outer.stop if isinstance(outer, Extent) and outer.start == Literal(0) else None
    if stop == (parts if part is extent else one_at_least(parts)) or _are_all(stop, part):
        return part.of if part is extent else coordinates_of(part.of)
    return None


def _are_all(count: Expr | None, part: Part) -> bool:
    """Whether there are as many parts as are asked for, each as long as that takes."""
    match count:
        case Literal(int(number)) if number > 0:
            return part.size == Parts(part.of, count)
        case _:
            return False
