"""Dimensions beyond 31 bits, which no dense interpreter can hold: coordinates are not cut off."""

from __future__ import annotations

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st
from tests.oracle.check import BACKENDS, Subject
from tests.oracle.formats import formats

import linnet as ln
from linnet import loops
from linnet.algebra import table
from linnet.formats.assemble import unpack
from linnet.formats.format import Format
from linnet.loops.printer import show

WIDE = 2**33
PLACES = (0, 1, 2**31 - 1, 2**31, 2**32 + 5, WIDE - 1)
FUNCTIONS = (table.multiply, table.add, table.subtract, table.maximum)
LEVELS = (*(ln.SparseList, ln.SparseCOO, ln.SparseHash) * 2, ln.SparseBlockList, ln.SparseRunList)
SHIFTS = (0, 0, 1, -1, 2**31, -(2**32) - 4)

Entries = dict[tuple[int, ...], float]


def entries(ndim: int) -> st.SearchStrategy[Entries]:
    """Values at a few places that are far apart."""
    place = st.tuples(*[st.sampled_from(PLACES)] * ndim)
    return st.dictionaries(place, st.sampled_from((1.0, 2.0, -3.0)), max_size=6)


def stored(entries: Entries, format: Format) -> ln.Tensor:
    """A tensor of these entries."""
    coordinates = np.array(list(entries), np.int64).reshape(len(entries), format.ndim).T
    values = np.array(list(entries.values()), np.float64)
    return ln.tensor(list(coordinates), values, (WIDE,) * format.ndim, format)


@given(data=st.data())
def test_wide_dimensions(data: st.DataObject) -> None:
    """`Y[i, …] += f(A[i, …, j], B[i, …, j + shift])`, with loops in the order of storage."""
    ndim = data.draw(st.sampled_from((1, 2, 1, 2, 3)))
    function = data.draw(st.sampled_from(FUNCTIONS))
    order, kept = data.draw(st.permutations(range(ndim))), data.draw(st.integers(0, ndim))
    made = [data.draw(formats(n, LEVELS, "float64")).with_fill(0.0) for n in (kept, ndim, ndim)]
    a, b = data.draw(entries(ndim)), data.draw(entries(ndim))
    shift = data.draw(st.sampled_from(SHIFTS))
    program = combine(function, order, kept, shift)
    note(f"{show(program)}\n{made}")
    args = {
        "Y": ln.empty_tensor(made[0].with_order(*range(kept))),
        "A": stored(a, made[1].with_order(*order)),
        "B": stored(b, made[2].with_order(*order)),
    }
    subject = Subject.of(program, args)
    shapes = {"Y": (WIDE,) * kept, "A": (WIDE,) * ndim, "B": (WIDE,) * ndim}
    found = subject.interpreted(args, shapes)["Y"]  # which refuses what would crash
    backend = data.draw(st.sampled_from(BACKENDS))
    near = {(*p[:-1], p[-1] - shift): v for p, v in b.items() if 0 <= p[-1] - shift < WIDE}
    totals = summed(function, a, near, order[:kept])
    for result in (found, subject.compiled(args, backend)["Y"]):
        assert {p: v for p, v in held(result).items() if v != 0} == totals


def held(tensor: ln.Tensor) -> Entries:
    """What a tensor stores, by coordinates."""
    coordinates, values = unpack(tensor)
    places = np.array(coordinates, np.int64).reshape(tensor.format.ndim, len(values)).T
    return {tuple(p): v for p, v in zip(places.tolist(), values.tolist(), strict=True)}


def combine(function: ln.Function, order: list[int], kept: int, shift: int) -> loops.Program:
    """The program, in which the first loops are over what is kept."""
    here: list[loops.Expr] = [loops.Index(i) for i in "ijk"[: len(order)]]
    at = loops.Call(table.add, (here[-1], loops.Literal(shift)))
    there, protocols = [*here[:-1], at if shift else here[-1]], [""] * len(here)
    protocols[-1] = "permissive" if shift else ""
    other: loops.Expr = loops.Access("B", tuple(there), tuple(protocols))
    if shift:
        other = loops.Call(table.coalesce, (other, loops.Literal(0.0)))
    value = loops.Call(function, (loops.Access("A", tuple(here)), other))
    target = loops.Access("Y", tuple(here[m] for m in order[:kept]))
    body: loops.Stmt = loops.Assign(target, table.add, value)
    for mode in reversed(order):
        body = loops.Loop("ijk"[mode], None, body)
    body = loops.Block((loops.Declare("Y", loops.Literal(0.0)), body))
    return loops.Program("f", ("Y", "A", "B"), (), body, ("Y",))


def summed(function: ln.Function, a: Entries, b: Entries, kept: list[int]) -> Entries:
    """The sums that are not zero."""
    found: Entries = {}
    for place in {*a, *b}:
        value = float(function.numpy(a.get(place, 0.0), b.get(place, 0.0)))
        at = tuple(place[m] for m in kept)
        found[at] = found.get(at, 0.0) + value
    return {p: v for p, v in found.items() if v != 0}
