"""The loop language. Written qualified outside this folder: `loops.Loop`, `loops.Access`."""

from linnet.loops.nodes import *  # noqa: F403
from linnet.loops.nodes import Expr, Node, Stmt
