"""`for i in range(4)`, and `for i in ...` over a dimension of 4: both get the same code.

A literal end says only that a dimension is no less. It is as good as the size of the dimension
where all indices up to the end are stored anyway, as are the rows of a matrix.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.golden.test_code import PROGRAMS, stored

import linnet as ln
from linnet import loops
from linnet.loops.rewrite import accesses, rewrite_stmt
from linnet.runtime.kernel import Kernel


def rows(kernel, formats) -> set[str]:
    """The indices of loops that walk nothing but outermost full levels."""
    inner, outer = set(), set()
    for access, _ in accesses(kernel.program.body):
        format = formats[access.tensor]
        for k, level in enumerate(format.levels):
            for mode in format.modes_of(k):
                found = outer if k == 0 and level.full else inner
                found.add(access.indices[mode].name)
    return outer - inner


def with_ends(kernel, indices: set[str]):
    """The kernel with literal extents of some loops."""

    def rule(stmt):
        if isinstance(stmt, loops.Loop) and stmt.index in indices:
            return replace(stmt, extent=loops.Extent(loops.Literal(0), loops.Literal(4)))
        return None

    body = rewrite_stmt(kernel.program.body, rule)
    return Kernel(replace(kernel.program, body=body))


def numbered(code: str, indices: set[str], name: str) -> list[str]:
    """The lines of a kernel with 4 in the place of these sizes, which are not read."""
    code = code[code.index(f"i64 {name}(") :]
    for size in (f"n_{index}" for index in indices):
        code = re.sub(rf"\b{size} = args\[\d+\](, )?", "", code)
        code = re.sub(rf"\b{size}\b", "4", code).replace("4 + 1", "5")
    code = re.sub(r", ;", ";", code)
    return [line for line in code.splitlines() if line.strip() != "i64 ;"]


@pytest.mark.parametrize(("kernel", "result", "operands"), [(k, r, o) for k, r, *o in PROGRAMS])
def test_literal_extents(kernel, result, operands):
    out = ln.scalar(0.0) if result is None else ln.empty_tensor(result)
    args = [out, *(stored(*o) for o in operands)]
    formats = {p: a.format for p, a in zip(kernel.program.params, args, strict=True)}
    indices = rows(kernel, formats | dict(kernel.program.temporaries))
    found = with_ends(kernel, indices).code(*args)
    name = kernel.__name__
    assert numbered(found, set(), name) == numbered(kernel.code(*args), indices, name)


def test_rows_are_found():
    assert [k.__name__ for k, r, *o in PROGRAMS if _walks_rows(k, r, o)] == [
        "spmv_rows", "spmv_columns", "add", "gustavson", "scale", "sddmm", "spmm"
    ]  # fmt: skip


def _walks_rows(kernel, result, operands) -> bool:
    made = [*(stored(*o) for o in operands)]
    given = [ln.scalar(0.0) if result is None else ln.empty_tensor(result), *made]
    formats = {p: a.format for p, a in zip(kernel.program.params, given, strict=True)}
    return bool(rows(kernel, formats | dict(kernel.program.temporaries)))
