"""What is done with a part of a range is coded for parts of known lengths.

    for part in 0 … parts:                    whole = n / 32
      start = part * 32                       for part in 0 … whole:
      end = start + min(32, n - start)          for k in 0 … 32: t[k] += … start + k …
      for k in start … end:                   if whole < parts:
        t[k - start] += …                       start = whole * 32; end = n
                                                if n - start >= 16:
                                        ->        for turn in 0 … (end - start + 15) / 16:
                                                    at = min(start + 16 * turn, end - 16)
                                                    for k in 0 … 16: t_2[k] += … at + k …
                                                elif n - start >= 8: …
                                                else:
                                                  for k in start … end: t_4[k - start] += …

It pays where an array of the kernel's own has an element for each turn: loops of a known length are
written out by back ends, and then its elements are in registers. What is left of the last part is
done in two halves, or two quarters, where each element is computed for itself: the second begins
before the first has ended, and what they share is given the same values once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import field, replace

from linnet import imp
from linnet.imp.fold import fold
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import children, rebuild, rewrite, statements, substitute, walk
from linnet.names import Names
from linnet.optimize.elementwise import LONGEST, Part, at_once, is_elementwise, part_of
from linnet.records import dataclass

_ACCESSES = (imp.Load, imp.Store, imp.Fill)
_USES = (*_ACCESSES, imp.Grow, imp.SetLength, imp.Address, imp.Prefetch)


def whole_parts(kernel: imp.Kernel) -> imp.Kernel:
    """Give what is done with parts in arrays of the kernel's own versions for known lengths.

    Needs: simplified code.
    """
    own = {s.buffer.name: s for s in kernel.scratch if s.size <= LONGEST}
    if not own:
        return kernel
    found = _Pass(own, _used(kernel.body), _values(kernel.body), fresh_names(kernel))
    body = found.block(kernel.body)
    if body is kernel.body:
        return kernel
    used = _used(body)
    scratch = (s for s in (*kernel.scratch, *found.scratch) if used[s.buffer.name])
    return replace(kernel, body=body, scratch=tuple(scratch))


def _values(block: imp.Block) -> dict[imp.Var, imp.Expr | None]:
    """The values of variables; None for those that have others, too."""
    found: dict[imp.Var, imp.Expr | None] = {}
    for stmt in statements(block):
        match stmt:
            case imp.Let(var, value):
                found[var] = value if found.get(var, value) == value else None
            case imp.Assign(var) | imp.Accumulate(var):
                found[var] = None
    return found


def _used(block: imp.Stmt) -> Counter[str]:
    """How often arrays are used in some code."""
    return Counter(n.buffer.name for n in walk(block) if isinstance(n, _USES))


@dataclass(slots=True)
class _Pass:
    """The arrays that the kernel has for itself, and those that versions need."""

    own: dict[str, imp.Scratch]
    uses: Counter[str]
    values: dict[imp.Var, imp.Expr | None]
    names: Names
    scratch: list[imp.Scratch] = field(default_factory=list)

    def block(self, block: imp.Block) -> imp.Block:
        """A block, of which what follows the end of a part is there in several versions."""
        for k, stmt in enumerate(block.stmts):
            rest = imp.Block(block.stmts[k + 1 :])
            part = self._part(stmt, rest)
            if part is not None:
                either = imp.If(part.is_whole, *self._versions(part, rest))
                return imp.Block((*block.stmts[: k + 1], either))
        return rebuild(block, self._inside)

    def _inside(self, node: imp.Node) -> imp.Node:
        if isinstance(node, imp.Block):
            return self.block(node)
        if isinstance(node, imp.For) and (apart := self._whole_first(node)):
            return apart
        nested = isinstance(node, imp.For | imp.While | imp.If)
        return rebuild(node, self._inside) if nested else node

    def _whole_first(self, loop: imp.For) -> imp.Block | None:
        """A loop through the whole parts of a range, and then the part that is left."""
        start, end, *stmts = (*loop.body.stmts, imp.EMPTY, imp.EMPTY)
        rest = imp.Block(tuple(stmts[:-2]))
        part = self._part(end, rest)
        plain = loop.how.is_plain and loop.start == imp.ZERO
        if part is None or not plain or start != imp.Let(part.start, loop.var * part.most):
            return None
        match part.left:
            case imp.Binary("-", n, part.start) if self._covers(loop.stop, n, part.most):
                whole, left = self._versions(part, rest)
            case _:
                return None
        count = imp.Var(self.names.fresh("whole"))
        body, over = imp.Block((start, *whole.stmts)), imp.as_part(loop.over)
        last = imp.Let(loop.var, count), start, imp.Let(part.end, n), *left.stmts
        return imp.Block(
            (
                imp.Let(count, imp.binary("div", n, part.most)),
                replace(loop, stop=count, body=body, over=over),
                imp.If(count < loop.stop, imp.Block(last), imp.EMPTY),
            )
        )

    def _covers(self, parts: imp.Expr, n: imp.Expr, most: int) -> bool:
        """Whether a number of parts is that of whole ones, and one more if something is left."""
        more = imp.Cast(imp.binary("rem", n, most) > 0, imp.INT)
        known = self.values.get(parts) if isinstance(parts, imp.Var) else parts
        stays = isinstance(n, imp.Const) or (
            isinstance(n, imp.Var) and self.values.get(n, n) is not None
        )
        return stays and known == fold(imp.binary("div", n, most) + more)

    def _part(self, stmt: imp.Stmt, rest: imp.Block) -> Part | None:
        """The part that a statement finds the end of, if it has elements in an own array."""
        part = part_of(stmt)
        uses = part is not None and any(self._uses(loop, part.most) for loop in part.loops(rest))
        return part if uses else None

    def _uses(self, loop: imp.For, size: int) -> bool:
        """Whether a loop uses an array of this size itself, and not only in loops inside."""
        simple = [s for s in at_once(loop.body) if not isinstance(s, imp.For | imp.While | imp.If)]
        used = {name for s in simple for name in _used(s)}
        return any(self.own[name].size == size for name in used & self.own.keys())

    def _versions(self, part: Part, rest: imp.Block) -> tuple[imp.Block, imp.Block]:
        """What is done with a part: with a whole one, and with another."""
        own = self._begun(part, rest)
        whole = self._known(part, part.start, part.most, rest, own)
        if not own or not is_elementwise(part, rest, own):
            return whole, rewrite(rest, lambda n: imp.FALSE if n == part.is_whole else None)
        lengths = [n for n in (part.most // 2, part.most // 4) if n > 1]
        several = [imp.Block((self._several(part, n, rest, own),)) for n in lengths]
        left = self._with_own(rest, min(lengths, default=part.most), own)
        for length, version in reversed([*zip(lengths, several, strict=True)]):
            left = imp.Block((imp.If(part.left >= length, version, left),))
        return whole, left

    def _begun(self, part: Part, rest: imp.Block) -> frozenset[str]:
        """The own arrays that are used here, if they are of the part: filled first, here alone."""
        used = Counter(n.buffer.name for n in walk(rest) if isinstance(n, _ACCESSES))
        own = frozenset(used.keys() & self.own.keys())
        alone = all(self.uses[name] == used[name] for name in own)
        whole = all(self.own[name].size == part.most for name in own)
        return (
            own if alone and whole and all(_is_begun(rest, n, part) for n in own) else frozenset()
        )

    def _several(self, part: Part, length: int, rest: imp.Block, own: Collection[str]) -> imp.For:
        """What is done with so many elements of a part, and then with as many at its end."""
        at, turn = imp.Var(self.names.fresh("at")), imp.Var(self.names.fresh("turn"))
        first = imp.minimum(part.start + turn * length, part.end - length)
        known = self._known(part, at, length, rest, own)
        count = imp.binary("div", part.end - part.start + (length - 1), length)
        return imp.For(turn, imp.ZERO, count, imp.Block((imp.Let(at, first), *known.stmts)))

    def _known(
        self, part: Part, start: imp.Var, length: int, rest: imp.Block, own: Collection[str]
    ) -> imp.Block:
        """What is done with so many elements from here on."""

        def rule(node: imp.Node) -> imp.Node | None:
            if isinstance(node, imp.For) and part.goes_through(node):
                return part.from_0(node, start, length)
            return imp.TRUE if node in (part.runs, part.is_whole) else None

        known = {part.start.name: start, part.end.name: start + length}
        return self._with_own(substitute(rewrite(rest, rule), known), length, own)

    def _with_own(self, rest: imp.Block, length: int, own: Collection[str]) -> imp.Block:
        """The same with arrays for it alone, of so many elements: those are apart in registers."""
        new: dict[str, imp.Buffer] = {}
        for name in sorted(own):
            buffer = self.own[name].buffer
            new[name] = replace(buffer, name=self.names.fresh(name))
            self.scratch.append(imp.Scratch(new[name], length))

        def rule(node: imp.Node) -> imp.Node | None:
            match node:
                case imp.Fill(buffer) if buffer.name in new:
                    return replace(node, buffer=new[buffer.name], stop=imp.Const(length, imp.INT))
                case imp.Load(buffer) | imp.Store(buffer) if buffer.name in new:
                    return replace(node, buffer=new[buffer.name])
            return None

        return rewrite(rest, rule) if new else rest


def _is_begun(block: imp.Block, name: str, part: Part) -> bool:
    """Whether an array is given a value for each element of a part whenever it is used."""
    for stmt in block.stmts:
        if name == _filled(stmt, part):
            return True
        inside = [b for b in children(stmt) if isinstance(b, imp.Block) and _used(b)[name]]
        beside = _used(stmt)[name] - sum(_used(b)[name] for b in inside)
        if beside or not all(_is_begun(b, name, part) for b in inside):
            return False
    return True


def _filled(stmt: imp.Stmt, part: Part) -> str:
    """The array that a statement gives a value for each element of a part."""
    match stmt:
        case imp.Fill(buffer):
            return buffer.name
        case imp.For(body=imp.Block((imp.Store(buffer, index, value),))) if part.goes_through(stmt):
            read = {n.buffer for n in walk(value) if isinstance(n, imp.Load)}
            return buffer.name if index == part.place(stmt) and buffer not in read else ""
    return ""
