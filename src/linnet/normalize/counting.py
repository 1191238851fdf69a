"""Where every element is written at most once, as in a transpose, no workspace is needed.

The loops are run twice, first to count the entries of each fiber, then to put each entry where it
belongs. Here is said where that is done; how, in `lower.counted`.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.insertion import counts_format
from linnet.loops.rewrite import walk
from linnet.names import Names
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Counted:
    """The statements that begin and write, the tensor of counts, and the format that is written."""

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
    name = names.fresh(f"{declare.tensor}_count")
    modes = format.order[:level]
    begin = loops.Declare(name, loops.Literal(0), tuple(declare.dims[m] for m in modes), declare.at)
    stmts: list[loops.Stmt] = [begin, loops.Freeze(name), replace(declare, counts=name), stmt]
    return Counted(stmts, name, counts_format(format, level), replace_level(format, level))


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
