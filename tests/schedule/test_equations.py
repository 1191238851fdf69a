"""`ln.schedule(y)`: equations as one nest of loops, under commands."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ArgumentError, LifecycleError, ScheduleError

i, j, k, l = ln.indices("i j k l")
i0, i1, j0, j1, f, p, p0, p1 = ln.indices("i0 i1 j0 j1 f p p0 p1")
FORMATS = (ln.CSR, ln.DCSR, ln.COO, ln.DENSE)


def numbers(*shape, density=1.0, seed=0):
    rng = np.random.default_rng([seed, *shape])
    return rng.integers(1, 9, shape) * (rng.random(shape) < density) * 1.0


M = numbers(23, 17, density=0.2)
N = numbers(17, 23, density=0.3)
V, W = numbers(17), numbers(23)
x, b = ln.asarray(V), ln.asarray(W)


def product(A):
    y = ln.output()
    y[i] = A[i, j] * x[j]
    return y


SCHEDULES = [
    "",
    "split(i, i0, i1, 8)",
    "split(j, j0, j1, 5, up)",
    "split(i, i0, i1, 8) split(j, j0, j1, 5) reorder(i0, j0, i1, j1)",
    "collapse(i, j, f) split(f, f0, f1, 7)",
]


@pytest.mark.parametrize("text", SCHEDULES)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_a_product_of_a_matrix(format, text):
    A = ln.asarray(M, format=format)
    plan = ln.schedule(product(A)).apply(text)
    assert np.array_equal(plan.run().to_numpy(), M @ V)
    assert plan.commands == text


def test_positions_by_indices_and_accesses():
    A = ln.asarray(M, format=ln.CSR)
    y = product(A)
    plan = ln.schedule(y).collapse(i, j, f).pos(f, p, A[i, j]).split(p, p0, p1, 4)
    assert plan.commands == "collapse(i, j, f) pos(f, p, A[i, j]) split(p, p0, p1, 4)"
    same = ln.schedule(y).collapse("i", "j", "f").pos("f", "p", "A[i, j]").split("p", "p0", "p1", 4)
    assert same.loops == plan.loops
    assert ln.schedule(y).apply(plan.commands).loops == plan.loops
    assert np.array_equal(plan.run().to_numpy(), M @ V)


# Equations, and what they are with NumPy: one nest each, in every format of what is sparse.
EQUATIONS = {
    "each term over its own indices": (
        lambda y, A, B: y.__setitem__(i, b[i] + A[i, j] * x[j]),
        lambda: W + M @ V,
    ),
    "three terms": (
        lambda y, A, B: y.__setitem__(i, b[i] + A[i, j] * x[j] - A[i, j]),
        lambda: W + M @ V - M.sum(1),
    ),
    "two sums": (
        lambda y, A, B: y.__setitem__(i, A[i, j] * x[j] + B[k, i]),
        lambda: M @ V + N.sum(0),
    ),
    "the same sum": (
        lambda y, A, B: y.__setitem__(i, A[i, j] * x[j] + A[i, j]),
        lambda: M @ V + M.sum(1),
    ),
    "a number": (lambda y, A, B: y.__setitem__(i, A[i, j] * x[j] + 1), lambda: M @ V + 1),
    "two matrices": (lambda y, A, B: y.__setitem__((i, k), A[i, j] * B[j, k]), lambda: M @ N),
    "three factors": (
        lambda y, A, B: y.__setitem__((i, k), A[i, j] * B[j, k] * b[k]),
        lambda: M @ N * W,
    ),
    "a map": (lambda y, A, B: y.__setitem__((i, j), A[i, j] + B[j, i]), lambda: M + N.T),
    "another fill value": (lambda y, A, B: y.__setitem__((i, j), A[i, j] + 1), lambda: M + 1),
    "turned": (lambda y, A, B: y.__setitem__((j, i), A[i, j]), lambda: M.T),
    "the largest": (
        lambda y, A, B: y.__setitem__(i, ln.maximum(y[i], A[i, j] - 3)),
        lambda: (M - 3).max(1),
    ),
    "an update": (
        lambda y, A, B: y.__setitem__(i, y[i] + (A[i, j] + b[i])),
        lambda: M.sum(1) + 17 * W,
    ),
    "a number in all": (lambda y, A, B: y.__setitem__((), A[i, j] * x[j]), lambda: (M @ V).sum()),
}


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("equation", EQUATIONS)
def test_equations_are_what_they_are_without_a_schedule(equation, format):
    write, expected = EQUATIONS[equation]
    A, B = ln.asarray(M, format=format), ln.asarray(N, format=format)
    y = ln.output()
    write(y, A, B)
    plain, plan = y.run(), ln.schedule(y)
    scheduled = plan.run()
    assert np.array_equal(scheduled.to_numpy(), expected())
    assert np.array_equal(plain.to_numpy(), expected())
    assert scheduled.format == plain.format
    assert scheduled.dtype == plain.dtype
    assert np.array_equal(scheduled.fill_value, plain.fill_value)
    first = "j" if equation == "turned" else "i"
    if equation not in ("a number in all",):
        tiled = plan.split(first, "o", "n", 5)
        assert np.array_equal(tiled.run().to_numpy(), expected())


@pytest.mark.parametrize("dtype", ["int8", "float32", "bool", "complex64"])
def test_dtypes_are_those_of_the_equation(dtype):
    A, B = ln.asarray(M.astype(dtype), format=ln.CSR), ln.asarray(M.astype("int16"))
    for y in (ln.output(), ln.output(ln.DENSE), ln.output(fill_value=0)):
        y[i] = A[i, j] * A[i, j] + B[i, 0]
        plain, scheduled = y.run(), ln.schedule(y).run()
        assert scheduled.dtype == plain.dtype
        assert np.array_equal(scheduled.to_numpy(), plain.to_numpy())


def test_a_format_that_is_asked_for():
    A = ln.asarray(M, format=ln.CSR)
    for format in (ln.DENSE, ln.CSC, ln.COO, ln.DCSR):
        y = ln.output(format)
        y[i, j] = A[i, j] * 2
        found = ln.schedule(y).split(i, i0, i1, 4).run()
        assert found.format == y.run().format
        assert np.array_equal(found.to_numpy(), M * 2)


def test_names_are_those_of_the_user():
    matrix, vector = ln.asarray(M, format=ln.CSR), ln.asarray(V)
    result = ln.output()
    result[i] = matrix[i, j] * vector[j]
    plan = ln.schedule(result)
    assert plan.kernel.params == ("result", "matrix", "vector")
    assert "result[i] += matrix[i, j] * vector[j]" in plan.loops
    assert "matrix_val" in plan.code


def test_operands_without_names_have_letters():
    y = ln.output()
    y[i] = ln.asarray(M, format=ln.CSR)[i, j] * ln.asarray(V)[j]
    assert ln.schedule(y).kernel.params == ("y", "A", "B")


def test_an_operand_of_the_name_of_an_index_has_another():
    matrix, index = ln.asarray(M, format=ln.CSR), ln.indices("matrix")
    y = ln.output()
    y[i] = matrix[i, index]
    assert ln.schedule(y).kernel.params == ("y", "matrix_2")
    assert np.array_equal(ln.schedule(y).run().to_numpy(), M.sum(1))


def test_lazy_operands_are_computed():
    A = ln.lazy(ln.asarray(M, format=ln.CSR)) * 2
    assert np.array_equal(ln.schedule(product(A)).run().to_numpy(), 2 * M @ V)


def test_a_schedule_is_a_new_one_and_says_what_it_is():
    A = ln.asarray(M, format=ln.CSR)
    plain = ln.schedule(product(A))
    tiled = plain.split(i, i0, i1, 8)
    assert (plain.commands, tiled.commands) == ("", "split(i, i0, i1, 8)")
    assert "under split(i, i0, i1, 8)" in repr(tiled)
    assert "i0" in tiled.code
    assert tiled.visits()["i0"] == 3


def test_every_command_is_a_stage():
    A = ln.asarray(M, format=ln.CSR)
    plan = ln.schedule(product(A)).split(j, j0, j1, 8).reorder(j0, i).reorder(i, j0).reorder(j0, i)
    found = plan.explain()
    assert plan.explain().stages.keys() >= {"reorder(j0, i)", "reorder(j0, i) #2"}
    names = ["split(j, j0, j1, 8)", "reorder(j0, i)", "reorder(i, j0)"]
    lines = [found[name].splitlines() for name in names]
    assert [text[2].split()[1] for text in lines] == ["i", "j0", "i"]
    assert not any("#" in found[name] for name in names)
    assert ln.explain(plan)["code"] == found["code"]


def test_what_is_wrong_is_told_at_the_command():
    A = ln.asarray(M, format=ln.CSR)
    plan = ln.schedule(product(A))
    with pytest.raises(ScheduleError) as error:
        plan.pos(i, p, A[i, j])  # this line
    assert "level 0 of `A` stores all coordinates" in str(error.value)
    assert "# this line" in str(error.value)
    with pytest.raises(ScheduleError, match="no loop over `k` among i, j"):
        plan.split(k, i0, i1, 8)
    with pytest.raises(ScheduleError, match="is not in the equation"):
        plan.pos(j, p, ln.asarray(M)[i, j])
    with pytest.raises(ScheduleError, match="is not an access"):
        plan.pos(j, p, A[i, j] * 2)
    with pytest.raises(ArgumentError, match="not the name of a loop"):
        plan.split(3, i0, i1, 8)
    with pytest.raises(ArgumentError, match="explained by itself"):
        plan.explain(plan)


def test_a_term_is_not_moved_into_another_sum():
    A = ln.asarray(M, format=ln.CSR)
    y = ln.output()
    y[i] = b[i] + A[i, j] * x[j]
    with pytest.raises(ScheduleError, match="directly inside the loop over `i`") as error:
        ln.schedule(y).reorder(j, i)
    assert "`y[i] = b[i] + t[()]`" in str(error.value)
    assert "would be done more often" in str(error.value)


def test_what_cannot_be_scheduled():
    with pytest.raises(ArgumentError, match="no equation to schedule"):
        ln.schedule(3)
    with pytest.raises(LifecycleError, match="no equation yet"):
        ln.schedule(ln.output())
    y = ln.output()
    y[i, k] = ln.asarray(numbers(20000))[i] * ln.asarray(numbers(20000))[k]
    with pytest.raises(ln.errors.OutOfMemoryError, match="elements densely"):
        ln.schedule(y).split(i, i0, i1, 8).run()


@pytest.mark.parametrize("terms", ["b[i] + A[i,j]*x[j] + A[i,j]", "A[i,j] + A[i,j]*x[j] + b[i]"])
def test_terms_of_einsum_are_summed_by_themselves(terms):
    A = ln.asarray(M, format=ln.CSR)
    found = ln.einsum(f"y[i] = {terms}", A=A, x=x, b=b)
    assert np.array_equal(found.to_numpy(), W + M @ V + M.sum(1))


# -- einsum ----------------------------------------------------------------------------------------

TEXT = "split(i, i0, i1, 8) split(j, j0, j1, 5) reorder(i0, j0, i1, j1)"


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_einsum_under_a_schedule(format):
    A = ln.asarray(M, format=format)
    for _ in range(2):  # the second time it is known
        found = ln.einsum("y[i] += A[i,j] * x[j]", A=A, x=x, schedule=TEXT)
        assert np.array_equal(found.to_numpy(), M @ V)
    other = ln.asarray(M[::-1], format=format)
    found = ln.einsum("y[i] += A[i,j] * x[j]", A=other, x=x, schedule=TEXT)
    assert np.array_equal(found.to_numpy(), M[::-1] @ V)


def test_einsum_under_another_schedule():
    A = ln.asarray(M, format=ln.CSR)
    plan = ln.schedule(product(A)).collapse(i, j, f).pos(f, p, A[i, j]).split(p, p0, p1, 4)
    found = ln.einsum("y[i] += A[i,j] * x[j]", A=A, x=V, schedule=plan)
    assert np.array_equal(found.to_numpy(), M @ V)
    assert ln.schedule(product(A)).apply(plan).commands == plan.commands


def test_einsum_of_parts_functions_and_formats():
    A = ln.asarray(M, format=ln.CSR)
    found = ln.einsum("y[i] += A[1:, :][i,j] * x[j]", A=A, x=x, schedule="split(i, i0, i1, 8)")
    assert np.array_equal(found.to_numpy(), M[1:] @ V)
    found = ln.einsum("B[i,j] = half(A[i,j])", A=A, half=lambda v: v / 2, format=ln.DCSR,
                      schedule="split(i, i0, i1, 8)")  # fmt: skip
    assert found.format == ln.asarray(M, format=ln.DCSR).format
    assert np.array_equal(found.to_numpy(), M / 2)
    found = ln.einsum("y[i] max= A[i,j]", A=A, fill_value=5, schedule="split(i, i0, i1, 8)")
    assert np.array_equal(found.to_numpy(), np.maximum(M.max(1), 5))
    lazy = ln.einsum("y[i] += A[i,j]", A=ln.lazy(A) * 2, schedule="split(i, i0, i1, 8)")
    assert np.array_equal(lazy.to_numpy(), M.sum(1) * 2)
    assert np.array_equal(ln.einsum("y[i] += A[i,j]", A=A, schedule="auto").to_numpy(), M.sum(1))


@pytest.mark.parametrize(
    ("text", "message", "marked"),
    [
        ("split(i, i0, i1, 8) tile(j, 4)", "no command `tile`", "tile(j, 4)"),
        ("split(i, i0, i1, 8) split(k, a, b, 4)", "no loop over `k`", "split(k, a, b, 4)"),
        ("split(i, i0, i1, 8) pos(i1, p, A)", "stores all coordinates", "pos(i1, p, A)"),
        ("split(i, i0, i1, 8", "does not end", "split(i, i0, i1, 8"),
    ],
)
def test_errors_of_a_text_are_marked_in_it_and_say_where_it_was_given(text, message, marked):
    A = ln.asarray(M, format=ln.CSR)
    with pytest.raises(ScheduleError, match=message) as error:
        ln.einsum("y[i] += A[i,j] * x[j]", A=A, x=x, schedule=text)  # this line
    lines = str(error.value).splitlines()
    at = next(k for k, line in enumerate(lines) if set(line) == {" ", "^"})
    assert lines[at - 1][lines[at].index("^") :].startswith(marked)
    assert any("# this line" in line for line in lines[at:])


def test_schedules_that_einsum_refuses():
    with pytest.raises(ArgumentError, match="names of indices"):
        ln.einsum("ij,j->i", M, V, schedule="split(i, i0, i1, 8)")
    with pytest.raises(ArgumentError, match="is no schedule"):
        ln.einsum("y[i] += A[i,j]", A=M, schedule=3)
    with pytest.raises(ln.errors.ShapeError) as error:
        ln.einsum("y[i] += A[i,j] * x[i]", A=M, x=x, schedule="split(i, i0, i1, 8)")
    assert "^" in str(error.value)


# -- provenance ------------------------------------------------------------------------------------


def test_provenance_is_a_text_and_a_picture():
    A = ln.asarray(M, format=ln.CSR)
    plan = ln.schedule(product(A)).collapse(i, j, f).pos(f, p, A[i, j]).split(p, p0, p1, 4)
    assert str(plan.provenance).splitlines() == [
        "i, j -> f      collapse       i = f // A.shape[1], j = f % A.shape[1]",
        "f -> p         pos A[i, j]    i = A.crd_i[parent(A.pos_j, p)], j = A.crd_j[p]",
        "p -> p0, p1    split 4        p = p0 * 4 + p1",
        "loops: p0, p1",
    ]
    picture = plan.provenance._repr_svg_()
    assert picture.startswith("<svg")
    for words in ("i", "j", "f", "p", "p0", "p1", "collapse", "pos A[i, j]", "split 4"):
        assert f">{words}</text>" in picture
    assert picture.count("<line") == 2 + 1 + 2


def test_provenance_of_kernels_with_several_loops():
    @ln.kernel
    def twice(y, z, x):
        y[...] = 0
        z[...] = 0
        for i in ...:
            y[i] = x[i]
        for i in range(1, 9):
            z[i] = 2 * x[i]
        return y, z

    found = twice.schedule().split("i:2", "a", "b", 4, direction="up").reorder("b", "a").provenance
    assert str(found).splitlines() == [
        "i:2 -> a, b    split up 4    i:2 = 1 + a * parts(range(1, 9), 4) + b",
        "loops: i:1, b, a",
    ]
    assert "i:2" in found._repr_svg_()
    assert str(twice.schedule().provenance) == "loops: i:1, i:2"


def test_precompute_takes_expressions():
    T, C, D = some_tensor(), ln.asarray(numbers(5, 6)), ln.asarray(numbers(7, 6))
    y, jw = ln.output(), ln.indices("jw")
    y[i, j] = T[i, k, l] * D[l, j] * C[k, j]
    plan = ln.schedule(y).reorder(i, k, l, j).precompute(T[i, k, l] * D[l, j], j, jw, "w")
    assert "precompute(T[i, k, l] * D[l, j], j, jw, w)" in plan.commands
    expected = np.einsum("ikl,lj,kj->ij", T.to_numpy(), D.to_numpy(), C.to_numpy())
    assert np.array_equal(plan.run().to_numpy(), expected)
    assert str(plan.provenance).splitlines()[0] == "j -> jw    precompute    j = jw"
    assert plan.provenance._repr_svg_().count("<line") == 1
    with pytest.raises(ScheduleError, match="is not in the equation"):
        ln.schedule(y).precompute(ln.asarray(numbers(4))[i], i, jw, "w")


def some_tensor():
    return ln.asarray(numbers(4, 5, 7, density=0.4), format=ln.CSF)
