"""Classification, provenance and choice of workspaces, as values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import linnet as ln
from linnet import loops
from linnet.errors import ScheduleError
from linnet.formats.insertion import COORD, DENSE, MILLIONS, THOUSANDS
from linnet.frontend.text import parse_text
from linnet.loops.printer import show
from linnet.normalize.caches import Caches, caches
from linnet.normalize.choice import Choice, choose
from linnet.normalize.classify import classify
from linnet.normalize.costs import Group, Sample
from linnet.scheduling.precompute import precompute

# -- classification ------------------------------------------------------------------------------


def test_orders_that_agree_need_no_workspace():
    found = classify("ij", "ij")
    assert (found.order, found.concordant, found.hoisted) == (0, True, ("i", "j"))
    assert str(found) == "stored by i, j; the loops run over i, j: appended in order"


def test_common_iteration_is_hoisted_up_to_the_first_mismatch():
    assert classify("ikj", "ij").hoisted == ("i",)
    assert classify("kij", "ij").hoisted == ()
    assert classify("ijlk", "ijk").hoisted == ("i", "j")


def test_a_dense_workspace_suffices_for_one_index_inside_the_reduction():
    assert classify("ikj", "ij").dense_suffices
    assert not classify("kij", "ij").dense_suffices
    assert not classify("ikj", "ji").dense_suffices
    assert not classify("ij", "ij").dense_suffices


@pytest.mark.parametrize(
    ("order", "access", "ow_order"),
    [("ij", "ij", (0, 1)), ("ikj", "ji", (1, 0)), ("kijl", "lij", (1, 2, 0))],
)
def test_ow_order_says_where_each_input_index_is_stored(order, access, ow_order):
    found = classify(order, access)
    assert found.ow_order == ow_order
    for k, index in enumerate(found.input_order):
        assert found.access[found.ow_order[k]] == index


# -- choice --------------------------------------------------------------------------------------


def choice(dims, extents, value):
    size = loops.Dimension
    sizes = tuple(size(*d) for d in dims)
    bounds = tuple(loops.Extent(loops.Literal(0), size(*e)) for e in extents)
    expr = parse_text(f"for i, j, k in ...:\n    precomputed[()] = {value}").body
    while not isinstance(expr, loops.Assign):
        expr = expr.body if isinstance(expr, loops.Loop) else expr.stmts[0]
    return Choice("w", sizes, 8, bounds, expr.value)


ROWS = (loops.Extent(loops.Literal(0), loops.Dimension("A", 0)),)
ROW = replace(choice([("B", 1)], [("A", 1), ("B", 1)], "A[i, k] * B[k, j]"), around=ROWS)
ALL = choice([("A", 0), ("B", 1)], [("A", 1), ("A", 0), ("B", 1)], "A[i, k] * B[k, j]")


AT_HAND = Caches(1 << 20, 1 << 25)


@pytest.mark.parametrize(
    ("what", "n", "stored", "kind"),
    [
        (ROW, 1000, 5000, DENSE),  # at hand
        (ROW, 30_000, 120_000, DENSE),
        (ROW, 5000, 300_000, DENSE),  # most places are used
        (ROW, 30_000, 900_000, DENSE),  # 900 places of 30000 are sorted by bits
        (ROW, 10_000, 300_000, DENSE),
        (ROW, 10_000, 100_000, DENSE),
        (ROW, 1_000_000, 2_000_000, COORD),  # four updates at a time, far away
        (ROW, 10**7, 10**8, COORD),  # a hundred updates of ten million places
        (ROW, 300_000, 1_200_000, COORD),  # sixteen updates of more than the cache holds
        (ROW, 60_000, 600_000, DENSE),  # a hundred that wait for a part of it
        (ROW, 10**8, 10**9, COORD),  # never so large, for the sake of speed
        (ALL, 100, 5000, DENSE),  # all places are used
        (ALL, 10**4, 10**4, COORD),  # ten thousand updates
        (ALL, 10**4, 4 * 10**4, THOUSANDS),
        (ALL, 10**5, 4 * 10**5, MILLIONS),  # all at once
        (ALL, 10**5, 5 * 10**5, COORD),  # not all, and as many as there are elements
        (ALL, 10**5, 10**6, MILLIONS),  # but of ten millions two are few
        (ALL, 10**5, 10**8, DENSE),  # ten updates to a place: the result is as large
        (ALL, 6000, 180_000, MILLIONS),  # a sixth of what lies beyond all caches
        (ALL, 5000, 290_000, DENSE),  # three quarters of it
    ],
)
def test_kind_of_workspace(what, n, stored, kind):
    shapes, counts = {"A": (n, n), "B": (n, n)}, {"A": stored, "B": stored}
    assert choose(what, shapes, counts, at_hand=AT_HAND).kind == kind


WIDE = {"A": (10**6, 10**6), "B": (10**6, 10**6)}


@pytest.mark.parametrize(
    ("groups", "kind"),
    [
        ([Group(6000, 6000, 6000, 1e5)], COORD),  # anywhere
        ([Group(6000, 400, 400, 1e5)], DENSE),  # most of them meet
        ([Group(60, 60, 60, 1e5)], COORD),
        ([Group(60, 60, 1, 1e5)], DENSE),  # close to each other and to those of the next row
        ([Group(60, 60, 60, 1e5, reach=4000)], DENSE),  # not far from those
        ([Group(4, 4, 4, 1e6), Group(10**5, 10**5, 10**5, 100)], COORD),  # few rows do it all
        ([Group(4, 4, 1, 1e6), Group(10**5, 10**4, 10**4, 1)], DENSE),
    ],
)
def test_kind_by_what_was_seen(groups, kind):
    found = choose(ROW, WIDE, {"A": 10**6, "B": 10**6}, Sample(tuple(groups)), AT_HAND)
    assert found.kind.split()[0] == kind


INSIDE = replace(ALL, outer=("k",), around=ROWS)


@pytest.mark.parametrize(
    ("dims", "updates", "places", "kind"),
    [
        ((100, 64), 1130, 1040, DENSE),  # a sixth of the flags is set
        ((100, 16), 280, 270, COORD),  # fewer, of as many fibers
        ((30, 30), 260, 230, DENSE),  # a quarter, of fewer fibers
        ((1440, 3), 720, 700, COORD),  # as many, of far more fibers
        ((27, 55), 57_000, 1485, DENSE),  # all of them, again and again
        ((100, 4), 72, 67, COORD),
    ],
)
def test_kind_of_several_dimensions(dims, updates, places, kind):
    """Every fiber counts, not only every element."""
    shapes, counts = {"A": (dims[0], 50), "B": (50, dims[1])}, {"A": 5000, "B": 500}
    found = Sample((Group(updates, places, places, 500),))
    assert choose(INSIDE, shapes, counts, found, AT_HAND).kind == kind


@pytest.mark.parametrize(("ndim", "kind"), [(2, COORD), (3, MILLIONS)])
def test_room_for_all_that_come_is_a_share_of_the_result(ndim, kind):
    """Elements with more coordinates take more memory: then more updates may wait beside them."""
    many = replace(ALL, dims=tuple(loops.Literal(n) for n in (10**5, 10**4, 10**3)[:ndim]))
    found = Sample((Group(10**6, 6 * 10**5, 6 * 10**5),))
    shapes, counts = {"A": (10**5, 50), "B": (50, 10**4)}, {"A": 10**5, "B": 10**5}
    assert choose(many, shapes, counts, found, AT_HAND).kind == kind


def test_what_is_counted_is_believed():
    """Of a sample, only shares are taken where it is known how many updates there are."""
    (group,) = Sample((Group(1000, 500, 400, 1, 70),)).scaled(4000).groups
    assert group == Group(4000, 2000, 1600, 1, 70)
    rows = Sample((Group(10, 5, 5, 3), Group(20, 5, 5, 1)))
    assert rows.scaled(4000) is rows
    assert rows.scaled(None) is rows


def test_new_memory_costs():
    """Ten rows with a few updates do not want a megabyte; nor do many rows with none."""
    for n, stored, kind in ((10, 20, COORD), (10**7, 2 * 10**7, DENSE), (10**7, 20, COORD)):
        shapes, counts = {"A": (n, 1000), "B": (1000, 10**5)}, {"A": stored, "B": 10**4}
        assert choose(ROW, shapes, counts, at_hand=Caches(1 << 24, 1 << 28)).kind == kind


def test_where_hardly_anything_is_expected_more_may_come():
    """One used column has hundreds of updates in a few rows, where sizes alone say none."""
    for columns, kind in ((4000, DENSE), (40_000, COORD)):
        shapes, counts = {"A": (4000, 4000), "B": (4000, columns)}, {"A": 390, "B": 390}
        assert choose(ROW, shapes, counts).kind == kind


def test_the_size_of_caches_counts():
    shapes, counts = {"A": (10**5, 10**5), "B": (10**5, 10**5)}, {"A": 10**6, "B": 10**6}
    for second, kind in ((1 << 14, COORD), (1 << 24, DENSE)):
        few = Sample((Group(30, 30, 30, 1e5),))
        assert choose(ROW, shapes, counts, few, Caches(second, 1 << 26)).kind == kind


def test_caches_are_read_where_the_machine_tells_them(tmp_path):
    for k, parts in enumerate([(1, "Data", "48K"), (2, "Unified", "2048K"), (3, "Unified", "60M")]):
        (tmp_path / f"index{k}").mkdir()
        for name, text in zip(("level", "type", "size"), parts, strict=True):
            (tmp_path / f"index{k}" / name).write_text(f"{text}\n")
    assert caches(tmp_path) == Caches(2 << 20, 60 << 20)
    (tmp_path / "index2" / "size").write_text("unknown")
    caches.cache_clear()
    assert caches(tmp_path) == Caches(2 << 20, 1 << 25)
    caches.cache_clear()
    assert caches(tmp_path / "nothing") == Caches(1 << 20, 1 << 25)
    caches.cache_clear()
    for waiting in (AT_HAND.wait, AT_HAND.latency):
        waits = [waiting(1 << b) for b in range(10, 34)]
        assert waits == sorted(waits)


def test_kind_where_sizes_are_not_known():
    assert choose(ROW, {}, {}).kind == ROW.usual == DENSE
    assert choose(ALL, {}, {}).kind == ALL.usual == COORD


def test_sums_add_up_and_products_thin_out():
    some = {"A": (10**6, 10**6), "B": (10**6, 10**6)}
    stored = {"A": 10**9, "B": 10**9}
    both = choice([("A", 0), ("A", 1)], [("A", 0), ("A", 1)], "A[i, j] * B[i, j]")
    either = choice([("A", 0), ("A", 1)], [("A", 0), ("A", 1)], "A[i, j] + B[i, j]")
    assert "about 1e+06 updates" in choose(both, some, stored).why
    assert "about 2e+09 updates" in choose(either, some, stored).why
    far = replace(either, fills=(("A", np.inf), ("B", np.inf)))  # inf + x is inf
    assert "about 1e+06 updates" in choose(far, some, stored).why
    mixed = replace(both, fills=(("A", np.inf), ("B", np.inf)))
    assert "about 2e+09 updates" in choose(mixed, some, stored).why


def test_sizes_choose_another_kernel():
    """One kernel object, two kinds of workspaces; formats alone do not tell."""
    kernel = ln.Kernel(
        parse_text("C[...] = 0\nfor i, k, j in ...:\n    C[i, j] += A[i, k] * B[k, j]")
    )
    A = sp.csr_matrix(([2.0, 3.0], ([0, 1], [1, 0])), (2, 2))
    for n, word in ((50, "SparseByteMap"), (10**6, "SparseWorkspace"), (60, "SparseByteMap")):
        columns = np.arange(40) * (n // 40)
        B = sp.csr_matrix((np.arange(1.0, 41.0), (np.arange(40) % 2, columns)), (2, n))
        args = ln.empty_tensor(ln.CSR), ln.asarray(A), ln.asarray(B)
        assert word in kernel.loops(*args)
        assert abs(kernel(*args).to_scipy() - A @ B).max() == 0
    assert len(kernel._entries) == 2


# -- precompute ----------------------------------------------------------------------------------

PRODUCT = "C[...] = 0\nfor i, k, j in ...:\n    C[i, j] += A[i, k] * B[k, j]"


SQUARES = "y[...] = 0\nfor i, k in ...:\n    y[i] += A[i, k] ** 2"


def expr_of(text):
    body = parse_text(f"for i, j, k in ...:\n    precomputed[()] = {text}").body
    while not isinstance(body, loops.Assign):
        body = body.body if isinstance(body, loops.Loop) else body.stmts[0]
    return body.value


def test_precompute_inside_shared_loops():
    program = parse_text(PRODUCT)
    made = precompute(program, expr_of("A[i, k] * B[k, j]"), ["j"], ["j"], "w", ln.workspace(1))
    text = show(made)
    assert text.index("for i") < text.index("w[...] = 0") < text.index("for k")
    assert "C[i, j_2] = w[j_2]" in text


def test_precompute_a_factor():
    text = "y[...] = 0\nfor i, k, j in ...:\n    y[i] += d[i] * (A[i, k] * x[k])"
    expr = expr_of("A[i, k] * x[k]")
    made = show(precompute(parse_text(text), expr, ["i"], ["i"], "w", ln.workspace(1)))
    assert "w[i] += A[i, k] * x[k]" in made
    assert "y[i_2] = d[i_2] * w[i_2]" in made


@pytest.mark.parametrize(
    ("text", "expr", "i_vars", "message"),
    [
        (PRODUCT, "A[k, i]", ["i"], "in 0 updates"),
        (PRODUCT, "A[i, k] * B[k, j]", ["k"], "`j` is needed by what uses it"),
        (PRODUCT, "A[i, k] * B[k, j]", ["i", "j"], "2 and 2 indices for 1 dimensions"),
        (PRODUCT, "A[i, k]", ["i"], "`k` is reduced over in both parts"),
        (PRODUCT, "A[i, k] * B[k, j]", ["l"], "different indices of loops around it"),
        (PRODUCT.replace("* B", "+ B"), "A[i, k]", ["k"], "`j` is needed by what uses it"),
        (SQUARES, "A[i, k]", ["i"], "is not a product with it, summed up"),
        (PRODUCT.replace("* B", "+ D[i] + B"), "D[i]", ["i"], "`k` is needed by what uses it"),
    ],
)
def test_precompute_refuses(text, expr, i_vars, message):
    with pytest.raises(ScheduleError, match=message):
        precompute(parse_text(text), expr_of(expr), i_vars, i_vars, "w", ln.workspace(1))
