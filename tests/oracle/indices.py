"""Random accesses: indices of loops, computed indices that stay inside, and some that do not."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.scopes import Known, Notebook, Scope
from tests.oracle.values import Typed, call, literals

from linnet import loops
from linnet.algebra import table
from linnet.algebra.dtypes import kind
from linnet.algebra.function import Function

OFFSET = "O"  # a scalar that is added to indices
PROTOCOLS = ("", "walk", "gallop", "follow")


def combine(function: Function, a: loops.Expr, b: loops.Expr | int) -> loops.Expr:
    """A call with an index, where a number may stand for itself."""
    return loops.Call(function, (a, loops.Literal(b) if isinstance(b, int) else b))


class Indexing(Notebook):
    """Writes accesses."""

    def access(self, scope: Scope, tensor: Known, update: bool = False) -> loops.Access | None:
        """An access within bounds, if there are indices for all modes."""
        indices = []
        for dim in tensor.dims:
            index = self.index(scope, dim, nested=True)
            if index is None:
                return None
            indices.append(index)
            if any(r.guest and r.dim == dim and index == loops.Index(r.index) for r in scope.loops):
                self.visited.add(tensor.name)
        protocols: tuple[str, ...] = ()
        if not update and indices and self.one_in(8):
            protocols = tuple(self.choose(PROTOCOLS) for _ in indices)
        return loops.Access(tensor.name, tuple(indices), protocols)

    def index(self, scope: Scope, dim: str, nested: bool) -> loops.Expr | None:
        """An index that stays within a dimension: mostly that of a loop."""
        if self.style.careless and scope.loops and self.one_in(6):
            return self.anywhere(scope)
        mine = [r for r in scope.loops if r.dim == dim]
        plain: list[loops.Expr] = [loops.Index(r.index) for r in mine]
        rarely = 2 if self.style.beside or (self.style.gathers and nested) else 8
        if plain and not (self.style.computed and self.one_in(rarely)):
            return self.choose(plain)
        options = list(self.looked_up(scope, dim, nested))
        if not (options and self.style.gathers):
            options += self.shifted(scope, dim)
        return self.choose(options or plain) if options or plain else None

    def shifted(self, scope: Scope, dim: str) -> Iterator[loops.Expr]:
        """Indices that follow from those of loops over the same dimension, or are kept in it."""
        mine = [r for r in scope.loops if r.dim == dim]
        yield from (index for d, index in scope.sums if d == dim)
        for c in range(self.least[dim]):
            yield loops.Literal(c)
        for r in mine:
            i = loops.Index(r.index)
            for c in range(1, r.high + 1):
                yield combine(table.add, i, c)
            for c in range(1, r.low + 1):
                yield combine(table.subtract, i, c)
            last = combine(table.subtract, self.anchors[dim], 1)
            yield combine(table.subtract, last, i)
            yield combine(table.floor_divide, i, 2)
            for c in range(r.stride) if r.stride > 1 else ():
                yield combine(table.add, combine(table.multiply, i, r.stride), c)
            if r.stride > 1:
                yield combine(table.subtract, last, combine(table.multiply, i, r.stride))
            for s in (s for s in mine if s is not r):
                j = loops.Index(s.index)
                yield combine(table.minimum, i, j)
                yield loops.Call(table.absolute, (combine(table.subtract, i, j),))
                if r.stride > 1 and s.stride > 1:  # each runs over half of the dimension
                    yield combine(table.add, i, j)

    def looked_up(self, scope: Scope, dim: str, nested: bool) -> Iterator[loops.Expr]:
        """Indices that tensors hold: `A[I[i]]`."""
        for name, recipe in self.recipes.items():
            known = self.tensors[name]
            if recipe.limit != dim or not nested or known.cost > self.room:
                continue
            where = [self.index(scope, d, nested=False) for d in known.dims]
            found = [w for w in where if w is not None]
            if len(found) == len(where):
                self.room -= known.cost
                yield loops.Access(name, tuple(found))

    def beyond(self, scope: Scope, tensor: Known) -> Typed | None:
        """`coalesce(A[~(i - 1)], 0)`: what is read outside the bounds is said."""
        indices, protocols = [], []
        for dim in tensor.dims:
            index = self.index(scope, dim, nested=False)
            lenient = bool(scope.loops) and (index is None or self.one_in(2))
            if index is None and not lenient:
                return None
            indices.append(self.anywhere(scope) if lenient else index)
            protocols.append("permissive" if lenient else "")
        access = loops.Access(tensor.name, tuple(i for i in indices if i), tuple(protocols))
        value = Typed(access, tensor.dtype, tensor.bound)
        return (
            call(table.coalesce, value, self.draw(literals()))
            if "permissive" in protocols
            else value
        )

    def affine(self, scope: Scope) -> loops.Expr:
        """Multiples of indices, of either sign, and an offset; perhaps divided."""
        total = self.offset(scope)
        for _ in range(self.choose((1, 1, 2, 0))):
            term: loops.Expr = loops.Index(self.choose(scope.loops).index)
            factor = self.choose((1, 1, 2, 3))
            if factor > 1:
                term = combine(table.multiply, term, factor)
            sides = (total, term) if self.one_in(2) else (term, total)
            total = loops.Call(self.choose((table.add, table.subtract)), sides)
        if self.one_in(6):
            divide = self.choose((table.floor_divide, table.remainder))
            return combine(divide, total, self.choose((2, 3)))
        return total

    def offset(self, scope: Scope) -> loops.Expr:
        """What is added to an index: a number, or what is read and does not change in the loop."""
        named = [x.expr for x in scope.lets if kind(x.dtype) == "i" and x.bound <= 8]
        if named and self.one_in(2):
            return self.choose(named)
        if OFFSET in scope.reads and self.one_in(2):
            return loops.Access(OFFSET, ())
        return loops.Literal(self.choose((1, 0, 2, 3, 4)))

    def anywhere(self, scope: Scope) -> loops.Expr:
        """An index that may lie outside a dimension, on either side."""
        i, j = (loops.Index(self.choose(scope.loops).index) for _ in range(2))
        c = self.choose((1, 2, 3))
        if self.style.affine:
            return self.affine(scope)
        return self.choose(
            [
                combine(table.subtract, i, c),
                combine(table.add, i, c),
                combine(table.multiply, i, c),
                combine(table.add, i, j),
                combine(table.subtract, i, j),
                combine(table.subtract, loops.Literal(c), i),
                combine(table.subtract, loops.Literal(c + 2), combine(table.multiply, i, 2)),
                combine(table.subtract, j, combine(table.multiply, i, c)),
                combine(table.add, combine(table.multiply, i, 2), j),
            ]
        )
