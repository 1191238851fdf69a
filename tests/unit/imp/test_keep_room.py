"""Room that every iteration leaves behind is asked for before the loop."""

from __future__ import annotations

import numpy as np
import pytest

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.keep_room import keep_room

N, I, C = (imp.Var(name) for name in ("n", "i", "c"))
OUT = imp.Buffer("out", "int64", growable=True)
ROOM = imp.Grow(OUT, C + 1)
APPEND = (imp.Store(OUT, C, I), imp.Assign(C, C + 1))
ODD = imp.eq(imp.binary("rem", I, 2), 1)


def kernel(*body: imp.Stmt) -> imp.Kernel:
    loop = imp.For(I, imp.ZERO, N, imp.Block(body))
    stmts = (imp.Let(C, imp.ZERO), loop, imp.SetLength(OUT, C))
    return imp.Kernel("k", (imp.Argument("A", (N,), (OUT,)),), imp.Block(stmts))


def some(*then: imp.Stmt) -> imp.If:
    return imp.If(ODD, imp.Block(then), imp.EMPTY)


@pytest.mark.parametrize("body", [(*APPEND, ROOM), (some(*APPEND, ROOM),)], ids=["all", "some"])
def test_room_that_is_left(body):
    better = keep_room(kernel(ROOM, *body))
    check(better)
    assert better.body.stmts[1:3] == (ROOM, imp.For(I, imp.ZERO, N, imp.Block(body)))
    plain = kernel(ROOM, *body)
    (done, new), (_, old) = (run(k, {"A": ((5,), {})}) for k in (better, plain))
    assert done == imp.OK
    np.testing.assert_array_equal(new["out"], old["out"])


@pytest.mark.parametrize(
    "body",
    [
        (ROOM, *APPEND),
        (ROOM, some(*APPEND)),
        (ROOM, *APPEND, imp.Assign(C, C + 0), some(ROOM)),
        (ROOM, imp.Swap(OUT, OUT), *APPEND, ROOM),
        (imp.Grow(OUT, I + 1), imp.Store(OUT, I, I)),
    ],
    ids=["taken", "taken by some", "made by some", "of another", "by the loop"],
)
def test_room_that_is_not(body):
    plain = kernel(*body)
    assert keep_room(plain) is plain
