"""The accumulation array of a sparse workspace: insert, sort, merge (WORK §4), as code.

New components lie behind those of the all array, unless there are two of it or two accumulation
arrays: then the all array has arrays of its own. Codelets of a policy say how components are
inserted and sorted. What is not Linnet's own is looked at: its indices, the component that `insert`
finds, and the order that `sort` gives.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

from linnet import imp
from linnet.codelets.components import ROOM, check_found
from linnet.codelets.condensing import TABLES, group_bits
from linnet.codelets.flushing import keep
from linnet.codelets.guarding import guarded
from linnet.codelets.merging import grown
from linnet.codelets.ordering import last_bits
from linnet.codelets.radix import PLACES
from linnet.errors import FormatError
from linnet.formats.combining import Merging, arrange_codelet, combine, merge_codelet
from linnet.formats.policies import CLEAR, INSERT, SORT, Policy, plain
from linnet.options import current
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Storage

_FIRST = 1024  # components that accumulate, where nobody says how many
_FEW = 1 << 15  # components that are copied, not swapped
_MOST = 1 << 40  # heads of a table


@dataclass(frozen=True, slots=True)
class Variables:
    """The variables of a workspace that is written."""

    storage: Storage

    def _var(self, name: str) -> imp.Var:
        return imp.Var(f"{self.storage.prefix(0)}_{name}")

    @property
    def count(self) -> imp.Var:
        """How many components have accumulated."""
        return self._var("n")

    @property
    def stored(self) -> imp.Var:
        """How many are in the all array."""
        return self._var("all")

    @property
    def fresh(self) -> imp.Var:
        """How many of these the last merge has brought."""
        return self._var("fresh")

    @property
    def capacity(self) -> imp.Var:
        """How many may accumulate."""
        return self._var("cap")

    @property
    def heads(self) -> imp.Var:
        """How many heads the policy's table has."""
        return self._var("heads")

    @property
    def full_heads(self) -> imp.Var:
        """How many heads the table has that belongs to the array that is being merged."""
        return self._var("full_heads")

    @property
    def w(self) -> imp.Var:
        """How many words a component has."""
        return self._var("w")


@dataclass(frozen=True, slots=True)
class Accumulation:
    """What a policy makes of new components, in the code of one workspace."""

    b: Builder
    storage: Storage
    policy: Policy

    @property
    def v(self) -> Variables:
        """The variables of the workspace."""
        return Variables(self.storage)

    @property
    def guards(self) -> bool:
        """Whether the codelets of the policy are somebody else's."""
        return not self.policy.trusted

    @property
    def checks(self) -> bool:
        """Whether what the codelets say is looked at."""
        return self.guards or current().check

    def array(self, name: str) -> imp.Buffer:
        """An array of the level."""
        return self.storage.buffers[0][name]

    @property
    def values(self) -> imp.Buffer:
        """The values of the components in `crd`."""
        return self.storage.buffers[1]["val"]

    @property
    def all(self) -> tuple[imp.Buffer, imp.Buffer]:
        """The all array: its words and its values."""
        if self.policy.apart:
            return self.array("all_crd"), self.array("all_val")
        return self.array("crd"), self.values

    @property
    def base(self) -> imp.Expr:
        """Where the first component lies that has accumulated."""
        return imp.ZERO if self.policy.apart else self.v.stored

    @property
    def end(self) -> imp.Expr:
        """Where the next component comes to lie."""
        return self.v.count if self.policy.apart else self.v.stored + self.v.count

    def begin(self) -> None:
        """Nothing has gone wrong yet."""
        if self.guards:
            ptr = self.array("ptr")
            for cell in (imp.ZERO, imp.ONE):
                self.b.emit(imp.Store(ptr, cell, imp.Const(0, ptr.dtype)))

    def make_room(self) -> None:
        """Room for as many components as are to accumulate now."""
        b, v, policy = self.b, self.v, self.policy
        b.emit(imp.Assign(v.capacity, imp.maximum(v.capacity, self.wanted())))
        if self.inserts:
            b.emit(imp.Grow(self.array("order"), v.capacity + ROOM))
        if policy.tabled:
            slots, size = self.array("slots"), b.let("size", imp.maximum(self._heads(), v.heads))
            clear = imp.Fill(slots, imp.ZERO, size, imp.ZERO)
            b.emit(imp.Grow(slots, size + v.capacity * policy.entries))
            enlarge = imp.Block((clear, imp.Assign(v.heads, size)))
            larger = size > v.heads
            if policy.pipelined:  # a table that is in use stays as it is
                larger = larger & imp.eq(v.count, imp.ZERO)
            b.emit(imp.If(larger, enlarge, imp.EMPTY))
        self.make_room_behind()

    def make_room_behind(self) -> None:
        """Room for the components themselves, whoever wrote to these arrays before."""
        top = self.b.let("top", self.base + self.v.capacity)
        self.b.emit(imp.Grow(self.array("crd"), top * self.v.w))
        self.storage.below(0).reserve(self.b, self.storage, 1, top)

    def wanted(self) -> imp.Expr:
        """How many components are to accumulate, seeing how many there are to merge with."""
        first = imp.Const(self.policy.capacity or _FIRST, imp.INT)
        share = imp.Const(round(256 * self.policy.growth), imp.INT)
        if not self.policy.growth:
            return first
        return self.b.call(grown, self.v.stored, first, share, self.v.fresh)

    @property
    def inserts(self) -> bool:
        """Whether the policy has a say where a component goes."""
        return type(self.policy).insert is not Policy.insert

    def _heads(self) -> imp.Expr:
        """How many heads the policy wants for its table."""
        found: object = self.policy.heads(self.b, self.storage.dim(0), self.v.capacity)
        if isinstance(found, imp.Operators):
            return imp.minimum(imp.wrap(found), _MOST)
        if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < _MOST:
            raise FormatError(f"{self.policy!r} wants {found!r} heads", hint="a number from 0 on")
        return imp.Const(found, imp.INT)

    # -- insert ----------------------------------------------------------------------------------

    def insert(self, state: tuple[imp.Expr, ...]) -> tuple[imp.Stmt, ...]:
        """The component whose value has been written is kept, or combined with an earlier one."""
        b, v, policy = self.b, self.v, type(self.policy)
        more = imp.Assign(v.count, v.count + 1)
        if not self.inserts:
            return (self._tell(state), more)
        e, val, dtype = b.var(f"{self.storage.prefix(0)}_e"), self.values, self.storage.format.dtype
        crd, order, slots = (self.array(name) for name in ("crd", "order", "slots"))
        lengths = (imp.ZERO - (self.end + 1) * v.w, v.capacity + ROOM, self.table)
        args = (crd, v.w, self.base, v.count, self._bucket(state), order, slots, v.heads)
        found = self._call(plain(policy.insert), INSERT, args, lengths)
        assert dtype is not None
        value = b.call(combine(self.storage.op, dtype), val[self.base + e], val[self.end])
        both = imp.Store(val, self.base + e, imp.cast(value, dtype))
        found_before = (e >= 0) & (e < v.count) if self.guards else e < v.count
        known = imp.If(found_before, imp.Block((both,)), imp.Block((more,)))
        right = b.call(check_found, crd, v.w, self.base, e, v.count)
        checks = (*self._alarm(), self.unless(right)) if self.checks else ()
        return (self._tell(state), imp.Let(e, found), *checks, known)

    def _number(self, state: tuple[imp.Expr, ...]) -> imp.Expr:
        """The number of coordinates in row-major order, if all have 64 bits."""
        number = state[0]
        for k in range(1, len(state)):
            number = number * self.storage.dim(0, k) + state[k]
        return number

    def _tell(self, state: tuple[imp.Expr, ...]) -> imp.Stmt:
        """Write the coordinates of the next component: as their number, or one by one."""
        v, crd = self.v, self.array("crd")
        one = imp.Store(crd, self.end, self._number(state))
        if len(state) == 1:
            return one
        apart = [imp.Store(crd, self.end * v.w + k, i) for k, i in enumerate(state)]
        return imp.If(imp.eq(v.w, imp.ONE), imp.Block((one,)), imp.Block(tuple(apart)))

    def _bucket(self, state: tuple[imp.Expr, ...]) -> imp.Expr:
        """The bucket of a component: by its number, if the policy does not say.

        Coordinates that have no number are told apart by the first of them.
        """
        dims = [self.storage.dim(0, k) for k in range(len(state))]
        if self.policy.mapping is not None:
            return self.b.call(self.policy.mapping, *state, *dims)
        if not self.policy.buckets:
            return imp.ZERO
        total = dims[0]
        for dim in dims[1:]:
            total = total * dim
        one, first = self._share(self._number(state), total), self._share(state[0], dims[0])
        return one if len(state) == 1 else imp.Select(imp.eq(self.v.w, imp.ONE), one, first)

    def _share(self, number: imp.Expr, total: imp.Expr) -> imp.Expr:
        """The head of a number, of so many in all: each head has as many that follow each other."""
        each = imp.binary("div", total, imp.maximum(self.v.heads, 1)) + 1
        return imp.binary("div", number, imp.maximum(each, 1))

    # -- sort and merge --------------------------------------------------------------------------

    def flush(self, last: bool = False) -> None:
        """Make a sorted run of what has accumulated, merge it into the all array, begin anew.

        If there is no all array yet, the run becomes it; but where more is to come, a few are
        copied, so that arrays that an earlier call has made as large as they must be stay those.
        """
        b, v, policy = self.b, self.v, type(self.policy)
        crd, order, slots, run, late = (
            self.array(name) for name in ("crd", "order", "slots", "run", "late")
        )
        before = b.let("before", v.stored)
        bits = self.make_room_to_sort(crd, self.base, order)
        if self.guards:
            args = (crd, v.w, self.base, v.count, order, run, slots, v.heads)
            lengths = (imp.ZERO - self.end * v.w, v.count + ROOM, v.count * v.w + ROOM, self.table)
            b.emit(imp.Do(self._call(plain(policy.sort), SORT, args, lengths)), *self._alarm())
        what = (crd, self.values, v.w, self.base, v.count, bits, run, late, order, slots, v.heads)
        n = b.let(f"{self.storage.prefix(0)}_new", b.call(self.arrange, *what))
        if self.checks:
            b.emit(self.unless(n >= 0))
        if policy.tabled:
            given = (slots, v.heads, v.count)
            clear = self._call(plain(policy.clear), CLEAR, given, (self.table,))
            b.emit(imp.Do(clear), *self._alarm())
        with b.collect() as merge:
            self._merge(n)
        old, old_val = self.all
        only = (imp.Swap(old, run), imp.Swap(old_val, late), imp.Assign(v.stored, n))
        merges = v.stored > 0 if last else (v.stored > 0) | (n <= _FEW)
        b.emit(imp.If(merges, imp.Block(tuple(merge)), imp.Block(only)))
        b.emit(imp.Assign(v.count, imp.ZERO), imp.Assign(v.fresh, v.stored - before))

    def _merge(self, n: imp.Var) -> None:
        """Merge the run, of n components, with the all array."""
        b, v, (old, old_val) = self.b, self.v, self.all
        new = (self.array("crd"), self.values) if self.policy.double_buffered else ()
        if self.policy.apart:
            both, (target, target_val) = b.let("both", v.stored + n), new or self.all
            b.emit(imp.Grow(target, both * v.w), imp.Grow(target_val, both))
        args = (old, old_val, v.w, v.stored, self.array("run"), self.array("late"), n, *new)
        b.emit(imp.Assign(v.stored, b.call(merge_codelet(self.merging), *args)))
        if new:  # what was the all array takes the next components
            b.emit(*map(imp.Swap, self.all, new))

    def exchange(self) -> None:
        """What is read becomes the all array, or back."""
        if self.policy.apart:
            self.b.emit(*map(imp.Swap, self.all, (self.array("crd"), self.values)))

    @property
    def merging(self) -> Merging:
        """What is to be merged, and how."""
        dtype = self.storage.format.dtype
        assert dtype is not None
        return Merging(self.storage.op, dtype, self.policy.double_buffered)

    @property
    def arrange(self) -> FunctionType:
        """The codelet that makes a run; what is not to be trusted has been sorted before."""
        policy = type(self.policy)
        sort = plain(keep if self.guards else policy.sort)
        return arrange_codelet(self.merging, sort, policy.groups, self.checks)

    def make_room_to_sort(self, crd: imp.Buffer, base: imp.Expr, order: imp.Buffer) -> imp.Expr:
        """Room for what is sorted; gives the bits in which many components differ, or -1."""
        b, v, late = self.b, self.v, self.array("late")
        room, numbers = (
            imp.Grow(self.array("run"), v.count * v.w + ROOM),
            imp.Grow(order, v.count + ROOM),
        )
        if not type(self.policy).groups:
            b.emit(room, imp.Grow(late, v.count), numbers)
            return imp.Const(-1, imp.INT)
        bits = b.let("bits", b.call(last_bits, crd, v.w, base, v.count))
        b.emit(room)
        group = b.let("group", b.call(group_bits, bits, v.count))
        dense = imp.Grow(late, v.count + imp.binary("<<", imp.ONE, group))
        tables = imp.Grow(order, imp.Const(TABLES, imp.INT))
        ends = imp.Grow(order, imp.Const(PLACES, imp.INT))
        either = imp.If(bits >= 0, imp.Block((ends,)), imp.Block((numbers,)))
        sparse = (imp.Grow(late, v.count), either)
        b.emit(imp.If(group >= 0, imp.Block((dense, tables)), imp.Block(sparse)))
        return bits

    @property
    def table(self) -> imp.Expr:
        """How many words the table of the policy has."""
        words = self.v.heads + self.v.capacity * self.policy.entries
        return words if self.policy.tabled else imp.ZERO

    # -- what is not to be trusted ---------------------------------------------------------------

    def _call(
        self,
        codelet: FunctionType,
        types: tuple[str, ...],
        args: tuple[imp.Expr | imp.Buffer, ...],
        lengths: tuple[imp.Expr, ...],
    ) -> imp.Call:
        """A call of a codelet of the policy, with the lengths of its arrays if it is guarded."""
        if not self.guards:
            return self.b.call(codelet, *args)
        alarm = self.array("ptr")
        return self.b.call(guarded(codelet, types, alarm.dtype), *args, *lengths, alarm)

    def _alarm(self) -> tuple[imp.Stmt, ...]:
        """Give up if a codelet went beyond its arrays."""
        if not self.guards:
            return ()
        ptr = self.array("ptr")
        return (self.unless(imp.eq(ptr[0], imp.Const(0, ptr.dtype)), imp.ASTRAY),)

    def unless(self, right: imp.Expr, status: int = imp.UNSORTED) -> imp.Stmt:
        """Give up, unless something is right."""
        wrong = imp.Return(imp.Const(status | self.storage.sites[0] << 8, imp.INT))
        return imp.If(~right, imp.Block((wrong,)), imp.EMPTY)
