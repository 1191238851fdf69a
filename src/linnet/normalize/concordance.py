"""Concordance: every access walks its tensor in the order in which it is stored (FINCH §5.4).

A read that goes against that order, or whose index is computed, is made concordant by a loop over
a single index, `for k in range(e, e + 1)`, which searches. A write that a format cannot take out
of order goes through a temporary that can (normalize.workspaces). Comes after dimensions, before
life cycles.
"""

from __future__ import annotations

import warnings
from dataclasses import field, replace

from linnet import imp, loops
from linnet.algebra.table import add
from linnet.errors import DiscordanceWarning, Location
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.imp.linear import Linear
from linnet.loops.linear import linear, type_of
from linnet.loops.nodes import base_of
from linnet.loops.rewrite import (
    block,
    is_left,
    map_exprs,
    map_stmts,
    rewrite_expr,
    substitute_expr,
    walk,
)
from linnet.loops.solve import MIRRORED, Scope, is_mask, walk_of
from linnet.loops.spoken import spoken, written
from linnet.loops.types import Types, with_lets
from linnet.names import Names
from linnet.normalize.agreed import Agreed
from linnet.normalize.in_order import last_in_order
from linnet.normalize.lifecycles import handed_down
from linnet.normalize.shape_checks import Check
from linnet.normalize.tangles import tangled
from linnet.records import dataclass

Formats = dict[str, Format]


@dataclass(frozen=True, slots=True)
class Warned:
    """An access, as the user wrote it, that is searched in every turn of the loop over an index."""

    access: str
    tensor: str
    index: str
    at: Location | None

    @property
    def problem(self) -> str:
        """What is done."""
        return f"{self.access} goes against the order in which {self.tensor} is stored"

    @property
    def why(self) -> str:
        """What it costs."""
        index = f"the loop over `{self.index}` is outside"
        return f"{index}, so every access searches instead of walking"

    @property
    def hint(self) -> str:
        """What to do instead."""
        return f"reorder the loops, or store {self.tensor} with another order of modes"


@dataclass(slots=True)
class _Nest:
    """The loops around a statement, outermost first, and the single-index loops to be added.

    `wanted[d]` are the loops to be put inside the first d loops: around the next one, or around the
    statement itself. `known` says at which depth names are bound and tensors declared: loops
    outside its declaration do not walk a tensor. The loops that may be `left` walk nothing but what
    a tensor stores whose positions they go through: they stay one loop, and it leads. The tensors
    `changed` do not stay as they were given, and `agreed` says how large the others are. Those that
    are `tangled` are opened for each update by itself, behind so many dimensions. The
    `values` of names are spelled out where a loop can walk along them.
    """

    formats: Formats
    names: Names
    tangled: dict[str, int]
    changed: frozenset[str]
    agreed: Agreed
    types: Types
    values: dict[str, loops.Expr] = field(default_factory=dict)
    extents: dict[str, loops.Extent] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    warnings: list[Warned] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    wanted: list[list[loops.Loop]] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)


def concordize(
    program: loops.Program, formats: Formats, checks: tuple[Check, ...]
) -> tuple[loops.Program, tuple[Warned, ...]]:
    """Insert the loops that make every access concordant; also returns what to warn of.

    Needs: unique names, writes that their formats can take; `checks` hold whenever the kernel is
    called. Gives: the indices of an access, in storage order, are bound by loops that are nested in
    that order.
    """
    taken = {n.index for n in walk(program.body) if isinstance(n, loops.Loop)}
    taken |= {n.name for n in walk(program.body) if isinstance(n, loops.Let)}
    taken |= {*formats}
    agreed = Agreed.by(checks, formats)
    apart = {
        name: last_in_order(program.body, name, formats[name])
        for name in tangled(program.body, formats)
    }
    types = with_lets({name: str(f.dtype) for name, f in formats.items()}, program.body)
    state = _Nest(formats, Names(taken), apart, _changed(program.body), agreed, types)
    body = _statement(state, _name_sizes(program.body, state.names))
    return replace(program, body=body), tuple(dict.fromkeys(state.warnings))


def _changed(body: loops.Stmt) -> frozenset[str]:
    """The tensors that do not stay as they were given."""
    found = set[str]()
    for node in walk(body):
        match node:
            case loops.Assign(target):
                found.add(str(target.tensor))
            case loops.Declare(tensor):
                found.add(tensor)
    return frozenset(found)


def _name_sizes(stmt: loops.Stmt, names: Names) -> loops.Stmt:
    """Sizes that are searched for are named first: a loop around a declaration would end it."""
    if not isinstance(stmt, loops.Block):
        return map_stmts(stmt, lambda inner: _name_sizes(inner, names))
    for k, declare in enumerate(stmt.stmts):
        found = _searched(declare)
        if found:
            lets = {access: names.fresh("size") for access in found}
            rest = loops.Block((_with_names(declare, lets), *stmt.stmts[k + 1 :]))
            inner = _name_sizes(rest, names)
            for access, name in lets.items():
                inner = loops.Let(name, access, inner, getattr(declare, "at", None))
            before = [_name_sizes(s, names) for s in stmt.stmts[:k]]
            return block([*before, inner])
    return map_stmts(stmt, lambda inner: _name_sizes(inner, names))


def _searched(stmt: loops.Stmt) -> list[loops.Expr]:
    """The elements of tensors that a declaration has as sizes."""
    dims = (stmt.dims or ()) if isinstance(stmt, loops.Declare) else ()
    return [n for d in dims for n in walk(d) if isinstance(n, loops.Access) and n.indices]


def _with_names(stmt: loops.Stmt, names: dict[loops.Expr, str]) -> loops.Stmt:
    def rule(expr: loops.Expr) -> loops.Expr | None:
        return loops.Name(names[expr]) if expr in names else None

    return map_exprs(stmt, lambda e: rewrite_expr(e, rule))


def _statement(s: _Nest, stmt: loops.Stmt) -> loops.Stmt:
    """A statement, with the loops that its accesses want around it."""
    if isinstance(stmt, loops.Block):
        before = dict(s.known)  # what is declared inside a block is not known behind it
        inside = map_stmts(stmt, lambda inner: _statement(s, inner))
        s.known = before
        return inside
    s.wanted.append([])
    changed = map_exprs(stmt, lambda e: rewrite_expr(e, lambda x: _access(s, x) or _mask(s, x)))
    match changed:
        case loops.Assign():
            target = _access(s, changed.target, update=True)
            changed = changed if target is None else replace(changed, target=target)
        case loops.Loop(index, extent):
            s.path.append(index)
            if extent is not None:
                s.extents[index] = extent.whole
            if is_left(changed) and not _goes_along(changed.body):
                s.left[index] = _leader(extent)
            before = dict(s.known)
            s.known |= dict.fromkeys(handed_down(changed), len(s.path))
            changed = map_stmts(changed, lambda inner: _statement(s, inner))
            s.known = before
            s.path.pop()
        case loops.Let(name):
            s.known[name] = len(s.path)
            if isinstance(stmt, loops.Let) and _is_of_loops(s, stmt.value):
                s.values[name] = substitute_expr(stmt.value, s.values)
        case loops.Declare(tensor):
            s.known[tensor] = len(s.path)
    mine = s.wanted.pop()
    if not isinstance(changed, loops.Loop):
        changed = map_stmts(changed, lambda inner: _statement(s, inner))
    return _wrap(changed, mine)


def _wrap(stmt: loops.Stmt, points: list[loops.Loop]) -> loops.Stmt:
    for loop in reversed(points):
        stmt = replace(loop, body=stmt)
    return stmt


def _access(s: _Nest, expr: loops.Expr, update: bool = False) -> loops.Access | None:
    """Give every index that is not bound in storage order a loop of its own."""
    if not isinstance(expr, loops.Access) or not isinstance(expr.tensor, str):
        return None
    format = s.formats[expr.tensor]
    walked = s.tangled.get(expr.tensor, format.ndim) if update else format.ndim
    indices, protocols = list(expr.indices), list(expr.protocols or ("",) * len(expr.indices))
    depth, first, changed = s.known.get(expr.tensor, 0), 0, False
    for level_number, level in enumerate(format.levels):
        for mode in format.modes_of(level_number):
            index, apart = indices[mode], format.order.index(mode) >= walked
            spelled = _spelled(s, index)
            alone = expr.tensor if index is spelled and not update else ""
            at = 0 if apart else _walked_at(s, spelled, level, update, alone)
            if at > depth:
                depth, first, changed = at, 0, changed or spelled is not index
                indices[mode] = spelled
                continue
            if at < depth and not update:
                _tell(s, expr, index, level)
            bound = len(s.path) if apart else _bound_at(s, index)
            depth, first = max(depth, bound), first if bound <= depth else 0
            name, first = _point(s, index, depth, first, expr)
            indices[mode], changed = loops.Index(name), True
            protocols[mode] = protocols[mode] or "follow"
    if not changed:
        return None
    return replace(expr, indices=tuple(indices), protocols=tuple(protocols))


def _goes_along(body: loops.Stmt) -> bool:
    """Whether it is a loop that goes along with the one around it, as those of a flat loop do."""
    return isinstance(body, loops.Loop) and isinstance(body.extent, loops.Along)


def _leader(extent: loops.Range | None) -> str:
    """The tensor whose positions a loop goes through; none for other loops."""
    base = None if extent is None else base_of(extent)
    return base.tensor if isinstance(base, loops.Positions) else ""


def _walked_at(s: _Nest, index: loops.Expr, level: Level, update: bool, tensor: str) -> int:
    """The depth of the loop that can walk along an index, or 0."""
    if tensor and isinstance(index, loops.Index) and s.left.get(index.name) == tensor:
        return s.path.index(index.name) + 1
    if not all(n.name in s.path for n in walk(index) if isinstance(n, loops.Index)):
        return 0
    scope = _scope(s, linear(index, s.types))
    walked = None if scope is None else walk_of(index, scope)
    if scope is None or walked is None or not level.takes(walked[0], update):
        return 0
    return s.path.index(scope.index) + 1


def _scope(s: _Nest, form: Linear) -> Scope | None:
    """What is known outside the deepest of the loops in whose indices a form is."""
    inside = [t.name for t in form.terms if isinstance(t, loops.Index) and t.name in s.path]
    if not inside:
        return None
    depth = max(map(s.path.index, inside)) + 1
    later = {*s.path[depth:], *(name for name, at in s.known.items() if at >= depth)}
    deepest = s.path[depth - 1]
    early = lambda a: _can_be_read_early(s, a)  # noqa: E731
    return None if deepest in s.left else Scope(deepest, later, s.types, early)


def _spelled(s: _Nest, expr: loops.Expr) -> loops.Expr:
    """An expression with the values of names in their places."""
    named = any(isinstance(n, loops.Name) and n.name in s.values for n in walk(expr))
    return substitute_expr(expr, s.values) if named else expr


def _mask(s: _Nest, expr: loops.Expr) -> loops.Expr | None:
    """A comparison of names, as one of the indices of which they are, if it narrows a loop."""
    if not isinstance(expr, loops.Call) or expr.function.name not in MIRRORED:
        return None
    call = _spelled(s, expr)
    if call is expr or not isinstance(call, loops.Call):
        return None
    left, right = (linear(a, s.types) for a in call.args)
    scope = _scope(s, left.plus(right, -1))
    return call if scope is not None and is_mask(call, scope) else None


def _is_of_loops(s: _Nest, value: loops.Expr) -> bool:
    """Whether a value is an index of a loop plus what is known before: it can be walked along."""
    form = linear(value, s.types)
    mine = [t for t in form.terms if isinstance(t, loops.Index) and t.name in s.path]
    if not mine or type_of(value, s.types) != imp.INT:
        return False
    scope = Scope("", (), s.types, lambda a: _can_be_read_early(s, a))
    return all(t in mine or scope.knows(t) for t in form.terms)


def _bound_at(s: _Nest, index: loops.Expr) -> int:
    """The depth from which on an index expression is known."""
    depth = 0
    for node in walk(index):
        match node:
            case loops.Index(name) if name in s.path:
                depth = max(depth, s.path.index(name) + 1)
            case loops.Name(name):
                depth = max(depth, s.known[name])
            case loops.Access() if _can_be_read_early(s, node):
                pass  # with its indices
            case loops.Index() | loops.Access():
                return len(s.path)
    return depth


def _can_be_read_early(s: _Nest, access: loops.Access) -> bool:
    """Whether an element may be read before it is known to be used: it is there, and stays."""
    tensor = str(access.tensor)
    return tensor not in s.changed and all(
        isinstance(index, loops.Index)
        and index.name in s.extents
        and s.agreed.stays(s.extents[index.name], loops.Dimension(tensor, mode))
        for mode, index in enumerate(access.indices)
    )


def _point(
    s: _Nest, index: loops.Expr, depth: int, first: int, access: loops.Access
) -> tuple[str, int]:
    """The loop over one index at this depth, and the place of the next one inside it.

    A loop that is there already serves, unless it lies outside the access's earlier loops.
    """
    loops_here = s.wanted[depth]
    extent = loops.Extent(index, loops.Call(add, (index, loops.Literal(1))))
    for k, loop in enumerate(loops_here[first:], first):
        if loop.extent == extent:
            return loop.index, k + 1
    name = s.names.fresh(index.name if isinstance(index, loops.Index) else "at")
    loops_here.append(loops.Loop(name, extent, loops.NOTHING, access.at))
    return name, len(loops_here)


def _tell(s: _Nest, access: loops.Access, index: loops.Expr, level: Level) -> None:
    """Warn where a loop runs over a whole dimension to search, for each value of an outer index."""
    if level.full or level.located or not isinstance(index, loops.Index) or index.name in s.left:
        return
    text, name = written(access, access.at), spoken(index.name, access.at)
    s.warnings.append(Warned(text, str(access.tensor), name, access.at))


def warn(found: tuple[Warned, ...]) -> None:
    """Tell the user, at the line of their kernel, what a discordant access costs."""
    for warned in found:
        hint, at = warned.hint, warned.at
        message = f"{warned.problem}: {warned.why}. {hint[0].upper()}{hint[1:]}."
        if at is None:
            warnings.warn(message, DiscordanceWarning, stacklevel=2)
        else:
            warnings.warn_explicit(message, DiscordanceWarning, at.file, at.line)
