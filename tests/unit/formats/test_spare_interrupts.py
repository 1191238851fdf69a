"""Interrupts and threads lose no block of spare memory, and nothing is given to two."""

from __future__ import annotations

import gc
import itertools
import signal
import threading
import time

import numpy as np
import pytest
from tests.robustness.interrupts import Interrupt, interrupted, meanwhile
from tests.unit.formats.test_spare import nothing_kept  # noqa: F401  # a fixture

from linnet.formats import spare as module
from linnet.formats.spare import LEAST, MOST, Spare


@pytest.fixture
def no_collector():
    """It would release blocks where lines are counted, and its callbacks drop what is raised."""
    gc.disable()
    yield
    gc.enable()


ENTRY = 6  # lines of `release` before the block is in its hands, without a call: none comes there


class Counted(Spare):
    """One whose blocks are numbers, and that lists what it has freed; all small or all large."""

    def __init__(self):
        super().__init__()
        self.freed = []
        self._free = self.freed.append
        self._offer = None


@pytest.mark.parametrize("size", [LEAST - 1, LEAST, MOST // 3, MOST + 1])
@pytest.mark.usefixtures("no_collector")
def test_an_interrupt_loses_no_block_that_is_kept(size):
    """Whatever line of `release` and `drop` it comes at, all blocks are kept or freed, and once."""
    for number in itertools.count(1):
        spare = Counted()
        blocks = {}
        for address in range(1, 4):
            blocks[address] = MOST // 3
            spare.release(address, MOST // 3)
        stopped = interrupted(module, lambda spare=spare: spare.release(9, size), number)
        there = sorted([*spare.freed, *spare.kept()])
        assert there in ([1, 2, 3, 9], [1, 2, 3])
        assert 9 in there or number <= ENTRY
        spare.release(10, MOST // 3)  # the next one finds everything in order
        assert sum(spare.kept().values()) <= MOST
        dropping = interrupted(module, spare.drop, number)
        spare.drop()
        assert sorted(spare.freed) == sorted({*there, 10})
        if not stopped and not dropping:
            break
    assert number > ENTRY


@pytest.mark.parametrize("again", [LEAST, 4 * LEAST])
@pytest.mark.usefixtures("no_collector")
def test_a_block_that_comes_back_smaller_is_not_taken_for_what_it_was(again):
    """Another thread takes the block, and returns it cut to size, at any line of `take`."""
    for number in itertools.count(1):
        spare, others = Counted(), []
        spare.release(1, 4 * LEAST)

        def another(spare=spare, others=others):
            others.append(spare.take(4 * LEAST))
            if others[0] != (0, 0):
                spare.release(1, again)

        found, met = meanwhile(module, lambda spare=spare: spare.take(4 * LEAST), another, number)
        if not met:
            break
        was_first = others == [(0, 0)]
        assert found == ((1, 4 * LEAST) if was_first or again == 4 * LEAST else (0, 0))
    assert number > ENTRY


@pytest.mark.usefixtures("no_collector")
def test_an_interrupt_takes_one_block_or_none():
    for number in itertools.count(1):
        spare = Counted()
        for address in range(1, 9):
            spare.release(address, LEAST)
        found = []
        stopped = interrupted(
            module, lambda spare=spare, found=found: found.append(spare.take(LEAST)), number
        )
        left = spare.kept()
        assert len(left) >= 7
        assert not found or found[0][0] not in left
        if not stopped:
            break
    assert found == [(8, LEAST)]


@pytest.mark.usefixtures("no_collector")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that interrupt")
def test_interrupts_at_any_moment():
    """Every block is in one place: free, kept, or with who has taken it."""
    spare, held, made, lost = Counted(), {}, [], set()
    rng = np.random.default_rng(0)

    def stop(*_):
        raise Interrupt

    def work():  # a function, since no loop is covered by the `try` around it from Python 3.12 on
        while True:
            address, size = spare.take(LEAST)
            if not address:
                made.append(None)
                address, size = len(made), LEAST
            held[address] = size
            if len(held) > 30:
                for address in list(held):
                    lost.add(address)
                    del held[address]
                    spare.release(address, size)
                    lost.discard(address)

    before = signal.signal(signal.SIGALRM, stop)
    end, interrupts = time.monotonic() + 20.0, 0
    try:
        while interrupts < 500 and time.monotonic() < end:
            try:
                signal.setitimer(signal.ITIMER_REAL, float(rng.uniform(2e-5, 4e-4)))
                work()
            except Interrupt:
                interrupts += 1
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    spare.drop()
    assert interrupts > 0
    assert len(spare.freed) == len(set(spare.freed))
    assert not set(spare.freed) & set(held)
    gone = set(range(1, len(made) + 1)) - set(spare.freed) - set(held)
    assert gone <= lost  # where one came on entry, before the first line
    assert len(gone) < interrupts


def test_threads_never_take_the_same_block():
    spare, twice = Counted(), []

    def work(first):
        mine = list(range(first, first + 10))
        for _ in range(3000):
            while mine:
                spare.release(mine.pop(), LEAST)
            for _ in range(10):
                address, _ = spare.take(LEAST)
                if address:
                    mine.append(address)
        twice.extend(mine)

    threads = [threading.Thread(target=work, args=(1 + 10 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spare.drop()
    assert sorted([*twice, *spare.freed]) == list(range(1, 41))
