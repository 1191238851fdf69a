"""An equation as one nest of loops, in the order of its text: the indices of the result first.

    y[i] = b[i] + A[i, j] * x[j]            y[...] = 0
                                            for i in ...:
                                                t[...] = 0
                                                for j in ...:
                                                    t[()] += A[i, j] * x[j]
                                                y[i] = b[i] + t[()]

Nothing is cut off, fused or put into another order: commands of a schedule are there for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from linnet import loops
from linnet.algebra.dtypes import Number, concrete
from linnet.algebra.function import Function
from linnet.algebra.table import add
from linnet.arrays.equation import graph_of, reduced_in, summed_apart
from linnet.arrays.nodes import Labels, Node, Notation
from linnet.arrays.plan import Plan, Result, plan
from linnet.arrays.trace import Trace
from linnet.formats.format import Format
from linnet.formats.named import SCALAR, settle
from linnet.loops.rewrite import block, map_args, walk
from linnet.names import Names
from linnet.records import dataclass

NAME = "equation"
"""What the kernels of scheduled equations are called."""


@dataclass(frozen=True, slots=True)
class AsLoops:
    """The program of an equation, and its result.

    The result is written in `format`, and handed on as `final`, where only the fill value is
    another, or after it has been stored as `convert`. `dense` are dimensions that it stores
    densely, and no operand does.
    """

    program: loops.Program
    shape: tuple[int, ...]
    format: Format
    final: Format | None
    convert: Format | None
    dense: tuple[tuple[int, ...], ...]


def as_loops(
    notation: Notation,
    operands: Mapping[str, Node],
    wanted: Format | None = None,
    fill: Number | None = None,
) -> AsLoops:
    """The loops that compute what an equation says, of operands that are tensors."""
    node, labels = graph_of(notation, operands, fill)
    dtype, state = concrete(node.dtype), _Terms(notation, operands, Names(_taken(notation)))
    given, init = _result(_planned(node, wanted, labels))
    final, op = given.final, state.op
    if op is None:
        inside = state.assigned()
    else:
        handed = settle(final or given.format, dtype, init)
        init = state.initial(op, dtype, fill)
        # what a dense result begins with is another matter than its fill value, as everywhere
        final = handed if settle(given.format, dtype, init) != handed else None
        update = loops.Assign(notation.target, op, notation.value, notation.at)
        inside = state.nest(reduced_in(notation.value, notation.free), update)
    declare = loops.Declare(notation.result, loops.Literal(init, dtype))
    code = block([declare, state.nest(notation.free, inside)])
    params, result = (notation.result, *operands), (notation.result,)
    program = loops.Program(NAME, params, tuple(state.temporaries), code, result, notation.at)
    return AsLoops(program, node.shape, given.format, final, given.convert, given.dense)


def _planned(node: Node, wanted: Format | None, labels: Labels) -> tuple[Trace, Plan]:
    """How an equation would be computed without a schedule."""
    found = Trace()
    found.place(node)
    return found, plan(found, [node], [wanted], [labels])


def _result(found: tuple[Trace, Plan]) -> tuple[Result, Number]:
    """The result that nobody has scheduled, and what it begins with."""
    trace, planned = found
    for step in planned.steps:
        for result, name in zip(step.results, step.kernel.program.results, strict=True):
            if result.slot == planned.outputs[0]:
                nodes = walk(step.kernel.program.body)
                begin = next(n for n in nodes if isinstance(n, loops.Declare) and n.tensor == name)
                assert isinstance(begin.init, loops.Literal)
                return result, begin.init.value
    held = trace.tensors[planned.outputs[0]].contents().format  # an operand as it is
    assert held.fill_value is not None
    return Result(0, (), 0, held, (), None, None, ""), held.fill_value


def _taken(notation: Notation) -> set[str]:
    """The names that an equation uses."""
    found = {notation.result}
    for node in (*walk(notation.target), *walk(notation.value)):
        match node:
            case loops.Index(name) | loops.Access(str(name)) | loops.Dimension(name):
                found.add(name)
    return found


@dataclass(slots=True)
class _Terms:
    """What sums inside an expression are collected in."""

    notation: Notation
    operands: Mapping[str, Node]
    names: Names
    temporaries: list[tuple[str, Format]] = field(default_factory=list)

    @property
    def op(self) -> Function | None:
        """By which function the whole value is put together, if there is one."""
        notation = self.notation
        if not reduced_in(notation.value, notation.free):
            return None
        apart = notation.op is None and summed_apart(notation.value, notation.free)
        return None if apart else notation.op or add

    def nest(self, indices: Sequence[str], body: loops.Stmt) -> loops.Stmt:
        """A statement in loops over whole dimensions."""
        for index in reversed(indices):
            body = loops.Loop(index, None, body, self.notation.at)
        return body

    def assigned(self) -> loops.Stmt:
        """The value is assigned; what is summed up in it has been before."""
        before: list[loops.Stmt] = []
        value = self._value(self.notation.value, before)
        return block([*before, loops.Assign(self.notation.target, None, value)])

    def _value(self, expr: loops.Expr, before: list[loops.Stmt]) -> loops.Expr:
        reduced = reduced_in(expr, self.notation.free)
        if not reduced:
            return expr
        if summed_apart(expr, self.notation.free):
            return map_args(expr, lambda e: self._value(e, before))
        name = self.names.fresh("t")
        self.temporaries.append((name, SCALAR))
        node = self._sum_of(expr)
        target = loops.Access(name, ())
        update = loops.Assign(target, add, expr)
        before += [
            loops.Declare(name, loops.Literal(0, concrete(node.dtype))),
            self.nest(reduced, update),
        ]
        return target

    def _sum_of(self, expr: loops.Expr) -> Node:
        """A term by itself, as einsum computes it."""
        free = {i for i in self.notation.free if loops.Index(i) in walk(expr)}
        kept = tuple(loops.Index(i) for i in self.notation.free if i in free)
        target = loops.Access(self.notation.result, kept)
        return graph_of(Notation(target, add, expr, self.notation.at), self.operands)[0]

    def initial(self, op: Function, dtype: str, fill: Number | None) -> Number:
        """What a reduction begins with."""
        found = op.identity(dtype) if fill is None else fill
        assert found is not None
        return found
