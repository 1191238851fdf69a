"""`ln.schedule(y)`: an equation in index notation under commands that say how its loops are run.

    plan = ln.schedule(y).split(i, i0, i1, 32).reorder(i0, j, i1)
    y = plan.run()

It is one program, its commands, and its operands: `plan.kernel` is a kernel under a schedule like
that of `kernel.schedule()`. Formats are known, so that a command is applied where it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from linnet.algebra.dtypes import Number
from linnet.arrays.as_loops import AsLoops, as_loops
from linnet.arrays.evaluate import check_dense, evaluate, handed_on
from linnet.arrays.graph import leaf
from linnet.arrays.lazy import Lazy
from linnet.arrays.nodes import Leaf, Node, Notation
from linnet.arrays.written import Expression
from linnet.compiler import under_schedule
from linnet.errors import ArgumentError, Location, ScheduleError
from linnet.explanation import Explanation, explain
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.frontend.index import Output
from linnet.loops.nodes import Access, Expr, Program
from linnet.loops.printer import show
from linnet.loops.rewrite import rewrite_expr
from linnet.pictures.iterations import iterations
from linnet.runtime.scheduled import Commanded, Named, ScheduledKernel, name_of
from linnet.runtime.specialize import formats_of
from linnet.runtime.visited import visited

if TYPE_CHECKING:
    from linnet.pictures.shapes import Picture
    from linnet.runtime.visits import Visits


@located
def schedule(output: Output) -> ScheduledEquation:
    """The equation of an output as one nest of loops, to be given commands.

    The loops are those of its text, the indices of the result first; a summed index is a loop
    around its own term only. They have the names of the indices, and tensors those of the user's
    variables, where these can be known.

    >>> i, j, i0, i1 = ln.indices("i j i0 i1")
    >>> y = ln.output()
    >>> y[i] = A[i, j] * x[j]
    >>> ln.schedule(y).split(i, i0, i1, 32).run()
    """
    if not isinstance(output, Output):
        raise ArgumentError(
            f"{type(output).__name__} objects have no equation to schedule",
            hint="y = ln.output(), an equation y[i] = …, then ln.schedule(y); or kernel.schedule()",
        )
    given = output.named()
    nodes = {n: a.node if isinstance(a, Lazy) else leaf(a, n) for n, a in given.operands.items()}
    return scheduled_of(given.notation, nodes, given.wanted, given.fill, given.known)


def scheduled_of(
    notation: Notation,
    operands: Mapping[str, Node],
    wanted: Format | None,
    fill: Number | None,
    known: Mapping[str, str],
) -> ScheduledEquation:
    """An equation under a schedule that has no commands yet; operands are computed first."""
    tensors = {name: tensor_of(node) for name, node in operands.items()}
    leaves = {name: leaf(tensor, name) for name, tensor in tensors.items()}
    return ScheduledEquation(as_loops(notation, leaves, wanted, fill), tensors, known)


class ScheduledEquation(Commanded):
    """An equation under a schedule, and its operands. A command gives another one."""

    def __init__(
        self, made: AsLoops, operands: Mapping[str, Tensor], known: Mapping[str, str]
    ) -> None:
        self._made = made
        self._operands = operands
        self._known = known

    @property
    def program(self) -> Program:
        """The loops before the commands, and the commands."""
        return self._made.program

    @property
    def kernel(self) -> ScheduledKernel:
        """The kernel: called with the result and the operands, in the order of `params`."""
        places = tuple(command.at for command in self.program.schedule)
        return _kernel(show(self.program), self.program, places)

    # -- commands --------------------------------------------------------------------------------

    def _under(self, program: Program) -> Self:
        made = type(self)(replace(self._made, program=program), self._operands, self._known)
        made._check()
        return made

    def _check(self) -> None:
        """Apply the commands, so that what is wrong with one is told where it is given."""
        formats = formats_of(self.kernel, self.kernel.signatures(self._arguments()))
        under_schedule(self.program, formats, final=False)

    def _operand(self, operand: object) -> Access:
        """An access as it is written: with indices, or as text."""
        if isinstance(operand, Expression):
            expr = self._expression(operand)
            if not isinstance(expr, Access):
                raise ScheduleError(f"`{show(expr)}` is not an access", hint="A[i, j]")
            return expr
        return super()._operand(operand)

    def _part(self, expr: object) -> str:
        """A part of an update: an expression over indices, or its text."""
        return super()._part(show(self._expression(expr)) if isinstance(expr, Expression) else expr)

    def _expression(self, given: Expression) -> Expr:
        """An expression with the names that the program has for its tensors."""
        unknown = [array for name, array in given.operands.items() if name not in self._known]
        if unknown:
            raise ScheduleError(
                f"{unknown[0]!r} is not in the equation",
                at=Location.of_caller(),
                hint=f"its operands are {', '.join(self._operands)}",
            )
        return rewrite_expr(given.expr, self._renamed)

    def _renamed(self, expr: Expr) -> Expr | None:
        match expr:
            case Access(str(tensor)):
                return replace(expr, tensor=self._known[tensor])
        return None

    # -- running ---------------------------------------------------------------------------------

    def over(self, operands: Mapping[str, Tensor]) -> ScheduledEquation:
        """The same for other operands in the same formats and sizes, or for none."""
        own = {name: operands[name] for name in self.kernel.params if name in operands}
        return type(self)(self._made, own, self._known)

    @located
    def run(self) -> Tensor:
        """The tensor that the equation computes, by the loops as they are scheduled."""
        made, operands = self._made, [*self._operands.values()]
        check_dense(made.dense, made.shape, operands)
        result, *given = self._arguments()
        self.kernel(result, *given)
        return handed_on(result, made.final, made.convert)

    def _arguments(self) -> list[Tensor]:
        return [Tensor(self._made.format, None), *self._operands.values()]

    # -- looking ---------------------------------------------------------------------------------

    @property
    def loops(self) -> str:
        """The program after its commands, as the compiler completed it."""
        return self.kernel.loops(*self._arguments())

    @property
    def code(self) -> str:
        """The C code that is run."""
        return self.kernel.code(*self._arguments())

    @located
    def explain(self, *others: object) -> Explanation:
        """Every stage of the compiler; each command is one."""
        if others:
            raise ArgumentError("a scheduled equation is one kernel, and explained by itself")
        return explain(self.kernel, *self._arguments())

    @located
    def visits(self) -> Visits:
        """How much work it is: every turn of every loop, by what the loop walks."""
        return self.kernel.visits(*self._arguments())

    @located
    def draw(self, operand: object, *tiles: Named) -> Picture:
        """The elements of an operand by the tile that they are in: `plan.draw(A[i, j], i0)`.

        `tiles` are loops that count tiles. Numbers say in which order what is stored is visited.
        """
        access = self._operand(operand)
        names = map(name_of, tiles)
        tensor = str(access.tensor)
        seen = visited(self.kernel, self._arguments(), tensor, *names)
        title = f"{tensor}: {self.commands or 'as written'}"
        return iterations(seen, self._operands[tensor], title)

    def __repr__(self) -> str:
        written = replace(self.program, schedule=())
        return (
            f"<{show(written)}\nunder {self.commands}>" if self.commands else f"<{show(written)}>"
        )


@lru_cache(maxsize=1024)
def _kernel(text: str, program: Program, places: tuple[Location | None, ...]) -> ScheduledKernel:
    """One kernel for all that come to the same program, under commands of the same places."""
    return ScheduledKernel(program)


def tensor_of(node: Node) -> Tensor:
    """An operand, which is computed if it has not been."""
    return node.tensor if isinstance(node, Leaf) else evaluate([node])[0]
