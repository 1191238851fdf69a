"""Tiles of positions become ranges of coordinates, which follow one another without gaps."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import agree

import linnet as ln
from linnet.errors import FormatError, KernelSyntaxError, ScheduleError
from linnet.frontend.text import parse_text
from linnet.loops.printer import show
from linnet.scheduling.text import parse_schedule, show_schedule

FORMATS = {
    "CSR": ln.CSR,
    "DCSR": ln.DCSR,
    "COO": ln.COO,
    "BAND": ln.BAND,
    "pinpoints": ln.Dense(ln.SparsePinpoint(ln.Element(0.0))),
}
MATRICES = {"some": (9, 21, 0.3), "nothing": (9, 21, 0), "no rows": (0, 21, 0), "one": (1, 1, 1)}
ROWS = [
    "pos(j, q, A) coord(q, c)",
    "pos(j, q, A) split(q, q0, q1, 2) coord(q1, c)",
    "pos(j, q, A) split(q, q0, q1, 3, up) coord(q1, c)",
    "pos(j, q, A) split(q, q0, q1, 6) split(q1, q2, q3, 2) coord(q3, c)",
    "pos(j, q, A) split(q, q0, q1, 3) coord(q1, c) split(c, c0, c1, 2)",
    "pos(j, q, A) split(q, q0, q1, 2) split(q0, p0, p1, 2) coord(q1, c)",
    "pos(j, q, A) split(q, q0, q1, 2) split(q0, p0, p1, 2, up) collapse(p0, p1, p) coord(q1, c)",
    "pos(j, q, A) split(q, q0, q1, 2) collapse(i, q0, f) coord(q1, c)",
    "split(j, j0, j1, 8) pos(j1, q, A) split(q, q0, q1, 2) coord(q1, c)",
    "split(j, j0, j1, 8) pos(j1, q, A) coord(q, c)",
    "pos(j, q, A) split(q, q0, q1, 3) coord(q1, c) split(c, c0, c1, 2) "
    "pos(c1, p, A) split(p, p0, p1, 1) coord(p1, d)",
    "pos(j, q, A) split(q, q0, q1, 3) split(q0, r0, r1, 5, up) coord(q1, c) "
    "split(c, c0, c1, 1, up) pos(c1, p, A) split(p, p0, p1, 1) coord(p1, d)",
]
TOGETHER = [
    "collapse(i, j, f) pos(f, q, A) coord(q, c)",
    "collapse(i, j, f) pos(f, q, A) split(q, q0, q1, 4) coord(q1, c)",
    "collapse(i, j, f) pos(f, q, A) split(q, q0, q1, 4, up) coord(q1, c)",
    "collapse(i, j, f) pos(f, q, A) split(q, q0, q1, 6) split(q1, q2, q3, 4) coord(q3, c)",
    "collapse(i, j, f) pos(f, q, A) split(q, q0, q1, 6) coord(q1, c) split(c, c0, c1, 5)",
    "collapse(i, j, f) pos(f, q, A) split(q, q0, q1, 4) split(q0, p0, p1, 3) coord(q1, c)",
    "collapse(i, j, f) split(f, f0, f1, 10) pos(f1, q, A) split(q, q0, q1, 3) coord(q1, c)",
    "split(i, i0, i1, 4) collapse(i1, j, f) pos(f, q, A) split(q, q0, q1, 3) coord(q1, c)",
    "split(i, i0, i1, 4) collapse(i1, j, f) pos(f, q, A) coord(q, c)",
]


@ln.kernel
def plus(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]
    return C


@ln.kernel
def visited(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] += np.cos(A[i, j])
    return C


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


def matrix(name, format=None):
    n, m, share = MATRICES[name]
    rng = np.random.default_rng(3)
    found = rng.integers(1, 9, (n, m)) * (rng.random((n, m)) < share) * 1.0
    if format == "pinpoints":
        return found * (np.cumsum(found != 0, axis=1) == 1)
    found[3:5] = 0  # tiles may hold empty rows only
    return found


def other(shape):
    rng = np.random.default_rng(4)
    return rng.integers(1, 9, shape) * (rng.random(shape) < 0.3) * 1.0


def result(format=None):
    return ln.empty_tensor(format or ln.DENSE(2))


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", ROWS + TOGETHER)
def test_every_coordinate_is_visited_once(name, format, text):
    """Unions are right, and a sum shows what is visited twice, whatever the tiles hold."""
    array = matrix(name, format)
    A, B = ln.asarray(array, format=FORMATS[format]), other(array.shape)
    C = plus.schedule().apply(text)(result(ln.CSR), A, ln.asarray(B, format=ln.CSR))
    assert np.array_equal(C.to_numpy(), array + B)
    once = visited.schedule().apply(text)(result(), A)
    assert np.array_equal(once.to_numpy(), np.cos(array))


def test_the_loops_say_so():
    A = ln.asarray(matrix("some"), format=ln.CSR)
    found = plus.schedule().apply(ROWS[1]).loops(result(), A, A)
    assert "for q0 in range(max(ln.parts(ln.stored(A[i, :]), 2), 1)):" in found
    assert "for j in ln.coordinates(ln.part(ln.stored(A[i, :]), q0, 2)):" in found


@pytest.mark.parametrize("text", [ROWS[0], TOGETHER[0]])
def test_coordinates_of_all_positions_are_the_dimension(text):
    A = ln.asarray(matrix("some"), format=ln.CSR)
    plain = plus.schedule()
    assert plain.apply(text).loops(result(), A, A) == plain.loops(result(), A, A)


def test_positions_of_coordinates_of_positions_are_the_positions():
    A, x = ln.asarray(matrix("some"), format=ln.CSR), ln.asarray(np.ones(21))
    y = ln.empty_tensor(ln.DENSE(1))
    tiles = "collapse(i, j, f) pos(f, q, A) split(q, q0, q1, 4)"
    again = spmv.schedule().apply(f"{tiles} coord(q1, c) pos(c, p, A)").loops(y, A, x)
    assert "ln.part(ln.stored(A[:, :]), q0, 4)" in again
    assert "coordinates" not in again


def test_coordinates_among_which_others_are_led_are_in_tiles_themselves():
    A = ln.asarray(np.eye(1, 20, 3) + np.eye(1, 20, 17), format=ln.CSR)
    tiles = "pos(j, q, A) split(q, q0, q1, 1) coord(q1, c) split(c, c0, c1, 5)"
    led = f"{tiles} pos(c1, p, A) split(p, p0, p1, 1) coord(p1, d)"
    outer, all_of_them = (
        visited.schedule().apply(text).visits(result(), A) for text in (tiles, led)
    )
    assert all_of_them["q0"] == outer["q0"] == 2
    assert all_of_them["c0"] == outer["c0"] == 5  # 17 columns of the first, and 3 of the second


@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("level", [ln.SparseList, ln.SparsePinpoint])
def test_a_range_may_end_before_it_begins(level, size):
    @ln.kernel
    def all_but_two(y, x):
        y[...] = 1
        for i in range(x.shape[0] - 2):
            y[i] = x[i]
        return y

    x = np.zeros(size)
    x[-1:] = 3
    given = ln.asarray(x, format=level(ln.Element(0.0)))
    tiled = all_but_two.schedule().apply("pos(i, p, x) split(p, p0, p1, 2) coord(p1, c)")
    y = ln.empty_tensor(ln.DENSE(1))
    assert np.array_equal(tiled(y, given).to_numpy(), x[: max(size - 2, 0)])
    assert tiled.visits(y, given)["p0"] == 1  # what is said of ranges is checked


@ln.kernel
def found_behind(s, x):
    s[...] = 0
    for i in range(2, x.shape[0]):
        if x[i] > 2:
            s[()] = i
            break
    return s


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_a_range_may_begin_behind_the_end(size):
    x = np.zeros(size)
    x[-1:] = 3
    given = ln.scalar(0), ln.asarray(x, format=ln.CSF(1))
    tiled = found_behind.schedule().apply("pos(i, p, x) split(p, p0, p1, 2) coord(p1, c)")
    assert tiled(*given).item() == (4 if size == 5 else 0)
    assert tiled.visits(*given)["p0"] == 1


def test_no_more_is_visited_than_without_tiles():
    """What is stored in the operand is known to lie in a tile; others go on from tile to tile."""

    @ln.kernel
    def sums(y, x, z):
        y[...] = 0
        for i in ...:
            y[i] = x[i] * 2 + z[i]
        return y

    sparse = ln.SparseList(ln.Element(0.0))
    x, z = (ln.asarray(a, format=sparse) for a in (matrix("some")[0], other((21,))))
    text = "pos(i, q, x) split(q, q0, q1, 2) coord(q1, c)"
    scheduled, args = sums.schedule().apply(text), (ln.empty_tensor(ln.DENSE(1)), x, z)
    visits, plain = scheduled.visits(*args), sums.visits(*args)
    tiles = -(-x.nnz // 2)
    searches = sum(count for what, count in visits.items() if what in ("search", "gallop"))
    assert visits.total - searches <= plain.total + tiles
    assert "search_i32(x_idx" not in scheduled.code(*args)
    assert np.array_equal(scheduled(*args).to_numpy(), x.to_numpy() * 2 + z.to_numpy())


def test_a_sparse_result_stays_in_order():
    A = ln.asarray(matrix("some"), format=ln.CSR)
    for text in ROWS[1:4]:
        assert "ln.temp" not in plus.schedule().apply(text).loops(result(ln.CSR), A, A)


def test_equations_take_it_after_positions_that_could_not_lead():
    i, j, q, q0, q1, c = ln.indices("i j q q0 q1 c")
    array, B = matrix("some"), other((9, 21))
    A, D = ln.asarray(array, format=ln.CSR), ln.asarray(B, format=ln.CSR)
    u = ln.output()
    u[i, j] = A[i, j] + D[i, j]
    plan = ln.schedule(u).pos(j, q, A[i, j]).split(q, q0, q1, 2).coord(q1, c)
    assert np.array_equal(plan.run().to_numpy(), array + B)
    text = "pos(j, q, A) split(q, q0, q1, 2) coord(q1, c)"
    found = ln.einsum("u[i,j] = A[i,j] + D[i,j]", A=A, D=D, schedule=text)
    assert np.array_equal(found.to_numpy(), array + B)
    with pytest.raises(ScheduleError, match="is to be done where `A` stores nothing") as error:
        ln.schedule(u).pos(j, q, A[i, j]).split(q, q0, q1, 2).run()
    assert "pos(j, q, A[i, j])" in str(error.value)


def test_every_command_is_a_stage_and_has_a_relation():
    i, j, q, q0, q1, c = ln.indices("i j q q0 q1 c")
    A = ln.asarray(matrix("some"), format=ln.CSR)
    y = ln.output()
    y[i] = A[i, j] * 2
    plan = ln.schedule(y).pos(j, q, A[i, j]).split(q, q0, q1, 2).coord(q1, c)
    assert "ln.coordinates(" in plan.explain()["coord(q1, c)"]
    assert [line.split("  ")[-1].strip() for line in str(plan.provenance).splitlines()] == [
        "j = A.crd_j[q]",
        "q = A.begin_j + q0 * 2 + q1",
        "q = search(A.crd_j, A.begin_j, A.end_j, c)",
        "loops: i, q0, c",
    ]
    assert "q1 -> c        coord" in str(plan.provenance)
    assert ">coord<" in plan.provenance._repr_svg_()


WRONG = [
    ("coord(j, c)", "`j` goes through coordinates already"),
    ("split(j, j0, j1, 4) coord(j0, c)", "`j0` goes through coordinates already"),
    ("pos(j, q, A) split(q, q0, q1, 4) coord(q0, c)", "`q0` counts tiles, which have no coord"),
    ("pos(j, q, A) split(q, q0, q1, 4, up) coord(q0, c)", "`q0` counts tiles, which have no coord"),
    ("pos(j, q, A) coord(q, c) coord(c, d)", "`c` goes through coordinates already"),
    ("collapse(i, j, f) pos(f, q, A, flat) coord(q, c)", "has made one loop of those over pos"),
    (
        "pos(j, q, A) split(q, q0, q1, 4) bound(q0, MaxConstraint, 9) coord(q1, c)",
        "`q0` is bounded, and has one turn more where nothing is stored",
    ),
    (
        "collapse(i, j, f) pos(f, q, A) split(q, q0, q1, 4) coord(q1, c) reorder(c, q0)",
        "runs depends on `q0`, which is inside",
    ),
    (
        "pos(j, q, A) split(q, q0, q1, 4) precompute(A[i, j] * x[j], q1, qw, w) coord(q1, c)",
        "a workspace has an element for each of these positions",
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_told(text, message):
    A, x = ln.asarray(matrix("some"), format=ln.CSR), ln.asarray(np.ones(21))
    with pytest.raises(ScheduleError, match=message):
        spmv.schedule().apply(text)(ln.empty_tensor(ln.DENSE(1)), A, x)


def test_wrong_names_are_told_at_once():
    for text, message in [
        ("coord(p, c)", "there is no loop over `p` among i, j"),
        ("pos(j, q, A) coord(q, i)", "there is a loop over `i` already"),
        ("coord(j)", "this command has 1 arguments"),
    ]:
        with pytest.raises(ScheduleError, match=message):
            spmv.schedule().apply(text)


def test_it_is_said_as_text():
    text = "pos(j, q, A) split(q, q0, q1, 4) coord(q1, c)"
    assert show_schedule(parse_schedule(text)) == text
    same = spmv.schedule().pos("j", "q", "A").split("q", "q0", "q1", 4).coord("q1", "c")
    assert same.commands == text


# -- loops that users write ------------------------------------------------------------------------


@ln.kernel
def numbered(y, x, z):
    y[...] = 0
    for t in range(max(ln.parts(ln.stored(x), 3), 1)):
        for i in ln.coordinates(ln.part(ln.stored(x), t, 3)):
            y[i] = x[i] + z[i] + 10 * t
    return y


@ln.kernel
def pairs(y, A, B):
    y[...] = 0
    for t in range(max(ln.parts(ln.stored(A), 4), 1)):
        for i, j in ln.coordinates(ln.part(ln.stored(A), t, 4)):
            y[i] += (t + 1) * (A[i, j] + B[i, j])
    return y


@ln.kernel
def in_rows(C, A, B):
    C[...] = 0
    for i in ...:
        for t in range(max(ln.parts(ln.stored(A[i, :]), 2), 1)):
            for j in ln.coordinates(ln.part(ln.stored(A[i, :]), t, 2)):
                C[i, j] = A[i, j] + B[i, j]
    return C


@ln.kernel
def some_parts(y, x, z):
    y[...] = 0
    for t in range(-1, 4, 1):
        for i in ln.coordinates(ln.part(ln.stored(x, range(2, 9)), t, 2)):
            y[i] = x[i] + z[i] + 10 * t
    return y


@pytest.mark.parametrize("name", ["some", "nothing"])
@pytest.mark.parametrize("kernel", [numbered, some_parts])
def test_users_write_them_over_vectors(name, kernel):
    sparse = ln.SparseList(ln.Element(0.0))
    x, z = (ln.asarray(a, format=sparse) for a in (matrix(name)[0], other((21,))))
    agree(kernel, {"y": ln.empty_tensor(ln.DENSE(1)), "x": x, "z": z})


@pytest.mark.parametrize("name", ["some", "nothing", "no rows"])
@pytest.mark.parametrize("format", ["CSR", "DCSR", "CSC", "DENSE", "COO"])
@pytest.mark.parametrize("kernel", [pairs, in_rows])
def test_users_write_them_over_matrices(name, format, kernel):
    if kernel is in_rows and format not in ("CSR", "DCSR"):
        return
    chosen = {"CSC": ln.CSC, "DENSE": ln.DENSE(2)}.get(format) or FORMATS[format]
    A, B = matrix(name), other(matrix(name).shape)
    out = ln.empty_tensor(ln.DENSE(1) if kernel is pairs else ln.CSR)
    own = ln.DCSR if format == "COO" else chosen
    args = {"A": ln.asarray(A, format=chosen), "B": ln.asarray(B, format=own)}
    agree(kernel, {("y" if kernel is pairs else "C"): out, **args})


def test_they_are_printed_as_they_are_written():
    for kernel in (numbered, pairs, in_rows, some_parts):
        assert parse_text(show(kernel.program)) == kernel.program
        assert "ln.coordinates(ln.part(" in show(kernel.program)


def of_a_range(y, x):
    y[...] = 0
    for i in ln.coordinates(range(3)):
        y[i] = x[i]
    return y


def not_read(y, x, z):
    y[...] = 0
    for i in ln.coordinates(ln.part(ln.stored(x), 0, 3)):
        y[i] = z[i]
    return y


def without_entries(y, A):
    y[...] = 0
    for i, j in ln.coordinates(ln.part(ln.stored(A), 0, 3)):
        y[i] += A[i, j] + 1
    return y


def test_what_users_write_wrong():
    with pytest.raises(KernelSyntaxError, match="coordinates are those of positions"):
        ln.kernel(of_a_range)
    v = ln.asarray(np.ones(4), format=ln.SparseList(ln.Element(0.0)))
    with pytest.raises(KernelSyntaxError, match=r"`x\[i\]` is not read in the loop"):
        ln.kernel(not_read)(ln.empty_tensor(ln.DENSE(1)), v, v)
    A = ln.asarray(np.eye(3), format=FORMATS["pinpoints"])
    with pytest.raises(FormatError, match="has positions without entry"):
        ln.kernel(without_entries)(ln.empty_tensor(ln.DENSE(1)), A)
