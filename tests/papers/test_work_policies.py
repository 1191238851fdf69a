"""Policies of sparse workspaces (WORK §5): those that Linnet ships, and one that it does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import linnet as ln
from linnet.errors import FormatError, KernelSyntaxError
from linnet.formats.assemble import unpack
from linnet.formats.policies import insert_listed, sort_buckets
from linnet.frontend.text import parse_text
from linnet.imp.components import compare


def scatter(format, X, Y, v, shape, operator="+=", init="0"):
    """A workspace after updates at X, Y in order."""
    update = {"+=": "w[X[t], Y[t]] += v[t]", "=": "w[X[t], Y[t]] = v[t]"}.get(
        operator, f"w[X[t], Y[t]] = {operator}(w[X[t], Y[t]], v[t])"
    )
    text = f"ln.declare(w, {init}, ({shape[0]}, {shape[1]}))\nfor t in ...:\n    {update}"
    return ln.Kernel(parse_text(text))(ln.empty_tensor(format), X, Y, v)


def by_parity(i, j, n_i, n_j):
    return (i % 2) * 8 + j % 8


POLICIES = [
    ln.Coord(),
    ln.Coord(capacity=1),
    ln.Coord(capacity=7, growth=False),
    ln.Coord(capacity=7, growth=0.3),
    ln.Bucket(),
    ln.Bucket(capacity=5),
    ln.Bucket(by_parity, 16, capacity=9),
    ln.Hash(),
    ln.Hash(4, capacity=10),
    ln.Heap(capacity=6),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_policies(policy):
    check_sums(policy, "float64")


@pytest.mark.parametrize("dtype", ["float32", "int8", "int32", "uint64", "complex128"])
def test_dtypes(dtype):
    check_sums(ln.Coord(capacity=30), dtype)
    check_sums(ln.Hash(capacity=30), dtype)


def check_sums(policy, dtype):
    rng = np.random.default_rng(1)
    for count in (0, 1, 40, 700):
        X, Y = rng.integers(0, 9, count), rng.integers(0, 13, count)
        v = rng.integers(1, 3, count).astype(dtype)
        expected = np.zeros((9, 13), dtype)
        np.add.at(expected, (X, Y), v)
        w = scatter(ln.workspace(2, policy, dtype=dtype), X, Y, v, (9, 13))
        assert np.array_equal(w.to_numpy(), expected)
        assert w.nnz == len(set(zip(X, Y, strict=True)))


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_the_last_assignment_counts(policy):
    rng = np.random.default_rng(2)
    X, Y, v = rng.integers(0, 5, 200), rng.integers(0, 5, 200), rng.random(200)
    expected = np.zeros((5, 5))
    for x, y, value in zip(X, Y, v, strict=True):
        expected[x, y] = value
    w = scatter(ln.workspace(2, policy), X, Y, v, (5, 5), "=")
    assert np.array_equal(w.to_numpy(), expected)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize(("name", "start"), [("min", np.inf), ("max", -np.inf)])
def test_other_functions(policy, name, start):
    rng = np.random.default_rng(3)
    X, Y, v = rng.integers(0, 5, 200), rng.integers(0, 5, 200), rng.random(200)
    expected = np.full((5, 5), start)
    getattr(np, f"{name}imum").at(expected, (X, Y), v)
    format = ln.workspace(2, policy, fill_value=start)
    init = "np.inf" if start > 0 else "-np.inf"
    w = scatter(format, X, Y, v, (5, 5), name, init)
    assert np.array_equal(w.to_numpy(), expected)


# -- more coordinates than 64 bits can number ------------------------------------------------------

HUGE = 2**40


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_shapes_beyond_64_bits(policy):
    rng = np.random.default_rng(4)
    some = np.sort(rng.integers(0, HUGE, 20))
    X, Y = some[rng.integers(0, 20, 300)], some[rng.integers(0, 20, 300)]
    w = scatter(ln.workspace(2, policy), X, Y, np.ones(300), (HUGE, HUGE))
    coords, values = unpacked(w)
    found = {(x, y): c for x, y, c in zip(*coords, values, strict=True)}
    expected: dict[tuple[int, int], float] = {}
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        expected[x, y] = expected.get((x, y), 0.0) + 1.0
    assert found == expected
    assert list(found) == sorted(found)


def unpacked(tensor):
    coordinates, values = unpack(tensor)
    return [c.tolist() for c in coordinates], values.tolist()


def test_a_product_beyond_64_bits():
    """A result of 2**40 by 2**40 elements, through a workspace that Linnet inserts."""

    coords = ([5, HUGE - 1, 7], [0, 1, 2])
    A = ln.tensor(coords, [1.0, 2.0, 3.0], (HUGE, 3), format=ln.COO(2).with_order(1, 0))
    B = ln.tensor(([0, 1, 2], [HUGE - 2, 3, 3]), [4.0, 5.0, 6.0], (3, HUGE), format=ln.DCSR)
    C = outer(ln.empty_tensor(ln.DCSR), A, B)
    coordinates, values = unpacked(C)
    assert coordinates == [[5, 7, HUGE - 1], [HUGE - 2, 3, 3]]
    assert values == [4.0, 18.0, 10.0]


@ln.kernel
def outer(C, A, B):
    C[...] = 0
    for k, i, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


def test_workspaces_are_formats_like_others():
    rng = np.random.default_rng(5)
    array = np.where(rng.random((6, 7, 4)) < 0.3, rng.random((6, 7, 4)), 0)
    tensor = ln.asarray(array, format=ln.workspace(3))
    assert np.array_equal(tensor.to_numpy(), array)
    assert np.array_equal(tensor.to(ln.CSF(3)).to_numpy(), array)
    assert np.array_equal(ln.asarray(array, format=ln.COO(3)).to(ln.workspace(3)).to_numpy(), array)
    permuted = ln.asarray(array, format=ln.workspace(3).with_order(2, 0, 1))
    assert np.array_equal(permuted.to_numpy(), array)


# -- a policy that Linnet does not ship ------------------------------------------------------------


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


def test_what_is_not_a_policy():
    with pytest.raises(ln.LinnetError, match="not a policy"):
        ln.workspace(2, "coord")
    with pytest.raises(FormatError, match="power of two"):
        ln.Hash(100)
    with pytest.raises(FormatError, match="number of components"):
        ln.Coord(capacity=-1)
    for growth in (-1, np.nan, np.inf, "fast", None):
        with pytest.raises(FormatError, match="growth"):
            ln.Coord(growth=growth)
    with pytest.raises(FormatError, match="given with a length"):
        ln.Bucket(by_parity)
    with pytest.raises(FormatError, match="stands above values"):
        ln.SparseWorkspace(2, ln.Coord(), ln.Dense(ln.Element(0.0)))
    with pytest.raises(FormatError, match="below no other level"):
        ln.empty_tensor(ln.Dense(ln.SparseWorkspace(1, ln.Coord(), ln.Element(0.0))))


def test_updates_that_cannot_be_merged_are_refused():
    with pytest.raises(FormatError, match="cannot be combined"):
        scatter(ln.workspace(2), np.arange(3), np.arange(3), np.ones(3), (3, 3), init="1")


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


ASTRAY = [ReadsBeyond, WritesBeyond, WritesCoordinates, NeverEnds, CallsItself, ClearsTooMuch]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("policy", ASTRAY)
def test_a_policy_that_goes_beyond_its_arrays_is_stopped(policy, backend):
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


# -- buckets that many components share ------------------------------------------------------------


class Counted(list):
    """A list that counts how often it is read."""

    reads = 0

    def __getitem__(self, at):
        Counted.reads += 1
        return list.__getitem__(self, at)


def test_a_long_list_is_not_looked_through_to_its_end():
    """Insertion takes a bounded number of steps, and equal components are listed as they came."""
    crd, count = Counted(k * 37 % 400 for k in range(1200)), 0
    slots, order, spare = [0] * (1 + 2 * 1200), [0] * 4000, [0] * 4000
    for key in crd[:]:
        crd[count] = key
        count += insert_listed(crd, 1, 0, count, 0, order, slots, 1) == count
    assert Counted.reads < 100 * 1200
    sort_buckets(crd, 1, 0, count, order, spare, slots, 1)
    assert [(crd[e], e) for e in order[:count]] == sorted((crd[e], e) for e in range(count))


@pytest.mark.parametrize("policy", [ln.Bucket(length=1), ln.Hash(1), ln.Bucket()], ids=repr)
@pytest.mark.parametrize("shape", [(2, 3000), (1 << 40, 1 << 40)])
def test_many_components_in_one_bucket(policy, shape):
    """A short first dimension, or one bucket for all; the last of all assignments counts."""
    rng = np.random.default_rng(6)
    X, Y, v = rng.integers(0, 2, 4000), rng.integers(0, 900, 4000), rng.random(4000)
    w = scatter(ln.workspace(2, policy), X, Y, v, shape, "=")
    coords, values = unpacked(w)
    expected = dict(zip(zip(X.tolist(), Y.tolist(), strict=True), v.tolist(), strict=True))
    assert dict(zip(zip(*coords, strict=True), values, strict=True)) == expected
    assert list(zip(*coords, strict=True)) == sorted(expected)


# -- capacity and length, where nobody says them ---------------------------------------------------


@pytest.mark.parametrize(
    ("n", "stored", "capacity"),
    [(1000, 100, None), (10_000, 40_000, 1 << 18), (100_000, 500_000, 1 << 21)],
)
def test_the_capacity_follows_the_number_of_updates(n, stored, capacity):
    """About stored² / n of them; so many accumulate that merging is seldom, and no more."""
    rng = np.random.default_rng(0)

    def matrix(format):
        places = rng.integers(0, n, (2, stored))
        return ln.tensor(tuple(places), np.ones(stored), (n, n), format=format)

    args = ln.empty_tensor(ln.CSR), matrix(ln.CSC), matrix(ln.DCSR)
    told = f"SparseWorkspace(2, {ln.Coord(capacity=capacity)!r}, "
    assert told in ln.explain(outer, *args)["results"]


@pytest.mark.parametrize(
    ("policy", "heads"),
    [
        (ln.Hash(), "power_of_two_i64(C_w_cap)"),
        (ln.Bucket(), "max(C_w_cap, 1)"),
        (ln.Hash(64), "max(64, C_w_heads)"),
        (ln.Bucket(length=64), "max(64, C_w_heads)"),
    ],
    ids=repr,
)
def test_the_table_is_as_long_as_there_are_components(policy, heads):
    """L follows the capacity, which rises with what is stored; a length that is given stays."""
    A = ln.asarray(np.eye(3), format=ln.CSC)
    code = ln.insert_workspaces(outer, policy).code(ln.empty_tensor(ln.CSR), A, A.to(ln.CSR))
    assert "C_w_cap = max(C_w_cap, grown_i64(C_w_all, 1024, 256))" in code
    assert heads in code
