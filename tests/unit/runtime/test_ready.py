"""An operation that was done before is one call of a kernel, and gives what it gave at first."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from tests.api.operands import MATRIX_FORMATS
from tests.robustness.kernels import accumulate
from tests.unit.backend.harness import needs_cc
from tests.unit.runtime.operations import (
    OPERATIONS,
    break_down,
    forget,
    known,
    operands,
    told,
    values,
)

import linnet as ln
from linnet.errors import ShapeError
from linnet.runtime import recall

FORMATS = MATRIX_FORMATS | {"blocks": ln.BSR(2, 2)}


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch):
    """Every test begins as a process does."""
    forget(monkeypatch)


CASES = [(format, 0, "float64") for format in FORMATS]
CASES += [("csr", 2, "float64"), ("coo", 2, "float64"), ("csr", 0, "int32"), ("dense", 0, "int8")]


@pytest.mark.parametrize(("format", "fill", "dtype"), CASES, ids=str)
def test_again_and_in_another_process(format, fill, dtype, monkeypatch):
    a, b, x = operands(FORMATS[format], fill, dtype)
    first = {name: told(run(a, b, x)) for name, run in OPERATIONS.items()}
    assert known()
    assert {name: told(run(a, b, x)) for name, run in OPERATIONS.items()} == first
    forget(monkeypatch)
    assert {name: told(run(a, b, x)) for name, run in OPERATIONS.items()} == first


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "divide"])
def test_other_sizes(name):
    run = OPERATIONS[name]
    for size in (4, 7, 4, 70, 3):
        a, b, x = operands(ln.CSR, 0, "float64", size)
        expected = run(a.to_numpy(), b.to_numpy(), x)
        np.testing.assert_allclose(run(a, b, x).to_numpy(), expected)


def test_what_is_asked_for_most_is_ready():
    a, b, x = operands(ln.CSR, 0, "float64")
    for name in ("add", "negative", "vector", "sum", "sum of columns", "max", "rows", "both"):
        before = len(known())
        OPERATIONS[name](a, b, x)
        assert len(known()) == before + 1, name


@pytest.mark.parametrize("format", [ln.COO, ln.DCSR, ln.CSC], ids=repr)
def test_slices_of_what_is_listed_are_ready(format):
    a, b, x = operands(format, 0, "float64")
    for name in ("rows", "both"):
        before = len(known())
        expected = OPERATIONS[name](a.to_numpy(), b.to_numpy(), x)
        for _ in range(2):
            np.testing.assert_array_equal(OPERATIONS[name](a, b, x).to_numpy(), expected)
        assert len(known()) == before + 1, name


TARGETS = [ln.CSR, ln.CSC, ln.COO(2), ln.DENSE(2), ln.DCSR, ln.BSR(2, 2), ln.RLE]


@pytest.mark.parametrize(("format", "fill", "dtype"), CASES, ids=str)
def test_conversions_again_and_in_another_process(format, fill, dtype, monkeypatch):
    a, _, _ = operands(FORMATS[format], fill, dtype)
    larger, _, _ = operands(FORMATS[format], fill, dtype, 70)
    dense = [values((size, size), 1, fill, dtype) for size in (4, 70)]
    targets = [target for target in TARGETS if target is not ln.RLE or fill == 0]
    first = [told(a.to(target)) for target in targets]
    assert known(conversions=True)
    assert [told(a.to(target)) for target in targets] == first
    forget(monkeypatch)
    assert [told(a.to(target)) for target in targets] == first
    for target in targets:
        for tensor, expected in zip((a, larger), dense, strict=True):
            np.testing.assert_array_equal(tensor.to(target).to_numpy(), expected)


def test_conversions_of_many_entries_are_others():
    """They are sorted, where those of few are copied by a kernel."""
    for size in (4, 200, 4, 200):
        dense = values((size, size))
        assert (ln.asarray(dense, format=ln.CSR).to(ln.DCSC).to_numpy() == dense).all()
    named = [key for key in recall.KNOWN._known if key[0] == "to" and key[4] == "DCSC"]
    assert {key[-1] for key in named} == {False, True}


def test_names_of_formats_are_those_that_are_asked_for(monkeypatch):
    a, _, _ = operands(ln.CSR, 0, "float64")
    named = [ln.Format(ln.CSC.levels, ln.CSC.order, name) for name in ("first", "second")]
    for _ in range(2):
        assert [a.to(each).format.name for each in named] == ["first", "second"]
        forget(monkeypatch)


def test_functions_of_users_are_not_taken_for_others():
    @ln.function
    def sqrt(x):
        return x + 1.0

    a, _, _ = operands(ln.DENSE(2), 0, "float64")
    root = ln.sqrt(a).to_numpy()
    assert (sqrt(a).to_numpy() == a.to_numpy() + 1).all()
    assert (ln.sqrt(a).to_numpy() == root).all()
    assert (root == np.sqrt(a.to_numpy())).all()


def test_a_copy_is_another_operand():
    a, b, _ = operands(ln.CSR, 0, "float64")
    a + ln.asarray(a, copy=False)
    a + a.permute((0, 1))  # the same memory
    np.testing.assert_array_equal((a + b).to_numpy(), a.to_numpy() + b.to_numpy())
    np.testing.assert_array_equal((b + a).to_numpy(), a.to_numpy() + b.to_numpy())


def test_sizes_that_do_not_fit_are_told_as_at_first():
    a, b, x = operands(ln.CSR, 0, "float64")
    wide = ln.asarray(values((4, 5)), format="csr")
    for run in (lambda: a @ x[:3], lambda: a @ wide.T, lambda: a + wide, lambda: wide @ wide):
        with pytest.raises(ShapeError) as before:
            run()
        _ = a @ x, a @ b, a + b, wide @ wide.T
        with pytest.raises(ShapeError) as after:
            run()
        assert str(after.value) == str(before.value)


def test_arrays_of_numpy_as_they_lie():
    a, _, x = operands(ln.CSR, 0, "float64")
    expected = a.to_numpy() @ x
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64)
    others = [x.copy(), np.repeat(x, 2)[::2], x.astype(">f8"), x[::-1].copy()[::-1], unaligned]
    for other in [*others, *others]:
        np.testing.assert_array_equal((a @ other).to_numpy(), expected)
    assert (a @ x.astype("float32")).dtype == np.float64
    assert (a @ x.astype("complex64")).dtype == np.complex128
    wide = np.asfortranarray(values((4, 3), 5))
    for _ in range(2):
        np.testing.assert_array_equal((a @ wide).to_numpy(), a.to_numpy() @ wide)


def test_an_array_that_is_changed_is_read_again():
    a, _, x = operands(ln.CSR, 0, "float64")
    for k in range(4):
        x[:] = k
        np.testing.assert_array_equal((a @ x).to_numpy(), a.to_numpy() @ x)


def test_results_share_nothing():
    a, _, x = operands(ln.CSR, 0, "float64")
    results = [(a @ x).to_numpy() for _ in range(4)]
    assert not any(np.shares_memory(results[0], other) for other in results[1:])
    with pytest.raises(ValueError, match="read-only"):
        results[-1][0] = 1
    y = a @ x
    accumulate(y, ln.asarray(np.ones(4)))  # which changes y, and nothing else
    np.testing.assert_array_equal(y.to_numpy(), results[0] + 1)
    np.testing.assert_array_equal(results[0], results[1])


def test_an_axis_is_no_truth_value():
    a, _, _ = operands(ln.CSR, 0, "float64")
    a.sum(1)
    for axis in (True, 1.0, "1"):
        with pytest.raises(ln.LinnetError):
            a.sum(axis)


def test_slices_that_are_no_ranges_are_left_to_the_general_way():
    a, _, _ = operands(ln.CSR, 0, "float64")
    values = a.to_numpy()
    _ = a[1:3]
    for part in (slice(None, None, 2), slice(3, None, -1), slice(None), slice(0, 3, np.int64(1))):
        np.testing.assert_array_equal(a[part].to_numpy(), values[part])
    for part in (slice(None, None, 0), slice(0, 2, 0), slice(0.5, 2), slice("a"), slice(0, 2, "b")):
        with pytest.raises(ln.LinnetError):
            a[part]


def test_options_have_kernels_of_their_own():
    a, _, x = operands(ln.CSR, 0, "float64")
    expected = told(a @ x)
    count = len(known())
    with ln.config(check=False):
        assert told(a @ x) == expected
        assert len(known()) == count + 1


@needs_cc
def test_the_other_back_end(monkeypatch):
    a, b, x = operands(ln.CSR, 0, "float64")
    expected = [told(a @ x), told(a + b), told(a.sum(0))]
    with ln.config(backend="c"):
        for _ in range(3):
            assert [told(a @ x), told(a + b), told(a.sum(0))] == expected
            forget(monkeypatch)


def test_memory_that_is_being_written_is_left_alone():
    a, b, _ = operands(ln.CSR, 0, "float64")
    a + b
    (ready,) = known()
    contents = a.contents()
    contents.lent = True
    given = [contents.slots, b.contents().slots]
    assert ready.run(given, (contents, b.contents())) is None
    contents.lent = False
    assert ready.run(given, (contents, b.contents())) is not None
    assert contents.pins == b.contents().pins == {}


@pytest.mark.parametrize("name", ["add", "vector", "max"])
def test_a_kernel_that_fails_leaves_it_to_the_general_way(name):
    a, b, x = operands(ln.CSR, 0, "float64")
    run = OPERATIONS[name]
    expected = told(run(a, b, x))
    calls = break_down(*known())
    assert told(run(a, b, x)) == expected
    assert calls
    assert not a.contents().pins


def test_threads_that_read_what_another_writes():
    a = ln.asarray(np.eye(50), format="csr")
    x, ones = ln.asarray(np.zeros(50)), ln.asarray(np.ones(50))
    a @ x
    failed = []

    def read() -> None:
        for _ in range(300):
            try:
                found = (a @ x).to_numpy()
            except ln.LinnetError:  # it is being written just now
                continue
            if len({*found.tolist()}) != 1:
                failed.append(found)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(300):
        accumulate(x, ones)
    for reader in readers:
        reader.join()
    assert not failed
    np.testing.assert_array_equal(x.to_numpy(), np.full(50, 300.0))
