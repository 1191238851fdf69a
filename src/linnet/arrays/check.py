"""What a legal equation is: every index has one size, and nothing is left without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linnet import loops
from linnet.arrays.nodes import Notation
from linnet.arrays.printer import show
from linnet.errors import FormatError, Location, ShapeError
from linnet.loops.printer import show as show_expr
from linnet.loops.rewrite import accesses, walk
from linnet.normalize.reaches import reach_checks

Shapes = Mapping[str, Sequence[int]]


def index_sizes(notation: Notation, shapes: Shapes) -> dict[str, int]:
    """The size of every index; refuses what does not fit."""
    sizes: dict[str, tuple[int, loops.Access]] = {}
    for access in operands(notation):
        assert isinstance(access.tensor, str)
        shape = shapes[access.tensor]
        if len(shape) != len(access.indices):
            raise ShapeError(
                f"{show_expr(access)} has {len(access.indices)} indices, and {access.tensor} has "
                f"{len(shape)} dimensions",
                at=access.at or notation.at,
            )
        for index, size in zip(access.indices, shape, strict=True):
            if isinstance(index, loops.Index):
                known, where = sizes.setdefault(index.name, (size, access))
                if known != size:
                    raise ShapeError(
                        f"`{index.name}` is {known} in {show_expr(where)} but {size} in "
                        f"{show_expr(access)}",
                        at=access.at or notation.at,
                        why="an index has one size wherever it is used",
                    )
    return {name: size for name, (size, _) in sizes.items()}


def operands(notation: Notation) -> list[loops.Access]:
    """The accesses of the value, in order."""
    probe = loops.Assign(notation.target, None, notation.value)
    return [access for access, is_target in accesses(probe) if not is_target]


def indices(notation: Notation) -> list[str]:
    """All indices: those of the target, then those of the value, in order of appearance."""
    found = [n.name for n in walk(notation.value) if isinstance(n, loops.Index)]
    return list(dict.fromkeys((*notation.free, *found)))


def check(notation: Notation, shapes: Shapes) -> None:
    """Refuse an equation that has no meaning for operands of these shapes."""
    bound = index_sizes(notation, shapes)
    for node in walk(notation.value):
        if isinstance(node, loops.Dimension) and node.mode >= len(shapes[node.tensor]):
            raise ShapeError(
                f"`{node.tensor}` has no dimension {node.mode}",
                at=notation.at,
                why=f"it has {len(shapes[node.tensor])} dimensions",
            )
    if len(notation.free) < len(notation.target.indices) or len(set(notation.free)) < len(
        notation.free
    ):
        raise FormatError(
            f"the indices of {show_expr(notation.target)} must be different names",
            at=notation.target.at or notation.at,
            why="every element of the result is computed once",
        )
    for index in indices(notation):
        if index not in bound:
            raise ShapeError(
                f"nothing says how far `{index}` runs in `{show(notation)}`",
                at=_place(index, notation),
                hint="use it as a plain index of an operand",
            )
    _check_reach(notation, shapes, bound)


def _check_reach(notation: Notation, shapes: Shapes, sizes: Mapping[str, int]) -> None:
    """Refuse an index that leaves its dimension, where it stands in the equation."""
    body: loops.Stmt = loops.Assign(notation.target, None, notation.value)
    for index in indices(notation):
        extent = loops.Extent(loops.Literal(0), loops.Literal(sizes[index]))
        body = loops.Loop(index, extent, body)
    held = {name: tuple(shape) for name, shape in shapes.items()}
    for check in reach_checks(loops.Program("equation", tuple(held), (), body, ()), {}):
        if not check.holds(held):
            raise check.explain(held)


def _place(index: str, notation: Notation) -> Location | None:
    """Where an index is used, as far as that is known."""
    for access in (notation.target, *operands(notation)):
        if access.at is not None and loops.Index(index) in walk(access):
            return access.at
    return notation.at
