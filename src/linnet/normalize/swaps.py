"""Temporaries that change places, `v, w = w, v`: may they, and what holds for all of them?"""

from __future__ import annotations

from collections.abc import Iterable

from linnet.algebra.dtypes import as_python
from linnet.errors import FormatError, KernelSyntaxError
from linnet.formats.format import Format
from linnet.loops.nodes import Declare, Expr, Literal, Program, Swap
from linnet.loops.printer import show
from linnet.loops.rewrite import walk


def check_swaps(program: Program, formats: dict[str, Format]) -> None:
    """Refuse to swap what is no temporary with dimensions, or stored in another way.

    Needs: dtypes. That sizes agree is checked when the kernel is called (`normalize.dimensions`).
    """
    nodes = list(walk(program.body))
    for swap in (n for n in nodes if isinstance(n, Swap)):
        for name in (swap.a, swap.b):
            if name in program.params or formats[name].ndim == 0:
                raise KernelSyntaxError(
                    f"`{name}` cannot change places",
                    at=swap.at,
                    why="only the memory of temporaries with dimensions may be exchanged",
                    hint="copy what it holds, `for i in ...:` and `t[i] = x[i]`",
                )
        begun = {
            (formats[n.tensor], _number(n.init, formats[n.tensor]))
            for n in nodes
            if isinstance(n, Declare) and n.tensor in (swap.a, swap.b)
        }
        if len(begun) > 1:
            raise FormatError(
                f"`{swap.a}` and `{swap.b}` cannot change places: they differ",
                at=swap.at,
                why="; ".join(sorted(f"{format!r}, declared with {n}" for format, n in begun)),
                hint="declare both in one format, and with one value: `w[...] = 0`",
            )


def with_swapped(program: Program, tensors: Iterable[str]) -> set[str]:
    """These tensors, and those that change places with one of them, however often."""
    pairs = [(n.a, n.b) for n in walk(program.body) if isinstance(n, Swap)]
    found = set(tensors)
    while more := {t for pair in pairs if not found.isdisjoint(pair) for t in pair} - found:
        found |= more
    return found


def _number(init: Expr, format: Format) -> str:
    """What a tensor begins with, however it is written: 0, 0.0, np.int8(0); NaN is NaN."""
    if not isinstance(init, Literal) or format.dtype is None:
        return show(init)
    return repr(as_python(init.value, format.dtype))
