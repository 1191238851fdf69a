"""Running a graph: its plan, from memory if one like it has been run before, and its kernels."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from copy import copy
from math import prod

from linnet.arrays.nodes import Labels, Node
from linnet.arrays.passing import filled, holds_only, passing
from linnet.arrays.plan import BY_VALUE, Plan, Step, plan, renumbered
from linnet.arrays.trace import Trace
from linnet.errors import ArgumentError, OutOfMemoryError
from linnet.formats.contents import Signature
from linnet.formats.format import Format
from linnet.formats.named import SCALAR
from linnet.formats.tensor import Tensor
from linnet.runtime.compute import compute
from linnet.runtime.memory import Memory
from linnet.runtime.slices import sizes
from linnet.runtime.watch import Seen

LARGE = 2**27
"""More elements than this are not stored densely unless an operand or a format says so."""


_NOTHING = Tensor(SCALAR, None)  # in a slot whose step has not been run
_PLANS: Memory[tuple[object, ...], Plan] = Memory()
_COUNTED: dict[int, list[Node]] = {}  # by thread, where somebody counts


def evaluate(
    nodes: Sequence[Node], formats: Sequence[Format | None] = (), labels: Sequence[Labels] = ()
) -> list[Tensor]:
    """The tensors that nodes stand for, in the formats that are wanted."""
    return evaluated(nodes, tuple(formats) or (None,) * len(nodes), labels)[0]


def evaluated(
    nodes: Sequence[Node], wanted: tuple[Format | None, ...], labels: Sequence[Labels]
) -> tuple[list[Tensor], Plan, Trace]:
    """The same, with the plan by which they are computed, and what that is for."""
    if _COUNTED:
        _COUNTED.get(threading.get_ident(), []).extend(nodes)
    try:
        made, found = planned(nodes, wanted, labels)
    except RecursionError:
        raise ArgumentError(
            "an expression of lazy arrays is nested too deeply",
            why="its operations are noted, each inside the next, and none has been run",
            hint="compute it now and then: x = ln.lazy(ln.compute(x))",
        ) from None
    shapes = [node.shape for node in found.nodes] if any(s.large for s in made.steps) else ()
    outs = run(made, found.tensors, found.numbers, shapes)
    for k in made.filled:
        told = (k, *found.texts)
        format = made.fills.get(told) or made.fills.put(told, filled(outs[k], nodes[k]))
        contents = outs[k].contents()
        outs[k] = Tensor(format, contents.shape, contents.buffers)
    return outs, made, found


class counting:
    """`with counting() as computed:` the nodes that this thread computes in the block."""

    def __enter__(self) -> list[Node]:
        self._thread = threading.get_ident()
        self._outer = _COUNTED.get(self._thread)
        self._computed: list[Node] = []
        _COUNTED[self._thread] = self._computed
        return self._computed

    def __exit__(self, *raised: object) -> None:
        if self._outer is None:
            del _COUNTED[self._thread]
        else:
            self._outer += self._computed
            _COUNTED[self._thread] = self._outer


def planned(
    nodes: Sequence[Node], wanted: Sequence[Format | None], labels: Sequence[Labels]
) -> tuple[Plan, Trace]:
    """The plan of a graph, and the tensors and numbers that it is for."""
    found = Trace(passing=True)
    key = found.key(tuple([found.place(node) for node in nodes]), *wanted, *labels)
    known = _PLANS.get(key)
    if known is None:
        known = _PLANS.put(key, _plan(found, nodes, wanted, labels))
    if known is not BY_VALUE:
        return known, found
    found = Trace()
    key = found.key(tuple([found.place(node) for node in nodes]), *wanted, *labels)
    known = _PLANS.get(key)
    if known is None:
        known = _PLANS.put(key, plan(found, nodes, wanted, labels))
    return known, found


def _plan(
    found: Trace,
    nodes: Sequence[Node],
    wanted: Sequence[Format | None],
    labels: Sequence[Labels],
) -> Plan:
    """A plan in which numbers are passed; `BY_VALUE` if that cannot be done."""
    if not found.passed:
        return plan(found, nodes, wanted, labels)
    changed = passing(nodes, found)
    if changed is None or any(wanted[k] is not None for k in changed.filled):
        return BY_VALUE
    made = plan(changed.trace, changed.outputs, wanted, labels)
    formats = {result.slot: result.format for step in made.steps for result in step.results}
    if not all(holds_only(formats[made.outputs[k]], nodes[k]) for k in changed.filled):
        return BY_VALUE
    places = {changed.trace.places[node]: place for node, place in changed.origins.items()}
    return renumbered(made, places, changed.filled)


def run(
    plan: Plan,
    tensors: Sequence[Tensor],
    numbers: Sequence[int] = (),
    shapes: Sequence[tuple[int, ...]] = (),
) -> list[Tensor]:
    """Run the kernels of a plan. `shapes` are those of all nodes, if results may be too large."""
    only = plan.only
    if only is not None and not only.large:
        operands = [tensors[k] for k in only.inputs]
        given = tuple([numbers[k] for k in only.numbers])
        return [compute(only.kernel, only.results[0].format, operands, (), given)]
    slots: list[Tensor] = [*tensors, *[_NOTHING] * (plan.slots - len(tensors))]
    for step in plan.steps:
        if step.large and shapes:
            _check_dense(step, shapes, slots)
        run_step(step, slots, numbers)
    own = {*range(len(tensors))}  # what comes out as it is, is another object all the same
    outs = []
    for k in plan.outputs:
        outs.append(copy(slots[k]) if k in own else slots[k])
        own.add(k)
    return outs


def calls_of(plan: Plan, tensors: Sequence[Tensor], numbers: Sequence[int], found: Tensor) -> Seen:
    """The kernel that a plan has called, if it is one, and what it was called with."""
    step = plan.steps[0] if len(plan.steps) == 1 else None
    if step is None or step.reorder or len(step.results) > 1 or step.results[0].convert:
        return []
    operands = [tensors[k] for k in step.inputs]
    if step.numbers:
        operands.append(sizes(tuple([numbers[k] for k in step.numbers])))
    held = [x.contents() for x in operands]
    signatures = (Signature.of(step.results[0].format), *[p.signature for p in held])
    return [(step.kernel.entry(signatures, [None, *held]), [found, *operands])]


def run_step(step: Step, slots: list[Tensor], numbers: Sequence[int]) -> None:
    """Run a kernel; its results are put in their slots."""
    operands = [slots[k] for k in step.inputs]
    for place, format in step.reorder.items():
        operands[place] = operands[place].to(format)
    given = tuple([numbers[k] for k in step.numbers])
    if len(step.results) == 1:
        outs = [compute(step.kernel, step.results[0].format, operands, (), given)]
    else:
        outs = [Tensor(result.format, None) for result in step.results]
        step.kernel(*outs, *operands, *([sizes(given)] if given else ()))
    for out, result in zip(outs, step.results, strict=True):
        slots[result.slot] = handed_on(out, result.final, result.convert)


def handed_on(out: Tensor, final: Format | None, convert: Format | None) -> Tensor:
    """A result under another fill value, or in another format."""
    if final is not None:
        contents = out.contents()
        out = Tensor(final, contents.shape, contents.buffers)
    return out if convert is None else out.to(convert)


def _check_dense(step: Step, shapes: Sequence[tuple[int, ...]], slots: Sequence[Tensor]) -> None:
    for result in step.results:
        check_dense(result.dense, shapes[result.node], [slots[k] for k in step.inputs])


def check_dense(
    dense: Sequence[tuple[int, ...]], shape: tuple[int, ...], operands: Sequence[Tensor]
) -> None:
    """Refuse a large result, dense in some of its dimensions, that nobody has asked for."""
    count = max([prod([shape[mode] for mode in run]) for run in dense], default=0)
    if count > LARGE and all(operand.nnz < count for operand in operands):
        raise OutOfMemoryError(
            f"the result would store {count} elements densely, and no operand does",
            why=f"its shape is {shape}, and it differs from its fill value nearly everywhere",
            hint="say so with format=, or combine sparse operands so that the result is sparse",
        )
