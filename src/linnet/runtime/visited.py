"""When and in which tiles a kernel under a schedule comes by the elements of an operand.

The loops are those of the kernel, run on its operands; what they compute is left out, and instead
they write down how often they have come by an element of the operand, and where they are then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from linnet import loops
from linnet.algebra.table import add
from linnet.compiler import under_schedule
from linnet.errors import ArgumentError, Location
from linnet.formats.named import DENSE, SCALAR
from linnet.formats.tensor import Tensor
from linnet.imp.how import PLAIN
from linnet.loops.rewrite import accesses, block, rewrite_stmt, walk
from linnet.names import Names
from linnet.records import dataclass
from linnet.runtime.kernel import Kernel
from linnet.runtime.specialize import formats_of

_ONE = loops.Literal(1, "int64")


@dataclass(frozen=True, slots=True)
class Visited:
    """Of every element of an operand: the number of the visit, from 0, and the indices then.

    Where nobody comes by, they are all -1. An element that is visited again has its last visit.
    """

    order: NDArray[np.int64]
    indices: dict[str, NDArray[np.int64]]


def visited(kernel: Kernel, tensors: Sequence[Tensor], operand: str, *names: str) -> Visited:
    """When the loops come by the elements of an operand, and what these indices are then."""
    formats = formats_of(kernel, kernel.signatures(tensors))
    program = under_schedule(kernel.program, formats)[0]
    found = {n.index for n in walk(program.body) if isinstance(n, loops.Loop)}
    for name in names:
        if name not in found:
            raise ArgumentError(f"no loop has the index `{name}`", at=Location.of_caller())
    read = [a for a, is_target in accesses(program.body) if a.tensor == operand and not is_target]
    if not read:
        raise ArgumentError(f"no loop comes by `{operand}`", at=Location.of_caller())
    taken = Names({*formats, *found, *program.params})
    count, order, values = (taken.fresh(name) for name in ("count", "order", "values"))
    outs: dict[str, loops.Expr] = {order: loops.Access(count, ())}
    outs |= {taken.fresh(f"at_{name}"): _next(loops.Index(name)) for name in names}
    outs[values] = read[0]  # who goes through what an operand stores has to read it
    body = _instead(program, read[0], count, outs)
    params = (*outs, *(p for p in program.params if p not in kernel.outputs))
    asking = loops.Program("visited", params, ((count, SCALAR),), body, tuple(outs), led=True)
    own = dict(zip(kernel.program.params, tensors, strict=True))
    results = [Tensor(DENSE(len(read[0].indices)), None) for _ in outs]
    Kernel(asking)(*results, *(own[p] for p in params[len(outs) :]))
    first, *rest = [result.to_numpy() - 1 for result in results[:-1]]
    return Visited(first, dict(zip(names, rest, strict=True)))


def _next(expr: loops.Expr) -> loops.Expr:
    return loops.Call(add, (expr, _ONE))


def _instead(
    program: loops.Program, read: loops.Access, count: str, outs: dict[str, loops.Expr]
) -> loops.Stmt:
    """The loops, in which an assignment that reads the operand notes that it is run."""
    shape = tuple(loops.Dimension(str(read.tensor), m) for m in range(len(read.indices)))
    notes: list[loops.Stmt] = [loops.Assign(loops.Access(count, ()), add, _ONE)]
    for name, value in outs.items():
        notes.append(loops.Assign(loops.Access(name, read.indices), None, value))

    def rule(stmt: loops.Stmt) -> loops.Stmt | None:
        match stmt:
            case loops.Loop():
                return replace(stmt, how=PLAIN)
            case loops.Assign() if any(a == read for a, is_target in accesses(stmt)):
                return block(notes)
            case loops.Assign() | loops.Declare() | loops.Freeze() | loops.Thaw():
                return loops.NOTHING
        return None

    zero = loops.Literal(0, "int64")
    begin = [loops.Declare(name, loops.Literal(0) if value == read else zero, shape)
             for name, value in outs.items()]  # fmt: skip
    return block([loops.Declare(count, zero, ()), *begin, rewrite_stmt(program.body, rule)])
