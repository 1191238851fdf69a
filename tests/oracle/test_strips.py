"""Plain loops that one value decides end in strips: every back end, every length, every place."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet.frontend.text import parse_text
from linnet.imp import Break
from linnet.imp.rewrite import walk

UPDATES = {
    "or": ("s[()] = s[()] or x[i] > 1", False, "bool"),
    "and": ("s[()] = s[()] and x[i] < 2", True, "bool"),
    "product": ("s[()] *= x[i] - 2", 1, "int64"),
    "bits": ("s[()] |= x[i] - 3", 0, "int8"),
}


@pytest.mark.parametrize("name", UPDATES)
def test_strips(name: str) -> None:
    """The decisive value lies in the first strip, at its end, in the last one, or nowhere."""
    update, init, dtype = UPDATES[name]
    text = f"def f(s, x):\n    s[...] = {init}\n    for i in ...:\n        {update}\n    return s"
    subject = None
    for length in (0, 1, 1023, 1024, 1025, 2500):
        for at in {0, 1023, 1024, length - 1, length}:
            x = np.ones(length, dtype if dtype == "int8" else "int64")
            x[at : at + 1] = 2
            args = {"s": ln.scalar(np.dtype(dtype).type(init)), "x": ln.asarray(x)}
            subject = subject or Subject.of(parse_text(text), args)
            check(subject, args, BACKENDS if length in (1, 2500) else ())
    assert subject is not None
    assert any(isinstance(node, Break) for node in walk(subject.code.body)), "no strips"


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("first", [0, 2**63 - 1020])
def test_strips_up_to_the_last_number(backend: str, first: int) -> None:
    """Strips were counted, and ended, by sums beyond the last number: nothing was looked at."""

    @ln.kernel
    def f(s, a, b):
        s[...] = False
        for i in range(a[()], b[()]):
            s[()] = s[()] or (i & 1023) == 5
        return s

    with ln.config(backend=backend):
        assert f(ln.scalar(False), np.array(first), np.array(2**63 - 1)).item()


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("last", [-(2**63), 3 - 2**63, -1])
def test_no_strips_down_to_the_least_number(backend: str, last: int) -> None:
    """The way from the start to such an end is longer than any number: strips went up instead."""

    @ln.kernel
    def f(s, b):
        s[...] = False
        for i in range(5, b[()]):
            s[()] = s[()] or (i & 1023) == 5
        return s

    with ln.config(backend=backend):
        assert not f(ln.scalar(False), np.array(last)).item()
