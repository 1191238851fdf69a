"""Policies of sparse workspaces that Linnet does not ship: as good as its own, and checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from tests.papers.test_work_policies import scatter

import linnet as ln
from linnet.codelets.components import compare
from linnet.errors import FormatError, KernelSyntaxError


def insert_in_place(crd, w, base, e, bucket, order, slots, size):
    """Keep `order` sorted: search for the place, and make room there."""
    lo, hi = 0, slots[0]
    while lo < hi:
        mid = (lo + hi) // 2
        if compare(crd, base + order[mid], crd, base + e, w) < 0:
            lo = mid + 1
        else:
            hi = mid
    if lo < slots[0] and compare(crd, base + order[lo], crd, base + e, w) == 0:
        return order[lo]
    at = slots[0]
    while at > lo:
        order[at] = order[at - 1]
        at -= 1
    order[lo] = e
    slots[0] += 1
    return e


def already_sorted(crd, w, base, count, order, spare, slots, size):
    pass


@dataclass(frozen=True, repr=False)
class Insertion(ln.Policy):
    """Components are kept in order as they come, without duplicates."""

    insert = staticmethod(insert_in_place)
    sort = staticmethod(already_sorted)

    def heads(self, b, first, capacity):
        return 1


@pytest.mark.parametrize("capacity", [3, 50, 1000])
def test_a_policy_of_the_user(capacity):
    rng = np.random.default_rng(6)
    X, Y, v = rng.integers(0, 9, 500), rng.integers(0, 9, 500), rng.integers(1, 5, 500) * 1.0
    expected = np.zeros((9, 9))
    np.add.at(expected, (X, Y), v)
    w = scatter(ln.workspace(2, Insertion(capacity=capacity)), X, Y, v, (9, 9))
    assert np.array_equal(w.to_numpy(), expected)


def backwards(crd, w, base, count, order, spare, slots, size):
    for t in range(count):
        order[t] = count - 1 - t


class Backwards(ln.Policy):
    sort = staticmethod(backwards)


def out_of_range(crd, w, base, count, order, spare, slots, size):
    for t in range(count):
        order[t] = 2 * count


class OutOfRange(ln.Policy):
    sort = staticmethod(out_of_range)


@pytest.mark.parametrize("policy", [Backwards(), OutOfRange()], ids=repr)
def test_an_order_that_is_none_is_found_out(policy):
    X = np.arange(10)
    with pytest.raises(FormatError, match="components out of order"):
        scatter(ln.workspace(2, policy), X, X, np.ones(10), (10, 10))


def mistyped(crd, w, base, count, order, spare, slots, size):
    order[0] = "first"


class Mistyped(ln.Policy):
    sort = staticmethod(mistyped)


def test_a_codelet_outside_the_language_is_refused_at_its_line():
    with pytest.raises(KernelSyntaxError) as error:
        scatter(ln.workspace(2, Mistyped()), np.arange(3), np.arange(3), np.ones(3), (3, 3))
    assert error.value.at.file == __file__
    assert 'order[0] = "first"' in str(error.value)


# -- policies that go astray -----------------------------------------------------------------------


def reads_beyond(crd, w, base, e, bucket, order, slots, size):
    return e + crd[(base + e + 1) * w] * 0


def writes_beyond(crd, w, base, count, order, spare, slots, size):
    for t in range(count):
        order[t] = t
    order[1 << 30] = 1


def writes_coordinates(crd, w, base, count, order, spare, slots, size):
    for t in range(count):
        crd[base + t] = 0
        order[t] = t


def never_ends(crd, w, base, count, order, spare, slots, size):
    t = 0
    found = 0
    while t < 1 << 60:  # whatever is there: nobody has written to it
        found += slots[t]
        t += 1
    order[0] = found


def deep(n):
    if n == 0:
        return 0
    return 1 + deep(n + 1) * 2


def calls_itself(crd, w, base, count, order, spare, slots, size):
    order[0] = deep(1)


def clears_too_much(slots, size, count):
    for t in range(1 << 20):
        slots[t] = 0


class ReadsBeyond(ln.Policy):
    insert = staticmethod(reads_beyond)


class WritesBeyond(ln.Policy):
    sort = staticmethod(writes_beyond)


class WritesCoordinates(ln.Policy):
    sort = staticmethod(writes_coordinates)


class NeverEnds(ln.Policy):
    sort = staticmethod(never_ends)

    def heads(self, b, first, capacity):
        return 5000


class CallsItself(ln.Policy):
    sort = staticmethod(calls_itself)


class ClearsTooMuch(ln.Policy):
    clear = staticmethod(clears_too_much)


class HashThatClearsTooMuch(ln.Hash):
    clear = staticmethod(clears_too_much)


ASTRAY = [ReadsBeyond, WritesBeyond, WritesCoordinates, NeverEnds, CallsItself, ClearsTooMuch]
ASTRAY += [HashThatClearsTooMuch]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("policy", ASTRAY)
def test_a_policy_that_goes_beyond_its_arrays_is_stopped(policy, backend):
    assert not policy.trusted  # or else it would end the process here
    X = np.arange(10)
    with ln.config(backend=backend):
        kernel = ln.workspace(2, policy())
        with pytest.raises(FormatError, match="goes beyond its arrays"):
            scatter(kernel, X, X, np.ones(10), (10, 10))
        assert scatter(ln.workspace(2), X, X, np.ones(10), (10, 10)).nnz == 10


def finds_another(crd, w, base, e, bucket, order, slots, size):
    return max(e - 1, 0)


class FindsAnother(ln.Policy):
    insert = staticmethod(finds_another)


def test_a_component_that_is_another_is_found_out():
    X = np.arange(10)
    with pytest.raises(FormatError, match="components out of order"):
        scatter(ln.workspace(2, FindsAnother()), X, X, np.ones(10), (10, 10))


@pytest.mark.parametrize("heads", [-1, 2.5, True, None, 1 << 62])
def test_a_table_that_is_none(heads):
    class Odd(ln.Policy):
        def heads(self, b, first, capacity):
            return heads

    with pytest.raises(FormatError, match="heads"):
        scatter(ln.workspace(2, Odd()), np.arange(3), np.arange(3), np.ones(3), (3, 3))


def named_like_ours(crd, w, base, count, order, spare, slots, size):
    alarm, order_length = 0, count
    for t in range(order_length):
        order[t] = t + alarm
    alarm_ = 1 if count > 1 << 50 else 0
    order[0] += alarm_


class NamedLikeOurs(ln.Policy):
    sort = staticmethod(named_like_ours)


def test_variables_of_codelets_have_any_name():
    X = np.arange(10)
    assert scatter(ln.workspace(2, NamedLikeOurs()), X, X, np.ones(10), (10, 10)).nnz == 10
