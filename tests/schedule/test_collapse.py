"""`collapse` of coordinates with positions: those of all fibers that the outer loop comes to."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.meaning import cells

import linnet as ln
from linnet.compiler import under_schedule
from linnet.errors import ScheduleError
from linnet.loops.interpret import run

MATRICES = {"some": (9, 21, 0.3), "nothing": (9, 21, 0), "no rows": (0, 21, 0), "one": (1, 1, 1)}
FORMATS = {
    "CSR": ln.CSR,
    "DCSR": ln.DCSR,
    "CSC": ln.CSC,
    "BAND": ln.BAND,
    "pinpoints": ln.Dense(ln.SparsePinpoint(ln.Element(0.0))),
    "lists of coordinates": ln.Dense(ln.SparseCOO(1, ln.Element(0.0))),
}
# what is written in two ways, and means the same
SAME = [
    ("pos(j, p, A) collapse(i, p, f)", "collapse(i, j, g) pos(g, f, A)"),
    ("pos(j, p, A, flat) collapse(i, p, f)", "collapse(i, j, g) pos(g, f, A, flat)"),
    ("split(i, i0, i1, 4) pos(j, p, A) collapse(i1, p, f)",
     "split(i, i0, i1, 4) collapse(i1, j, g) pos(g, f, A)"),
    ("bound(i, Divisible, 1) pos(j, p, A) collapse(i, p, f)",
     "bound(i, Divisible, 1) collapse(i, j, g) pos(g, f, A)"),
]  # fmt: skip
THEN = [
    "",
    " split(f, f0, f1, 16)",
    " split(f, f0, f1, 3, up)",
    " split(f, f0, f1, 9) split(f1, f2, f3, 2)",
    " split(f, f0, f1, 16) coord(f1, c)",
    " bound(f, Divisible, 1) split(f, f0, f1, 4)",
    " split(f, f0, f1, 4) precompute(A[i, j] * x[j], f1, q, t)",
]


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def by_columns(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[j] += A[j, i] * x[i]
    return y


@ln.kernel
def scale(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * 2
    return C


@ln.kernel
def fibers(C, A):
    C[...] = 0
    for i, j, k, l in ...:
        C[i, j] += A[i, j, k, l]
    return C


def matrix(name, format=None):
    n, m, share = MATRICES[name]
    rng = np.random.default_rng(2)
    found = rng.integers(1, 9, (n, m)) * (rng.random((n, m)) < share) * 1.0
    if format == "pinpoints":
        found *= np.cumsum(found != 0, axis=1) == 1
    return found


@pytest.mark.parametrize(
    ("format", "then"), [(f, t) for f in FORMATS for t in (THEN if f == "CSR" else THEN[1::2])]
)
@pytest.mark.parametrize(("text", "plain"), SAME)
def test_the_order_of_collapse_and_pos_does_not_matter(format, then, text, plain):
    list_of_all = format not in ("BAND", "pinpoints")
    if "flat" in text and not (list_of_all and "coord" not in then):
        return  # these have no list of positions, or no coordinates
    kernel = by_columns if format == "CSC" else spmv
    if format == "CSC":
        then = then.replace("A[i, j] * x[j]", "A[j, i] * x[i]")
    one, other = (kernel.schedule().apply(t + then) for t in (text, plain))
    for name in MATRICES:
        array = matrix(name, format)
        x = np.arange(1.0, array.shape[1] + 1)
        args = ln.empty_tensor(ln.DENSE(1)), ln.asarray(array, format=FORMATS[format]), x
        assert one.loops(*args) == other.loops(*args)
        assert np.array_equal(one(*args).to_numpy(), array @ x)


@pytest.mark.parametrize("result", [ln.DENSE(2), ln.CSR, ln.COO(2), ln.CSC], ids=str)
@pytest.mark.parametrize("then", THEN[1:6:2])
def test_results_are_written_in_order(result, then):
    A = ln.asarray(matrix("some"), format=ln.CSR)
    found = scale.schedule().apply("pos(j, p, A) collapse(i, p, f)" + then)(
        ln.empty_tensor(result), A
    )
    assert np.array_equal(found.to_numpy(), matrix("some") * 2)
    assert found.nnz == scale(ln.empty_tensor(result), A).nnz


NESTED = [
    "pos(l, p, A) collapse(k, p, f) collapse(j, f, g) collapse(i, g, h)",
    "collapse(i, j, g) pos(l, p, A) collapse(k, p, f) collapse(g, f, h)",
    "collapse(i, j, e) collapse(e, k, g) pos(l, p, A) collapse(g, p, h)",
    "collapse(k, l, g) pos(g, p, A) collapse(j, p, f) collapse(i, f, h)",
    "collapse(k, l, g) pos(g, p, A, flat) collapse(j, p, f) collapse(i, f, h)",
    "split(i, i0, i1, 2) pos(l, p, A) collapse(k, p, f) collapse(j, f, g) collapse(i1, g, h)",
]


@pytest.mark.parametrize("text", NESTED)
@pytest.mark.parametrize("then", ["", " split(h, h0, h1, 3)", " split(h, h0, h1, 4, up)"])
@pytest.mark.parametrize("result", [ln.DENSE(2), ln.DCSR], ids=str)
def test_several_levels(text, then, result):
    rng = np.random.default_rng(3)
    T = rng.integers(1, 9, (4, 3, 5, 4)) * (rng.random((4, 3, 5, 4)) < 0.3) * 1.0
    T[1] = 0
    A = ln.asarray(T, format=ln.CSF(4))
    found = fibers.schedule().apply(text + then)(ln.empty_tensor(result), A)
    assert np.array_equal(found.to_numpy(), T.sum((2, 3)))


@ln.kernel
def spmm(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def moved(y, A, x):
    y[...] = 0
    for i in range(A.shape[0] - 1):
        for j in ...:
            y[i] += A[i + 1, j] * x[j]
    return y


COLLAPSE_FIRST = "collapse coordinates, and then go through the positions"
WRONG = [
    (spmv, "pos(j, p, A) split(p, p0, p1, 4) collapse(p0, p1, f)", COLLAPSE_FIRST),
    (spmv, "split(j, j0, j1, 4) pos(j1, p, A) collapse(j0, p, f)", COLLAPSE_FIRST),
    (spmv, "pos(j, p, A) bound(p, MaxConstraint, 9) collapse(i, p, f)", "of which nothing is said"),
    (spmv, "pos(j, p, A) split(p, p0, p1, 4) collapse(i, p1, f)", "directly inside the loop over"),
    (spmv, "pos(j, p, A) split(p, p0, p1, 4) collapse(i, p0, f) split(f, f0, f1, 4)", "as far as"),
    (
        spmm,
        "pos(j, p, A) collapse(k, p, f)",
        "`k` is no index of `A`, whose positions are",
    ),
    (moved, "pos(j, p, A) collapse(i, p, f)", "`i` is no index of `A`"),
]


@pytest.mark.parametrize(("kernel", "text", "message"), WRONG)
def test_what_is_no_row_of_positions_is_refused(kernel, text, message):
    A = ln.asarray(matrix("some"), format=ln.CSR)
    y = ln.empty_tensor(ln.DENSE(2 if kernel is spmm else 1))
    x = np.ones((21, 4) if kernel is spmm else 21)
    with pytest.raises(ScheduleError, match=message):
        kernel.schedule().apply(text)(y, A, ln.asarray(x))


def test_the_outer_loop_goes_through_coordinates():
    A = ln.asarray(matrix("some"), format=ln.DCSR)
    scheduled = spmv.schedule().apply("pos(i, q, A) pos(j, p, A) collapse(q, p, f)")
    with pytest.raises(ScheduleError, match="`q` goes through positions"):
        scheduled(ln.empty_tensor(ln.DENSE(1)), A, np.ones(21))


def test_rows_that_are_collapsed_out_of_order():
    """Positions of a level follow one another below the level above it."""
    A = ln.asarray(np.ones((3, 4, 5)), format=ln.CSF(3))

    @ln.kernel
    def sums(y, A):
        y[...] = 0
        for j, i, k in ...:
            y[i] += A[i, j, k]
        return y

    with pytest.raises(ScheduleError, match="is stored in the order i, j, k"):
        sums.schedule().apply("pos(k, p, A) collapse(i, p, f)")(ln.empty_tensor(ln.DENSE(1)), A)


def test_where_the_indices_come_from():
    i, j = ln.indices("i j")
    A, x = ln.asarray(matrix("some"), format=ln.CSR), ln.asarray(np.ones(21))
    y = ln.output()
    y[i] = A[i, j] * x[j]
    plan = ln.schedule(y).pos(j, "p", A[i, j]).collapse(i, "p", "f").split("f", "f0", "f1", 4)
    assert str(plan.provenance).splitlines() == [
        "j -> p         pos A[i, j]    j = A.crd_j[p]",
        "i, p -> f      collapse       i = A.crd_i[parent(A.pos_j, f)], p = f",
        "f -> f0, f1    split 4        f = f0 * 4 + f1",
        "loops: f0, f1",
    ]
    plan = plan.coord("f1", "c")
    assert "f = search(A.crd_j, A.begin_j, A.end_j, c % A.shape[1])" in str(plan.provenance)
    plan = ln.schedule(y).split(i, "i0", "i1", 2).pos(j, "p", A[i, j]).collapse("i1", "p", "f")
    plan = plan.split("f", "f0", "f1", 4)
    assert "f = A.first_j + f0 * 4 + f1" in str(plan.provenance)


@ln.kernel
def repeated(y, A):
    y[...] = 0
    for i in ...:
        for j in range(3):
            for k in ...:
                y[i] += A[i, k] * j
    return y


@pytest.mark.parametrize("size", [1, 2, 4, 100])
def test_collapsed_loops_that_vectors_take_apart(size):
    """What a loop through pairs has left is the same in every turn of one between them."""
    array = matrix("some")
    text = f"collapse(i, j, f) split(f, f0, f1, {size}) parallelize(f1, CPUVector, IgnoreRaces)"
    scheduled = repeated.schedule().apply(text)
    y, A = ln.empty_tensor(ln.DENSE(1)), ln.asarray(array)
    assert np.array_equal(scheduled(y, A).to_numpy(), array.sum(1) * 3)
    program = under_schedule(scheduled.program, {"y": ln.DENSE(1), "A": A.format})[0]
    found = run(program, cells(scheduled, {"y": y, "A": A}, {"y": y.format, "A": A.format}))
    assert np.array_equal(found["y"].values, array.sum(1) * 3)
