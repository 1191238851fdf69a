"""The table of a CPU: what is done to the loops of a kernel, by name and in order.

`ln.config(without=("hoist",))` leaves out what it names.
"""

from __future__ import annotations

from collections.abc import Callable

from linnet import imp
from linnet.errors import LinnetError
from linnet.imp.prescribed import obeys, prescribed
from linnet.imp.printer import show
from linnet.imp.simplify import simplify
from linnet.optimize.accumulators import split_accumulators
from linnet.optimize.distribute import distribute
from linnet.optimize.hoist import hoist
from linnet.optimize.hold import hold
from linnet.optimize.if_convert import if_convert
from linnet.optimize.prefetch import prefetch
from linnet.optimize.reserve import reserve
from linnet.options import current
from linnet.stages import stage, watched
from linnet.target import IN_SCHEDULES, IN_VECTORIZE, Target

Step = Callable[[imp.Kernel, Target], imp.Kernel]
Check = Callable[[imp.Kernel], None]


def _plain(step: Callable[[imp.Kernel], imp.Kernel]) -> Step:
    """A step that is the same for all targets."""
    return lambda kernel, _: step(kernel)


STEPS: dict[str, Step] = {
    "hoist": _plain(hoist),
    "hold": _plain(hold),
    "reserve": _plain(reserve),
    "distribute": _plain(distribute),
    "if_convert": _plain(if_convert),
    "prefetch": prefetch,
    "split_accumulators": _plain(split_accumulators),
}


def improve(kernel: imp.Kernel, target: Target, check: Check) -> imp.Kernel:
    """Rearrange simplified code as an expert would. What a step has changed is handed to `check`.

    A schedule goes before that: what it says of how a loop is run holds afterwards, too.
    """
    better, asked, without = kernel, prescribed(kernel), left_out()
    for name, step in STEPS.items():
        if name in without:
            continue
        changed = step(better, target)
        if changed is better or (asked and not obeys(changed, better)):
            continue
        check(changed)
        if watched() and show(changed) != show(better):
            stage(name, changed)
        better = changed
    return kernel if better is kernel else simplify(better)


def left_out() -> frozenset[str]:
    """The steps that are not to be taken, of the default schedule, here, and in `vectorize`."""
    without = frozenset(current().without)
    known = (*IN_SCHEDULES, *STEPS, *IN_VECTORIZE)
    unknown = sorted(without - frozenset(known))
    if unknown:
        raise LinnetError(
            f"no step of the compiler is called {unknown[0]!r}",
            why="`without` names steps that are to be left out",
            hint=f"one of {', '.join(known)}",
        )
    return without
