"""`SparseHash`: a hash table of the stored indices: random insertion, sparse memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.append import marks_below
from linnet.formats.level import POINTERS, Array, Inner
from linnet.formats.looplets import Lookup, Looplet, Seek, Spike, Stepper, Thunk
from linnet.formats.validate import check_permutation, check_pointers, check_sorted
from linnet.records import dataclass

if TYPE_CHECKING:
    import numpy as np

    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class Hashed(Inner):
    """Entries inserted in any order: entry e has the coordinate `coord[e]` in list `parent[e]`.

    `table` finds entries while writing. Freezing sorts them: list p has the coordinates
    `idx[ptr[p]:ptr[p + 1]]`, of the entries `sub[ptr[p]:ptr[p + 1]]`.
    """

    arrays: ClassVar[tuple[Array, ...]] = (
        POINTERS,
        Array("idx", "coordinate"),
        Array("sub", "position"),
        Array("table", "table"),
        Array("parent", "position"),
        Array("coord", "coordinate"),
    )
    comparable: ClassVar[bool] = False

    # -- what an entry is: one index of one fiber, unless a level says otherwise -------------------

    @property
    def share(self) -> int:
        """How many children an entry has."""
        return 1

    def lists(self, count: imp.Expr) -> imp.Expr:
        """How many lists of entries the fibers below `count` have."""
        return count

    def entry(self, fiber: Fiber, index: imp.Expr) -> tuple[imp.Expr, imp.Expr]:
        """The list in which an index of a fiber is found, and as what."""
        return fiber.pos, index

    def place(self, fiber: Fiber, index: imp.Expr, e: imp.Expr) -> imp.Expr:
        """The child that entry e has for an index of a fiber."""
        return e

    # -- writing ---------------------------------------------------------------------------------

    def variables(self, storage: Storage, level: int) -> tuple[imp.Var, ...]:
        return (_count(storage, level), _capacity(storage, level))

    def declare(self, b: Builder, storage: Storage, level: int) -> None:
        table, capacity = storage.buffers[level]["table"], _capacity(storage, level)
        b.emit(
            imp.Assign(_count(storage, level), imp.ZERO),
            imp.Assign(capacity, imp.maximum(capacity, 16)),
            imp.Grow(table, capacity),
            imp.Fill(table, imp.ZERO, capacity, imp.ZERO),
        )

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        b.emit(imp.Grow(storage.buffers[level]["ptr"], self.lists(stop) + 1))

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        storage, level, prefix = fiber.storage, fiber.level, fiber.prefix
        table, m = fiber.buffer("table"), _count(storage, level)
        slot, e = b.var(f"{prefix}_slot"), b.var(f"{prefix}_e")
        parent, coordinate = self.entry(fiber, index)
        child = self.place(fiber, index, e)
        found = b.call(
            "hash_find", table, _capacity(storage, level) - 1,
            fiber.buffer("parent"), fiber.buffer("coord"), parent, coordinate,
        )  # fmt: skip
        told = () if fiber.dirty is None else (imp.Assign(fiber.dirty, imp.TRUE),)
        new = _insert(b, fiber, slot, e, (parent, coordinate), self.share)
        insert = imp.If(e < 0, imp.Block(tuple(new)), imp.EMPTY)
        enter = (_make_room(b, fiber), imp.Let(slot, found), imp.Let(e, table[slot] - 1), insert)
        # An entry that turns out not to be written is the last one, and can be taken back.
        before, dirty = b.var(f"{prefix}_before"), b.var(f"{storage.name}_dirty", imp.BOOL)
        saved, forget = marks_below(b, fiber)
        undone = (imp.Store(table, slot, imp.ZERO), imp.Assign(m, before))
        undo = imp.If(m > before, imp.Block(undone), imp.EMPTY)
        leave = imp.If(dirty, imp.Block(told), imp.Block((undo, *forget)))
        begin = (imp.Let(before, m), imp.Let(dirty, imp.FALSE), *saved)
        return Lookup(
            Thunk((*begin, *enter), fiber.child(child, dirty=dirty), (leave,)),
            sure=Thunk((*enter, *told), fiber.child(child)),
        )

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        arrays, m, count = storage.buffers[level], _count(storage, level), self.lists(count)
        ptr, idx, sub = arrays["ptr"], arrays["idx"], arrays["sub"]
        b.emit(imp.Grow(ptr, count + 1), imp.Grow(idx, m), imp.Grow(sub, m))
        b.emit(imp.Do(b.call("group_by_position", arrays["parent"], m, ptr, count, sub)))
        b.emit(imp.Do(b.call("sort_groups", ptr, count, arrays["coord"], idx, sub)))
        b.emit(imp.SetLength(ptr, count + 1))
        b.emit(imp.SetLength(arrays["table"], _capacity(storage, level)))
        b.emit(*(imp.SetLength(arrays[name], m) for name in ("idx", "sub", "parent", "coord")))
        storage.below(level).freeze(b, storage, level + 1, m * self.share)

    def thaw(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        arrays, m = storage.buffers[level], _count(storage, level)
        capacity, table = _capacity(storage, level), arrays["table"]
        b.emit(
            imp.Assign(m, imp.widen(arrays["ptr"][self.lists(count)])),
            imp.Assign(capacity, b.call(table_size, m)),
            imp.Grow(table, capacity),
        )
        rehash = b.call("hash_rehash", table, capacity, arrays["parent"], arrays["coord"], m)
        b.emit(imp.Do(rehash))
        storage.below(level).thaw(b, storage, level + 1, m * self.share)


@dataclass(frozen=True)
class SparseHash(Hashed):
    """`fiber(p)[idx[q]] -> child(sub[q])`, `ptr[p] <= q < ptr[p + 1]`."""

    strided: ClassVar[bool] = True

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        ptr, idx, sub = fiber.buffer("ptr"), fiber.buffer("idx"), fiber.buffer("sub")
        q, target = b.var(f"{fiber.prefix}_q"), b.var("target")
        begin, end = imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1])
        child = fiber.child(imp.widen(sub[q]))
        seek = Seek(target, b.call("search", idx, q, end, target))
        return Stepper(q, begin, end, imp.widen(idx[q]), Spike(child), seek)

    def entries(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        ptr = storage.buffers[level]["ptr"]
        return imp.widen(ptr[lo]), imp.widen(ptr[hi])

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        stored = check_pointers(arrays["ptr"], count, len(arrays["idx"]), f"{label}.ptr")
        check_sorted(arrays["ptr"], arrays["idx"], dims[0], f"{label}.idx")
        check_permutation(arrays["sub"], stored, f"{label}.sub")
        return stored


def _count(storage: Storage, level: int) -> imp.Var:
    """How many entries there are."""
    return imp.Var(f"{storage.prefix(level)}_n")


def _capacity(storage: Storage, level: int) -> imp.Var:
    """The size of the table, a power of two."""
    return imp.Var(f"{storage.prefix(level)}_size")


def _make_room(b: Builder, fiber: Fiber) -> imp.Stmt:
    """Enlarge the table while it is at most half full, so that a slot found stays valid."""
    storage, level = fiber.storage, fiber.level
    m, capacity, table = _count(storage, level), _capacity(storage, level), fiber.buffer("table")
    rehash = b.call(
        "hash_rehash", table, capacity, fiber.buffer("parent"), fiber.buffer("coord"), m
    )
    larger = (imp.Assign(capacity, capacity * 2), imp.Grow(table, capacity), imp.Do(rehash))
    return imp.If((m + 1) * 2 > capacity, imp.Block(larger), imp.EMPTY)


def _insert(
    b: Builder,
    fiber: Fiber,
    slot: imp.Var,
    e: imp.Var,
    entry: tuple[imp.Expr, imp.Expr],
    share: int,
) -> list[imp.Stmt]:
    """A new entry at the end, with empty children."""
    storage, level = fiber.storage, fiber.level
    m, parent, coord = _count(storage, level), fiber.buffer("parent"), fiber.buffer("coord")
    with b.collect() as stmts:
        b.emit(imp.Assign(e, m), imp.Grow(parent, m + 1), imp.Grow(coord, m + 1))
        b.emit(imp.Store(parent, m, imp.cast(entry[0], parent.dtype)))
        b.emit(imp.Store(coord, m, imp.cast(entry[1], coord.dtype)))
        b.emit(imp.Store(fiber.buffer("table"), slot, m + 1), imp.Assign(m, m + 1))
        storage.below(level).reserve(b, storage, level + 1, m * share)
        first = e if share == 1 else e * share
        storage.below(level).initialize(b, storage, level + 1, first, first + share)
    return stmts


def table_size(count: int) -> int:
    """A codelet: a power of two that `count` entries fill at most half."""
    size = 16
    while size < 2 * count:
        size *= 2
    return size
