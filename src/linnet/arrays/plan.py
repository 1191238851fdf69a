"""A graph cut into kernels, as few as the order of loops allows.

Every output is computed by one nest of loops, with all that is below it inside. Only a reduction
that is needed in another order than it can be computed in is computed before, and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from linnet import loops
from linnet.algebra.dtypes import Number, as_python, concrete
from linnet.arrays.arrange import After, arrange, edges, in_order, names_in, with_edges
from linnet.arrays.graph import fill_of
from linnet.arrays.nest import NUMBERS, At, Pull, Reading, Scalar, all_scalars, nest
from linnet.arrays.nodes import Leaf, Node, Reduce
from linnet.arrays.result import format_of_result
from linnet.arrays.trace import Trace, well_filled
from linnet.formats.format import Format
from linnet.formats.named import SCALAR, recognize
from linnet.loops.rewrite import block, rewrite_stmt, walk
from linnet.names import Names
from linnet.normalize.simplify import same
from linnet.runtime.kernel import Kernel
from linnet.runtime.sizes import runs_of


@dataclass(frozen=True, slots=True)
class Step:
    """A kernel: the slots that it reads, the formats that it writes, the numbers it is given.

    `reorder` are the operands that are stored otherwise first. `dense` says that the result stores
    dimensions densely that no operand does; `nominal` is the fill value of a dense one.
    """

    kernel: Kernel
    format: Format
    inputs: tuple[int, ...]
    numbers: tuple[int, ...]
    reorder: Mapping[int, Format]
    dense: tuple[tuple[int, ...], ...]
    final: Format | None
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in order. Slots are the operands, then the results of the steps."""

    steps: tuple[Step, ...]
    nodes: tuple[int, ...]  # what each step computes, by its place in the trace
    outputs: tuple[int, ...]  # slots


def plan(trace: Trace, outputs: Sequence[Node], wanted: Sequence[Format | None]) -> Plan:
    """Decide what is computed by which kernel."""
    state = _Planner(trace, {id(n): w for n, w in zip(outputs, wanted, strict=True)})
    for node in sorted(outputs, key=lambda n: trace.places[id(n)]):
        state.compute(node)
    slots = tuple(state.slots[id(n)] for n in outputs)
    return Plan(tuple(state.steps), tuple(state.computed), slots)


@dataclass(slots=True)
class _Planner:
    trace: Trace
    wanted: Mapping[int, Format | None]
    steps: list[Step] = field(default_factory=list)
    computed: list[int] = field(default_factory=list)
    slots: dict[int, int] = field(default_factory=dict)  # of nodes, by identity
    names: dict[int, str] = field(default_factory=dict)
    formats: dict[str, Format] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    taken: Names = field(default_factory=lambda: Names({NUMBERS, "out"}))

    def __post_init__(self) -> None:
        for number, tensor in enumerate(self.trace.tensors):
            name = self.taken.fresh(chr(ord("A") + number % 26))
            self.formats[name] = tensor.contents().format
            self.stored[name] = tensor.contents().nnz
            for node in self.trace.nodes:
                if isinstance(node, Leaf) and node.tensor is tensor:
                    self.names[id(node)], self.slots[id(node)] = name, number

    def compute(self, node: Node, why: str = "") -> None:
        """Add the steps that compute a node, unless there are such."""
        if id(node) in self.slots and self.wanted.get(id(node)) is None:
            return
        while True:
            found = _Attempt(self, node)
            missing = found.missing()
            if not missing:
                break
            for before, reason in missing:
                self.compute(before, reason)
        step = found.step(why)
        self.steps.append(step)
        self.computed.append(self.trace.places[id(node)])
        self.slots[id(node)] = len(self.trace.tensors) + len(self.steps) - 1
        if not isinstance(node, Leaf):
            name = self.taken.fresh("R")
            self.names[id(node)] = name
            held = step.final or step.format.with_dtype(concrete(node.dtype))
            self.formats[name] = held if held.fill_value is not None else held.with_fill(
                as_python(fill_of(node), concrete(node.dtype)))  # fmt: skip


class _Attempt:
    """One node as one nest of loops."""

    def __init__(self, planner: _Planner, node: Node) -> None:
        self.planner, self.node = planner, node
        own = isinstance(node, Leaf)
        names = planner.names if own else {k: v for k, v in planner.names.items() if k != id(node)}
        self.pull = Pull(planner.trace, names)
        self.free = tuple(self.pull.index() for _ in node.shape)
        at = tuple(At(name) for name in self.free)
        self.scalars: list[Scalar] = []
        self.reduced: list[str] = []
        self.op = node.function if isinstance(node, Reduce) else None
        if isinstance(node, Reduce):
            self.reduced, self.value = self.pull.body(node, at, self.scalars)
        else:
            self.value = self.pull.expr(node, at, self.scalars)
        self.order: list[str] = []
        self.against: list[str] = []

    # -- order -------------------------------------------------------------------------------------

    def missing(self) -> list[tuple[Reduce, str]]:
        """Reductions that have to be computed before, and why; also finds the order of loops."""
        indices = [*self.free, *self.reduced]
        first: After = {i: set() for i in indices}
        for scalar in self.scalars:
            first = with_edges(first, [(f, g) for f in scalar.outer for g in indices
                                       if g not in scalar.outer])  # fmt: skip
            if in_order(first) is None:
                return [(scalar.node, "other results are needed in another order of loops")]
        read = accesses_in(self.value)
        self.order, self.against = arrange(
            indices, read, self.planner.formats, self.planner.stored, first
        )
        late = [s for s in self.scalars if s.outer]
        if self.against and late:
            why = f"{self.against[0]} is walked in another order where it is used"
            return [(s.node, why) for s in late]
        for scalar in all_scalars(self.scalars):
            if self._backward(scalar):
                return [(scalar.node, "its operands are walked in another order")]
        return []

    def _backward(self, scalar: Scalar) -> bool:
        """Whether a scalar's operands are stored in an order in which it cannot be computed."""
        inner = set(scalar.indices)
        pairs = [p for a in accesses_in(scalar.value) for p in edges(a, self._format(a))]
        after = with_edges({i: set() for i in scalar.indices}, pairs)
        nested = any(s.outer and not s.outer >= scalar.outer for s in scalar.scalars)
        return nested or in_order(after) is None or any(
            a in inner and b not in inner for a, b in pairs
        )  # fmt: skip

    def ordered(self, scalar: Scalar, path: tuple[str, ...]) -> tuple[str, ...]:
        """The loops of a scalar in order."""
        pairs = [p for a in accesses_in(scalar.value) for p in edges(a, self._format(a))]
        after = with_edges({i: set() for i in scalar.indices}, pairs)
        for inner in scalar.scalars:
            own = inner.outer & set(scalar.indices)
            after = with_edges(after, [(f, g) for f in own for g in scalar.indices
                                       if g not in own])  # fmt: skip
        order = in_order(after)
        assert order is not None
        return tuple(order)

    def _format(self, access: loops.Access) -> Format:
        return self.planner.formats[str(access.tensor)]

    # -- the kernel --------------------------------------------------------------------------------

    def step(self, why: str) -> Step:
        """The kernel, and what to give it."""
        planner, node = self.planner, self.node
        init, format = self._result()
        target = loops.Access("out", tuple(loops.Index(i) for i in self.free))
        body = loops.Assign(target, self.op, self.value)
        reading = Reading((), tuple(self.order), (body,))
        stmts, _ = nest(reading, tuple(self.scalars), self._extents(), self.ordered)
        dtype = concrete(node.dtype)
        declare = loops.Declare("out", loops.Literal(init, dtype))
        code, numbers = with_numbers(block((declare, *stmts)))
        used = list(dict.fromkeys(str(a.tensor) for a in self._reads()))
        slots = {name: planner.slots[i] for i, name in planner.names.items()}
        params = ("out", *used, *((NUMBERS,) if numbers else ()))
        temps = tuple((s.temp, SCALAR) for s in _distinct(all_scalars(self.scalars)))
        program = loops.Program("array", params, temps, code, ("out",))
        nominal = as_python(0, dtype) if self._nominal(init) else None
        settled = format.with_dtype(dtype) if format.dtype is None else format
        return Step(
            kernel=Kernel(program),
            format=format,
            inputs=tuple(slots[name] for name in used),
            numbers=numbers,
            reorder={slots[n]: reordered(planner.formats[n], self._access(n), self.order)
                     for n in self.against},
            dense=() if planner.wanted.get(id(node)) else self._dense(format, used),
            final=None if nominal is None else settled.with_fill(nominal),
            why=why,
        )  # fmt: skip

    def _result(self) -> tuple[Number, Format]:
        """What the result is declared with, and its format."""
        node, planner = self.node, self.planner
        init = node.initial if isinstance(node, Reduce) else fill_of(node)
        format = planner.wanted.get(id(node))
        if format is None:
            types = {n: f.dtype or "float64" for n, f in planner.formats.items()}
            types |= {s.temp: s.node.dtype for s in all_scalars(self.scalars)}
            format = format_of_result(
                self.value, self.free, self.order, self.op, init, planner.formats, types,
                all(well_filled(tensor.contents()) for tensor in planner.trace.tensors),
            )  # fmt: skip
        elif format.fill_value is not None:
            init = format.fill_value
        return init, format

    def _nominal(self, init: Number) -> bool:
        """Whether the value that a dense result is declared with is not one that it holds."""
        return isinstance(self.node, Reduce) and not same(init, fill_of(self.node))

    def _extents(self) -> dict[str, loops.Extent | None]:
        """How far the loops run: over a dimension of an operand, or as far as is said."""
        names = {*self.free, *self.reduced}
        names |= {i for s in all_scalars(self.scalars) for i in s.indices}
        extents: dict[str, loops.Extent | None] = dict.fromkeys(names)
        for name in names - self.pull.bound:
            stop = loops.Dimension(NUMBERS, self.pull.extents[name])
            extents[name] = loops.Extent(loops.Literal(0), stop)
        return extents

    def _reads(self) -> list[loops.Access]:
        """All accesses to tensors that are not the kernel's own."""
        values = [self.value, *(s.value for s in all_scalars(self.scalars))]
        temps = {s.temp for s in all_scalars(self.scalars)}
        found = [n for v in values for n in walk(v) if isinstance(n, loops.Access)]
        return [a for a in found if a.tensor not in temps]

    def _access(self, name: str) -> loops.Access:
        return next(a for a in self._reads() if a.tensor == name)

    def _dense(self, format: Format, used: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Dimensions that the result stores densely, and no operand does so."""
        own = [len(run) for name in used for run in runs_of(self.planner.formats[name])]
        most = max(own, default=0)
        return tuple(run for run in runs_of(format) if len(run) > most)


def accesses_in(expr: loops.Expr) -> list[loops.Access]:
    """The accesses of an expression that have indices."""
    return [n for n in walk(expr) if isinstance(n, loops.Access) and n.indices]


def _distinct(scalars: Iterable[Scalar]) -> list[Scalar]:
    return list({s.temp: s for s in scalars}.values())


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


def reordered(format: Format, access: loops.Access, order: Sequence[str]) -> Format:
    """The format with its dimensions stored in the order of the loops."""

    def place(mode: int) -> int:
        return max((order.index(name) for name in names_in(access.indices[mode])), default=-1)

    return recognize(format.with_order(*sorted(range(format.ndim), key=place)))
