"""A `break` in one of several loops that go along together leaves all of them.

    for i, j in ln.stored(A):          left = False
        if A[i, j] > 7:                for i in ln.along(ln.stored(A)):
            break                          for j in ln.along(ln.stored(A), i):
                                               if A[i, j] > 7:
                                                   left = True
                                                   break
                                           if left:
                                               break

A scalar says so to the loops around. Those that are run as one flat loop are left as one.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.named import SCALAR
from linnet.loops.rewrite import before_leaving, block, is_left, map_stmts, names_in
from linnet.names import Names

Formats = dict[str, Format]
LEFT = SCALAR.with_dtype("bool").with_fill(False)


def leave_together(program: loops.Program, formats: Formats) -> tuple[loops.Program, Formats]:
    """Let every loop around one that is left leave, too, if the two go along together.

    Needs: loops that go along together stand directly inside one another. Gives: a `break` ends no
    loop but the one around it, except for flat ones; and the formats, with those of new scalars.
    """
    left = _Left(Names({*formats, *names_in(program.body)}))
    body = left.stmt(program.body)
    if not left.found:
        return program, formats
    temporaries = (*program.temporaries, *((name, LEFT) for name in left.found))
    program = replace(program, body=body, temporaries=temporaries)
    return program, formats | dict.fromkeys(left.found, LEFT)


class _Left:
    """The scalars that say whether loops were left."""

    def __init__(self, names: Names) -> None:
        self.names, self.found = names, list[str]()

    def stmt(self, stmt: loops.Stmt) -> loops.Stmt:
        """A statement in which each `break` ends the loop around it, and no other."""
        stmt = map_stmts(stmt, self.stmt)
        if not isinstance(stmt, loops.Loop) or not isinstance(stmt.extent, loops.Along):
            return stmt
        if stmt.extent.depth > 0 or stmt.how.flat or not is_left(stmt):
            return stmt
        name = self.names.fresh("left")
        self.found.append(name)
        target = loops.Access(name, ())
        begin = loops.Declare(name, loops.Literal(False), ())
        return block([begin, _leaving(stmt, target)])


def _leaving(loop: loops.Loop, target: loops.Access) -> loops.Loop:
    """A loop that is left where one inside is that goes along with it."""
    inner = loop.body
    if not isinstance(inner, loops.Loop) or not isinstance(inner.extent, loops.Along):
        tell = loops.Assign(target, None, loops.Literal(True))
        return replace(loop, body=before_leaving(loop.body, tell))
    leave = loops.If(target, loops.Break(), loops.NOTHING)
    return replace(loop, body=block([_leaving(inner, target), leave]))
