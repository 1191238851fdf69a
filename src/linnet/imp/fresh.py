"""Names for what a pass introduces into a kernel that is written already."""

from __future__ import annotations

from linnet import imp
from linnet.imp.rewrite import statements
from linnet.names import Names


def fresh_names(kernel: imp.Kernel) -> Names:
    """Names that the kernel has not taken."""
    taken = {s.var.name for s in statements(kernel.body) if isinstance(s, imp.Let | imp.For)}
    for argument in kernel.arguments:
        taken |= {dim.name for dim in argument.dims} | {b.name for b in argument.buffers}
    return Names(taken | {s.buffer.name for s in kernel.scratch})
