"""The meaning of a loop program, on dense NumPy arrays (FINCH Fig. 8b): the oracle of all tests.

Loops run in order, one element at a time, with the types of `algebra`. Statements become Python
closures once, and the closures run; `evaluate` does the same for expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import Number, concrete, kind, weak_dtype
from linnet.algebra.function import Function
from linnet.errors import DTypeError, IndexBoundsError, InternalError, Location
from linnet.formats.format import Format
from linnet.loops.evaluate import (
    MISSING,
    Code,
    Env,
    Run,
    Structural,
    call,
    conversion,
    plain,
    same,
    to,
)
from linnet.loops.nodes import (
    Access,
    Assign,
    Block,
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
    Program,
    Stmt,
    Thaw,
    Value,
)

Do: TypeAlias = Callable[[Env], None]
Place: TypeAlias = Callable[[Env], tuple[int, ...] | None]


@dataclass(frozen=True, slots=True)
class DenseTensor:
    """All values of a tensor, stored or not.

    `format` says how it is stored, and `stored` which elements are; without them, all. They matter
    only to values like NaN, which an element that is not stored never meets.
    """

    values: NDArray[Any]
    fill: Number = 0
    format: Format | None = None
    stored: NDArray[np.bool_] | None = None


def run(program: Program, arrays: Mapping[str, DenseTensor]) -> dict[str, DenseTensor]:
    """Run a program; returns all its tensors as they are afterwards, and leaves `arrays` alone.

    Needs: `arrays` for all parameters (an output has a dtype, a fill value, and any shape), extents
    of all loops, dimensions of all declarations.
    """
    cells = {name: _Cell.of(arrays[name], name) for name in program.params}
    for name, format in program.temporaries:
        cells[name] = _Cell.of(arrays.get(name) or _temporary(format), name)
    types = {name: str(cell.values.dtype) for name, cell in cells.items()}
    do = _Compiler(cells, types).stmt(program.body)
    with np.errstate(all="ignore"):
        do({})
    return {name: cell.tensor() for name, cell in cells.items()}


def _temporary(format: Format) -> DenseTensor:
    fill = format.fill_value if format.fill_value is not None else 0.0
    dtype = format.dtype or concrete(weak_dtype(fill))
    return DenseTensor(np.full((0,) * format.ndim, fill, dtype), fill, format)


# -- tensors ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Cell:
    """A tensor while the program runs."""

    name: str
    values: NDArray[Any]
    fill: Number
    format: Format | None
    stored: NDArray[np.bool_] | None
    together: frozenset[int]  # modes that are stored as a whole, or not at all
    spanned: int | None  # the mode above these, if all between two stored indices is stored

    @staticmethod
    def of(tensor: DenseTensor, name: str) -> _Cell:
        """The state of a tensor, which is copied."""
        stored = None if tensor.stored is None else tensor.stored.copy()
        together, spanned = _stored_together(tensor.format)
        values = tensor.values.copy()
        return _Cell(name, values, tensor.fill, tensor.format, stored, together, spanned)

    def tensor(self) -> DenseTensor:
        """The state as a value."""
        return DenseTensor(self.values, self.fill, self.format, self.stored)

    @property
    def sparse(self) -> bool:
        """Whether there may be elements that are not stored."""
        whole = self.format is None or len(self.together) == self.format.ndim
        return self.stored is not None or not whole

    def declare(self, shape: tuple[int, ...], init: object) -> None:
        """Begin anew."""
        self.stored = np.zeros(shape, np.bool_) if self.sparse else None
        self.values = np.full(shape, init, self.values.dtype)

    def is_stored(self, place: tuple[int, ...]) -> bool:
        """Whether an element is stored."""
        return self.stored is None or bool(self.stored[place])

    def write(self, place: tuple[int, ...], value: object) -> None:
        """Store a value, and with it those elements that are stored together."""
        self.values[place] = value
        if self.stored is not None:
            whole: list[slice | int] = [
                slice(None) if m in self.together else p for m, p in enumerate(place)
            ]
            self.stored[tuple(whole)] = True
            if self.spanned is not None:
                line: list[slice | int] = list(place)
                line[self.spanned] = slice(None)
                between = np.flatnonzero(self.stored[tuple(line)])
                whole[self.spanned] = slice(between[0], between[-1] + 1)
                self.stored[tuple(whole)] = True


def _stored_together(format: Format | None) -> tuple[frozenset[int], int | None]:
    """The modes of which one stored element implies all others; one that implies those between."""
    modes: set[int] = set()
    if format is not None:
        for k in reversed(range(len(format.levels))):
            level = format.levels[k]
            if not (level.full or level.covers or level.leaf):
                return frozenset(modes), format.modes_of(k)[0] if level.spans else None
            modes.update(format.modes_of(k))
    return frozenset(modes), None


# -- statements ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Compiler:
    """Turns statements and expressions into closures."""

    cells: dict[str, _Cell]
    types: dict[str, str]  # of tensors and let names
    loose: set[str] = field(default_factory=set)  # names whose values may be structural

    def stmt(self, stmt: Stmt) -> Do:
        """What a statement does."""
        match stmt:
            case Assign():
                return self._assign(stmt)
            case Block(stmts):
                return _in_order([self.stmt(s) for s in stmts])
            case Loop():
                return self._loop(stmt)
            case If(cond, then, orelse):
                return _branch(self.expr(cond).run, self.stmt(then), self.stmt(orelse))
            case Let(name, value, body):
                code = self.expr(value)
                self.types[name] = code.dtype
                (self.loose.add if code.loose else self.loose.discard)(name)
                return _let(name, code.run, self.stmt(body))
            case Declare():
                return self._declare(stmt)
            case Freeze() | Thaw():
                return _in_order([])
            case _:
                assert_never(stmt)

    def _loop(self, stmt: Loop) -> Do:
        if stmt.extent is None:
            raise InternalError(f"the loop over {stmt.index} has no extent", at=stmt.at)
        start = self._integer(stmt.extent.start, stmt.at)
        stop = self._integer(stmt.extent.stop, stmt.at)
        index, body = stmt.index, self.stmt(stmt.body)

        def loop(env: Env) -> None:
            for i in range(start(env), stop(env)):
                env[index] = i
                body(env)

        return loop

    def _declare(self, stmt: Declare) -> Do:
        cell, init = self.cells[stmt.tensor], self.expr(stmt.init)
        if stmt.dims is None and cell.values.ndim:
            raise InternalError(f"the declaration of {stmt.tensor} has no dimensions", at=stmt.at)
        dims = [self._integer(d, stmt.at) for d in stmt.dims or ()]
        convert = conversion(init, str(cell.values.dtype))

        def declare(env: Env) -> None:
            # a range that runs backwards is empty
            shape = tuple([max(0, d(env)) for d in dims])
            cell.declare(shape, plain(convert(init.run(env))))

        return declare

    def _assign(self, stmt: Assign) -> Do:
        cell, place = self._cell(stmt.target), self._place(stmt.target)
        write = _store if stmt.op is None else _updating(stmt.op)
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
                return call(function, [self.expr(a) for a in args])
            case Literal(value, dtype, structural):
                typed = value if dtype is None else np.dtype(dtype).type(value)
                known = Structural(typed) if structural else typed
                return Code(dtype or weak_dtype(value), lambda env: known, structural, True)
            case Name(name):
                return Code(self.types[name], lambda env: env[name], name in self.loose)
            case Dimension(tensor, mode):
                cell = self.cells[tensor]
                return Code("int64", lambda env: cell.values.shape[mode])
            case Value(code):
                raise InternalError(f"the program is already code: {code}")
            case _:
                assert_never(expr)

    def _access(self, access: Access) -> Code:
        cell, place = self._cell(access), self._place(access)

        def read(env: Env) -> object:
            at = place(env)
            if at is None:
                return MISSING
            value = cell.values[at]
            return value if cell.stored is None or cell.stored[at] else Structural(value)

        loose = cell.sparse or "permissive" in access.protocols
        return Code(str(cell.values.dtype), read, loose)

    def _cell(self, access: Access) -> _Cell:
        if not isinstance(access.tensor, str):
            raise InternalError(f"the program is being lowered: {access.tensor}", at=access.at)
        return self.cells[access.tensor]

    def _place(self, access: Access) -> Place:
        """The coordinates of an access, checked; None if it is permissive and out of bounds."""
        cell, where = self._cell(access), access.at
        indices = [self._integer(i, access.at) for i in access.indices]
        lenient = [p == "permissive" for p in access.protocols] or [False] * len(indices)

        def place(env: Env) -> tuple[int, ...] | None:
            found = tuple([i(env) for i in indices])
            inside = True
            for mode, (p, n) in enumerate(zip(found, cell.values.shape, strict=True)):
                if not 0 <= p < n:
                    if not lenient[mode]:
                        raise _out_of_bounds(cell, mode, p, where)
                    inside = False
            return found if inside else None

        return place

    def _integer(self, expr: Expr, at: Location | None) -> Callable[[Env], int]:
        """An index, a bound or a dimension."""
        if isinstance(expr, Index):
            name = expr.name
            return lambda env: env[name]  # type: ignore[return-value]
        code = self.expr(expr)
        if kind(code.dtype) not in "iu":
            raise DTypeError(f"an index is an integer, not {concrete(code.dtype)}", at=at)
        return lambda env: int(_present(code.run(env), at))  # type: ignore[call-overload]


def _in_order(parts: list[Do]) -> Do:
    if len(parts) == 1:
        return parts[0]

    def block(env: Env) -> None:
        for part in parts:
            part(env)

    return block


def _branch(cond: Run, then: Do, orelse: Do) -> Do:
    def branch(env: Env) -> None:
        (then if plain(cond(env)) else orelse)(env)

    return branch


def _let(name: str, value: Run, body: Do) -> Do:
    def let(env: Env) -> None:
        env[name] = value(env)
        body(env)

    return let


def _store(cell: _Cell, place: Place, value: Code, at: Location | None) -> Do:
    """`target = value`. Where nothing is stored, writing what that means stores nothing."""
    convert = conversion(value, str(cell.values.dtype))

    def store(env: Env) -> None:
        found = convert(value.run(env))
        number, where = _present(found, at), _existing(cell, place(env), at)
        known = value.constant or type(found) is Structural
        if not (known and not cell.is_stored(where) and same(cell.values[where], number)):
            cell.write(where, number)

    return store


def _updating(op: Function) -> Callable[[_Cell, Place, Code, Location | None], Do]:
    """`target = op(target, value)`. An update with an identity of `op` stores nothing."""

    def make(cell: _Cell, place: Place, value: Code, at: Location | None) -> Do:
        dtype = str(cell.values.dtype)
        (old_type, value_type), result = op.types((dtype, value.dtype))
        before, convert, after = to(old_type), conversion(value, value_type), to(dtype)
        laws = [law(value_type) for law in (op.identity, op.right_identity)]
        identities = [e for e in laws if e is not None and result == dtype]

        def update(env: Env) -> None:
            found = convert(value.run(env))
            number, where = _present(found, at), _existing(cell, place(env), at)
            known = value.constant or type(found) is Structural
            if not (known and any(same(e, number) for e in identities)):
                cell.write(where, after(op.numpy(before(cell.values[where]), number)))

        return update

    return make


# -- out of bounds ---------------------------------------------------------------------------------


def _present(value: object, at: Location | None) -> object:
    """A number, unless it is missing."""
    if value is MISSING:
        raise IndexBoundsError(
            "a value outside the bounds of a tensor is used",
            at=at,
            hint="say what it is there: ln.coalesce(x[~i], 0)",
        )
    return plain(value)


def _existing(cell: _Cell, place: tuple[int, ...] | None, at: Location | None) -> tuple[int, ...]:
    """A place to be written to, unless there is none."""
    if place is None:
        raise IndexBoundsError(f"an update is outside the bounds of {cell.name}", at=at)
    return place


def _out_of_bounds(cell: _Cell, mode: int, found: int, at: Location | None) -> IndexBoundsError:
    return IndexBoundsError(
        f"index {found} is out of bounds for dimension {mode} of {cell.name}, "
        f"which has size {cell.values.shape[mode]}",
        at=at,
    )
