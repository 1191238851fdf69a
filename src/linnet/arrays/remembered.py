"""`Remembered`: how a function of arrays was computed, for the next call with arguments like these.

It holds no array that was an argument, and of what was computed nothing but formats and sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from linnet.algebra.dtypes import kind
from linnet.algebra.table import power
from linnet.arrays.captured import Captured
from linnet.arrays.evaluate import calls_of, run
from linnet.arrays.moving import Form, Law, Notes, amount, form_of
from linnet.arrays.nodes import Constant, Map, Node
from linnet.arrays.plan import Plan
from linnet.arrays.trace import Trace
from linnet.formats.contents import Contents
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.records import dataclass
from linnet.runtime.bound import Operation, Steps
from linnet.runtime.call import Slots
from linnet.runtime.learning import step_of
from linnet.runtime.slices import slots_of


@dataclass(frozen=True, slots=True)
class Bound:
    """One kernel that makes the one result, and what it is given: slots, and which are of arrays.

    If there are `forms`, the last slots are those of numbers, which are computed of others.
    """

    operation: Operation
    slots: list[Slots]
    places: tuple[tuple[int, int], ...]  # of arrays: among the slots, and among what is given
    forms: tuple[Form, ...]

    def run(self, held: Sequence[Contents], numbers: Sequence[int]) -> Tensor | None:
        """The result for what arrays hold; None if something is not as usual."""
        given, guarded = self.slots[:], []
        for k, place in self.places:
            contents = held[place]
            given[k] = contents._slots or contents.slots
            if not contents._shared:
                guarded.append(contents)
        if self.forms:
            given[-1] = slots_of([amount(form, numbers) for form in self.forms])
        return self.operation.run(given, guarded)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A plan, which of its tensors are arguments, what else it is given, what is around."""

    captured: Captured
    law: Law  # of the integers that are given
    plan: Plan
    sources: tuple[int | Tensor, ...]  # places among the arrays that are given, or numbers
    forms: tuple[Form, ...]  # of the numbers of the plan
    shapes: tuple[tuple[Form, ...], ...]  # of all nodes, if results may be too large
    filled: tuple[tuple[int, Format], ...]  # results with another format than they are made in
    bound: Bound | None
    parts: Callable[[Sequence[Tensor]], object] | None  # of what is returned, if not one tensor

    def run(
        self, given: Sequence[object], held: Sequence[Contents], numbers: Sequence[int]
    ) -> object:
        """What the function returns for other arguments, whose arrays hold this, or just did.

        `numbers` are the integers among the arguments, as the law has them.

        A kernel is given what was looked at: another thread may write to an array meanwhile.
        """
        found = None if self.bound is None else self.bound.run(held, numbers)
        if found is not None:
            return found if self.parts is None else self.parts((found,))
        arrays = [arg for arg in given if type(arg) is Tensor]
        tensors = [arrays[s] if isinstance(s, int) else s for s in self.sources]
        told = [amount(form, numbers) for form in self.forms]
        shapes = [tuple([amount(form, numbers) for form in shape]) for shape in self.shapes]
        outs = run(self.plan, tensors, told, shapes)
        for k, format in self.filled:
            contents = outs[k].contents()
            outs[k] = Tensor(format, contents.shape, contents.buffers)
        return outs[0] if self.parts is None else self.parts(outs)


def sources_of(trace: Trace, arrays: Sequence[Tensor]) -> tuple[int | Tensor, ...] | None:
    """Which tensors of a graph are arguments, and which are numbers; None if others are among them.

    None, too, where the elements of an argument have been looked at: exponents of integers.
    """
    if any(isinstance(node, Map) and _has_exponents(node) for node in trace.nodes):
        return None
    places = {id(array): k for k, array in reversed(list(enumerate(arrays)))}
    numbers = {id(number) for passed in trace.passed for number in passed.numbers.values()}
    if not all(id(tensor) in places or id(tensor) in numbers for tensor in trace.tensors):
        return None
    return tuple([places.get(id(tensor), tensor) for tensor in trace.tensors])


def _has_exponents(node: Map) -> bool:
    """Whether exponents may be integers of a tensor, which `exponents` refuses if negative."""
    if node.function is not power:
        return False
    exponent = node.args[1]
    return not isinstance(exponent, Constant) and kind(exponent.dtype) in "iu"


def alike(nodes: Sequence[Node], notes: Notes, trace: Trace) -> Trace | None:
    """The trace of a graph with `Moving` numbers, if it is the other one in all else."""
    for passing in (True, False):
        found = Trace(passing)
        for node in nodes:
            found.place(node)
        numbers = [amount(form_of(number), notes.values) for number in found.numbers]
        if found.entries == trace.entries and numbers == trace.numbers:
            return found
    return None


def forms_of(numbers: Iterable[int]) -> tuple[Form, ...]:
    """How numbers of a trace come of the arguments."""
    return tuple([form_of(number) for number in numbers])


def bound_of(
    plan: Plan,
    trace: Trace,
    sources: Sequence[int | Tensor],
    forms: tuple[Form, ...],
    found: Sequence[Tensor],
) -> Bound | None:
    """The kernel of a plan with everything bound, if it is one with one result."""
    step = plan.only
    if step is None or step.large:
        return None
    args = list(trace.tensors)
    ((entry, tensors),) = calls_of(plan, args, trace.numbers, found[0])
    if step.numbers:
        args.append(tensors[-1])
    kernel = step_of(entry, tensors, args, found[0])
    if kernel is None:
        return None
    operation = Operation(Steps((kernel,)), [entry.call])
    places = tuple([(k, place) for k, place in enumerate(sources) if isinstance(place, int)])
    of_arrays = dict(places)
    slots: list[Slots] = [() if k in of_arrays else x.contents().slots for k, x in enumerate(args)]
    told = tuple([forms[k] for k in step.numbers])
    moves = any(terms for _, terms in told)
    return Bound(operation, slots, places, told if moves else ())
