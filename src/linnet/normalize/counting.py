"""Where every element is written at most once, as in a transpose, no workspace is needed.

The loops are run twice, first to count the entries of each fiber, then to put each entry where it
belongs.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp, loops
from linnet.algebra.dtypes import Number
from linnet.algebra.exact import converter
from linnet.algebra.function import Function
from linnet.algebra.table import add
from linnet.formats.format import Format
from linnet.formats.insertion import counts_format
from linnet.loops.rewrite import map_stmts, rewrite_stmt, substitute, walk
from linnet.names import Names
from linnet.normalize.branches import identical
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Counted:
    """The statements that count and write, the tensor of counts, and the format that is written."""

    stmts: list[loops.Stmt]
    counts: str
    counts_format: Format
    format: Format


def count_first(
    declare: loops.Declare,
    stmt: loops.Stmt,
    write: loops.Assign,
    path: tuple[str, ...],
    format: Format,
    names: Names,
) -> Counted | None:
    """Count the entries of every fiber, then write them; None where that is not possible.

    Needs: one update, which writes every element at most once, into one sequential level below
    levels whose subfibers are all there.
    """
    indices = [write.target.indices[m] for m in format.order]
    plain = [i.name for i in indices if isinstance(i, loops.Index)]
    level = scattered_level(format)
    alone = sum(isinstance(n, loops.Assign | loops.Declare) for n in walk(stmt)) == 1
    if level is None or not alone or sorted(plain) != sorted(path) or len(plain) < len(indices):
        return None
    assert declare.dims is not None
    assert format.fill_value is not None
    assert format.dtype is not None
    name = names.fresh(f"{declare.tensor}_count")
    modes = format.order[:level]
    begin = loops.Declare(name, loops.Literal(0), tuple(declare.dims[m] for m in modes), declare.at)
    counts = loops.Access(name, tuple(write.target.indices[m] for m in modes), at=write.target.at)
    init, value = loops.Literal(format.fill_value, format.dtype), write.value
    value = value if write.op is None else loops.Call(write.op, (init, value))
    one = loops.Call(written(format.fill_value, format.dtype), (value,))
    # Both passes look at the same value: what one of them finds to be the fill, the other does.
    first = with_update(stmt, loops.Assign(counts, add, one, write.at))
    second = with_update(stmt, loops.Assign(write.target, None, value, write.at))
    second = rename_loops(second, names)
    stmts = [begin, first, loops.Freeze(name), replace(declare, counts=name), second]
    return Counted(stmts, name, counts_format(format, level), replace_level(format, level))


def with_update(stmt: loops.Stmt, update: loops.Assign) -> loops.Stmt:
    """The statement with another update in the place of its only one."""
    return rewrite_stmt(stmt, lambda s: update if isinstance(s, loops.Assign) else None)


def scattered_level(format: Format) -> int | None:
    """The number of the level above the leaf, if it can be scattered to and all above is full."""
    last = len(format.levels) - 2
    above = format.levels[:last]
    if not above or not all(level.full for level in above):
        return None
    return None if format.levels[last].scattered is None else last


def replace_level(format: Format, k: int) -> Format:
    """The format with its k-th level scattered."""
    level = format.levels[k].scattered
    assert level is not None
    return Format((*format.levels[:k], level, *format.levels[k + 1 :]), format.order)


def written(init: Number, dtype: str) -> Function:
    """A function that is 1 for what is written and 0 for the value that is there anyway."""
    kept = converter(dtype)
    return Function(
        "written",
        1,
        lambda dtypes: (dtypes, "int32"),  # narrow, for counts of 32 bits and of 64
        lambda args, dtype: imp.Const(1, "int32"),
        lambda value: int(not identical(kept(value).item(), init)),  # type: ignore[attr-defined]
    )


def rename_loops(stmt: loops.Stmt, names: Names) -> loops.Stmt:
    """A copy of a statement whose loops and names are its own."""
    match stmt:
        case loops.Loop(index, extent, body, at):
            new = names.fresh(index)
            inner = rename_loops(substitute(body, {index: loops.Index(new)}), names)
            return loops.Loop(new, extent, inner, at)
        case loops.Let(name, value, body, at):
            new = names.fresh(name)
            inner = rename_loops(substitute(body, {name: loops.Name(new)}), names)
            return loops.Let(new, value, inner, at)
        case _:
            return map_stmts(stmt, lambda s: rename_loops(s, names))
