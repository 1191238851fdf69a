"""Parts of ranges in imperative code: is each element of a part computed for itself?

What is done with a part may then be done with some of its elements after the others, and with some
of them twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from linnet import imp
from linnet.imp.fold import fold
from linnet.imp.rewrite import rewrite, statements, substitute, walk
from linnet.optimize.legality import is_next
from linnet.records import dataclass

LONGEST = 64
"""Elements that registers hold, those of a part of a row in vectors."""
HERE = "(here)"
"""The name of the index in a part, whatever loop goes through it."""
_PLAIN = (
    imp.Let, imp.Assign, imp.Accumulate, imp.Store, imp.Fill,
    imp.For, imp.While, imp.If, imp.Block, imp.Comment,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a range: it has `most` elements, or those that are `left`."""

    start: imp.Var
    end: imp.Var
    most: int
    left: imp.Expr

    def goes_through(self, loop: imp.For) -> bool:
        """Whether a loop is one through the part."""
        return (loop.start, loop.stop) == (self.start, self.end)

    def loops(self, block: imp.Block) -> Iterator[imp.For]:
        """The loops through the part."""
        return (s for s in statements(block) if isinstance(s, imp.For) and self.goes_through(s))

    @property
    def is_whole(self) -> imp.Expr:
        """That it has all of its elements."""
        return self.left >= self.most

    @property
    def runs(self) -> imp.Expr:
        """That it is not empty."""
        return self.start < self.end

    def place(self, loop: imp.For) -> imp.Expr:
        """Where a loop is in the part."""
        return fold(loop.var - self.start)

    def from_0(self, loop: imp.For, start: imp.Var, length: int) -> imp.For:
        """A loop through the part as one through so many places in it."""
        place, own = self.place(loop), dict[str, imp.Expr]()
        stmts = list[imp.Stmt]()
        for stmt in loop.body.stmts:
            if isinstance(stmt, imp.Let) and stmt.value == place:
                own[stmt.var.name] = loop.var
            else:
                stmts.append(stmt)
        body = rewrite(imp.Block(tuple(stmts)), lambda n: imp.Var(HERE) if n == place else None)
        body = substitute(body, {**own, loop.var.name: start + loop.var})
        body = substitute(body, {HERE: loop.var})
        over = imp.Over(loop.over.text, index=loop.over.index, tile=length)
        stop = imp.Const(length, imp.INT)
        return replace(loop, start=imp.ZERO, stop=stop, body=body, over=over)


def part_of(stmt: imp.Stmt) -> Part | None:
    """The part that a statement finds the end of: there are no more elements than that may hold."""
    match stmt:
        case imp.Let(end, imp.Binary("+", imp.Var() as start, imp.Binary("min", a, b))):
            most, left = (a, b) if isinstance(a, imp.Const) else (b, a)
            if isinstance(most, imp.Const) and 1 < int(most.value) <= LONGEST:  # type: ignore[arg-type]
                return Part(start, end, int(most.value), left)  # type: ignore[arg-type]
    return None


def is_elementwise(part: Part, rest: imp.Block, own: Collection[str]) -> bool:
    """Whether what is done with a part is for each element the same in whatever part it is.

    Needs: `own` arrays have an element for each of the part, and are filled first.
    """
    if not all(isinstance(s, _PLAIN) for s in statements(rest)):
        return False
    outside = [*at_once(rest)]
    inside = [s for loop in part.loops(rest) for s in statements(loop.body)]
    return (
        _are_settled(rest, outside, inside)
        and _is_written_once(part, rest, outside, own)
        and _names_places_only(part, rest, own)
    )


def at_once(block: imp.Block) -> Iterator[imp.Stmt]:
    """The statements that no loop repeats."""
    for stmt in block.stmts:
        yield stmt
        match stmt:
            case imp.If(_, then, orelse):
                yield from at_once(then)
                yield from at_once(orelse)
            case imp.Block():
                yield from at_once(stmt)


def _are_settled(rest: imp.Block, outside: list[imp.Stmt], inside: list[imp.Stmt]) -> bool:
    """Whether variables have the same values whichever elements come first.

    In loops through the part, only those are changed that belong to an element.
    """
    local = {s.var for s in statements(rest) if isinstance(s, imp.Let)}
    of_element = {s.var for s in inside if isinstance(s, imp.Let)}
    for stmt in statements(rest):
        match stmt:
            case imp.Assign(var) | imp.Accumulate(var) if any(stmt is s for s in inside):
                if var not in of_element:
                    return False
            case imp.Assign(var, value) if var not in local:
                if not any(stmt is s for s in outside) or not _is_same_again(var, value):
                    return False
            case imp.Accumulate(var) if var not in local:
                return False
    return True


def _is_same_again(var: imp.Var, value: imp.Expr) -> bool:
    """Whether a variable that was given a value keeps it if it is given that once more."""
    match value:
        case imp.Binary("or", a, b) if a == var:
            return var not in walk(b)
        case _:
            return var not in walk(value)


def _is_written_once(
    part: Part, rest: imp.Block, outside: list[imp.Stmt], own: Collection[str]
) -> bool:
    """Whether what is written, but for own arrays, is written at one place for each element."""
    through = [s for s in outside if isinstance(s, imp.For) and part.goes_through(s)]
    made = [(s, loop) for loop in through for s in loop.body.stmts if isinstance(s, imp.Store)]
    made = [(s, loop) for s, loop in made if s.buffer.name not in own]
    written = [n.buffer.name for n in walk(rest) if isinstance(n, imp.Store | imp.Fill)]
    others = [name for name in written if name not in own]
    loaded = {n.buffer.name for n in walk(rest) if isinstance(n, imp.Load)}
    once = len(others) == len(made) == len({*others}) and loaded.isdisjoint(others)
    return once and all(is_next(s.index, loop.var) for s, loop in made)


def _names_places_only(part: Part, rest: imp.Block, own: Collection[str]) -> bool:
    """Whether own arrays are used at the place in the part, and nothing knows where it is."""
    places = {part.place(loop) for loop in part.loops(rest)}
    named = {s.var: s.value for s in statements(rest) if isinstance(s, imp.Let)}

    def blank(node: imp.Node) -> imp.Node | None:
        if node in places:
            return imp.Var(HERE)
        if isinstance(node, imp.For) and part.goes_through(node):
            return replace(node, start=imp.ZERO, stop=imp.ZERO, over=imp.NOWHERE)
        return imp.TRUE if node == part.runs else None

    for node in walk(rewrite(rest, blank)):
        match node:
            case imp.Var(name) if name in (part.start.name, part.end.name):
                return False
            case imp.Load(buffer, index) | imp.Store(buffer, index) if buffer.name in own:
                index = named.get(index, index) if isinstance(index, imp.Var) else index
                if index not in places and index != imp.Var(HERE):
                    return False
            case imp.Fill(buffer, start) if buffer.name in own and start != imp.ZERO:
                return False
    return True
