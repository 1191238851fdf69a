"""What a program means: its outputs by the reference interpreter, and what they may store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linnet as ln
from linnet import loops
from linnet.formats.assemble import unpack
from linnet.loops.cells import DenseTensor
from linnet.loops.interpret import run
from linnet.loops.rewrite import accesses
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.dtypes import infer_dtypes
from linnet.normalize.scopes import name_scopes
from linnet.normalize.stored import order_positions
from linnet.runtime.kernel import Kernel
from linnet.runtime.specialize import formats_of
from linnet.testing import dense

Arguments = dict[str, ln.Tensor]
Formats = dict[str, ln.Format]


@dataclass(frozen=True)
class Expected:
    """What an output should hold, and which of its elements an update reaches (None: not told)."""

    values: NDArray[Any]
    reached: NDArray[np.bool_] | None


def meaning(kernel: Kernel, args: Arguments, strict: bool = True) -> dict[str, Expected]:
    """Every output, computed one element at a time; `strict` about indices, or only where used."""
    formats = formats_of(kernel, [args[p] for p in kernel.program.params])
    formats |= dict(kernel.program.temporaries)
    program = order_positions(kernel.program, formats)
    program, checks = infer_dimensions(program, {n: f.ndim for n, f in formats.items()})
    program = name_scopes(program)
    given = cells(kernel, args, infer_dtypes(program, formats))
    shapes = {name: given[name].values.shape for name in program.params}
    for check in checks:
        if not check.holds(shapes):
            raise check.explain(shapes)
    found = run(program, given, strict)
    return {
        name: Expected(found[name].values, _reached(found[name]) if _tells(kernel, name) else None)
        for name in program.params
        if name in kernel.outputs
    }


def cells(kernel: Kernel, args: Arguments, formats: Formats) -> dict[str, DenseTensor]:
    """What the tensors of a program hold when it begins."""
    given = {}
    for name, format in formats.items():
        assert format.fill_value is not None
        if name in args and name not in fresh_outputs(kernel):
            held = args[name]
            given[name] = DenseTensor(dense(held), format.fill_value, format, stored(held))
        else:
            nothing = np.zeros((0,) * format.ndim, format.dtype)
            given[name] = DenseTensor(nothing, format.fill_value, format)
    return given


def _reached(tensor: DenseTensor) -> NDArray[np.bool_] | None:
    return tensor.stored if tensor.perhaps is None else tensor.stored | tensor.perhaps


def fresh_outputs(kernel: Kernel) -> frozenset[str]:
    """Outputs whose contents before the call do not matter."""
    return kernel.outputs - kernel.kept


def stored(tensor: ln.Tensor) -> NDArray[np.bool_]:
    """Which elements are stored."""
    mask = np.zeros(tensor.contents().shape, bool)
    mask[tuple(unpack(tensor)[0])] = True
    return mask


def _tells(kernel: Kernel, name: str) -> bool:
    """Whether what the interpreter has stored is all that may be stored.

    What a tensor stores follows from what those store that it is computed from.
    """
    body = kernel.program.body
    read = {a.tensor for a, is_target in accesses(body) if not is_target}
    written = {str(a.tensor) for a, is_target in accesses(body) if is_target and a.tensor in read}
    if any(n in written and _meets_as_it_comes(f) for n, f in kernel.program.temporaries):
        return False
    return all(_tells_itself(kernel, n) for n in {name, *written})


def _meets_as_it_comes(format: ln.Format) -> bool:
    """Whether which rows share a tile depends on what is stored above them."""
    levels = format.levels
    return any(
        level.tile[0] > 1 and not all(above.full for above in levels[:k])
        for k, level in enumerate(levels)
    )


def _tells_itself(kernel: Kernel, name: str) -> bool:
    """Where `=` may replace something, a fill value has to be written, and is stored."""
    writes = list(_writes(kernel.program.body, name, ()))
    plain = any(w.op is None for w, _ in writes)
    once = len(writes) == 1 and name not in kernel.kept
    every = all(loops.Index(i) in w.target.indices for w, path in writes for i in path)
    return not plain or (once and every)


def _writes(
    stmt: loops.Stmt, name: str, path: tuple[str, ...]
) -> Iterator[tuple[loops.Assign, tuple[str, ...]]]:
    """The updates of a tensor, and the loops around each."""
    match stmt:
        case loops.Assign(target) if target.tensor == name:
            yield stmt, path
        case loops.Loop(index, _, body):
            yield from _writes(body, name, (*path, index))
        case loops.Let(_, _, body):
            yield from _writes(body, name, path)
        case loops.If(_, then, orelse):
            yield from _writes(then, name, path)
            yield from _writes(orelse, name, path)
        case loops.Block(stmts):
            for s in stmts:
                yield from _writes(s, name, path)
