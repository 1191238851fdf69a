"""Sparse results under schedules: what is accepted is right, and stores what it does without."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.formats.assemble import unpack

LEAF = ln.Element(0.0)
FORMATS = {
    "CSR": ln.CSR,
    "CSC": ln.CSC,
    "COO": ln.COO(2),
    "DCSR": ln.DCSR,
    "hash": ln.SparseHash(ln.SparseHash(LEAF)),
    "byte map": ln.SparseByteMap(ln.SparseByteMap(LEAF)),
    "RLE": ln.RLE,
    "SRLE": ln.SRLE,
    "BAND": ln.BAND,
    "BLOCK": ln.BLOCK,
}


@ln.kernel
def scale(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * 2
    return C


@ln.kernel
def transpose(C, A):
    C[...] = 0
    for i, j in ...:
        C[j, i] = A[i, j]
    return C


@ln.kernel
def deep(C, A):
    C[...] = 0
    for i, j, k, l in ...:
        C[i, j, k, l] = A[i, j, k, l] * 2
    return C


def numbers(*shape, density=0.25):
    rng = np.random.default_rng([1, *shape])
    return rng.integers(1, 9, shape) * (rng.random(shape) < density) * 1.0


M = numbers(12, 13)
WRITTEN_ONCE = [
    "split(i, i0, i1, 5) split(j, j0, j1, 4) reorder(i0, j0, i1, j1)",
    "split(i, i0, i1, 5) reorder(i1, i0)",
    "split(i, i0, i1, 6) reorder(i1, i0) split(i1, i2, i3, 2) reorder(i3, i2, i0)",
    "collapse(i, j, f) split(f, f0, f1, 7)",
    "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 7)",
    "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 8) split(p1, p2, p3, 3)",
]


@pytest.mark.parametrize("text", WRITTEN_ONCE)
@pytest.mark.parametrize("kernel", [scale, transpose], ids=lambda k: k.__name__)
@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_what_is_written_once_is_not_written_where_nothing_is_stored(kernel, format, text):
    A = ln.asarray(M, format=ln.CSR)
    plain = kernel(ln.empty_tensor(format), A)
    found = kernel.schedule().apply(text)(ln.empty_tensor(format), A)
    assert np.array_equal(found.to_numpy(), plain.to_numpy())
    assert found.nnz == plain.nnz


@pytest.mark.parametrize("again", ["2", "2, up", "1, up"])
@pytest.mark.parametrize("text", ["split(i, i0, i1, 5)", "split(i, i0, i1, 5, up)"])
def test_parts_of_parts_are_written_in_order(text, again):
    given = ln.empty_tensor(ln.CSR), ln.asarray(M, format=ln.CSR)
    tiled = scale.schedule().apply(f"{text} split(i1, i2, i3, {again})")
    assert "temp" not in tiled.loops(*given)
    assert np.array_equal(tiled(*given).to_numpy(), M * 2)


@pytest.mark.parametrize("format", [ln.CSF(4), ln.COO(4)], ids=str)
@pytest.mark.parametrize("size", [1, 3, 8, 100])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_tiles_of_positions_of_many_dimensions(depth, size, format):
    T = numbers(4, 3, 5, 4)
    A = ln.asarray(T, format=ln.CSF(4))
    scheduled = deep.schedule().collapse("i", "j", "f2")
    for k in range(2, depth):
        scheduled = scheduled.collapse(f"f{k}", "ijkl"[k], f"f{k + 1}")
    scheduled = scheduled.pos(f"f{depth}", "p", "A").split("p", "p0", "p1", size)
    found = scheduled(ln.empty_tensor(format), A)
    assert np.array_equal(found.to_numpy(), T * 2)
    assert found.nnz == A.nnz


# -- parts that end anywhere ---------------------------------------------------------------------


@ln.kernel
def filtered(C, A):
    C[...] = 0
    for i, j in ...:
        if A[i, j] > 4:
            C[i, j] = A[i, j] * 2
    return C


@ln.kernel
def row_sums(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j]
    return y


@ln.kernel
def outer(C, A, b):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = A[i, j] * b[k]
    return C


@ln.kernel
def product(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def fiber_sums(C, A):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += A[i, j, k]
    return C


@ln.kernel
def scale_fibers(C, A):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = A[i, j, k] * 2
    return C


LEVELS = {
    "D": ln.Dense,
    "L": ln.SparseList,
    "C": lambda child: ln.SparseCOO(2, child),
    "H": ln.SparseHash,
    "M": ln.SparseByteMap,
    "R": ln.RunList,
    "S": ln.SparseRunList,
    "B": ln.SparseBand,
    "V": ln.SparseBlockList,
}


def format_of(letters, leaf=LEAF):
    for letter in reversed(letters):
        leaf = LEVELS[letter](leaf)
    return leaf


T = numbers(5, 4, 6, density=0.4)
T[1] = 0
T[3, 1:3] = 0
SQUARE = numbers(13, 7)
PAIRS = "C DL LL HL ML DR LR DS LS DB LB DV LV LH LM LD RL SL BL VL VV RR".split()
TRIPLES = "CL LC CD DC DLL LLL LDL LLD HLL LHL DLR LLS LBV".split()
TOGETHER = (
    "pos(f, p, A) split(p, p0, p1, {})", "split(f, p0, p1, {})",
    "pos(f, p, A, flat) split(p, p0, p1, {})",
)  # fmt: skip
PARTS = [
    # kernel, other operands, formats of results, of operands, what is collapsed
    (filtered, (), PAIRS, ("DL", "LL", "C"), "collapse(i, j, f)"),
    (row_sums, (), "LRSBVHM", ("DL", "LL", "C"), "collapse(i, j, f)"),
    (outer, (numbers(4),), TRIPLES, ("DL", "LL", "C"), "collapse(i, j, f)"),
    (product, (SQUARE,), PAIRS, ("DL", "LL", "C"), "collapse(i, j, f)"),
    (fiber_sums, (), PAIRS, ("DLL", "LLL", "CL"), "collapse(i, j, f)"),
    (fiber_sums, (), PAIRS, ("DLL", "LLL", "LC"), "collapse(i, j, e) collapse(e, k, f)"),
    (scale_fibers, (), TRIPLES, ("DLL", "LLL"), "collapse(j, k, f)"),
    (scale_fibers, (), TRIPLES, ("DLL", "LLL", "LC"), "collapse(i, j, e) collapse(e, k, f)"),
]
DRAWN = [
    (kernel, given, results[k % len(results)], operand, f"{collapse} {TOGETHER[k % 3]}", size)
    for n, (kernel, given, results, operands, collapse) in enumerate(PARTS)
    for k, (operand, size) in enumerate(
        (operands[m % len(operands)], (1, 2, 3, 7, 100)[(m + n) % 5]) for m in range(len(results))
    )
]


def names(drawn):
    return [f"{k.__name__}-{r}-{o}-{t.format(s)}" for k, _, r, o, t, s in drawn]


@pytest.mark.parametrize(
    ("kernel", "given", "result", "operand", "text", "size"), DRAWN, ids=names(DRAWN)
)
def test_parts_that_end_anywhere(kernel, given, result, operand, text, size):
    """Every result has what it has without parts, and nothing else is stored."""
    values = M if len(operand.replace("C", "..")) == 2 else T
    A = ln.asarray(values, format=format_of(operand))
    others = [ln.asarray(x, format=ln.CSF(1) if x.ndim == 1 else ln.CSR) for x in given]
    plain = kernel(ln.empty_tensor(format_of(result)), A, *others)
    scheduled = kernel.schedule().apply(text.format(size))
    found = scheduled(ln.empty_tensor(format_of(result)), A, *others)
    (here, a), (there, b) = unpack(found), unpack(plain)
    assert np.array_equal(here, there)
    assert np.array_equal(a, b)
    if not set(result) & set("HM"):  # these keep tables, too
        for name, array in plain.buffers.items():
            assert np.array_equal(array, found.buffers[name]), name


APPENDED = [
    (scale, "DL", "DL", M), (scale, "LL", "DL", M), (scale, "C", "LL", M), (row_sums, "L", "DL", M),
    (fiber_sums, "LL", "LLL", T), (fiber_sums, "C", "LLL", T),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "result", "operand", "values"), APPENDED)
def test_entries_that_come_in_order_are_appended(kernel, result, operand, values):
    """There is no workspace, and no turn more than those of the tiles and of rows that are cut."""
    A, result = ln.asarray(values, format=format_of(operand)), format_of(result)
    scheduled = kernel.schedule().apply("collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 4)")
    assert "ln.temp" not in ln.explain(scheduled, ln.empty_tensor(result), A)["workspaces"]
    visits = scheduled.visits(ln.empty_tensor(result), A)
    before = kernel.visits(ln.empty_tensor(result), A)
    cut = visits["fiber_of"] + 2 * visits["p0"]  # parts, rows that two have, searches for them
    assert visits.total <= before.total + cut + len(values) + 1  # and pointers of each row


@ln.kernel
def in_tiles(C, A, x):
    w = ln.temp(ln.Dense(LEAF))
    C[...] = 0
    for i in range(A.shape[0]):
        for t in range(ln.parts(range(A.shape[1]), 4)):
            ln.declare(w, 0, (A.shape[1],))
            for k in range(x.shape[0]):
                for j in ln.part(range(A.shape[1]), t, 4):
                    w[j] += A[i, j] * x[k]
            for j in ln.part(range(A.shape[1]), t, 4):
                C[i, j] = w[j] * A[i, j]
    return C


@pytest.mark.parametrize("result", PAIRS)
def test_what_is_done_for_each_part_before_it_is_written(result):
    A, x = ln.asarray(M, format=ln.CSR), np.arange(1.0, 4.0)
    found = in_tiles(ln.empty_tensor(format_of(result)), A, x)
    assert np.array_equal(found.to_numpy(), 6 * M * M)
    assert set(result) & set("RDBS") or found.nnz == A.nnz
    stages = ln.explain(in_tiles, ln.empty_tensor(format_of(result)), A, x)
    assert "C_w" not in stages["workspaces"]


# -- vectors -------------------------------------------------------------------------------------

VECTORS = (
    "split(i, i0, i1, 4) pos(j, jpos, A) split(jpos, jpos0, jpos1, 2)"
    " reorder(i0, i1, jpos0, k, jpos1) parallelize(k, CPUVector, IgnoreRaces)"
)


@ln.kernel
def large_ones(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        if B[j, k] > 2:
            C[i, k] += A[i, j] * B[j, k]
    return C


@pytest.mark.parametrize("columns", [0, 1, 20])
@pytest.mark.parametrize("result", ["DL", "LL", "C", "DV", "DB", "DS"])
def test_vectors_write_an_array_of_which_all_is_stored_or_nothing(result, columns):
    A, B = ln.asarray(M, format=ln.CSR), numbers(13, columns, density=1)
    format, scheduled = format_of(result), product.schedule().apply(VECTORS)
    plain = product(ln.empty_tensor(format), A, B)
    found = scheduled(ln.empty_tensor(format), A, B)
    assert np.array_equal(found.to_numpy(), M @ B)
    (here, _), (there, _) = unpack(found), unpack(plain)
    assert np.array_equal(here, there)
    text = str(ln.explain(scheduled, ln.empty_tensor(format), A, B)["workspaces"])
    assert "C_w = ln.temp(ln.Dense" in text


ORDERS = [
    (product, VECTORS),
    (product, "reorder(i, j, k) parallelize(k, CPUVector, NoRaces)"),
    (product, "reorder(i, k, j) split(k, k0, k1, 4) reorder(i, k0, j, k1)"
     " parallelize(k1, CPUVector, NoRaces)"),
    (outer, "parallelize(k, CPUVector, NoRaces)"),
    (outer, "split(k, k0, k1, 4) parallelize(k1, CPUVector, NoRaces)"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "text"), ORDERS)
@pytest.mark.parametrize("result", ["DL", "LL", "C", "DB", "DR", "DH", "HL"])
@pytest.mark.parametrize("turned", [False, True])
def test_vectors_write_results_in_any_order(kernel, text, result, turned):
    """An array is written in vectors, and goes on to the result as it would without them."""
    levels = result if kernel is product else f"{result[:1]}{result}".replace("CC", "LC")
    format = ln.empty_tensor(format_of(levels)).format
    format = format.with_order(*reversed(range(format.ndim))) if turned else format
    other = numbers(13, 6, density=1) if kernel is product else numbers(6, density=1)
    A = ln.asarray(M, format=ln.CSR)
    plain = kernel(ln.empty_tensor(format), A, other)
    found = kernel.schedule().apply(text)(ln.empty_tensor(format), A, other)
    (here, a), (there, b) = unpack(found), unpack(plain)
    assert np.array_equal(here, there)
    assert np.array_equal(a, b)


@pytest.mark.parametrize("result", ["DL", "LL", "C"])
def test_rows_that_come_again_are_not_written_in_vectors(result):
    """A row may go on in the next part, and would begin anew there."""
    A, format = ln.asarray(M, format=ln.CSR), format_of(result)
    text = "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 4) parallelize(k, CPUVector, NoRaces)"
    with pytest.raises(ln.errors.ScheduleError, match="cannot run in vectors"):
        product.schedule().apply(text)(ln.empty_tensor(format), A, numbers(13, 6, density=1))


@pytest.mark.parametrize(
    ("kernel", "format"), [(product, ln.CSR), (large_ones, ln.DENSE(2))], ids=["sparse", "some"]
)
def test_vectors_are_refused_where_only_some_elements_are_written(kernel, format):
    A, B = ln.asarray(M, format=ln.CSR), ln.asarray(SQUARE, format=format)
    with pytest.raises(ln.errors.ScheduleError, match="cannot run in vectors"):
        kernel.schedule().apply(VECTORS)(ln.empty_tensor(ln.CSR), A, B)


# -- sums for each position of a part ------------------------------------------------------------


@ln.kernel
def sampled(C, A, D, E):
    C[...] = 0
    for i, k, j in ...:
        C[i, k] += A[i, k] * D[i, j] * E[j, k]
    return C


@ln.kernel
def sampled_below(C, A, D, E):
    C[...] = 0
    for i, k, j in ...:
        if j < 3:
            C[i, k] += A[i, k] * D[i, j] * E[j, k]
    return C


@ln.kernel
def sampled_once(C, A, D, E):
    C[...] = 0
    for i, k, j in ...:
        if E[j, k] > 4:
            C[i, k] = A[i, k]
    return C


SUMS = [
    "pos(k, p, A) split(p, p0, p1, {}) reorder(i, p0, j, p1)",
    "split(k, p0, p1, {}) reorder(i, p0, j, p1)",
    "pos(k, p, A) split(p, p0, p1, 5) split(p1, p2, p3, {}) reorder(i, p0, p2, j, p3)",
    "pos(k, p, A) split(p, p0, p1, 6) split(p1, p2, p3, {}) reorder(i, p0, j, p2, p3)",
    "collapse(i, k, f) pos(f, p, A) split(p, p0, p1, {}) reorder(p0, j, p1)",
]
KINDS = {"dense": ln.DENSE(2), "sparse": ln.CSR}
SAMPLED = [
    (kernel, text.format(size), result, "DL" if n % 2 else "LL", kind)
    for n, (kernel, text) in enumerate(
        (k, t) for k in (sampled, sampled_below) for t in SUMS
    )
    for size, result, kind in (
        (1, "DL", "dense"), (3, "LL", "dense"), (4, "C", "sparse"), (8, "C", "dense"),
        (2, "DV", "dense"), (3, "DL", "sparse"), (2, "DH", "dense"), (4, "LS", "sparse"),
    )
]  # fmt: skip


@pytest.mark.parametrize("columns", [5, 0])
@pytest.mark.parametrize(("kernel", "text", "result", "operand", "kind"), SAMPLED)
def test_sums_for_each_position_of_a_part(kernel, text, result, operand, kind, columns):
    """What is summed over stands between the parts and their elements."""
    A = ln.asarray(M, format=format_of(operand))
    D = numbers(12, columns, density=1)
    E = ln.asarray(numbers(columns, 13, density=0.4), format=KINDS[kind])
    plain = kernel(ln.empty_tensor(format_of(result)), A, D, E)
    found = kernel.schedule().apply(text)(ln.empty_tensor(format_of(result)), A, D, E)
    (here, a), (there, b) = unpack(found), unpack(plain)
    assert np.array_equal(here, there)
    assert np.array_equal(a, b)


@pytest.mark.parametrize("text", SUMS)
@pytest.mark.parametrize("result", ["LL", "C"])
def test_assignments_are_not_summed_for_each_position(text, result):
    """In another order of the loops, another one would be the last."""
    A = ln.asarray(M, format=format_of(result))
    scheduled = sampled_once.schedule().apply(text.format(4))
    with pytest.raises(ln.errors.ScheduleError, match="may assign to an element several times"):
        scheduled(ln.empty_tensor(ln.DCSR), A, numbers(12, 5, density=1), np.ones((5, 13)))


def test_the_result_has_the_positions_of_an_operand():
    """Sums of eight positions are made in an array of the kernel's own, and appended."""
    A, D, E = ln.asarray(M, format=ln.CSR), numbers(12, 5), numbers(5, 13)
    scheduled = sampled.schedule().apply(
        SUMS[0].format(8) + " parallelize(p1, CPUVector, ParallelReduction)"
    )
    code = scheduled.code(ln.empty_tensor(ln.CSR), A, D, E)
    assert "double C_w[8];" in code
    assert "#pragma omp simd" in code
    assert "C_w_idx" not in code  # nothing is listed, nor sorted
    visits = scheduled.visits(ln.empty_tensor(ln.CSR), A, D, E)
    assert visits["k in A[i, k]"] == 5 * A.nnz
    assert visits["k_2 in A"] == A.nnz
