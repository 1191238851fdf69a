"""Are the indices of a program, and the bounds of its ranges, integers? Refuses what is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeGuard

from linnet import loops
from linnet.algebra.dtypes import concrete, kind
from linnet.errors import DTypeError, Location
from linnet.formats.format import Format
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.loops.types import dtype_of, look

_ANY = "any"  # the type of a name that is not known yet


def check_indices(program: loops.Program, formats: Mapping[str, Format]) -> None:
    """Refuse an index or a bound that is a float: it would be cut off, and NaN would be 0."""
    types = {name: format.dtype for name, format in formats.items() if format.dtype is not None}
    look(program.body, lambda node: _check(node, types))


def _check(node: loops.Node, types: dict[str, str]) -> None:
    """The same of one node; names are known from where they are given on."""
    if isinstance(node, loops.Let):
        types[node.name] = _dtype(node.value, types) or _ANY
    for what, expr, at in _whole_numbers(node):
        dtype = _dtype(expr, types)
        if dtype is not None and kind(dtype) not in "biu":
            raise DTypeError(
                f"{what} is an integer, not {dtype}",
                at=at,
                why=f"{show(expr)} is a {dtype}",
                hint="pass integers, such as those of x.astype(np.int64)",
            )


def _dtype(expr: loops.Expr, types: Mapping[str, str]) -> str | None:
    """The dtype of an expression; None if it depends on a tensor whose dtype is open."""
    names = (n.tensor if isinstance(n, loops.Access) else n.name for n in walk(expr) if _names(n))
    if any(types.get(str(name), _ANY) is _ANY for name in names):
        return None
    return concrete(dtype_of(expr, types))


def _names(node: object) -> TypeGuard[loops.Access | loops.Name]:
    return isinstance(node, loops.Access | loops.Name)


def _whole_numbers(node: object) -> Iterator[tuple[str, loops.Expr, Location | None]]:
    """The parts of a node that must be integers."""
    match node:
        case loops.Access(_, indices):
            yield from (("an index", index, node.at) for index in indices)
        case loops.Loop(_, loops.Extent(start, stop)):
            yield from (("a bound of a range", bound, node.at) for bound in (start, stop))
        case loops.Declare(_, _, tuple(dims)):
            yield from (("a size", size, node.at) for size in dims)
