"""Which calls of a kernel are remembered, to be repeated."""

from __future__ import annotations

from threading import get_ident

import numpy as np
import pytest

import linnet as ln
from linnet.runtime import repeat, repeats
from linnet.runtime.call import Entry


@pytest.fixture
def doubled():
    @ln.kernel
    def doubled(y, x):
        y[...] = 0
        for i in ...:
            y[i] = 2 * x[i]

    return doubled


@pytest.mark.parametrize("there", ["nothing", "others"])
def test_results_that_other_threads_have_before_and_after(monkeypatch, doubled, there):
    """Taken: nobody knows where; or made anew, of the same dimensions, where ours does not fit."""
    y, x = ln.empty_tensor(ln.Dense(ln.Element())), ln.asarray(np.arange(4.0))
    doubled(y, ln.asarray(np.arange(4, dtype=np.float32)))
    run, others = Entry.run, y._contents if there == "others" else None

    def replaced(self, *args):
        y._contents = None
        done = run(self, *args)
        y._contents = others
        return done

    with monkeypatch.context() as patch:
        patch.setattr(Entry, "run", replaced)
        for _ in range(4):
            doubled(y, x)
    assert doubled._repeats.latest is None
    doubled(y, x)
    np.testing.assert_array_equal(y.to_numpy(), 2 * np.arange(4.0))


@pytest.mark.skipif(not repeats.MAY_BE, reason="calls are repeated where Python is 3.11")
def test_a_result_that_is_seen_while_a_call_begins(monkeypatch, doubled):
    """A signal's handler comes after any call of a function, and what it sees stays as it is."""
    given, seen = np.arange(4.0), []
    y, x = ln.empty_tensor(ln.Dense(ln.Element(0.0))), ln.asarray(given)
    for _ in range(4):
        doubled(y, x)
    assert doubled._repeats.latest is not None

    def handled():
        seen.append(y.to_numpy())
        return get_ident()

    monkeypatch.setattr(repeat, "get_ident", handled)
    given += 1
    doubled(y, x)
    np.testing.assert_array_equal(seen[0], 2 * np.arange(4.0))
    np.testing.assert_array_equal(y.to_numpy(), 2 * given)
