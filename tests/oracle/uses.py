"""What a program does with each level that it reads or writes: wrappers, protocols and masks.

FINCH Table 5, as pairs of a level and a use. A mask is used on a level if it compares the index by
which that level is accessed, in a condition around the access.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.scopes import Case

from linnet import loops
from linnet.algebra import table
from linnet.formats.format import Format
from linnet.loops.rewrite import accesses, walk

PROTOCOLS = ("walk", "follow", "gallop", "permissive")  # of operands
MASKS = ("triangle", "diagonal", "band", "parity", "negation", "conjunction")
WRAPPERS = ("offset", "stride", "sum", "window", "transposition")
WAYS = {"operand": (*WRAPPERS, *MASKS, *PROTOCOLS), "result": (*WRAPPERS, *MASKS)}

ORDERS = (table.less, table.less_equal, table.greater, table.greater_equal)
EQUALS = (table.equal, table.not_equal)

Use = tuple[str, str, str]
"""The name of a level, "operand" or "result", and what is done with it."""


def uses(case: Case) -> set[Use]:
    """All of a program."""
    formats = {n: r.format for n, r in case.recipes.items()} | case.outputs
    formats |= dict(case.program.temporaries)
    return set(_statement(case.program.body, formats, frozenset(), ()))


def _statement(
    stmt: loops.Stmt,
    formats: dict[str, Format],
    parts: frozenset[str],
    conds: tuple[loops.Expr, ...],
) -> Iterator[Use]:
    """`parts` are indices of loops over part of a dimension; `conds` what holds here."""
    match stmt:
        case loops.Loop(index, extent, body):
            whole = extent is None or isinstance(extent.stop, loops.Dimension)
            whole = whole and (extent is None or extent.start == loops.Literal(0))
            now = parts - {index} if whole else parts | {index}
            yield from _statement(body, formats, now, conds)
        case loops.If(cond, then, orelse):
            for inside, holds in ((then, cond), (orelse, loops.Call(table.logical_not, (cond,)))):
                yield from _statement(inside, formats, parts, (*conds, holds))
        case loops.Assign():
            for access, is_target in accesses(stmt):
                role = "result" if is_target else "operand"
                for name, way in _access(access, formats[str(access.tensor)], parts, conds):
                    yield name, role, way
        case loops.Let(_, _, body):
            yield from _statement(body, formats, parts, conds)
        case loops.Block(stmts):
            for inner in stmts:
                yield from _statement(inner, formats, parts, conds)


def _access(
    access: loops.Access, format: Format, parts: frozenset[str], conds: tuple[loops.Expr, ...]
) -> Iterator[tuple[str, str]]:
    levels = [level for level in format.levels[:-1] for _ in range(level.width)]
    protocols = access.protocols or ("",) * len(access.indices)
    for level, mode in zip(levels, format.order, strict=True):
        index, name = access.indices[mode], type(level).__name__
        ways = [*wrappers(index, parts), *_masks(index, conds)]
        ways += ["transposition"] if format.order != tuple(range(format.ndim)) else []
        ways += [protocols[mode]] if protocols[mode] else []
        yield from ((name, way) for way in ways)


def wrappers(index: loops.Expr, parts: frozenset[str] = frozenset()) -> Iterator[str]:
    """What an index does with the dimension that it walks."""
    match index:
        case loops.Index(name):
            yield from ("window",) if name in parts else ()
        case loops.Call(function, (loops.Index(), loops.Index())) if function is table.add:
            yield "sum"
        case loops.Call(function, (loops.Index(), loops.Literal())):
            yield from ("offset",) if function in (table.add, table.subtract) else ()
    for node in walk(index):
        if isinstance(node, loops.Call) and node.function is table.multiply:
            yield "stride"


def _masks(index: loops.Expr, conds: tuple[loops.Expr, ...]) -> Iterator[str]:
    """The comparisons of indices that narrow the walk along this one."""
    if not isinstance(index, loops.Index):
        return
    for cond in conds:
        for node in walk(cond):
            if isinstance(node, loops.Call) and index in list(walk(node)):
                yield from _mask(node)


def _mask(call: loops.Call) -> Iterator[str]:
    compared = {n.name for n in walk(call) if isinstance(n, loops.Index)}
    inner = {n.function for n in walk(call) if isinstance(n, loops.Call)}
    if call.function is table.logical_not:
        yield "negation"
    if call.function is table.logical_and:
        yield "conjunction"
    if any(isinstance(n, loops.Access) for n in walk(call)):
        return
    if call.function in ORDERS and table.absolute in inner and len(compared) == 2:
        yield "band"
    elif call.function in ORDERS and len(compared) == 2:
        yield "triangle"
    elif call.function in EQUALS and len(compared) == 2:
        yield "diagonal"
    elif call.function in EQUALS and table.remainder in inner:
        yield "parity"
