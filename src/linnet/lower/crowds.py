"""What multiplies the cases of a kernel that has too many? For the error that says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from linnet import loops
from linnet.errors import FormatError
from linnet.formats.format import Format
from linnet.loops.positions import RELATIONS
from linnet.loops.rewrite import accesses, walk
from linnet.loops.spoken import written

_NAMED = 3  # of those that multiply the most

Crowd = dict[str, int]
"""What is read or asked, as the user wrote it, and in how many cases each."""


def too_many_cases(program: loops.Program, formats: Mapping[str, Format]) -> FormatError:
    """The error for a kernel that has run away, at the statement where most comes together."""
    found = [(_crowd(stmt, formats), stmt.at) for stmt in _statements(program.body)]
    crowd, at = max(found, key=lambda f: prod(f[0].values()), default=(Crowd(), None))
    named = sorted(crowd.items(), key=lambda item: -item[1])
    told = ", ".join(f"`{what}` {count}" for what, count in named[:_NAMED])
    more = f", and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    reason = f" The cases of each: {told}{more}" if crowd else ""
    return FormatError(
        "this kernel has too many cases to compile",
        at=at,
        why="whether a value is stored, or within its bounds, is a case, and those of values that "
        f"meet in one statement are multiplied.{reason}",
        hint="compute part of it in a statement and a temporary of its own, or use denser formats",
    )


def _statements(body: loops.Stmt) -> Iterator[loops.Assign]:
    return (node for node in walk(body) if isinstance(node, loops.Assign))


def _crowd(stmt: loops.Assign, formats: Mapping[str, Format]) -> Crowd:
    """What comes together in a statement."""
    found: Crowd = {}
    for access, is_target in accesses(stmt):
        format = formats.get(str(access.tensor))
        if format is not None and not is_target:
            sparse = sum(level.width for level in format.levels if not (level.full or level.leaf))
            cases = 2**sparse * 3 ** access.protocols.count("permissive")
            if cases > 1:
                found[written(access, stmt.at)] = cases
    for node in walk(stmt):
        if isinstance(node, loops.Call) and node.function.name in RELATIONS:
            found[written(node, stmt.at)] = 2
    return found
