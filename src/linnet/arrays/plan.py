"""A graph cut into kernels, as few as the order of loops allows.

Every output is computed by one nest of loops, with all that is below it inside. Only a reduction
that is needed in another order than it can be computed in is computed before, and kept; so is what
is long and used more than once (`cuts`). Results of the same loops come out of one kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache

from linnet import loops
from linnet.algebra.dtypes import as_python, concrete
from linnet.arrays.attempt import UNNAMED, Attempt, Known
from linnet.arrays.cuts import cuts
from linnet.arrays.graph import fill_of
from linnet.arrays.masked import used_again, used_once
from linnet.arrays.merge import aligned
from linnet.arrays.nest import NUMBERS, Reading, nest
from linnet.arrays.nodes import Labels, Leaf, Node, Reduce
from linnet.arrays.trace import Trace
from linnet.arrays.twins import twins
from linnet.formats.format import Format
from linnet.formats.named import DENSE
from linnet.loops.printer import show
from linnet.loops.rewrite import block, rewrite_stmt, walk
from linnet.names import Names
from linnet.records import dataclass
from linnet.runtime.kernel import Kernel
from linnet.runtime.memory import Memory
from linnet.runtime.sizes import runs_of


@dataclass(frozen=True, slots=True)
class Result:
    """What a kernel writes: the node, others that it computes with it, its slot, its format.

    `dense` are dimensions that it stores densely, and no operand does. `final` is the format under
    which it is handed on, where only the fill value is another; `convert` one to be made from it.
    `notes` say what is computed on the way.
    """

    node: int
    twins: tuple[int, ...]
    slot: int
    format: Format
    dense: tuple[tuple[int, ...], ...]
    final: Format | None
    convert: Format | None
    why: str
    notes: tuple[str, ...] = ()

    def elsewhere(self, places: Mapping[int, int]) -> Result:
        """The result in a graph whose nodes have other places."""
        others = tuple([places[k] for k in self.twins if k in places])
        return replace(self, node=places[self.node], twins=others)


@dataclass(frozen=True, slots=True)
class Step:
    """A kernel: the slots that it reads, what it writes, the numbers that it is given.

    `reorder` are the formats in which some of its inputs, by position, are stored first.
    """

    kernel: Kernel
    results: tuple[Result, ...]
    inputs: tuple[int, ...]
    numbers: tuple[int, ...]
    reorder: Mapping[int, Format]
    large: bool  # its results may be so large that shapes have to be looked at


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in order. Slots are the operands, then all results.

    `only` is the step of a plan that has one, with one result that is handed out as it is. `filled`
    are outputs whose fill value depends on numbers, and is given to them when they are computed:
    `fills` are the formats that they had for some numbers.
    """

    steps: tuple[Step, ...]
    slots: int
    outputs: tuple[int, ...]
    only: Step | None
    filled: tuple[int, ...] = ()
    fills: Memory[tuple[object, ...], Format] = field(
        default_factory=lambda: Memory(256), compare=False, repr=False
    )


BY_VALUE = Plan((), 0, (), None)
"""What is planned again with all numbers known."""


def plan(
    trace: Trace,
    outputs: Sequence[Node],
    wanted: Sequence[Format | None],
    labels: Sequence[Labels] = (),
) -> Plan:
    """Decide what is computed by which kernel."""
    formats = {id(n): w for n, w in zip(outputs, wanted, strict=True)}
    called = {id(n): label for n, label in zip(outputs, labels, strict=False)}
    results = frozenset([label.result for label in labels])
    once = used_once(trace.nodes, outputs)
    known = Known(trace, results=results, once=once, twins=twins(trace))
    state = _Planner(known, formats, called)
    for node in cuts(trace.nodes):
        state.compute(node, "it is long, and used more than once")
    for node in used_again(trace.nodes, outputs):
        state.keep_masked(node, used_once(trace.nodes, outputs, kept=node))
    for node in sorted(outputs, key=lambda n: trace.places[id(n)]):
        state.compute(node)
    steps = tuple(state.step(group) for group in state.groups)
    slots = tuple(state.slots[id(n)] for n in outputs)
    return Plan(steps, len(trace.tensors) + len(state.made), slots, _only(steps, slots))


def _only(steps: Sequence[Step], outputs: Sequence[int]) -> Step | None:
    """The step of a plan that is as simple as can be."""
    if len(steps) != 1 or steps[0].reorder or len(steps[0].results) != 1:
        return None
    result = steps[0].results[0]
    plain = result.final is None and result.convert is None and outputs == (result.slot,)
    return steps[0] if plain else None


def renumbered(made: Plan, places: Mapping[int, int], filled: tuple[int, ...]) -> Plan:
    """A plan whose results are at other places of a graph."""
    steps = []
    for step in made.steps:
        results = [r.elsewhere(places) for r in step.results]
        steps.append(replace(step, results=tuple(results)))
    return Plan(tuple(steps), made.slots, made.outputs, _only(steps, made.outputs), filled)


@dataclass(frozen=True, slots=True)
class _Made:
    """A node that is computed, how, and why it is not part of another kernel."""

    attempt: Attempt
    result: Result
    needs: frozenset[str]  # names of tensors


@dataclass(slots=True)
class _Planner:
    """The groups of nodes that one program computes, as they are put together."""

    known: Known
    wanted: Mapping[int, Format | None]
    labels: Mapping[int, Labels]
    groups: list[list[_Made]] = field(default_factory=list)
    made: dict[str, int] = field(default_factory=dict)  # name of a result, its group
    slots: dict[int, int] = field(default_factory=dict)  # of nodes, by identity

    def __post_init__(self) -> None:
        for node, name in self.known.names.items():
            self.slots[node] = self.known.slots[name]

    def compute(self, node: Node, why: str = "") -> None:
        """Add what computes a node, unless it is known."""
        wanted = self.wanted.get(id(node))
        if id(node) in self.slots and wanted is None:
            return
        while True:
            labels = self.labels.get(id(node), UNNAMED)
            attempt = Attempt(self.known, node, _writable(node, wanted), labels)
            missing = attempt.missing()
            if not missing:
                break
            for before, reason in missing:
                self.compute(before, reason)
        if attempt.may_end_early():
            early = Attempt(self.known, node, _writable(node, wanted), labels, early=True)
            attempt = attempt if early.missing() else early
        self._add(attempt, wanted, why)

    def keep_masked(self, node: Node, once: frozenset[int]) -> None:
        """Compute what is used more than once, if it is less than the products that it masks."""
        before = self.known.once
        own = once - before
        if not any(isinstance(n, Reduce) for n in self.known.trace.nodes if id(n) in own):
            return
        self.known.once = before | once
        attempt = Attempt(self.known, node, None)
        if not attempt.missing() and attempt.notes():
            self.compute(node, "it is used more than once, and is less than what is under its mask")
        else:
            self.known.once = before

    def _add(self, attempt: Attempt, wanted: Format | None, why: str) -> None:
        node, known = attempt.node, self.known
        init, format = attempt.result()
        final = attempt.final(init, format)
        needs = frozenset(attempt.origin(str(a.tensor)) for a in attempt.reads())
        convert = wanted if attempt.wanted is not wanted else None
        dense = () if wanted is not None else self._dense(format, needs)
        slot = len(known.trace.tensors) + len(self.made)
        alike = known.twins[id(node)] if wanted is None else (node,)
        place, *others = [known.trace.places[id(n)] for n in (node, *alike)]
        name = known.another()
        notes = tuple(attempt.notes())
        result = Result(place, tuple(others), slot, format, dense, final, convert, why, notes)
        made = _Made(attempt, result, needs)
        self.made[name] = self._group(made)
        known.slots[name] = slot
        for other in alike:
            self.slots[id(other)] = slot
            if not isinstance(node, Leaf):
                known.names[id(other)] = name
        known.shapes[name], known.stored[name] = node.shape, attempt.estimate()
        held = convert or final or format
        dtype = concrete(node.dtype)
        held = held if held.dtype is not None else held.with_dtype(dtype)
        fill = held.fill_value if held.fill_value is not None else fill_of(node)
        known.formats[name] = held.with_fill(as_python(fill, str(held.dtype)))

    def _group(self, made: _Made) -> int:
        """Put what is computed into a kernel with the same loops, or into one of its own."""
        earliest = max([self.made[n] + 1 for n in made.needs if n in self.made], default=0)
        for number in range(earliest, len(self.groups)):
            renamed = aligned(made.attempt, [other.attempt for other in self.groups[number]])
            if renamed is not None:
                self.groups[number].append(_Made(renamed, made.result, made.needs))
                return number
        self.groups.append([made])
        return len(self.groups) - 1

    def _dense(self, format: Format, needs: frozenset[str]) -> tuple[tuple[int, ...], ...]:
        """Dimensions that a result stores densely, and no operand does so.

        A dimension of one element may be repeated, and is then no dimension of the operand's.
        """
        shapes, formats = self.known.shapes, self.known.formats
        own = [
            sum(shapes[name][mode] != 1 for mode in run)
            for name in needs
            for run in runs_of(formats[name])
        ]
        most = max(own, default=0)
        return tuple(run for run in runs_of(format) if len(run) > most)

    # -- kernels -----------------------------------------------------------------------------------

    def step(self, group: Sequence[_Made]) -> Step:
        """The kernel that computes some nodes, and what to give it."""
        first = group[0].attempt
        before: list[loops.Stmt] = []
        inside: list[loops.Stmt] = []
        after: list[loops.Stmt] = []
        temporaries: dict[str, Format] = {}
        names = Names({*self.known.formats, NUMBERS, *first.pull.fresh._taken} - {first.out})
        outs = [names.fresh(made.attempt.out) for made in group]
        for name, made in zip(outs, group, strict=True):
            parts = _parts(made.attempt, name)
            before += parts.before
            inside += parts.inside
            after += parts.after
            temporaries |= dict(parts.temporaries)
        reading = Reading((), tuple(first.order), tuple(inside))
        scalars = tuple(s for made in group for s in made.attempt.scalars)
        extents = {k: v for made in group for k, v in made.attempt.extents().items()}
        stmts, first_of_all = nest(reading, scalars, extents, first.ordered)
        before += [s for _, _, each in first_of_all for s in each]
        code, numbers = with_numbers(block((*before, *stmts, *after)))
        used = list(dict.fromkeys(str(a.tensor) for m in group for a in m.attempt.reads()))
        params = (*outs, *used, *((NUMBERS,) if numbers else ()))
        program = loops.Program(first.kernel, params, tuple(temporaries.items()), code, tuple(outs))
        turned = {a: t for made in group for a, t in made.attempt.turned.items()}
        reorder = {k: turned[n][1] for k, n in enumerate(used) if n in turned}
        results = tuple(made.result for made in group)
        inputs = tuple(self.known.slots[turned[n][0] if n in turned else n] for n in used)
        large = any(result.dense for result in results)
        return Step(kernel_of(program), results, inputs, numbers, reorder, large)


def kernel_of(program: loops.Program) -> Kernel:
    """One kernel for all plans that come to the same program."""
    return _kernel(show(program), program)


@lru_cache(maxsize=4096)
def _kernel(text: str, program: loops.Program) -> Kernel:
    # programs that are equal may print differently: 0.0 and -0.0, 1 and True
    return Kernel(program)


def _writable(node: Node, wanted: Format | None) -> Format | None:
    """The wanted format, if the reduction can be written into it at once."""
    if wanted is None or not hasattr(node, "initial"):
        return wanted
    other = wanted.dtype not in (None, node.dtype)
    return None if other or wanted.fill_value is not None else wanted


@dataclass(frozen=True, slots=True)
class _Parts:
    """The statements of one result, in the nest and around it, and its temporaries."""

    before: Sequence[loops.Stmt]
    inside: Sequence[loops.Stmt]
    after: Sequence[loops.Stmt]
    temporaries: Sequence[tuple[str, Format]]


def _parts(attempt: Attempt, out: str) -> _Parts:
    """The statements of a result."""
    init, _ = attempt.result()
    dtype = attempt.dtype
    indices = tuple(loops.Index(i) for i in attempt.free)
    target = loops.Access(out, indices)
    names = (f"{out}_stored", f"{out}_count")
    counted = attempt.counted(names)
    declare = loops.Declare(out, loops.Literal(init, dtype))
    temporaries = attempt.temporaries()
    if counted is None:
        body = loops.Assign(target, attempt.op, attempt.value)
        return _Parts([declare], [body], [], temporaries)
    before = [
        declare,
        loops.Declare(names[0], loops.Literal(init, dtype)),
        loops.Declare(names[1], loops.Literal(0, "int64")),
    ]
    end: loops.Stmt = loops.Assign(target, None, counted.result)
    inner = {i: loops.Index(f"{i}_end") for i in attempt.free}
    end = _renamed(end, inner)
    for i in reversed(attempt.free):
        end = loops.Loop(f"{i}_end", attempt.extents()[i], end)
    vectors = [(name, DENSE(len(indices))) for name in names]
    return _Parts(before, [counted.body], [end], [*temporaries, *vectors])


def _renamed(stmt: loops.Stmt, indices: Mapping[str, loops.Index]) -> loops.Stmt:
    """A statement over other indices, its target included."""
    assert isinstance(stmt, loops.Assign)

    def rule(e: loops.Expr) -> loops.Expr | None:
        return indices.get(e.name) if isinstance(e, loops.Index) else None

    target = loops.Access(stmt.target.tensor, tuple(indices[i.name] for i in stmt.target.indices))  # type: ignore[union-attr]
    changed = rewrite_stmt(stmt, on_expr=rule)
    assert isinstance(changed, loops.Assign)
    return loops.Assign(target, changed.op, changed.value)


def with_numbers(stmt: loops.Stmt) -> tuple[loops.Stmt, tuple[int, ...]]:
    """A statement that counts only the numbers it uses, and which they are."""
    used = {n.mode for n in walk(stmt) if isinstance(n, loops.Dimension) and n.tensor == NUMBERS}
    numbers = tuple(sorted(used))
    places = {number: k for k, number in enumerate(numbers)}

    def rule(e: loops.Expr) -> loops.Expr | None:
        match e:
            case loops.Dimension(tensor, number) if tensor == NUMBERS:
                return loops.Dimension(NUMBERS, places[number])
        return None

    return rewrite_stmt(stmt, on_expr=rule), numbers
