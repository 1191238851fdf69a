"""What commands mean, sentence by sentence, where no other page of tests says it."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ArgumentError, ScheduleError

M = np.zeros((9, 7))
M[0, [1, 3]], M[3, [0, 5, 6]], M[4, 2], M[8, :] = 2, 3, 5, 1  # rows that are empty, and a full one
V = np.arange(1.0, 8)
FORMATS = [ln.CSR, ln.DCSR, ln.COO, ln.CSC, ln.DENSE(2), ln.BAND, ln.RLE]


def vector():
    return ln.empty_tensor(ln.DENSE(1))


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def cosines(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = np.cos(A[i, j])
    return C


@ln.kernel
def symmetric_sums(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * A[j, i]
    return y


@ln.kernel
def transpose(C, A):
    C[...] = 0
    for i, j in ...:
        C[j, i] = A[i, j]
    return C


@ln.kernel
def last(y, A):
    y[...] = -1
    for i, j in ...:
        y[i] = A[i, j]
    return y


@ln.kernel
def smoothed(y, s, A):
    """A recurrence: what a turn needs of the one before is carried in a scalar."""
    y[...] = 0
    s[...] = 0
    carried = ln.scalar(0.0)
    for i, j in ...:
        carried[()] = carried[()] / 2 + A[i, j]
        if carried[()] > 3:
            s[()] += 1
        y[i] = carried[()]
    return y, s


# -- names and texts -------------------------------------------------------------------------------


def test_the_name_of_a_tensor_is_its_only_access():
    A = ln.asarray(M[:7], format=ln.CSR)
    with pytest.raises(ScheduleError, match=r"`A` is read as A\[i, j\], A\[j, i\]") as error:
        symmetric_sums.schedule().apply("pos(j, p, A)")(vector(), A)
    assert "say which of them leads" in str(error.value)
    plain = spmv.schedule().apply("pos(j, p, A)")
    named = spmv.schedule().apply("pos(j, p, A[i, j])")
    given = vector(), A, V
    assert plain.loops(*given) == named.loops(*given)


@pytest.mark.parametrize("name", ["a:b", "2", "a b", "for"])
def test_a_name_of_a_loop_is_a_name(name):
    with pytest.raises(ScheduleError, match="is no name for a loop"):
        spmv.schedule().split("i", name, "i1", 4)
    with pytest.raises(ArgumentError, match="is not the name of a loop"):
        spmv.schedule().split("i", "", "i1", 4)


@pytest.mark.parametrize("size", [np.int64(4), np.uint8(4)])
def test_numbers_may_be_those_of_numpy(size):
    tiled = spmv.schedule().split("i", "a", "b", size).unroll("j", size)
    tiled = tiled.bound("a", ln.MaxConstraint, size)
    assert tiled.commands == "split(i, a, b, 4) unroll(j, 4) bound(a, MaxConstraint, 4)"


@pytest.mark.parametrize("size", [4.0, True, "4", None])
def test_other_numbers_are_told_at_once(size):
    with pytest.raises(ArgumentError, match="is not a whole number"):
        spmv.schedule().split("i", "a", "b", size)
    with pytest.raises(ArgumentError, match="is not a whole number"):
        spmv.schedule().unroll("i", size)


def test_words_of_schedules_are_public():
    names = ("CPUVector", "NoRaces", "IgnoreRaces", "ParallelReduction")
    assert all(getattr(ln, name) == name and name in dir(ln) for name in names)
    assert not any(hasattr(ln, name) for name in ("CPUThread", "Atomics", "Temporary"))


@pytest.mark.parametrize(
    "text", ["parallelize(i, CPUThread, NoRaces)", "parallelize(j, CPUVector, Atomics)"]
)
def test_words_that_mean_nothing_yet(text):
    with pytest.raises(ScheduleError, match="is not a"):
        spmv.schedule().apply(text)


# -- orders ----------------------------------------------------------------------------------------


def test_two_loops_in_their_order_stay_so():
    given = vector(), ln.asarray(M, format=ln.CSR), V
    same = spmv.schedule().reorder("i", "j")
    assert same.loops(*given) == spmv.schedule().loops(*given)
    dense = vector(), ln.asarray(M), V
    swapped = spmv.schedule().reorder("j", "i")
    assert swapped.loops(*dense) != spmv.schedule().loops(*dense)
    assert swapped.reorder("j", "i").loops(*dense) == swapped.loops(*dense)
    assert swapped.reorder("i", "j").loops(*dense) == spmv.schedule().loops(*dense)


def test_indices_of_the_result_come_first():
    i, j, k = ln.indices("i j k")
    A, B, y = ln.asarray(M[:, :]), ln.asarray(M.T), ln.output()
    y[i, k] = A[i, j] * B[j, k]
    assert ln.schedule(y).provenance.order == ("i", "k", "j")
    with pytest.raises(ScheduleError, match="no loop over `l` among i, k, j"):
        ln.einsum("C[i,k] += A[i,j] * B[j,k]", A=A, B=B, schedule="split(l, a, b, 2)")


TEXTS = ["split(i, a, b, 2)", "split(j, a, b, 3)", "split(j, a, b, 3) split(i, c, d, 4, up)"]


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("text", [*TEXTS, "collapse(i, j, f) split(f, a, b, 4)"])
@pytest.mark.parametrize("result", [ln.DENSE(1), ln.CSF(1)], ids=str)
def test_assignments_in_tiles_keep_their_meaning(format, text, result):
    """The last one counts, of all tiles."""
    A = ln.asarray(M, format=format)
    found = last.schedule().apply(text)(ln.empty_tensor(result), A)
    assert np.array_equal(found.to_numpy(), M[:, -1])


@pytest.mark.parametrize("text", ["reorder(j, i)", "split(j, a, b, 3) reorder(a, i)"])
def test_assignments_in_another_order_are_refused(text):
    with pytest.raises(ScheduleError, match="the last one counts"):
        last.schedule().apply(text)(vector(), ln.asarray(M))


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("text", [*TEXTS, "collapse(i, j, f) split(f, a, b, 4)"])
def test_recurrences(format, text):
    given = ln.asarray(M, format=format)
    plain = smoothed(vector(), ln.scalar(0.0), given)
    found = smoothed.schedule().apply(text)(vector(), ln.scalar(0.0), given)
    for a, b in zip(plain, found, strict=True):
        assert np.array_equal(a.to_numpy(), b.to_numpy())


RECURRENCES = [
    ("reorder(j, i)", "`carried[()]` is updated in several ways|the last one counts"),
    ("parallelize(j, CPUVector, ParallelReduction)", "the last one counts"),
    ("pos(j, p, A)", "is to be done where `A` stores nothing"),
]


@pytest.mark.parametrize(("text", "message"), RECURRENCES)
def test_recurrences_in_another_order_are_refused(text, message):
    given = vector(), ln.scalar(0.0), ln.asarray(M, format=ln.CSR)
    with pytest.raises(ScheduleError, match=message.replace("[", r"\[").replace("()", r"\(\)")):
        smoothed.schedule().apply(text)(*given)


# -- what is visited -------------------------------------------------------------------------------


def test_positions_where_a_function_of_nothing_is_something():
    """Each point is visited exactly once: the cosine of 0 is to be written, too."""
    given = ln.empty_tensor(ln.DENSE(2)), ln.asarray(M, format=ln.CSR)
    scheduled = cosines.schedule().pos("j", "p", "A[i, j]")
    with pytest.raises(ScheduleError, match="is to be done where `A` stores nothing"):
        scheduled(*given)
    through = scheduled.split("p", "p0", "p1", 2).coord("p1", "c")
    assert np.array_equal(through(*given).to_numpy(), np.cos(M))


@pytest.mark.parametrize("rows", [0, 1, 2, 5, 9])
@pytest.mark.parametrize("size", [1, 2, 4, 7, 20])
@pytest.mark.parametrize("direction", ["down", "up"])
@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO], ids=str)
def test_tiles_of_any_kind(rows, size, direction, format):
    """Empty ones, ones that begin behind the end, of empty rows only, or within one row."""
    A = ln.asarray(M[:rows], format=format)
    positions = spmv.schedule().collapse("i", "j", "f").pos("f", "q", "A[i, j]")
    for plan, name in ((spmv.schedule(), "i"), (spmv.schedule(), "j"), (positions, "q")):
        tiled = plan.split(name, "a", "b", size, direction=direction)
        assert np.array_equal(tiled(vector(), A, V).to_numpy(), M[:rows] @ V)


@ln.kernel
def sums_and_products(y, z, A, B):
    y[...] = 0
    z[...] = 0
    for i, j in ...:
        y[i] += A[i, j] + B[i, j]
        z[i] += A[i, j] * B[i, j]
    return y, z


@pytest.mark.parametrize("format", FORMATS[:3], ids=str)
@pytest.mark.parametrize("size", ["1", "4", "10", "100", "3, up"])
def test_pairs_are_split_where_operands_are_walked_together(size, format):
    other = np.roll(M, 1, axis=1) * (np.arange(9)[:, None] != 4)
    given = ln.asarray(M, format=format), ln.asarray(other, format=format)
    tiled = sums_and_products.schedule().apply(f"collapse(i, j, f) split(f, a, b, {size})")
    found = tiled(vector(), vector(), *given)
    assert np.array_equal(found[0].to_numpy(), (M + other).sum(axis=1))
    assert np.array_equal(found[1].to_numpy(), (M * other).sum(axis=1))


@pytest.mark.parametrize("text", ["", *TEXTS[:2]])
@pytest.mark.parametrize("result", [ln.CSR, ln.DCSR, ln.COO(2), ln.BAND], ids=str)
def test_what_is_written_out_of_order_gets_a_workspace(text, result):
    given = ln.empty_tensor(result), ln.asarray(M, format=ln.CSR)
    scheduled = transpose.schedule().apply(text)
    found = ln.explain(scheduled, *given)["workspaces"]
    assert "ln.temp" in found
    assert np.array_equal(scheduled(*given).to_numpy(), M.T)
