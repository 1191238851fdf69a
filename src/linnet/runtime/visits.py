"""How often the assignments of a kernel are run: the same program, with a vector that counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.errors import Location
from linnet.formats.named import DENSE
from linnet.formats.tensor import empty_tensor
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.names import Names
from linnet.runtime.kernel import Kernel


def visits(kernel: Kernel, args: Sequence[object]) -> dict[str, int]:
    """Run a copy of the kernel that counts, on new outputs; the counts by the texts."""
    program = kernel.program
    tensors = kernel.tensors(args)
    fresh = [p in kernel.outputs and p not in kernel.kept for p in program.params]
    given = [
        empty_tensor(t.format) if new else t.copy() if p in kernel.kept else t
        for p, t, new in zip(program.params, tensors, fresh, strict=True)
    ]
    counted = counting(program)
    counts = empty_tensor(DENSE(1).with_dtype("int64"))
    Kernel(counted)(*given, counts)
    numbers = dict(zip(places(program.body), counts.to_numpy().tolist(), strict=True))
    found: dict[str, int] = {}
    for node in walk(program.body):
        if isinstance(node, loops.Assign) and node.at is not None:
            text = show(node)
            key = text if text not in found else f"{text}  # line {node.at.line}"
            found[key] = numbers[node.at]
    return found


def counting(program: loops.Program) -> loops.Program:
    """The program with one more parameter, in which every run of an assignment is counted."""
    taken = {*program.params, *(name for name, _ in program.temporaries)}
    names = Names({*taken, *(n.index for n in walk(program.body) if isinstance(n, loops.Loop))})
    name, index = names.fresh("visits"), names.fresh("v")
    size = loops.Literal(len(places(program.body)))
    declare = loops.Declare(name, loops.Literal(-1), (size,), program.at)
    zero = loops.Assign(loops.Access(name, (loops.Index(index),)), None, loops.Literal(0))
    begin = loops.Loop(index, loops.Extent(loops.Literal(0), size), zero)
    body = loops.Block((declare, begin, program.body))
    counts = loops.Counts(name, tuple(places(program.body)))
    return replace(program, params=(*program.params, name), body=body, counts=counts)


def places(body: loops.Stmt) -> list[Location]:
    """Where the assignments of a program stand, in order."""
    found = (n.at for n in walk(body) if isinstance(n, loops.Assign))
    return list(dict.fromkeys(at for at in found if at is not None))
