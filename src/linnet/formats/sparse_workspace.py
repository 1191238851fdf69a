"""`SparseWorkspace(n, policy)`: n dimensions, written in any order: insert, sort, merge (WORK §4).

Components accumulate behind those that are sorted already, the *all array*. When there are enough
of them, or no more to come, they are sorted and merged into it. How they are inserted and sorted
is up to a policy; reading walks the all array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linnet import imp
from linnet.codelets.components import coordinate, last_coordinate, seek_coordinate
from linnet.errors import FormatError
from linnet.formats.accumulation import Accumulation, Variables
from linnet.formats.fiber import Fiber
from linnet.formats.level import Array, Inner, Level
from linnet.formats.looplets import Lookup, Looplet, Seek, Spike, Stepper, Thunk
from linnet.formats.packing import (
    Arrays,
    Entries,
    Fibers,
    Ints,
    distinct,
    pack_level,
    pointers,
    ranges,
    unpack_level,
)
from linnet.formats.pipelining import Pipeline
from linnet.formats.policies import Coord, Policy
from linnet.formats.validate import check_length, check_pointers, check_sorted_coordinates
from linnet.options import current
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Storage

_LARGEST = 2**63 - 1
_ARRAYS = (
    Array("ptr", "position"),
    Array("crd", "table"),
    Array("order", "table"),
    Array("slots", "table"),
    Array("run", "table"),
    Array("late", "value"),
)
_APART = (Array("all_crd", "table"), Array("all_val", "value"))
_PIPELINED = (
    Array("full_crd", "table"),
    Array("full_val", "value"),
    Array("full_order", "table"),
    Array("full_slots", "table"),
    Array("told", "table"),
)


@dataclass(frozen=True, init=False, repr=False)
class SparseWorkspace(Inner):
    """Component q has the words `crd[q * w : q * w + w]`, and they rise; there are `ptr[1]`.

    It has one word, the number of its coordinates in row-major order, where all those numbers have
    64 bits, and otherwise a word for each coordinate. While the level is written, further
    components lie behind, as they come: how they are found is the policy's affair. Sorted, they are
    a `run` with the values `late`. Where there are two all arrays, or two accumulation arrays, the
    all array is in `all_crd` then. What another thread is merging has arrays that are `full`.
    """

    merges: ClassVar[bool] = True
    outermost: ClassVar[bool] = True

    n: int
    policy: Policy

    def __init__(
        self, n: int, policy: Policy | Level | None = None, child: Level | None = None
    ) -> None:
        if isinstance(policy, Level):
            policy, child = None, policy
        _check_arguments(n, policy, child)
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "policy", policy or Coord())
        object.__setattr__(self, "child", child)
        self.__post_init__()

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.n

    @property
    def arrays(self) -> tuple[Array, ...]:  # type: ignore[override]
        apart = _APART if self.policy.apart else ()
        return (*_ARRAYS, *apart, *(_PIPELINED if self.policy.pipelined else ()))

    @property
    def stamp(self) -> str:
        checked = "checked " if current().check else ""
        return checked + self.policy.stamp(self.n)

    def label(self, child: str) -> str:
        return f"SparseWorkspace({self.n}, {self.policy!r}, {child})"

    # -- reading ---------------------------------------------------------------------------------

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        crd, ptr, k = fiber.buffer("crd"), fiber.buffer("ptr"), fiber.sub
        first = (imp.widen(ptr[0]), imp.widen(ptr[1]), imp.ZERO, self.words(b, fiber.storage))
        begin, end, prefix, w = fiber.state or first
        stride = _stride(fiber.storage, k)
        q, target = b.var(f"{fiber.prefix}_q"), b.var("target")

        def find(where: imp.Expr) -> imp.Expr:
            return b.call(seek_coordinate, crd, w, q, end, k, prefix, stride, where)

        seek = Seek(target, find(target))
        if k == self.n - 1:
            last = b.call(last_coordinate, crd, w, q, k, prefix)
            return Stepper(q, begin, end, last, Spike(fiber.child(q)), seek)
        here, stop = b.var(f"{fiber.prefix}_i"), b.var(f"{fiber.prefix}_stop")
        known = b.call(coordinate, crd, w, q, end, k, prefix, stride)
        state = (q, stop, prefix + here * stride, w)
        inner = Fiber(fiber.storage, fiber.level, fiber.pos, k + 1, state)
        return Stepper(
            q, begin, end, here, Spike(inner), seek,
            setup=(imp.Let(here, known), imp.Let(stop, find(here + 1))),
            next=(imp.Assign(q, stop),),
        )  # fmt: skip

    def entries(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        ptr = storage.buffers[level]["ptr"]
        return imp.widen(ptr[lo]), imp.widen(ptr[hi])

    def words(self, b: Builder, storage: Storage) -> imp.Expr:
        """How many words a component has: one, if all numbers of coordinates have 64 bits."""
        if self.n == 1 or (self.n == 2 and _is_narrow(storage)):
            return imp.ONE
        room: imp.Expr = imp.Const(_LARGEST, imp.INT)
        for k in range(self.n):
            room = imp.binary("div", room, imp.maximum(storage.dim(0, k), 1))
        words = imp.Select(room > 0, imp.ONE, imp.Const(self.n, imp.INT))
        return b.let(f"{storage.prefix(0)}_words", words)

    # -- writing ---------------------------------------------------------------------------------

    def variables(self, storage: Storage, level: int) -> tuple[imp.Var, ...]:
        v = Variables(storage)
        return (v.count, v.stored, v.fresh, v.capacity, v.heads, v.full_heads, v.w)

    def declare(self, b: Builder, storage: Storage, level: int) -> None:
        v = Variables(storage)
        b.emit(*(imp.Assign(var, imp.ZERO) for var in (v.count, v.stored, v.fresh)))
        b.emit(imp.Assign(v.w, self.words(b, storage)))
        accumulation = self._begin(b, storage)
        with b.collect() as room:
            accumulation.make_room()
        with b.collect() as again:  # what was read the last time lies where these are to lie
            accumulation.make_room_behind()
        b.emit(imp.If(v.capacity < 1, imp.Block(tuple(room)), imp.Block(tuple(again))))

    def _begin(self, b: Builder, storage: Storage) -> Accumulation:
        """Nothing has accumulated yet."""
        accumulation = Accumulation(b, storage, self.policy)
        accumulation.begin()
        if self.policy.pipelined:
            Pipeline(accumulation).begin()
        return accumulation

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        b.emit(imp.Grow(storage.buffers[level]["ptr"], stop + 1))

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        storage, level, state = fiber.storage, fiber.level, (*fiber.state, index)
        if fiber.sub < self.n - 1:
            return Lookup(Fiber(storage, level, fiber.pos, fiber.sub + 1, state))
        v, dirty = Variables(storage), b.var(f"{storage.name}_dirty", imp.BOOL)
        accumulation = Accumulation(b, storage, self.policy)
        keep = accumulation.insert(state)
        with b.collect() as flush:
            (Pipeline(accumulation) if self.policy.pipelined else accumulation).flush()
            accumulation.make_room()
        room = imp.If(v.count >= v.capacity, imp.Block(tuple(flush)), imp.EMPTY)
        leave = imp.If(dirty, imp.Block(keep), imp.EMPTY)
        begin = (room, imp.Let(dirty, imp.FALSE))
        return Lookup(
            Thunk(begin, fiber.child(accumulation.end, dirty=dirty, fresh=True), (leave,)),
            sure=Thunk((room,), fiber.child(accumulation.end, fresh=True), keep),
        )

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        arrays, v = storage.buffers[level], Variables(storage)
        accumulation = Accumulation(b, storage, self.policy)
        if self.policy.pipelined:
            Pipeline(accumulation).wait()
        with b.collect() as flush:
            accumulation.flush(last=True)
        b.emit(imp.If(v.count > 0, imp.Block(tuple(flush)), imp.EMPTY))
        accumulation.exchange()
        ptr = arrays["ptr"]
        b.emit(imp.Store(ptr, imp.ZERO, imp.Const(0, ptr.dtype)))
        b.emit(imp.Store(ptr, imp.ONE, imp.cast(v.stored, ptr.dtype)))
        b.emit(imp.SetLength(ptr, imp.Const(2, imp.INT)))
        b.emit(imp.SetLength(arrays["crd"], v.stored * v.w))
        unused = [array for name, array in arrays.items() if name not in ("ptr", "crd")]
        b.emit(*(imp.SetLength(array, imp.ZERO) for array in unused))
        storage.below(level).freeze(b, storage, level + 1, v.stored)

    def thaw(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        v = Variables(storage)
        b.emit(imp.Assign(v.stored, imp.widen(storage.buffers[level]["ptr"][count])))
        b.emit(imp.Assign(v.count, imp.ZERO), imp.Assign(v.fresh, v.stored))
        b.emit(imp.Assign(v.w, self.words(b, storage)))
        accumulation = self._begin(b, storage)
        accumulation.exchange()
        accumulation.make_room()
        storage.below(level).thaw(b, storage, level + 1, v.stored)

    def validate(self, arrays: Arrays, count: int, dims: tuple[int, ...], label: str) -> int:
        words = _words(dims)
        crd, ptr = arrays["crd"], arrays["ptr"]
        stored = check_pointers(ptr, count, len(crd) // words, f"{label}.ptr")
        check_length(crd, stored * words, f"{label}.crd")
        check_sorted_coordinates(ptr, _coordinates(crd, dims), dims, label)
        return stored


def _check_arguments(n: object, policy: object, child: object) -> None:
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise FormatError(f"SparseWorkspace stores at least one dimension, not {n!r}")
    if policy is not None and not isinstance(policy, Policy):
        raise FormatError(
            f"{policy!r} is not a policy of workspaces", hint="ln.Coord(), ln.Bucket(), ln.Hash()"
        )
    if not isinstance(child, Level) or not child.leaf or not child.arrays:
        raise FormatError(
            "SparseWorkspace stands above values",
            why="its components are coordinates and a value",
            hint="SparseWorkspace(2, ln.Coord(), ln.Element(0.0)); Element(False) for truth values",
        )


def _is_narrow(storage: Storage) -> bool:
    """Whether the dimensions of a temporary have 31 bits: then its positions have no more either.

    Those of what is passed tell how much it stores, whatever its dimensions.
    """
    return storage.temporary and storage.buffers[0]["ptr"].dtype == "int32"


def _stride(storage: Storage, k: int) -> imp.Expr:
    """How far apart the numbers of two neighbours along dimension k are."""
    stride: imp.Expr = imp.ONE
    for j in range(k + 1, storage.format.levels[0].width):
        stride = stride * storage.dim(0, j)
    return stride


# -- in memory -------------------------------------------------------------------------------------


def _words(dims: tuple[int, ...] | list[int]) -> int:
    """How many words a component has."""
    number = 1
    for dim in dims:
        number *= max(dim, 1)
    return 1 if number <= _LARGEST else len(dims)


def _coordinates(crd: Ints, dims: tuple[int, ...] | list[int]) -> list[Ints]:
    """The coordinates of all components, dimension by dimension."""
    if _words(dims) > 1:
        words = crd.reshape(-1, len(dims))
        return [np.ascontiguousarray(words[:, k]) for k in range(len(dims))]
    found: list[Ints] = []
    for dim in reversed(dims):
        found.append(crd % max(dim, 1))
        crd = crd // max(dim, 1)
    return found[::-1]


def _numbered(coordinates: list[Ints], dims: list[int]) -> Ints:
    """The words of components with these coordinates."""
    columns = [c.astype(np.int64) for c in coordinates]
    if _words(dims) > 1:
        return np.stack(columns, axis=1).ravel()
    number = columns[0]
    for column, dim in zip(columns[1:], dims[1:], strict=True):
        number = number * dim + column
    return number


@pack_level.register(SparseWorkspace)
def _(
    level: SparseWorkspace, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    first, below = distinct(fibers, coordinates)
    crd = _numbered([idx[first] for idx in coordinates], dims)
    arrays: dict[str, NDArray[Any]] = {"ptr": pointers(fibers, first), "crd": crd}
    kinds = {"table": np.dtype(np.int64), "value": fibers.content[-1].dtype}
    unused = {a.name: np.empty(0, kinds[a.role]) for a in level.arrays if a.name not in arrays}
    return arrays | unused, below


@unpack_level.register(SparseWorkspace)
def _(level: SparseWorkspace, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner, q = ranges(arrays["ptr"], at)
    return Entries(owner, [idx[q] for idx in _coordinates(arrays["crd"], dims)], q)
