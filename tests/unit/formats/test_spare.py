"""Memory of results that are gone serves the next: never two at once, and never without end."""

import ctypes
import gc
import threading

import numpy as np
import pytest

import linnet as ln
from linnet.formats.spare import LARGE, LEAST, MOST, OFFERED, SPARE, C, Spare


@ln.kernel
def double(B, A):
    B[...] = 0
    for i, j in ...:
        B[i, j] = A[i, j] * 2
    return B


@ln.kernel
def add(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]
    return C


@ln.kernel
def transpose(B, A):
    B[...] = 0
    for i, j in ...:
        B[j, i] = A[i, j]
    return B


def block(spare, nbytes):
    address = C.malloc(nbytes)
    spare.release(address, nbytes)
    return address


def matrix(n=20_000):
    rows = np.arange(n)
    return ln.tensor([rows, rows], rows + 1.0, (n, n), format=ln.CSR)


def test_a_block_that_fits_is_used_again():
    spare = Spare()
    address = block(spare, LEAST)
    assert spare.take(LEAST + 1) == (0, 0)
    assert spare.take(LEAST // 2) == (0, 0)  # too large: more than half of it would lie idle
    assert spare.take(LEAST - 8) == (address, LEAST)
    assert spare.take(LEAST - 8) == (0, 0)
    C.free(address)


def test_the_smallest_block_that_fits_is_taken():
    """So that one that is a little larger is left for who needs it."""
    spare = Spare()
    small, first, large, last = (block(spare, n * LEAST) for n in (2, 3, 5, 3))
    assert spare.take(3 * LEAST - 8) == (last, 3 * LEAST)
    assert spare.take(3 * LEAST - 8) == (first, 3 * LEAST)
    assert spare.take(3 * LEAST - 8) == (large, 5 * LEAST)
    assert spare.take(LEAST + 8) == (small, 2 * LEAST)
    for address in (small, first, large, last):
        C.free(address)


def test_what_is_kept_is_bounded():
    spare = Spare()
    for _ in range(10):
        block(spare, MOST // 5)
    assert sum(spare.kept().values()) == MOST // 5 * 5
    for _ in range(100):
        block(spare, LEAST)
    assert 0 < len(spare.kept()) < 100
    block(spare, LEAST - 1)
    block(spare, max(MOST, OFFERED) + 1)
    assert set(spare.kept().values()) == {LEAST}
    assert spare.drop()
    assert not spare.drop()
    assert spare.kept() == {}


@pytest.mark.skipif(not OFFERED, reason="memory cannot be offered to this system")
def test_large_blocks_are_kept_beside_small_ones():
    """Nobody writes to them here, so that they take no memory."""
    spare = Spare()
    small, half = block(spare, LEAST), OFFERED // 2 - 1
    large = [block(spare, half) for _ in range(3)]
    # the first large one is freed, the small one is not
    assert spare.kept() == {small: LEAST, large[1]: half, large[2]: half}
    assert spare.take(half) == (large[2], half)
    assert spare.kept() == {small: LEAST, large[1]: half}
    C.free(large[2])
    spare.drop()


@pytest.mark.skipif(not OFFERED, reason="memory cannot be offered to this system")
def test_what_is_on_offer_can_be_written_again():
    """Its pages are as they were, or new; what `malloc` keeps in front of them is untouched."""
    spare, n = Spare(), LARGE // 8
    address = C.malloc(LARGE)
    array = np.ctypeslib.as_array((ctypes.c_int64 * n).from_address(address))
    array[:] = 1
    spare.release(address, LARGE)
    assert spare.take(LARGE) == (address, LARGE)
    array[:] = np.arange(n)
    np.testing.assert_array_equal(array, np.arange(n))
    C.free(address)  # which finds its size in front of it


def test_where_nothing_can_be_offered_large_blocks_count_as_small_ones(monkeypatch):
    monkeypatch.setattr("linnet.formats.spare.OFFERED", 0)
    spare = Spare()
    for _ in range(6):
        block(spare, LARGE)
    block(spare, MOST + 1)
    assert list(spare.kept().values()) == [LARGE] * (MOST // LARGE)
    spare.drop()


@pytest.fixture(autouse=True)
def nothing_kept():
    """Neither what is there nor what the collector would release in the middle of a test."""
    gc.collect()
    SPARE.drop()
    yield
    SPARE.drop()


def test_a_new_result_takes_the_memory_of_one_that_is_gone():
    SPARE.drop()
    A, B = matrix(), double(ln.empty_tensor(ln.CSR), matrix())
    addresses = {buffer.address for buffer in B.contents().buffers}
    del B
    gc.collect()
    B = double(ln.empty_tensor(ln.CSR), A)
    assert addresses == {buffer.address for buffer in B.contents().buffers}
    np.testing.assert_array_equal(B.buffers["val"], 2 * A.buffers["val"])


def test_what_would_have_to_grow_again_is_not_kept():
    """Room is made for all entries of both, and half of it is given back: that would not do."""
    SPARE.drop()
    A = matrix()
    for _ in range(4):
        C = add(ln.empty_tensor(ln.CSR), A, A)
        val = C.contents().buffers[-1]
        assert val.capacity == val.length == 20_000
        address = val.address
        np.testing.assert_array_equal(C.buffers["val"], 2 * A.buffers["val"])
        del C, val
        gc.collect()
    assert address not in SPARE.kept()


def test_what_was_grown_by_and_by_and_cut_to_size_is_kept():
    """A product makes room as it needs it: what its last result took is enough for the next."""
    SPARE.drop()
    A = matrix(9_000)
    ones = np.ones((9_000, 8))
    for _ in range(6):  # after a while it is called by a shorter way, which has to learn it, too
        gc.collect()
        kept = set(SPARE.kept())
        C = ln.matmul(A, ln.asarray(ones, format=ln.CSR))
        found = C.contents().buffers[-1].address
        del C
    assert found in kept


def test_small_results_after_a_large_one_find_memory_again():
    """The large block is cut to size; then one is made that the kernel need not grow, and kept."""
    SPARE.drop()
    A = matrix()
    transpose(ln.empty_tensor(ln.CSR), matrix(90_000))
    for _ in range(5):
        gc.collect()
        kept = set(SPARE.kept())
        B = transpose(ln.empty_tensor(ln.CSR), A)
        found = {buffer.address for buffer in B.contents().buffers}
        del B
    assert found <= kept


def test_memory_that_is_seen_is_not_used_again():
    A, B = matrix(), double(ln.empty_tensor(ln.CSR), matrix())
    seen = B.buffers["val"]
    before = seen.copy()
    del B
    gc.collect()
    for _ in range(3):
        double(ln.empty_tensor(ln.CSR), ln.asarray(A.to_scipy() * 7))
    np.testing.assert_array_equal(seen, before)


def test_results_of_many_sizes_in_many_threads():
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(30):
            A = matrix(int(rng.integers(5_000, 30_000)))
            B, D = (double(ln.empty_tensor(ln.CSR), A) for _ in range(2))
            for result in (B, D):
                if not np.array_equal(result.buffers["val"], 2 * A.buffers["val"]):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_spare_memory_is_given_up_before_memory_is_said_to_be_short(monkeypatch):
    """The first attempt fails; the second finds nothing kept, and succeeds."""
    A = matrix()
    double(ln.empty_tensor(ln.CSR), A)
    ((key, entry),) = double._entries.items()
    gc.collect()
    block(SPARE, LEAST)
    statuses = []

    def call(address, run=entry.call):
        statuses.append(1 if SPARE.kept() else run(address))
        return statuses[-1]

    monkeypatch.setitem(double._entries, key, entry._replace(call=call))
    block(SPARE, 2 * LEAST)
    block(SPARE, 4 * LEAST)
    B = double(ln.empty_tensor(ln.CSR), A)
    assert statuses == [1, 0]
    np.testing.assert_array_equal(B.buffers["val"], 2 * A.buffers["val"])
