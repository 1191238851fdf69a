"""Which operands have their rows added up: of those, it counts how long the rows are.

`y[i] += A[i, j] * x[j]` walks a row of A for each i, and adds up what it finds all over x. Whether
its rows are even or uneven is a choice, as the kinds of workspaces are (`normalize.choice`); the
program stays as it is, and its code is another (`optimize.uneven_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from linnet import loops
from linnet.algebra.lookup import by_name
from linnet.formats.format import Format
from linnet.formats.row_lengths import Rows, pointers_of
from linnet.loops.rewrite import accesses
from linnet.normalize.choice import Chosen

Formats = dict[str, Format]


def row_sums(
    program: loops.Program, formats: Formats, decide: Callable[[Rows], Chosen]
) -> tuple[tuple[Rows, str], ...]:
    """The operands whose rows are added up, each with their kind.

    Needs: dimensions and dtypes known, names unique.
    """
    changed = {str(access.tensor) for access, writes in accesses(program.body) if writes}
    found = dict.fromkeys(_walked(program.body, "", formats))
    rows = [Rows(name) for name in found if name in program.params and name not in changed]
    return tuple((choice, decide(choice).kind) for choice in rows)


def _walked(stmt: loops.Stmt, inner: str, formats: Formats) -> Iterator[str]:
    """The tensors whose rows are added up; `inner` is the index of the loop around a statement."""
    match stmt:
        case loops.Loop(index, _, body):
            yield from _walked(body, index, formats)
        case loops.Block(stmts):
            for s in stmts:
                yield from _walked(s, inner, formats)
        case loops.Let(_, _, body):
            yield from _walked(body, inner, formats)
        case loops.If(_, then, orelse):
            yield from _walked(then, inner, formats)
            yield from _walked(orelse, inner, formats)
        case loops.Assign(target, op, _) if op is by_name["add"]:
            dtype = formats[str(target.tensor)].dtype
            if dtype in ("float32", "float64") and loops.Index(inner) not in target.indices:
                yield from _added_up(stmt, loops.Index(inner), formats)


def _added_up(update: loops.Assign, j: loops.Index, formats: Formats) -> Iterator[str]:
    """The tensors of which a row lies along `j`, if what else lies along it is dense."""
    along = [a for a, writes in accesses(update.value) if j in a.indices]
    if len(along) < 2 or any(str(a.tensor) not in formats for a in along):
        return
    lists = [a for a in along if not _is_full(formats[str(a.tensor)])]
    if len(lists) == 1 and not any(lists[0].protocols):
        name = str(lists[0].tensor)
        format = formats[name]
        if pointers_of(format) is not None and lists[0].indices[format.order[-1]] == j:
            yield name


def _is_full(format: Format) -> bool:
    return all(level.full for level in format.levels[:-1])
