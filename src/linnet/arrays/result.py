"""How is a result stored if nobody says? The one rule, for array expressions and index notation.

A dimension of the result is sparse if the result is its fill value wherever the operands store
nothing along it, and dense otherwise. So are a vector that sums up a matrix and the product with
a dense matrix, unless they are much longer than there are values (`well_filled`). Where an operand
is stored like that, in the same order, the result has the levels of that operand: CSR + CSR is
CSR, and so is CSR * DENSE; COO * 2 is COO. Runs are runs of the result only if no other operand
changes inside of them: RLE * 2 is RLE, RLE * DENSE is dense. What is dense altogether is stored by
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.arrays.arrange import names_in
from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.formats.named import recognize
from linnet.formats.result import result_format
from linnet.loops.rewrite import map_args, rewrite_expr, walk
from linnet.normalize.facts import Facts
from linnet.normalize.known import number
from linnet.normalize.simplify import same, simplify_expr

Formats = Mapping[str, Format]
Types = Mapping[str, str]


def format_of_result(
    value: loops.Expr,
    free: Sequence[str],
    order: Sequence[str],
    op: Function | None,
    init: Number,
    formats: Formats,
    types: Types,
    well_filled: bool = False,
) -> Format:
    """The format of `result[free] op= value`, written in the order of the loops."""
    modes = tuple(free.index(i) for i in order if i in free)
    if op is not None and well_filled and _fills(value, free, order, formats):
        return result_format([False] * len(free), tuple(range(len(free))))
    sparse = [is_sparse(value, i, op, init, formats, types) for i in free]
    alike = _alike(value, free, modes, [sparse[m] for m in modes], formats) if any(sparse) else None
    if alike is not None:
        return recognize(Format((*alike.levels[:-1], Element()), modes))
    # what is stored in runs that leave nothing out does not make anything else sparse
    sparse = [s and is_sparse(value, i, op, init, formats, types, covered=False)
              for s, i in zip(sparse, free, strict=True)]  # fmt: skip
    if not any(sparse):
        return result_format(sparse, tuple(range(len(free))))
    return result_format([sparse[m] for m in modes], modes)


def _fills(value: loops.Expr, free: Sequence[str], order: Sequence[str], formats: Formats) -> bool:
    """Whether a reduction leaves little empty: all indices but one come from dense operands."""
    if len(free) == 1:
        return order[0] != free[0]
    sparse: set[str] = set()
    for access in (n for n in walk(value) if isinstance(n, loops.Access) and n.indices):
        if not all(level.full for level in formats[str(access.tensor)].levels[:-1]):
            sparse |= {name for index in access.indices for name in names_in(index)}
    return len(sparse & set(free)) == 1


def is_sparse(
    value: loops.Expr,
    index: str,
    op: Function | None,
    init: Number,
    formats: Formats,
    types: Types,
    covered: bool = True,
) -> bool:
    """Whether a dimension of the result is empty wherever the operands store nothing along it.

    `covered`: as if operands that store a dimension in runs could leave something out.
    """

    def absent(access: loops.Access) -> bool:
        format = formats[str(access.tensor)]
        return any(
            index in names_in(access.indices[mode])
            and not level.full
            and (covered or not level.covers)
            for number, level in enumerate(format.levels[:-1])
            for mode in format.modes_of(number)
        )

    read = [n for n in walk(value) if isinstance(n, loops.Access) and n.indices]
    if not any(map(absent, read)):
        return False
    found = simplified(value, formats, types, absent)
    nowhere = simplified(value, formats, types, lambda access: True)
    if not isinstance(found, loops.Literal) or not isinstance(nowhere, loops.Literal):
        return False
    neutral = init if op is None else op.identity(found.dtype or "float64")
    return neutral is not None and all(same(v.value, neutral) for v in (found, nowhere))


def simplified(
    value: loops.Expr,
    formats: Formats,
    types: Types,
    absent: Callable[[loops.Access], bool],
) -> loops.Expr:
    """The value where the accesses that `absent` names store nothing, and others do."""
    stored: dict[loops.Access, str] = {}

    def known(e: loops.Expr) -> loops.Expr:
        if isinstance(e, loops.Call):
            return map_args(e, known)
        if not isinstance(e, loops.Access) or not e.indices:
            return e
        if absent(e):
            f = formats[str(e.tensor)]
            assert f.fill_value is not None
            return loops.Literal(f.fill_value, f.dtype, structural=True)
        return loops.Access(stored.setdefault(e, f"{e.tensor} {len(stored)}"), ())

    def meant(e: loops.Expr) -> loops.Expr | None:
        return by_name.get(str(e.tensor)) if isinstance(e, loops.Access) else None

    some = known(value)
    by_name = {name: access for access, name in stored.items()}
    named = {name: types[str(access.tensor)] for name, access in by_name.items()}
    found = number(simplify_expr(some, Facts({}, {**types, **named})))
    return rewrite_expr(found, meant)


def _alike(
    value: loops.Expr,
    free: Sequence[str],
    modes: tuple[int, ...],
    sparse: Sequence[bool],
    formats: Formats,
) -> Format | None:
    """The format of an operand that is stored as the result is to be."""
    wanted = tuple(loops.Index(i) for i in free)
    found: list[Format] = []
    read = [n for n in walk(value) if isinstance(n, loops.Access) and n.indices]
    for access in read:
        format = formats[str(access.tensor)]
        flags = [
            not level.full for number, level in enumerate(format.levels) if not level.leaf
            for _ in format.modes_of(number)
        ]  # fmt: skip
        mirrored = any(level.mirrored for level in format.levels)  # these kernels do not write
        as_wanted = access.indices == wanted and format.order == modes and flags == list(sparse)
        if as_wanted and not mirrored:
            found.append(format)
    if not found or any(f.levels[:-1] != found[0].levels[:-1] for f in found):
        return None
    usable = len(read) == 1 or not any(level.limit for level in found[0].levels)
    return found[0] if usable and _has_runs_of(found[0], free, read, formats) else None


def _has_runs_of(
    format: Format, free: Sequence[str], read: Sequence[loops.Access], formats: Formats
) -> bool:
    """Whether runs of an operand are runs of the result: nothing else changes inside of them."""
    names = {free[mode] for mode in format.order if _level_of(format, mode).runs}
    return all(
        _level_of(formats[str(access.tensor)], mode).runs
        for access in read
        for mode, index in enumerate(access.indices)
        if names & set(names_in(index))
    )


def _level_of(format: Format, mode: int) -> Level:
    """The level that stores a dimension."""
    return next(
        level for number, level in enumerate(format.levels[:-1]) if mode in format.modes_of(number)
    )
