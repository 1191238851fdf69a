"""The loop language. Written qualified outside this folder: `loops.Loop`, `loops.Access`.

Its nodes are made when the first of them is asked for: who runs what is compiled needs none.
"""

from typing import TYPE_CHECKING

from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet.loops.nodes import *  # noqa: F403
    from linnet.loops.nodes import Expr, Node, Stmt


def __getattr__(name: str) -> object:
    """A node by its name; all of them are here from then on."""
    nodes = vars(imported("linnet.loops.nodes"))
    if name.startswith("_") or name not in nodes:
        raise AttributeError(f"module 'linnet.loops' has no attribute {name!r}")
    globals().update({k: v for k, v in nodes.items() if not k.startswith("_")})
    return nodes[name]
