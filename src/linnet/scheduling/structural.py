"""What `precompute` computes early knows what of it is stored: structural zeros stay structural.

    for k in ln.stored(B[i, :]):                     for k in ln.stored(B[i, :]):
        w[...] = 0                                       w[...] = 0
        for l, j: w[j] += B[i, k, l] * D[l, j]           some[()] = False
        for j: A[i, j] += w[j] * C[k, j]                 for l, j: w[j] += …; some[()] |= True
                                                         if some[()]:
                                                             for j: A[i, j] += w[j] * C[k, j]

Without the command nothing is done where B stores nothing, whatever C holds there. A workspace that
stores all its elements has numbers there, and 0 times infinity is no number. So it is one only

* where all of it is written, and something is;
* where what would be done besides changes nothing, as in `y[i] += w[j]`, of a dense result.

Where all elements are written or none, a flag says which; otherwise the workspace stores those that
are written. That is decided of the final loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.formats.format import Format
from linnet.formats.insertion import DENSE, flag_format, workspace_format
from linnet.loops.printer import show
from linnet.loops.rewrite import accesses, block, replaced, rewrite_expr, rewrite_stmt, walk
from linnet.normalize.facts import Facts, facts_of
from linnet.normalize.simplify import replace_reads, simplify, simplify_expr
from linnet.normalize.updates import renamed
from linnet.normalize.whole import Path, counters_of, is_alike, is_always_there, path_to, raised
from linnet.records import dataclass
from linnet.scheduling.nest import Formats, Nest


@dataclass(frozen=True, slots=True)
class _Early:
    """A workspace: its declaration, the statements that compute it, and the one that uses it."""

    around: loops.Block
    begin: loops.Declare
    made: tuple[loops.Stmt, ...]
    used: loops.Stmt

    @property
    def name(self) -> str:
        """What it is called."""
        return self.begin.tensor


def keep_structure(nest: Nest) -> None:
    """Let every workspace know what of it is stored, if that makes a difference."""
    reads = (str(a.tensor) for a, is_target in accesses(nest.program.body) if not is_target)
    for name in dict.fromkeys(reads):  # those that others are computed from come first
        if name not in nest.early:
            continue
        early = _found(nest.program.body, name)
        path = path_to(block(early.made), name)
        if path is not None and _is_whole(path, nest.formats):
            continue
        if _is_full(nest.formats[_target(early)]) and _is_harmless(nest, early):
            continue
        if path is not None and _is_all_or_nothing(path, nest.formats):
            _raise_flag(nest, early)
        else:
            _store(nest, early)


def _found(body: loops.Stmt, name: str) -> _Early:
    """Where a workspace is."""
    for node in walk(body):
        stmts = node.stmts if isinstance(node, loops.Block) else ()
        for k, stmt in enumerate(stmts):
            if isinstance(stmt, loops.Declare) and stmt.tensor == name:
                rest = stmts[k + 1 :]
                at = next(n for n, s in enumerate(rest) if _reads(s, name))
                assert isinstance(node, loops.Block)
                return _Early(node, stmt, rest[:at], rest[at])
    raise AssertionError(name)


def _reads(stmt: loops.Stmt, name: str) -> bool:
    return any(a.tensor == name and not is_target for a, is_target in accesses(stmt))


def _target(early: _Early) -> str:
    """The tensor that is updated by what is computed early."""
    (update,) = (n for n in walk(early.used) if isinstance(n, loops.Assign))
    return str(update.target.tensor)


def _is_full(format: Format) -> bool:
    """Whether a tensor stores all its elements."""
    return all(level.full for level in format.levels[:-1])


# -- which elements there are ----------------------------------------------------------------------


def _own(path: Path) -> set[str]:
    """The loops around an update that are indices of the workspace."""
    used = {
        n.name for i in path.update.target.indices for n in walk(i) if isinstance(n, loops.Index)
    }
    return {loop.index for loop in path.around} & used


def _is_whole(path: Path, formats: Formats) -> bool:
    """Whether all elements that are used are written."""
    own = _own(path)
    over = own | counters_of(path, own)
    turns = all(loop.index in over or _has_turns(loop) for loop in path.around)
    return turns and is_always_there(path, path.update.value, formats)


def _has_turns(loop: loops.Loop) -> bool:
    """Whether a loop is known to have a turn."""
    match loop.extent:
        case loops.Extent(loops.Literal(int(start)), loops.Literal(int(stop))):
            return start < stop
        case _:
            return False


def _is_all_or_nothing(path: Path, formats: Formats) -> bool:
    """Whether all elements that are used are written, or none of them."""
    own = _own(path)
    over = own | counters_of(path, own)
    others = {loop.index for loop in path.around} - over
    extents = [
        loop.extent for loop in path.around if loop.index in over and loop.extent is not None
    ]
    if any(path.depends(extent, others) for extent in extents):
        return False
    return is_alike(path, own, formats)


def fill_of(part: loops.Expr, formats: Formats, types: Mapping[str, str]) -> Number | None:
    """What a value is where nothing is stored of what it is computed from, if that is known."""

    def nothing(expr: loops.Expr) -> loops.Expr | None:
        if not isinstance(expr, loops.Access) or formats[str(expr.tensor)].dense:
            return _looked_up(expr, formats)
        format = formats[str(expr.tensor)]
        assert format.fill_value is not None
        return loops.Literal(format.fill_value, format.dtype, structural=True)

    left = simplify_expr(rewrite_expr(part, nothing), Facts({}, dict(types)))
    return left.value if isinstance(left, loops.Literal) else None


# -- what there is to do where nothing is written --------------------------------------------------


def _is_harmless(nest: Nest, early: _Early) -> bool:
    """Whether what is done with numbers instead of nothing changes nothing."""
    number, nothing = (_left(nest, early, structural) for structural in (False, True))
    return number == (loops.NOTHING if _is_summed(nest, early) else nothing)


def _is_summed(nest: Nest, early: _Early) -> bool:
    """Whether an element is a sum, of which there may be no terms."""
    return nest.early[early.name][1]


def _left(nest: Nest, early: _Early, structural: bool) -> loops.Stmt:
    """What is left to do where the workspace has its fill value, as a number or as nothing."""
    types = {name: f.dtype for name, f in nest.formats.items() if f.dtype is not None}

    def plain(expr: loops.Expr) -> loops.Expr | None:
        return replace(expr, structural=False) if isinstance(expr, loops.Literal) else None

    there = rewrite_stmt(
        _with_fill(nest, early, structural), on_expr=lambda e: _looked_up(e, nest.formats)
    )
    return rewrite_stmt(simplify(there, facts_of(nest.program, types)), on_expr=plain)


def _looked_up(expr: loops.Expr, formats: Formats) -> loops.Expr | None:
    """An access as one that has been looked up: what is stored does not contradict what is not.

    Another infinity may, where that is what stands for nothing.
    """
    if not isinstance(expr, loops.Access):
        return None
    format = formats[str(expr.tensor)]
    finite = format.dense or (format.fill_value is not None and isfinite(abs(format.fill_value)))
    return replace(expr, indices=()) if finite else None


def _with_fill(nest: Nest, early: _Early, structural: bool) -> loops.Stmt:
    """What uses the workspace, with its fill value instead."""
    format = nest.formats[early.name]
    assert format.fill_value is not None
    value = loops.Literal(format.fill_value, format.dtype, structural)
    return replace_reads(early.used, {early.name: value})


# -- workspaces that know it -----------------------------------------------------------------------


def _raise_flag(nest: Nest, early: _Early) -> None:
    """Use the workspace only where something has been written to it.

    Where nothing has been, nothing was added up, or each part of it is nothing.
    """
    name, format = early.name, nest.formats[early.name]
    fill, dtype = format.fill_value, format.dtype
    assert fill is not None
    assert dtype is not None
    some = nest.temporary(f"{name}_some", flag_format())
    begin = loops.Declare(some, loops.Literal(False, "bool"), (), early.begin.at)
    made = raised(block(early.made), name, some, loops.Literal(fill), dtype)
    nothing: loops.Stmt = loops.NOTHING
    if not _is_summed(nest, early) and _left(nest, early, True) != nothing:
        nothing = renamed(_with_fill(nest, early, True), nest.names())
    used = loops.If(loops.Access(some, ()), early.used, nothing, early.begin.at)
    _put(nest, early, [early.begin, begin, made, used])


def _store(nest: Nest, early: _Early) -> None:
    """Store those elements of the workspace that are written."""
    if _is_summed(nest, early) and _left(nest, early, True) != loops.NOTHING:
        nest.command = nest.early[early.name][0]
        what = show(early.used).splitlines()[-1].strip()
        problem = f"`{what}` is done where nothing has been added to `{early.name}`, too"
        nest.refuse(problem, hint="precompute the whole value that is added up")
    dense = nest.formats[early.name]
    format = workspace_format(dense, dense.ndim, DENSE)
    nest.formats[early.name] = format
    temporaries = [(n, format if n == early.name else f) for n, f in nest.program.temporaries]
    nest.program = replace(nest.program, temporaries=tuple(temporaries))


def _put(nest: Nest, early: _Early, stmts: Sequence[loops.Stmt]) -> None:
    """Put statements in the place of those around a workspace."""
    around = early.around.stmts
    at = next(k for k, s in enumerate(around) if s is early.begin)
    rest = around[at + len(early.made) + 2 :]
    new = block([*around[:at], *stmts, *rest])
    nest.program = replace(nest.program, body=replaced(nest.program.body, early.around, new))
