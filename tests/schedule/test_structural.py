"""What is computed early is nothing where nothing is stored, whatever it meets later.

Numbers are positive where they meet what is not finite, so that sums times a factor are the sums of
products: stored zeros are numbers, with a schedule and without.
"""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ScheduleError

LEAF = ln.Element(0.0)
ODD = (np.inf, np.nan, -np.inf)


@ln.kernel
def mttkrp(A, B, C, D):
    A[...] = 0
    for i, k, l, j in ...:
        A[i, j] += B[i, k, l] * C[k, j] * D[l, j]
    return A


@ln.kernel
def filtered(y, A, x, z):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j] * z[i]
    return y


@ln.kernel
def scaled(C, A, x, z):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * x[j] * z[i]
    return C


@ln.kernel
def shifted(C, A, x, z):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * z[i] + x[j]
    return C


@ln.kernel
def shortest(y, A, x, z):
    y[...] = ln.inf
    for i, j in ...:
        y[i] = min(y[i], A[i, j] + x[j] + z[i])
    return y


@ln.kernel
def longest(y, A, x, z):
    y[...] = -ln.inf
    for i, j in ...:
        y[i] = max(y[i], A[i, j] + x[j] + z[i])
    return y


@ln.kernel
def both(y, A, B, z):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * B[i, j] * z[j]
    return y


def numbers(rng, *shape, share=0.3):
    return rng.integers(1, 9, shape) * (rng.random(shape) < share) * 1.0


def odd(rng, *shape):
    """Numbers, and what is none."""
    return np.where(rng.random(shape) < 0.5, rng.choice(ODD, shape), numbers(rng, *shape, share=1))


def agree(kernel, text, result, *given):
    """A kernel gives the same under a schedule, and stores the same elements."""
    fresh = [ln.empty_tensor(result) for _ in range(2)]
    expected, found = kernel(fresh[0], *given), kernel.schedule().apply(text)(fresh[1], *given)
    assert np.array_equal(found.to_numpy(), expected.to_numpy(), equal_nan=True)
    assert found.nnz == expected.nnz


FACTORS = [
    "precompute(B[i,k,l]*D[l,j], j, j, w)",
    "precompute(B[i,k,l]*D[l,j], j, jw, w) split(jw, a, b, 4)",
    "split(j, j0, j1, 4) reorder(i, k, j0, l, j1) precompute(B[i,k,l]*D[l,j], j1, j2, w)",
    "precompute(B[i,k,l]*D[l,j], j, jw, w) parallelize(jw, CPUVector, NoRaces)",
    "reorder(i, k, j, l) precompute(B[i,k,l]*D[l,j], j, jw, w)",
    "precompute(D[l,j]*C[k,j], j, jw, w)",
    "reorder(i, k, j, l) precompute(B[i,k,l], l, lw, w)",
    "precompute(B[i,k,l]*D[l,j], j, jw, w) precompute(D[l,jw], jw, jv, v)",
]
CUBES = [ln.CSF(3), ln.COO(3), ln.Dense(ln.Dense(ln.SparseList(LEAF)))]


@pytest.mark.parametrize("text", FACTORS)
@pytest.mark.parametrize("result", [ln.DENSE(2), ln.CSR, ln.DCSR, ln.CSC], ids=str)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense factor", "sparse factor"])
def test_sums_that_meet_what_is_not_finite(text, result, sparse):
    """The factor behind the sum is not looked at where there are no terms."""
    rng = np.random.default_rng(1)
    C, D = odd(rng, 7, 6), numbers(rng, 8, 6, share=0.5 if sparse else 1)
    B = numbers(rng, 9, 7, 8, share=0.1)
    if sparse and ("Vector" in text or "j, l)" in text):
        return  # what a loop walks is not done in vectors, nor against its order
    for format in CUBES:
        given = ln.asarray(B, format=format), C, ln.asarray(D, format=ln.CSR if sparse else None)
        agree(mttkrp, text, result, *given)


PARTS = [
    (filtered, "precompute(A[i,j]*x[j], j, jw, w)"),
    (filtered, "precompute(A[i,j], j, jw, w)"),
    (filtered, "split(i, i0, i1, 4) precompute(A[i,j]*x[j], i1, i2, w)"),
    (filtered, "precompute(A[i,j]*x[j], (i, j), (a, b), w)"),
    (filtered, "split(j, j0, j1, 4) precompute(A[i,j]*x[j], j1, j2, w)"),
    (filtered, "pos(j, p, A) split(p, p0, p1, 4) precompute(A[i,j]*x[j], p1, q, w)"),
    (scaled, "precompute(A[i,j]*x[j], j, jw, w)"),
    (scaled, "precompute(A[i,j], (i, j), (a, b), w)"),
    (scaled, "pos(j, p, A) split(p, p0, p1, 4) precompute(A[i,j]*z[i], p1, q, w)"),
    (shifted, "precompute(A[i,j]*z[i], j, jw, w)"),
    (shifted, "precompute(A[i,j], j, jw, w)"),
    (shortest, "precompute(A[i,j]+x[j], i, iw, w)"),
    (shortest, "precompute(A[i,j]+x[j], j, jw, w)"),
    (shortest, "precompute(A[i,j], j, jw, w)"),
    (longest, "precompute(A[i,j]+x[j], i, iw, w)"),
    (longest, "precompute(A[i,j]+z[i], j, jw, w)"),
]
MATRICES = [ln.CSR, ln.DCSR, ln.COO(2), ln.BAND]


@pytest.mark.parametrize(("kernel", "text"), PARTS)
@pytest.mark.parametrize("format", MATRICES, ids=str)
@pytest.mark.parametrize("result", ["dense", "sparse"])
def test_parts_that_meet_what_is_not_finite(kernel, text, format, result):
    if "pos(j" in text and format == ln.COO(2):
        return  # it goes through both of its dimensions
    if ", i" in text and format == ln.BAND:
        return  # it stores what lies between its values, as numbers
    rng = np.random.default_rng(2)
    A, fill = numbers(rng, 9, 11), 0.0
    if kernel in (shortest, longest):
        fill = np.inf if kernel is shortest else -np.inf
        A[A == 0] = fill
    A[3] = fill
    x, z = odd(rng, 11), odd(rng, 9)
    if ", i" in text or kernel in (shifted, longest, shortest):
        x = numbers(rng, 11, share=1)
    ndim = 2 if kernel in (scaled, shifted) else 1
    into = ln.DENSE(ndim) if result == "dense" else ln.CSF(ndim)
    given = ln.asarray(A, format=format.with_fill(fill))
    agree(kernel, text, into.with_fill(fill if kernel in (shortest, longest) else 0), given, x, z)


@pytest.mark.parametrize(
    "text",
    [
        "precompute(A[i,j]*B[i,j], j, jw, w)",
        "pos(j, p, A) split(p, p0, p1, 4) precompute(A[i,j]*B[i,j], p1, q, w)",
        "pos(j, p, A) split(p, p0, p1, 4) precompute(A[i,j], p1, q, w)",
        "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 4) precompute(A[i,j]*B[i,j], p1, q, w)",
    ],
)
@pytest.mark.parametrize("result", [ln.DENSE(1), ln.CSF(1)], ids=str)
def test_positions_of_one_where_another_stores_nothing(text, result):
    rng = np.random.default_rng(3)
    A, B = (ln.asarray(numbers(rng, 9, 11), format=f) for f in (ln.CSR, ln.DCSR))
    agree(both, text, result, A, B, odd(rng, 11))


@ln.kernel
def outer(C, A, x, z):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = A[i, j] * x[k] * z[k]
    return C


@ln.kernel
def moved(C, A, x, z):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = A[i, j] * x[k] * z[k] + z[j]
    return C


@pytest.mark.parametrize("kernel", [outer, moved])
@pytest.mark.parametrize("index", ["k, kw, w)", "k, kw, w) parallelize(kw, CPUVector, NoRaces)"])
@pytest.mark.parametrize("result", [ln.DENSE(3), ln.CSF(3)], ids=str)
def test_rows_that_are_there_or_not(kernel, index, result):
    """Where none is, an assignment is made all the same."""
    rng = np.random.default_rng(4)
    A = ln.asarray(numbers(rng, 4, 5), format=ln.CSR)
    agree(kernel, f"precompute(A[i,j]*x[k], {index}", result, A, np.ones(5), odd(rng, 5))


@pytest.mark.parametrize("sizes", [(0, 7, 8, 6), (9, 0, 8, 6), (9, 7, 0, 6), (9, 7, 8, 0)])
@pytest.mark.parametrize("format", [ln.DENSE(3), ln.CSF(3)], ids=str)
@pytest.mark.parametrize("result", [ln.DENSE(2), ln.CSR], ids=str)
def test_sums_of_nothing(sizes, format, result):
    """There is no term, and what would be a factor is infinite."""
    i, k, l, j = sizes
    B = ln.asarray(np.ones((i, k, l)), format=format)
    agree(mttkrp, FACTORS[0], result, B, np.full((k, j), np.inf), np.ones((l, j)))


@ln.kernel
def whole_numbers(y, A, x):
    y[...] = 1000
    for i, j in ...:
        y[i] = min(y[i], A[i, j] + x[i])
    return y


@pytest.mark.parametrize("size", [0, 4])
def test_the_least_of_no_whole_numbers_is_not_added_to(size):
    A, x = np.full((3, size), 5), np.array([2**62, -(2**62), 7])
    agree(whole_numbers, "precompute(A[i,j], i, iw, w)", ln.DENSE(1), A, x)


def test_the_least_of_no_whole_numbers_is_told_from_others():
    """Nothing but a flag for all of them says so, and there are several."""
    most = np.iinfo(np.int64).max
    A, x = np.full((3, 4), most), np.array([2**62, -(2**62), 7])
    A[1, 2] = 5
    given = ln.asarray(A, format=ln.CSR.with_dtype("int64").with_fill(most)), x
    scheduled = whole_numbers.schedule().apply("precompute(A[i,j], i, iw, w)")
    with pytest.raises(ScheduleError, match=r"precompute.*: .* is done where nothing has been add"):
        scheduled(ln.empty_tensor(ln.DENSE(1)), *given)


@ln.kernel
def powers(y, A, B, z):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] ** B[i, j] * z[i]
    return y


@pytest.mark.parametrize("fill", [0.0, 1.0])
@pytest.mark.parametrize("part", ["B[i,j]", "A[i,j]", "A[i,j] ** B[i,j]"])
def test_what_is_one_where_nothing_is_stored(fill, part):
    A = ln.asarray(np.eye(3) + fill, format=ln.CSR.with_fill(fill))
    B, z = ln.asarray(np.diag([2.0, 0, 3]), format=ln.CSR), np.array([np.inf, np.nan, 2])
    agree(powers, f"precompute({part}, j, jw, w)", ln.DENSE(1), A, B, z)


def test_a_workspace_is_an_array_where_that_makes_no_difference():
    """Nothing is listed, and no flag is raised."""
    rng = np.random.default_rng(1)
    A, x = ln.asarray(numbers(rng, 9, 11), format=ln.CSR), numbers(rng, 11)

    @ln.kernel
    def spmv(y, A, x):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j] * x[j]
        return y

    for text in ("precompute(A[i,j]*x[j], j, jw, w)", "precompute(A[i,j]*x[j], i, iw, w)"):
        lines = spmv.schedule().apply(text).loops(ln.empty_tensor(ln.DENSE(1)), A, x)
        assert "w = ln.temp(ln.Dense(ln.Element(0.0, 'float64')))" in lines
        assert "some" not in lines


def test_the_workspace_of_the_paper_has_a_flag():
    """That of MTTKRP is dense, and is used where a fiber has something."""
    rng = np.random.default_rng(1)
    B = ln.asarray(numbers(rng, 9, 7, 8, share=0.1), format=ln.CSF(3))
    given = ln.empty_tensor(ln.DENSE(2)), B, np.ones((7, 6)), np.ones((8, 6))
    code = mttkrp.schedule().apply(FACTORS[0]).code(*given)
    assert "w_some = (i64)B3_ptr[B2_q] < B3_ptr[B2_q + 1]" in code
    assert code.count("w_some =") == 2  # once for each fiber, after its beginning
