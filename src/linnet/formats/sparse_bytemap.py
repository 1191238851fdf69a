"""`SparseByteMap`: flags, and a list of those that are set: random insertion, dense memory."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence, Sequence
from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.codelets.bit_sets import has_bit, set_bit, words_of
from linnet.formats.level import POINTERS, Array, Inner
from linnet.formats.looplets import FILL, Lookup, Looplet, Seek, Spike, Stepper, Switch, Thunk
from linnet.formats.validate import check_flags, check_pointers, check_sorted
from linnet.records import dataclass

Ints = Sequence[int]
Target = MutableSequence[int]

if TYPE_CHECKING:
    import numpy as np

    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class SparseByteMap(Inner):
    """`fiber(p)[i] -> child(p * n + i)` where `tbl[p * n + i]`.

    These i are listed in `idx[ptr[p]:ptr[p + 1]]`.

    While it is written, `key` lists the positions that are set, in the order of their insertion, so
    that declaring it anew takes time in proportion to what was stored and not to its size. Where
    there is only one fiber, positions are indices, and `idx` lists them. Behind the list, `key` has
    the words of a set of bits, by which it is sorted. In a temporary with one fiber these are the
    flags: sixty-four of them are one word, so that most of what has to be sorted is.
    """

    strided: ClassVar[bool] = True
    comparable: ClassVar[bool] = False
    arrays: ClassVar[tuple[Array, ...]] = (
        POINTERS,
        Array("idx", "coordinate"),
        Array("tbl", "flag"),
        Array("key", "table"),
    )

    located: ClassVar[bool] = True

    # -- reading ---------------------------------------------------------------------------------

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        ptr, idx = fiber.buffer("ptr"), fiber.buffer("idx")
        base = fiber.pos * fiber.dim
        if protocol == "follow":
            stored = _is_set(fiber, base + index)
            return Lookup(Switch(stored, fiber.child(base + index), FILL))
        q, target = b.var(f"{fiber.prefix}_q"), b.var("target")
        begin, end = imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1])
        if _is_counted(fiber.storage, fiber.level):
            begin, end = imp.ZERO, _count(fiber.storage, fiber.level)
        child = fiber.child(base + imp.widen(idx[q]))
        seek = Seek(target, b.call("search", idx, q, end, target))
        return Stepper(q, begin, end, imp.widen(idx[q]), Spike(child), seek)

    def entries(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr] | None:
        if _is_counted(storage, level):
            return None
        ptr = storage.buffers[level]["ptr"]
        return imp.widen(ptr[lo]), imp.widen(ptr[hi])

    # -- writing ---------------------------------------------------------------------------------

    def variables(self, storage: Storage, level: int) -> tuple[imp.Var, ...]:
        return (_count(storage, level), _ready(storage, level))

    def declare(self, b: Builder, storage: Storage, level: int) -> None:
        arrays, m, size = storage.buffers[level], _count(storage, level), _ready(storage, level)
        if _is_counted(storage, level):
            clear = imp.Do(b.call("clear_bits", arrays["key"], size, arrays["idx"], m))
        else:
            clear = imp.Do(b.call("clear", arrays["tbl"], size, _listed(storage, level), m))
        b.emit(imp.If(m > 0, imp.Block((clear,)), imp.EMPTY), imp.Assign(m, imp.ZERO))
        if level == 0 and not _is_counted(storage, level):
            b.emit(imp.Grow(arrays["ptr"], imp.Const(2, imp.INT)))

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        arrays, ready = storage.buffers[level], _ready(storage, level)
        with b.collect() as grow:
            size = b.let(f"{storage.prefix(level)}_size", stop * storage.dim(level))
            if level > 0:  # the pointers of the outermost have room from the beginning
                b.emit(imp.Grow(arrays["ptr"], stop + 1))
            fresh = b.let("fresh", ready)
            if not _is_counted(storage, level):
                b.emit(imp.Grow(arrays["tbl"], size))
                b.emit(imp.Fill(arrays["tbl"], fresh, size, imp.FALSE))
            b.emit(imp.Assign(ready, size))
            b.emit(*_room(storage, level))
            storage.below(level).reserve(b, storage, level + 1, size)
            if any(below.per_fiber for below in storage.format.levels[level + 1 :]):
                storage.below(level).initialize(b, storage, level + 1, fresh, size)
        b.emit(imp.If(ready < stop * storage.dim(level), imp.Block(tuple(grow)), imp.EMPTY))

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        storage, level = fiber.storage, fiber.level
        k, dirty = b.var(f"{fiber.prefix}_k"), b.var(f"{storage.name}_dirty", imp.BOOL)
        with b.collect() as empty:
            storage.below(level).initialize(b, storage, level + 1, k, k + 1)
        told = () if fiber.dirty is None else (imp.Assign(fiber.dirty, imp.TRUE),)
        mark = _mark(fiber, k)
        here, new = imp.Let(k, fiber.pos * fiber.dim + index), ~_is_set(fiber, k)
        first = imp.If(new, imp.Block(tuple(empty)), imp.EMPTY)
        keep = [imp.If(dirty & new, imp.Block(mark), imp.EMPTY)]
        if told:
            keep.append(imp.If(dirty, imp.Block(told), imp.EMPTY))
        begin = imp.If(new, imp.Block((*mark, *empty)), imp.EMPTY)
        return Lookup(
            Thunk(
                (here, imp.Let(dirty, imp.FALSE), first), fiber.child(k, dirty=dirty), tuple(keep)
            ),
            sure=Thunk((here, begin, *told), fiber.child(k)),
        )

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        arrays, n, m = storage.buffers[level], storage.dim(level), _count(storage, level)
        ptr, idx, tbl, key = (arrays[name] for name in ("ptr", "idx", "tbl", "key"))
        listed = _listed(storage, level)
        if level > 0:
            b.emit(imp.Grow(ptr, count + 1))
        if _is_counted(storage, level):
            order = "order_bits_if_cheap" if storage.unordered else "order_bits"
            b.emit(imp.Do(b.call(order, key, n, idx, m)))
        elif storage.unordered:
            b.emit(imp.Do(b.call("order_if_cheap", tbl, count * n, listed, m)))
        else:
            bits = _bits(storage, level)
            b.emit(imp.Do(b.call("order", tbl, count * n, listed, m, key, bits)))
        if listed != idx:
            b.emit(imp.Do(b.call(split_keys, key, m, n, count, ptr, idx)))
        elif not storage.temporary:
            b.emit(imp.Store(ptr, imp.ZERO, imp.cast(0, ptr.dtype)))
            b.emit(imp.Store(ptr, imp.ONE, imp.cast(m, ptr.dtype)))
        b.emit(imp.SetLength(ptr, count + 1), imp.SetLength(idx, m))
        b.emit(imp.SetLength(key, imp.ZERO if listed == idx else m))
        b.emit(imp.SetLength(tbl, count * n))
        storage.below(level).freeze(b, storage, level + 1, count * n)

    def thaw(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        arrays, n = storage.buffers[level], storage.dim(level)
        if not _is_counted(storage, level):
            b.emit(imp.Assign(_count(storage, level), imp.widen(arrays["ptr"][count])))
            b.emit(imp.Assign(_ready(storage, level), count * n))
            b.emit(*_room(storage, level))
        storage.below(level).thaw(b, storage, level + 1, count * n)

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        check_pointers(arrays["ptr"], count, len(arrays["idx"]), f"{label}.ptr")
        check_sorted(arrays["ptr"], arrays["idx"], dims[0], f"{label}.idx")
        check_flags(arrays, count, dims[0], label)
        return count * dims[0]


def _is_counted(storage: Storage, level: int) -> bool:
    """Whether a variable says all that pointers would: there is one fiber, written here."""
    return level == 0 and storage.temporary


def _listed(storage: Storage, level: int) -> imp.Buffer:
    """The array that lists the positions that are set."""
    return storage.buffers[level]["key" if level else "idx"]


def _bits(storage: Storage, level: int) -> imp.Expr:
    """Where the set of bits begins: behind the list of positions, if that is not another array."""
    return _ready(storage, level) if level else imp.ZERO


def _room(storage: Storage, level: int) -> Iterator[imp.Stmt]:
    """Grow the lists, so that every position can be listed, and set; none is set."""
    key, size, bits = storage.buffers[level]["key"], _ready(storage, level), _bits(storage, level)
    yield imp.Grow(storage.buffers[level]["idx"], size)
    if level or _is_counted(storage, level) or not storage.unordered:
        yield imp.Grow(key, bits + words_of(size))
        yield imp.Fill(key, bits, bits + words_of(size), imp.ZERO)


def _count(storage: Storage, level: int) -> imp.Var:
    """How many positions are set."""
    return imp.Var(f"{storage.prefix(level)}_n")


def _ready(storage: Storage, level: int) -> imp.Var:
    """How many flags have been cleared since the kernel began."""
    return imp.Var(f"{storage.prefix(level)}_ready")


def _is_set(fiber: Fiber, k: imp.Expr) -> imp.Expr:
    """Whether position k is set."""
    if _is_counted(fiber.storage, fiber.level):
        return has_bit(fiber.buffer("key"), k)
    return fiber.buffer("tbl")[k]


def _mark(fiber: Fiber, k: imp.Var) -> tuple[imp.Stmt, ...]:
    """Set the flag of position k and list it."""
    m, listed = _count(fiber.storage, fiber.level), _listed(fiber.storage, fiber.level)
    flag = imp.Store(fiber.buffer("tbl"), k, imp.TRUE)
    if _is_counted(fiber.storage, fiber.level):
        flag = set_bit(fiber.buffer("key"), k)
    return (
        flag,
        imp.Store(listed, m, imp.cast(k, listed.dtype)),
        imp.Assign(m, m + 1),
    )


def split_keys(key: Ints, m: int, n: int, count: int, ptr: Target, idx: Target) -> None:
    """A codelet: sorted positions p * n + i become the indices i of fibers p."""
    q = 0
    for p in range(count):
        ptr[p] = q
        base = p * n
        while q < m and key[q] < base + n:
            idx[q] = key[q] - base
            q += 1
    ptr[count] = q
