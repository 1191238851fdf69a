"""Random statements and blocks.

A tensor belongs to the block that declares it, and each statement of that block either reads or
writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import inf

import numpy as np
from tests.oracle.data import square
from tests.oracle.expressions import Expressions
from tests.oracle.formats import INSERTING, RESULTS, WRITTEN, formats, workspaces
from tests.oracle.indices import combine
from tests.oracle.scopes import ANY, Known, Running, Scope, Wish
from tests.oracle.values import UPDATES, Typed, call, converted, limited, updated

import linnet as ln
from linnet import loops
from linnet.algebra import table
from linnet.algebra.derive import is_lawful
from linnet.algebra.dtypes import as_python, concrete, fits, kind, promote
from linnet.algebra.function import Function
from linnet.formats.combining import merges
from linnet.formats.format import Format
from linnet.formats.named import stack
from linnet.loops.rewrite import block

NAMES = tuple("ijklmpqrst")

Inner = Callable[[tuple[Running, ...]], loops.Stmt]
"""Writes what is inside some loops."""


class Statements(Expressions):
    """Writes statements."""

    # -- blocks ----------------------------------------------------------------------------------

    def block(self, scope: Scope) -> loops.Stmt:
        """One or more statements, perhaps around a temporary."""
        if self.style.temporaries and self.left > 1 and self.one_in(2):
            carried = self.anchors and len(scope.loops) < self.style.depth and self.one_in(3)
            return self.with_carried(scope) if carried else self.with_temporary(scope)
        stmts = [self.statement(scope, ANY)]
        while self.left > 0 and self.one_in(3):
            stmts.append(self.statement(scope, ANY))
        return block(stmts)

    def with_temporary(self, scope: Scope) -> loops.Stmt:
        """Declare, update, read; and if its format can take it, update and read again."""
        again = self.one_in(3)
        name = self.new_temporary(INSERTING if again else WRITTEN)
        writing = replace(scope, writes=scope.writes | {name})
        reading = replace(scope, reads=scope.reads | {name})
        write, read = Wish(write=name), Wish(read=name)
        stmts = [self.statement(writing, write), self.statement(reading, read)]
        if again:
            stmts += [self.statement(writing, write), self.statement(reading, read)]
        return block([self.declaration(name, stmts, scope), *stmts])

    def with_carried(self, scope: Scope) -> loops.Stmt:
        """A scalar that a loop updates and reads: each iteration has what the one before left."""
        name = self.new_temporary((), 0)
        whole = kind(self.tensors[name].dtype) in "biu"  # wraps, and stays exact
        writing = replace(scope, writes=scope.writes | {name})
        reading = replace(scope, reads=scope.reads | {name})
        if whole:
            bound = converted(Typed(loops.Literal(0), "int64", inf), self.tensors[name].dtype)
            assert bound is not None
            self.tensors[name] = replace(self.tensors[name], bound=bound)

        def body(running: tuple[Running, ...]) -> loops.Stmt:
            inside = (reading if whole else writing).inside(*running)
            update = self.assign(replace(inside, writes=writing.writes), Wish(write=name))
            use = self.statement(reading.inside(*running), Wish(read=name))
            return block([use, update] if self.one_in(2) else [update, use])

        self.left -= 1
        dims = [self.choose(list(self.anchors)) for _ in range(self.choose((1, 1, 2)))]
        loop = self.loop(scope, dims, body)
        return block([self.declaration(name, [loop], scope), loop])

    def new_temporary(self, kinds: tuple[type, ...], ndim: int | None = None) -> str:
        """A tensor of few dimensions; a scalar may end the loops that update it."""
        name = f"w{len(self.temporaries)}"
        if ndim is None:
            ndim = self.choose((1, 0, 2, 1)) if self.anchors else 0
        dims = tuple(self.choose(list(self.anchors)) for _ in range(ndim))
        format, op = self.draw(formats(ndim, kinds)), None
        if not dims and self.one_in(3):
            format = stack(ln.ShortCircuit(format.fill_value, format.dtype))
        if dims and kinds is not INSERTING and not self.one_in(3):
            format = self.draw(workspaces(ndim))
            op = self.choose(merging(format))
        self.temporaries[name] = format
        self.tensors[name] = Known(name, dims, format, fill_size(format), op)
        return name

    def declaration(self, name: str, stmts: list[loops.Stmt], scope: Scope) -> loops.Declare:
        """Dimensions follow from full loops; where others write, they are said."""
        tensor = self.tensors[name]
        fill = tensor.format.fill_value
        assert fill is not None
        typed = kind(tensor.dtype) != "b" and self.one_in(2)
        init = loops.Literal(fill, tensor.dtype if typed else None)
        partial = frozenset(r.index for r in scope.loops if not r.full)
        writes = list(plain_writes(loops.Block(tuple(stmts)), name, partial))
        early = tensor.steady and name in self.outputs  # it may be read before it is written
        plain = all(writes) and name not in self.visited and not early
        if tensor.dims and writes and plain and not self.one_in(5):
            return loops.Declare(name, init)
        return loops.Declare(name, init, tuple(self.anchors[d] for d in tensor.dims) or None)

    # -- statements ------------------------------------------------------------------------------

    def statement(self, scope: Scope, wish: Wish) -> loops.Stmt:
        """One statement that does what is wished."""
        self.left -= 1
        if scope.outermost:
            self.room = self.style.room
        name = wish.write or wish.read
        running = {r.dim for r in scope.loops}
        missing = [d for d in self.tensors[name].dims if d not in running] if name else []
        nests = bool(self.anchors) and len(scope.loops) < self.style.depth
        deeper = nests and (
            self.one_in(2) if scope.loops else self.style.nested or not self.one_in(8)
        )
        if missing or deeper:
            return self.nest(scope, missing, wish)
        if self.style.branches and self.one_in(2 if self.style.leaves else 3):
            return self.branch(scope, wish)
        if self.style.branches and self.one_in(5):
            return self.let(scope, wish)
        return self.assign(scope, wish)

    def nest(self, scope: Scope, wanted: list[str], wish: Wish) -> loops.Stmt:
        """Loops over the dimensions of some tensor, in any order, and a block inside."""
        dims = list(dict.fromkeys(wanted))
        if not dims or self.one_in(3):
            candidates = [t for t in sorted(scope.reads) if self.tensors[t].dims]
            more = self.tensors[self.choose(candidates)].dims if candidates else ()
            dims += [d for d in more if d not in dims or self.one_in(3)]
        dims = dims or [self.choose(list(self.anchors))]
        room = max(len(wanted), self.style.depth - len(scope.loops), 1)

        def body(running: tuple[Running, ...]) -> loops.Stmt:
            self.left += 1
            inside = scope.inside(*running)
            stmt = self.block(inside) if wish == ANY else self.statement(inside, wish)
            return self.perhaps_left(inside, stmt)

        return self.loop(scope, self.shuffled(dims[:room]), body)

    def perhaps_left(self, scope: Scope, stmt: loops.Stmt) -> loops.Stmt:
        """What a loop does; now and then it is left before or after that."""
        if not self.style.leaves or not self.one_in(3):
            return stmt
        cond = self.condition(scope).expr
        if isinstance(cond, loops.Call) and len(set(cond.args)) == 1:
            return stmt  # `i == i`: a loop of one turn
        leave = loops.If(cond, loops.Break(), loops.NOTHING)
        return block(self.shuffled([leave, stmt]))

    def loop(
        self, scope: Scope, dims: list[str], inner: Inner, open: tuple[Running, ...] = ()
    ) -> loops.Stmt:
        """Loops over these dimensions."""
        if not dims:
            return inner(open)
        taken = {r.index for r in scope.loops}
        index = next(n for n in NAMES if n not in taken)
        if self.style.tiles and self.one_in(2):
            return self.tiles(scope, index, dims, inner, open)
        extent, running = self.extent(scope, index, dims[0])
        body = self.loop(scope.inside(running), dims[1:], inner, (*open, running))
        said = index in self.hosts or not self.implied(body, index)
        if extent is None and (said or self.one_in(8)):
            extent = loops.Extent(loops.Literal(0), self.anchors[dims[0]])
        return loops.Loop(index, extent, body)

    def tiles(
        self, scope: Scope, index: str, dims: list[str], inner: Inner, open: tuple[Running, ...]
    ) -> loops.Stmt:
        """A loop over parts of a dimension, as one writes them: in order and apart, or not."""
        running, size = Running(index, dims[0], full=False), self.anchors[dims[0]]
        body = self.loop(scope.inside(running), dims[1:], inner, (*open, running))
        counter, c = f"{index}_tile", self.choose((2, 1, 3))
        t, full = loops.Index(counter), combine(table.floor_divide, size, c)
        first, count = combine(table.multiply, t, c), combine(table.add, full, 1)
        last = combine(table.add, first, c)
        after = combine(table.multiply, combine(table.add, t, 1), c)
        behind = combine(table.subtract, size, first)
        least: Callable[[loops.Expr, loops.Expr], loops.Expr] = partial(combine, table.minimum)
        start, stop, count = self.choose(
            [
                (first, least(size, last), count),
                (first, least(after, size), count),
                (least(size, first), least(size, after), count),
                (first, after, full),
                (combine(table.add, first, 1), least(size, last), full),
                (t, least(size, combine(table.add, t, c)), full),
                (combine(table.subtract, behind, c), behind, full),
            ]
        )
        stmt = loops.Loop(index, loops.Extent(start, stop), body)
        return loops.Loop(counter, loops.Extent(loops.Literal(0), count), stmt)

    def extent(self, scope: Scope, index: str, dim: str) -> tuple[loops.Extent | None, Running]:
        """How far a loop runs; None for the whole dimension."""
        if not self.style.ranges or not self.one_in(2 if self.style.beside else 4):
            return None, Running(index, dim)
        part, size, zero = Running(index, dim, full=False), self.anchors[dim], loops.Literal(0)
        c = self.choose((1, 2))
        start, shorter = loops.Literal(c), combine(table.subtract, size, c)
        options = [
            (loops.Extent(start, size), replace(part, low=c)),
            (loops.Extent(zero, shorter), replace(part, high=c)),
            (loops.Extent(start, shorter), replace(part, low=c, high=c)),
            (loops.Extent(zero, combine(table.floor_divide, size, 2)), replace(part, stride=2)),
        ]
        for i in (loops.Index(r.index) for r in scope.loops if r.dim == dim):
            after = combine(table.add, i, 1)
            options += [
                (loops.Extent(zero, i), part),
                (loops.Extent(i, size), part),
                (loops.Extent(after, size), replace(part, low=1)),
                (loops.Extent(zero, after), part),
            ]
        return self.choose(options)

    def branch(self, scope: Scope, wish: Wish) -> loops.Stmt:
        """`if …: … else: …`"""
        guest = self.guest(scope)
        inside, cond = guest or (scope.inside(), self.condition(scope).expr)
        scope = scope.inside()
        then = self.inner(inside, wish)
        orelse: loops.Stmt = loops.NOTHING
        if self.one_in(2) and self.left > 0:
            orelse = self.inner(scope, wish)
        return loops.If(cond, then, orelse)

    def guest(self, scope: Scope) -> tuple[Scope, loops.Expr] | None:
        """`if i < A.shape[0]: …`, in a loop over another dimension; now and then."""
        if not self.style.ranges or not scope.loops or not self.one_in(4):
            return None
        host, dim = self.choose(scope.loops), self.choose(list(self.anchors))
        high, i, size = self.choose((0, 1)), loops.Index(host.index), self.anchors[dim]
        shifted = combine(table.add, i, high) if high else i
        running = Running(host.index, dim, host.low, high, full=False, guest=True)
        self.hosts.add(host.index)
        if self.one_in(2):
            return scope.inside(running), loops.Call(table.greater, (size, shifted))
        return scope.inside(running), loops.Call(table.less, (shifted, size))

    def inner(self, scope: Scope, wish: Wish) -> loops.Stmt:
        if wish != ANY or self.left <= 0:
            return self.statement(scope, wish)
        return self.block(scope)

    def let(self, scope: Scope, wish: Wish) -> loops.Stmt:
        """`x = …`, and a statement that may use it."""
        value = self.expression(scope, self.choose((1, 0, 2)), wish.read)
        name, self.lets = f"x{self.lets}", self.lets + 1
        known = Typed(loops.Name(name), value.dtype, value.bound, value.value)
        return loops.Let(
            name, value.expr, self.inner(replace(scope, lets=(*scope.lets, known)), wish)
        )

    # -- assignments -----------------------------------------------------------------------------

    def assign(self, scope: Scope, wish: Wish) -> loops.Stmt:
        """Write a value, or update with it."""
        depth = self.choose(tuple(range(self.style.terms + 1)))
        value = self.expression(scope, depth, wish.read)
        target = self.target(scope, wish.write)
        tensor = self.tensors[str(target.tensor)]
        held = Typed(target, tensor.dtype, tensor.bound)
        ops = [None, None] if self.one_in(4) else [self.choose(UPDATES), None]
        ops = [tensor.op] if tensor.merges else ops
        value, whole = fitting(tensor, value), value
        for op in ops:
            value = cut(tensor, whole) if op is None and self.style.cut else whole
            bound = updated(held, op, value, scope.rounds * self.style.longest ** len(scope.loops))
            merged = bound is not None and tensor.merges and op is not None
            if merged and not is_lawful(op, tensor.dtype, value.dtype):
                bound = None  # it would be cut after the update, which is refused
            if bound is not None and (not tensor.steady or stays(tensor, bound)):
                break
        else:  # neither can be exact
            one = loops.Literal(as_python(1, tensor.dtype), tensor.dtype)
            bound, value = max(tensor.bound, 1), Typed(one, tensor.dtype, 1)
            if op is not None:  # a workspace: nothing may be written to it, but the identity
                assert tensor.format.fill_value is not None
                one = loops.Literal(tensor.format.fill_value, tensor.dtype)
                bound, value = tensor.bound, Typed(one, tensor.dtype, tensor.bound)
        self.tensors[tensor.name] = replace(tensor, bound=bound)
        return loops.Assign(target, op, value.expr)

    def target(self, scope: Scope, wanted: str | None) -> loops.Access:
        """Where to write: the tensor asked for, another that fits, or a new output."""
        fitting = [n for n in self.outputs if n not in scope.reads]
        names = [wanted] if wanted else sorted({*scope.writes, *fitting})
        if wanted or len(self.outputs) >= 3 or not self.one_in(3):
            for name in self.shuffled(names):
                access = self.access(scope, self.tensors[name], update=True)
                if access is not None:
                    return access
        return self.new_output(scope)

    def new_output(self, scope: Scope) -> loops.Access:
        """An output whose modes are some of the indices of the loops around."""
        name, running = f"Y{len(self.outputs)}", self.shuffled(list(scope.loops))
        count = max(len(running) - self.choose((0, 1, 0, 2)), 0)
        dims = tuple(r.dim for r in running[:count])
        format = self.draw(formats(count, self.kinds(RESULTS)))
        if square(dims, format) != dims:
            format = self.draw(formats(count, RESULTS))
        alike = [t.format for t in self.tensors.values() if t.name in self.operands()]
        alike = [f for f in alike if f.ndim == count and square(dims, f) == dims]
        if alike and self.one_in(6):
            format = self.choose(alike)
        self.outputs.append(name)
        if any(r.guest for r in running[:count]):
            self.visited.add(name)
        self.tensors[name] = Known(name, dims, format, fill_size(format))
        return loops.Access(name, tuple(loops.Index(r.index) for r in running[:count]))


def merging(format: Format) -> list[Function | None]:
    """The functions by which a workspace of this format may be updated."""
    assert format.dtype is not None
    assert format.fill_value is not None
    fill, dtype = format.fill_value, format.dtype
    return [None, *(op for op in dict.fromkeys(UPDATES) if merges(op, dtype, fill, dtype))]


def fitting(tensor: Known, value: Typed) -> Typed:
    """A value as an update takes it: a workspace may take none that is cut after the update."""
    op = tensor.op
    if op is None or call(op, Typed(value.expr, tensor.dtype, tensor.bound), value) is None:
        return value  # in another way, or not at all
    lawful = is_lawful(op, tensor.dtype, value.dtype)
    return value if lawful else call(table.astype[tensor.dtype], value) or value


def cut(tensor: Known, value: Typed) -> Typed:
    """A value as a tensor can hold it: digits are lost only where that is said."""
    if isinstance(value.expr, loops.Literal) and kind(tensor.dtype) in "biu":
        holds = value.value is not None and fits(value.value, tensor.dtype)
    else:
        weak = value.dtype.startswith("weak_")
        result = promote(value.dtype, tensor.dtype) if weak else value.dtype
        holds = np.can_cast(concrete(result), tensor.dtype, "same_kind")
    return value if holds else call(table.astype[tensor.dtype], value) or value


def stays(tensor: Known, bound: float) -> bool:
    """Whether a bound is within that of a tensor; integers wrap."""
    found = limited(bound, tensor.dtype)
    return found is not None and found <= tensor.bound


def fill_size(format: Format) -> float:
    """The magnitude of what an empty tensor holds."""
    fill = abs(format.fill_value or 0)
    return fill if fill < float("inf") else 0  # infinities and NaN stay what they are


def plain_writes(stmt: loops.Stmt, name: str, partial: frozenset[str]) -> Iterator[bool]:
    """For every write to a tensor: are all its indices those of full loops?"""
    match stmt:
        case loops.Assign(target) if target.tensor == name:
            yield all(isinstance(i, loops.Index) and i.name not in partial for i in target.indices)
        case loops.Loop(index, extent, body):
            yield from plain_writes(body, name, _with(partial, index, extent))
        case loops.If(_, then, orelse):
            yield from plain_writes(then, name, partial)
            yield from plain_writes(orelse, name, partial)
        case loops.Let(_, _, body):
            yield from plain_writes(body, name, partial)
        case loops.Block(stmts):
            for s in stmts:
                yield from plain_writes(s, name, partial)


def _with(partial: frozenset[str], index: str, extent: loops.Extent | None) -> frozenset[str]:
    match extent:
        case None | loops.Extent(loops.Literal(0), loops.Dimension()):
            return partial - {index}
        case _:
            return partial | {index}
