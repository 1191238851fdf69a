"""Names for what a pass introduces into a kernel that is written already."""

from __future__ import annotations

from linnet import imp
from linnet.imp.rewrite import statements
from linnet.names import Names


def fresh_names(kernel: imp.Kernel) -> Names:
    """Names that the kernel has not taken."""
    return _Late(kernel)


class _Late(Names):
    """Most passes ask for none, so the kernel is looked at when the first is asked for."""

    def __init__(self, kernel: imp.Kernel) -> None:
        self._kernel: imp.Kernel | None = kernel

    def fresh(self, hint: str) -> str:
        """As that of all names."""
        if self._kernel is not None:
            super().__init__(_taken(self._kernel))
            self._kernel = None
        return super().fresh(hint)


def _taken(kernel: imp.Kernel) -> set[str]:
    """The names of variables and buffers."""
    taken = {s.var.name for s in statements(kernel.body) if isinstance(s, imp.Let | imp.For)}
    for argument in kernel.arguments:
        taken |= {dim.name for dim in argument.dims} | {b.name for b in argument.buffers}
    return taken | {s.buffer.name for s in kernel.scratch}
