"""Running a graph: its plan, from memory if one like it has been run before, and its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from math import prod

from linnet.arrays.nodes import Labels, Node
from linnet.arrays.passing import filled, holds_only, passing
from linnet.arrays.plan import BY_VALUE, Plan, Step, plan, renumbered
from linnet.arrays.trace import Trace
from linnet.errors import ArgumentError, OutOfMemoryError
from linnet.formats.format import Format
from linnet.formats.named import SCALAR
from linnet.formats.tensor import Tensor
from linnet.runtime.memory import Memory
from linnet.runtime.slices import sizes

LARGE = 2**27
"""More elements than this are not stored densely unless an operand or a format says so."""


_NOTHING = Tensor(SCALAR, None)  # in a slot whose step has not been run
_PLANS: Memory[tuple[object, ...], Plan] = Memory()


def evaluate(
    nodes: Sequence[Node], formats: Sequence[Format | None] = (), labels: Sequence[Labels] = ()
) -> list[Tensor]:
    """The tensors that nodes stand for, in the formats that are wanted."""
    try:
        return _evaluate(nodes, tuple(formats) or (None,) * len(nodes), labels)
    except RecursionError:
        raise ArgumentError(
            "an expression of lazy arrays is nested too deeply",
            why="its operations are noted, each inside the next, and none has been run",
            hint="compute it now and then: x = ln.lazy(ln.compute(x))",
        ) from None


def _evaluate(
    nodes: Sequence[Node], wanted: tuple[Format | None, ...], labels: Sequence[Labels]
) -> list[Tensor]:
    made, found = planned(nodes, wanted, labels)
    outs = run(made, found.tensors, found.numbers, found.nodes)
    for k in made.filled:
        told = (k, *found.texts)
        format = made.fills.get(told) or made.fills.put(told, filled(outs[k], nodes[k]))
        contents = outs[k].contents()
        outs[k] = Tensor(format, contents.shape, contents.buffers)
    return outs


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
    nodes: Sequence[Node] = (),
) -> list[Tensor]:
    """Run the kernels of a plan."""
    only = plan.only
    if only is not None and not only.large:
        out = Tensor(only.results[0].format, None)
        operands = [tensors[k] for k in only.inputs]
        if only.numbers:
            operands.append(sizes(tuple([numbers[k] for k in only.numbers])))
        only.kernel(out, *operands)
        return [out]
    slots: list[Tensor] = [*tensors, *[_NOTHING] * (plan.slots - len(tensors))]
    for step in plan.steps:
        if step.large and nodes:
            _check_dense(step, nodes, slots)
        run_step(step, slots, numbers)
    given = {*range(len(tensors))}  # what comes out as it is, is another object all the same
    outs = []
    for k in plan.outputs:
        outs.append(copy(slots[k]) if k in given else slots[k])
        given.add(k)
    return outs


def run_step(step: Step, slots: list[Tensor], numbers: Sequence[int]) -> None:
    """Run a kernel; its results are put in their slots."""
    outs = [Tensor(result.format, None) for result in step.results]
    operands = [slots[k] for k in step.inputs]
    for place, format in step.reorder.items():
        operands[place] = operands[place].to(format)
    if step.numbers:
        operands.append(sizes(tuple([numbers[k] for k in step.numbers])))
    step.kernel(*outs, *operands)
    for out, result in zip(outs, step.results, strict=True):
        if result.final is not None:
            contents = out.contents()
            out = Tensor(result.final, contents.shape, contents.buffers)
        slots[result.slot] = out if result.convert is None else out.to(result.convert)


def _check_dense(step: Step, nodes: Sequence[Node], slots: Sequence[Tensor]) -> None:
    """Refuse a large dense result that nobody has asked for."""
    for result in step.results:
        shape = nodes[result.node].shape
        count = max([prod([shape[mode] for mode in run]) for run in result.dense], default=0)
        if count > LARGE and all(slots[k].nnz < count for k in step.inputs):
            raise OutOfMemoryError(
                f"the result would store {count} elements densely, and no operand does",
                why=f"its shape is {shape}, and it differs from its fill value nearly everywhere",
                hint="say so with format=, or combine sparse operands so that the result is sparse",
            )
