"""What sequentially written levels share: fibers are written in order.

The count of stored entries is a variable of the kernel. Where the loops visit every fiber once, in
order, the end of a fiber is stored when it is done (`ptr[p + 1] = q`). Elsewhere some fibers may
be skipped, and a cursor `f` follows: pointers below `f` are final, and catch up when a fiber is
opened. Which of the two it is must be one decision for all places that write a level: if lowering
finds that fibers are skipped, it begins again with that knowledge (`lower.program`). A loop that
comes to one fiber after the other ends each of them itself, whether it was opened or not.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.alike import all_alike, both, same_length
from linnet.formats.level import Inner
from linnet.formats.looplets import Lookup, Reserve, Thunk
from linnet.imp.linear import Linear, linear
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage

Code = tuple[imp.Stmt, ...]

DIRECT = "direct"


@dataclass(frozen=True)
class Appended(Inner):
    """A level whose fibers are appended one after the other, with pointers to where each begins."""

    sequential: ClassVar[bool] = True
    pointers: ClassVar[str] = "ptr"  # the name of their array

    def count(self, storage: Storage, level: int) -> imp.Var:
        """The number of entries stored so far."""
        return imp.Var(f"{storage.prefix(level)}_n")

    def variables(self, storage: Storage, level: int) -> tuple[imp.Var, ...]:
        return (self.count(storage, level), _cursor(storage, level))

    def declare(self, b: Builder, storage: Storage, level: int) -> None:
        ptr = _pointers(storage, level)
        b.emit(
            imp.Assign(self.count(storage, level), imp.ZERO),
            imp.Assign(_cursor(storage, level), imp.ZERO),
        )
        if not all(above.full for above in storage.format.levels[:level]):
            b.emit(imp.Grow(ptr, imp.ONE))  # no room has been made for fibers yet
        b.emit(imp.Store(ptr, imp.ZERO, imp.Const(0, ptr.dtype)))

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        b.emit(imp.Grow(_pointers(storage, level), stop + 1))

    def entries(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        ptr = _pointers(storage, level)
        return imp.widen(ptr[lo]), imp.widen(ptr[hi])

    def complete(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        self.complete_pointers(b, storage, level, stop)
        storage.below(level).complete(b, storage, level + 1, self.count(storage, level))

    def complete_pointers(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        """Let the pointers of the fibers below `stop` be read."""
        if level in storage.skipping:
            b.emit(_catch_up(b, storage, level, self.count(storage, level), stop))

    def alike(
        self, b: Builder, storage: Storage, level: int, p: imp.Expr, q: imp.Expr
    ) -> imp.Expr | None:
        ptr, below = _pointers(storage, level), storage.below(level)
        entries = [a for a in storage.buffers[level].values() if a != ptr]
        length, same = same_length(ptr, p, q)

        def each(t: imp.Var) -> imp.Expr | None:
            here, there = imp.widen(ptr[p]) + t, imp.widen(ptr[q]) + t
            equal = reduce(imp.Operators.__and__, [imp.eq(a[here], a[there]) for a in entries])
            return both(b, equal, lambda: below.alike(b, storage, level + 1, here, there))

        return all_alike(b, length, each, same)

    def forget(self, b: Builder, storage: Storage, level: int, start: imp.Expr) -> None:
        f, n = _cursor(storage, level), self.count(storage, level)
        back = imp.Assign(n, imp.widen(_pointers(storage, level)[start])), imp.Assign(f, start + 1)
        b.emit(imp.If(f > start, imp.Block(back), imp.EMPTY))

    def skipped(self, b: Builder, storage: Storage, level: int) -> None:
        """Append what a fiber has that is not visited: nothing, in most levels."""

    def ending(
        self, b: Builder, fiber: Fiber, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[Code, Code] | None:
        storage, level, ptr = fiber.storage, fiber.level, _pointers(fiber.storage, fiber.level)
        if level not in storage.skipping or self._of_skipped(b, storage, level):
            return None
        n = self.count(storage, level)
        before: Code = (imp.Assign(_cursor(storage, level), hi + 1),)
        if lo != imp.ZERO:  # where the first fiber begins is known
            some = imp.Block((_catch_up(b, storage, level, n, lo), *before))
            before = (imp.If(lo < hi, some, imp.EMPTY),)
        return before, (imp.Store(ptr, fiber.pos + 1, imp.cast(n, ptr.dtype)),)

    def _of_skipped(self, b: Builder, storage: Storage, level: int) -> list[imp.Stmt]:
        with b.collect() as empty:
            self.skipped(b, storage, level)
        return empty

    def appended(
        self,
        b: Builder,
        fiber: Fiber,
        q: imp.Var,
        append: tuple[imp.Stmt, ...],
        arrays: list[imp.Buffer],
        at: imp.Var | None = None,
        here: tuple[imp.Stmt, ...] = (),
    ) -> Lookup:
        """The subfiber at `q`, kept by `append` if something is written to it.

        One that may lie elsewhere is `at` a position of its own, found out by the code `here`.
        """
        storage, level = fiber.storage, fiber.level
        place = q if at is None else at
        fresh = not fiber.again or storage.below(level).sequential
        if fiber.again:  # also where an entry is gone on with
            append = (*append, *told(fiber))
        dirty, visits = b.var(f"{storage.name}_dirty", imp.BOOL), b.var("visits")
        saved, restore = _cursors_below(b, fiber)
        keep = imp.If(dirty, imp.Block(append), imp.Block(restore))
        unsure = fiber.child(place, dirty=dirty, fresh=fresh)
        with b.collect() as reserve:
            b.emit(*(imp.Grow(array, q + visits) for array in arrays))
            storage.below(level).reserve(b, storage, level + 1, q + visits)
        return Lookup(
            Thunk((imp.Let(dirty, imp.FALSE), *saved, *here), unsure, (keep,)),
            Reserve(visits, tuple(reserve)),
            sure=Thunk(here, fiber.child(place, fresh=fresh), append),
        )


def place_of(b: Builder, fiber: Fiber, n: imp.Var, alike: imp.Expr) -> tuple[imp.Var, Code]:
    """Where an entry goes that is appended as number n, and the code that finds out.

    Where coordinates may come again, that is the place of the last one, if the two are `alike`.
    """
    if not fiber.again:
        return n, ()
    q = b.var(f"{fiber.prefix}_q")
    return q, (imp.Let(q, n - imp.Cast(alike, imp.INT)), *first_time(b, fiber, q, n))


def first_time(b: Builder, fiber: Fiber, q: imp.Var, n: imp.Var) -> Code:
    """What is done the first time that an entry is come to at `q`, behind all that are stored."""
    if not fiber.again:
        return ()
    with b.collect() as new:
        fiber.storage.below(fiber.level).initialize(b, fiber.storage, fiber.level + 1, q, q + 1)
    return (imp.If(q >= n, imp.Block(tuple(new)), imp.EMPTY),)


def first_of(fiber: Fiber) -> imp.Expr:
    """Where the first entry of a fiber is, or will be, once the fiber is opened."""
    return imp.widen(_pointers(fiber.storage, fiber.level)[fiber.pos])


def told(fiber: Fiber) -> Code:
    """Word to the parent of a fiber that something was written to it."""
    return () if fiber.dirty is None else (imp.Assign(fiber.dirty, imp.TRUE),)


def list_of(
    b: Builder, storage: Storage, level: int, q: imp.Expr, lo: imp.Expr, hi: imp.Expr
) -> imp.Expr:
    """The fiber, of those from lo to hi, in which an entry lies: a search among pointers."""
    return b.call("fiber_of", _pointers(storage, level), lo, hi, q)


def _cursors_below(b: Builder, fiber: Fiber) -> tuple[tuple[imp.Stmt, ...], tuple[imp.Stmt, ...]]:
    """Where the levels below stand, and how to get back there: a fiber given up was not visited."""
    below = fiber.storage.format.levels[fiber.level + 1 :]
    if any(level.covers for level in below):
        return marks_below(b, fiber)  # catching up with fibers appends to them
    saved, restore = [], []
    for level in fiber.storage.skipping:
        pointed = isinstance(fiber.storage.format.levels[level], Appended)
        if level > fiber.level and pointed:
            f = _cursor(fiber.storage, level)
            before = b.var(f"{f.name}_before")
            saved.append(imp.Let(before, f))
            restore.append(imp.Assign(f, before))
    return tuple(saved), tuple(restore)


def around_fiber(b: Builder, fiber: Fiber, q: imp.Var) -> tuple[Code, Code]:
    """Before a fiber is written, and after: its end, and word to the parent if something was.

    It may have been opened before, or be the child of several indices: what counts is what is
    written between the two.
    """
    storage, level, ptr = fiber.storage, fiber.level, _pointers(fiber.storage, fiber.level)
    before: Code = ()
    after: Code = ()
    if level in storage.skipping:
        before = () if fiber.ended else (_catch_up(b, storage, level, q, fiber.pos),)
    else:
        after = (imp.Store(ptr, fiber.pos + 1, imp.cast(q, ptr.dtype)),)
        if fiber.fresh:
            storage.notes[level] = DIRECT
        else:
            storage.found.add(level)
    if fiber.dirty is not None:
        start = b.var(f"{fiber.prefix}_start")
        before += (imp.Let(start, q),)
        after += (imp.Assign(fiber.dirty, fiber.dirty | (q > start)),)
    return before, after


def finish_pointers(b: Builder, storage: Storage, level: int, q: imp.Var, count: imp.Expr) -> None:
    """The pointers of fibers that were not visited, when all is written."""
    reached = b.given(_cursor(storage, level))
    ended = reached is not None and linear(reached - count) == Linear({}, 1)
    if storage.notes.get(level) != DIRECT and not ended:
        b.emit(_catch_up(b, storage, level, q, count))
    b.emit(imp.SetLength(_pointers(storage, level), count + 1))


def _cursor(storage: Storage, level: int) -> imp.Var:
    return imp.Var(f"{storage.prefix(level)}_f")


def _pointers(storage: Storage, level: int) -> imp.Buffer:
    kind = storage.format.levels[level]
    assert isinstance(kind, Appended)
    return storage.buffers[level][kind.pointers]


def _catch_up(b: Builder, storage: Storage, level: int, q: imp.Var, pos: imp.Expr) -> imp.Stmt:
    """`while (f <= pos) ptr[f++] = q`."""
    f, ptr, kind = _cursor(storage, level), _pointers(storage, level), storage.format.levels[level]
    assert isinstance(kind, Appended)
    empty = kind._of_skipped(b, storage, level)
    if empty:
        empty = [imp.If((f > 0) & imp.eq(ptr[f - 1], q), imp.Block(tuple(empty)), imp.EMPTY)]
    body = (*empty, imp.Store(ptr, f, imp.cast(q, ptr.dtype)), imp.Assign(f, f + 1))
    return imp.While(f <= pos, imp.Block(body))


def marks_below(b: Builder, fiber: Fiber) -> tuple[tuple[imp.Stmt, ...], tuple[imp.Stmt, ...]]:
    """How much is stored below a fiber, and how to forget what is stored from there on."""
    saved, restore, storage = [], [], fiber.storage
    for k, level in enumerate(storage.format.levels):
        if k > fiber.level and level.sequential:
            for var in level.variables(storage, k):
                before = b.var(f"{var.name}_before")
                saved.append(imp.Let(before, var))
                restore.append(imp.Assign(var, before))
    return tuple(saved), tuple(restore)
