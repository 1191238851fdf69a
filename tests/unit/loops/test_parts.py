"""Parts of ranges: how they are written, what they mean, and which loops go through all of them."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet import loops
from linnet.errors import KernelSyntaxError
from linnet.frontend.text import parse_text
from linnet.loops.parts import counted, covered
from linnet.loops.printer import show
from linnet.loops.ranges import part_of, parts_in

TILED = """\
def kernel(y, x):
    for t in range(ln.parts(range(1, 9), 3)):
        for i in ln.part(range(1, 9), t, 3):
            y[i] = x[i]
    return y"""
TWICE = """\
for t in range(ln.parts(range(9), 4)):
    for s in range(ln.parts(ln.part(range(9), t, 4), 2)):
        for i in ln.part(ln.part(range(9), t, 4), s, 2):
            y[i] = x[i]"""
UP = """\
for t in range(3):
    for i in ln.part(range(9), t, ln.parts(range(9), 3)):
        y[i] = x[i]"""
TWICE_UP = """\
for t in range(ln.parts(range(9), 4)):
    for s in range(3):
        for i in ln.part(ln.part(range(9), t, 4), s, ln.parts(ln.part(range(9), t, 4), 3)):
            y[i] = x[i]"""
ONE = """\
for t in range(ln.parts(range(9), 4)):
    for s in range(1):
        for i in ln.part(ln.part(range(9), t, 4), s, ln.parts(ln.part(range(9), t, 4), 1)):
            y[i] = x[i]"""
COUNTED = """\
for r in range(2):
    for t in ln.part(range(ln.parts(range(9), 2)), r, ln.parts(range(ln.parts(range(9), 2)), 2)):
        for i in ln.part(range(9), t, 2):
            y[i] = x[i]"""
SOME = """\
for t in range(2):
    for i in ln.part(range(9), t, 2):
        y[i] = x[i]"""
AGAIN = """\
for t in range(3):
    for i in ln.part(range(9), 0, 2):
        y[i] = x[i]"""
BETWEEN = """\
for t in range(ln.parts(range(9), 2)):
    for k in range(2):
        for i in ln.part(range(9), t, 2):
            y[i] = x[i]"""


def outermost(text: str) -> loops.Loop:
    body = parse_text(text).body
    assert isinstance(body, loops.Loop)
    return body


def test_they_print_and_read_back():
    assert show(parse_text(TILED)) == TILED


@pytest.mark.parametrize("length", [0, 1, 5, 6, 7])
@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_parts_put_together_are_the_range(length: int, size: int):
    whole = range(4, 4 + length)
    count = parts_in(whole, size)
    parts = [part_of(whole, t, size) for t in range(count)]
    assert [i for part in parts for i in part] == list(whole)
    assert all(len(part) == size for part in parts[:-1])
    assert not part_of(whole, count, size)
    assert not part_of(whole, -1, size)


def test_there_are_no_parts_of_no_size():
    assert parts_in(range(5), 0) == 0
    assert not part_of(range(5), 0, 0)


@pytest.mark.parametrize(
    "text", [TWICE, UP, TWICE_UP, ONE, COUNTED], ids=["twice", "up", "twice up", "one", "counted"]
)
def test_counters_of_all_parts_cover_the_range(text: str):
    loop = outermost(text)
    inner = counted(loop)
    assert inner is not None
    assert inner.index == "i"
    assert covered(loop) == loops.Extent(loops.Literal(0), loops.Literal(9))


def test_a_counter_of_some_parts_covers_nothing_known():
    loop = outermost(SOME)
    assert counted(loop) is not None
    assert covered(loop) is None


@pytest.mark.parametrize("text", [AGAIN, BETWEEN], ids=["again", "between"])
def test_loops_that_repeat_a_part_are_no_counters(text: str):
    assert counted(outermost(text)) is None


@ln.kernel
def every_part(y, x, n):
    y[...] = 0
    for t in range(n[()]):
        for i in ln.part(range(x.shape[0]), t - 1, 3):
            y[i] += x[i]
    return y


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_there_is_nothing_before_the_first_part_nor_behind_the_last(count: int):
    x = ln.asarray(np.arange(1.0, 8.0))
    y = every_part(ln.empty_tensor(ln.DENSE(1)), x, ln.scalar(count))
    seen = np.arange(7) < 3 * (count - 1)
    assert np.array_equal(y.to_numpy(), np.where(seen, x.to_numpy(), 0))


@ln.kernel
def of_a_size(y, x, size):
    y[...] = 0
    for t in range(ln.parts(range(x.shape[0]), size[()])):
        for i in ln.part(range(x.shape[0]), t, size[()]):
            y[i] += x[i]
    return y


@pytest.mark.parametrize("size", [-(2**63), -1, 0, 1, 3, 7, 100, 2**63 - 1])
def test_a_size_may_be_any_number(size: int):
    x = ln.asarray(np.arange(1.0, 8.0))
    y = of_a_size(ln.empty_tensor(ln.DENSE(1)), x, ln.scalar(size))
    assert np.array_equal(y.to_numpy(), x.to_numpy() * (size > 0))


@ln.kernel
def repeated(y, x):
    y[...] = 0
    for _ in range(3):
        for i in ln.part(range(x.shape[0]), 0, 8):
            y[i] += x[i]
    return y


def test_a_part_that_is_visited_again_does_not_begin_anew():
    x = ln.asarray(np.ones(20))
    y = repeated(ln.empty_tensor(ln.DENSE(1)), x)
    assert np.array_equal(y.to_numpy(), 3.0 * (np.arange(20) < 8))


def test_wrong_words():
    with pytest.raises(KernelSyntaxError, match="a part has a range, a number and a size"):
        parse_text("for i in ln.part(range(9), 3):\n    y[i] = x[i]")
    with pytest.raises(KernelSyntaxError, match="parts are those of a range"):
        parse_text("for i in range(ln.parts(range(9))):\n    y[i] = x[i]")
