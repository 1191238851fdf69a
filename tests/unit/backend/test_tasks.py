"""Buffers that change hands, and codelets on threads of their own: in every way to run code."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.backend.harness import WAYS, execute, same

from linnet import imp
from linnet.backend import c, llvm, symbols
from linnet.errors import InternalError
from linnet.imp.check import check
from linnet.imp.printer import show
from linnet.optimize.hoist import hoist

n, k, q, s = (imp.Var(name) for name in "nkqs")
a, b = (imp.Buffer(name, "int64", growable=True) for name in ("a", "b"))
x, y = imp.Buffer("x", "int64"), imp.Buffer("y", "int64")
to, count = imp.Buffer("to", "int64"), imp.Var("count")
_raise = imp.For(k, imp.ZERO, count, imp.Block((imp.Store(to, k, to[k] + x[k]),)))
ADD = imp.Function(
    "add_all", (x, to, count, imp.Var("z", "complex128")), imp.Block((_raise,)), None
)


def kernel(*stmts):
    arguments = (imp.Argument("x", (n,), (x, y)), imp.Argument("r", (), (a, b)))
    return imp.Kernel("tasks", arguments, imp.Block(stmts), (ADD,))


def filled(buffer, value):
    return (imp.Grow(buffer, n), imp.Fill(buffer, imp.ZERO, n, imp.Const(value, "int64")))


def add(buffer, more=x):
    args = (imp.Address(more), imp.Address(buffer), n, imp.Const(1j, "complex128"))
    return imp.Call("add_all", args, "void")


def lengths(*buffers):
    return tuple(imp.SetLength(buffer, n) for buffer in buffers)


DATA = {"n": 5, "x": np.arange(5), "y": np.arange(5)}


def test_buffers_are_swapped():
    """Each has what the other had, and as much room."""
    more = (imp.Grow(b, n + 40), imp.Store(b, n + 39, imp.ONE))
    stmts = (*filled(a, 1), *filled(b, 2), imp.Swap(a, b), *more, *lengths(a, b))
    found = same(kernel(*stmts), DATA)
    assert found["a"].tolist() == [2] * 5
    assert found["b"].tolist() == [1] * 5


def test_swapping_in_a_loop():
    body = (imp.Swap(a, b), imp.Grow(a, n + k), imp.Store(a, imp.ZERO, a[0] + 1))
    loop = imp.For(k, imp.ZERO, n, imp.Block(body))
    found = same(kernel(*filled(a, 0), *filled(b, 10), loop, *lengths(a, b)), DATA)
    assert found["a"][0] == 13
    assert found["b"][0] == 2


def test_a_task_is_done_when_it_is_joined():
    join = imp.Join("t", (x, a))
    again = imp.For(k, imp.ZERO, n, imp.Block((imp.Spawn("t", add(a)), join)))
    found = same(kernel(*filled(a, 1), join, again, *lengths(a)), DATA)
    assert found["a"].tolist() == [1, 6, 11, 16, 21]


@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_waits_for_its_tasks(way):
    """Whichever way it returns."""
    early = imp.Return(imp.Const(imp.NO_PLACE, "int64"))
    two = (imp.Spawn("t", add(a)), imp.Spawn("u", add(b, y)))
    stmts = (*filled(a, 1), *filled(b, 1), *lengths(a, b), *two, early)
    for _ in range(20):
        status, found = execute(kernel(*stmts), DATA, way)
        assert status == imp.NO_PLACE
        assert found["a"].tolist() == found["b"].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("stmt", [imp.Store(a, imp.ZERO, imp.ONE), imp.Swap(a, b), imp.Grow(a, n)])
def test_what_a_task_has_is_not_touched(stmt):
    spawn = imp.Spawn("t", add(a))
    with pytest.raises(InternalError, match="the task t has a"):
        execute(kernel(*filled(a, 1), *filled(b, 1), spawn, stmt), DATA, "interpret")
    with pytest.raises(InternalError, match="before it is joined"):
        execute(kernel(*filled(a, 1), spawn, imp.Spawn("t", add(b, y))), DATA, "interpret")
    with pytest.raises(InternalError, match="more than is taken back"):
        execute(kernel(*filled(a, 1), spawn, imp.Join("t", (x,))), DATA, "interpret")


def test_what_is_no_task_is_refused():
    wide = imp.Buffer("wide", "float64", growable=True)
    for stmt in (imp.Swap(a, a), imp.Swap(a, x), imp.Swap(a, wide)):
        with pytest.raises(InternalError, match="malformed imperative code"):
            check(kernel(stmt))
    with pytest.raises(InternalError, match="no codelet without a result"):
        check(kernel(imp.Spawn("t", imp.Call("sqrt", (imp.Const(1.0, "float64"),), "float64"))))


@pytest.mark.parametrize(
    "name", ["join", "spawn", "swap", "run", "grow", "resized", "madvise", "aligned_alloc", "Task"]
)
def test_a_kernel_is_named_like_what_it_needs(name):
    stmts = (*filled(a, 1), *filled(b, 2), imp.Swap(a, b), imp.Spawn("t", add(a)))
    named = replace(kernel(*stmts, imp.Join("t", (x, a)), *lengths(a, b)), name=name)
    found = same(named, DATA)
    assert found["a"].tolist() == [2, 3, 4, 5, 6]


def test_text():
    text = show(imp.Block((imp.Swap(a, b), imp.Spawn("t", add(a)), imp.Join("t", (x, a)))))
    assert "swap(a, b)" in text
    assert "spawn t: add_all(&x, &a, n, complex128(1j))" in text
    assert "join t" in text
    code = c.render(kernel(imp.Spawn("t", add(a))))
    assert "spawn_task(&t->task, run_t);" in code
    assert "pthread" not in c.render(kernel(imp.Join("t", ())))
    assert "pthread" not in llvm.render(kernel(imp.Join("t", ())))


REFUSING = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(lambda *_: 11)  # EAGAIN


def test_without_threads_it_is_done_at_once(monkeypatch):
    resolve = symbols.address_of
    refusing = ctypes.cast(REFUSING, ctypes.c_void_p).value
    monkeypatch.setattr(
        symbols, "address_of", lambda name: refusing if name == "pthread_create" else resolve(name)
    )
    stmts = (*filled(a, 1), imp.Spawn("t", add(a)), imp.Join("t", (x, a)), *lengths(a))
    status, found = execute(kernel(*stmts), DATA, "llvm")
    assert (status, found["a"].tolist()) == (imp.OK, [1, 2, 3, 4, 5])


@pytest.mark.parametrize("refused", [0, 22])
def test_a_thread_has_a_stack_of_its_own_size(refused, monkeypatch):
    """With musl it would have 128 kB; one that is refused is the usual one."""
    resolve, sizes = symbols.address_of, []
    shape = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
    real = shape(resolve("pthread_attr_setstacksize"))
    seen = shape(lambda wish, size: sizes.append(size) or refused or real(wish, size))
    at = ctypes.cast(seen, ctypes.c_void_p).value
    monkeypatch.setattr(
        symbols, "address_of", lambda n: at if n == "pthread_attr_setstacksize" else resolve(n)
    )
    stmts = (*filled(a, 1), imp.Spawn("t", add(a)), imp.Join("t", (x, a)), *lengths(a))
    status, found = execute(kernel(*stmts), DATA, "llvm")
    assert (status, found["a"].tolist()) == (imp.OK, [1, 2, 3, 4, 5])
    assert sizes == [1 << 20]


def test_room_is_not_made_ahead_for_what_is_swapped():
    """It is another buffer in the next iteration."""
    fixed = imp.Grow(a, n)
    for swapped, lifted in ((imp.Comment("none"), True), (imp.Swap(a, b), False)):
        loop = imp.For(k, imp.ZERO, n, imp.Block((fixed, swapped)))
        assert (fixed in hoist(kernel(loop)).body.stmts) == lifted
