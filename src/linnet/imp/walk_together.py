"""Rows that share a list are walked together: those of a row of tiles.

    for i in 0 … n:                                for t in 0 … n / 8:
      s = 0                                          s = 0; …; s_8 = 0
      for q in ptr[i / 8] … ptr[i / 8 + 1]:   ->     for q in ptr[t] … ptr[t + 1]:
        s += f(i, q)                                   s += f(8 t, q); …; s_8 += f(8 t + 7, q)
      y[i] = s                                       y[8 t] = s; …; y[8 t + 7] = s_8

The list is read once, and what rows have in common is loaded once. Each row adds in its own order.
"""

from __future__ import annotations

from dataclasses import field, replace

from linnet import imp
from linnet.imp.effects import Effects, breaks
from linnet.imp.replace_loops import replace_loops
from linnet.imp.rewrite import rebuild, rewrite, statements, walk
from linnet.names import Names
from linnet.records import dataclass

_MOST = 8  # rows at a time
_LARGE = 600  # nodes of code that may be made of one loop


def walk_together(kernel: imp.Kernel) -> imp.Kernel:
    """Take several rows at a time where they walk the same positions.

    Needs: simplified code.
    """
    return replace_loops(kernel, _several)


def _several(loop: imp.For, effects: Effects, names: Names) -> imp.Block | None:
    """Several rows at a time, if they share a walk."""
    rows = _shared_walk(loop, effects)
    return None if rows is None else _together(rows, names)


@dataclass(frozen=True, slots=True)
class _Rows:
    """`for i: lets; for q: …; rest`, where `size` rows share a walk, and `by` are taken at once."""

    loop: imp.For
    lets: tuple[imp.Let, ...]
    walk: imp.For
    rest: tuple[imp.Stmt, ...]
    size: int
    by: int
    own: frozenset[str]  # variables that each row has for itself


def _shared_walk(loop: imp.For, effects: Effects) -> _Rows | None:
    """The parts of a loop over rows, if several of them walk the same positions."""
    sizes = [n.b.value for n in walk(loop.body) if _is_block(n, loop.var)]  # type: ignore[union-attr]
    at = next((k for k, s in enumerate(loop.body.stmts) if not isinstance(s, imp.Let)), None)
    fixed = isinstance(loop.stop, imp.Var | imp.Const) and loop.start == imp.ZERO
    if not sizes or at is None or not fixed or breaks(loop.body):
        return None
    size, (inner, *rest) = int(sizes[0]), loop.body.stmts[at:]  # type: ignore[arg-type]
    if size < 2 or not isinstance(inner, imp.For):
        return None
    lets = tuple(s for s in loop.body.stmts[:at] if isinstance(s, imp.Let))
    code = sum(1 for stmt in (*lets, inner, *rest) for _ in walk(stmt))
    by = max(f for f in range(1, _MOST + 1) if size % f == 0 and (f == 1 or f * code <= _LARGE))
    rows = _Rows(loop, lets, inner, tuple(rest), size, by, frozenset())
    rows = replace(rows, own=_own_variables(rows))
    return rows if by > 1 and _is_shared(rows) and _is_apart(rows, effects) else None


def _is_block(node: imp.Node, row: imp.Var) -> bool:
    """`row / size`: the row of tiles that a row lies in."""
    return (
        isinstance(node, imp.Binary)
        and node.op == "div"
        and node.a == row
        and (isinstance(node.b, imp.Const))
    )


def _own_variables(rows: _Rows) -> frozenset[str]:
    """What is not the same for all rows of a tile: what changes, and what depends on that."""
    changed = (imp.Assign, imp.Accumulate)
    own = {s.var.name for s in statements(rows.loop.body) if isinstance(s, changed)}
    own.add(rows.loop.var.name)
    for stmt in (*rows.lets, *statements(rows.walk.body)):
        if isinstance(stmt, imp.Let) and not _is_common(stmt.value, rows, own):
            own.add(stmt.var.name)
    return frozenset(own)


def _is_common(node: imp.Node, rows: _Rows, own: set[str] | frozenset[str]) -> bool:
    """Whether something is the same for all rows of a tile."""
    without = rewrite(node, lambda n: imp.ZERO if _in_tile(n, rows, "div") else None)
    return not any(isinstance(n, imp.Var) and n.name in own for n in walk(without))


def _in_tile(node: imp.Node, rows: _Rows, op: str) -> bool:
    """`row / size` or `row % size`."""
    size = imp.Const(rows.size, imp.INT)
    return node == imp.Binary(op, rows.loop.var, size, imp.INT)


def _is_shared(rows: _Rows) -> bool:
    """Whether the rows of a tile walk the same positions, and change nothing but their own."""
    inside = {s.var.name for s in statements(rows.loop.body) if isinstance(s, imp.Let)}
    return _same_course(imp.Block((rows.walk,)), rows) and all(
        s.var.name in inside
        for s in statements(rows.walk.body)
        if isinstance(s, imp.Assign | imp.Accumulate)
    )


def _same_course(block: imp.Block, rows: _Rows) -> bool:
    """Whether loops and branches go the same way for all rows of a tile."""
    for stmt in block.stmts:
        match stmt:
            case imp.Let() | imp.Assign() | imp.Accumulate() | imp.Comment():
                continue
            case imp.For(_, start, stop, body):
                same = _is_common(start, rows, rows.own) and _is_common(stop, rows, rows.own)
                if same and _same_course(body, rows):
                    continue
            case imp.If(cond, then, orelse) if _is_common(cond, rows, rows.own):
                if _same_course(then, rows) and _same_course(orelse, rows):
                    continue
        return False
    return True


def _is_apart(rows: _Rows, effects: Effects) -> bool:
    """Whether the walk of a row does not see what the rows before it have left."""
    ahead: tuple[imp.Stmt, ...] = (*rows.lets, rows.walk)
    first = [effects.of(stmt) for stmt in ahead]
    last = [effects.of(stmt) for stmt in rows.rest]
    inside = {s.var.name for s in statements(rows.loop.body) if isinstance(s, imp.Let | imp.For)}
    changed = {name for s in last for name in (*s.changes, *(s.assigns - inside))}
    read = [effects.of(rows.loop.stop), *first]
    return not any(s.changes or changed & (s.loads | s.reads) for s in read)


def _together(rows: _Rows, names: Names) -> imp.Block:
    """The loop over tiles, or parts of them, and a loop over the rows that are left."""
    loop, by = rows.loop, imp.Const(rows.by, imp.INT)
    tile, whole = imp.Var(names.fresh("t")), imp.Var(names.fresh(f"{loop.var.name}_whole"))
    copies = [_Copy(rows, tile, k, names) for k in range(rows.by)]
    body: list[imp.Stmt] = [imp.Let(c.row, tile * rows.by + c.number) for c in copies]
    body += _jammed(imp.Block((*rows.lets, rows.walk)), rows, copies).stmts
    body += [c.stmt(stmt) for c in copies for stmt in rows.rest]
    left = replace(loop, start=whole * rows.by, over=imp.as_part(loop.over))
    stop = imp.binary("div", loop.stop, by)
    return imp.Block(
        (imp.Let(whole, stop), imp.For(tile, imp.ZERO, whole, imp.Block(tuple(body))), left)
    )


def _jammed(block: imp.Block, rows: _Rows, copies: list[_Copy]) -> imp.Block:
    """Statement by statement, once if it is the same for all rows, and for each of them if not."""
    stmts: list[imp.Stmt] = []
    first = copies[0]
    for stmt in block.stmts:
        match stmt:
            case imp.For(_, start, stop, body, over):
                begin, end = first.expr(start), first.expr(stop)
                inner, over = _jammed(body, rows, copies), over.map(first.expr)
                stmts.append(replace(stmt, start=begin, stop=end, body=inner, over=over))
            case imp.If(cond, then, orelse):
                branches = (_jammed(branch, rows, copies) for branch in (then, orelse))
                stmts.append(imp.If(first.expr(cond), *branches))
            case imp.Let(var, value) if var.name not in rows.own:
                stmts.append(imp.Let(var, first.expr(value)))
            case imp.Comment():
                stmts.append(stmt)
            case _:
                stmts += [c.stmt(stmt) for c in copies]
    return imp.Block(tuple(stmts))


@dataclass(slots=True)
class _Copy:
    """The code for one of the rows, with variables of its own."""

    rows: _Rows
    tile: imp.Var
    number: int
    names: Names
    new: dict[str, imp.Var] = field(default_factory=dict)

    @property
    def row(self) -> imp.Var:
        """The row."""
        return self._own(self.rows.loop.var)

    def _own(self, var: imp.Var) -> imp.Var:
        if var.name not in self.new:
            name = var.name if self.number == 0 else self.names.fresh(var.name)
            self.new[var.name] = imp.Var(name, var.dtype)
        return self.new[var.name]

    def expr(self, node: imp.Expr) -> imp.Expr:
        """A value of this row."""
        return rewrite(node, self._rule)

    def _rule(self, node: imp.Node) -> imp.Node | None:
        parts = self.rows.size // self.rows.by  # of a tile, each with rows that are taken at once
        match node:
            case imp.Var(name) if name in self.new:
                return self.new[name]
            case imp.Binary("div", self.row, imp.Const(self.rows.size)):
                return self.tile if parts == 1 else imp.binary("div", self.tile, parts)
            case imp.Binary("rem", self.row, imp.Const(self.rows.size)):
                part = imp.ZERO if parts == 1 else imp.binary("rem", self.tile, parts)
                return part * self.rows.by + self.number
        return None

    def stmt(self, stmt: imp.Stmt) -> imp.Stmt:
        """A statement of this row."""
        match stmt:
            case imp.Let(var, value):
                value = self.expr(value)
                return imp.Let(self._own(var), value)
            case imp.Assign(var) | imp.Accumulate(var) if var.name in self.new:
                return replace(stmt, var=self.new[var.name], value=self.expr(stmt.value))
            case imp.For(var):
                new = self._own(var)
                return replace(rebuild(stmt, self._node), var=new)
            case _:
                return rebuild(stmt, self._node)

    def _node(self, node: imp.Node) -> imp.Node:
        if isinstance(node, imp.Stmt):
            return self.stmt(node)
        return rewrite(node, self._rule)
