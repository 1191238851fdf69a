"""`Guard`: one thread at a time, whatever interrupts it; and whether a call is still under way.

An interrupt is raised wherever Python looks for signals. Since 3.12 that may be outside of the
`with` that it stands in, and since 3.14 right behind the call that has taken a lock: then nobody
gives it back, and who waits for it waits for ever. So nothing here is held until it is given back.
What a call has is noted under its frame, and is held as long as that frame runs.
"""

from __future__ import annotations

import os
import sys
import time
from _frozen_importlib import _find_and_load, _module_locks  # type: ignore[attr-defined]
from _thread import get_ident
from functools import partial
from types import FrameType

SHORT, LONG = 1e-5, 1e-3  # seconds between two looks, at first and at last
_PATIENCE = 60.0  # seconds that a fork waits for imports, which may wait for the thread that forks
_FORK = "fork"  # in the place of a frame: who forks gives it back by a function of C
_PAUSES = 0x20 | 0x80 | 0x200  # of code: generators, coroutines, generators that are asynchronous
_IMPORTS: str = _find_and_load.__code__.co_filename


def runs(frame: object) -> bool:
    """Whether a call is under way, in whatever thread; of what is no frame, nobody knows the end.

    Generators may pause while we look, and then tell nothing of who called them: as if it were.
    No call here has its own frame among its variables: that would be garbage, with all it has.
    """
    if not isinstance(frame, FrameType):
        return True
    return any(map(partial(_may_be_above, frame), sys._current_frames().values()))


def _may_be_above(frame: FrameType, top: FrameType) -> bool:
    at: FrameType | None = top
    while at is not None:
        if at is frame:
            return True
        last, at = at, at.f_back
    return bool(last.f_code.co_flags & _PAUSES)


def is_above(frame: object, at: FrameType | None) -> bool:
    """Whether a call is one of those that this one came from."""
    while at is not None and at is not frame:
        at = at.f_back
    return at is not None


class Guard:
    """`with guard:` no other thread is in such a block; re-entrant, as garbage may need it.

    Who is interrupted must leave the function that has the block. With `waits`, a fork first waits
    for the thread that has it, and for those that import a part of this package: the child does not
    find in the middle what they were at, nor a lock of Python that nobody will give back. Others
    may begin to import after the last look, until the process has forked: the child forgets that.
    """

    def __init__(self, waits: bool = False) -> None:
        self._turns: dict[object, int] = {}  # the first has it, the others wait; and their threads
        if waits and hasattr(os, "register_at_fork"):
            over = partial(self._turns.pop, _FORK, None)
            os.register_at_fork(before=self._before_fork, after_in_parent=over, after_in_child=over)
            os.register_at_fork(after_in_child=_forget_imports)

    def __enter__(self) -> None:
        mine = sys._getframe(1)
        try:
            self._wait(mine, mine)
        except BaseException:
            self._turns.pop(mine, None)
            raise

    def __exit__(self, *raised: object) -> None:
        self._turns.pop(sys._getframe(1), None)

    def _wait(self, turn: object, at: FrameType) -> None:
        """Until it is our turn, or that of a call that we came from."""
        me, pause = get_ident(), SHORT
        while True:
            thread = self._turns.setdefault(turn, me)
            first = list(self._turns)[0]  # noqa: RUF015  # at once: others come and go
            if (first is turn and thread == me) or is_above(first, at):
                return
            if not runs(first):
                self._turns.pop(first, None)
                continue
            time.sleep(pause)
            pause = min(2 * pause, LONG)

    def _before_fork(self) -> None:
        """What is raised here would be dropped, and the fork made: an interrupt is told after."""
        if any(is_above(turn, sys._getframe()) for turn in list(self._turns)):
            return
        end, raised = time.monotonic() + _PATIENCE, None
        while True:
            try:
                _wait_for_imports(end)
                self._wait(_FORK, sys._getframe(1))
                if not _others_import() or time.monotonic() > end:
                    break
                self._turns.pop(_FORK, None)
            except BaseException as error:
                raised = error
        if raised is not None:
            raise raised


def _wait_for_imports(end: float) -> None:
    """Until no other thread imports, or for long: they may wait for an import of this one."""
    while _others_import() and time.monotonic() < end:
        time.sleep(LONG)


def _others_import() -> bool:
    """Whether a call of this package, in another thread, imports something."""
    me = get_ident()
    return any(_imports(top) for thread, top in sys._current_frames().items() if thread != me)


def _imports(at: FrameType | None) -> bool:
    """Whether an import is among these calls, and this package; it may not show (see `runs`)."""
    importing = ours = False
    while at is not None:
        importing = importing or at.f_code.co_filename == _IMPORTS
        ours = ours or str(at.f_globals.get("__name__")).partition(".")[0] == "linnet"
        last, at = at, at.f_back
    return (importing and ours) or bool(last.f_code.co_flags & _PAUSES)


def _forget_imports() -> None:
    """In a child: import again what threads imported that are not here, if this package does."""
    found = {name: getattr(known(), "owner", None) for name, known in list(_module_locks.items())}
    gone = {who for name, who in found.items() if name.partition(".")[0] == "linnet"}
    for name in [name for name, who in found.items() if who in gone - {None, get_ident()}]:
        _module_locks.pop(name, None)
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]


COMPILING = Guard(waits=True)
"""One thread makes machine code, and uses LLVM; LLVM is never forked. It is made here, and so with
`import linnet`: a fork waits, too, for a thread that imports the compiler for its first call."""
