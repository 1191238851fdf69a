"""Can a kernel fail after it has changed what a tensor holds?

If not, it may change it where it is: when it fails (memory, an index) nothing is lost.
"""

from __future__ import annotations

from linnet import imp
from linnet.imp.effects import Effects, effects_of


def fails_late(kernel: imp.Kernel, buffers: frozenset[str]) -> bool:
    """Whether something may go wrong when one of these buffers has been changed."""
    return _Order(effects_of(kernel.codelets), buffers).block(kernel.body, False)[0]


class _Order:
    """Follows the order of statements. Of each: whether it fails late, and what is changed then."""

    def __init__(self, effects: Effects, buffers: frozenset[str]) -> None:
        self.effects, self.buffers = effects, buffers

    def block(self, block: imp.Block, changed: bool) -> tuple[bool, bool]:
        """Of a block that begins with the buffers `changed` or not."""
        late = False
        for stmt in block.stmts:
            fails, changed = self.stmt(stmt, changed)
            late = late or fails
        return late, changed

    def stmt(self, stmt: imp.Stmt, changed: bool) -> tuple[bool, bool]:
        """Of one statement."""
        match stmt:
            case imp.Block():
                return self.block(stmt, changed)
            case imp.If(_, then, orelse):
                one, two = self.block(then, changed), self.block(orelse, changed)
                return one[0] or two[0], one[1] or two[1]
            case imp.For(body=body) | imp.While(body=body):
                once, after = self.block(body, changed)
                if after == changed:  # which nests of loops must not find out twice
                    return once, after
                return once or self.block(body, after)[0], after
            case imp.Grow(buffer):
                return changed or buffer.name in self.buffers, changed
            case imp.Return(value):
                return changed and value != imp.Const(imp.OK, imp.INT), changed
            case _:
                writes = self.effects.of(stmt).changes
                return False, changed or not writes.isdisjoint(self.buffers)
