"""Temporaries that change places, `v, w = w, v`: may they?"""

from __future__ import annotations

from linnet.errors import FormatError, KernelSyntaxError
from linnet.formats.format import Format
from linnet.loops.nodes import Declare, Program, Swap
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
            (formats[n.tensor], n.init)
            for n in nodes
            if isinstance(n, Declare) and n.tensor in (swap.a, swap.b)
        }
        if len(begun) > 1:
            raise FormatError(
                f"`{swap.a}` and `{swap.b}` cannot change places: they differ",
                at=swap.at,
                why=", ".join(sorted({repr(format) for format, _ in begun})),
                hint="declare both in one format, and with one value: `w[...] = 0`",
            )
