"""`unroll` and `parallelize`: what becomes of loops, of their code, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import linnet as ln
from linnet.backend import llvm, machine
from linnet.errors import ArgumentError, KernelSyntaxError, ScheduleError
from linnet.frontend.text import parse_text
from linnet.imp.how import How
from linnet.imp.nodes import For
from linnet.imp.rewrite import statements
from linnet.loops.printer import show

VECTOR = re.compile(r"= f(?:mul|add).* <\d+ x double>")


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def spmm(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def affine(z, x):
    z[...] = 0
    for i in ...:
        z[i] = 2 * x[i] + 1
    return z


@ln.kernel
def product(z, A, B):
    z[...] = 0
    for i, j in ...:
        z[i] += A[i, j] * B[i, j]
    return z


@pytest.fixture
def A():
    rng = np.random.default_rng(1)
    return rng.integers(1, 9, (30, 37)) * (rng.random((30, 37)) < 0.3) * 1.0


def code_of(kernel, *args):
    """The imperative code, and what LLVM makes of it for a machine of its own."""
    code = kernel.lowered(*args).kernel
    return code, machine.optimized(llvm.render(code, machine.host(True)))


def hows(code):
    """What a schedule says of how loops are run, and what copies are made of their turns."""
    found = [s.how for s in statements(code.body) if isinstance(s, For) and not s.how.is_plain]
    return [(replace(how, ways=(), kept=()), [way.copies for way in how.ways]) for how in found]


# -- what becomes of loops -------------------------------------------------------------------------

TEXTS = [
    "unroll(j, 4)",
    "unroll(i, 3)",
    "split(j, j0, j1, 8) unroll(j1, 8)",
    "parallelize(j, CPUVector, ParallelReduction)",
    "parallelize(j, CPUVector, IgnoreRaces)",
    "unroll(j, 3) parallelize(j, CPUVector, ParallelReduction)",
]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE, ln.DCSR, ln.BAND], ids=str)
def test_results_are_the_same(A, format, text, backend):
    x = np.arange(37.0)
    with ln.config(backend=backend):
        y = spmv.schedule().apply(text)(
            ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=format), x
        )
    assert np.array_equal(y.to_numpy(), A @ x)


@pytest.mark.parametrize("text", ["unroll(j, 4)", "parallelize(j, CPUVector, ParallelReduction)"])
@pytest.mark.parametrize("format", [ln.BLOCK, ln.RLE, ln.SRLE], ids=str)
def test_runs_and_blocks(A, format, text):
    x, y = np.arange(37.0), ln.empty_tensor(ln.DENSE(1))
    found = spmv.schedule().apply(text)(y, ln.asarray(A, format=format), x)
    assert np.array_equal(found.to_numpy(), A @ x)


def test_the_code_says_how_a_loop_is_run(A):
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR), np.arange(37.0)
    unrolled = spmv.schedule().unroll("j", 4)
    assert "for j in ln.unrolled(range(A.shape[1]), 4):" in unrolled.loops(*given)
    assert hows(unrolled.lowered(*given).kernel) == [(How(unroll=4), [4])]
    assert "#pragma GCC unroll 4\n" in unrolled.code(*given)
    vector = spmv.schedule().parallelize("j", ln.CPUVector, ln.ParallelReduction)
    assert 'in ln.vector(range(A.shape[1]), "ParallelReduction"):' in vector.loops(*given)
    ((how, _),) = hows(vector.lowered(*given).kernel)
    assert how == How(race="ParallelReduction")
    assert "#pragma omp simd reduction(+:y_i)\n" in vector.code(*given)


@pytest.mark.parametrize("factor", [2, 4, 5])
def test_an_unrolled_loop_has_copies_and_a_remainder(A, factor):
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR), np.arange(37.0)
    _, text = code_of(spmv.schedule().unroll("j", factor), *given)
    products = re.findall(r"= fmul .*double|@llvm.fmuladd", text)
    assert len(products) > factor
    assert not VECTOR.search(text)


@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE], ids=str)
def test_a_vector_loop_has_vector_instructions(A, format):
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=format), np.arange(37.0)
    vector = spmv.schedule().parallelize("j", ln.CPUVector, ln.ParallelReduction)
    assert VECTOR.search(code_of(vector, *given)[1])


def test_copies_of_vectors():
    given = ln.empty_tensor(ln.DENSE(1)), np.arange(37.0)
    one, three = affine.schedule(), affine.schedule().unroll("i", 3)
    counts = []
    for scheduled in (three.parallelize("i", ln.CPUVector), one.unroll("i", 5).parallelize(
        "i", ln.CPUVector
    )):  # fmt: skip
        counts.append(len(VECTOR.findall(code_of(scheduled, *given)[1])))
    assert counts[0] >= 6
    assert counts[1] >= 10


def test_a_vector_loop_stands_innermost(A):
    B = np.arange(37.0 * 20).reshape(37, 20)
    given = ln.empty_tensor(ln.DENSE(2)), ln.asarray(A, format=ln.CSR), B
    scheduled = spmm.schedule().apply("reorder(i, k, j) parallelize(k, CPUVector, NoRaces)")
    lines = [line.strip() for line in scheduled.loops(*given).splitlines() if "for " in line]
    assert [line.split()[1] for line in lines] == ["i", "j", "k"]
    assert np.array_equal(scheduled(*given).to_numpy(), A @ B)
    assert VECTOR.search(code_of(scheduled, *given)[1])


def test_accesses_of_a_loop_whose_races_are_ignored_are_parallel(A):
    given = ln.empty_tensor(ln.DENSE(1)), np.arange(37.0)
    scheduled = affine.schedule().parallelize("i", ln.CPUVector, ln.IgnoreRaces)
    text = llvm.render(scheduled.lowered(*given).kernel)
    assert text.count(", !llvm.access.group ") == 2
    assert "llvm.loop.parallel_accesses" in text


def test_programs_are_read_back():
    text = """def f(y, x):
    y[...] = 0
    for i in ln.unrolled(ln.vector(range(x.shape[0]), "NoRaces"), 4):
        y[i] = x[i] * 2
    return y"""
    assert show(parse_text(text)) == text


# -- what is refused -------------------------------------------------------------------------------


@ln.kernel
def shifted(z, x):
    z[...] = 0
    for i in range(36):
        z[i] += x[i]
        z[i + 1] += x[i]
    return z


@ln.kernel
def counts(z, c):
    z[...] = 0
    for i in ...:
        z[c[i]] += 1.0
    return z


@ln.kernel
def first_above(z, A):
    z[...] = -1
    for i in ...:
        for j in ...:
            if A[i, j] > 4:
                z[i] = j
                break
    return z


@ln.kernel
def last(z, A):
    z[...] = 0
    for i, j in ...:
        z[i] = A[i, j]
    return z


@ln.kernel
def scale(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * 2
    return C


@ln.kernel
def remainders(y, A, x):
    y[...] = 100
    for i, j in ...:
        y[i] %= A[i, j] + x[j] + 1
    return y


def test_nothing_is_transformed_after_parallelize():
    scheduled = spmv.schedule().parallelize("j", ln.CPUVector, ln.ParallelReduction)
    with pytest.raises(ScheduleError) as error:
        scheduled.split("i", "i0", "i1", 4)
    assert "`split(i, i0, i1, 4)`: it comes after `parallelize(j, CPUVector, Para" in str(
        error.value
    )
    assert "why:  loops of which several turns" in str(error.value)


WRONG = [
    (spmv, "unroll(j, 1)", "a factor is an integer from 2 to 1024, not 1"),
    (spmv, "unroll(j, 2) unroll(j, 3)", "`unroll(j, 2)` has unrolled it already"),
    (spmv, "parallelize(j, CPUVector, NoRaces)", "is a race: turns of the loop over `j`"),
    (spmv, "parallelize(i, CPUVector, NoRaces)", "there is a loop inside it"),
    (last, "parallelize(j, CPUVector, ParallelReduction)", "the last one counts"),
    (remainders, "parallelize(j, CPUVector, ParallelReduction)", "what they do to it has an order"),
    (remainders, "parallelize(j, CPUVector, IgnoreRaces)", "what they do to it has an order"),
    (first_above, "parallelize(j, CPUVector, IgnoreRaces)", "may be left by `break`"),
    (first_above, "parallelize(i, CPUVector, NoRaces)", "there is a loop inside it"),
]


@pytest.mark.parametrize(("kernel", "text", "message"), WRONG)
def test_what_is_refused(A, kernel, text, message):
    given = [ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR), np.arange(37.0)]
    with pytest.raises(ScheduleError) as error:
        kernel.schedule().apply(text)(*given[: len(kernel.params)])
    assert message in str(error.value)
    assert text.split(") ")[-1] in str(error.value)


def test_co_iterating_loops_do_not_count_turns(A):
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR), ln.asarray(A, format=ln.CSR)
    for text in ("unroll(j, 4)", "parallelize(j, CPUVector, ParallelReduction)"):
        with pytest.raises(ScheduleError, match="walks what is stored in `A` and `B`"):
            product.schedule().apply(text)(*given)


def test_races_over_data(A):
    x, z = ln.asarray(np.arange(37.0)), ln.asarray(np.arange(37.0))
    with pytest.raises(ScheduleError, match=r"`z\[i\]` writes what other turns may write"):
        shifted.schedule().parallelize("i", ln.CPUVector)(z, x)
    c = ln.asarray(np.arange(9) % 3)
    with pytest.raises(ScheduleError, match="depends on data"):
        counts.schedule().parallelize("i", ln.CPUVector, ln.ParallelReduction)(z, c)


def test_results_that_are_appended_have_no_vectors(A):
    given = ln.asarray(A, format=ln.CSR)
    with pytest.raises(ScheduleError, match="cannot run in vectors"):
        scale.schedule().parallelize("j", ln.CPUVector)(ln.empty_tensor(ln.DCSR), given)


def test_wrong_words():
    with pytest.raises(ArgumentError, match="no unit of the machine"):
        spmv.schedule().parallelize("j", "CPUThreads")
    with pytest.raises(ArgumentError, match="no strategy for races"):
        spmv.schedule().parallelize("j", ln.CPUVector, "Atomic")
    with pytest.raises(ScheduleError, match="Atomic` is not a strategy for races"):
        spmv.schedule().apply("parallelize(j, ln.CPUVector, ln.Atomic)")
    for line in ("ln.unrolled(range(4), 1)", 'ln.vector(range(4), "Some")'):
        with pytest.raises(KernelSyntaxError):
            parse_text(f"def f(y, x):\n    for i in {line}:\n        y[i] = x[i]")


def test_vectors_that_are_written_in_a_kernel_are_checked():
    @ln.kernel
    def added(s, x):
        s[()] = 0
        for i in ln.vector(range(9), "NoRaces"):
            s[()] += x[i]
        return s

    with pytest.raises(ScheduleError, match="is a race"):
        added(ln.scalar(0.0), np.arange(9.0))


def test_no_pass_puts_loops_into_a_vector_loop(A):
    """What is kept for several columns at once would race in vectors of another loop."""
    B = np.arange(37.0 * 20).reshape(37, 20)
    given = ln.empty_tensor(ln.DENSE(2)), ln.asarray(A, format=ln.CSR), B
    text = "reorder(i, k, j) parallelize(j, CPUVector, ParallelReduction)"
    scheduled = spmm.schedule().apply(text)
    code = scheduled.lowered(*given).kernel
    vectors = [s for s in statements(code.body) if isinstance(s, For) and s.how.race]
    assert vectors
    assert not any(isinstance(s, For) for loop in vectors for s in statements(loop.body))
    with ln.config(backend="c"):
        assert np.array_equal(scheduled(*given).to_numpy(), A @ B)


# -- ranges that follow one another ----------------------------------------------------------------


@ln.kernel
def columns_scaled(C, A, x):
    C[...] = 0
    for j, i in ...:
        C[i, j] = A[i, j] * x[j]
    return C


@ln.kernel
def all_of(s, A):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j]
    return s


@pytest.mark.parametrize("race", ["NoRaces", "ParallelReduction", "IgnoreRaces"])
def test_vectors_end_with_the_range_of_which_races_are_known(A, race):
    x = np.arange(1.0, A.shape[1] + 1)
    scheduled = columns_scaled.schedule().parallelize("i", ln.CPUVector, race)
    given = ln.empty_tensor(ln.CSR), ln.asarray(A, format=ln.CSC), ln.asarray(x)
    with ln.config(optimize=True):
        assert np.array_equal(scheduled(*given).to_numpy(), A * x)
    # what is counted of a row is written by one column after the other
    text = scheduled.code(*given)
    counted = text[: text.index("C_count_val[i_2]++")].splitlines()[-4:-1]
    assert "#pragma omp simd" in counted[0]
    assert "A_q_2 = A_ptr[j" in counted[1]


def test_vectors_of_a_sum_go_on_in_the_next_row(A):
    scheduled = all_of.schedule().parallelize("j", ln.CPUVector, ln.ParallelReduction)
    given = ln.empty_tensor(ln.SCALAR), ln.asarray(A, format=ln.CSR)
    assert scheduled(*given).item() == A.sum()
    text = scheduled.code(*given)
    assert "reduction(+:s" in text
    assert "A_ptr[n_i]" in text
    assert "for (i64 i " not in text


@ln.kernel
def ones_everywhere(Y, A):
    Y[...] = 0
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            Y[i, j] = 1.0
    return Y


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_vectors_write_parts_of_pairs_to_their_places(size):
    """The place of a pair in a part is told by both indices."""
    text = f"collapse(i, j, f) split(f, f0, f1, {size}) parallelize(f1, CPUVector, NoRaces)"
    given = ln.empty_tensor(ln.CSR), ln.asarray(np.zeros(5))
    tiled = ones_everywhere.schedule().apply(text)
    tiled.visits(*given)  # what is written lies inside arrays
    assert np.array_equal(tiled(*given).to_numpy(), np.ones((5, 5)))
