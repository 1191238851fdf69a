"""Random programs about one level and one thing that is done with it: a wrapper or a mask.

In programs at large, a given pair of them is too rare to be drawn often enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st
from tests.oracle.expressions import combine
from tests.oracle.formats import ALL
from tests.oracle.programs import Author
from tests.oracle.scopes import Case, Known, Running, Scope, Style, Wish
from tests.oracle.uses import EQUALS, MASKS, ORDERS, PROTOCOLS, wrappers
from tests.oracle.values import Typed

import linnet as ln
from linnet import loops
from linnet.algebra import table
from linnet.formats.format import Format
from linnet.formats.level import Level

STYLE = Style(operands=2, ndim=2, depth=3, statements=1, terms=1, temporaries=False, kept=False)
HALF = ("stride", "sum")  # of indices that run over half of a dimension


@dataclass
class Wrapped(Author):
    """Writes a program in which much is done in one way, and most tensors have one level."""

    level: type[Level] = ln.Dense
    way: str = ""

    def kinds(self, usual: tuple[type[Level], ...]) -> tuple[type[Level], ...]:
        return (*(self.level,) * len(ALL), *ALL)

    def mostly(self, *ways: str) -> bool:
        """True most of the time, in programs about one of these; never in others."""
        return self.way in ways and not self.one_in(4)

    # -- statements ------------------------------------------------------------------------------

    def statement(self, scope: Scope, wish: Wish) -> loops.Stmt:
        """Two loops at least, so that there is something to compare; then perhaps a mask."""
        nests = bool(self.anchors) and len(scope.loops) < 2
        if not nests and not (scope.loops and self.way in (*MASKS, "sum") and self.one_in(2)):
            return super().statement(scope, wish)
        self.left -= 1
        if scope.outermost:
            self.room = self.style.room
        return self.nest(scope, [], wish) if nests else self.branch(scope, wish)

    def extent(self, scope: Scope, index: str, dim: str) -> tuple[loops.Extent | None, Running]:
        if self.mostly(*HALF):
            half = combine(table.floor_divide, self.anchors[dim], 2)
            part = Running(index, dim, stride=2, full=False)
            return loops.Extent(loops.Literal(0), half), part
        if not self.mostly("window", "offset"):
            return super().extent(scope, index, dim)
        c, end = self.choose((1, 2)), self.anchors[dim]
        part = Running(index, dim, low=c, high=c, full=False)
        return loops.Extent(loops.Literal(c), combine(table.subtract, end, c)), part

    def guest(self, scope: Scope) -> tuple[Scope, loops.Expr] | None:
        """`if i + j < A.shape[0]: …`: the sum is an index of this dimension."""
        if not scope.loops or not self.mostly("sum"):
            return super().guest(scope)
        dim = self.choose(list(self.anchors))
        i, j = (loops.Index(self.choose(scope.loops).index) for _ in range(2))
        both = combine(table.add, i, j)
        inside = replace(scope.inside(), sums=(*scope.sums, (dim, both)))
        return inside, loops.Call(table.less, (both, self.anchors[dim]))

    def new_output(self, scope: Scope) -> loops.Access:
        """Results are wrapped, too."""
        plain = super().new_output(scope)
        tensor = self.tensors[str(plain.tensor)]
        self.tensors[tensor.name] = tensor = replace(tensor, format=self.turned(tensor.format))
        return self.access(scope, tensor, update=True) or plain

    def known(self, tensor: Known) -> None:
        recipe, format = self.recipes[tensor.name], self.turned(tensor.format)
        self.recipes[tensor.name] = replace(recipe, format=format)
        super().known(replace(tensor, format=format))

    def turned(self, format: Format) -> Format:
        """A matrix may be stored by columns."""
        turn = format.ndim == 2 and self.mostly("transposition")
        return format.with_order(1, 0) if turn else format

    # -- accesses --------------------------------------------------------------------------------

    def reading(self, scope: Scope, name: str) -> Typed | None:
        tensor = self.tensors[name]
        if tensor.dims and self.mostly("permissive"):
            return self.beyond(scope, tensor)
        return super().reading(scope, name)

    def access(self, scope: Scope, tensor: Known, update: bool = False) -> loops.Access | None:
        made = super().access(scope, tensor, update)
        if made is None or update or not self.mostly(*PROTOCOLS[:3]):
            return made
        return replace(made, protocols=(self.way,) * len(made.indices))

    def index(self, scope: Scope, dim: str, nested: bool) -> loops.Expr | None:
        wished = [i for i in self.shifted(scope, dim) if self.way in wrappers(i)]
        if wished and self.mostly(self.way):
            return self.choose(wished)
        return super().index(scope, dim, nested)

    # -- masks -----------------------------------------------------------------------------------

    def condition(self, scope: Scope) -> Typed:
        if scope.loops and self.mostly(*MASKS):
            return Typed(self.mask(scope, self.way), "bool", 1)
        return super().condition(scope)

    def mask(self, scope: Scope, way: str) -> loops.Expr:
        """A comparison of indices."""
        first, second = (self.shuffled(list(scope.loops)) * 2)[:2]
        i, j, c = loops.Index(first.index), loops.Index(second.index), self.choose((0, 1, 2))
        beside = combine(table.add, j, c) if c else j
        match way:
            case "triangle":
                return combine(self.choose(ORDERS), i, beside)
            case "diagonal":
                return combine(self.choose(EQUALS), i, beside)
            case "band":
                distance = loops.Call(table.absolute, (combine(table.subtract, i, j),))
                return combine(self.choose(ORDERS), distance, c)
            case "parity":
                residue = combine(table.remainder, i, self.choose((2, 3)))
                return combine(self.choose(EQUALS), residue, c)
            case "negation":
                return loops.Call(table.logical_not, (self.mask(scope, self.choose(MASKS)),))
            case _:
                both = (self.mask(scope, self.choose(MASKS)) for _ in range(2))
                return loops.Call(table.logical_and, tuple(both))


@st.composite
def wrapped(draw: st.DrawFn, level: type[Level], way: str) -> Case:
    """A program about this level and what is done with it."""
    return Wrapped(draw, STYLE, level=level, way=way).program()
