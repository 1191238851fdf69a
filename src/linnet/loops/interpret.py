"""The meaning of a loop program, on dense NumPy arrays (FINCH Fig. 8b): the oracle of all tests.

Loops run in order, one element at a time, with the types of `algebra`. Statements become Python
closures once, and the closures run; `evaluate` does the same for expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from itertools import groupby
from typing import Any, TypeAlias, assert_never

import numpy as np

from linnet.algebra.derive import final, is_lawful
from linnet.algebra.dtypes import concrete, kind, weak_dtype
from linnet.algebra.exact import identical
from linnet.algebra.function import Function
from linnet.algebra.table import first
from linnet.errors import DTypeError, InternalError, Location
from linnet.formats.format import Format
from linnet.loops import ranges
from linnet.loops.beyond import UNSURE, Beyond, existing, is_there, out_of_bounds, present
from linnet.loops.cells import Cell, DenseTensor
from linnet.loops.evaluate import (
    MISSING,
    Code,
    Env,
    Run,
    Structural,
    call,
    conversion,
    positional,
    same,
    to,
)
from linnet.loops.nodes import (
    Access,
    Along,
    Assign,
    Block,
    Break,
    Call,
    Declare,
    Dimension,
    Expr,
    Freeze,
    If,
    Index,
    Let,
    Literal,
    Loop,
    Name,
    Parts,
    Place,
    Program,
    Range,
    Stmt,
    Swap,
    Thaw,
    Value,
)
from linnet.loops.positions import is_positional
from linnet.loops.rewrite import is_left
from linnet.records import dataclass

Do: TypeAlias = Callable[[Env], None]
Where: TypeAlias = Callable[[Env], tuple[int, ...] | Beyond]


def run(
    program: Program, arrays: Mapping[str, DenseTensor], strict: bool = True
) -> dict[str, DenseTensor]:
    """Run a program; returns all its tensors as they are afterwards, and leaves `arrays` alone.

    An index that leaves its dimension is an error; unless `strict`, only where the value is used. A
    compiled program may notice any such index, and always notices one that it uses.

    Needs: `arrays` for all parameters (an output has a dtype, a fill value, and any shape), extents
    of all loops, dimensions of all declarations.
    """
    cells = {name: Cell.of(arrays[name], name) for name in program.params}
    for name, format in program.temporaries:
        cells[name] = Cell.of(arrays.get(name) or _temporary(format), name)
    do = _Compiler(cells, strict).stmt(program.body)
    with np.errstate(all="ignore"):
        do({})
    return {name: cell.tensor() for name, cell in cells.items()}


def _temporary(format: Format) -> DenseTensor:
    fill = format.fill_value if format.fill_value is not None else 0.0
    dtype = format.dtype or concrete(weak_dtype(fill))
    return DenseTensor(np.full((0,) * format.ndim, fill, dtype), fill, format)


# -- statements ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Compiler:
    """Turns statements and expressions into closures."""

    cells: dict[str, Cell]
    strict: bool = True
    lets: dict[str, Code] = field(default_factory=dict)  # what names stand for

    def stmt(self, stmt: Stmt) -> Do:
        """What a statement does."""
        match stmt:
            case Assign():
                return self._assign(stmt)
            case Block(stmts):
                return _in_order([self.stmt(s) for s in stmts])
            case Loop():
                return self._loop(stmt)
            case If(cond, then, orelse, at):
                parts = self.expr(cond).run, self.stmt(then), self.stmt(orelse)
                return _branch(*parts, at, self.strict)
            case Let(name, value, body):
                code = self.expr(value)
                self.lets[name] = Code(code.dtype, lambda env: env[name], code.loose)
                if code.constant:
                    self.lets[name] = code
                return _let(name, code.run, self.stmt(body))
            case Declare():
                return self._declare(stmt)
            case Freeze() | Thaw():
                return _in_order([])
            case Swap(a, b):
                one, other = self.cells[a], self.cells[b]
                return lambda env: one.swap(other)
            case Break():
                return _leave
            case _:
                assert_never(stmt)

    def _loop(self, stmt: Loop) -> Do:
        if stmt.extent is None:
            raise InternalError(f"the loop over {stmt.index} has no extent", at=stmt.at)
        if isinstance(stmt.extent, Along):
            return self._along(stmt, stmt.extent)
        indices = self._range(stmt.extent, stmt.at)
        index, body = stmt.index, self.stmt(stmt.body)

        def loop(env: Env) -> None:
            for i in indices(env):
                env[index] = i
                body(env)

        return _until_left(loop) if is_left(stmt) else loop

    def _along(self, stmt: Loop, along: Along) -> Do:
        """A loop over one coordinate of several; what has it is left to the loop inside."""
        index, body = stmt.index, self.stmt(stmt.body)
        left, rest = (f"{along.depth + k} of {along.of}" for k in (0, 1))
        found = self._range(along.of, stmt.at) if along.depth == 0 else lambda env: env[left]

        def loop(env: Env) -> None:
            for i, places in groupby(found(env), lambda place: place[0]):
                env[index], env[rest] = i, [place[1:] for place in places]
                body(env)

        return _until_left(loop) if along.depth == 0 and is_left(stmt) else loop

    def _range(self, extent: Range, at: Location | None) -> Callable[[Env], Any]:
        """The indices of a range, or the coordinates of positions."""
        return ranges.items(extent, self.cells, lambda e: self._integer(e, at))

    def _declare(self, stmt: Declare) -> Do:
        cell, init = self.cells[stmt.tensor], self.expr(stmt.init)
        if stmt.dims is None and cell.values.ndim:
            raise InternalError(f"the declaration of {stmt.tensor} has no dimensions", at=stmt.at)
        dims = [self._integer(d, stmt.at) for d in stmt.dims or ()]
        convert = conversion(init, str(cell.values.dtype))

        def declare(env: Env) -> None:
            # a range that runs backwards is empty
            shape = tuple([max(0, d(env)) for d in dims])
            cell.declare(shape, present(convert(init.run(env)), stmt.at))

        return declare

    def _assign(self, stmt: Assign) -> Do:
        cell, place = self._cell(stmt.target), self._place(stmt.target)
        write = _store if stmt.op is None else _updating(stmt.op, self.strict)
        return write(cell, place, self.expr(stmt.value), stmt.at)

    # -- expressions ---------------------------------------------------------------------------

    def expr(self, expr: Expr) -> Code:
        """The type and the value of an expression."""
        match expr:
            case Access():
                return self._access(expr)
            case Index(name):
                return Code("int64", lambda env: env[name])
            case Call(function, args):
                found = call(function, [self.expr(a) for a in args])
                return positional(found) if is_positional(expr) else found
            case Literal(value, dtype, structural):
                typed = value if dtype is None else np.dtype(dtype).type(value)
                known = Structural(typed) if structural else typed
                return Code(dtype or weak_dtype(value), lambda env: known, structural, True)
            case Name(name):
                return self.lets[name]
            case Dimension(tensor, mode):
                cell = self.cells[tensor]
                return Code("int64", lambda env: cell.values.shape[mode])
            case Parts(of, size):
                whole, length = self._range(of, None), self._integer(size, None)
                return Code("int64", lambda env: ranges.parts_in(whole(env), length(env)))
            case Place(of, at):
                whole, places = self._range(of, None), [self._integer(i, None) for i in at]
                return Code(
                    "int64", lambda env: ranges.place_in(whole(env), [i(env) for i in places])
                )
            case Value(code):
                raise InternalError(f"the program is already code: {code}")
            case _:
                assert_never(expr)

    def _access(self, access: Access) -> Code:
        cell, place = self._cell(access), self._place(access)
        scalar = not access.indices and cell.format is not None and cell.format.leaf.specialized

        def read(env: Env) -> object:
            at = place(env)
            if not isinstance(at, tuple):
                return at
            if scalar and identical(cell.values[at], cell.fill):
                return Structural(cell.values[at])
            return cell.read(at)

        beyond = not self.strict or "permissive" in access.protocols
        loose = cell.sparse or scalar or beyond
        return Code(str(cell.values.dtype), read, loose)

    def _cell(self, access: Access) -> Cell:
        if not isinstance(access.tensor, str):
            raise InternalError(f"the program is being lowered: {access.tensor}", at=access.at)
        return self.cells[access.tensor]

    def _place(self, access: Access) -> Where:
        """The coordinates of an access, checked; what is there if they may be out of bounds."""
        cell, where = self._cell(access), access.at
        indices = [self._integer(i, access.at) for i in access.indices]
        lenient = [p == "permissive" for p in access.protocols] or [False] * len(indices)

        strict, nothing = self.strict, Structural(cell.values.dtype.type(cell.fill))

        def place(env: Env) -> tuple[int, ...] | Beyond:
            found = tuple([i(env) for i in indices])
            beyond: Beyond | None = None
            for mode, (p, n) in enumerate(zip(found, cell.values.shape, strict=True)):
                if not 0 <= p < n:
                    if strict and not lenient[mode]:
                        raise out_of_bounds(cell, mode, p, where)
                    unseen = not lenient[mode] and beyond is not MISSING and cell.has_nothing(found)
                    beyond = nothing if unseen else MISSING
            return found if beyond is None else beyond

        return place

    def _integer(self, expr: Expr, at: Location | None) -> Callable[[Env], int]:
        """An index, a bound or a dimension."""
        if isinstance(expr, Index):
            name = expr.name
            return lambda env: env[name]  # type: ignore[return-value]
        code = self.expr(expr)
        if kind(code.dtype) not in "iu":
            raise DTypeError(f"an index is an integer, not {concrete(code.dtype)}", at=at)
        return lambda env: int(present(code.run(env), at))  # type: ignore[call-overload]


class _Left(Exception):
    """The loop around is left."""


def _leave(env: Env) -> None:
    raise _Left


def _until_left(loop: Do) -> Do:
    def left(env: Env) -> None:
        with suppress(_Left):
            loop(env)

    return left


def _in_order(parts: list[Do]) -> Do:
    if len(parts) == 1:
        return parts[0]

    def block(env: Env) -> None:
        for part in parts:
            part(env)

    return block


def _branch(cond: Run, then: Do, orelse: Do, at: Location | None, strict: bool) -> Do:
    """Where the condition is missing, it is used if either part would write something."""

    def branch(env: Env) -> None:
        value = cond(env)
        if value is MISSING and not strict:
            then({**env, UNSURE: True})
            orelse({**env, UNSURE: True})
        else:
            (then if present(value, at) else orelse)(env)

    return branch


def _let(name: str, value: Run, body: Do) -> Do:
    def let(env: Env) -> None:
        env[name] = value(env)
        body(env)

    return let


def _store(cell: Cell, place: Where, value: Code, at: Location | None) -> Do:
    """`target = value`. Where nothing is stored, writing what that means stores nothing."""
    convert = conversion(value, str(cell.values.dtype))
    _check_constant(value, convert)

    def store(env: Env) -> None:
        found = convert(value.run(env))
        number, where = present(found, at), place(env)
        known = value.constant or type(found) is Structural
        if isinstance(where, tuple):
            idle = not cell.is_stored(where) and same(cell.values[where], number)
        else:
            idle = same(cell.fill, number)
        if not (known and idle):
            cell.write(existing(cell, where, at, env), number)
        elif type(found) is Structural and not found.sure and isinstance(where, tuple):
            cell.pass_by(where)

    return store


def _check_constant(value: Code, convert: Callable[[object], object]) -> None:
    """Refuse a number that does not fit its target before anything runs."""
    if value.constant:
        convert(value.run({}))


def _updating(op: Function, strict: bool) -> Callable[[Cell, Where, Code, Location | None], Do]:
    """`target = op(target, value)`. An update with an identity of `op` stores nothing.

    A value that no update changes any more ends a loop: unless `strict`, none has to be used then.
    """

    def make(cell: Cell, place: Where, value: Code, at: Location | None) -> Do:
        dtype = str(cell.values.dtype)
        (old_type, value_type), result = op.types((dtype, value.dtype))
        before, convert, after = to(old_type), conversion(value, value_type), to(dtype)
        laws = [law(value_type) for law in (op.identity, op.right_identity)]
        identities = [e for e in laws if e is not None and result == dtype]
        _check_constant(value, convert)
        is_final = _finality(op, cell, value.dtype)

        def update(env: Env) -> None:
            place_found = place(env)
            settled = not strict and isinstance(place_found, tuple)
            settled = settled and is_final(cell.values[place_found])  # type: ignore[index]
            if settled and (UNSURE in env or not is_there(value.run, env)):
                return
            found = convert(value.run(env))
            number = present(found, at)
            known = value.constant or type(found) is Structural
            idle = any(same(e, number) for e in identities)
            if not isinstance(place_found, tuple) or UNSURE in env:
                # what begins as its fill value stays so: nothing has to be known about it
                idle = idle or (op.idempotent and same(cell.fill, number))
            if not (known and idle):
                where = existing(cell, place_found, at, env)
                old = cell.values[where]
                cell.write(where, old if settled else after(op.numpy(before(old), number)))
            elif type(found) is Structural and not found.sure and isinstance(place_found, tuple):
                cell.pass_by(place_found)

        return update

    return make


def _finality(op: Function, cell: Cell, found: str) -> Callable[[object], bool]:
    """Whether updates by `op`, with values of the dtype `found`, leave a value as it is."""
    dtype = str(cell.values.dtype)
    if not is_lawful(op, dtype, found):
        return lambda value: False
    if op is first:
        return lambda value: True
    identity = op.identity(dtype)
    if op.decisive and identity is not None:
        return lambda value: not same(identity, value)
    claimed = cell.format is not None and cell.format.leaf.short_circuit
    last = final(op, dtype, claimed)
    return lambda value: last is not None and same(last, value)
