"""Positions of several coordinates in one loop, which finds the outer ones once and tracks them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.docs.pages import kernel_of
from tests.levels.samples import agree

import linnet as ln
from linnet.errors import KernelSyntaxError, LinnetError, ScheduleError
from linnet.frontend.text import parse_text
from linnet.loops.printer import show

LIST = ln.SparseList(ln.Element(0.0))
MATRICES = {
    "CSR": ln.CSR,
    "DCSR": ln.DCSR,
    "COO": ln.COO(2),
    "CSC": ln.CSC,
    "DENSE": ln.DENSE(2),
    "lists": ln.Dense(ln.SparseCOO(1, ln.Element(0.0))),
}
CUBES = {
    "CSF": ln.CSF(3),
    "COO": ln.COO(3),
    "rows": ln.Dense(ln.Dense(LIST)),
    "pairs": ln.Dense(ln.SparseCOO(2, ln.Element(0.0))),
    "tails": ln.SparseCOO(2, LIST),
    "fibers": ln.Dense(ln.SparseList(LIST)),
    "full": ln.SparseList(ln.Dense(LIST)),
    "dense": ln.DENSE(3),
}


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ln.flat(ln.stored(A)):
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def tiles(y, A, x):
    y[...] = 0
    for t in range(ln.parts(ln.stored(A), 4)):
        for i, j in ln.flat(ln.part(ln.stored(A), t, 4)):
            y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def largest(y, s, A, x):
    y[...] = -ln.inf
    s[...] = 0
    for t in range(ln.parts(ln.stored(A), 4)):
        for i, j in ln.flat(ln.part(ln.stored(A), t, 4)):
            if A[i, j] > 2:
                d = A[i, j] * x[j]
                y[i] = max(y[i], d)
            s[()] += A[i, j] * x[j]
    return y, s


@ln.kernel
def filtered(y, A, z):
    y[...] = 0
    for t in range(ln.parts(ln.stored(A), 4)):
        for i, j in ln.flat(ln.part(ln.stored(A), t, 4)):
            y[i] += A[i, j] * z[i] * z[j]
    return y


@ln.kernel
def found(y, A, x):
    y[...] = False
    for i, j in ln.flat(ln.stored(A)):
        y[i] |= A[i, j] * x[j] > 20
    return y


@ln.kernel
def doubled(C, A):
    C[...] = 0
    for t in range(ln.parts(ln.stored(A), 3)):
        for i, j in ln.flat(ln.part(ln.stored(A), t, 3)):
            C[i, j] = A[i, j] * 2
    return C


@ln.kernel
def spmm(C, A, B):
    C[...] = 0
    for t in range(ln.parts(ln.stored(A), 4)):
        for i, j in ln.flat(ln.part(ln.stored(A), t, 4)):
            for k in ...:
                C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def ttv(y, A, x):
    y[...] = 0
    for t in range(ln.parts(ln.stored(A), 5)):
        for i, j, k in ln.flat(ln.part(ln.stored(A), t, 5)):
            y[i, j] += A[i, j, k] * x[k]
    return y


@ln.kernel
def slices(y, A, x):
    y[...] = 0
    for i in ...:
        for t in range(ln.parts(ln.stored(A[i, :, :]), 5)):
            for j, k in ln.flat(ln.part(ln.stored(A[i, :, :]), t, 5)):
                y[i, j] += A[i, j, k] * x[k]
    return y


def numbers(rng, *shape, share=1.0):
    return rng.integers(1, 9, shape) * (rng.random(shape) < share) * 1.0


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def M(rng):
    M = numbers(rng, 9, 7, share=0.4)
    M[2:5] = M[-1] = 0
    return M


def result(format=None):
    return ln.empty_tensor(format or ln.DENSE(1))


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("kernel", [spmv, tiles, found])
def test_sums_of_rows(rng, M, kernel, name):
    A = ln.asarray(M, format=MATRICES[name])
    y = ln.empty_tensor(ln.DENSE(1).with_dtype("bool")) if kernel is found else result()
    agree(kernel, {"y": y, "A": A, "x": ln.asarray(numbers(rng, 7))}, ["llvm", "c"])


@pytest.mark.parametrize("name", MATRICES)
def test_conditions_and_several_results(rng, M, name):
    A, x = ln.asarray(M, format=MATRICES[name]), ln.asarray(numbers(rng, 7))
    agree(largest, {"y": result(), "s": ln.empty_tensor(ln.SCALAR), "A": A, "x": x}, ["llvm"])


@ln.kernel
def beside(y, A, x):
    y[...] = 0
    for i, j in ln.flat(ln.stored(A)):
        y[i] += A[i, j] * ln.coalesce(x[~(j - 3)], 2)
    return y


@pytest.mark.parametrize("name", ["CSR", "DCSR", "COO"])
@pytest.mark.parametrize("kind", [ln.DENSE(1), LIST], ids=["dense", "list"])
def test_what_is_read_beyond_bounds(rng, name, kind):
    A = ln.asarray(numbers(rng, 9, 9, share=0.4), format=MATRICES[name])
    agree(beside, {"y": result(), "A": A, "x": ln.asarray(numbers(rng, 9), format=kind)}, ["llvm"])


@pytest.mark.parametrize("name", ["CSR", "DCSR", "COO", "CSC"])
def test_rows_that_another_operand_does_not_have(rng, name):
    """What is looked up at the outer coordinate decides for a row, until that ends."""
    A = ln.asarray(numbers(rng, 9, 9, share=0.4), format=MATRICES[name])
    z = ln.asarray(numbers(rng, 9, share=0.5), format=LIST)
    agree(filtered, {"y": result(), "A": A, "z": z}, ["llvm", "c"])


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("out", [ln.CSR, ln.CSC, ln.DENSE(2), ln.COO(2)], ids=str)
def test_elements(M, name, out):
    agree(doubled, {"C": result(out), "A": ln.asarray(M, format=MATRICES[name])}, ["llvm"])


@pytest.mark.parametrize("name", MATRICES)
def test_loops_inside(rng, M, name):
    B = ln.asarray(numbers(rng, 7, 5))
    agree(spmm, {"C": result(ln.DENSE(2)), "A": ln.asarray(M, format=MATRICES[name]), "B": B})


@pytest.mark.parametrize("name", CUBES)
@pytest.mark.parametrize("kernel", [ttv, slices])
def test_three_levels(rng, kernel, name):
    T = numbers(rng, 4, 5, 6, share=0.2)
    T[1], T[:, 3] = 0, 0
    given = {"y": result(ln.DENSE(2)), "A": ln.asarray(T, format=CUBES[name])}
    if kernel is slices and name in ("COO", "tails"):
        return  # coordinates of one level, which are gone through together
    agree(kernel, given | {"x": ln.asarray(numbers(rng, 6))}, ["llvm", "c"])


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (5, 5)])
@pytest.mark.parametrize("kernel", [spmv, tiles])
def test_nothing_stored(shape, kernel):
    for format in (ln.CSR, ln.DCSR, ln.COO):
        A = ln.asarray(np.zeros(shape), format=format)
        agree(kernel, {"y": result(), "A": A, "x": ln.asarray(np.ones(shape[1]))}, ["llvm"])


# -- as a command ----------------------------------------------------------------------------------

i, j, f, p, p0, p1 = ln.indices("i j f p p0 p1")


def scheduled(A, x, flat=True):
    x = ln.asarray(x)
    y = ln.output(ln.DENSE(1))
    y[i] = A[i, j] * x[j]
    return ln.schedule(y).collapse(i, j, f).pos(f, p, A[i, j], flat=flat).split(p, p0, p1, 16)


FIGURE_4B = """\
i64 i_start = A_begin_2 + p0 * 16, i_end = i_start + min(16, A_end_2 - i_start);
if (i_start < i_end) {
  i64 i = fiber_of_i32(A_ptr, A_reached, n_i, i_start);
  A_reached = i;
  double y_i = y_val[i];
  for (i64 A_q = i_start; A_q < i_end; A_q++) {  // i, j in A
    if (A_q == A_ptr[i + 1]) {
      y_val[i++] = y_i;
      while (A_q == A_ptr[i + 1]) i++;
      y_i = y_val[i];
    }
    i64 j = A_idx[A_q];
    y_i += A_val[A_q] * x_val[j];
  }
  y_val[i] = y_i;
}"""


def test_figure_4b(rng):
    """One search for the first row of a tile; rows are tracked, and written where they end."""
    M, x = numbers(rng, 60, 48, share=0.1), numbers(rng, 48)
    M[10:20] = 0
    plan = scheduled(ln.asarray(M, format=ln.CSR), x)
    lines = kernel_of(plan.code).splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("for (i64 p0"))
    assert [line[2:] for line in lines[at + 1 : -1]] == FIGURE_4B.splitlines()
    assert np.array_equal(plan.run().to_numpy(), M @ x)
    assert "for i, j in ln.flat(ln.part(ln.stored(A[:, :]), p0, 16)):" in plan.loops
    stored, visits = int((M != 0).sum()), plan.visits()
    assert visits["i, j in A"] == stored
    nested = scheduled(ln.asarray(M, format=ln.CSR), x, flat=False)
    assert visits.total < nested.visits().total


def test_as_text(rng):
    M, x = numbers(rng, 9, 7, share=0.4), numbers(rng, 7)
    plan = scheduled(ln.asarray(M, format=ln.CSR), x)
    assert plan.commands == "collapse(i, j, f) pos(f, p, A[i, j], flat) split(p, p0, p1, 16)"
    text = "collapse(i, j, f) pos(f, p, A, flat) unroll(p, 4)"
    y = ln.einsum("y[i] += A[i,j] * x[j]", A=ln.asarray(M, format=ln.CSR), x=x, schedule=text)
    assert np.array_equal(np.asarray(y.to_numpy()), M @ x)
    said = "for i, j in ln.flat(ln.stored(A[:, :], order=(1, 0))):\n    y[i] += A[i, j]"
    assert show(parse_text(said.replace("i, j in", "j, i in")).body).startswith("for j, i in ln.fl")


def test_one_coordinate_is_flat_anyway(rng):
    M, x = numbers(rng, 9, 7, share=0.4), numbers(rng, 7)
    A, x, y = ln.asarray(M, format=ln.CSR), ln.asarray(x), ln.output()
    y[i] = A[i, j] * x[j]
    plan = ln.schedule(y).pos(j, p, A[i, j], flat=True)
    assert "ln.flat(ln.stored(A[i, :]))" in plan.loops  # a `collapse` may follow
    assert plan.code == ln.schedule(y).pos(j, p, A[i, j]).code


# -- refused ---------------------------------------------------------------------------------------


@ln.kernel
def cases(y, A, z):
    y[...] = 0
    for i, j in ln.flat(ln.stored(A)):
        y[i] += A[i, j] * (1 + z[i])
    return y


def test_loops_that_become_several(rng):
    A = ln.asarray(numbers(rng, 9, 9, share=0.4), format=ln.CSR)
    z = ln.asarray(numbers(rng, 9, share=0.5), format=LIST)
    with pytest.raises(ScheduleError, match="the loop over `j` is several") as caught:
        cases(result(), A, z)
    assert caught.value.at is not None
    assert "leave out `flat`" in caught.value.hint


@pytest.mark.parametrize("level", ["SparsePinpoint", "SparseBand"])
def test_levels_without_lists(level):
    format = ln.SparseList(getattr(ln, level)(ln.Element(0.0)))
    A = ln.asarray(np.diag([1.0, 0, 2, 3]), format=format)
    with pytest.raises(ScheduleError, match=f"level 1 of `A`, {level}, has no list of positions"):
        spmv(result(), A, np.ones(4))


def test_turns_that_need_each_other():
    A = ln.asarray(np.eye(4), format=ln.CSR)
    with pytest.raises(ScheduleError, match="tracks coordinates from one turn to the next"):
        scheduled(A, np.ones(4)).parallelize(p1, ln.CPUVector, ln.ParallelReduction)


@pytest.mark.parametrize("text", ["ln.flat(range(3))", "ln.flat(ln.part(range(3), 0, 2))"])
def test_only_positions_are_flat(text):
    with pytest.raises(KernelSyntaxError, match="a flat loop goes through what a tensor stores"):
        parse_text(f"def k(y):\n    for i in {text}:\n        y[i] = 1\n    return y")


def test_wrong_words():
    with pytest.raises(ScheduleError, match="is not how positions are gone through"):
        spmv.schedule().apply("pos(i, p, A[i, j], round)")
    with pytest.raises(LinnetError, match="means nothing outside a kernel"):
        ln.flat(3)
