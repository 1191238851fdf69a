"""The command `precompute`: workspaces in nests of loops, over plain and derived indices."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.levels.samples import agree

import linnet as ln
from linnet.backend import machine
from linnet.backend.llvm import render
from linnet.errors import ArgumentError, KernelSyntaxError, ScheduleError
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel


@ln.kernel
def mttkrp(A, B, C, D):
    A[...] = 0
    for i, k, l, j in ...:
        A[i, j] += B[i, k, l] * C[k, j] * D[l, j]
    return A


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def shortest(y, A, x):
    y[...] = ln.inf
    for i, j in ...:
        y[i] = min(y[i], A[i, j] + x[j] + x[i])
    return y


@ln.kernel
def added(y, A, x):
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def weighted(y, A, d):
    for i, j in ...:
        y[i] += A[i, j] * d[i]
    return y


def numbers(rng, shape, share=1.0):
    return rng.integers(1, 9, shape) * (rng.random(shape) < share) * 1.0


@pytest.fixture
def rng():
    return np.random.default_rng(1)


MTTKRP = [
    "precompute(B[i,k,l]*D[l,j], j, j, w)",
    "precompute(D[l, j] * B[i, k, l], j, jw, w)",
    "split(i, i1, i2, 4) reorder(i1, i2, k, l, j) precompute(B[i,k,l]*D[l,j], j, j, w)",
    "precompute(B[i,k,l]*D[l,j], j, j, w) split(j:1, a, b, 4) split(j:2, c, d, 3)",
    "split(j, j0, j1, 4) reorder(i, k, j0, l, j1) precompute(B[i,k,l]*D[l,j], j1, j2, w)",
    "precompute(C[k,j]*D[l,j], j, jw, w)",
    "reorder(i, j, k, l) precompute(B[i,k,l]*D[l,j], j, jw, w)",
]
REFUSED = [MTTKRP[-1]]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("text", MTTKRP)
@pytest.mark.parametrize("format", [ln.CSF, ln.DENSE, ln.COO], ids=str)
def test_mttkrp(rng, format, text, backend):
    B, C, D = numbers(rng, (9, 7, 8), 0.2), numbers(rng, (7, 10)), numbers(rng, (8, 10))
    given = ln.empty_tensor(ln.DENSE(2)), ln.asarray(B, format=format), C, D
    with ln.config(backend=backend):
        scheduled = mttkrp.schedule().apply(text)
        if text in REFUSED:
            with pytest.raises(ScheduleError, match="`k` is reduced over in both parts"):
                scheduled(*given)
            return
        found = scheduled(*given).to_numpy()
    assert np.array_equal(found, np.einsum("ikl,kj,lj->ij", B, C, D))


def test_the_workspace_begins_anew_inside_the_loops_that_share_it(rng):
    B, C, D = numbers(rng, (9, 7, 8), 0.2), numbers(rng, (7, 10)), numbers(rng, (8, 10))
    given = ln.empty_tensor(ln.DENSE(2)), ln.asarray(B, format=ln.CSF(3)), C, D
    lines = mttkrp.schedule().apply(MTTKRP[0]).loops(*given).splitlines()
    body = [line.strip() for line in lines]
    at = body.index("ln.declare(w, 0.0, (C.shape[1],))")
    assert body[at - 2 : at] == ["for i in range(B.shape[0]):", "for k in range(B.shape[1]):"]
    assert "w[j_2] += B[i, k, l] * D[l, j_2]" in body
    assert body[-4:-2] == ["for j in range(C.shape[1]):", "A[i, j] += C[k, j] * w[j]"]


SPMV = [
    "precompute(A[i, j] * x[j], i, iw, w)",
    "precompute(A[i, j] * x[j], (i, j), (a, b), w)",
    "precompute(A[i, j] * x[j], j, jw, w)",
    "precompute(A[i, j], j, jw, w)",
    "split(i, i0, i1, 8) precompute(A[i, j] * x[j], i1, i2, w)",
    "split(j, j0, j1, 8) precompute(A[i, j] * x[j], j1, j2, w) unroll(j2, 8)",
    "split(i, i0, i1, 8) split(j, j0, j1, 5) reorder(i0, j0, i1, j1)"
    " precompute(A[i, j] * x[j], (i1, j1), (i2, j2), w)",
]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("text", SPMV)
@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE, ln.DCSR, ln.COO], ids=str)
@pytest.mark.parametrize("kernel", [spmv, added], ids=["spmv", "added"])
def test_spmv(rng, kernel, format, text, backend):
    A, x = numbers(rng, (30, 37), 0.3), numbers(rng, 37)
    y = ln.empty_tensor(ln.DENSE(1)) if kernel is spmv else ln.asarray(np.ones(30))
    with ln.config(backend=backend):
        found = kernel.schedule().apply(text)(y, ln.asarray(A, format=format), x)
    assert np.array_equal(found.to_numpy(), A @ x + (kernel is added))


def test_other_functions_that_distribute(rng):
    A, x = numbers(rng, (30, 30)), numbers(rng, 30)
    text = "reorder(i, j) precompute(A[i, j] + x[j], i, iw, w)"
    found = shortest.schedule().apply(text)(ln.empty_tensor(ln.DENSE(1)), ln.asarray(A), x)
    assert np.array_equal(found.to_numpy(), (A + x + x[:, None]).min(1))


def test_by_method(rng):
    A, x = numbers(rng, (30, 37), 0.3), numbers(rng, 37)
    scheduled = spmv.schedule().precompute("A[i,j]*x[j]", "j", "jw", "w").unroll("jw", 4)
    assert scheduled.commands == "precompute(A[i, j] * x[j], j, jw, w) unroll(jw, 4)"
    found = scheduled(ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR), x)
    assert np.array_equal(found.to_numpy(), A @ x)


WRONG = [
    ("precompute(A[j, i], j, jw, w)", "in 0 updates"),
    ("precompute(A[i, j], j, jw, x)", "there is a tensor `x` already"),
    ("precompute(A[i, j], j, i, w)", "there is a loop over `i` already"),
    ("precompute(A[i, j], (i, j), a, w)", "is not as many names as there are indices"),
    ("pos(j, p, A) precompute(A[i, j] * x[j], p, q, w)", "goes through all positions"),
    ("collapse(i, j, f) precompute(A[i, j] * x[j], f, g, w)", "are 2 loops"),
    (
        "collapse(i, j, f) split(f, f0, f1, 5) precompute(A[i, j] * x[j], f1, g, w)",
        "are 2 loops",
    ),
    ("precompute(A[i, j] * x[j], k, kw, w)", "there is no loop over `k`"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_refused(rng, text, message):
    A, x = numbers(rng, (30, 37), 0.3), numbers(rng, 37)
    with pytest.raises(ScheduleError) as error:
        spmv.schedule().apply(text)(ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR), x)
    assert message in str(error.value)


def test_sums_of_other_types_are_refused(rng):
    A, x = ln.asarray(np.ones((4, 5), np.int8)), ln.asarray(np.ones(4, np.int8))
    y = ln.asarray(np.zeros(4, np.int64))
    with pytest.raises(ScheduleError, match="products of type int8 are added up in int64"):
        weighted.schedule().apply("precompute(A[i, j], i, iw, w)")(y, A, x)


@ln.kernel
def taken(y, A, x):
    for i, j in ...:
        y[i] -= A[i, j] * x[j]
    return y


def test_what_is_taken_away_is_not_collected_so(rng):
    A, x, y = numbers(rng, (30, 37), 0.3), numbers(rng, 37), numbers(rng, 30)
    given = ln.asarray(y), ln.asarray(A, format=ln.CSR), x
    once = taken.schedule().apply("precompute(A[i, j] * x[j], j, jw, w)")
    assert np.array_equal(once(*given).to_numpy(), y - A @ x)
    with pytest.raises(ScheduleError, match="a function whose order counts"):
        taken.schedule().apply("precompute(A[i, j] * x[j], i, iw, w)")(*given)
    with pytest.raises(ScheduleError, match="a function whose order counts"):
        ln.precompute(taken, "A[i, j] * x[j]", ["i"], ["i"], ln.workspace(1))


def test_wrong_arguments():
    with pytest.raises(ArgumentError, match="is not the text of an expression"):
        spmv.schedule().precompute(3, "j", "jw", "w")
    with pytest.raises(ArgumentError, match="as many names"):
        spmv.schedule().precompute("A[i, j]", ["i", "j"], "jw", "w")


# -- over positions --------------------------------------------------------------------------------


@ln.kernel
def sddmm(A, B, C, D):
    A[...] = 0
    for i, k, j in ...:
        A[i, k] += B[i, k] * C[i, j] * D[j, k]
    return A


ROWS = "pos(j, p, A) split(p, p0, p1, 4) precompute(A[i, j] * x[j], p1, q, t)"
NONZEROS = "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 4)"
FIGURE_2E = (
    "collapse(i, j, f) pos(f, fpos, A{}) split(fpos, block, fpos1, 32)"
    " split(fpos1, warp, fpos2, 16) split(fpos2, thread, thread_nz, 4)"
    " reorder(block, warp, thread, thread_nz)"
    " precompute(A[i, j] * x[j], thread_nz, thread_nz_pre, t) unroll(thread_nz_pre, 4)"
)
OF_POSITIONS = [
    (ROWS, (ln.CSR, ln.DCSR)),
    (NONZEROS + " precompute(A[i, j] * x[j], p1, q, t)", (ln.CSR, ln.DCSR, ln.COO)),
    (NONZEROS + " precompute(A[i, j], p1, p1, t) unroll(p1:1, 2)", (ln.CSR, ln.COO)),
    (NONZEROS + " precompute(x[j], p1, q, t)", (ln.CSR, ln.COO)),
    (NONZEROS + " precompute(A[i, j] * x[j], p1, q, t) split(q, q0, q1, 3)", (ln.CSR, ln.COO)),
    (NONZEROS + " precompute(A[i, j], p1, p1, t) split(p1:2, q0, q1, 3)", (ln.CSR, ln.COO)),
    (FIGURE_2E.format(""), (ln.CSR, ln.DCSR, ln.COO)),
    (FIGURE_2E.format(", flat"), (ln.CSR, ln.DCSR, ln.COO)),
]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("kernel", [spmv, added], ids=["spmv", "added"])
@pytest.mark.parametrize(
    ("text", "format"), [(t, f) for t, formats in OF_POSITIONS for f in formats], ids=str
)
def test_over_positions_of_a_part(rng, kernel, text, format, backend):
    A, x = numbers(rng, (30, 37), 0.1), numbers(rng, 37)
    A[5:9] = 0
    y = ln.empty_tensor(ln.DENSE(1)) if kernel is spmv else ln.asarray(np.ones(30))
    with ln.config(backend=backend):
        found = kernel.schedule().apply(text)(y, ln.asarray(A, format=format), x)
    assert np.array_equal(found.to_numpy(), A @ x + (kernel is added))


@ln.kernel
def ttv(y, A, x):
    y[...] = 0
    for i, j, k in ...:
        y[i, j] += A[i, j, k] * x[k]
    return y


@pytest.mark.parametrize("format", [ln.COO(3), ln.CSF(3)], ids=str)
@pytest.mark.parametrize("up", ["", ", up"])
def test_rows_that_are_not_there(rng, format, up):
    A, x = numbers(rng, (5, 4, 3), 0.4), numbers(rng, 3)
    A[1:3] = 0
    text = f"collapse(j, k, g) pos(g, p, A) split(p, p0, p1, 4{up})"
    text += " precompute(A[i, j, k] * x[k], p1, q, t)"
    y = ln.empty_tensor(ln.DENSE(2))
    found = ttv.schedule().apply(text)(y, ln.asarray(A, format=format), x)
    assert np.array_equal(found.to_numpy(), A @ x)


SDDMM = "pos(k, p, B) split(p, p0, p1, 4) reorder(i, p0, j, p1)"


@pytest.mark.parametrize("out", [ln.DENSE(2), ln.CSR], ids=str)
@pytest.mark.parametrize("early", ["p1", "q"])
def test_sums_of_a_part(rng, out, early):
    """Sums over j, each of its own position, are added up in the workspace."""
    B, C, D = numbers(rng, (9, 11), 0.5), numbers(rng, (9, 5)), numbers(rng, (5, 11))
    text = f"{SDDMM} precompute(B[i,k]*C[i,j]*D[j,k], p1, {early}, t)"
    given = ln.empty_tensor(out), ln.asarray(B, format=ln.CSR), C, D
    scheduled = sddmm.schedule().apply(text)
    assert np.array_equal(scheduled(*given).to_numpy(), B * (C @ D))
    part = "ln.part(ln.stored(B[i, :]), p0, 4)"
    assert f"ln.place({part}, k)" in scheduled.loops(*given)


VECTOR = " parallelize(p1, CPUVector, ParallelReduction)"


@pytest.mark.parametrize("more", ["", VECTOR], ids=["plain", "vector"])
@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_sums_of_a_part_are_held_by_themselves(rng, more, backend):
    """Where each term would be added in memory, at another place for each position."""
    B, C, D = numbers(rng, (9, 11), 0.5), numbers(rng, (9, 5)), numbers(rng, (5, 11))
    given = ln.empty_tensor(ln.DENSE(2)), ln.asarray(B, format=ln.CSR), C, D
    scheduled = sddmm.schedule().apply(SDDMM + more)
    with ln.config(backend=backend):
        assert np.array_equal(scheduled(*given).to_numpy(), B * (C @ D))
    code = scheduled.code(*given)
    assert "[4];" in code
    assert len(re.findall(r"A_w\w*\[\w+\] \+= ", code)) > 1  # of a whole part, and of a shorter one
    assert "A_val[i * n_k + k] += " not in code


@ln.kernel
def from_below(A, B, C, D):
    A[...] = -0.0
    for i, k, j in ...:
        A[i, k] += B[i, k] * C[i, j] * D[j, k]
    return A


def test_held_sums_begin_with_what_they_begin_with():
    """The sum of -0.0 and -0.0 is not that of 0.0 and -0.0."""
    B, C, D = np.ones((2, 6)), np.full((2, 3), -0.0), np.ones((3, 6))
    given = ln.empty_tensor(ln.DENSE(2)), ln.asarray(B, format=ln.CSR), C, D
    for scheduled in (from_below, from_below.schedule().apply(SDDMM)):
        assert np.signbit(scheduled(*given).to_numpy()).all()
    assert "A_w[" in scheduled.code(*given)


def test_held_sums_are_in_registers(rng):
    """Each of the sums goes from one term to the next in a register of its own."""
    B = ln.asarray(numbers(rng, (9, 11), 0.5), format=ln.CSR)
    given = ln.empty_tensor(ln.DENSE(2)), B, np.ones((9, 5)), np.ones((5, 11))
    kernel = sddmm.schedule().apply(SDDMM).lowered(*given).kernel
    text = machine.optimized(render(kernel))
    blocks = re.split(r"\n\d*\S*:", text)
    sums = [re.findall(r" = phi (?:<(\d+) x double>|double) ", block) for block in blocks]
    assert max(sum(int(lanes or 1) for lanes in found) for found in sums) == 4


@ln.kernel
def several(A, B, C, D):
    A[...] = 0
    for r in range(2):
        for i, k, j in ...:
            A[i, k] += B[i, k] * C[i, j] * D[j, k] * r
    return A


@ln.kernel
def over_rows(s, B, C, D):
    s[...] = 0
    for i, k, j in ...:
        s[k] += B[i, k] * C[i, j] * D[j, k]
    return s


@ln.kernel
def given_sums(A, B, C, D):
    for i, k, j in ...:
        A[i, k] += B[i, k] * C[i, j] * D[j, k]
    return A


@pytest.mark.parametrize("kernel", [several, over_rows, given_sums])
@pytest.mark.parametrize("text", [SDDMM, f"split(j, j0, j1, 2) {SDDMM[:-6]} j1, p1)"])
def test_sums_that_go_on_elsewhere_are_not_held(rng, kernel, text):
    """They would be added up in another order."""
    B, C, D = numbers(rng, (9, 11), 0.5), numbers(rng, (9, 5)), numbers(rng, (5, 11))
    if "j0" in text:
        text = text.replace("reorder(i, p0,", "reorder(j0, i, p0,")
    first = np.ones((9, 11)) if kernel is given_sums else np.zeros((9, 11))
    y = ln.asarray(first) if kernel is not over_rows else ln.empty_tensor(ln.DENSE(1))
    given = y, ln.asarray(B, format=ln.CSR), C, D
    scheduled = kernel.schedule().apply(text)
    assert "ln.place" not in scheduled.loops(*given)
    found, expected = scheduled(*given).to_numpy(), B * (C @ D)
    assert np.array_equal(found, expected.sum(0) if kernel is over_rows else expected + first)


def test_a_workspace_of_a_few_elements_is_the_kernels_own(rng):
    A, x = ln.asarray(numbers(rng, (30, 37), 0.1), format=ln.CSR), numbers(rng, 37)
    code = (
        spmv.schedule().apply(FIGURE_2E.format(", flat")).code(ln.empty_tensor(ln.DENSE(1)), A, x)
    )
    assert "double t[4];" in code
    assert "OUT_OF_BOUNDS" not in code  # a place is within its part


@ln.kernel
def numbered(y, A):
    for t in range(ln.parts(ln.stored(A), 4)):
        for i, j in ln.part(ln.stored(A), t, 4):
            y[ln.place(ln.part(ln.stored(A), t, 4), i, j)] += A[i, j]
    return y


@ln.kernel
def counted(y, A):
    for t in range(ln.parts(range(A.shape[0]), 4)):
        for i in ln.part(range(A.shape[0]), t, 4):
            for j in ...:
                y[ln.place(ln.part(range(A.shape[0]), t, 4), i)] += A[i, j]
    return y


@ln.kernel
def named(y, A):
    for t in range(ln.parts(ln.stored(A), 4)):
        for i, j in ln.flat(ln.part(ln.stored(A), t, 4)):
            p = ln.place(ln.part(ln.stored(A), t, 4), i, j)
            if p > 1:
                y[p] += A[i, j] * p
    return y


@pytest.mark.parametrize("kernel", [numbered, counted, named])
@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO, ln.DENSE], ids=str)
def test_places_as_users_write_them(rng, kernel, format):
    A = ln.asarray(numbers(rng, (9, 7), 0.4), format=format)
    agree(kernel, {"y": ln.asarray(np.zeros(4)), "A": A}, ["llvm"])


ELSEWHERE = [
    "for i in range(3):\n    y[ln.place(range(2), i)] += 1",
    "for i in range(3):\n    for j in range(3):\n"
    "        y[ln.place(ln.part(range(3), i, 2), j)] += 1",
    "for i, j in ln.stored(A):\n    y[ln.place(ln.stored(A), j, i)] += A[i, j]",
    "for i, j in ln.stored(A):\n    y[ln.place(ln.part(ln.stored(A), 0, 2), i, j)] += A[i, j]",
]


@pytest.mark.parametrize("text", ELSEWHERE)
def test_places_where_no_loop_goes(text):
    body = text.replace("\n", "\n    ")
    program = parse_text(f"def k(y, A):\n    {body}\n    return y")
    with pytest.raises(KernelSyntaxError, match="is asked outside of the loops through") as caught:
        Kernel(program)(ln.asarray(np.zeros(4)), np.eye(3))
    assert caught.value.at is not None


@pytest.mark.parametrize("text", ["ln.place(range(3))", "ln.place(ln.stored(A[:, :]), i)"])
def test_places_of_too_few_indices(text):
    with pytest.raises(KernelSyntaxError, match="a place is that of all indices"):
        parse_text(f"def k(y, A):\n    for i in range(3):\n        y[{text}] += 1\n    return y")


@ln.kernel
def copied(y, x):
    y[...] = 0
    for i in ...:
        y[i] = x[i] * 2
    return y


def test_a_sparse_result_stores_nothing_more():
    vector = ln.SparseList(ln.Element(0.0))
    x = np.array([0.0, 3, 0, 4])
    scheduled = copied.schedule().apply("precompute(x[i], i, iw, w)")
    for result in (ln.DENSE(1), vector):
        for operand in (ln.DENSE(1), vector):
            given = ln.asarray(x, format=operand)
            y = scheduled(ln.empty_tensor(result), given)
            assert np.array_equal(y.to_numpy(), 2 * x)
            assert y.nnz == copied(ln.empty_tensor(result), given).nnz


# -- workspaces over what counts parts, and what is in them ----------------------------------------

OVER_PARTS = [
    "collapse(i, j, f) pos(f, p, A) split(p, a, b, 3)"
    " precompute(A[i, j] * x[j], (a, b), (c, d), w)",
    "pos(j, p, A) split(p, a, b, 3) precompute(A[i, j] * x[j], (a, b), (c, d), w)",
    "split(j, a, b, 3) split(b, c, d, 2) precompute(x[j], (a, c, d), (e, f, g), w)",
    "pos(j, p, A) split(p, a, b, 3) split(b, c, d, 2)"
    " precompute(A[i, j] * x[j], (a, c, d), (e, f, g), w)",
]


@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO], ids=str)
@pytest.mark.parametrize("share", [0, 0.4, 1])
@pytest.mark.parametrize("text", OVER_PARTS)
def test_a_workspace_has_an_element_for_each_place_of_each_part(text, share, format):
    rng = np.random.default_rng(1)
    a = rng.integers(1, 5, (5, 7)) * (rng.random((5, 7)) < share) * 1.0
    x = np.arange(1.0, 8.0)
    scheduled = rows.schedule().apply(text)
    given = ln.asarray(a, format=format), ln.asarray(x)
    got = scheduled(ln.empty_tensor(ln.DENSE(1)), *given)
    assert np.array_equal(got.to_numpy(), a @ x)


@ln.kernel
def rows(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def below(y, A, x):
    y[...] = 0
    for i in ...:
        for j in range(i):
            y[i] += A[i, j] * x[j]
    return y


def test_a_workspace_has_one_size():
    a = np.arange(20.0).reshape(4, 5)
    given = ln.asarray(a, format=ln.CSR), ln.asarray(np.ones(5))
    alone = below.schedule().apply("precompute(A[i, j] * x[j], j, k, w)")
    result = alone(ln.empty_tensor(ln.DENSE(1)), *given)
    assert np.array_equal(result.to_numpy(), np.tril(a[:, :4], -1).sum(axis=1))
    both = below.schedule().apply("precompute(A[i, j] * x[j], (i, j), (k, l), w)")
    with pytest.raises(ScheduleError, match="how far `j` runs depends on `i`"):
        both(ln.empty_tensor(ln.DENSE(1)), *given)


LONG = [
    f"split(j, a, b, {2**40}) precompute(A[i, j] * x[j], b, k, w)",
    f"split(j, a, b, {2**40}) split(b, c, d, {2**39}) precompute(A[i, j] * x[j], d, k, w)",
    f"pos(j, p, A) split(p, a, b, {2**40}) precompute(A[i, j] * x[j], b, k, w)",
    f"collapse(i, j, f) pos(f, p, A) split(p, a, b, {2**40}) precompute(A[i, j] * x[j], b, k, w)",
    "collapse(i, j, f) pos(f, p, A) split(p, a, b, 2, up) precompute(A[i, j] * x[j], b, k, w)",
]


@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize("share", [0, 0.4])
def test_a_workspace_is_no_longer_than_what_is_gone_through(text, share):
    """Parts of a size that no range has."""
    rng = np.random.default_rng(1)
    a = rng.integers(1, 5, (5, 7)) * (rng.random((5, 7)) < share) * 1.0
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(a, format=ln.CSR), np.arange(1.0, 8.0)
    assert np.array_equal(spmv.schedule().apply(text)(*given).to_numpy(), a @ given[2])


@ln.kernel
def any_over_two(y, A):
    y[...] = False
    for i, j in ...:
        y[i] |= A[i, j] > 2
    return y


@pytest.mark.parametrize("indices", ["j, k", "(i, j), (k, l)"])
def test_what_is_asked_of_a_part_is_no_sum_of_it(indices):
    a = np.arange(20.0).reshape(4, 5) % 7 * (np.indices((4, 5))[0] != 1)
    scheduled = any_over_two.schedule().apply(f"precompute(A[i, j], {indices}, w)")
    got = scheduled(ln.empty_tensor(ln.DENSE(1)), ln.asarray(a, format=ln.CSR))
    assert np.array_equal(got.to_numpy(), (a > 2).any(axis=1))
