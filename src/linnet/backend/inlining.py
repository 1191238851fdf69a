"""Which codelets are inlined: short ones, unless there would be many copies of a loop.

To inline is to optimize a codelet again with its callers, and a kernel that sorts would be sorting
code for the most part. Beside a loop inside of a loop, a call is nothing. What is hardly ever
called is not even optimized.
"""

from __future__ import annotations

from collections.abc import Collection

from linnet.backend.survey import Survey

_SMALL = 12  # statements of a codelet that is always inlined
_STRAIGHT = 60  # of one without loops: it may be all that keeps the loop around it from vectors
_PLACES = 4  # at which one with a loop is inlined: more are in code that is long already

ALWAYS, NEVER, PERHAPS, RARELY = "alwaysinline", "noinline", "", "noinline cold optnone"


def inlining(kernel: Survey, codelets: dict[str, Survey], rare: Collection[str]) -> dict[str, str]:
    """What LLVM is told of each codelet; callers come after what they call."""
    told: dict[str, str] = {}
    places = sum((facts.places for facts in codelets.values()), kernel.places)
    for name, facts in codelets.items():
        below = {told.get(called, NEVER) for called in facts.called if called in codelets}
        short = facts.statements <= (_SMALL if facts.depth else _STRAIGHT)
        copies = facts.depth > 0 and places[name] > _PLACES
        much = copies or (facts.depth > 1 and not short)
        if name in rare:
            told[name] = RARELY
        elif much or below & {NEVER, RARELY}:
            told[name] = NEVER
        else:
            told[name] = ALWAYS if short and below <= {ALWAYS} else PERHAPS
    return told
