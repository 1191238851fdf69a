"""A kernel called again with the same tensors does the same as in the general way, and no less."""

from __future__ import annotations

import ctypes
import gc
import itertools
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.robustness.interrupts import interrupted

import linnet as ln
from linnet.formats.away import TAKEN
from linnet.formats.buffers import Memory
from linnet.formats.contents import let_go
from linnet.formats.spare import SPARE, C
from linnet.runtime import jump as jumps
from linnet.runtime import repeat as module
from linnet.runtime import repeats
from linnet.runtime.scratch import LITTLE, Scratch

pytestmark = pytest.mark.skipif(
    not repeats.MAY_BE, reason="calls are not repeated where interrupts may come anywhere"
)
VECTOR = ln.Dense(ln.Element(0.0))
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@pytest.fixture(params=["code", "python"], autouse=True)
def way(request, monkeypatch):
    """Calls are repeated by machine code, or by what stands in for it where there is none."""
    if request.param == "code":
        assert jumps._method() is not None
        monkeypatch.setattr(module, "MANY", 1)
    return request.param


def by_rows(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


def sums(r, c, A):
    r[...] = 0
    c[...] = 0
    for i, j in ...:
        r[i] += A[i, j]
        c[j] += A[i, j]
    return r, c


def added(y, x):
    for i in ...:
        y[i] += x[i]
    return y


def chosen(B, A, x):
    B[...] = 0
    for i, j in ...:
        B[i, j] = A[i, j] * x[j]
    return B


def product(B, A):
    W = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    B[...] = 0
    for i in ...:
        W[...] = 0
        for k, j in ...:
            W[j] += A[i, k] * A[k, j]
        for j in ...:
            B[i, j] = W[j]
    return B


def matrix(n=6, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, n)) < 0.5, rng.integers(1, 9, (n, n)), 0).astype(float)


def repeated(kernel, *tensors):
    """The call that a kernel remembers, once it has been called a few times with these tensors."""
    for _ in range(5):
        kernel(*tensors)
    return kernel._repeats._known[tuple(map(id, tensors))]


def replaced(remembered, run):
    """Let a remembered call run something else: a function of the address of its block."""
    remembered.call = CALLBACK(run)
    if remembered.jump is not module.not_yet:
        remembered.jump = jumps.jump(remembered)


def called(remembered, *tensors):
    """What a call gives that is repeated, in one way or the other, or `NotImplemented`."""
    if remembered.jump is not module.not_yet:
        return remembered.jump(*tensors)
    return remembered.again(tensors) if len(tensors) == remembered.count else NotImplemented


@pytest.fixture
def spmv():
    """A kernel that remembers a product, its tensors, and what the product is."""
    a, x = matrix(), np.arange(6.0)
    kernel = ln.kernel(by_rows)
    tensors = ln.empty_tensor(VECTOR), ln.asarray(a, format=ln.CSR), ln.asarray(x)
    assert repeated(kernel, *tensors) is not None
    return kernel, tensors, a, x


def test_the_general_way_is_not_gone(spmv, monkeypatch):
    kernel, (y, A, x), a, b = spmv
    monkeypatch.setattr(type(kernel), "_call", None)
    contents = y._contents
    assert kernel(y, A, x) is y
    assert y._contents is contents
    np.testing.assert_array_equal(y.to_numpy(), a @ b)


def test_what_an_operand_holds_changes(spmv):
    kernel, (y, A, x), a, b = spmv
    copy = ln.kernel(added)
    w = ln.empty_tensor(VECTOR)
    for _ in range(4):  # `w` is written where it was, and then somewhere else
        kernel(w, A, x)
        kernel(y, A, w)
        np.testing.assert_array_equal(ln.asarray(y).to_numpy(), a @ (a @ b))
    copy(x, ln.asarray(np.ones(6)))
    for _ in range(4):
        kernel(y, A, x)
        np.testing.assert_array_equal(y.to_numpy(), a @ (b + 1))


def test_results_that_were_seen_stay_as_they_are(spmv):
    kernel, (y, A, x), a, b = spmv
    seen = y.to_numpy()
    add, ones = ln.kernel(added), ln.asarray(np.ones(6))
    for k in range(1, 8):
        add(x, ones)
        kernel(y, A, x)
        np.testing.assert_array_equal(seen, a @ b)
        np.testing.assert_array_equal(y.copy().to_numpy(), a @ (b + k))


def test_results_that_are_being_looked_at_can_be(spmv, monkeypatch):
    """A repeated call takes them before it sees that somebody has them, and gives them back."""
    kernel, (y, A, x), a, b = spmv
    contents, end, seen = y.shared(), module.Repeat._end, []

    def looked_at(*given):
        seen.append((contents.lent, contents.arrays()[0].tolist()))
        end(*given)

    monkeypatch.setattr(module.Repeat, "_end", looked_at)
    kernel(y, A, x)
    assert seen[0] == (True, (a @ b).tolist())  # machine code has seen it before, and left it alone
    assert not contents.lent


def test_results_that_somebody_reads_are_written_elsewhere(spmv):
    kernel, (y, A, x), _, _ = spmv
    contents, held = y.contents(), []
    y.pin(held, sys._getframe())
    kernel(y, A, x)
    assert y._contents is not contents
    assert not contents.lent
    let_go(held, sys._getframe())


def test_loops_that_swap_tensors():
    a, x = matrix(), np.arange(6.0)
    kernel, A = ln.kernel(by_rows), ln.asarray(a, format=ln.CSR)
    p, q = (ln.kernel(added)(ln.asarray(x), ln.asarray(x)) for _ in range(2))
    expected = 2 * x
    for _ in range(12):
        kernel(q, A, p)
        expected = a @ expected
        p, q = q, p
    np.testing.assert_allclose(p.to_numpy(), expected)
    assert len(kernel._repeats._known) == 2


def test_several_results():
    a = matrix()
    kernel, A = ln.kernel(sums), ln.asarray(a, format=ln.CSR)
    r, c = ln.empty_tensor(VECTOR), ln.empty_tensor(VECTOR)
    assert repeated(kernel, r, c, A) is not None
    found = kernel(r, c, A)
    assert found[0] is r
    assert found[1] is c
    np.testing.assert_array_equal(r.to_numpy(), a.sum(1))
    np.testing.assert_array_equal(c.to_numpy(), a.sum(0))
    with pytest.raises(ln.errors.ArgumentError, match="one tensor"):
        kernel(r, r, A)


def test_updates_in_place():
    y, x = ln.asarray(np.zeros(5)), ln.asarray(np.arange(5.0))
    kernel = ln.kernel(added)
    assert repeated(kernel, y, x) is not None
    where = y._contents
    for _ in range(6):
        kernel(y, x)
    assert y._contents is where
    np.testing.assert_array_equal(y.to_numpy(), 11 * np.arange(5.0))


def test_an_operand_that_is_the_result():
    y = ln.kernel(added)(ln.asarray(np.zeros(5)), ln.asarray(np.ones(5)))
    kernel = ln.kernel(added)
    for k in range(1, 8):
        kernel(y, y)
        np.testing.assert_array_equal(y.copy().to_numpy(), np.full(5, 2.0**k))


@pytest.mark.parametrize("x", [np.ones(6), np.zeros(6)], ids=["some", "none"])
def test_sparse_results(x):
    """What they store may be nothing, in no memory."""
    a = matrix()
    kernel, A, B = ln.kernel(chosen), ln.asarray(a, format=ln.CSR), ln.empty_tensor(ln.CSR)
    given = ln.asarray(x, format=ln.SparseList(ln.Element(0.0)))
    assert repeated(kernel, B, A, given) is not None
    kernel(B, A, given)
    np.testing.assert_array_equal(B.to_numpy(), a * x)


@pytest.mark.parametrize("n", [6, LITTLE // 4], ids=["small", "large"])
def test_temporaries(n):
    """Small ones stay in the block; the memory of large ones may be freed between calls."""
    a = matrix(n) if n < 10 else np.eye(1)
    kernel, B = ln.kernel(product), ln.empty_tensor(ln.CSR)
    A = ln.asarray(a, format=ln.CSR)
    if n > 10:
        A = ln.tensor(np.stack([np.arange(n)] * 2), np.full(n, 3.0), (n, n), format=ln.CSR)
    remembered = repeated(kernel, B, A)
    assert remembered.scratch.stays == (n < 10)
    for _ in range(3):
        SPARE.drop()
        kernel(B, A)
        values = B.copy()
        if n > 10:
            assert values.nnz == n
            assert set(values.data.tolist()) == {9.0}
        else:
            np.testing.assert_array_equal(values.to_numpy(), a @ a)


def test_the_memory_of_temporaries_is_freed(monkeypatch):
    seen = []

    def free(address):
        seen.append(address)
        C.free(address)

    kernel, B, A = ln.kernel(product), ln.empty_tensor(ln.CSR), ln.asarray(matrix(), format=ln.CSR)
    remembered = repeated(kernel, B, A)
    r, at = remembered.scratch.temporaries[0]
    held = {remembered.block[at + 3 * k] for k in range(len(r.kinds))} - {0}
    assert held
    given = (free, SPARE.give_up_together, sys.is_finalizing)
    monkeypatch.setattr(Scratch.__del__, "__defaults__", given)
    del kernel, remembered
    gc.collect()
    freed = [address for address in seen if address]
    assert held <= {*freed}
    assert len(freed) == len({*freed})


def test_no_memory_of_a_user_is_kept(spmv):
    kernel, (y, A, _), _, _ = spmv
    values = np.arange(6.0)
    given = ln.asarray(values)
    assert repeated(kernel, y, A, given) is not None
    gone = [weakref.ref(values), weakref.ref(given)]
    del values, given
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_other_objects_in_the_places_of_tensors(spmv):
    kernel, (y, A, x), _, _ = spmv
    others = ln.asarray(np.ones(6))
    assert called(kernel._repeats.latest, y, A, np.ones(6)) is NotImplemented
    assert called(kernel._repeats.latest, np.ones(6), A, x) is NotImplemented
    assert called(kernel._repeats.latest, y, A, others) is NotImplemented
    assert called(kernel._repeats.latest, y, A, x, x) is NotImplemented
    assert called(kernel._repeats.latest, y, A) is NotImplemented
    assert called(kernel._repeats.latest) is NotImplemented
    assert called(kernel._repeats.latest, ln.empty_tensor(VECTOR), A, x) is NotImplemented
    assert [t._contents.pins for t in (y, A, x)] == [{}, {}, {}]
    assert not TAKEN
    assert called(kernel._repeats.latest, y, A, x) is y


def test_tensors_without_contents(spmv):
    kernel, (y, A, x), _, _ = spmv
    contents, x._contents = x._contents, None
    assert called(kernel._repeats.latest, y, A, x) is NotImplemented
    del x._contents
    assert called(kernel._repeats.latest, y, A, x) is NotImplemented
    assert [t._contents.pins for t in (y, A)] == [{}, {}]
    assert not TAKEN
    x._contents = contents
    assert called(kernel._repeats.latest, y, A, x) is y


def counts(*tensors):
    """How many references there are to tensors, and to what they hold."""
    parts = [part for t in tensors for part in (t, t._contents)]
    return [sys.getrefcount(part) for part in parts]


def test_references_are_given_back(spmv):
    """Whether a call is made or not."""
    kernel, (y, A, x), _, _ = spmv
    before = counts(y, A, x)
    for _ in range(100):
        assert called(kernel._repeats.latest, y, A, x) is y
        assert called(kernel._repeats.latest, y, A, A) is NotImplemented
        y._contents.pins["a reader"] = None
        assert called(kernel._repeats.latest, y, A, x) is NotImplemented
        y._contents.pins.clear()
    assert counts(y, A, x) == before


@pytest.mark.parametrize("status", [0, 1], ids=["moves", "fails"])
def test_references_are_given_back_by_a_kernel_that(spmv, status):
    kernel, (y, A, x), _, _ = spmv

    def differs(block):
        if not status:
            remembered.block[remembered.writes[0][2] + 2] = 1  # the length of the result
        return status

    before = counts(A, x)
    for _ in range(50):
        remembered = repeated(kernel, y, A, x)
        replaced(remembered, differs)
        assert called(kernel._repeats.latest, y, A, x) is (NotImplemented if status else y)
        y = ln.empty_tensor(VECTOR)
    gc.collect()
    assert counts(A, x) == before


@pytest.mark.parametrize("way", ["python"], indirect=True)
@pytest.mark.parametrize("calls", ["code", "a function of Python", "no method"])
def test_machine_code_is_made_after_many_calls(spmv, monkeypatch, calls):
    kernel, (y, A, x), a, b = spmv
    monkeypatch.setattr(module, "MANY", 20)
    remembered, call = kernel._repeats.latest, kernel._repeats.latest.call
    if calls == "a function of Python":
        remembered.call = lambda block: call(block)
    if calls == "no method":
        monkeypatch.setattr(jumps, "_method", lambda: None)
    for _ in range(10):
        kernel(y, A, x)
        assert remembered.jump is module.not_yet
    for _ in range(60):
        assert kernel(y, A, x) is y
    assert (remembered.jump is module.not_yet) == (calls != "code")
    assert kernel._repeats.latest is remembered
    np.testing.assert_array_equal(y.to_numpy(), a @ b)


def test_a_kernel_that_fails_is_left_to_the_general_way(spmv):
    kernel, (y, A, x), a, b = spmv
    replaced(kernel._repeats.latest, lambda block: 1)
    assert called(kernel._repeats.latest, y, A, x) is NotImplemented
    assert not TAKEN
    assert kernel(y, A, x) is y
    np.testing.assert_array_equal(y.to_numpy(), a @ b)


def test_memory_that_the_kernel_moves_is_the_tensors(spmv):
    kernel, (y, A, x), a, b = spmv
    remembered, before = kernel._repeats.latest, y._contents
    call, at = remembered.call, remembered.writes[0][2]

    def moving(block):
        status = call(block)
        capacity = 1 << 16
        address = C.realloc(remembered.block[at], 8 * capacity)
        remembered.block[at], remembered.block[at + 1] = address, capacity
        return status

    replaced(remembered, moving)
    assert called(kernel._repeats.latest, y, A, x) is y
    assert y._contents is not before
    np.testing.assert_array_equal(y.to_numpy(), a @ b)
    assert not TAKEN


def test_other_options_are_another_kernel(spmv):
    kernel, (y, A, x), a, b = spmv
    with ln.config(cache_limit=1 << 20):
        kernel(y, A, x)
        np.testing.assert_array_equal(y.to_numpy(), a @ b)
    assert len(kernel._entries) == 2


def test_threads_with_one_result_and_with_their_own(spmv):
    kernel, (y, A, x), a, b = spmv

    def work(k):
        mine = ln.empty_tensor(VECTOR)
        for _ in range(300):
            kernel(y, A, x)
            kernel(mine, A, x)
        return np.array_equal(mine.to_numpy(), a @ b) and np.array_equal(y.to_numpy(), a @ b)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert not TAKEN


# Python looks for interrupts after calls and in loops: none comes before these lines.
NEVER = (
    "try:", "tensor._contents, contents.lent =", "held[k] = contents", "held[k] = None",
)  # fmt: skip


@pytest.mark.parametrize("way", ["python"], indirect=True)
def test_an_interrupt_at_any_line(spmv):
    """No tensor waits for anybody, nothing stays lent, and later calls are right."""
    kernel, (y, A, x), a, b = spmv
    gc.disable()
    try:
        for number in itertools.count(1):
            assert repeated(kernel, y, A, x) is not None
            stopped = interrupted(module, lambda: kernel(y, A, x), number, NEVER)
            assert not TAKEN
            assert y._contents is None or not y._contents.lent
            assert not A._contents.pins
            assert not x._contents.pins
            if not stopped:
                break
            kernel(y, A, x)
            np.testing.assert_array_equal(y.copy().to_numpy(), a @ b)
    finally:
        gc.enable()
    assert number > 40


def moving(remembered, gone):
    """A kernel that writes its result elsewhere; where it was is `gone`, and nobody's."""
    call, at, capacity = remembered.call, remembered.writes[0][2], 1 << 10

    def run(block):
        status = call(block)
        old, new = remembered.block[at], C.malloc(8 * capacity)
        ctypes.memmove(new, old, 8 * remembered.block[at + 2])
        gone.append(old)
        remembered.block[at], remembered.block[at + 1] = new, capacity
        return status

    return run


def test_an_interrupt_where_the_kernel_has_moved_its_result(spmv, monkeypatch, way):
    """What the kernel has freed is not freed again."""
    kernel, (y, A, x), a, b = spmv
    gone, freed = [], []
    _, _, least = Memory.__del__.__defaults__
    monkeypatch.setattr(Memory.__del__, "__defaults__", (None, freed.append, least))
    for number in itertools.count(1):
        remembered = repeated(kernel, y, A, x)
        replaced(remembered, moving(remembered, gone))
        if not interrupted(module, lambda: kernel(y, A, x), number, NEVER):
            break
        assert not TAKEN
        assert not A._contents.pins
        assert not x._contents.pins
        kernel(y, A, x)
        np.testing.assert_array_equal(y.copy().to_numpy(), a @ b)
    assert number > (40 if way == "python" else 15)
    assert gone
    assert not {*gone} & {*freed}
    for address in {*gone, *freed}:
        C.free(address)
