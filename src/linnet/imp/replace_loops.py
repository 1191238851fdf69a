"""What passes have in common that make something better of single loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from linnet import imp
from linnet.imp.effects import Effects, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements
from linnet.names import Names

Better: TypeAlias = Callable[[imp.For, Effects, Names], imp.Node | None]
"""What is to stand for a loop, or None to leave it as it is."""


def replace_loops(kernel: imp.Kernel, better: Better) -> imp.Kernel:
    """Replace loops, the innermost first."""
    effects, names = effects_of(kernel.codelets), fresh_names(kernel)

    def rule(node: imp.Node) -> imp.Node | None:
        return better(node, effects, names) if isinstance(node, imp.For) else None

    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)
