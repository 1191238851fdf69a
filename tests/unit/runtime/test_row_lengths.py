"""Which rows are uneven, who is told, and that it is asked once: the kind of kernel follows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import linnet as ln
from linnet import target
from linnet.errors import ShapeError
from linnet.formats import row_lengths
from linnet.formats.row_lengths import EVEN, MANY, UNEVEN, kind_of_rows
from linnet.options import Options, current
from linnet.runtime.recall import KNOWN
from linnet.runtime.recalled import Recalled

COLUMNS = 50
VECTOR = ln.Dense(ln.Element(0.0))
RNG = np.random.default_rng(0)


def of_lengths(lengths, columns=COLUMNS, dtype="float64"):
    """Small whole numbers, so that sums are exact in any order; so many of them in each row."""
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    idx = (rows * 7 + np.arange(ptr[-1]) - ptr[rows]) % columns  # none twice in a row
    val = (np.arange(ptr[-1]) % 9 + 1).astype(dtype)
    A = sp.csr_array((val, idx.astype(np.int32), ptr), shape=(len(lengths), columns))
    A.sort_indices()
    return A


def spmv():
    @ln.kernel
    def spmv(y, A, x):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j] * x[j]
        return y

    return spmv


DRAWN = of_lengths(RNG.integers(0, 7, MANY + 100))
ALIKE = of_lengths(np.full(MANY + 100, 5))
SMALL = of_lengths([3, 0, 2])
X = np.arange(COLUMNS) % 5 + 1.0


def kind(lengths):
    return kind_of_rows(ln.asarray(of_lengths(np.asarray(lengths))).contents())


def test_kinds():
    n = MANY + 10
    assert kind(RNG.integers(0, 7, n)) == UNEVEN
    assert kind(RNG.poisson(3, n)) == UNEVEN
    assert kind(np.full(n, 4)) == EVEN
    assert kind(np.arange(n) % 2 * 3) == EVEN, "it comes again after two rows"
    assert kind(np.arange(n) % 4) == EVEN, "after four"
    assert kind(np.sort(RNG.integers(0, 7, n))) == EVEN, "one after the other"
    assert kind(np.where(RNG.random(n) < 0.1, 7, 4)) == EVEN, "most are"
    assert kind(RNG.integers(1, 40, n)) == EVEN, "long ones"
    assert kind(RNG.choice([2, 10, 18], n)) == EVEN, "each of another number of vectors"


def test_few_rows_are_not_looked_at():
    few, many = (ln.asarray(of_lengths(RNG.integers(0, 7, n))) for n in (MANY - 1, MANY))
    others = [few, many.to(ln.COO), ln.asarray(np.ones((MANY, 2)))]
    with mock.patch.object(row_lengths, "_is_uneven", side_effect=AssertionError):
        assert all(kind_of_rows(held.contents()) == EVEN for held in others)
    assert kind(RNG.integers(0, 7, MANY)) == UNEVEN


def test_the_kind_is_remembered_with_the_contents():
    A, y, multiply = ln.asarray(DRAWN), ln.empty_tensor(VECTOR), spmv()
    with mock.patch.object(row_lengths, "_is_uneven", wraps=row_lengths._is_uneven) as look:
        for _ in range(5):
            multiply(y, A, ln.asarray(X))
        assert np.array_equal((A @ X).to_numpy(), DRAWN @ X)
    assert look.call_count == 1


def test_memory_that_is_looked_at_stays_with_its_tensor():
    made = ln.asarray(DRAWN) * 2
    assert kind_of_rows(made.contents()) == UNEVEN
    assert not any(buffer.exported for buffer in made.contents().buffers)


@pytest.mark.skipif(not target.of(Options()).masks, reason="no sum ends under a mask")
def test_kernels_are_compiled_for_each_kind():
    multiply, y, x = spmv(), ln.empty_tensor(VECTOR), ln.asarray(X)
    both = [(A, ln.asarray(A)) for A in (SMALL, DRAWN, ALIKE)]
    for _ in range(4):
        for A, held in both:
            assert np.array_equal(multiply(y, held, x).to_numpy(), A @ X)
    kinds = sorted(entry.kinds for entry in multiply._entries.values())
    assert kinds == [(("A", EVEN),), (("A", UNEVEN),)]
    codes = [multiply.code(y, held, x) for _, held in both]
    assert codes[0] == codes[2] != codes[1]
    assert "part[" in codes[1]
    assert "part[" not in codes[0]


def test_tensors_that_change_are_looked_at_again():
    multiply, y, x = spmv(), ln.empty_tensor(VECTOR), ln.asarray(X)
    for _ in range(3):
        for A in (DRAWN, ALIKE):
            held = ln.asarray(A)
            for _ in range(3):
                assert np.array_equal(multiply(y, held, x).to_numpy(), A @ X)
            assert kind_of_rows(held.contents()) == (UNEVEN if A is DRAWN else EVEN)


def test_products_are_remembered_by_kind(tmp_path):
    """What is known for even rows is not called for uneven ones, however alike they are else."""
    drawn, alike = of_lengths(RNG.integers(3, 6, MANY)), of_lengths(np.full(MANY, 4))
    with ln.config(cache_dir=str(tmp_path / "cache")):
        for A in 3 * (drawn, alike):
            held = ln.asarray(A)
            for _ in range(3):
                assert np.array_equal((held @ X).to_numpy(), A @ X)
                assert np.array_equal(ln.einsum("ij,j->i", held, X).to_numpy(), A @ X)
        keys = [key for key in KNOWN._known if key[:2] == ("matmul", id(current()))]
    assert len(keys) == 2
    even, uneven = [KNOWN._known[key].calls[0].entry.call for key in keys]
    assert even is not uneven


def test_other_processes_find_both_kinds(tmp_path):
    with ln.config(cache_dir=str(tmp_path / "cache"), check=False):
        for round in range(2):
            multiply, y = spmv(), ln.empty_tensor(VECTOR)
            for A in (DRAWN, SMALL, ALIKE):
                assert np.array_equal(multiply(y, ln.asarray(A), ln.asarray(X)).to_numpy(), A @ X)
            found = [*multiply._entries.values()]
            assert sorted(entry.kinds for entry in found) == [(("A", EVEN),), (("A", UNEVEN),)]
            assert all(isinstance(entry, Recalled) for entry in found) == (round == 1)


def test_what_another_process_cannot_do_is_done_here(tmp_path):
    with ln.config(cache_dir=str(tmp_path / "cache"), check=False):
        for _ in range(2):
            multiply, y = spmv(), ln.empty_tensor(VECTOR)
            multiply(y, ln.asarray(SMALL), ln.asarray(X))
            with pytest.raises(ShapeError, match="x"):
                multiply(y, ln.asarray(DRAWN), ln.asarray(X[:-1]))
            assert np.array_equal(multiply(y, ln.asarray(DRAWN), X).to_numpy(), DRAWN @ X)


def test_threads():
    multiply, x = spmv(), ln.asarray(X)
    held = [(A, ln.asarray(A)) for A in (DRAWN, ALIKE, SMALL)]

    def run(k):
        A, tensor = held[k % 3]
        y = ln.empty_tensor(VECTOR)
        return np.array_equal(multiply(y, tensor, x).to_numpy(), A @ X)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(90)))


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([3, 9, 30]), st.sampled_from(["float32", "float64"]))
def test_both_kinds_agree(seed, most, dtype):
    """Rows of any lengths, with a few that no strip has room for, as one kind and as the other."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, most, rng.integers(0, 300))
    lengths[rng.random(len(lengths)) < 0.01] = 1500
    A = of_lengths(lengths, 1600, dtype)
    x = (np.arange(1600) % 5 + 1).astype(dtype)
    for rows in (EVEN, UNEVEN):
        held = ln.asarray(A)
        held.contents()._rows = rows
        y = _KERNELS[rows](ln.empty_tensor(VECTOR), held, ln.asarray(x))
        assert np.array_equal(y.to_numpy(), A @ x)


_KERNELS = {EVEN: spmv(), UNEVEN: spmv()}
