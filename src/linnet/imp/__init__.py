"""The imperative IR. Written qualified outside this folder: `imp.For`, `imp.Load`."""

from linnet.imp.nodes import *  # noqa: F403
from linnet.imp.nodes import Node, Stmt
from linnet.imp.values import *  # noqa: F403
from linnet.imp.values import Expr
