"""The figures of SCHED (sparse iteration space transformations): loops, code, tiles and orders."""

from __future__ import annotations

import numpy as np
import pytest
from tests.docs.pages import kernel_of

import linnet as ln
from linnet.runtime.visited import visited

i, j, k, l = ln.indices("i j k l")
i0, i1, j0, j1, f, p, p0, p1 = ln.indices("i0 i1 j0 j1 f p p0 p1")


def some(*shape, seed=0, density=0.3):
    rng = np.random.default_rng([seed, *shape])
    return rng.integers(1, 9, shape) * (rng.random(shape) < density) * 1.0


M = some(70, 40)
M[3], M[10:20] = 1, 0  # a full row, and ten that are empty
V = some(40, density=1)
SPARSE = ln.SparseList(ln.Element(0.0))


def spmv(format=ln.CSR, matrix=M, vector=V, of_vector=ln.DENSE):
    A, x = ln.asarray(matrix, format=format), ln.asarray(vector, format=of_vector)
    y = ln.output()
    y[i] = A[i, j] * x[j]
    return ln.schedule(y)


def loops(plan):
    """The lines of the loops, without the beginning and the end of the kernel."""
    return [line.strip() for line in plan.loops.splitlines()[2:-2]]


def inner(plan):
    return kernel_of(plan.code).splitlines()[1:]


ROW = """\
double y_i = 0;
for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A
  i64 j = A_idx[A_q];
  y_i += A_val[A_q] * x_val[j];
}
y_val[i] = y_i;""".splitlines()


def test_figure_2c_the_product_as_it_is():
    plan = spmv()
    assert inner(plan) == ["for (i64 i = 0; i < n_i; i++) {", *("  " + s for s in ROW), "}"]
    assert np.array_equal(plan.run().to_numpy(), M @ V)


def test_figure_2d_rows_in_tiles():
    """A tile ends where the rows end: there is no guard inside it."""
    plan = spmv().split(i, i0, i1, 32)
    assert inner(plan) == [
        "i64 i0_parts = n_i / 32 + (n_i % 32 > 0);",
        "for (i64 i0 = 0; i0 < i0_parts; i0++) {",
        "  i64 i_start = i0 * 32, i_end = i_start + min(32, n_i - i_start);",
        "  for (i64 i = i_start; i < i_end; i++) {",
        *("    " + s for s in ROW),
        "  }",
        "}",
    ]
    assert np.array_equal(plan.run().to_numpy(), M @ V)
    assert plan.visits()["i0"] == 3
    assert plan.visits().total == spmv().visits().total + 3


FIGURE_2E = (
    "collapse(i, j, f) pos(f, fpos, A, flat) split(fpos, block, fpos1, 128)"
    " split(fpos1, warp, fpos2, 64) split(fpos2, thread, thread_nz, 16)"
    " reorder(block, warp, thread, thread_nz)"
    " precompute(A[i, j] * x[j], thread_nz, thread_nz_pre, t) unroll(thread_nz_pre, 16)"
)
PRODUCTS = """\
#pragma GCC unroll 16
for (i64 A_q = 0; A_q < 16; A_q++) {
i64 j_2 = A_idx[part_start_3 + A_q];
t_2[A_q] = A_val[part_start_3 + A_q] * x_val[j_2];
}
i64 i = fiber_of_i32(A_ptr, A_reached_3, n_i_2, part_start_3);
A_reached_3 = i;
double y_i = y_val[i];
for (i64 A_q_3 = 0; A_q_3 < 16; A_q_3++) {
if (part_start_3 + A_q_3 == A_ptr[i + 1]) {
y_val[i++] = y_i;
while (part_start_3 + A_q_3 == A_ptr[i + 1]) i++;
y_i = y_val[i];
}
y_i += t_2[A_q_3];
}
y_val[i] = y_i;""".splitlines()


def test_figure_2e_products_before_sums():
    """Sixteen products that need no coordinates of rows, then their sums, row by row."""
    plan = spmv().apply(FIGURE_2E)
    code = [line.strip().partition("  //")[0] for line in kernel_of(plan.code).splitlines()]
    assert code[0] == "double t[16];"
    at = code.index(PRODUCTS[0])
    assert code[at : at + len(PRODUCTS)] == PRODUCTS
    assert np.array_equal(plan.run().to_numpy(), M @ V)
    visits = plan.visits()  # the loops of whole parts are named as that of the last one
    assert visits["i_2, j_2 in A"] == visits["i, j in A"] == int((M != 0).sum())
    assert not {name for name in visits if name.startswith("A_q")}


def test_figure_4b_nonzeros_in_tiles():
    """One search for the first and the last row of a tile; what is between them is tracked."""
    plan = spmv().collapse(i, j, f).pos(f, p, "A").split(p, p0, p1, 16)
    assert np.array_equal(plan.run().to_numpy(), M @ V)
    code = inner(plan)
    tiles = code[next(n for n, line in enumerate(code) if line.startswith("for (i64 p0")) :]
    assert sum("fiber_of" in line for line in tiles) == 2
    assert not any("if (" in line for line in tiles)  # the end is that of the range
    visits, stored = plan.visits(), int((M != 0).sum())
    assert visits["p0"] == -(-stored // 16)
    assert visits["j in A"] == stored
    assert visits["i"] <= np.count_nonzero(M.any(1)) + 10 + visits["p0"]


def test_figure_5_three_states():
    plan = spmv().collapse(i, j, f)
    assert plan.provenance.order == ("f",)
    assert loops(plan) == [
        "for i in range(A.shape[0]):",
        "for j in range(A.shape[1]):",
        "y[i] += A[i, j] * x[j]",
    ]
    plan = plan.pos(f, p, "A[i, j]")
    assert plan.provenance.order == ("p",)
    assert loops(plan) == ["for i, j in ln.stored(A[:, :]):", "y[i] += A[i, j] * x[j]"]
    plan = plan.split(p, p0, p1, 16)
    assert plan.provenance.order == ("p0", "p1")
    assert loops(plan) == [
        "for p0 in range(ln.parts(ln.stored(A[:, :]), 16)):",
        "for i, j in ln.part(ln.stored(A[:, :]), p0, 16):",
        "y[i] += A[i, j] * x[j]",
    ]


def test_figure_8_both_operands_meet_at_j():
    plan = spmv(vector=some(40), of_vector=SPARSE)
    assert "for j: A[i, j] & x[j]" in plan.explain()["lattices"]
    assert np.array_equal(plan.run().to_numpy(), M @ some(40))


def test_figure_9_provenance():
    plan = spmv().collapse(i, j, f).pos(f, p, "A[i, j]").split(p, p0, p1, 16)
    rows = [row[:2] for row in plan.provenance.rows()]
    assert rows == [
        ("i, j -> f", "collapse"),
        ("f -> p", "pos A[i, j]"),
        ("p -> p0, p1", "split 16"),
    ]
    assert str(plan.provenance).endswith("loops: p0, p1")


def test_figure_10_the_intersection_in_four_blocks():
    """Every block co-iterates its quarter of the dimension, which it finds by a search."""
    A, B = ln.asarray(M, format=ln.CSR), ln.asarray(some(70, 40, seed=1), format=ln.CSR)
    y = ln.output()
    y[i] = A[i, j] * B[i, j]
    plan = ln.schedule(y).split(j, j0, j1, 4, direction="up")
    assert loops(plan)[1:3] == [
        "for j0 in range(4):",
        "for j in ln.part(range(A.shape[1]), j0, ln.parts(range(A.shape[1]), 4)):",
    ]
    assert np.array_equal(plan.run().to_numpy(), (M * some(70, 40, seed=1)).sum(1))
    assert plan.visits()["j0"] == 4 * 70
    assert plan.visits()["j in A, B"] <= ln.schedule(y).visits()["j in A, B"]
    assert "while (A_q < A_q_hi && B_q < B_q_hi)" in plan.code


def test_figure_11_two_levels_in_the_middle():
    T = ln.asarray(some(3, 4, 5, 6), format=ln.CSF)
    y = ln.output()
    y[i, j, k, l] = T[i, j, k, l] * 2
    plan = ln.schedule(y).collapse(j, k, f)
    assert plan.provenance.order == ("i", "f", "l")
    plan = plan.pos(f, p, T[i, j, k, l])
    assert loops(plan)[:3] == [
        "for i in range(T.shape[0]):",
        "for j, k in ln.stored(T[i, :, :]):",
        "for l in range(T.shape[3]):",
    ]
    tiled = plan.split(p, p0, p1, 3)
    for each in (plan, tiled):
        assert np.array_equal(each.run().to_numpy(), some(3, 4, 5, 6) * 2)
    dense = ln.output(ln.DENSE)
    dense[i, j, k, l] = T[i, j, k, l] * 2
    tiled = ln.schedule(dense).apply(tiled)
    assert np.array_equal(tiled.run().to_numpy(), some(3, 4, 5, 6) * 2)


def tiles(plan, operand, name):
    """The tile in which every element of an operand is, and when it is come by."""
    found = visited(plan.kernel, plan._arguments(), operand, name)
    return found.indices[name], found.order


def per_tile(plan, operand, name, stored):
    """How many of the elements that are stored each tile has."""
    found, _ = tiles(plan, operand, name)
    return np.bincount(found[stored]).tolist()


VECTOR = np.array([3, 1, 4, 1, 5, 9, 0, 0, 0, 2, 0, 6.0])


def test_figure_12_a_vector_by_coordinates_and_by_positions():
    v = ln.asarray(VECTOR, format=SPARSE)
    y = ln.output()
    y[i] = v[i] * 2
    stored = VECTOR != 0
    coordinates = ln.schedule(y).split(i, i0, i1, 6)
    assert per_tile(coordinates, "v", "i0", stored) == [6, 2]
    assert tiles(coordinates, "v", "i0")[0].tolist() == [0] * 6 + [1] * 6
    positions = ln.schedule(y).pos(i, p, v[i]).split(p, p0, p1, 4)
    assert per_tile(positions, "v", "p0", stored) == [4, 4]
    for plan, tile in ((coordinates, "i0"), (positions, "p0")):
        assert np.array_equal(plan.run().to_numpy(), VECTOR * 2)
        assert plan.visits()[tile] == 2
        assert plan.visits()["i in v"] == 8


HALVES = {
    # figure, format, commands, counter of tiles: who is in the first half
    13: (ln.CSR, "split(i, i0, i1, 2, up)", "i0"),
    14: (ln.DCSR, "pos(i, p, A) split(p, p0, p1, 2, up)", "p0"),
    15: (ln.CSR, "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 2, up)", "p0"),
}


@pytest.mark.parametrize("figure", HALVES)
def test_figures_13_to_15_three_ways_to_cut_a_matrix_in_two(figure):
    """By rows, by rows that are stored, by what is stored."""
    format, text, name = HALVES[figure]
    plan, stored = spmv(format).apply(text), M != 0
    rows, count = np.flatnonzero(stored.any(1)), int(stored.sum())
    ends = {13: stored[:35].sum(), 14: stored[rows[: -(-len(rows) // 2)]].sum(), 15: -(-count // 2)}
    assert per_tile(plan, "A", name, stored) == [ends[figure], count - ends[figure]]
    assert np.array_equal(plan.run().to_numpy(), M @ V)
    assert plan.visits()[name] == 2
    assert plan.visits()["j in A"] == count  # a row that is cut goes on in the next tile


def test_figure_16_orders_of_one_space():
    """Reordered, collapsed, split: which of the points (i, j) comes when."""
    A = ln.asarray(some(4, 4, density=1))
    y = ln.output()
    y[i, j] = A[i, j] * 2
    plan, rows = ln.schedule(y), np.arange(16).reshape(4, 4)
    assert np.array_equal(tiles(plan, "A", "i")[1], rows)
    assert np.array_equal(tiles(plan.reorder(j, i), "A", "i")[1], rows.T)
    assert np.array_equal(tiles(plan.collapse(i, j, f), "A", "i")[1], rows)
    tile, order = tiles(plan.collapse(i, j, f).split(f, p0, p1, 6), "A", "p0")
    assert np.array_equal(order, rows)
    assert np.array_equal(tile, rows // 6)
    blocks = plan.split(i, i0, i1, 2).split(j, j0, j1, 2).reorder(i0, j0, i1, j1)
    expected = [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    assert tiles(blocks, "A", "i0")[1].tolist() == expected
    strided = plan.split(i, i0, i1, 2).reorder(i1, i0)
    assert tiles(strided, "A", "i1")[1][:, 0].tolist() == [0, 8, 4, 12]
    for each in (plan, blocks, strided):
        assert np.array_equal(each.run().to_numpy(), some(4, 4, density=1) * 2)


# -- pictures --------------------------------------------------------------------------------------


def test_pictures_of_iteration_spaces():
    A = ln.asarray(M[:6, :8], format=ln.CSR)
    y = ln.output()
    y[i] = A[i, j] * ln.asarray(V[:8])[j]
    plan = ln.schedule(y).split(i, i0, i1, 2).split(j, j0, j1, 3).reorder(i0, j0, i1, j1)
    svg = plan.draw(A[i, j], i0, j0).svg
    assert svg.count("<rect") == 1 + 6 * 8
    stored = int((M[:6, :8] != 0).sum())
    numbers = {int(t.split("<")[0]) for t in svg.split(">") if t.split("<")[0].isdigit()}
    assert numbers == set(range(stored))
    assert "<rect" in plan.draw("A").svg
    with pytest.raises(ln.errors.ArgumentError, match="no loop has the index"):
        plan.draw("A", "q")
    with pytest.raises(ln.errors.ArgumentError, match="no loop comes by `y`"):
        plan.draw("y")
    with pytest.raises(ln.errors.ArgumentError, match="no loop comes by `Q`"):
        plan.draw("Q")
    large = spmv()
    with pytest.raises(ln.errors.ArgumentError, match="is not drawn"):
        large.draw("A")
