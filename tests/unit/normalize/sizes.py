"""Programs before and after their extents and dimensions are known, both written as kernels."""

from __future__ import annotations

from collections.abc import Callable

from linnet import loops
from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.named import stack
from linnet.frontend.parse import parse
from linnet.loops.check import check_dimensions
from linnet.loops.printer import show
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.shape_checks import Check

SCALAR = stack(Element(0.0))


VECTOR = stack(Dense(Element(0.0)))


MATRIX = stack(Dense(Dense(Element(0.0))))


def inferred(program: loops.Program, ndims: str) -> tuple[loops.Program, tuple[Check, ...]]:
    """`ndims` says how many dimensions the parameters have: "C2 A2 x1"."""
    ranks = {word[:-1]: int(word[-1]) for word in ndims.split()}
    ranks |= {name: format.ndim for name, format in program.temporaries}
    return infer_dimensions(program, ranks)


def check(
    before: Callable[..., object], after: Callable[..., object], ndims: str, *checks: str
) -> None:
    program, found = inferred(parse(before), ndims)
    expected = parse(after)
    assert show(program.body) == show(expected.body)
    assert program.body == expected.body
    check_dimensions(program)
    assert [f"{show(c.a)} {c.relation} {show(c.b)}" for c in found] == list(checks)
