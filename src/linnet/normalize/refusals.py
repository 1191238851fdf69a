"""Updates that are refused: a format cannot take them in place, or they cannot be merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linnet import loops
from linnet.errors import FormatError
from linnet.formats.combining import merges
from linnet.formats.format import Format
from linnet.loops.rewrite import walk
from linnet.loops.types import Types, dtype_of, with_lets


def check_merging(program: loops.Program, formats: Mapping[str, Format]) -> None:
    """Refuse updates of a workspace that cannot be combined with each other."""
    nodes, types = list(walk(program.body)), value_types(program.body, formats)
    updated = [str(n.target.tensor) for n in nodes if isinstance(n, loops.Assign)]
    for name in dict.fromkeys(updated):
        if not any(level.merges for level in formats[name].levels):
            continue
        writes = [n for n in nodes if isinstance(n, loops.Assign) and n.target.tensor == name]
        inits = [n.init for n in nodes if isinstance(n, loops.Declare) and n.tensor == name]
        if not all(can_merge(writes, init, formats[name], types) for init in inits):
            raise FormatError(
                f"the updates of `{name}` cannot be combined before they meet what it holds",
                at=writes[-1].at,
                why="a SparseWorkspace is updated by one associative function, and begins with "
                "its identity; what that makes of larger integers than it holds must not be cut",
                hint="use SparseHash levels, which take updates of any kind",
            )


def value_types(body: loops.Stmt, formats: Mapping[str, Format]) -> Types:
    """The dtypes of all that is written or read."""
    held = {name: f.dtype for name, f in formats.items() if f.dtype is not None}
    return with_lets(held, body)


def can_merge(
    writes: Sequence[loops.Assign], init: loops.Expr, format: Format, types: Types
) -> bool:
    """Whether the updates of a tensor may be combined in groups."""
    ops = {write.op for write in writes}
    if len(ops) != 1 or not isinstance(init, loops.Literal) or format.dtype is None:
        return False
    op, dtype, begun = next(iter(ops)), format.dtype, init.value
    return all(merges(op, dtype, begun, dtype_of(w.value, types)) for w in writes)


def swapped(tensor: str, declare: loops.Declare) -> FormatError:
    """A tensor that two names share is updated again."""
    return FormatError(
        f"`{tensor}` is swapped and updated again, and its format cannot be updated in place",
        at=declare.at,
        why="a level that is written in order has no room for insertions",
        hint=f"declare it again before it is updated, `{tensor}[...] = 0`, or use SparseByteMap, "
        "SparseHash or Dense levels",
    )


def left(tensor: str, declare: loops.Declare) -> FormatError:
    """A loop is left in which a tensor is updated that begins with another."""
    return FormatError(
        f"`{tensor}` is declared with what a tensor holds, and updated in a loop that is left; "
        "its format cannot be updated in place",
        at=declare.at,
        why="a level that is written in order is declared when all of it is known",
        hint="use SparseByteMap, SparseHash or Dense levels",
    )


def not_declared(stmt: loops.Assign, tensor: str) -> FormatError:
    """An update of a tensor that was not declared."""
    return FormatError(
        f"`{tensor}` is updated without being declared, and its format cannot be updated in place",
        at=stmt.at,
        why="a level that is written in order has no room for insertions",
        hint=f"declare it first with `{tensor}[...] = 0`, or use SparseHash or Dense levels",
    )
