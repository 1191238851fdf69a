"""Commands on kernels: what they make of loops, how they are written, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ArgumentError, ScheduleError
from linnet.scheduling.text import parse_schedule, show_schedule

FORMATS = (ln.CSR, ln.DCSR, ln.COO, ln.DENSE, ln.CSC)


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


@ln.kernel
def twice(y, z, x):
    y[...] = 0
    z[...] = 0
    for i in ...:
        y[i] = x[i]
    for i in ...:
        z[i] = 2 * x[i]
    return y, z


@pytest.fixture
def operands():
    rng = np.random.default_rng(1)
    A = rng.integers(1, 9, (50, 37)) * (rng.random((50, 37)) < 0.2)
    A[5:20] = 0
    return A.astype(float), rng.integers(1, 9, 37).astype(float)


TEXTS = [
    "split(i, i0, i1, 8)",
    "split(i, i0, i1, 8, up)",
    "split(j, j0, j1, 5)",
    "split(i, i0, i1, 8) split(i1, i10, i11, 3)",
    "split(i, i0, i1, 8) split(j, j0, j1, 5) reorder(i0, j0, i1, j1)",
    "split(i, i0, i1, 8) reorder(i1, i0)",
    "collapse(i, j, f) split(f, f0, f1, 10)",
]
POSITIONS = [
    "pos(j, p, A[i, j])",
    "pos(j, p, A) split(p, p0, p1, 4)",
    "collapse(i, j, f) pos(f, p, A)",
    "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 7)",
    "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 3, up)",
    "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 9) split(p1, p2, p3, 2)",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_rows_of_products(operands, format, text):
    A, x = operands
    y = spmv.schedule().apply(text)(ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=format), x)
    assert np.array_equal(y.to_numpy(), A @ x)


@pytest.mark.parametrize("text", POSITIONS)
@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO], ids=str)
@pytest.mark.parametrize("kernel", [spmv, scale], ids=("spmv", "scale"))
def test_positions(operands, kernel, format, text):
    A, x = operands
    if "(j," in text and format is ln.COO:
        format = ln.CSF(2)
    given = ln.asarray(A, format=format)
    if kernel is spmv:
        y = spmv.schedule().apply(text)(ln.empty_tensor(ln.DENSE(1)), given, x)
        assert np.array_equal(y.to_numpy(), A @ x)
    else:
        C = scale.schedule().apply(text)(ln.empty_tensor(ln.CSR), given)
        assert np.array_equal(C.to_numpy(), A * 2)
        assert C.nnz == given.nnz


@pytest.mark.parametrize("text", TEXTS + POSITIONS)
def test_texts_read_back(text):
    commands = parse_schedule(text)
    assert parse_schedule(show_schedule(commands)) == commands


def test_other_ways_to_write_them():
    expected = parse_schedule("collapse(i,j,f) split(f,f0,f1,8)")
    assert parse_schedule("fuse(i, j, f).split(f, f0, f1, 8, down)") == expected
    assert parse_schedule("collapse(i,j,f);\n split(f,f0,f1,8)") == expected
    same = spmv.schedule().collapse("i", "j", "f").split("f", "f0", "f1", 8)
    assert same.commands == show_schedule(expected)


def test_a_command_gives_a_new_schedule():
    plain = spmv.schedule()
    split = plain.split("i", "i0", "i1", 8)
    assert plain.commands == ""
    assert split.commands == "split(i, i0, i1, 8)"


def test_a_sparse_result_that_is_tiled_stays_in_order(operands):
    A, _ = operands
    tiled = scale.schedule().split("i", "i0", "i1", 8)
    C, given = ln.empty_tensor(ln.CSR), ln.asarray(A, format=ln.CSR)
    assert "Workspace" not in tiled.loops(C, given)
    assert np.array_equal(tiled(C, given).to_numpy(), A * 2)


def test_loops_of_one_name_are_numbered():
    x = ln.asarray(np.arange(9.0))
    y, z = ln.empty_tensor(ln.DENSE(1)), ln.empty_tensor(ln.DENSE(1))
    scheduled = twice.schedule().split("i:2", "a", "b", 4)
    assert scheduled.loops(y, z, x).count("ln.part(") == 1
    scheduled(y, z, x)
    assert np.array_equal(z.to_numpy(), 2 * x.to_numpy())
    with pytest.raises(ScheduleError, match="several loops over `i`"):
        twice.schedule().split("i", "a", "b", 4)


# what depends on names is told at once
WRONG_AT_ONCE = [
    ("split(k, a, b, 4)", "there is no loop over `k` among i, j"),
    ("split(i, j, b, 4)", "there is a loop over `j` already"),
    ("split(i, a, b, 4) split(i, c, d, 2)", "there is no loop over `i` among a, b, j"),
    ("split(i, a, b, x)", "`x` is not a whole number"),
    ("split(i, a, b)", "this command has 3 arguments"),
    ("split(i, a, b, 4, sideways)", "not a direction"),
    ("tile(i, a, b, 4)", "there is no command `tile`"),
    ("split(i, a, b, 4", "this command does not end"),
    ("split i", "this command does not end"),
    ("3 + (4)", "this is not a command"),
    ("pos(j, p, A[i + 1, j])", "is not an access to a tensor"),
    ("split(i, a:1, b, 4)", "`a:1` is no name for a loop or a workspace"),
    ("collapse(i, j, j:2)", "`j:2` is no name"),
    ("precompute(A[i, j], j, k:1, w)", "`k:1` is no name"),
    ("precompute(A[i, j], j, j, w:1)", "`w:1` is no name"),
]


@pytest.mark.parametrize(("text", "message"), WRONG_AT_ONCE)
def test_what_is_wrong_is_told_at_once(text, message):
    with pytest.raises(ScheduleError, match=message.replace("+", r"\+")) as error:
        spmv.schedule().apply(text)
    assert "try:" in str(error.value) or "` is not" in str(error.value)  # which says what is


# what depends on formats, or on the loops as they are by then, is told by a call
WRONG_IN_A_CALL = [
    ("split(i, a, b, 0)", "the size of a part is a positive integer"),
    (f"split(i, a, b, {2**62})", f"the size of a part is less than {2**62}, not {2**62}"),
    ("pos(i, p, A[i, j])", "level 0 of `A` stores all coordinates"),
    ("pos(j, p, x[j])", "level 0 of `x` stores all coordinates"),
    ("pos(j, p, A[j, i])", "is not read in the loop"),
    ("pos(j, p, B)", "`B` is not read in the loop over `j`"),
    ("reorder(j, i) pos(j, p, A[i, j])", "`i` is not known before the loop over `j`"),
    ("pos(j, p, A) pos(p, q, A)", "goes through positions already"),
    (
        "split(j, j0, j1, 4) reorder(j0, i, j1) collapse(i, j1, f) pos(f, p, A)",
        "`j` does not run over a whole dimension of `A`",
    ),
    ("collapse(i, i, f)", "directly inside the loop over `i` is"),
    ("reorder(i, i)", "two or more different loops"),
    ("split(i, i0, i1, 4, up) reorder(i1, i0)", "split up stays inside"),
    ("pos(j, p, A) split(p, p0, p1, 4) reorder(p1, p0)", "`ln.stored.A.i, :..` stay inside"),
    ("pos(j, p, y[i])", "`y.i.` is not read in the loop over `j`"),
    ("collapse(j, i, f)", "directly inside the loop over `j` is `y.i. .= A.i, j. . x.j.`"),
    ("split(i, i0, i1, 4) collapse(i0, j, f)", "directly inside the loop over `i0` is `for i in"),
    ("reorder(i1, i)", "there is no loop over `i1` among i, j"),
    ("collapse(i, j, f) reorder(f, f)", "two or more different loops"),
    ("bound(i, Divisible, 1) split(i, i0, i1, 4) reorder(i1, i0)", "of which something is said"),
]


@pytest.mark.parametrize(("text", "message"), WRONG_IN_A_CALL)
def test_what_is_wrong_is_told_by_a_call(operands, text, message):
    A, x = operands
    given = ln.asarray(A, format=ln.CSR)
    with pytest.raises(ScheduleError, match=message) as error:
        spmv.schedule().apply(text)(ln.empty_tensor(ln.DENSE(1)), given, x)
    assert "try:" in str(error.value)


def test_an_error_names_the_command_and_its_line(operands):
    A, x = operands
    scheduled = spmv.schedule().pos("i", "p", "A[i, j]")  # this line
    with pytest.raises(ScheduleError) as error:
        scheduled(ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR), x)
    assert "`pos(i, p, A[i, j])`" in str(error.value)
    assert "# this line" in str(error.value)


def test_an_error_of_a_text_points_at_the_character():
    with pytest.raises(ScheduleError) as error:
        spmv.schedule().apply("split(i, i0, i1, 8) reorder(i0, 3)")
    lines = str(error.value).splitlines()
    marks = next(k for k, line in enumerate(lines) if set(line) == {" ", "^"})
    assert lines[marks - 1][lines[marks].index("^") :] == "3)"
    assert "spmv.schedule().apply(" in lines[-1]  # and where the text was given


@ln.kernel
def behind_the_first(y, x):
    ln.declare(y, 0, (x.shape[0],))
    for i in range(1, x.shape[0]):
        y[i] += x[i]
    return y


@pytest.mark.parametrize("n", [1, 2, 30])
def test_parts_of_parts_of_a_range_that_begins_later(n):
    x = np.arange(1.0, n + 1)
    scheduled = behind_the_first.schedule().apply("split(i, a, b, 4) split(b, c, d, 3)")
    y = scheduled(ln.empty_tensor(ln.DENSE(1)), x)
    assert np.array_equal(y.to_numpy(), np.where(np.arange(n) > 0, x, 0))
    with ln.config(check=True):
        assert scheduled.visits(ln.empty_tensor(ln.DENSE(1)), x).total >= n - 1


@ln.kernel
def whatever(s, A):
    s[...] = 0
    for i in range(A.shape[0]):  # noqa: B007
        for j in range(A.shape[1]):  # noqa: B007
            s[()] = 1.0
    return s


def test_collapsed_loops_that_nothing_depends_on(operands):
    A, _ = operands
    scheduled = whatever.schedule().apply("collapse(i, j, f) split(f, f0, f1, 1)")
    assert scheduled(ln.scalar(0.0), ln.asarray(A)).to_numpy() == 1


@ln.kernel
def last(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] = A[i, j]
    return y


def test_assignments_of_which_the_last_counts_keep_their_order(operands):
    A, _ = operands
    scheduled = last.schedule().reorder("j", "i")
    with pytest.raises(ScheduleError, match="the last one counts"):
        scheduled(ln.empty_tensor(ln.DENSE(1)), ln.asarray(A))


@ln.kernel
def plus(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]
    return C


def test_positions_of_one_term_are_refused(operands):
    A, _ = operands
    given = ln.asarray(A, format=ln.CSR)
    scheduled = plus.schedule().pos("j", "p", "A[i, j]")
    with pytest.raises(ScheduleError, match="where `A` stores nothing"):
        scheduled(ln.empty_tensor(ln.CSR), given, given)


@ln.kernel
def doubled(y, x):
    y[...] = 0
    for i in ...:
        y[i] = x[i] * 2
    return y


@pytest.mark.parametrize("text", ["split(i, p0, p1, 2)", "pos(i, p, x) split(p, p0, p1, 2)"])
@pytest.mark.parametrize(
    "result", [ln.DENSE(1), ln.SparseList(ln.Element()), ln.RunList(ln.Element())]
)
def test_parts_of_what_counts_parts(text, result):
    x = ln.asarray(np.arange(9.0) % 4, format=ln.SparseList(ln.Element(0.0)))
    plain = doubled(ln.empty_tensor(result), x)
    for more in (
        "split(p0, a, b, 2)",
        "split(p0, a, b, 3, up)",
        "split(p0, a, b, 2) split(a, c, d, 2)",
    ):
        scheduled = doubled.schedule().apply(f"{text} {more}")
        y = scheduled(ln.empty_tensor(result), x)
        assert np.array_equal(y.to_numpy(), plain.to_numpy())
        assert y.nnz == plain.nnz


@pytest.mark.parametrize("text", [t for t in TEXTS if t.count("split(i") == t.count("split")][:2])
def test_rows_of_a_symmetric_matrix_are_read_once_in_parts(operands, text):
    A, x = operands
    A = A[:37] + A[:37].T
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.SYMMETRIC), x
    scheduled = spmv.schedule().apply(text)
    assert np.array_equal(scheduled(*given).to_numpy(), A @ x)
    tiled, plain = scheduled.visits(*given), spmv.visits(*given)
    assert tiled.total == plain.total + tiled["i0"]


def test_wrong_arguments():
    with pytest.raises(ArgumentError, match="no direction"):
        spmv.schedule().split("i", "a", "b", 4, direction="left")
    with pytest.raises(ArgumentError, match="not the name of a loop"):
        spmv.schedule().split(3, "a", "b", 4)
    with pytest.raises(ScheduleError, match="is not an access"):
        spmv.schedule().pos("j", "p", "A[")


def test_a_walk_goes_on_from_part_to_part(operands):
    """In each part of a row a search begins where the part before has ended."""
    A, _ = operands
    given = ln.asarray(A, format=ln.CSR)
    for text in ("split(j, j0, j1, 5)", "split(j, j0, j1, 8) split(j1, j2, j3, 3)"):
        tiled = scale.schedule().apply(text)
        assert np.array_equal(tiled(ln.empty_tensor(ln.CSR), given).to_numpy(), A * 2)
        assert "A_reached" in tiled.code(ln.empty_tensor(ln.CSR), given)
    both = plus.schedule().split("j", "j0", "j1", 7)
    other = ln.asarray(A[::-1].copy(), format=ln.CSR)
    assert np.array_equal(both(ln.empty_tensor(ln.CSR), given, other).to_numpy(), A + A[::-1])


@pytest.mark.parametrize("format", [ln.CSR, ln.COO, ln.DCSR], ids=str)
def test_fibers_are_looked_for_from_part_to_part(operands, format):
    A, x = operands
    given, y = ln.asarray(A, format=format), ln.empty_tensor(ln.DENSE(1))
    for text in (
        "split(p, p0, p1, 7)",
        "split(p, p0, p1, 7, up)",
        "split(p, a, b, 20) split(b, c, d, 3)",
    ):
        parts = spmv.schedule().apply("collapse(i, j, f) pos(f, p, A) " + text)
        assert np.array_equal(parts(y, given, x).to_numpy(), A @ x)
    if format is not ln.COO:
        assert "A_reached" in parts.code(y, given, x)


@ln.kernel
def some_parts(y, A, x):
    y[...] = 0
    for i in ...:
        for t in range(-1, 5):
            for j in ln.part(range(37), t, 8):
                y[i] += A[i, j] * x[j]
    return y


def test_parts_that_do_not_follow_one_another(operands):
    """The part of a negative number is empty, and lies at the end."""
    A, x = operands
    given = ln.asarray(A, format=ln.CSR)
    y = some_parts(ln.empty_tensor(ln.DENSE(1)), given, x)
    assert np.array_equal(y.to_numpy(), A @ x)


@pytest.mark.parametrize("text", ["reorder(j, i)"])
def test_an_operand_that_is_walked_is_not_searched_under_a_schedule(operands, text):
    """Whether it is, is judged of the final loops: on the way they may be in any order."""
    A, x = operands
    given, y = ln.asarray(A, format=ln.CSR), ln.empty_tensor(ln.DENSE(1))
    scheduled = spmv.schedule().apply(text)
    with pytest.raises(ScheduleError, match="goes against the order in which A is stored") as error:
        scheduled(y, given, x)
    assert "every access searches" in str(error.value)
    assert np.array_equal(scheduled.apply("reorder(i, j)")(y, given, x).to_numpy(), A @ x)


def test_what_is_searched_without_a_schedule_is_warned_of(operands):
    A, x = operands
    given, y = ln.asarray(A, format=ln.CSC), ln.empty_tensor(ln.DENSE(1))
    with pytest.warns(ln.errors.DiscordanceWarning):
        spmv.schedule().split("i", "i0", "i1", 9)(y, given, x)


UP = "split(i, i0, i1, 8, up)"
IN_PARTS = [
    "split(i, i0, i1, 8)",
    "split(i, i0, i1, 64)",
    UP,
    "split(i, a, b, 8) split(b, c, d, 3)",
]


@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR], ids=str)
@pytest.mark.parametrize("text", IN_PARTS)
@pytest.mark.parametrize("kernel", [scale, plus], ids=("scale", "plus"))
def test_room_for_all_parts_is_made_before_them(operands, kernel, text, format):
    A, _ = operands
    C, given = ln.empty_tensor(ln.CSR), [ln.asarray(A, format=format)] * (1 + (kernel is plus))
    tiled = kernel.schedule().apply(text)
    assert np.array_equal(tiled(C, *given).to_numpy(), A * 2)
    if format is ln.CSR and text in IN_PARTS[:2]:
        code = tiled.code(C, *given)
        before, _, inside = code[code.index("i64 i0_parts") :].partition("for (i64 i0")
        assert before.count("grow(") == 2
        assert "grow" not in inside


@ln.kernel
def below(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * (j < i)
    return y


@pytest.mark.parametrize("text", TEXTS)
def test_masks_in_tiles(operands, text):
    A, _ = operands
    y = below.schedule().apply(text)(ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR))
    assert np.array_equal(y.to_numpy(), np.tril(A, -1).sum(1))


@ln.kernel
def triangle(y, A):
    y[...] = 0
    for i in range(A.shape[0]):
        for j in range(i + 1):
            y[j] += A[i, j]
    return y


def test_loops_stay_inside_those_that_say_how_far_they_run(operands):
    A = ln.asarray(operands[0][:5, :5], format=ln.DENSE(2))
    for text in ("reorder(j, i)", "split(i, i0, i1, 2) reorder(j, i1, i0)"):
        with pytest.raises(ScheduleError, match="how far `j` runs depends on `i`, which is inside"):
            triangle.schedule().apply(text)(ln.empty_tensor(ln.DENSE(1)), A)
