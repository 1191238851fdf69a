"""How much work a call is: what tests say of it, whatever machine they run on."""

from __future__ import annotations

import linnet as ln


def work(kernel: ln.Kernel, *args: object) -> int:
    """Every turn of every loop, routines included, and every element that is filled."""
    return kernel.visits(*args).total
