"""Small results have no buffers before somebody asks for them, and are freed once, either way."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse as sp

import linnet as ln
from linnet.formats.buffers import Buffer, Unseen
from linnet.formats.spare import C


@pytest.fixture(autouse=True)
def unverified() -> Iterator[None]:
    """Nobody looks at results, as is the case where they are not verified."""
    with ln.config(check=False):
        yield


def small_sum() -> tuple[ln.Tensor, np.ndarray]:
    """A sum that is remembered, and its value."""
    a = np.arange(30.0).reshape(5, 6) * (np.arange(30).reshape(5, 6) % 3 == 0)
    A = ln.asarray(sp.csr_array(a))
    for _ in range(4):
        found = A + A
    return found, a + a


def test_buffers_are_made_when_they_are_asked_for():
    found, value = small_sum()
    unseen = found._contents._unseen
    addresses = list(unseen.addresses)
    assert addresses
    np.testing.assert_array_equal(found.to_numpy(), value)
    assert not unseen.addresses  # the buffers own the memory
    assert found._contents.buffers is found._contents.buffers
    assert [b.address for b in found._contents.buffers] == addresses


def test_results_that_nobody_has_looked_at_are_operands():
    found, value = small_sum()
    again = found + found
    np.testing.assert_array_equal((again * found).to_numpy(), 2 * value * value)


def test_to_read_a_result_takes_no_buffers():
    """Nor to ask how much it holds; what is asked for later is at the place that was read."""
    squared = ln.fuse(lambda X: X * X)
    for _ in range(4):  # from the third on, ways are known
        found, value = small_sum()
        twice, parts, squares = found + found, found[1:4] + found[2:5], squared(found)
    unseen, read = found._contents._unseen, found._contents.slots
    assert found.nnz == np.count_nonzero(value)
    assert unseen.addresses
    assert not found._contents.exported
    np.testing.assert_array_equal(twice.to_numpy(), 2 * value)
    np.testing.assert_array_equal(parts.to_numpy(), value[1:4] + value[2:5])
    np.testing.assert_array_equal(squares.to_numpy(), value * value)
    np.testing.assert_array_equal(found.to_numpy(), value)
    known = [n for b in found._contents.buffers for n in (b.address, b.capacity, b.length)]
    assert [*found.shape, *known] == [*read]
    assert found._contents.arrays()
    assert found._contents.exported


@pytest.mark.parametrize(
    "other", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies(other):
    found, value = small_sum()
    twin = other(found)
    del found
    gc.collect()
    np.testing.assert_array_equal(twin.to_numpy(), value)


def test_threads_find_the_same_buffers():
    found, _ = small_sum()
    ready, seen = threading.Barrier(4), []

    def ask() -> None:
        ready.wait()
        seen.append(found._contents.buffers)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(buffers is seen[0] for buffers in seen)


def test_memory_is_freed_once():
    freed: list[int] = []
    kinds = (np.dtype("int32"), np.dtype("float64"))
    places = [C.malloc(64), C.malloc(64)]
    unseen = Unseen(kinds, [places[0], 16, 10, places[1], 8, 8])
    unseen.__del__(freed.append)
    assert freed == places
    owner = SimpleNamespace()
    unseen.hand_over(owner)
    unseen.__del__(freed.append)
    assert freed == places  # they are the buffers'
    assert [(b.address, b.capacity, b.length) for b in owner._buffers] == [
        (places[0], 16, 10),
        (places[1], 8, 8),
    ]


def test_nothing_else_is_missing():
    found, _ = small_sum()
    with pytest.raises(AttributeError, match="nonsense"):
        _ = found._contents.nonsense


def test_an_error_while_buffers_are_made_loses_nothing(monkeypatch):
    found, value = small_sum()
    native, calls = Buffer.native, []

    def failing(*block, **named):
        calls.append(block)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return native(*block, **named)

    monkeypatch.setattr(Buffer, "native", failing)
    with pytest.raises(KeyboardInterrupt):
        found.to_numpy()
    monkeypatch.undo()
    assert found._contents._unseen.addresses
    np.testing.assert_array_equal(found.to_numpy(), value)
