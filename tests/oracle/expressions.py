"""Random expressions and conditions."""

from __future__ import annotations

from tests.oracle.functions import USER
from tests.oracle.indices import Indexing, combine
from tests.oracle.scopes import Scope
from tests.oracle.values import BINARY, COMPARISONS, UNARY, Typed, call, literals

from linnet import loops
from linnet.algebra import table
from linnet.algebra.dtypes import kind

# One argument of these may say that another does not count.
DECIDING = (
    *(*USER, table.multiply, table.where, table.minimum, table.maximum, table.floor_divide),
    *(table.logical_and, table.logical_or, table.bitwise_and, table.bitwise_or, table.coalesce),
)


class Expressions(Indexing):
    """Writes values."""

    def expression(self, scope: Scope, depth: int, read: str | None = None) -> Typed:
        """An expression; `read` names a tensor that it has to use."""
        if depth == 0:
            return self.atom(scope, read)
        if self.one_in(5):
            value = self.expression(scope, depth - 1, read)
            return call(self.choose(UNARY), value) or value
        if self.one_in(2 if self.style.choices else 8):
            return self.choice(scope, depth, read)
        if self.style.decided and self.one_in(2):
            return self.decided(scope, depth, read)
        a, b = self.expression(scope, depth - 1, read), self.expression(scope, depth - 1)
        if self.one_in(2):
            a, b = b, a
        return call(self.choose(BINARY), a, b) or call(table.maximum, a, b) or a

    def choice(self, scope: Scope, depth: int, read: str | None) -> Typed:
        """`a if cond else b`, in any order; or the condition itself, times something."""
        cond, yes = self.condition(scope), self.expression(scope, depth - 1, read)
        if self.one_in(3):
            return call(table.multiply, *self.shuffled([cond, yes])) or yes
        no = self.expression(scope, depth - 1)
        return call(table.where, cond, *self.shuffled([yes, no])) or yes

    def decided(self, scope: Scope, depth: int, read: str | None) -> Typed:
        """`unless(a, coalesce(A[~(i + 2)], 1))`: the number decides, where there is no element."""
        value = self.expression(scope, depth - 1, read)
        inside = [name for name in sorted(scope.reads) if self.tensors[name].dims]
        other = self.beyond(scope, self.tensors[self.choose(inside)]) if inside else None
        if other is None:
            return value
        if self.one_in(3):
            other = call(self.choose(BINARY), other, self.simple(scope)) or other
        for function in self.shuffled(DECIDING):
            rest = (self.simple(scope),) if function is table.where else ()
            found = call(function, *self.shuffled([value, other]), *rest)
            if found is not None:
                return found
        return value

    def atom(self, scope: Scope, read: str | None = None) -> Typed:
        """An access, if the indices at hand allow one; or something simple."""
        if read is None and self.one_in(3 if self.style.choices else 6):
            return self.simple(scope)
        for name in [read] if read else self.shuffled(sorted(scope.reads)):
            tensor = self.tensors[name]
            if tensor.cost > self.room and not read:
                continue
            found = self.reading(scope, name)
            if found is not None:
                self.room -= tensor.cost
                return found
        return self.simple(scope)

    def reading(self, scope: Scope, name: str) -> Typed | None:
        """The value of a tensor at some place."""
        tensor = self.tensors[name]
        if self.style.computed and tensor.dims and self.one_in(3 if self.style.beside else 10):
            return self.beyond(scope, tensor)
        access = self.access(scope, tensor)
        return None if access is None else Typed(access, tensor.dtype, tensor.bound)

    def simple(self, scope: Scope) -> Typed:
        """A name, an index, a size or a number."""
        if scope.lets and self.one_in(2):
            return self.choose(scope.lets)
        if scope.loops and self.one_in(2):
            return Typed(loops.Index(self.choose(scope.loops).index), "int64", self.style.longest)
        if self.anchors and self.one_in(6):
            return Typed(self.anchors[self.choose(list(self.anchors))], "int64", self.style.longest)
        return self.draw(literals())

    # -- conditions ------------------------------------------------------------------------------

    def condition(self, scope: Scope) -> Typed:
        """Something that is true or false: of indices, of values, or of both."""
        first = self.comparison(scope)
        if not self.one_in(4):
            return first
        if self.one_in(3):
            return call(table.logical_not, first) or first
        op = self.choose((table.logical_and, table.logical_or))
        return call(op, first, self.comparison(scope)) or first

    def comparison(self, scope: Scope) -> Typed:
        """`i <= j + 1`, or `A[i] != x`."""
        if scope.loops and not self.one_in(3):
            a, b = self.position(scope), self.position(scope)
        else:
            a = self.expression(scope, self.choose((0, 0, 1)))
            if kind(a.dtype) == "b" and self.one_in(2):
                return a
            b = self.expression(scope, 0)
        for op in self.shuffled(COMPARISONS):
            found = call(op, a, b)
            if found is not None:
                return found
        return Typed(loops.Literal(True), "weak_bool", 1, True)

    def position(self, scope: Scope) -> Typed:
        """A side of a mask: an index, shifted or not, a distance, a residue, a number."""
        i, j = (loops.Index(self.choose(scope.loops).index) for _ in range(2))
        c = self.choose((1, 2, 3))
        if self.style.affine:
            return Typed(self.affine(scope), "int64", 8 * self.style.longest)
        options: list[loops.Expr] = [
            *(i, i, i, loops.Literal(c), self.anchors[self.choose(list(self.anchors))]),
            *(combine(table.add, i, c), combine(table.subtract, i, c)),
            *(combine(table.add, i, j), combine(table.subtract, i, j)),
            loops.Call(table.absolute, (combine(table.subtract, i, j),)),
            *(combine(table.remainder, i, c), combine(table.multiply, i, c)),
            combine(table.floor_divide, i, c),
        ]
        return Typed(self.choose(options), "int64", 4 * self.style.longest)
