"""Policies of sparse workspaces: how components are inserted and sorted (WORK §5), as codelets.

A policy is a small class. Its codelets are ordinary Python functions that Linnet compiles:

    insert(crd, w, base, e, bucket, order, slots, size) -> id
        Component e (of those that accumulate, counted from 0) is the new one. Say which component
        it is to be: e itself, or an earlier one with the same coordinates.
    sort(crd, w, base, count, order, spare, slots, size)
        Let order[0:count] be the ids of the components, in the order of their coordinates. Those
        that are the same may follow each other, in the order in which they came.
    bucket(i, j, …, n_i, n_j, …)
        A number for the coordinates of a component, given the sizes of the dimensions.
    clear(slots, size, count)
        Let the heads of the table be zero again, when `count` components have been merged.

The coordinates of component e are the words `crd[(base + e) * w + k]` with `k < w`; `order` and
`spare` have room for all components and more. `slots` is a table of `size` heads, which are zero to
begin with, and after them some words for each component: two, if `entries` does not say another
number. Until it sorts, a policy may use `order` as it likes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass, field, fields
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from linnet import imp
from linnet.codelets.components import (
    compare,
    insertion_sort_ids,
    is_sorted,
    sort_ids,
)
from linnet.codelets.latest import clear_hashed, insert_hashed
from linnet.errors import FormatError
from linnet.imp.printer import show
from linnet.python.sending import sendable
from linnet.python.source import source_of
from linnet.python.translate import translate

if TYPE_CHECKING:
    from linnet.codelets.build import Builder

Ints = Sequence[int]
Target = MutableSequence[int]

_MOST_GROWTH = 1000
_TABLED_GROWTH = 0.1  # where what meets soon is found at once: less memory
_ROOMY = 128  # heads of a table for each component, where few accumulate since many meet,
_LONGEST = 1 << 17  # and how many are still in a cache; half of it is enough for others
_FAR = 32  # components of a list that are looked at, and that are sorted by insertion
INSERT = ("int64*", *("int64",) * 4, "int64*", "int64*", "int64")
CLEAR = ("int64*", "int64", "int64")
SORT = ("int64*", *("int64",) * 3, "int64*", "int64*", "int64*", "int64")


def append(
    crd: Ints, w: int, base: int, e: int, bucket: int, order: Target, slots: Target, size: int
) -> int:
    """A component is itself, whatever came before."""
    return e


def sort_all(
    crd: Ints, w: int, base: int, count: int, order: Target, spare: Target, slots: Ints, size: int
) -> None:
    """Sort all components at once."""
    sort_ids(crd, w, base, count, order, spare)


def clear_heads(slots: Target, size: int, count: int) -> None:
    """Empty the table, for the next components."""
    for head in range(size):
        slots[head] = 0


@dataclass(frozen=True)
class Policy:
    """How the components of a sparse workspace accumulate.

    `capacity` is how many accumulate before they are sorted and merged for the first time. `growth`
    says how many do later, as a multiple of those that there are to merge with: less of it takes
    less memory and more time. Where few of the last ones were new, fewer accumulate. With none, it
    is `capacity` each time.

    With `double_buffered`, they are merged into a second array of all components, instead of in
    place. With `pipelined`, another thread sorts and merges while more of them accumulate.
    """

    capacity: int | None = field(default=None, kw_only=True)
    growth: float = field(default=0.75, kw_only=True)
    double_buffered: bool = field(default=False, kw_only=True)
    pipelined: bool = field(default=False, kw_only=True)

    tabled: ClassVar[bool] = True  # there is a table of heads and entries
    entries: ClassVar[int] = 2  # words of the table for each component
    groups: ClassVar[bool] = False  # many components may be moved before they are sorted
    trusted: ClassVar[bool] = False  # the order that sort gives need not be looked at
    insert: ClassVar[Callable[..., int]] = staticmethod(append)
    sort: ClassVar[Callable[..., None]] = staticmethod(sort_all)
    clear: ClassVar[Callable[..., None]] = staticmethod(clear_heads)
    bucket: ClassVar[Callable[..., int] | None] = None
    buckets: ClassVar[bool] = False  # neighbours are in one bucket, if nothing else is said

    def __init_subclass__(cls) -> None:
        """Read the codelets where they are written: later their text may have been replaced.

        What is derived from a policy that is trusted is another one.
        """
        for name in ("insert", "sort", "clear", "bucket"):
            if name in vars(cls) and getattr(cls, name) is not None:
                source_of(plain(getattr(cls, name)))
        if "trusted" not in vars(cls):
            cls.trusted = False

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name in ("capacity", "length") and not (
                value is None or (isinstance(value, int) and 0 < value < 1 << 40)
            ):
                raise FormatError(
                    f"the {f.name} of a {type(self).__name__} workspace is a number of "
                    f"components, not {value!r}"
                )
            if f.name in ("double_buffered", "pipelined") and not isinstance(value, bool):
                raise FormatError(
                    f"a {type(self).__name__} workspace is {f.name} or not, it is not {value!r}",
                    hint="True or False",
                )
        growth: object = self.growth
        if not isinstance(growth, int | float) or not 0 <= growth <= _MOST_GROWTH:
            raise FormatError(
                f"the growth of a {type(self).__name__} workspace is {growth!r}",
                hint=f"from 0, all batches alike, to {_MOST_GROWTH}",
            )

    @property
    def apart(self) -> bool:
        """Whether the all array has arrays of its own."""
        return self.double_buffered or self.pipelined

    def heads(self, b: Builder, first: imp.Expr, capacity: imp.Expr) -> imp.Expr:
        """How many heads the table has, given the first dimension and the capacity."""
        return imp.ZERO

    @property
    def mapping(self) -> FunctionType | None:
        """The function from coordinates to buckets, if there is one."""
        found = type(self).bucket
        return None if found is None else plain(found)

    def stamp(self, ndim: int) -> str:
        """What the code of a policy is known by, where it is not Linnet's own."""
        if self.trusted and self.mapping is None:
            return ""
        registry: dict[str, imp.Function] = {}
        own = type(self)
        for codelet, types in ((own.insert, INSERT), (own.sort, SORT), (own.clear, CLEAR)):
            translate(plain(codelet), types, registry)
        if self.mapping is not None:
            translate(plain(self.mapping), ("int64",) * (2 * ndim), registry)
        text = "\n".join(show(f) for f in registry.values())
        return hashlib.sha256(text.encode()).hexdigest()

    def __reduce__(self) -> tuple[object, ...]:
        """By what it is given; a function that no module has goes as it is."""
        given = {f.name: sendable(getattr(self, f.name)) for f in fields(self)}
        return _policy, (type(self), given)

    def __repr__(self) -> str:
        given = [
            f"{f.name}={_shown(getattr(self, f.name))}"
            for f in fields(self)
            if getattr(self, f.name) != f.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"


def _policy(kind: type[Policy], given: dict[str, Any]) -> Policy:
    return kind(**given)


def plain(codelet: object) -> FunctionType:
    """A codelet, if it is one."""
    if not isinstance(codelet, FunctionType):
        raise FormatError(
            f"{codelet!r} is not a codelet of a policy",
            hint="write it with `def` and put it in the class as a staticmethod",
        )
    return codelet


def _shown(value: object) -> str:
    return getattr(value, "__name__", repr(value))


@dataclass(frozen=True, repr=False)
class Coord(Policy):
    """Coordinate sort: components are listed as they come, and sorted when there are enough."""

    tabled: ClassVar[bool] = False
    groups: ClassVar[bool] = True
    trusted: ClassVar[bool] = True


# -- lists of components by bucket -----------------------------------------------------------------


def insert_listed(
    crd: Ints, w: int, base: int, e: int, bucket: int, order: Target, slots: Target, size: int
) -> int:
    """Look for a component in the list of its bucket; what is not found is put in front.

    Of a long list, the latest ones are looked at: the others are the same when they are sorted.
    What comes next in a list is in `order`, which nobody else needs until they are.
    """
    head = bucket % size
    found, steps = slots[head], 0
    while found != 0 and steps < _FAR and compare(crd, base + found - 1, crd, base + e, w) != 0:
        found = order[found - 1]
        steps += 1
    if found != 0 and steps < _FAR:
        return found - 1
    order[e] = slots[head]
    slots[size + e] = head
    slots[head] = e + 1
    return e


def clear_listed(slots: Target, size: int, count: int) -> None:
    """Empty the lists that are in use."""
    for e in range(count):
        slots[slots[size + e]] = 0


def sort_buckets(
    crd: Ints, w: int, base: int, count: int, order: Target, spare: Target, slots: Ints, size: int
) -> None:
    """List bucket after bucket, each of them sorted; if that is not the order, sort it all."""
    out, most = 0, 0
    for head in range(size):
        found, end = slots[head], out
        while found != 0:
            end += 1
            found = order[found - 1]
        most = max(most, end - out)
        if most > _FAR:
            break
        found = slots[head]
        for t in range(end - out):  # the latest comes first
            spare[end - 1 - t] = found - 1
            found = order[found - 1]
        insertion_sort_ids(crd, w, base, out, end, spare)
        out = end
    for t in range(out):
        order[t] = spare[t]
    if most > _FAR or not is_sorted(crd, w, base, count, order):
        sort_ids(crd, w, base, count, order, spare)


@dataclass(frozen=True, repr=False)
class Bucket(Policy):
    """Bucket sort: components that are the same are combined as they come, found by bucket.

    `h(i, j, …, n_i, n_j, …)` is a function in restricted Python that says which of `length`
    buckets coordinates belong to. By default, each bucket has as many that follow each other.
    """

    h: Callable[..., int] | None = None
    length: int | None = None
    growth: float = field(default=_TABLED_GROWTH, kw_only=True)

    buckets: ClassVar[bool] = True
    entries: ClassVar[int] = 1
    trusted: ClassVar[bool] = True
    insert: ClassVar[Callable[..., int]] = staticmethod(insert_listed)
    sort: ClassVar[Callable[..., None]] = staticmethod(sort_buckets)
    clear: ClassVar[Callable[..., None]] = staticmethod(clear_listed)

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        if self.h is not None and isinstance(self.h, FunctionType) and self.length is not None:
            source_of(plain(self.h))
        elif self.h is not None:
            raise FormatError(
                "the function of a Bucket workspace is a plain function, given with a length",
                hint="ln.Bucket(h, 1024) with `def h(i, j, n_i, n_j): return i % 1024`",
            )

    @property
    def mapping(self) -> FunctionType | None:
        assert self.h is None or isinstance(self.h, FunctionType)
        return self.h

    def heads(self, b: Builder, first: imp.Expr, capacity: imp.Expr) -> imp.Expr:
        if self.length is not None:
            return imp.Const(self.length, imp.INT)
        return imp.maximum(capacity, 1)


# -- a hash table ----------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Hash(Policy):
    """Components are looked for by a hash of their coordinates, and sorted when there are enough.

    `length`, a power of two, is that of the table, which knows the latest one of each hash.
    """

    length: int | None = None
    growth: float = field(default=_TABLED_GROWTH, kw_only=True)

    entries: ClassVar[int] = 1
    trusted: ClassVar[bool] = True
    insert: ClassVar[Callable[..., int]] = staticmethod(insert_hashed)
    clear: ClassVar[Callable[..., None]] = staticmethod(clear_hashed)
    groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Policy.__post_init__(self)
        if self.length is not None and self.length & (self.length - 1):
            raise FormatError(f"the table of a Hash workspace is a power of two, not {self.length}")

    def heads(self, b: Builder, first: imp.Expr, capacity: imp.Expr) -> imp.Expr:
        if self.length is not None:
            return imp.Const(2 * self.length, imp.INT)
        room = _ROOMY * (self.capacity or 1024)
        return imp.Const(2 << (room - 1).bit_length() if room <= _LONGEST else _LONGEST, imp.INT)


# -- a heap ----------------------------------------------------------------------------------------


def insert_heap(
    crd: Ints, w: int, base: int, e: int, bucket: int, order: Target, slots: Target, size: int
) -> int:
    """Let a component rise in the heap that `order` is, with the first one at the top."""
    at = e
    while at > 0 and compare(crd, base + e, crd, base + order[(at - 1) >> 1], w) < 0:
        order[at] = order[(at - 1) >> 1]
        at = (at - 1) >> 1
    order[at] = e
    return e


def sort_heap(
    crd: Ints, w: int, base: int, count: int, order: Target, spare: Target, slots: Ints, size: int
) -> None:
    """Take the first one off until none is left; equal ones come out in the order of their ids."""
    for t in range(count):
        spare[t] = order[0]
        left = count - 1 - t
        e = order[left]
        at, child = 0, 1
        while child < left:
            if child + 1 < left and _comes_first(crd, w, base, order[child + 1], order[child]):
                child += 1
            if not _comes_first(crd, w, base, order[child], e):
                break
            order[at] = order[child]
            at = child
            child = 2 * at + 1
        order[at] = e
    for t in range(count):
        order[t] = spare[t]


def _comes_first(crd: Ints, w: int, base: int, a: int, b: int) -> bool:
    found = compare(crd, base + a, crd, base + b, w)
    return found < 0 or (found == 0 and a < b)


@dataclass(frozen=True, repr=False)
class Heap(Policy):
    """A heap of components, the first one at the top: sorted as they are inserted (Buluç)."""

    tabled: ClassVar[bool] = False
    trusted: ClassVar[bool] = True
    insert: ClassVar[Callable[..., int]] = staticmethod(insert_heap)
    sort: ClassVar[Callable[..., None]] = staticmethod(sort_heap)
