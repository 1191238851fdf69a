"""Ranges that follow one another: fiber i of a level is stored at `ptr[i] … ptr[i + 1]`.

What holds of one fiber after the other holds of all at once: the ranges of the fibers lo … hi
together are `ptr[lo] … ptr[hi]`. Pointers never decrease, which is checked when a tensor is made.
"""

from __future__ import annotations

from linnet import imp
from linnet.imp.fold import fold
from linnet.imp.order import Order
from linnet.imp.rewrite import rewrite, substitute, walk
from linnet.records import dataclass
from linnet.target import PLAIN, Target

RUN_ENDS = frozenset({"run_end_i32", "run_end_i64"})
"""Codelets that go from an entry to the next group: further, but not beyond their last argument."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a kernel's arguments: names of sizes (not negative) and pointer arrays.

    With pointers and coordinates that `ascend`, those of a fiber do, and no two are the same. The
    fibers of pointers that are `uneven` are short, and each has another length. The
    code is made for a `target`.
    """

    sizes: frozenset[str]
    pointers: frozenset[str]
    ascend: frozenset[tuple[str, str]] = frozenset()
    uneven: frozenset[str] = frozenset()
    target: Target = PLAIN

    @staticmethod
    def of(
        kernel: imp.Kernel, uneven: frozenset[str] = frozenset(), target: Target = PLAIN
    ) -> Known:
        """What a kernel says of its arguments; the rows of the tensors `uneven` are known to be."""
        buffers = [b for a in kernel.arguments for b in a.buffers]
        held = [(b, b.holds) for b in buffers if b.holds is not None]
        pointers = {(h.tensor, h.level): b.name for b, h in held if h.array == "ptr"}
        of_rows = {name for (tensor, _), name in pointers.items() if tensor in uneven}
        lists = [(h, b.name) for b, h in held if h.array == "idx" and not b.growable]
        ascend = {
            (pointers[h.tensor, h.level], name) for h, name in lists if h.ascends and h.unique
        }
        sizes = {dim.name for argument in kernel.arguments for dim in argument.dims}
        names = frozenset(pointers.values())
        return Known(frozenset(sizes), names, frozenset(ascend), frozenset(of_rows), target)

    def runs(self, loop: imp.For) -> bool:
        """Whether the range of a loop surely does not end before it begins."""
        return loop.over.ordered or self.ordered(loop.start, loop.stop)

    def ordered(self, start: imp.Expr, stop: imp.Expr) -> bool:
        """Whether a range surely does not end before it begins."""
        return Order(set(self.sizes), self.pointers).at_most(imp.widen(start), imp.widen(stop))

    def all_parts(self, loop: imp.For) -> tuple[imp.Expr, imp.Expr, imp.Expr, imp.Expr] | None:
        """Of a loop around one over a part of a range: where the part is, and where the range is.

        Parts follow one another: the next begins where this ends, or behind that.
        """
        *lets, inner = [s for s in loop.body.stmts if not isinstance(s, imp.Grow)] or [imp.EMPTY]
        if not isinstance(inner, imp.For) or not inner.over.ordered:
            return None
        if not all(isinstance(let, imp.Let) for let in lets) or len(inner.over.spans) != 1:
            return None
        (span,) = inner.over.spans
        own = {let.var.name for let in lets if isinstance(let, imp.Let)} | {loop.var.name}
        whole = [n for e in (span.first, span.last) for n in walk(e)]
        if span.tensor or any(isinstance(n, imp.Var) and n.name in own for n in whole):
            return None
        known: dict[str, imp.Expr] = {}
        for let in lets:
            assert isinstance(let, imp.Let)
            known[let.var.name] = substitute(let.value, known)
        start, stop = (substitute(imp.widen(e), known) for e in (inner.start, inner.stop))
        follows = self.ordered(stop, substitute(start, {loop.var.name: loop.var + 1}))
        return (start, stop, span.first, span.last) if follows else None

    def follow(self, start: imp.Expr, stop: imp.Expr, var: imp.Var) -> bool:
        """Whether `start` is a pointer, and for the next value of `var` what `stop` is for this."""
        return self._is_pointer(start, var) and at(start, var, var + 1) == stop

    def _is_pointer(self, e: imp.Expr, var: imp.Var) -> bool:
        match e:
            case imp.Cast(x, "int64"):
                return self._is_pointer(x, var)
            case imp.Load(buffer, index):
                found = index == var or self._is_pointer(index, var)
                return found and buffer.name in self.pointers
            case _:
                return False


def at(e: imp.Expr, var: imp.Var, value: imp.Expr) -> imp.Expr:
    """The expression for another value of a variable."""
    return rewrite(substitute(e, {var.name: value}), _fold)


def _fold(node: imp.Node) -> imp.Node | None:
    return fold(node) if isinstance(node, imp.Binary | imp.Cast) else None
