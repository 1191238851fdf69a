"""Sparse workspaces in the interpreter of code, strict about memory, and in machine code."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.levels.samples import agree

import linnet as ln
from linnet.codelets.condensing import TABLES, condensing
from linnet.codelets.latest import clear_hashed, insert_hashed
from linnet.codelets.merging import doubling, grown, merging
from linnet.codelets.ordering import ordering
from linnet.codelets.radix import PLACES
from linnet.formats.assemble import unpack
from linnet.frontend.text import parse_text

POLICIES = [
    ln.Coord(capacity=3),
    ln.Coord(),
    ln.Bucket(capacity=4),
    ln.Hash(capacity=4),
    ln.Heap(capacity=5),
    ln.Coord(capacity=2, double_buffered=True),
    ln.Coord(capacity=3, pipelined=True),
    ln.Hash(capacity=4, growth=0, double_buffered=True, pipelined=True),
    ln.Bucket(capacity=4, pipelined=True),
    ln.Heap(capacity=2, growth=0, pipelined=True),
]


@ln.kernel
def outer(w, A, B):
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    return w


@ln.kernel
def scattered(w, X, Y, v):
    ln.declare(w, 0, (1 << 40, 1 << 40))
    for t in ...:
        if v[t] > 0:
            w[X[t], Y[t]] += v[t]
    return w


def sparse(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < 0.4, rng.integers(1, 5, shape), 0).astype(float)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_products(policy):
    A, B = sparse(1, (6, 7)), sparse(2, (7, 5))
    args = {
        "w": ln.empty_tensor(ln.workspace(2, policy, dtype="float64", fill_value=0.0)),
        "A": ln.asarray(A, format=ln.CSC),
        "B": ln.asarray(B, format=ln.CSR),
    }
    found = agree(outer, args, ("llvm", "c"))["w"]
    assert np.array_equal(found.to_numpy(), A @ B)


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_more_coordinates_than_64_bits_can_number(policy, backend):
    """Components of two words, some of which turn out not to be written."""
    rng = np.random.default_rng(3)
    X, Y = rng.integers(0, 3, 60) << 38, rng.integers(0, 4, 60) << 37
    v = rng.integers(-1, 3, 60).astype(float)
    expected: dict[tuple[int, int], float] = {}
    for x, y, value in zip(X.tolist(), Y.tolist(), v.tolist(), strict=True):
        if value > 0:
            expected[x, y] = expected.get((x, y), 0.0) + value
    with ln.config(backend=backend):
        w = scattered(ln.empty_tensor(ln.workspace(2, policy)), X, Y, v)
    words = w.buffers["crd0"].reshape(-1, 2)
    stored = dict(zip(map(tuple, words.tolist()), w.buffers["val"].tolist(), strict=True))
    assert stored == expected
    assert list(stored) == sorted(stored)


def test_many_components_are_grouped_first():
    """More than are sorted at once, in several batches, with duplicates among and inside them."""
    rng = np.random.default_rng(4)
    X, Y = rng.integers(0, 300, 60_000), rng.integers(0, 200, 60_000)
    v = rng.integers(1, 4, 60_000).astype(float)
    expected = np.zeros((300, 200))
    np.add.at(expected, (X, Y), v)
    for policy in (ln.Coord(), ln.Coord(capacity=20_000, growth=False), ln.Hash(capacity=20_000)):
        w = in_place(ln.empty_tensor(ln.workspace(2, policy)), X, Y, v)
        assert np.array_equal(w.to_numpy(), expected)


@ln.kernel
def in_place(w, X, Y, v):
    ln.declare(w, 0, (300, 200))
    for t in ...:
        w[X[t], Y[t]] += v[t]
    return w


@pytest.mark.parametrize(("rows", "columns"), [(300, 200), (3, 20_000), (4000, 5000), (1, 9)])
def test_condensed_components(rows, columns):
    """Groups that are added up in dense memory: in Python, as the codelet is written."""
    rng = np.random.default_rng(5)
    keys = rng.integers(0, rows * columns, 700)
    keys[100:300] = np.sort(keys[100:300])
    values = rng.integers(1, 9, 700)
    expected: dict[int, list[int]] = {}
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        expected.setdefault(key, []).append(value)
    condense = condensing(lambda old, new: 10 * old + new)  # tells the order, too
    crd, val = [-1, -1, *keys.tolist()], [0, 0, *values.tolist()]
    bits = int(np.bitwise_or.reduce(keys ^ keys[0])).bit_length()
    shift = max(12, bits - 12)
    run, late, tables = [0] * 700, [0] * (700 + (1 << shift)), [7] * TABLES
    count = condense(crd, val, 2, 700, bits, shift, run, late, tables)
    assert run[:count] == sorted(expected)
    for key, found in zip(run[:count], late[:count], strict=True):
        assert found == int("".join(map(str, expected[key])))


@pytest.mark.parametrize(
    "keys",
    [
        np.random.default_rng(6).integers(0, 1 << 62, 3000) >> 30,  # hardly any meet
        np.random.default_rng(6).integers(0, 500, 3000),  # most do
        np.random.default_rng(6).integers(0, 40, 3000) << 57,  # told apart by their highest bits
        np.random.default_rng(6).integers((1 << 61) - 7, (1 << 61) + 7, 3000),
        np.full(3000, 12),
        np.full(3000, 2**63 - 2),
        np.arange(3000) * 3,  # rising
        np.arange(3000)[::-1].copy(),
    ],
    ids=range(8),
)
def test_components_in_order(keys):
    """Components that are moved with their values: in Python, as the codelet is written."""
    values = np.random.default_rng(7).integers(1, 9, len(keys)).tolist()
    expected: dict[int, list[int]] = {}
    for key, value in zip(keys.tolist(), values, strict=True):
        expected.setdefault(key, []).append(value)
    put_in_order = ordering(lambda old, new: 10 * old + new)  # tells the order, too
    crd, val = [-1, -1, *keys.tolist()], [0, 0, *values]
    run, late = [0] * len(keys), [0] * len(keys)
    bits = max(int(np.bitwise_or.reduce(keys ^ keys[0])).bit_length(), 1)
    count = put_in_order(crd, val, 2, len(keys), bits, run, late, [7] * PLACES)
    assert run[:count] == sorted(expected)
    assert crd[:2] == [-1, -1]
    for key, found in zip(run[:count], late[:count], strict=True):
        assert found == int("".join(map(str, expected[key])))


@np.errstate(over="ignore")
@pytest.mark.parametrize("place", [3, 12_345, 199_999])
def test_hash_knows_the_latest(place):
    """A component is found as long as no other one of its hash came, and is one with it later."""
    drawn = np.random.default_rng(place).integers(0, 1 << 20, 5000)
    x = np.append(drawn, [place] * 3)  # of 3 that follow each other, 2 are found
    slots, crd, kept = [0] * (128 + len(x)), [0] * (len(x) + 1), 0
    for key in x.tolist():
        crd[kept] = key
        e = insert_hashed(crd, 1, 0, kept, 0, [], slots, 128)
        assert crd[e] == key
        kept += e == kept
    assert crd[kept - 1] == place
    assert set(crd[:kept]) == set(x.tolist())
    clear_hashed(slots, 128, kept)
    assert insert_hashed(crd, 1, 0, kept - 1, 0, [], slots, 128) == kept - 1


@pytest.mark.parametrize("w", [1, 2])
def test_merged_components(w):
    """In place, and into a second array: in Python, as the codelets are written."""

    def combine(old, new):
        return 10 * old + new  # tells which came first

    merge, merge_into = merging(combine), doubling(combine)
    for seed in range(300):
        drawn = Random(seed)
        top = drawn.choice([5, 40, 400])
        sides = [sorted(drawn.sample(range(top), drawn.randrange(min(top, 30)))) for _ in range(2)]
        old, new = ({key: drawn.randrange(10) for key in side} for side in sides)
        both = old | {k: combine(old[k], x) if k in old else x for k, x in new.items()}
        expected = sorted(both), [both[key] for key in sorted(both)]
        count, room = len(old) + len(new), [0] * len(new)
        words, late = [k for key in new for k in (key,) * w], [*new.values()]
        crd, val = [k for key in old for k in (key,) * w], [*old.values()]
        to, to_val = [0] * count * w, [0] * count
        n = merge_into(crd, val, w, len(old), words, late, len(new), to, to_val)
        assert (to[: n * w : w], to_val[:n]) == expected
        crd, val = crd + room * w, val + room
        n = merge(crd, val, w, len(old), words, late, len(new))
        assert (crd[: n * w : w], val[:n]) == expected


def test_growth():
    """A share of what is stored, but at most eight times as much; nothing is less than before."""
    stored = (0, 100, 1000, 1 << 20)
    assert [grown(s, 1000, 256, s) for s in stored] == [1000, 1000, 8000, 9 << 17]
    assert grown(1 << 20, 1000, 64, 1 << 20) == (1 << 15) + (1 << 18)


def test_growth_where_few_are_new():
    """Then more room at once would hold what is there already."""
    assert [grown(1 << 20, 1000, 256, n) for n in (0, 1 << 10, 1 << 18)] == [
        1 << 17,
        (1 << 17) + (3 << 10),
        (1 << 17) + (3 << 18),
    ]


def test_growth_goes_on_where_all_are_new():
    """An eighth of what is stored accumulates each time: what is merged again and again is not."""
    stored, room, merged = 0, 1024, 0
    while stored < 10**7:
        stored, merged = stored + room, merged + stored + room
        room = max(room, grown(stored, 1024, 32, room))
    assert merged < 12 * stored


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
@pytest.mark.parametrize("columns", [50, 1 << 40])
def test_many_components_of_any_kind(backend, dtype, columns):
    """Dense groups where components lie close together, sorted ones where they do not."""
    rng = np.random.default_rng(6)
    X, Y = rng.integers(0, 400, 40_000), rng.integers(0, 50, 40_000)
    v = rng.integers(-1, 2, 40_000).astype(dtype)
    text = f"ln.declare(w, 0, (400, {columns}))\nfor t in ...:\n    w[X[t], Y[t]] += v[t]"
    with ln.config(backend=backend):
        w = ln.Kernel(parse_text(text))(ln.empty_tensor(ln.workspace(2, ln.Coord())), X, Y, v)
    expected = np.zeros((400, 50), dtype)
    np.add.at(expected, (X, Y), v)
    coordinates, values = unpack(w)
    assert w.nnz == len(set(zip(X, Y, strict=True)))
    assert np.array_equal(values, expected[tuple(coordinates)])


@pytest.mark.parametrize("columns", [50, 1 << 40])
def test_the_last_of_many_assignments_counts(columns):
    rng = np.random.default_rng(7)
    X, Y, v = rng.integers(0, 400, 40_000), rng.integers(0, 50, 40_000), rng.random(40_000)
    text = f"ln.declare(w, 0, (400, {columns}))\nfor t in ...:\n    w[X[t], Y[t]] = v[t]"
    w = ln.Kernel(parse_text(text))(ln.empty_tensor(ln.workspace(2, ln.Coord())), X, Y, v)
    expected = np.zeros((400, 50))
    expected[X, Y] = v
    coordinates, values = unpack(w)
    assert np.array_equal(values, expected[tuple(coordinates)])
