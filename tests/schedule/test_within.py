"""Positions whose coordinates lie within a range: of loops over a part of a dimension."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import agree
from tests.visits import work

import linnet as ln
from linnet.errors import FormatError, KernelSyntaxError, ScheduleError
from linnet.frontend.text import parse_text
from linnet.loops.printer import show

FORMATS = {
    "CSR": ln.CSR,
    "DCSR": ln.DCSR,
    "COO": ln.COO,
    "BAND": ln.BAND,
    "pinpoints": ln.Dense(ln.SparsePinpoint(ln.Element(0.0))),
    "lists of coordinates": ln.Dense(ln.SparseCOO(1, ln.Element(0.0))),
}
MATRICES = {"some": (9, 21, 0.3), "nothing": (9, 21, 0), "no rows": (0, 21, 0), "one": (1, 1, 1)}
INNER = [
    "split(j, j0, j1, 8) pos(j1, q, A) split(q, q0, q1, 4)",
    "split(j, j0, j1, 8) reorder(j0, i, j1) pos(j1, q, A) split(q, q0, q1, 2)",
    "split(j, j0, j1, 3, up) pos(j1, q, A)",
    "split(j, j0, j1, 8) split(j1, j2, j3, 3) pos(j3, q, A)",
    "bound(j, Divisible, 1) pos(j, q, A)",
]
TOGETHER = [
    "collapse(i, j, f) split(f, f0, f1, 10) pos(f1, q, A) split(q, q0, q1, 3)",
    "collapse(i, j, f) split(f, f0, f1, 10) pos(f1, q, A)",
    "split(i, i0, i1, 4) collapse(i1, j, f) pos(f, q, A) split(q, q0, q1, 3)",
    "split(i, i0, i1, 4) collapse(i1, j, f) pos(f, q, A)",
    "bound(i, Divisible, 1) collapse(i, j, f) pos(f, q, A) split(q, q0, q1, 3, up)",
    "split(i, i0, i1, 4) collapse(i1, j, f) pos(f, q, A, flat) split(q, q0, q1, 3)",
]


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def scale(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * 2
    return C


def matrix(name, format):
    n, m, share = MATRICES[name]
    rng = np.random.default_rng(2)
    found = rng.integers(1, 9, (n, m)) * (rng.random((n, m)) < share) * 1.0
    if format is FORMATS["pinpoints"]:
        found *= np.cumsum(found != 0, axis=1) == 1
    return found


def result(format=None):
    return ln.empty_tensor(format or ln.DENSE(1))


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", INNER + TOGETHER)
def test_positions_of_a_part_of_coordinates(name, format, text):
    if format == "COO" and text in INNER:
        format = "DCSR"  # a COO goes through both of its dimensions
    array = matrix(name, FORMATS[format])
    if "flat" in text and format in ("BAND", "pinpoints"):
        return  # these have no list of positions
    A, x = ln.asarray(array, format=FORMATS[format]), np.arange(1.0, array.shape[1] + 1)
    y = spmv.schedule().apply(text)(result(), A, ln.asarray(x))
    assert np.array_equal(y.to_numpy(), array @ x)
    C = scale.schedule().apply(text)(result(ln.CSR), A)
    assert np.array_equal(C.to_numpy(), array * 2)
    assert C.nnz == (np.count_nonzero(array) if format == "pinpoints" else A.nnz)


@ln.kernel
def inside(y, A):
    y[...] = 0
    for i in ...:
        for j in range(1, 4):
            y[i] += A[i, j]
    return y


@ln.kernel
def above(y, A):
    y[...] = 0
    for i in ...:
        for j in range(i, A.shape[1]):
            y[i] += A[i, j]
    return y


@ln.kernel
def as_far_as(y, A, x):
    y[...] = 0
    for i in ...:
        for j in range(x.shape[0]):
            y[i] += A[i, j] * 2
    return y


@pytest.mark.parametrize("kernel", [inside, above, as_far_as])
@pytest.mark.parametrize("format", ["CSR", "DCSR", "BAND"])
def test_a_loop_over_some_of_a_dimension_goes_through_no_more(kernel, format):
    array = matrix("some", FORMATS[format])[:, :9]
    args = [ln.asarray(array, format=FORMATS[format])]
    args += [ln.asarray(np.ones(5))] if kernel is as_far_as else []
    expected = kernel(result(), *args).to_numpy()
    found = kernel.schedule().apply("pos(j, p, A) split(p, p0, p1, 2)")(result(), *args)
    assert np.array_equal(found.to_numpy(), expected)


def test_a_whole_dimension_is_not_searched_for():
    A, x = ln.asarray(matrix("some", ln.CSR), format=ln.CSR), ln.asarray(np.ones(21))
    assert "search" not in spmv.schedule().apply("pos(j, p, A)").code(result(), A, x)
    assert "search" in spmv.schedule().apply(INNER[0]).code(result(), A, x)


@pytest.mark.parametrize("text", INNER[:3] + TOGETHER)
def test_no_more_than_the_parts_is_visited(text):
    """Besides what is stored, a part costs its own turn, those of its tiles, and searches."""
    A, x = ln.asarray(matrix("some", ln.CSR), format=ln.CSR), ln.asarray(np.ones(21))
    visits = spmv.schedule().apply(text).visits(result(), A, x)
    assert visits["i, j in A" if "flat" in text else "j in A[i, j]"] == A.nnz
    searches = visits.get("search", 0) + visits.get("fiber_of", 0)
    parts, tiles = 9 * 3, A.nnz
    assert visits.total - searches <= work(spmv, result(), A, x) + parts + 2 * tiles


def test_results_stay_in_order():
    """Parts of coordinates follow one another, so that a sparse result needs no workspace."""
    A = ln.asarray(matrix("some", ln.CSR), format=ln.CSR)
    for text in INNER[:4:2]:
        found = scale.schedule().apply(text).loops(result(ln.CSR), A)
        assert "ln.temp" not in found


@ln.kernel
def by_hand(y, A, x):
    y[...] = 0
    for i in ...:
        for t in range(ln.parts(range(A.shape[1]), 4)):
            for j in ln.stored(A[i, :], ln.part(range(A.shape[1]), t, 4)):
                y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def tiles_by_hand(y, A, x):
    y[...] = 0
    for t in range(ln.parts(ln.stored(A, range(2, 7)), 3)):
        for i, j in ln.part(ln.stored(A, range(2, 7)), t, 3):
            y[i] += (t + 1) * A[i, j] * x[j]
    return y


@pytest.mark.parametrize("format", ["CSR", "DCSR", "COO"])
@pytest.mark.parametrize("kernel", [by_hand, tiles_by_hand])
def test_users_write_them(kernel, format):
    if format == "COO" and kernel is by_hand:
        format = "DCSR"
    array = matrix("some", FORMATS[format])[:, :7]
    args = {"y": result(), "A": ln.asarray(array, format=FORMATS[format])}
    agree(kernel, args | {"x": ln.asarray(np.arange(1.0, 8))})


def test_they_are_printed_as_they_are_written():
    for kernel in (by_hand, tiles_by_hand):
        text = show(kernel.program)
        assert parse_text(text) == kernel.program
        assert "ln.stored(A" in text


def columns(y, A):
    y[...] = 0
    for i, j in ln.stored(A, ln.part(ln.product(range(A.shape[0]), range(A.shape[1])), 0, 5)):
        y[i] += A[i, j]
    return y


def too_many(y, A):
    y[...] = 0
    for i in ...:
        for j in ln.stored(A[i, :], ln.product(range(A.shape[0]), range(A.shape[1]))):
            y[i] += A[i, j]
    return y


def with_gaps(y, A):
    y[...] = 0
    for i, j in ln.stored(A, ln.part(ln.product(range(A.shape[0]), range(1, 3)), 0, 5)):
        y[i] += A[i, j]
    return y


@pytest.mark.parametrize(
    ("written", "format", "kind", "message"),
    [
        (columns, ln.CSC, FormatError, "`A` does not store the pairs of `ln.part"),
        (too_many, ln.CSR, KernelSyntaxError, "has 1 coordinates, `ln.product"),
        (with_gaps, ln.CSR, KernelSyntaxError, r"`range\(1, 3\)` is not a whole dimension of `A`"),
    ],
)
def test_what_does_not_follow_one_another_is_refused(written, format, kind, message):
    A = ln.asarray(matrix("some", ln.CSR), format=format)
    with pytest.raises(kind, match=message):
        ln.kernel(written)(result(), A)


def test_collapsed_loops_leave_out_rows_only():
    @ln.kernel
    def some(y, A):
        y[...] = 0
        for i in range(2, A.shape[0]):
            for j in range(1, 4):
                y[i] += A[i, j]
        return y

    A = ln.asarray(matrix("some", ln.CSR), format=ln.CSR)
    with pytest.raises(ScheduleError, match="`j` does not run over a whole dimension of `A`"):
        some.schedule().apply("collapse(i, j, f) pos(f, p, A)")(result(), A)
    with pytest.raises(ScheduleError, match="not a whole dimension of `A`, so that positions"):
        some.schedule().apply("collapse(i, j, f) split(f, g, h, 2) pos(h, p, A)")(result(), A)


@ln.kernel
def sums(C, A, x):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += A[i, j, k] * x[k]
    return C


DEEP = [
    "collapse(i, j, g) split(g, g0, g1, 3) collapse(g1, k, f) pos(f, q, A) split(q, q0, q1, 2)",
    "collapse(i, j, g) split(g, g0, g1, 3) collapse(g1, k, f) pos(f, q, A) coord(q, c)",
    "collapse(i, j, g) split(g, g0, g1, 3) pos(k, q, A)",
    "collapse(j, k, g) pos(g, q, A) split(q, q0, q1, 2)",
]


@pytest.mark.parametrize("text", DEEP)
@pytest.mark.parametrize(
    "format", [ln.CSF(3), ln.SparseCOO(2, ln.SparseList(ln.Element(0.0)))], ids=["CSF", "pairs"]
)
def test_subtrees_of_three_levels(text, format):
    """Positions are those below what is bound already, however many levels that are."""
    if "collapse(j, k" in text and format != ln.CSF(3):
        return  # the first level has both i and j
    rng = np.random.default_rng(5)
    array = rng.integers(1, 9, (4, 5, 6)) * (rng.random((4, 5, 6)) < 0.3) * 1.0
    array[1] = 0
    A, x = ln.asarray(array, format=format), ln.asarray(np.arange(1.0, 7))
    found = sums.schedule().apply(text)(result(ln.DENSE(2)), A, x)
    assert np.array_equal(found.to_numpy(), array @ np.arange(1.0, 7))


@pytest.mark.parametrize("then", ["split(f, f0, f1, 5)", "bound(f, Divisible, 1)"])
def test_pairs_of_a_part_and_others_are_not_split_together(then):
    A, x = ln.asarray(np.ones((2, 3, 4)), format=ln.CSF(3)), ln.asarray(np.ones(4))
    text = f"collapse(i, j, g) split(g, g0, g1, 3) collapse(g1, k, f) {then}"
    with pytest.raises(ScheduleError, match=r"collapsed"):
        sums.schedule().apply(text)(result(ln.DENSE(2)), A, x)


@ln.kernel
def beside_a_condition(y, C, A, B):
    y[...] = 0
    C[...] = 0
    for i, j in ...:
        if i <= j:
            y[i] += A[i, j]
        C[i, j] += A[i, j] * B[i, j]
    return y, C


@ln.kernel
def by_rows(y, C, A, B):
    y[...] = 0
    C[...] = 0
    for i in ...:
        t = ln.scalar(0.0)
        for j in ...:
            if i <= j:
                t[()] += A[i, j]
            C[i, j] += A[i, j] * B[i, j]
        y[i] = t[()]
    return y, C


@pytest.mark.parametrize("kernel", [beside_a_condition, by_rows])
@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize(
    "text", ["pos(j, p, A) split(p, a, b, 2)", "split(j, c, d, 4) pos(d, p, A) split(p, a, b, 2)"]
)
def test_every_version_of_a_loop_knows_where_its_parts_are(kernel, backend, text):
    a, b = matrix("some", None), matrix("some", None)[::-1]
    b = b * (np.arange(len(b)) % 2)[:, None]  # rows that B stores, and others, are versions
    given = ln.asarray(a, format=ln.CSR), ln.asarray(b, format=ln.DCSR)
    with ln.config(backend=backend):
        y, C = kernel.schedule().apply(text)(
            ln.empty_tensor(ln.DENSE(1)), ln.empty_tensor(ln.DENSE(2)), *given
        )
    assert np.array_equal(y.to_numpy(), np.triu(a).sum(axis=1))
    assert np.array_equal(C.to_numpy(), a * b)
