"""What FINCH says of the work that a program does, counted: the turns of all loops.

Galloping (Table 5), the four intersections (Fig. 2), masks and runs.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from tests.visits import work

import linnet as ln
from linnet.formats.format import Format
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel

LIST = ln.SparseList(ln.Element(0.0))
LISTS = [LIST, ln.SparseCOO(1, ln.Element(0.0))]
EXAMPLE = Path(__file__).parents[2] / "examples" / "finch" / "intersection.py"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def turns(kernel: Kernel, *tensors: ln.Tensor) -> int:
    """The work of a call, which is then done: its result is what the kernel means."""
    found = work(kernel, *tensors)
    kernel(*tensors)
    ((name, expected),) = kernel.reference(*tensors).items()
    result = tensors[kernel.params.index(name)]
    np.testing.assert_array_equal(result.to_numpy(), expected)
    return found


# -- galloping: a mutual binary search -------------------------------------------------------------


@ln.kernel
def walking(s, a, b):
    s[...] = 0
    for i in ...:
        s[()] += a[ln.walk(i)] * b[ln.walk(i)]


@ln.kernel
def galloping(s, a, b):
    s[...] = 0
    for i in ...:
        s[()] += a[ln.gallop(i)] * b[ln.gallop(i)]


@ln.kernel
def leading(s, a, b):
    s[...] = 0
    for i in ...:
        s[()] += a[ln.gallop(i)] * b[i]


@ln.kernel
def joining(s, a, b, c):
    s[...] = 0
    for i in ...:
        s[()] += a[ln.gallop(i)] * b[ln.gallop(i)] * c[ln.gallop(i)]


def searches(size: float) -> float:
    """Turns for an entry that is looked for: steps that double, halvings, and those of the walk."""
    return 2 * np.log2(size) + 4


def in_turn(count: int, size: int, parts: int, format: Format) -> list[ln.Tensor]:
    """Vectors that take turns: each stores whole stretches of `size` where the others do not.

    All of them store the last element.
    """
    place = np.arange(count * parts * size)
    turn = place // size % count
    arrays = [np.where(turn == k, place % 7 + 1.0, 0.0) for k in range(count)]
    for array in arrays:
        array[-1] = 3.0
    return [ln.asarray(array, format=format) for array in arrays]


@pytest.mark.parametrize("format", LISTS, ids=str)
@pytest.mark.parametrize("kernel", [galloping, leading], ids=lambda k: k.__name__)
def test_galloping_lists_look_at_few_entries(kernel, format):
    """For each turn some steps of a search: the logarithm of what a walk looks at."""
    for parts in (1, 5):
        for size in (64, 1024):
            a, b = in_turn(2, size, parts, format)
            stored = a.nnz + b.nnz
            assert turns(walking, ln.scalar(0.0), a, b) == stored - 1  # the last are met at once
            assert turns(kernel, ln.scalar(0.0), a, b) < 2 * parts * searches(size)


@pytest.mark.parametrize("format", LISTS, ids=str)
def test_longer_lists_take_a_few_more_steps(format):
    short, long = (
        turns(galloping, ln.scalar(0.0), *in_turn(2, size, 4, format)) for size in (64, 64 * 16)
    )
    assert short < long < 2 * short


@pytest.mark.parametrize("format", LISTS, ids=str)
def test_three_galloping_lists_join(format):
    parts, size = 4, 512
    tensors = in_turn(3, size, parts, format)
    assert turns(joining, ln.scalar(0.0), *tensors) < 3 * parts * searches(size)


def test_a_short_list_leads_a_long_one():
    """Three entries against ten thousand."""
    n = 20_000
    few = ln.tensor([[5, 9_000, 19_998]], [1.0, 2.0, 3.0], (n,), format=LIST)
    many = ln.tensor([np.arange(0, n, 2)], np.ones(n // 2), (n,), format=LIST)
    assert turns(galloping, ln.scalar(0.0), few, many) < 3 * searches(n // 2)


RUNS = ln.SparseRunList(ln.Element(0.0))
BLOCKS = ln.SparseBlockList(ln.Element(0.0))
COVER = ln.RunList(ln.Element(0.0))


@pytest.mark.parametrize(
    "formats",
    [(RUNS, RUNS), (BLOCKS, BLOCKS), (RUNS, BLOCKS), (LIST, RUNS), (BLOCKS, LIST)],
    ids=lambda formats: " and ".join(map(str, formats)),
)
@pytest.mark.parametrize("kernel", [galloping, leading], ids=lambda k: k.__name__)
def test_galloping_runs_and_blocks_are_searched_for_where_they_end(kernel, formats):
    """Every second element of a stretch is a run, or a block, of its own."""
    size = 1024
    for parts in (1, 3):
        tensors = []
        for dense, format in zip(in_turn(2, size, parts, LIST), formats, strict=True):
            array = dense.to_numpy().copy()
            array[:-1:2] = 0
            tensors.append(ln.asarray(array, format=format))
        walked = turns(walking, ln.scalar(0.0), *tensors)
        found = turns(kernel, ln.scalar(0.0), *tensors)
        assert found < 2 * parts * searches(size) < walked / 20


@pytest.mark.parametrize("few", [LIST, RUNS, BLOCKS], ids=str)
@pytest.mark.parametrize("many", [COVER, RUNS, BLOCKS], ids=str)
def test_three_entries_lead_many_runs(few, many):
    n = 20_000
    a = ln.tensor([[5, 9_001, 19_999]], [1.0, 2.0, 3.0], (n,), format=few)
    b = ln.asarray(np.arange(n) % 2 * 1.0, format=many)
    assert turns(galloping, ln.scalar(0.0), a, b) < 3 * searches(n)


# -- Fig. 2: four strategies -----------------------------------------------------------------------


def strategies() -> dict[str, Kernel]:
    spec = importlib.util.spec_from_file_location("finch_intersection", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return {kernel.__name__: kernel for kernel in example.STRATEGIES}


def test_fig2_work_of_four_strategies(rng):
    """There are as many steps as entries; with a list of all even indices, as many as it has.

    What is made on the way is walked, too: the even entries of one, those that both share.
    """
    n, stored = 3000, 200
    a, b = (np.sort(rng.choice(n, stored, replace=False)) for _ in range(2))
    operands = [ln.tensor([x], x + 1.0, (n,), format=LIST) for x in (a, b)]
    both, even = 2 * stored, n // 2
    most = {"at_once": both, "before": stored + both, "after": both + stored}
    most["as_a_list"] = even + (even + both)
    for name, kernel in strategies().items():
        assert turns(kernel, ln.empty_tensor(LIST), *operands) <= most[name], name


# -- masks and runs --------------------------------------------------------------------------------


@ln.kernel
def triangle(s, A):
    s[...] = 0
    for i, j in ...:
        if j <= i:
            s[()] += A[i, j]


@ln.kernel
def near(s, A):
    s[...] = 0
    for i, j in ...:
        if abs(i - j) <= 1:
            s[()] += A[i, j]


@ln.kernel
def window(s, A):
    s[...] = 0
    for i in range(10, 14):
        for j in range(20, 23):
            s[()] += A[i, j]


@pytest.mark.parametrize(
    ("kernel", "rows", "inside"),
    [(triangle, 40, 40 * 41 // 2), (near, 40, 3 * 40 - 2), (window, 4, 12)],
)
def test_masks_narrow_what_is_walked(kernel, rows, inside):
    """Of a dense matrix nothing else is walked; of a list, both ends are searched for besides."""
    array = np.arange(1.0, 1601.0).reshape(40, 40)
    assert turns(kernel, ln.scalar(0.0), ln.asarray(array)) == rows + inside
    searched = turns(kernel, ln.scalar(0.0), ln.asarray(array, format=ln.CSR))
    assert searched <= rows * 2 * np.ceil(np.log2(40)) + rows + inside


@pytest.mark.parametrize("format", [ln.RunList, ln.SparseRunList, ln.SparseInterval], ids=str)
def test_runs_are_read_once_whatever_their_length(format):
    @ln.kernel
    def total(s, x):
        s[...] = 0
        for i in ...:
            s[()] += x[i]

    counts = set()
    for length in (3, 3000):
        array = np.zeros(4 * length)
        array[length : 2 * length] = 5.0
        x = ln.asarray(array, format=format(ln.Element(0.0)))
        counts.add(turns(total, ln.scalar(0.0), x))
    assert len(counts) == 1
    assert counts.pop() <= 3  # runs


@pytest.mark.parametrize("update", ["s[()] += A[i, i]", "s[()] *= A[i, i]"])
@pytest.mark.parametrize(
    "format", [ln.CSF(2), ln.COO(2), ln.SparseHash(ln.SparseHash(ln.Element()))]
)
def test_diagonals_of_rows_that_are_not_stored(format, update, capfd, tmp_path):
    """Rows between two that are stored are one update; LLVM remarked on loops over products."""
    text = f"def f(s, A):\n    s[...] = 1\n    for i in ...:\n        {update}\n    return s"
    kernel = Kernel(parse_text(text))
    dense = np.full((100, 100), 7)
    dense[5, 5], dense[6, 6] = 3, 0
    A = ln.asarray(dense, format=format, fill_value=7)
    powers = 0 if "+" in update else 7  # of the value between them, by doubling
    assert work(kernel, ln.scalar(1), A) <= 2 + powers
    with ln.config(cache_dir=str(tmp_path)):
        for x in (A, ln.asarray(7 - dense, format=format)):
            elements = np.diagonal(x.to_numpy())
            expected = elements.prod() if "*" in update else elements.sum() + 1
            assert kernel(ln.scalar(1), x).item() == expected
    assert capfd.readouterr() == ("", "")
