"""Memory of temporaries that a kernel keeps between calls: used again, by one call, and freed."""

import gc
import sys
import threading
from array import array

import numpy as np
import pytest

import linnet as ln
from linnet.formats.spare import LEAST, SPARE, TOGETHER, C, _oldest
from linnet.frontend.text import parse_text
from linnet.runtime import scratch as module
from linnet.runtime.handover import Result
from linnet.runtime.scratch import Scratch

TEXT = """
W = ln.temp({format})
C[...] = 0
for i in ...:
    W[...] = 0
    for k, j in ...:
        W[j] += A[i, k] * B[k, j]
    for j in ...:
        C[i, j] = W[j]
"""
WORKSPACES = [
    "ln.Dense(ln.Element(0.0))",
    "ln.SparseByteMap(ln.Element(0.0))",
    "ln.SparseHash(ln.Element(0.0))",
]


def temporary(*dtypes):
    kinds = tuple(np.dtype(dtype) for dtype in dtypes)
    return Result(None, "W", ln.DENSE(1), dtypes, kinds, None, False, False, None, [0] * len(kinds))


def block(*sizes):
    """An argument block of a number, and of arrays that have so many elements."""
    slots = [7]
    for size in sizes:
        slots += [C.malloc(8 * size), size, 0]
    return array("q", slots)


@pytest.fixture
def freed(monkeypatch):
    """The addresses that are freed by a `Scratch` or by those who keep large blocks."""
    seen = []

    def free(address):
        seen.append(address)
        C.free(address)

    gc.collect()  # what other tests have left is not freed in the middle of this one
    monkeypatch.setattr(SPARE, "_free", free)
    given = (free, SPARE.give_up_together, sys.is_finalizing)
    monkeypatch.setattr(Scratch.__del__, "__defaults__", given)
    return seen


def test_the_next_call_has_what_the_last_one_had(freed):
    kept = Scratch(((temporary("float64", "int64"), 1),))
    used = block(5, 9)
    kept.take_back(used)
    again, other = array("q", [7] + [0] * 6), array("q", [7] + [0] * 6)
    kept.lend(again)
    kept.lend(other)
    assert again == used
    assert not any(other[1:])  # a call in between finds nothing
    kept.take_back(again)
    assert not freed
    addresses = [*used[1::3]]
    del kept
    assert freed == addresses


def test_what_a_call_has_left_is_enough(freed):
    """Two calls at once: what one of them had is kept, and what the other had is freed."""
    kept = Scratch(((temporary("int64"), 1),))
    one, two = block(4), block(4)
    kept.take_back(one)
    kept.take_back(two)
    assert freed == [two[1]]


def test_numbers_between_temporaries_are_no_addresses(freed):
    kept = Scratch(((temporary("int64"), 1), (temporary("int64"), 5)))
    slots = [7, C.malloc(8), 1, 0, 12345, C.malloc(8), 1, 0]
    kept.take_back(array("q", slots))
    del kept
    assert freed == [slots[1], slots[5]]


def test_large_memory_is_left_to_all_kernels(freed):
    SPARE.drop()
    freed.clear()
    r = temporary("int64")
    kept, used = Scratch(((r, 1),)), block(TOGETHER // 8 + 1)
    kept.take_back(used)
    assert SPARE.take(TOGETHER) == (used[1], TOGETHER + 8)
    SPARE.release(used[1], TOGETHER + 8)
    again = array("q", [7, 0, 0, 0])
    kept.lend(again)
    assert again[1] == used[1]
    kept.take_back(again)
    SPARE.drop()
    assert freed == [used[1]]


def test_the_next_call_has_the_same_arrays_if_they_are_not_small(freed):
    """Those of one call, all of them, though there are others that would do."""
    SPARE.drop()
    freed.clear()
    kept = Scratch(((temporary("int64", "int64"), 1),))
    used, other = block(LEAST, 3), C.malloc(8 * LEAST)
    kept.take_back(used)
    SPARE.release(other, 8 * LEAST)
    again, none = array("q", [7] + [0] * 6), array("q", [7] + [0] * 6)
    kept.lend(again)
    kept.lend(none)
    assert again == used
    assert not any(none[1:])
    kept.take_back(again)
    addresses = [*used[1::3]]
    del kept
    assert freed == addresses


def test_such_arrays_are_freed_when_memory_is_short(freed):
    SPARE.drop()
    freed.clear()
    kept, used = Scratch(((temporary("int64"), 1),)), block(LEAST)
    kept.take_back(used)
    assert used[1] in SPARE.kept()
    assert SPARE.drop()
    assert freed == [used[1]]
    again = array("q", [7, 0, 0, 0])
    kept.lend(again)
    assert not any(again[1:])


def test_there_is_an_end_to_what_is_kept_for_all_kernels_together(freed):
    SPARE.drop()
    freed.clear()
    kernels, used = [], []
    for _ in range(5):
        kernels.append(Scratch(((temporary("int64"), 1),)))
        used.append(block(TOGETHER // 16))
        kernels[-1].take_back(used[-1])
    assert freed == [used[0][1]]  # the oldest
    kernels.clear()
    assert sorted(freed) == sorted(b[1] for b in used)


def test_kernels_that_are_collected_meanwhile_are_no_error():
    """What they have kept goes while the oldest are looked for."""
    kept = {((k, LEAST),): LEAST for k in range(1, 200)}
    left = iter(list(kept))

    class Gone:
        def __init__(self):
            self.itself = self  # found by the collector alone

        def __del__(self):
            kept.pop(next(left, None), None)
            if kept:
                Gone()

    before = gc.get_threshold()
    Gone()
    gc.set_threshold(1)
    try:
        found = _oldest(kept, 0)
    finally:
        gc.set_threshold(*before)
        kept.clear()
        gc.collect()
    assert found


def test_of_two_calls_at_once_one_leaves_such_arrays(freed):
    SPARE.drop()
    kept, one, two = Scratch(((temporary("int64"), 1),)), block(LEAST), block(LEAST)
    kept.take_back(one)
    kept.take_back(two)
    assert list(SPARE.together) == [((one[1], 8 * LEAST),)]
    assert two[1] in SPARE.kept()  # as one block, for anybody


def test_what_failed_is_not_kept(freed):
    """A kernel that cannot make memory says how much it wanted: the next call is not told."""
    kept, used = Scratch(((temporary("int64"), 1),)), block(4)
    used[3] = 1 << 40
    kept.take_back(used)
    assert freed == [used[1]]


@pytest.mark.parametrize("format", WORKSPACES)
def test_results_do_not_depend_on_what_is_left(format):
    """Rows of other lengths, sizes that alternate: nothing of the last call is seen."""
    rng = np.random.default_rng(0)
    kernel = ln.Kernel(parse_text(TEXT.format(format=format)))
    out = ln.empty_tensor(ln.CSR)
    for step in range(12):
        n = (3, 40, 7)[step % 3]
        a, b = ((rng.random((n, n)) < 0.3) * rng.integers(1, 9, (n, n)) * 1.0 for _ in range(2))
        kernel(out, ln.asarray(a).to(ln.CSR), ln.asarray(b).to(ln.CSR))
        np.testing.assert_array_equal(out.to_numpy(), a @ b)


def test_threads_that_call_one_kernel_have_memory_of_their_own():
    kernel = ln.Kernel(parse_text(TEXT.format(format=WORKSPACES[1])))
    a = np.eye(60) + np.eye(60, k=3)
    A, wrong = ln.asarray(a).to(ln.CSR), []

    def work():
        out = ln.empty_tensor(ln.CSR)
        for _ in range(200):
            if not np.array_equal(kernel(out, A, A).to_numpy(), a @ a):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_kernel_that_is_gone_has_freed_it(monkeypatch):
    left = []
    end = Scratch.__del__

    def gone(scratch):
        left.append(len(scratch._left))
        end(scratch)

    monkeypatch.setattr(module.Scratch, "__del__", gone)
    kernel = ln.Kernel(parse_text(TEXT.format(format=WORKSPACES[0])))
    A = ln.asarray(np.eye(5)).to(ln.CSR)
    kernel(ln.empty_tensor(ln.CSR), A, A)
    del kernel
    gc.collect()
    assert 1 in left


def test_arrays_that_change_places_in_every_call_are_looked_at_twice(monkeypatch):
    """After an odd number of exchanges the memory of two arrays comes back the other way round."""
    asked = []
    fit = Scratch._fit
    monkeypatch.setattr(Scratch, "_fit", lambda self, s: asked.append(s) or fit(self, s))
    scratch = Scratch(((temporary("int64", "int64"), 1),))
    memory = block(2, 3)
    exchanged = array("q", [memory[0], *memory[4:], *memory[1:4]])
    for call in range(6):
        scratch.take_back((memory, exchanged)[call % 2])
        scratch.lend(array("q", [0] * len(memory)))
    assert len(asked) == 2
    C.free(memory[1])
    C.free(memory[4])


def test_at_exit_nothing_is_asked_of_modules_that_may_be_cleared(freed):
    scratch = Scratch(((temporary("int64"), 1),))
    memory = block(LEAST)
    scratch.take_back(memory)
    asked = []
    scratch.__del__(freed.append, asked.append, lambda: True)
    assert not asked
    scratch.__del__(freed.append, asked.append, lambda: False)
    assert asked == [[((memory[1], memory[2] * 8),)]]
