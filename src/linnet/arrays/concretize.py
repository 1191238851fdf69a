"""Index notation to a loop program: an order of loops, a format for the result, a declaration.

Loops are ordered so that operands are walked as they are stored. What the result is stored in, if
the user does not say, follows from the operands: a dimension is sparse in the result if nothing is
stored there unless an operand stores something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from linnet import loops
from linnet.algebra.dtypes import Number, concrete
from linnet.algebra.function import Function
from linnet.algebra.table import add
from linnet.arrays.check import indices, operands
from linnet.arrays.nodes import Notation
from linnet.errors import FormatError
from linnet.formats.format import Format
from linnet.formats.result import result_format
from linnet.loops.rewrite import rewrite_expr
from linnet.loops.types import dtype_of
from linnet.normalize.simplify import Facts, same, simplify_expr

Formats = Mapping[str, Format]


@dataclass(frozen=True, slots=True)
class Plan:
    """A loop program, the format of its result, and the operands to be stored in another order."""

    program: loops.Program
    format: Format
    reorder: Mapping[str, Format]


def concretize(
    notation: Notation, formats: Formats, stored: Mapping[str, int], format: Format | None,
    fill: Number | None,
) -> Plan:  # fmt: skip
    """Choose. Needs: `arrays.check`; `stored`, how many values each operand holds."""
    order, against = loop_order(notation, formats, stored)
    reorder = {name: reordered(formats[name], notation, name, order) for name in against}
    formats = {**formats, **reorder}
    dtype = concrete(
        dtype_of(notation.value, {n: f.dtype or "float64" for n, f in formats.items()})
    )
    reduced = [i for i in order if i not in notation.free]
    op = notation.op if notation.op is not None or not reduced else add
    init = initial(notation, formats, op, dtype) if fill is None else fill
    if format is None:
        modes = [notation.free.index(i) for i in order if i in notation.free]
        sparse = [is_sparse(notation, formats, i, op, init) for i in notation.free]
        format = result_format([sparse[m] for m in modes], tuple(modes))
    body: loops.Stmt = loops.Assign(notation.target, op, notation.value, notation.at)
    for index in reversed(order):
        body = loops.Loop(index, None, body, notation.at)
    declare = loops.Declare(notation.result, loops.Literal(init), at=notation.at)
    params = (notation.result, *dict.fromkeys(str(a.tensor) for a in operands(notation)))
    program = loops.Program("einsum", params, (), loops.Block((declare, body)), (notation.result,))
    return Plan(program, format, reorder)


def loop_order(
    notation: Notation, formats: Formats, stored: Mapping[str, int]
) -> tuple[list[str], list[str]]:
    """All indices, so that as many operands as possible are walked as stored; and the others.

    An index of a sparse dimension comes after all that are stored above it. Operands that hold much
    are heard first; one that contradicts them is to be stored otherwise.
    """
    after: dict[str, set[str]] = {i: set() for i in indices(notation)}
    against: list[str] = []
    for access in sorted(operands(notation), key=lambda a: -stored[str(a.tensor)]):
        name = str(access.tensor)
        edges = _edges(access, formats[name])
        trial = {i: above | {a for a, b in edges if b == i} for i, above in after.items()}
        if _sorted(trial) is None:
            against.append(name)
        else:
            after = trial
    order = _sorted(after)
    assert order is not None
    return order, list(dict.fromkeys(against))


def _edges(access: loops.Access, format: Format) -> list[tuple[str, str]]:
    """Pairs of indices of which the first must be bound before the second."""
    above: list[str] = []
    edges = []
    for number, level in enumerate(format.levels):
        for mode in format.modes_of(number):
            index = access.indices[mode]
            if isinstance(index, loops.Index):
                edges += [(a, index.name) for a in above if not level.full and a != index.name]
                above.append(index.name)
    return edges


def _sorted(after: Mapping[str, set[str]]) -> list[str] | None:
    """The indices in order of appearance, each after those it must follow; None in a circle."""
    order: list[str] = []
    left = list(after)
    while left:
        ready = next((i for i in left if not after[i] - set(order)), None)
        if ready is None:
            return None
        order.append(ready)
        left.remove(ready)
    return order


def reordered(format: Format, notation: Notation, name: str, order: list[str]) -> Format:
    """The format with its dimensions stored in the order of the loops."""
    access = next(a for a in operands(notation) if a.tensor == name)
    names = [i.name if isinstance(i, loops.Index) else "" for i in access.indices]
    modes = sorted(range(format.ndim), key=lambda m: order.index(names[m]) if names[m] else -1)
    return format.with_order(*modes)


def initial(notation: Notation, formats: Formats, op: Function | None, dtype: str) -> Number:
    """What the result is where nothing contributes: the identity of the reduction, or f(fills)."""
    if op is not None:
        identity = op.identity(dtype)
        if identity is None:
            raise FormatError(
                f"`{op.name}` has no identity, so the result has no value to begin with",
                at=notation.at,
                hint="give fill_value=",
            )
        return identity
    value = simplified(notation, formats, lambda access: True)
    return value.value if isinstance(value, loops.Literal) else 0


def simplified(notation: Notation, formats: Formats, absent: object) -> loops.Expr:
    """The value where the accesses that `absent` names store nothing."""
    types = {name: f.dtype or "float64" for name, f in formats.items()}

    def rule(e: loops.Expr) -> loops.Expr | None:
        if isinstance(e, loops.Access) and absent(e):  # type: ignore[operator]
            f = formats[str(e.tensor)]
            assert f.fill_value is not None
            return loops.Literal(f.fill_value, f.dtype, structural=True)
        return None

    return simplify_expr(rewrite_expr(notation.value, rule), Facts({}, types))


def is_sparse(
    notation: Notation, formats: Formats, index: str, op: Function | None, init: Number
) -> bool:
    """Whether a dimension of the result is empty wherever the operands store nothing along it."""

    def absent(access: loops.Access) -> bool:
        format = formats[str(access.tensor)]
        for number, level in enumerate(format.levels[:-1]):
            for mode in format.modes_of(number):
                if access.indices[mode] == loops.Index(index) and not level.full:
                    return True
        return False

    value = simplified(notation, formats, absent)
    if not isinstance(value, loops.Literal):
        return False
    neutral = init if op is None else op.identity(value.dtype or "float64")
    return neutral is not None and same(value.value, neutral)
