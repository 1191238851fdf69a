"""How far does every loop run, and how large is every declared tensor? (FINCH §4, §5.3)

One walk over the program finds what must be one size: an index, the modes that it runs over, and
the modes of declared tensors that it fills. What is said of a size (`sizes`) is a dimension of an
argument, the end of an explicit range, or given by the user. All that is said must agree when the
kernel is called (`shape_checks`), and one of it becomes the extent or the dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from linnet.algebra.dtypes import kind
from linnet.algebra.table import maximum, minimum
from linnet.errors import DTypeError, InternalError, Location
from linnet.imp.linear import Linear, atom
from linnet.loops.linear import linear
from linnet.loops.nodes import (
    Access,
    Assign,
    Block,
    Break,
    Call,
    Declare,
    Dimension,
    Expr,
    Extent,
    Freeze,
    If,
    Index,
    Let,
    Literal,
    Loop,
    Name,
    Program,
    Stmt,
    Swap,
    Thaw,
)
from linnet.loops.printer import show
from linnet.loops.rewrite import map_args, map_range, map_stmts, rewrite_stmt, walk
from linnet.loops.types import dtype_of
from linnet.normalize.modes import outside_its_block, undeclared
from linnet.normalize.narrowing import DECIDES, Bounds, said_by
from linnet.normalize.shape_checks import Check, Use, is_zero, worth_making
from linnet.normalize.shapes import Shape, Shapes, no_such_mode, unwritten, wrong_rank
from linnet.normalize.sizes import Place, Sizes, Source, about_loop, about_mode
from linnet.records import dataclass

PERMISSIVE = "permissive"  # the protocol of `A[~i]`, which may run beyond the dimension


def infer_dimensions(
    program: Program, ndims: Mapping[str, int]
) -> tuple[Program, tuple[Check, ...]]:
    """Say how far every loop runs and how large every declared tensor is.

    Needs: `ndims`, the number of dimensions of every parameter and temporary.
    Gives: every loop has an extent and every declaration its dimensions, in terms of the dimensions
    of parameters; those of a parameter that is declared anew stand only where they are also its
    current ones. The checks say what must hold of the arguments' shapes. Indices that are computed,
    and ranges that depend on values, are not in them: they are checked while the kernel runs.
    """
    dimensions = _Dimensions(program, ndims)
    body = dimensions.statement(program.body)
    dimensions.shapes.settle_all()
    body = rewrite_stmt(body, on_expr=dimensions.sizes.answer)
    return replace(program, body=body), tuple(worth_making(dimensions.checks()))


@dataclass(frozen=True, slots=True)
class _Running:
    """A loop: its stamp, its size if it has no extent, where it stands, and its ends as sums."""

    stamp: int
    size: int
    extent: Extent | None  # the whole, where the loop runs over a part
    place: Place
    ends: tuple[Linear, Linear] | None


class _Dimensions:
    """The shapes of all tensors and the meaning of all names, at the statement being visited."""

    def __init__(self, program: Program, ndims: Mapping[str, int]) -> None:
        self.sizes = Sizes()
        self._at: Location | None = program.at
        self._ndims = ndims
        self._params = frozenset(program.params)
        self._declared = {s.tensor for s in walk(program.body) if isinstance(s, Declare)}
        self.shapes = Shapes(self.sizes, self._params)
        self._current = {p: self.shapes.argument(p, self._rank(p)) for p in program.params}
        self._ended: set[str] = set()  # temporaries whose block has ended
        self._stamps: dict[Index | Name | str, int] = {}
        self._count = 0
        self._loops: dict[int, _Running] = {}  # by stamp
        self._values: dict[int, Linear] = {}  # of names, by stamp
        self._minima: dict[int, tuple[Expr, Place]] = {}  # that have names, by stamp
        self._said: list[Linear] = []  # by the conditions around: sums that are not above zero
        self._ranges: list[tuple[list[Expr], Shape, Use]] = []
        self._not_negative: list[tuple[list[Expr], Use]] = []

    # -- statements --------------------------------------------------------------------------------

    def statement(self, stmt: Stmt) -> Stmt:
        """Find the sizes in a statement. Those that are not known yet stand as questions."""
        match stmt:
            case Block():
                return map_stmts(stmt, self.statement)
            case Freeze() | Thaw() | Break():
                return stmt
        self._at = stmt.at or self._at
        match stmt:
            case Assign(target, op, value, at, partial):
                value, where = self._read(value), map_args(target, self._read)
                assert isinstance(where, Access)
                self._meet(target, update=True)
                self._stamp(str(target.tensor))
                return Assign(where, op, value, at, partial)
            case Loop():
                return self._loop(stmt)
            case If():
                return self._if(stmt)
            case Let(name, value, body, at):
                value = self._read(value)
                least = isinstance(value, Call) and value.function is minimum
                total, place = self._sum(value), self._here() if least else None
                outer = self._bind(Name(name))
                self._values[self._count] = total
                if place is not None:
                    self._minima[self._count] = value, place
                body = self.statement(body)
                self._unbind(Name(name), outer)
                return Let(name, value, body, at)
            case Declare():
                return self._declare(stmt)
            case Swap(a, b):
                return self._swap(stmt, self._shape_of(a, stmt.at), self._shape_of(b, stmt.at))

    def _loop(self, stmt: Loop) -> Loop:
        at, place, extent, whole, ends = self._at, self._here(), stmt.extent, None, None
        if extent is not None:
            extent = map_range(extent, self._bound)
            whole = extent.whole
            ends = self._sum(whole.start), self._sum(whole.stop).more(-1)
        before = dict(self._current)
        heads = self._enter(stmt.body)
        outer, stamp = self._bind(Index(stmt.index)), self._count
        loop = self._loops[stamp] = _Running(stamp, self.sizes.new(), whole, place, ends)
        self.sizes.fill(loop.size, loop.stamp)
        body = self.statement(stmt.body)
        self._unbind(Index(stmt.index), outer)
        for tensor, head in heads.items():
            self.shapes.join(head, self._current[tensor])
        self._leave(before | heads)
        if extent is None:
            extent = Extent(
                Literal(0), self.sizes.ask(about_loop(stmt.index, loop.size, place, at))
            )
        return replace(stmt, extent=extent, body=body)

    def _enter(self, body: Stmt) -> dict[str, Shape]:
        """At the head of a loop, what it writes has come from before it or from its last round."""
        heads: dict[str, Shape] = {}
        for node in walk(body):
            match node:
                case Assign(target):
                    self._stamp(str(target.tensor))
                case Swap(a, b):
                    self._stamp(a)
                    self._stamp(b)
                case Declare(tensor):
                    self._stamp(tensor)
                    if tensor in self._current and tensor not in heads:
                        heads[tensor] = self.shapes.both(self._current[tensor])
        self._current |= heads
        return heads

    def _if(self, stmt: If) -> If:
        cond, before = self._read(stmt.cond), dict(self._current)
        with self._where(cond, True):
            then = self.statement(stmt.then)
        after, self._current = self._current, dict(before)
        with self._where(cond, False):
            orelse = self.statement(stmt.orelse)
        for tensor in before:
            one, two = after[tensor], self._current[tensor]
            before[tensor] = one if one is two else self.shapes.both(one, two)
        self._current |= after
        self._leave(before)
        return If(cond, then, orelse, stmt.at)

    def _leave(self, outside: dict[str, Shape]) -> None:
        """At the end of a block, the temporaries that it has declared are gone."""
        self._ended |= self._current.keys() - outside.keys()
        self._current = outside

    def _declare(self, stmt: Declare) -> Declare:
        tensor, at, init = stmt.tensor, self._at, self._read(stmt.init)
        dims = None if stmt.dims is None else tuple([self._bound(d) for d in stmt.dims])
        place, previous = self._here(), self._current.get(tensor)
        shape = self.shapes.declared(tensor, self._rank(tensor), place, at, previous)
        self._current[tensor] = shape
        self._stamp(tensor)
        if dims is None:
            asked = [about_mode(tensor, m, s, place, at) for m, s in enumerate(shape.sizes)]
            return replace(stmt, init=init, dims=tuple([self.sizes.ask(q) for q in asked]))
        shape.settled = True
        if len(dims) != len(shape.sizes):
            raise wrong_rank("the declaration", len(dims), tensor, self._rank(tensor), "size", at)
        for mode, (size, dim) in enumerate(zip(shape.sizes, dims, strict=True)):
            use = unwritten(tensor, mode, at)
            self.sizes.say(size, Source(dim, use, 0, place))
            self._not_negative.append(([dim], use))
        return replace(stmt, init=init, dims=dims)

    # -- conditions --------------------------------------------------------------------------------

    @contextmanager
    def _where(self, cond: Expr, holds: bool) -> Iterator[None]:
        """What stands where a condition holds, or where it does not."""
        before = len(self._said)
        self._said += said_by(cond, holds, self._sum)
        yield
        del self._said[before:]

    def _sum(self, expr: Expr) -> Linear:
        return linear(expr, None, self._meaning)

    def _meaning(self, expr: Expr) -> Linear | None:
        """What an index or a name stands for in a sum."""
        match expr:
            case Index():
                return atom(self._stamps[expr]) if expr in self._stamps else None
            case Name():
                return self._values.get(self._stamps.get(expr, 0))
        return None

    def _ends(self, stamp: int) -> tuple[Linear, Linear]:
        """The first index of a loop, and the last."""
        loop = self._loops[stamp]
        if loop.ends is not None:
            return loop.ends
        size = self.sizes.ask(about_loop("", loop.size, loop.place, None))
        return Linear({}), atom(size).more(-1)

    def _swap(self, stmt: Swap, one: Shape, other: Shape) -> Swap:
        """What is swapped has one size."""
        for shape in (one, other):
            self.shapes.settle(shape)
            self._stamp(shape.tensor)
        for a, b in zip(one.sizes, other.sizes, strict=True):
            self.sizes.join(a, b)
        return stmt

    # -- accesses ----------------------------------------------------------------------------------

    def _read(self, expr: Expr) -> Expr:
        """Meet the accesses of an expression, under the conditions under which they are read."""
        match expr:
            case Call(function, (cond, *parts)) if function.name in DECIDES:
                cond = self._read(cond)
                read = []
                for part, holds in zip(parts, DECIDES[function.name], strict=True):
                    with self._where(cond, holds):
                        read.append(self._read(part))
                return Call(function, (cond, *read))
        expr = map_args(expr, self._read)
        return self._read_one(expr) or expr

    def _bound(self, expr: Expr) -> Expr:
        """Read an end of a range, or a size: an integer, as far as that can be seen here."""
        if all(isinstance(e, Literal | Index | Dimension | Call) for e in walk(expr)):
            dtype = dtype_of(expr, {})
            if kind(dtype) not in "iu":
                raise DTypeError(
                    f"{show(expr)} is not an integer",
                    at=self._at,
                    hint="the ends of a range, and sizes, are integers: divide with //",
                )
        return self._read(expr)

    def _read_one(self, expr: Expr) -> Expr | None:
        match expr:
            case Access():
                self._meet(expr, update=False)
            case Dimension(tensor, mode):
                return self._dimension(tensor, mode)
        return None

    def _dimension(self, tensor: str, mode: int) -> Expr | None:
        """`w.shape[0]`: of a tensor that the program declares, what it is at this place."""
        rank = self._rank(tensor)
        if not 0 <= mode < rank:
            raise no_such_mode(tensor, mode, rank, self._at)
        if tensor not in self._declared:
            return None
        shape, here = self._shape_of(tensor, self._at), self._here()
        self.shapes.settle(shape)
        size = shape.sizes[mode]
        if mode in shape.own:
            own = Dimension(tensor, mode)
            self.sizes.say(size, Source(own, unwritten(tensor, mode, self._at), 0, here))
        return self.sizes.ask(about_mode(tensor, mode, size, here, self._at))

    def _meet(self, access: Access, update: bool) -> None:
        """The plain indices of an access run over its modes."""
        tensor, at = str(access.tensor), access.at or self._at
        count, rank = len(access.indices), self._rank(tensor)
        if count != rank:
            raise wrong_rank(show(access), count, tensor, rank, "index", at)
        shape = self._shape_of(tensor, at)
        if not update:
            self.shapes.settle(shape)
        for mode, index in enumerate(access.indices):
            protocol = access.protocols[mode] if access.protocols else ""
            if type(index) is Index and protocol != PERMISSIVE:
                self._run(shape, Use(index.name, access, mode, at), update)

    def _run(self, shape: Shape, use: Use, update: bool) -> None:
        """An index runs over a mode of a tensor."""
        stamp = self._stamps.get(Index(use.index), 0)
        if stamp not in self._loops:
            raise InternalError(f"`{use.index}` is not the index of a loop here", at=use.at)
        loop, size = self._loops[stamp], shape.sizes[use.mode]
        if loop.extent is None:
            self.sizes.join(loop.size, size)
            if update:
                self.sizes.fill(size, stamp)
                shape.filled.add(use.mode)
            if use.mode in shape.own:
                own = Dimension(shape.tensor, use.mode)
                self.sizes.say(size, Source(own, use, stamp, loop.place))
            return
        starts, stops = [loop.extent.start], [loop.extent.stop]
        if self._said:
            bounds = Bounds(self._ends, self._said)
            starts, stops = bounds.starts(stamp), bounds.stops(stamp)
        self._ranges.append((stops, shape, use))
        self._not_negative.append((starts, use))
        if update and shape.open:
            stop = self._size_to(loop.extent.stop, loop.place)
            shape.stops.append((use.mode, Source(stop, use, stamp, loop.place)))
            for part, place in self._not_beyond(loop.extent.stop, loop.place):
                shape.most.append((use.mode, Source(self._size_to(part, place), use, stamp, place)))

    def _size_to(self, stop: Expr, place: Place) -> Expr:
        """The size of what a range up to `stop` fills: no less than 0."""
        match stop:
            case Literal(value):
                return Literal(max(int(value), 0))  # type: ignore[arg-type]
            case Dimension():
                return stop
            case Index():
                extent = self._loops[place.stamps[stop]].extent
                if extent is None or is_zero(extent.start):
                    return stop
        return Call(maximum, (stop, Literal(0)))

    def _not_beyond(self, stop: Expr, place: Place) -> Iterator[tuple[Expr, Place]]:
        """What a range that ends at a minimum ends at or before: `n` of `min(n, 32 * t + 32)`."""
        match stop:
            case Name() if place.stamps.get(stop) in self._minima:
                yield from self._not_beyond(*self._minima[place.stamps[stop]])
            case Call(function, parts) if function is minimum:
                for part in parts:
                    yield part, place
                    yield from self._not_beyond(part, place)

    def _shape_of(self, tensor: str, at: Location | None) -> Shape:
        """The shape of a tensor that is used here."""
        if tensor not in self._current:
            outside = tensor in self._ended
            raise outside_its_block(tensor, at) if outside else undeclared(tensor, at)
        shape = self._current[tensor]
        self.shapes.use(shape)
        return shape

    # -- names, ranks and checks -------------------------------------------------------------------

    def _stamp(self, name: Index | Name | str) -> None:
        """The name means something new from here on, or the tensor has other contents."""
        self._count += 1
        self._stamps[name] = self._count

    def _bind(self, name: Index | Name) -> int:
        """Give a name a new meaning; what it meant before (0: nothing)."""
        outer = self._stamps.get(name, 0)
        self._stamp(name)
        return outer

    def _unbind(self, name: Index | Name, outer: int) -> None:
        self._stamps[name] = outer

    def _here(self) -> Place:
        own = self._declared & self._params
        return Place(dict(self._stamps), {t: s.sizes for t, s in self._current.items() if t in own})

    def _rank(self, tensor: str) -> int:
        if tensor not in self._ndims:
            raise InternalError(f"the number of dimensions of {tensor} is not known", at=self._at)
        return self._ndims[tensor]

    def checks(self) -> Iterator[Check]:
        """What must hold of the arguments' shapes."""
        yield from self.sizes.checks()
        for starts, use in self._not_negative:
            if (least := self.sizes.closest(starts, maximum)) is not None:
                yield Check(Literal(0), least, "<=", use, use)
        for stops, shape, use in self._ranges:
            stop = self.sizes.closest(stops, minimum)
            size: Expr | None = Dimension(shape.tensor, use.mode)
            if use.mode not in shape.own:
                size = self.sizes.constant_size(shape.sizes[use.mode])
            if stop is not None and not is_zero(stop) and size is not None:
                yield Check(stop, size, "<=", use, use)
