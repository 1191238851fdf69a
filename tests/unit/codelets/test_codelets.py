"""The codelets, compiled, do what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

from linnet import imp
from linnet.codelets.build import Builder
from linnet.codelets.named import CODELETS, instantiate
from linnet.errors import InternalError
from linnet.imp.check import check
from linnet.imp.simplify import simplify

WIDTHS = ("int32", "int64")
WORDS = 100  # enough for bits of three thousand numbers
SIZES = (0, 1, 2, 3, 7, 16, 17, 40, 129, 1000, 20_000)


def inputs(n: int, dtype: str, seed: int = 0) -> dict[str, np.ndarray]:
    """Keys in the orders that break sorts."""
    rng = np.random.default_rng(seed)
    limits = np.iinfo(dtype)
    ramp = np.arange(n, dtype=dtype)
    half = ramp[: n // 2]
    return {
        "random": rng.integers(limits.min, limits.max, n, dtype, endpoint=True),
        "few": rng.integers(0, 4, n, dtype),
        "equal": np.full(n, 7, dtype),
        "highest": np.where(ramp == n // 2, 7, limits.max).astype(dtype),
        "lowest": np.where(ramp == n // 2, 7, limits.min).astype(dtype),
        "sorted": ramp.copy(),
        "backwards": ramp[::-1].copy(),
        "organ pipe": np.concatenate([half, ramp[: n - n // 2][::-1]]),
        "runs": np.concatenate([np.sort(a) for a in np.array_split(rng.permutation(ramp), 8)]),
        "one out of place": np.concatenate([ramp[1:], ramp[:1]]),
    }


@pytest.mark.parametrize("name", ["search", "gallop"])
@pytest.mark.parametrize("dtype", WIDTHS)
def test_search(compiled, name, dtype):
    find = compiled(name, f"{dtype}*", "int64", "int64", "int64")
    rng = np.random.default_rng(1)
    for n in (0, 1, 2, 5, 31, 32, 33, 1000):
        idx = np.sort(rng.integers(0, 3 * n + 1, n, dtype))
        for _ in range(30):
            lo, hi = sorted(rng.integers(0, n + 1, 2))
            target = int(rng.integers(-1, 3 * n + 3))
            expected = lo + np.searchsorted(idx[lo:hi], target)
            assert find(idx, lo, hi, target) == expected


class Strict(list):
    """A list that cannot be read or written outside of its bounds, not even from the end."""

    def __getitem__(self, at):
        assert at >= 0
        return super().__getitem__(at)

    def __setitem__(self, at, value):
        assert at >= 0
        super().__setitem__(at, value)


@pytest.mark.parametrize("name", ["search", "gallop"])
def test_search_stays_in_bounds(name):
    for n in range(20):
        idx = Strict(range(0, 2 * n, 2))
        for target in range(-1, 2 * n + 2):
            assert CODELETS[name](idx, 0, n, target) == np.searchsorted(idx, target)


def test_sorts_stay_in_bounds():
    for n in [*range(140), 1000]:
        for keys in inputs(n, "int64").values():
            alone, paired, payload = (Strict(keys.tolist()) for _ in range(3))
            CODELETS["sort"](alone, 0, n)
            CODELETS["sort_pairs"](paired, payload, 0, n)
            assert alone == paired == payload == sorted(keys.tolist())


@pytest.mark.parametrize("dtype", WIDTHS)
def test_fiber_of(compiled, dtype):
    fiber_of = compiled("fiber_of", f"{dtype}*", "int64", "int64", "int64")
    ptr = np.array([0, 0, 2, 2, 2, 5, 6, 6], dtype)
    assert [fiber_of(ptr, 0, 7, q) for q in range(6)] == [1, 1, 4, 4, 4, 5]
    assert [fiber_of(ptr, 4, 6, q) for q in (2, 4, 5)] == [4, 4, 5]
    assert fiber_of(ptr, 3, 3, 0) == 3


@pytest.mark.parametrize("dtype", WIDTHS)
def test_run_end(compiled, dtype):
    end_of = compiled("run_end", f"{dtype}*", "int64", "int64")
    idx = np.array([3, 3, 3, 5, 7, 7], dtype)
    assert [end_of(idx, p, 6) for p in range(6)] == [3, 3, 3, 4, 6, 6]
    assert end_of(idx, 0, 2) == 2


@pytest.mark.parametrize("dtype", WIDTHS)
def test_run_begin(compiled, dtype):
    begin_of = compiled("run_begin", f"{dtype}*", "int64", "int64")
    idx = np.array([3, 3, 3, 5, 7, 7], dtype)
    assert [begin_of(idx, 0, p) for p in range(7)] == [-1, 0, 0, 0, 3, 4, 4]
    assert [begin_of(idx, 1, p) for p in (1, 2, 3)] == [0, 1, 1]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", WIDTHS)
def test_sort(compiled, dtype, n):
    sort = compiled("sort", f"{dtype}*", "int64", "int64")
    for label, keys in inputs(n + 6, dtype).items():
        expected = keys.copy()
        expected[3 : n + 3].sort()
        sort(keys, 3, n + 3)
        np.testing.assert_array_equal(keys, expected, label)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", WIDTHS)
def test_sort_pairs(compiled, dtype, n):
    sort = compiled("sort_pairs", f"{dtype}*", "int64*", "int64", "int64")
    for label, keys in inputs(n + 6, dtype).items():
        before, payload = keys.copy(), np.arange(n + 6)
        sort(keys, payload, 3, n + 3)
        expected = before.copy()
        expected[3 : n + 3].sort()
        np.testing.assert_array_equal(keys, expected, label)
        np.testing.assert_array_equal(before[payload], keys, label)
        np.testing.assert_array_equal(np.sort(payload), np.arange(n + 6), label)


@pytest.mark.parametrize("name", ["sort", "sort_pairs"])
def test_sorts_fall_back_on_a_heap(compiled, name):
    """Quicksort whose depth is spent."""
    inner = CODELETS[name].__globals__[f"quick{name}"]
    payloads = ("int64*",) if name == "sort_pairs" else ()
    sort = compiled(inner, "int32*", *payloads, "int64", "int64", "int64")
    for n in (17, 18, 1000):
        for label, keys in inputs(n, "int32").items():
            expected, given = np.sort(keys), keys.copy()
            payload = np.arange(n)
            sort(keys, *([payload] if payloads else []), 0, n, 0)
            np.testing.assert_array_equal(keys, expected, label)
            if payloads:
                np.testing.assert_array_equal(given[payload], keys, label)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("count", [0, 1, 3, 90, 250, 251, 700, 1000])
def test_flags_that_are_listed(compiled, dtype, count):
    order = compiled("order", "bool*", "int64", f"{dtype}*", "int64", "int64*", "int64")
    roughly = compiled("order_if_cheap", "bool*", "int64", f"{dtype}*", "int64")
    clear = compiled("clear", "bool*", "int64", f"{dtype}*", "int64")
    rng, n = np.random.default_rng(count), 1000
    keys = rng.permutation(n)[:count].astype(dtype)
    bits = np.zeros(WORDS, "int64")
    for listed in (keys, np.sort(keys)):
        tbl, idx = np.zeros(n, bool), np.full(n, -1, dtype)
        tbl[keys], idx[:count] = True, listed
        order(tbl, n, idx, count, bits, 0)
        assert idx[:count].tolist() == np.sort(keys).tolist()
        idx[:count] = listed
        roughly(tbl, n, idx, count)
        expected = np.sort(keys) if count > 250 else listed
        assert idx[:count].tolist() == expected.tolist()
        clear(tbl, n, idx, count)
        assert not tbl.any()


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("stretch", [1, 2, 3, 20])
def test_flags_in_stretches(compiled, dtype, stretch):
    """Too few to look for one by one, unless they lie side by side: the list is the same."""
    order = compiled("order", "bool*", "int64", f"{dtype}*", "int64", "int64*", "int64")
    n, count = 3000, 60
    first = np.random.default_rng(stretch).permutation(n // 20)[: count // stretch] * 20
    keys = (first[:, None] + np.arange(stretch)).ravel().astype(dtype)
    tbl, idx = np.zeros(n, bool), np.full(n, -1, dtype)
    tbl[keys], idx[:count] = True, keys
    order(tbl, n, idx, count, np.zeros(WORDS, "int64"), 0)
    assert idx[:count].tolist() == np.sort(keys).tolist()


def test_bits_stay_in_bounds():
    rng = np.random.default_rng(7)
    for n in [*range(1, 140), 1000, 2177, 5000]:
        for count in {0, 1, n // 128, n // 100, n // 16, n // 5, n - 1, n}:
            keys = rng.permutation(n)[:count]
            bits = Strict([0] * ((n >> 5) + 3))
            for k in keys.tolist():
                bits[k >> 6] |= 1 << (k & 63)
            before, idx = [*bits], Strict([*keys.tolist(), *[-1] * (n - count)])
            CODELETS["order_bits"](bits, n, idx, count)
            assert [*idx][:count] == sorted(keys)
            assert [*bits] == before
            CODELETS["clear_bits"](bits, n, idx, count)
            assert not any(bits)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("density", [0, 0.01, 0.5, 1])
def test_sweep(compiled, dtype, density):
    sweep = compiled("sweep", "bool*", "int64", "int64", f"{dtype}*", "int64")
    rng = np.random.default_rng(2)
    for n in (0, 1, 2, 100):
        tbl = rng.random(3 * n) < density
        expected = np.flatnonzero(tbl[n : 2 * n])
        idx = np.full(5 + n, -1, dtype)
        end = sweep(tbl, n, n, idx, 5)
        np.testing.assert_array_equal(idx[:end], [-1] * 5 + list(expected))


@pytest.mark.parametrize("dtype", WIDTHS)
def test_prefix_sum(compiled, dtype):
    ptr = np.array([0, 3, 0, 2, 5, 9], dtype)
    compiled("prefix_sum", f"{dtype}*", "int64")(ptr, 4)
    assert ptr.tolist() == [0, 3, 3, 5, 10, 9]


@pytest.mark.parametrize("dtype", WIDTHS)
def test_hash_table(compiled, dtype):
    """Insert, find again, grow: against a dictionary."""
    find = compiled("hash_find", "int64*", "int64", "int64*", f"{dtype}*", "int64", "int64")
    rehash = compiled("hash_rehash", "int64*", "int64", "int64*", f"{dtype}*", "int64")
    rng = np.random.default_rng(3)
    parent, coord = np.zeros(600, "int64"), np.zeros(600, dtype)
    table, known = np.zeros(8, "int64"), dict[tuple[int, int], int]()
    for p, i in rng.integers(0, 20, (900, 2)):
        slot = find(table, len(table) - 1, parent, coord, p, i)
        entry = known.setdefault((p, i), len(known))
        if table[slot] == 0:
            assert entry == len(known) - 1
            parent[entry], coord[entry] = p, i
            table[slot] = entry + 1
        assert table[slot] == entry + 1
        if 2 * len(known) > len(table):
            table = np.full(2 * len(table), 77)
            rehash(table, len(table), parent, coord, len(known))
            assert np.count_nonzero(table) == len(known)
    for (p, i), entry in known.items():
        assert table[find(table, len(table) - 1, parent, coord, p, i)] == entry + 1


def test_hash_scatters_neighbours(compiled):
    """Rows, columns, strides of powers of two: few entries are far from where they belong."""
    find = compiled("hash_find", "int64*", "int64", "int64*", "int64*", "int64", "int64")
    k = np.arange(1000)
    for parent, coord in [
        (k, 0 * k),
        (0 * k, k),
        (k // 32, k % 32),
        (0 * k, k << 12),
        (k << 20, k),
    ]:
        table = np.zeros(2048, "int64")
        empty = np.zeros(2048, "int64")
        far = 0
        for entry in range(1000):
            home = find(empty, 2047, parent, coord, parent[entry], coord[entry])
            slot = find(table, 2047, parent, coord, parent[entry], coord[entry])
            far = max(far, (slot - home) % 2048)
            table[slot] = entry + 1
        assert far < 64


@pytest.mark.parametrize("dtype", WIDTHS)
def test_groups(compiled, dtype):
    group = compiled("group_by_position", "int64*", "int64", f"{dtype}*", "int64", "int64*")
    sort = compiled("sort_groups", f"{dtype}*", "int64", f"{dtype}*", f"{dtype}*", "int64*")
    rng = np.random.default_rng(4)
    for n, count in [(0, 0), (1, 0), (1, 5), (5, 1), (30, 200), (3, 2000)]:
        cells = rng.permutation(n * 1000)[:count]
        parent, coord = cells // 1000, (cells % 1000).astype(dtype)
        ptr, idx, order = np.full(n + 1, 9, dtype), np.zeros(count, dtype), np.zeros(count, "int64")
        group(parent, count, ptr, n, order)
        np.testing.assert_array_equal(order, np.argsort(parent, kind="stable"))
        np.testing.assert_array_equal(ptr, np.searchsorted(np.sort(parent), np.arange(n + 1)))
        sort(ptr, n, coord, idx, order)
        np.testing.assert_array_equal(order, np.argsort(cells))
        np.testing.assert_array_equal(idx, coord[order])


SIGNATURES = {
    "search": "idx* n n n",
    "gallop": "idx* n n n",
    "fiber_of": "idx* n n n",
    "run_begin": "idx* n n",
    "run_end": "idx* n n",
    "sort": "idx* n n",
    "sort_pairs": "idx* int64* n n",
    "sweep": "bool* n n idx* n",
    "clear": "bool* n idx* n",
    "clear_bits": "int64* n idx* n",
    "order": "bool* n idx* n int64* n",
    "order_bits": "int64* n idx* n",
    "order_bits_if_cheap": "int64* n idx* n",
    "order_if_cheap": "bool* n idx* n",
    "prefix_sum": "idx* n",
    "group_by_position": "idx* n idx* n int64*",
    "sort_groups": "idx* n idx* idx* int64*",
    "hash_find": "int64* n int64* idx* n n",
    "hash_rehash": "int64* n int64* idx* n",
}


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("name", CODELETS)
def test_codelets_are_well_formed(name, dtype):
    words = SIGNATURES[name].replace("idx", dtype).split()
    types = ["int64" if word == "n" else word for word in words]
    registry: dict[str, imp.Function] = {}
    instantiate(name, tuple(types), registry)
    check(imp.Kernel("k", (), imp.EMPTY, tuple(registry.values())))
    for function in registry.values():
        simple = simplify(function, registry.values())
        check(imp.Kernel("k", (), imp.EMPTY, tuple({**registry, function.name: simple}.values())))


def test_callees_come_first():
    registry: dict[str, imp.Function] = {}
    result = instantiate("gallop", ("int32*", "int64", "int64", "int64"), registry)
    assert list(registry) == ["search_i32", "gallop_i32"]
    assert registry["gallop_i32"] is result
    assert instantiate("gallop", ("int32*", "int64", "int64", "int64"), registry) is result
    assert len(registry) == 2


def test_builder_calls_with_wide_integers():
    b = Builder()
    idx = imp.Buffer("A_idx", "int32")
    call = b.call("search", idx, 0, imp.Var("n"), idx[0])
    assert call.function == "search_i32"
    assert call.args[-1] == imp.Cast(idx[0], "int64")
    assert list(b.codelets) == ["search_i32"]


def test_unknown_codelet():
    with pytest.raises(InternalError, match="no codelet `serch`"):
        instantiate("serch", ("int32*",), {})
