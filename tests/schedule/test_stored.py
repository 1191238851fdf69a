"""Loops over what a tensor stores, and over products of ranges, as users write them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import agree

import linnet as ln
from linnet.errors import FormatError, KernelSyntaxError, LinnetError, ScheduleError
from linnet.frontend.text import parse_text
from linnet.loops.printer import show
from linnet.runtime.kernel import Kernel

FORMATS = {
    "CSR": ln.CSR,
    "DCSR": ln.DCSR,
    "COO": ln.COO,
    "CSC": ln.CSC,
    "DCSC": ln.DCSC,
    "DENSE": ln.DENSE(2),
    "columns": ln.DENSE(2).with_order(1, 0),
    "lists": ln.Dense(ln.SparseCOO(1, ln.Element(0.0))),
}


@ln.kernel
def all_of_it(y, A, x):
    y[...] = 0
    for i, j in ln.stored(A):
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def tiles(y, A, x):
    y[...] = 0
    for t in range(ln.parts(ln.stored(A), 5)):
        for i, j in ln.part(ln.stored(A), t, 5):
            y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def sums_of_tiles(y, A, x):
    y[...] = 0
    for t in range(ln.parts(ln.stored(A), x.shape[0])):
        for i, j in ln.part(ln.stored(A), t, x.shape[0]):
            if t < y.shape[0]:
                y[t] += A[i, j]
    return y


@ln.kernel
def outer_ones(y, A, x):
    y[...] = 0
    for k in range(2):
        for i, j in ln.stored(A):
            if A[i, j] > k:
                d = A[i, j]
                y[i] += d * x[j]
    return y


@ln.kernel
def with_another(y, A, B):
    y[...] = 0
    for i, j in ln.stored(A):
        y[i] += A[i, j] * B[j, i]
    return y


@ln.kernel
def doubled(C, A):
    C[...] = 0
    for t in range(ln.parts(ln.stored(A), 3)):
        for i, j in ln.part(ln.stored(A), t, 3):
            C[i, j] = A[i, j] * 2
    return C


@ln.kernel
def rows(y, A, x):
    y[...] = 0
    for i in ...:
        for j in ln.stored(A[i, :]):
            y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def tiles_of_rows(y, A, x):
    y[...] = 0
    for i in ...:
        for t in range(ln.parts(ln.stored(A[i, :]), 2)):
            for j in ln.part(ln.stored(A[i, :]), t, 2):
                y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def filled_rows(y, A, x):
    y[...] = 0
    for i in ln.stored(A[:]):
        for j in ...:
            y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def pairs(C, A):
    C[...] = 0
    for t in range(ln.parts(ln.product(range(A.shape[0]), range(A.shape[1])), 7)):
        for i, j in ln.part(ln.product(range(A.shape[0]), range(A.shape[1])), t, 7):
            C[i, j] = A[i, j] * 2
    return C


@ln.kernel
def callee(y, A, x):
    for i, j in ln.stored(A):
        y[i] += A[i, j] * x[j]


@ln.kernel
def caller(y, M, v):
    y[...] = 0
    callee(y, M, v)
    return y


@pytest.fixture
def operands():
    rng = np.random.default_rng(1)
    A = rng.integers(1, 9, (9, 7)) * (rng.random((9, 7)) < 0.3)
    A[2:5] = 0
    return A.astype(float), rng.integers(1, 9, 7).astype(float)


def result(format=None):
    return ln.empty_tensor(format or ln.DENSE(1))


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("kernel", [all_of_it, tiles, sums_of_tiles, outer_ones])
def test_in_every_format(operands, kernel, format):
    A, x = operands
    agree(kernel, {"y": result(), "A": ln.asarray(A, format=format), "x": ln.asarray(x)})


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("other", [ln.CSR, ln.CSC, ln.DENSE(2)], ids=["CSR", "CSC", "DENSE"])
def test_others_are_looked_up(operands, format, other):
    A, _ = operands
    B = np.arange(63.0).reshape(7, 9) % 4
    given = {"y": result(), "A": ln.asarray(A, format=format), "B": ln.asarray(B, format=other)}
    agree(with_another, given)


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("out", [ln.CSR, ln.CSC, ln.DENSE(2)], ids=["CSR", "CSC", "DENSE"])
@pytest.mark.parametrize("kernel", [doubled, pairs])
def test_sparse_results(operands, format, out, kernel):
    A, _ = operands
    agree(kernel, {"C": result(out), "A": ln.asarray(A, format=format)})


@pytest.mark.parametrize("name", ["CSR", "DCSR", "COO", "DENSE", "lists"])
@pytest.mark.parametrize("kernel", [rows, tiles_of_rows])
def test_rows(operands, kernel, name):
    A, x = operands
    if name == "COO" and kernel is tiles_of_rows:
        name = "CSR"
    agree(kernel, {"y": result(), "A": ln.asarray(A, format=FORMATS[name]), "x": ln.asarray(x)})


@pytest.mark.parametrize("name", ["DCSR", "DENSE"])
def test_rows_that_are_stored(operands, name):
    A, x = operands
    agree(
        filled_rows, {"y": result(), "A": ln.asarray(A, format=FORMATS[name]), "x": ln.asarray(x)}
    )


def test_a_kernel_that_is_called(operands):
    A, x = operands
    for name in ("CSR", "CSC"):
        given = ln.asarray(A, format=FORMATS[name])
        agree(caller, {"y": result(), "M": given, "v": ln.asarray(x)})


def test_indices_are_bound_by_mode():
    """Whatever the order of storage: that is put in order, and an order can be said."""
    A = ln.asarray(np.eye(3), format=ln.CSC)
    text = all_of_it.loops(result(), A, np.ones(3))
    assert "for j, i in ln.stored(A[:, :], order=(1, 0)):" in text
    said = "for j, i in ln.stored(A[:, :], order=(1, 0)):\n    y[i] += A[i, j]"
    assert show(parse_text(said).body) == said


WRONG = {
    "not read": ("for i, j in ln.stored(A):\n    y[i] += 1", "`A[i, j]` is not read in the loop"),
    "read elsewhere": (
        "for i, j in ln.stored(A):\n    y[i] += A[j, i]",
        "`A[i, j]` is not read in the loop",
    ),
    "read twice": (
        "for i, j in ln.stored(A):\n    y[i] += A[i, j] + A[j, i]",
        "`A` is read at several places",
    ),
    "beside": (
        "for i, j in ln.stored(A):\n    y[i] += A[i, j] + 1",
        "is to be done where `A` stores nothing",
    ),
    "written": (
        "for i, j in ln.stored(B):\n    B[i, j] += A[i, j]",
        "`B` is written, and has no positions before it is complete",
    ),
    "too few": (
        "for i in ln.stored(A):\n    for j in ...:\n        y[i] += A[i, j]",
        "`A` is gone through by 1 index",
    ),
    "too many": (
        "for i, j, k in ln.stored(A):\n    y[i] += A[i, j]",
        "`A` is gone through by 3 indices",
    ),
    "no such mode": (
        "for i, j in ln.stored(A[:, ..., :]):\n    y[i] += A[i, j]",
        "goes through more than `A` has",
    ),
    "apart": (
        "for i in ln.along(ln.stored(A)):\n    y[i] += A[i, 0]",
        "is not one of several loops that go along together",
    ),
    "counted elsewhere": (
        "for t in range(ln.parts(ln.stored(A), 2)):\n    y[t] += A[t, 0]",
        "positions of `A` are counted where no loop goes through them",
    ),
    "counted for a value": (
        "y[0] = ln.parts(ln.stored(A), 2)\nfor i, j in ln.stored(A):\n    y[i] = A[i, j]",
        "positions of `A` are counted where no loop goes through them",
    ),
}
SYNTAX = {
    "indices": (
        "for i in ln.stored(A[:, :]):\n    y[i] += A[i, 0]",
        "`ln.stored(A[:, :])` has 2 indices, not 1",
    ),
    "an element": ("for i in ln.stored(A[0, 0]):\n    y[i] += 1", "that of a tensor"),
    "a number": ("for i in ln.stored(3):\n    y[i] += A[i, 0]", "that of a tensor"),
    "a slice": ("for i in ln.stored(A[0, 1:]):\n    y[i] += A[i, 0]", "a slice"),
    "order": (
        "for i, j in ln.stored(A[:, :], order=(0, 2)):\n    y[i] += A[i, j]",
        "an order has the numbers of the modes",
    ),
    "product": (
        "for i in ln.product(range(3)):\n    y[i] += A[i, 0]",
        "a product is one of two ranges",
    ),
    "product of what is stored": (
        "for i, j in ln.product(range(3), ln.stored(A[0, :])):\n    y[i] += A[i, j]",
        "a product is one of two ranges",
    ),
    "along": (
        "for i in ln.along(range(3)):\n    y[i] += A[i, 0]",
        "what a loop goes along has several",
    ),
}


def of_text(text: str):
    body = text.replace("\n", "\n    ")
    return Kernel(parse_text(f"def k(y, A, B):\n    y[...] = 0\n    {body}\n    return y"))


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_loops_that_a_tensor_cannot_lead(text, message):
    with pytest.raises(KernelSyntaxError) as caught:
        of_text(text)(result(), *map(ln.asarray, (np.eye(3), np.eye(3))))
    assert message in caught.value.message
    assert caught.value.at is not None
    assert caught.value.hint


@pytest.mark.parametrize(("text", "message"), SYNTAX.values(), ids=SYNTAX)
def test_loops_that_are_none(text, message):
    with pytest.raises(KernelSyntaxError) as caught:
        of_text(text)
    assert message in caught.value.message
    assert caught.value.at is not None
    assert caught.value.hint


def test_rows_of_what_is_stored_by_columns(operands):
    A, x = operands
    with pytest.raises(FormatError, match="`A` is stored in the order j, i") as caught:
        rows(result(), ln.asarray(A, format=ln.CSC), x)
    assert caught.value.hint


def test_one_of_several_indices_is_no_loop_for_commands(operands):
    A, x = operands
    with pytest.raises(ScheduleError, match="`i` is one of the indices"):
        all_of_it.schedule().split("i", "i0", "i1", 2)(result(), ln.asarray(A, format=ln.CSR), x)


def test_words_mean_nothing_outside():
    for call in (lambda: ln.stored(3), lambda: ln.product(range(3)), lambda: ln.along(3)):
        with pytest.raises(LinnetError, match="means nothing outside a kernel"):
            call()


@ln.kernel
def changing(y):
    s = ln.scalar(0)
    s[...] = 2
    y[...] = 0
    for i, _j in ln.product(range(3), range(s[()])):
        y[i] += 1
        s[()] += 1
    return y


def test_a_range_of_a_product_is_read_once():
    """What the body changes does not change how far it goes."""
    y = changing(ln.empty_tensor(ln.DENSE(1)))
    assert y.to_numpy().tolist() == [2, 2, 2]


@ln.kernel
def as_many_parts(y, x, c):
    y[...] = 0
    for t in range(c.shape[0]):
        for i in ln.part(range(x.shape[0]), t, ln.parts(range(x.shape[0]), c.shape[0])):
            y[i] = x[i] + 1
    return y


@pytest.mark.parametrize("count", [0, 1, 3])
def test_no_parts_at_all_leave_a_result_as_it_begins(count):
    args = {"y": result(), "x": ln.asarray(np.full(7, 7.0)), "c": ln.asarray(np.ones(count))}
    agree(as_many_parts, args)
    assert "fill y" in as_many_parts.visits(*args.values())
