"""Sums over a few neighbours, in vectors of which the last is masked."""

import ctypes
import mmap
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from linnet.backend import llvm, machine
from linnet.backend.identifiers import symbol
from linnet.imp import (
    OK,
    ZERO,
    Accumulate,
    Argument,
    Binary,
    Block,
    Buffer,
    Cast,
    Const,
    For,
    If,
    Kernel,
    Let,
    Load,
    Stmt,
    Store,
    Unary,
    Var,
    eq,
    widen,
)
from linnet.optimize.vectorize import vectorize
from linnet.target import plain

LENGTHS = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 70]


def blocks(dtype: str, op: str = "+", source: str | None = None) -> Kernel:
    """`y[i]` is the sum of a row of blocks; block t is `start[t] … stop[t]`."""
    n, i, t, j = Var("n"), Var("i"), Var("t"), Var("j")
    start, stop, ptr = (Buffer(name, "int64") for name in ("start", "stop", "ptr"))
    a, x, y = (Buffer("a", source or dtype), Buffer("x", dtype), Buffer("y", dtype))
    part, total, twice = Var("part", dtype), Var("total", dtype), Var("twice", dtype)
    value = Cast(a[j], dtype) if source else a[j]
    doubled = Binary("*", Const(2, dtype), value, dtype)
    loop = For(
        j,
        start[t],
        stop[t],
        Block((
            Let(twice, doubled),
            Accumulate(part, op, Binary("*", twice, Unary("-", x[j], dtype), dtype)),
        )),
    )  # fmt: skip
    row = Block((Let(part, Const(-0.0, dtype)), loop, Accumulate(total, "+", part)))
    body: list[Stmt] = [
        Let(total, Const(0, dtype)),
        For(t, widen(ptr[i]), widen(ptr[i + 1]), row),
        Store(y, i, total),
    ]
    args = (Argument("a", (n,), (ptr, start, stop, a, x, y)),)
    return Kernel("blocks", args, Block((For(i, ZERO, n, Block(tuple(body))),)))


def has_lanes(loop: For, masks: str) -> bool:
    """Whether a loop is run in vectors of which the last has a mask."""
    (found,) = vectorize(Kernel("k", (), Block((loop,))), plain(masks)).body.stmts
    return bool(found.how.ways[-1].masked)


def run(kernel: Kernel, n: int, *arrays: np.ndarray) -> None:
    """Compile with masks, whatever the machine can do, and call."""
    call(llvm.render(vectorize(kernel, plain("all")), plain("all")), kernel, n, *arrays)


def run_both(kernel: Kernel, n: int, *arrays: np.ndarray) -> None:
    """Sums, also where masks cost something: the last array is the same."""
    call(llvm.render(vectorize(kernel, plain("load")), plain("load")), kernel, n, *arrays)
    expected = arrays[-1].copy()
    run(kernel, n, *arrays)
    assert np.array_equal(arrays[-1], expected)


def call(text: str, kernel: Kernel, n: int, *arrays: np.ndarray) -> None:
    assert "llvm.masked.load" in text
    address, owner = machine.load(machine.compile(text), symbol(kernel))
    slots = [n, *(x for a in arrays for x in (a.ctypes.data, a.size, a.size))]
    block = np.array(slots, "int64")
    entry = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)
    assert entry(block.ctypes.data) == OK
    assert owner


def at_the_end_of_memory(values: np.ndarray) -> np.ndarray:
    """The same values, followed by a page that nobody may read."""
    size = -(-values.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert not libc.mprotect(ctypes.c_void_p(base + size), mmap.PAGESIZE, 0)
    placed = np.frombuffer(memory, values.dtype, len(values), size - values.nbytes)
    placed[:] = values
    return placed


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", ["+", "-"])
def test_rows_of_blocks_of_any_length(dtype, op):
    rng = np.random.default_rng(0)
    count = sum(LENGTHS)
    a, x = (at_the_end_of_memory(rng.integers(-9, 9, count).astype(dtype)) for _ in "ax")
    stop = np.cumsum(LENGTHS)
    start = stop - LENGTHS
    ptr = np.array([0, 0, 1, 3, 8, len(LENGTHS)])
    y = np.empty(len(ptr) - 1, dtype)
    run_both(blocks(dtype, op), len(y), ptr, start, stop, a, x, y)
    terms = (-2 if op == "+" else 2) * a * x
    ends = [0, *stop]
    assert y.tolist() == [terms[ends[p] : ends[q]].sum() for p, q in pairwise(ptr)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("known", [1, 2, 3, 4, 5, 8])
def test_blocks_of_which_most_have_one_length(dtype, known):
    """Loops of a known length have lanes of their own, which live as long as the others."""
    kernel = blocks(dtype)
    (rows,) = kernel.body.stmts
    let, loop, store = rows.body.stmts
    begin, inner, add = loop.body.stmts
    fixed = replace(inner, stop=inner.start + known)
    start, stop = inner.start, inner.stop
    chosen = If(eq(stop - start, known), Block((fixed,)), Block((inner,)))
    body = Block((let, replace(loop, body=Block((begin, chosen, add))), store))
    kernel = replace(kernel, body=Block((replace(rows, body=body),)))
    rng, lengths = np.random.default_rng(known), [known, 1, known, 9, known, known, 2, 0, known]
    a, x = (at_the_end_of_memory(rng.integers(-9, 9, sum(lengths)).astype(dtype)) for _ in "ax")
    stops, y = np.cumsum(lengths), np.empty(3, dtype)
    ends, ptr = [0, *stops], np.array([0, 4, 4, len(lengths)])
    run_both(kernel, 3, ptr, stops - lengths, stops, a, x, y)
    assert y.tolist() == [(-2 * a * x)[ends[p] : ends[q]].sum() for p, q in pairwise(ptr)]


def test_the_lanes_of_tiles_are_added_up_once_for_each_row():
    """A sum of four, in a loop over tiles, is not added up in it."""
    kernel = blocks("float64")
    (rows,) = kernel.body.stmts
    let, loop, store = rows.body.stmts
    begin, inner, add = loop.body.stmts
    fixed = replace(inner, stop=inner.start + 4)
    body = Block((let, replace(loop, body=Block((begin, fixed, add))), store))
    kernel = replace(kernel, body=Block((replace(rows, body=body),)))
    for masks in ("all", "load"):
        text = llvm.render(vectorize(kernel, plain(masks)), plain(masks))
        assert text.count("call reassoc nsz contract double @llvm.vector.reduce.fadd.v4f64") == 1
        reduced, done = (
            text.index("reduce.fadd.v4f64("),
            text.index("store double", text.index("reduce.fadd.v4f64(")),
        )
        assert "<4 x double>" in text[:reduced]
        assert "br " not in text[reduced:done]


def test_a_sum_that_is_read_in_between_is_complete():
    """The same loops twice: after one row, and after each of its blocks."""
    kernel = blocks("float64")
    (rows,) = kernel.body.stmts
    let, loop, store = rows.body.stmts
    seen = replace(loop, body=Block((*loop.body.stmts, Store(store.buffer, loop.var, store.value))))
    twice = Block((let, loop, store, let, seen))
    y, ones = np.zeros(3), np.ones(20)
    ends = np.array([3, 12, 20])
    kernel = replace(kernel, body=Block((replace(rows, body=twice),)))
    run_both(kernel, 1, np.array([0, 3]), np.array([0, 3, 12]), ends, ones, ones, y)
    assert y.tolist() == [-6, -24, -40]


def test_narrower_values_and_ranges_that_end_before_they_begin():
    a, x = np.arange(40, dtype="float32"), np.ones(40)
    start, stop = np.array([5, 30, 20]), np.array([16, 2, 20])
    y = np.empty(1)
    run_both(blocks("float64", source="float32"), 1, np.array([0, 3]), start, stop, a, x, y)
    assert y[0] == -2 * sum(range(5, 16))


def test_what_is_not_under_the_mask_takes_no_part():
    x, y = np.array([2.0, 4.0, 0.0, np.nan]), np.zeros(1)
    j, s = Var("j"), Var("s", "float64")
    given, result = Buffer("x", "float64"), Buffer("y", "float64")
    quotient = Binary("/", Const(1, "float64"), given[j], "float64")
    loop = For(j, given_stop := Load(Buffer("p", "int64"), ZERO), Var("n"), Block((
        Accumulate(s, "+", quotient),
    )))  # fmt: skip
    body = Block((Let(s, Const(-0.0, "float64")), loop, Store(result, ZERO, s)))
    kernel = Kernel("k", (Argument("x", (Var("n"),), (given_stop.buffer, given, result)),), body)
    assert has_lanes(loop, "all")
    run(kernel, 2, np.array([0]), x, y)
    assert y[0] == 0.75
    run(kernel, 0, np.array([0]), x, y)
    assert y[0] == 0
    assert np.signbit(y[0])


def test_lanes_are_for_sums_of_neighbours():
    x, j = Buffer("x", "float64"), Var("j")
    s, k = Var("s", "float64"), Var("k", "float64")

    def loop(*stmts: Stmt) -> For:
        return For(j, Var("a"), Var("b"), Block(stmts))

    assert has_lanes(loop(Accumulate(s, "+", x[j])), "all")
    assert has_lanes(loop(Accumulate(s, "+", x[j]), Accumulate(k, "-", x[j + 1])), "all")
    assert not has_lanes(loop(Accumulate(s, "+", x[Binary("*", j, j, "int64")])), "all")
    assert not has_lanes(loop(Accumulate(s, "+", Cast(j, "float64"))), "all")
    assert not has_lanes(loop(Accumulate(s, "*", x[j])), "all")
    assert not has_lanes(loop(Accumulate(s, "+", x[j]), Accumulate(k, "+", s)), "all")
    assert not has_lanes(loop(Accumulate(s, "+", x[j]), Accumulate(s, "+", x[j])), "all")
    assert has_lanes(loop(Store(x, j, k)), "all")
    assert not has_lanes(loop(Store(x, j, k)), "load")
    assert has_lanes(loop(Accumulate(s, "+", x[j])), "load")
    assert not has_lanes(loop(Accumulate(s, "+", x[j])), "")
    sums = [Accumulate(Var(f"s{n}", "float64"), "+", x[j]) for n in range(3)]
    assert has_lanes(loop(*sums), "all")
    assert has_lanes(loop(*sums[:2]), "load")
    assert not has_lanes(loop(*sums), "load")
    for length, laned in ((2, False), (3, False), (4, True), (8, True), (16, False)):
        known = For(j, Var("a"), Var("a") + length, Block((sums[0],)))
        assert has_lanes(known, "load") == laned
    many = tuple(Accumulate(Var(f"s{n}", "float64"), "+", x[j]) for n in range(9))
    assert has_lanes(For(j, Var("a"), Var("a") + 4, Block(many[:8])), "load")
    assert not has_lanes(For(j, Var("a"), Var("a") + 4, Block(many)), "load")
    assert not has_lanes(loop(Store(x, j, k), Accumulate(s, "+", x[j])), "all")
    assert not has_lanes(
        loop(Store(x, j, x[j + 1])), "all"
    )  # what is read there was written before
    assert not has_lanes(loop(Store(Buffer("b", "bool"), j, Const(1, "bool"))), "all")
    n, places = Buffer("n", "int64"), Var("p")
    assert not has_lanes(loop(Store(n, j, Binary("<<", n[j], places, "int64"))), "all")
    assert not has_lanes(loop(Store(n, j, Binary("div", n[j], Const(3, "int64"), "int64"))), "all")


DTYPES = ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [0, 1, 3, 8, 63, 64, 65, 130])
def test_parts_of_rows(dtype, length):
    """`y[j] = (x[j - 1] - x[j]) * x[j + 1] …` within `start … stop`, and nothing beside it."""
    j, n = Var("j"), Var("n")
    x, y, ends = Buffer("x", dtype), Buffer("y", dtype), Buffer("ends", "int64")
    value = Binary("*", Binary("-", x[j - 1], x[j], dtype), x[j + 1], dtype)
    if dtype[0] in "iu":
        right = Binary(">>", x[j], Const(3, dtype), dtype)
        value = Binary("^", value, Binary("<<", right, Const(1, dtype), dtype), dtype)
    kept = Var("kept", dtype)
    loop = For(j, ends[0], ends[1], Block((Let(kept, value), Store(y, j, kept))))
    kernel = Kernel("k", (Argument("x", (n,), (ends, x, y)),), Block((loop,)))
    rng = np.random.default_rng(length)
    given = at_the_end_of_memory(rng.integers(-100, 100, length + 2).astype(dtype))
    result = at_the_end_of_memory(np.full(length + 1, 7, dtype))
    run(kernel, 0, np.array([1, length + 1]), given, result)
    with np.errstate(over="ignore"):
        expected = (given[:-2] - given[1:-1]) * given[2:]
    if dtype[0] in "iu":
        expected ^= given[1:-1] >> 3 << 1
    assert result.tolist() == [7, *expected.tolist()]
