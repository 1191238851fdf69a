"""A sparse workspace whose sort and merge stages run beside insertion (WORK §5.3, Fig. 9).

There are two accumulation arrays. When one is full, a task sorts it and merges it into the all
array, and the other one takes new components meanwhile. The next task waits for the last one, so
that all happens in the same order as without a second thread, and gives the same bits, unless a
policy finds components by the size of its table: one that is in use stays as it is.
"""

from __future__ import annotations

from types import FunctionType

from linnet import imp
from linnet.codelets.flushing import ALARM, FRESH, STORED, TOLD, leave
from linnet.codelets.guarding import guarded
from linnet.formats.accumulation import Accumulation
from linnet.formats.combining import guarded_stage_codelet, stage_codelet
from linnet.formats.policies import CLEAR, SORT, Policy, plain
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The hand-over of full accumulation arrays, in the code of one workspace."""

    to: Accumulation

    @property
    def policy(self) -> Policy:
        """How components accumulate."""
        return self.to.policy

    @property
    def task(self) -> str:
        """What the task is called."""
        return f"{self.to.storage.prefix(0)}_task"

    @property
    def tables(self) -> tuple[imp.Buffer, imp.Buffer]:
        """Order and table of the full array: others, if those that accumulate need theirs."""
        full = "full_" if self.to.inserts or self.policy.tabled else ""
        return self.to.array(f"{full}order"), self.to.array(f"{full}slots")

    def begin(self) -> None:
        """Nothing has been handed over; so much is stored."""
        told, size = self.to.array("told"), imp.Const(TOLD, imp.INT)
        self.to.b.emit(imp.Grow(told, size), imp.Fill(told, imp.ZERO, size, imp.ZERO))
        for cell, known in ((STORED, self.to.v.stored), (FRESH, self.to.v.fresh)):
            self.to.b.emit(imp.Store(told, imp.Const(cell, imp.INT), known))

    def wait(self) -> None:
        """Wait for the task; find out how much is stored, or what went wrong."""
        to, told = self.to, self.to.array("told")
        names = ("full_crd", "full_val", "all_crd", "all_val", "run", "late", "told")
        to.b.emit(imp.Join(self.task, (*map(to.array, names), *self.tables)))
        if to.guards:
            to.b.emit(to.unless(imp.eq(told[ALARM], imp.ZERO), imp.ASTRAY))
        to.b.emit(imp.Assign(to.v.stored, told[STORED]), imp.Assign(to.v.fresh, told[FRESH]))
        if to.checks:
            to.b.emit(to.unless(to.v.stored >= 0))

    def flush(self) -> None:
        """Wait for the task. It may say that more is to accumulate; else hand over what has."""
        b, v = self.to.b, self.to.v
        self.wait()
        with b.collect() as full:
            self._hand_over()
        enough = v.count >= self.to.wanted()
        b.emit(imp.If(enough, imp.Block(tuple(full)), imp.EMPTY))

    def _hand_over(self) -> None:
        """Spawn the task, with what has accumulated, and begin with the other array."""
        to, b, v = self.to, self.to.b, self.to.v
        full, full_val = to.array("full_crd"), to.array("full_val")
        old, old_val = to.all
        b.emit(imp.Swap(to.array("crd"), full), imp.Swap(to.values, full_val))
        order, slots = self.tables
        if slots != to.array("slots"):
            heads = b.let("heads", v.heads)
            b.emit(imp.Swap(to.array("order"), order), imp.Swap(to.array("slots"), slots))
            b.emit(imp.Assign(v.heads, v.full_heads), imp.Assign(v.full_heads, heads))
        bits, both = to.make_room_to_sort(full, imp.ZERO, order), b.let("both", v.stored + v.count)
        if self.policy.double_buffered:  # the full array takes all
            b.emit(imp.Swap(old, full), imp.Swap(old_val, full_val))
            full, full_val, old, old_val = old, old_val, full, full_val
            b.emit(imp.Grow(full, both * v.w), imp.Grow(full_val, both))
        else:
            b.emit(imp.Grow(old, both * v.w), imp.Grow(old_val, both))
        given = (full, full_val, v.w, v.count, bits, to.array("run"), to.array("late"))
        merge = (order, slots, v.full_heads, old, old_val, v.stored, to.array("told"))
        words = (v.full_heads + v.capacity * self.policy.entries,) if to.guards else ()
        b.emit(imp.Spawn(self.task, b.call(self._stage, *given, *merge, *words)))
        b.emit(imp.Assign(v.count, imp.ZERO))

    @property
    def _stage(self) -> FunctionType:
        """The codelet that the task calls."""
        to, policy = self.to, type(self.policy)
        clear = plain(policy.clear if policy.tabled else leave)
        if not to.guards:
            return stage_codelet(to.merging, to.arrange, clear)
        stage = stage_codelet(to.merging, to.arrange, plain(leave))
        checked = guarded(plain(policy.sort), SORT, imp.INT), guarded(clear, CLEAR, imp.INT)
        return guarded_stage_codelet(checked[0], stage, checked[1])
