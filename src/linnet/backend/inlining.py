"""Which codelets are inlined: short ones always, those that do much whenever they are called never.

To inline is to optimize a codelet again with its callers, and a kernel that sorts would be sorting
code for the most part. Beside a loop inside of a loop, a call is nothing. What is hardly ever
called is not even optimized.
"""

from __future__ import annotations

from collections.abc import Collection

from linnet.backend.survey import Survey

_SMALL = 12  # statements of a codelet that is always inlined
_STRAIGHT = 60  # of one without loops: it may be all that keeps the loop around it from vectors

ALWAYS, NEVER, PERHAPS, RARELY = "alwaysinline", "noinline", "", "noinline cold optnone"


def inlining(codelets: dict[str, Survey], rare: Collection[str]) -> dict[str, str]:
    """What LLVM is told of each codelet; callers come after what they call."""
    told: dict[str, str] = {}
    for name, facts in codelets.items():
        below = {told.get(called, NEVER) for called in facts.called if called in codelets}
        short = facts.statements <= (_SMALL if facts.depth else _STRAIGHT)
        if name in rare:
            told[name] = RARELY
        elif short and below <= {ALWAYS}:
            told[name] = ALWAYS
        else:
            told[name] = NEVER if facts.depth > 1 or below & {NEVER, RARELY} else PERHAPS
    return told
