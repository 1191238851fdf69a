"""Which codelets are inlined: short ones, unless there would be many copies of a loop.

To inline is to optimize a codelet again with its callers, and a kernel that sorts would be sorting
code for the most part. Beside a loop inside of a loop, a call is nothing. What is hardly ever
called is not even optimized.

What is not inlined is the same in all kernels that call it: it is shared, and made once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from linnet import imp
from linnet.backend.survey import Survey

_SMALL = 12  # statements of a codelet that is always inlined
_STRAIGHT = 60  # of one without loops: it may be all that keeps the loop around it from vectors
_SMALL_NUMBERS = range(-1, 5)
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


def called(kernel: Survey, told: Mapping[str, str]) -> list[str]:
    """The codelets that are not inlined, wherever they are called.

    A kernel that only calls one codelet is that: it shares nothing.
    """
    if kernel.statements == 1 and not kernel.depth:
        return []
    return [name for name, what in told.items() if what in (NEVER, RARELY)]


def within(
    names: Iterable[str], codelets: Mapping[str, Survey], apart: Collection[str] = ()
) -> list[str]:
    """The codelets of these names, and all that they call, but for what those `apart` call."""
    found, todo = set[str](), [name for name in names if name in codelets]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            if name not in apart:
                todo += [called for called in codelets[name].called if called in codelets]
    return [name for name in codelets if name in found]


def fixed(calls: Iterable[imp.Call]) -> dict[int, imp.Const]:
    """The arguments that are the same small number in all calls of a codelet, by their numbers.

    A codelet is made for them, as it would be if it were not shared: they say how it works, such
    as of how many words components are. Large ones are sizes, which differ from kernel to kernel.
    """
    first, *others = (call.args for call in calls)
    found = {k: a for k, a in enumerate(first) if isinstance(a, imp.Const)}
    small = {k: a for k, a in found.items() if a.value in _SMALL_NUMBERS}
    return {k: a for k, a in small.items() if all(args[k] == a for args in others)}
