"""The table of a CPU: what is done to the loops of a kernel, by name and in order.

`ln.config(without=("hoist",))` leaves out what it names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from linnet import imp
from linnet.algebra.elementary import is_vectorized
from linnet.errors import LinnetError
from linnet.imp.ahead import compute_ahead
from linnet.imp.along_rows import along_rows
from linnet.imp.append_anyway import append_anyway
from linnet.imp.append_at_once import append_at_once
from linnet.imp.ask_ahead import ask_ahead
from linnet.imp.consecutive import Known
from linnet.imp.count_anyway import count_anyway
from linnet.imp.end_fibers import end_fibers
from linnet.imp.foresee import foresee
from linnet.imp.fuse_ranges import fuse_ranges
from linnet.imp.hand_over import hand_over
from linnet.imp.hold_rows import hold_rows
from linnet.imp.list_flags import list_flags
from linnet.imp.prescribed import obeys, prescribed
from linnet.imp.reserve_ahead import reserve_ahead
from linnet.imp.rows_ahead import rows_ahead
from linnet.imp.scatter_ahead import scatter_ahead
from linnet.imp.simplify import simplify
from linnet.imp.single_rows import single_rows
from linnet.imp.strips import strips
from linnet.imp.uneven_rows import uneven_rows
from linnet.imp.walk_together import walk_together
from linnet.imp.whole_tiles import whole_tiles
from linnet.optimize.accumulators import split_accumulators
from linnet.optimize.hoist import hoist
from linnet.optimize.loops import gathers
from linnet.options import current
from linnet.stages import stage, watched
from linnet.target import IN_BACK_ENDS

Step = Callable[[imp.Kernel, Known], imp.Kernel]
Check = Callable[[imp.Kernel], None]


def _plain(step: Callable[[imp.Kernel], imp.Kernel]) -> Step:
    """A step that needs to know nothing but the code."""
    return lambda kernel, _: step(kernel)


def _vectorized(known: Known) -> Callable[[imp.Call], bool]:
    """Which calls the target computes in vectors."""
    return partial(is_vectorized, target=known.target)


STEPS: dict[str, Step] = {
    "hand_over": _plain(hand_over),
    "hoist": _plain(hoist),
    "end_fibers": end_fibers,
    "fuse_ranges": fuse_ranges,
    "reserve_ahead": reserve_ahead,
    "append_at_once": append_at_once,
    "append_anyway": append_anyway,
    "list_flags": _plain(list_flags),
    "count_anyway": _plain(count_anyway),
    "walk_together": _plain(walk_together),
    "along_rows": _plain(along_rows),
    "hold_rows": _plain(hold_rows),
    "whole_tiles": _plain(whole_tiles),
    "strips": _plain(strips),
    "compute_ahead": lambda kernel, known: compute_ahead(kernel, _vectorized(known)),
    "ask_ahead": _plain(ask_ahead),
    "rows_ahead": rows_ahead,
    "scatter_ahead": scatter_ahead,
    "single_rows": single_rows,
    "split_accumulators": _plain(split_accumulators),
    "foresee": _plain(foresee),
    "uneven_rows": lambda kernel, known: uneven_rows(kernel, known, gathers),
}
_PREFETCHES = frozenset({"ask_ahead", "rows_ahead", "scatter_ahead"})


def improve(kernel: imp.Kernel, known: Known, check: Check) -> imp.Kernel:
    """Rearrange simplified code as an expert would. What a step has changed is handed to `check`.

    A schedule goes before that: what it says of how a loop is run holds afterwards, too.
    """
    better, asked, without = kernel, prescribed(kernel), left_out()
    for name, step in STEPS.items():
        if name in without or (name in _PREFETCHES and not known.target.prefetches):
            continue
        changed = step(better, known)
        if changed is better or (asked and not obeys(changed, better)):
            continue
        check(changed)
        if watched() and changed != better:
            stage(name, changed)
        better = changed
    return kernel if better is kernel else simplify(better)


def left_out() -> frozenset[str]:
    """The steps that are not to be taken, here and in back ends."""
    without = frozenset(current().without)
    known = (*STEPS, *IN_BACK_ENDS)
    unknown = sorted(without - frozenset(known))
    if unknown:
        raise LinnetError(
            f"no step of the compiler is called {unknown[0]!r}",
            why="`without` names steps that are to be left out",
            hint=f"one of {', '.join(known)}",
        )
    return without
