"""What is said of tensors that would need two modes at once, or have none where they are used."""

from __future__ import annotations

from linnet.errors import LifecycleError, Location
from linnet.loops.nodes import If, Loop, Program, Stmt
from linnet.loops.rewrite import point_of
from linnet.loops.spoken import spoken


def undeclared(tensor: str, at: Location | None) -> LifecycleError:
    """A temporary that is used too early."""
    return LifecycleError(
        f"{tensor} is used before it is declared",
        at=at,
        why="a temporary has neither size nor contents until it is declared",
        hint=f"write {tensor}[...] = 0 before this statement",
    )


def outside_its_block(tensor: str, at: Location | None) -> LifecycleError:
    """A tensor that is used where its declaration does not reach."""
    return LifecycleError(
        f"{tensor} is used outside the block that declares it",
        at=at,
        why="a declaration in a loop or an `if` holds to the end of that block",
        hint=f"move {tensor}[...] = … out to the block of this statement, before it",
    )


def written_when_left(tensor: str, at: Location | None) -> LifecycleError:
    """A tensor that is not finished where a loop is left."""
    return LifecycleError(
        f"{tensor} is written in an `if` that leaves the loop",
        at=at,
        why="it is read after the loop, or in its next iteration, and is frozen before",
        hint="put `break` in an `if` of its own",
    )


def read_and_written(
    tensor: str, stmt: Stmt, read: Location | None, last: Location | None
) -> LifecycleError:
    """A tensor that one statement both reads and updates or declares, where it first does each."""
    at = read if read and last and read.line == last.line else last
    while isinstance(stmt, Loop) and point_of(stmt.extent) is not None:
        stmt = stmt.body  # an index that was computed
    match stmt:
        case Loop(index):
            where = f"the loop over `{spoken(index, stmt.at)}`"
        case If():
            where = "one `if`"
        case _:
            where = "one statement"
    return LifecycleError(
        f"{tensor} is read and written in {where}",
        at=at,
        why="between reading and writing a tensor is frozen or thawed, in the block it belongs to",
        hint=f"combine with what an element holds by an update, {tensor}[…] += …; carry a value to "
        "the next iteration in a scalar, s = ln.scalar(0.0); else write to a temporary here and "
        f"copy it to {tensor} afterwards",
    )


def not_a_result(program: Program, name: str) -> LifecycleError:
    """What is returned, and is no result."""
    what, hint = "never written", f"return only what {program.name} writes, or write to {name}"
    if name not in program.params:
        what, hint = "not an argument", f"make {name} an argument of {program.name}"
    return LifecycleError(
        f"{name} is returned but is {what}",
        at=program.at,
        why="a kernel returns those of its arguments that it has written to",
        hint=hint,
    )
