"""Ranges that follow one another from iteration to iteration: how much they hold all together.

Such are the fibers of the indices of a loop, `ptr[i] … ptr[i + 1]`; the parts of a range that a
loop goes through part by part; and what a position goes on by, `q … stop` where `q = stop` ends the
body. What lies within one of them (loops say so of their ranges: `imp.Over`) holds no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import cast

from linnet import imp
from linnet.imp.effects import Effects, breaks, effects_of
from linnet.imp.fold import fold
from linnet.imp.linear import Linear, as_code, linear
from linnet.imp.order import Order
from linnet.imp.rewrite import rewrite, statements, substitute, walk
from linnet.optimize.legality import Loop, is_fixed
from linnet.records import dataclass

Range = tuple[imp.Expr, imp.Expr]
_LATER = " later"  # no name of a variable has a blank
_SETS = (imp.Let, imp.Assign, imp.Accumulate)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of all code of a kernel: what it changes, its sizes, lists and pointers."""

    effects: Effects
    sizes: frozenset[str]
    lists: dict[tuple[str, int], imp.Entries]
    ascending: frozenset[str]

    @staticmethod
    def of(kernel: imp.Kernel) -> Known:
        """What a kernel says of its arguments."""
        held = [(b, b.holds) for a in kernel.arguments for b in a.buffers if b.holds is not None]
        each = [(a.name, k, e) for a in kernel.arguments for k, e in enumerate(a.entries)]
        lists = {(name, k): entries for name, k, entries in each if entries is not None}
        sizes = frozenset(dim.name for a in kernel.arguments for dim in a.dims)
        ascending = frozenset(b.name for b, h in held if h.fiber and h.ascends)
        return Known(effects_of(kernel.codelets), sizes, lists, ascending)


@dataclass(frozen=True, slots=True)
class Sum:
    """What an amount comes to in all iterations at most, beside what is the same in `each`.

    One that is not `safe` is a product, and may be more than can be computed.
    """

    all: imp.Expr
    each: Linear
    safe: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether this is all, whatever there is."""
        return self.safe and self.each == Linear({})


class Iteration:
    """The body of a loop, in words of what holds when an iteration begins."""

    def __init__(self, loop: Loop, known: Known) -> None:
        self.loop, self.known = loop, known
        self.grows: list[tuple[imp.Grow, imp.Expr]] = []  # in the body itself: what they ask for
        self.filled: set[imp.Grow] = (
            set()
        )  # those whose room the next loop fills, whatever the data
        self._inside = known.effects.of(loop)
        self._order = Order(set(known.sizes), known.ascending)
        self._values: dict[str, imp.Expr] = {}
        self._within: dict[Range, tuple[Range, bool]] = {}  # the ranges of loops: in what they lie
        for stmt in loop.body.stmts:
            self._follow(stmt)
        self._following = [*self._indices(), *self._parts(), *self._moves()]

    def _follow(self, stmt: imp.Stmt) -> None:
        match stmt:
            case imp.Grow(_, count):
                self.grows.append((stmt, self._now(count)))
            case imp.For():
                for span in stmt.over.spans:
                    self._lies(stmt.start, stmt.stop, span, stmt.over.ordered)
                self.filled |= {grow for grow, count in self.grows if self._fills(stmt, count)}
            case imp.While(cond, _, over):
                for span, at in ((span, span.position) for span in over.spans):
                    for end in () if at is None else _ends(cond, at):
                        assert at is not None
                        self._lies(at, end, span, True)
        value = self._now(stmt.value) if isinstance(stmt, imp.Let | imp.Assign) else None
        for name in self.known.effects.of(stmt).assigns:
            self._values[name] = imp.Var(name + _LATER) if value is None else value

    def _lies(self, start: imp.Expr, stop: imp.Expr, span: imp.Span, ordered: bool) -> None:
        """Note in which positions the range of a loop lies."""
        places = self._places(span)
        if places is not None:
            self._within[self._now(start), self._now(stop)] = places, ordered

    def _places(self, span: imp.Span) -> Range | None:
        """Where the positions of a span begin and end, if its level says so."""
        first, last = self._now(span.first), self._now(span.last)
        entries = self.known.lists.get((span.tensor, span.level))
        if entries is None:
            return None if span.tensor else (first, last)
        fibers = {imp.FIRST.name: first, imp.LAST.name: last}
        return substitute(entries.begin, fibers), substitute(entries.end, fibers)

    def _fills(self, loop: imp.For, count: imp.Expr) -> bool:
        """Whether a loop appends so much, whatever the data."""
        length = linear(self._now(loop.stop) - self._now(loop.start))
        end = as_code(linear(count).plus(length, -1))
        counts = isinstance(end, imp.Var) and imp.Assign(end, end + 1) in loop.body.stmts
        return counts and not breaks(loop.body)

    def _now(self, e: imp.Expr) -> imp.Expr:
        return substitute(imp.widen(e), self._values)

    # -- ranges that follow one another: that of an iteration, and all of them ---------------------

    def _indices(self) -> Iterator[tuple[Range, Range]]:
        """An index and the next."""
        if isinstance(self.loop, imp.For):
            var, start, stop = self.loop.var, imp.widen(self.loop.start), imp.widen(self.loop.stop)
            if self.loop.over.ordered or self._order.at_most(start, stop):
                yield (var, var + 1), (start, stop)

    def _parts(self) -> Iterator[tuple[Range, Range]]:
        """Parts of one range, each of which begins where that before it ends, or behind that."""
        for (start, stop), (whole, ordered) in self._within.items():
            if isinstance(self.loop, imp.For) and ordered and all(map(self.is_fixed, whole)):
                var = self.loop.var
                if self._order.at_most(stop, _put(start, var, var + 1)):
                    yield (start, stop), whole

    def _moves(self) -> Iterator[tuple[Range, Range]]:
        """What a position goes on by, within what the loop goes through, or one inside."""
        for span in self.loop.over.spans if isinstance(self.loop, imp.While) else ():
            places = self._places(span)
            if isinstance(span.position, imp.Var) and places is not None:
                yield from self._moved(span.position, places[1])
        for (start, stop), (whole, ordered) in self._within.items():
            if isinstance(start, imp.Var) and ordered and self._values.get(start.name) == stop:
                yield from self._moved(start, whole[1])

    def _moved(self, at: imp.Var, end: imp.Expr) -> Iterator[tuple[Range, Range]]:
        sets = [s for s in statements(self.loop.body) if isinstance(s, imp.Assign) and s.var == at]
        if len(sets) == 1 and sets[0] in self.loop.body.stmts and self.is_fixed(end):
            yield (at, self._values[at.name]), (at, end)

    # -- what holds for all iterations -------------------------------------------------------------

    def is_fixed(self, e: imp.Expr) -> bool:
        """Whether an expression has the same value in all iterations."""
        return is_fixed(e, self.loop, self.known.effects) and _is_told(e)

    def holds_before(self, e: imp.Expr) -> bool:
        """Whether an expression has the same value before the loop as when it begins."""
        found, loop = self.known.effects.of(e), self.loop
        own = {s.var.name for s in statements(loop.body) if isinstance(s, imp.Let | imp.For)}
        own |= {loop.var.name} if isinstance(loop, imp.For) else set()
        same = found.reads.isdisjoint(own) and found.loads.isdisjoint(self._inside.changes)
        return same and _is_told(e)

    def swaps(self, buffer: imp.Buffer) -> bool:
        """Whether a buffer may be another one in each iteration."""
        return buffer.name in self._inside.swaps

    def counted(self, e: imp.Expr) -> imp.Var | None:
        """The variable that this is, if iterations do nothing to it but count up."""
        if not isinstance(e, imp.Var) or e.dtype != imp.INT:
            return None
        var = imp.Var(e.name.removesuffix(_LATER))
        sets = [s for s in statements(self.loop.body) if isinstance(s, _SETS) and s.var == var]
        return var if sets and all(s == imp.Assign(var, var + 1) for s in sets) else None

    def total(self, amount: Linear) -> Sum | None:
        """What an amount comes to in all iterations together, if that is known."""
        rest, found, safe = terms(amount), list[imp.Expr](), True
        for low, n in terms(amount).items():
            if n >= 0 or self.is_fixed(low):
                continue
            pairs = ((high, self._between(low, high)) for high, m in rest.items() if m >= -n)
            high, held = next((pair for pair in pairs if pair[1] is not None), (low, None))
            if held is None:
                return None
            found.append(_times(held, -n))
            rest[high] += rest.pop(low)
        for term, n in [*rest.items()]:
            if n and not self.is_fixed(term):
                held = self._most(term)
                if held is None or n < 0:
                    return None
                found.append(_times(held, n))
                safe = safe and not _is_product(term)
                del rest[term]
        each = Linear({term: n for term, n in rest.items() if n}, amount.number)
        return Sum(reduce(imp.Operators.__add__, found) if found else imp.ZERO, each, safe)

    def _between(self, low: imp.Expr, high: imp.Expr) -> imp.Expr | None:
        """How much a range holds in all iterations: as much as they that it lies in, at most."""
        found = self._followed(low, high)
        if found is None:
            found = self._clipped(low, high)
        if found is None and (low, high) in self._within:
            found = self._followed(*self._within[low, high][0])
        return found

    def _clipped(self, low: imp.Expr, high: imp.Expr) -> imp.Expr | None:
        """How much ranges hold that follow one another, as far as they lie within a fixed one."""
        match low, high:
            case imp.Binary("max", a, first), imp.Binary("min", b, last):
                fixed = self.is_fixed(first) and self.is_fixed(last)
                if fixed and self._followed(a, b) is not None:
                    return imp.maximum(last - first, 0)
        return None

    def _followed(self, low: imp.Expr, high: imp.Expr) -> imp.Expr | None:
        for (lo, hi), (first, last) in self._following:
            if self._rises(low, lo) and _put(low, lo, hi) == high:
                return _put(low, lo, last) - _put(low, lo, first)
        return None

    def _rises(self, e: imp.Expr, at: imp.Expr) -> bool:
        """Whether an expression never decreases if something in it does not."""
        match e:
            case _ if e == at:
                return True
            case imp.Cast(x, imp.INT):
                return self._rises(x, at)
            case imp.Load(buffer, index):
                ascends = buffer.name in self.known.ascending - self._inside.changes
                return ascends and self._rises(index, at)
            case imp.Binary("+" | "*", a, imp.Const(n)) if n >= 0:  # type: ignore[operator]
                return self._rises(a, at)
        return False

    def _most(self, e: imp.Expr) -> imp.Expr | None:
        """What an amount adds up to at most that is the least of several, or a multiple."""
        match e:
            case imp.Binary("min", a, b):
                most = self._whole(a), self._whole(b), self._parts_of(a, b), self._parts_of(b, a)
                known = [x for x in most if x is not None]
                return reduce(imp.minimum, known) if known else None
            case imp.Binary("max", a, imp.Const(0)):
                return self._whole(a)
            case imp.Binary("*", a, b) if self.is_fixed(a) or self.is_fixed(b):
                x, y = (a, b) if self.is_fixed(b) else (b, a)
                found = self._whole(x)
                return None if found is None else found * y
        return None

    def _parts_of(self, size: imp.Expr, left: imp.Expr) -> imp.Expr | None:
        """What parts of a `size` add up to, if each is a size less of what is `left` for it."""
        form = linear(left)
        match self.loop, size:
            case imp.For(var, start), imp.Const(int(n)) if terms(form).get(var) == -n:
                whole = as_code(form.without(var))
                return imp.maximum(whole - start * n, 0) if self.is_fixed(whole) else None
        return None

    def _whole(self, e: imp.Expr) -> imp.Expr | None:
        found = self.total(linear(e))
        return None if found is None or not found.is_whole else found.all


def terms(form: Linear) -> dict[imp.Expr, int]:
    """What an amount is the sum of, besides its number."""
    return cast("dict[imp.Expr, int]", dict(form.terms))


def _times(e: imp.Expr, n: int) -> imp.Expr:
    return e if n == 1 else e * n


def _is_product(e: imp.Expr) -> bool:
    return isinstance(e, imp.Binary) and e.op == "*"


def _is_told(e: imp.Expr) -> bool:
    """Whether nothing is read that only holds later in an iteration."""
    return not any(isinstance(x, imp.Var) and x.name.endswith(_LATER) for x in walk(e))


def _ends(cond: imp.Expr, position: imp.Expr) -> Iterator[imp.Expr]:
    """Where the positions of a `while` end, if its condition says it."""
    match cond:
        case imp.Binary("and", a, b):
            yield from _ends(a, position)
            yield from _ends(b, position)
        case imp.Binary("<", at, end) if at == position:
            yield end


def _put(e: imp.Expr, old: imp.Expr, new: imp.Expr) -> imp.Expr:
    """An expression in which something stands for something else."""

    def rule(node: imp.Node) -> imp.Node | None:
        if node == old:
            return new
        return fold(node) if isinstance(node, imp.Binary | imp.Cast) else None

    return rewrite(e, rule)
