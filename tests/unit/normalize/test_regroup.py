"""Which nests of loops can be put in order by an operand, and which operands want it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import linnet as ln
from linnet.compiler import normalize
from linnet.formats.insertion import COORD, DENSE, MILLIONS, OPERAND
from linnet.formats.named import stack
from linnet.frontend.text import parse_text
from linnet.normalize.caches import Caches
from linnet.normalize.choice import Choice, choose
from linnet.normalize.workspaces import by_place
from linnet.runtime.deciding import decide
from linnet.runtime.meeting import meeting

AT_HAND = Caches(1 << 20, 1 << 25)
PRODUCT = "C[i, j] += A[i, k] * B[k, j]"
RUNS = stack(ln.Dense(ln.SparseRunList(ln.Element(0.0)))).with_order(1, 0)


def choices(text, result=ln.CSR, order="k, i, j", **formats):
    """All choices that a nest of loops leaves open."""
    return choices_of(f"for {order} in ...:\n    {text}", result, **formats)


def choices_of(nest, result=ln.CSR, **formats):
    """All choices that a program leaves open."""
    found: list[Choice] = []

    def note(choice):
        found.append(choice)
        return by_place(choice)

    given = {name: f.with_fill(0.0).with_dtype("float64") for name, f in formats.items()}
    normalize(parse_text(f"C[...] = 0\n{nest}"), {"C": result, **given}, note)
    return found


@pytest.mark.parametrize(
    ("order", "result", "operand"),
    [("k, i, j", ln.CSR, "A"), ("k, j, i", ln.CSR, "A"), ("k, i, j", ln.CSC, "B")],
)
def test_the_operand_that_has_the_first_index_of_the_result(order, result, operand):
    first, rows = choices(PRODUCT, result, order, A=ln.CSC, B=ln.CSR)
    assert (first.operand, rows.operand) == (operand, None)
    assert rows.outer == (("i",) if result is ln.CSR else ("j",))
    assert rows.value == first.value  # in the user's words


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        (PRODUCT, {"A": ln.CSC, "B": ln.DCSR}),  # rows of B would be searched for in every row
        (PRODUCT, {"A": ln.CSR, "B": ln.CSR}),  # not walked as it is stored
        (PRODUCT, {"A": RUNS, "B": ln.CSR}),  # a run is stored once
        (PRODUCT, {"A": ln.DENSE(2), "B": ln.CSR}),  # need not be put in order
        ("C[i, j] += A[i + 1, k] * B[k, j]", {"A": ln.CSC, "B": ln.CSR}),
        ("C[i, j] += A[i, k] * B[k, j] * E[j, i]", {"A": ln.CSC, "B": ln.CSR, "E": ln.CSR}),
        ("C[i, j] += A[i, k] * F[i, k] * B[k, j]", {"A": ln.CSC, "F": ln.CSC, "B": ln.CSR}),
        ("C[i // 2, j] += A[i, k] * B[k, j]", {"A": ln.CSC, "B": ln.CSR}),
    ],
)
@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
def test_what_stays_as_it_is(text, formats):
    assert [c.operand for c in choices(text, **formats)] == [None]


@pytest.mark.parametrize(
    "nest",
    [
        "for k, i in ...:\n    for j in range(i, B.shape[1]):\n        ",
        "for k, i in ...:\n    if i > k:\n        for j in ...:\n            ",
        "for k, i in ...:\n    for j in range(i // 2, i + 1):\n        ",
    ],
)
def test_loops_that_depend_on_others_stay(nest):
    found = choices_of(nest + PRODUCT, A=ln.CSC, B=ln.CSR)
    assert [c.operand for c in found] == [None]


@pytest.mark.parametrize(
    ("n", "stored", "kind"),
    [
        (100, 150, COORD),  # two hundred updates are sorted sooner
        (100, 500, OPERAND),
        (10**4, 10**4, OPERAND),  # one for each value: what is at hand is soon looked at twice
        (10**4, 3 * 10**4, OPERAND),  # three for each value
        (10**5, 2 * 10**5, OPERAND),  # two, by rows that have been asked for
        (3 * 10**5, 3 * 10**5, MILLIONS),  # one, by rows from far away
        (10**5, 10**6, OPERAND),  # ten, which are merged again and again
        (10**5, 10**8, OPERAND),
        (5000, 290_000, OPERAND),
        (10**6, 14 * 10**5, MILLIONS),  # hardly more updates than values
        (10**6, 15 * 10**5, COORD),  # the same, but not all at once
    ],
)
def test_sizes_decide(n, stored, kind):
    first, rows = choices(PRODUCT, A=ln.CSC, B=ln.CSR)
    shapes, counts = {"A": (n, n), "B": (n, n)}, {"A": stored, "B": stored}
    assert choose(first, shapes, counts, at_hand=AT_HAND).kind == kind
    assert choose(rows, shapes, counts, at_hand=AT_HAND).kind in (COORD, DENSE)


def test_more_rows_than_updates():
    """Ten million empty rows would cost more than a million updates."""
    first, _ = choices(PRODUCT, A=ln.CSC, B=ln.CSR)
    shapes, counts = {"A": (10**7, 1000), "B": (1000, 1000)}, {"A": 10**4, "B": 10**5}
    assert choose(first, shapes, counts, at_hand=AT_HAND).kind == MILLIONS
    assert choose(first, shapes, counts, at_hand=AT_HAND, counted=2e7).kind == OPERAND


def some_columns(n, used, per_column):
    """A matrix with entries in a few columns."""
    rng = np.random.default_rng(0)
    which = np.repeat(rng.choice(n, used, replace=False), per_column)
    A = sp.csr_array((np.ones(len(which)), (rng.integers(0, n, len(which)), which)), shape=(n, n))
    A.sum_duplicates()
    return A


def test_updates_are_counted_where_pointers_tell():
    A = some_columns(2000, 4, 300)
    held = {
        "A": ln.asarray(A, format=ln.CSC).contents(),
        "B": ln.asarray(sp.csr_array(A.T), format=ln.CSR).contents(),
    }
    first, rows = choices(PRODUCT, A=ln.CSC, B=ln.CSR)
    lengths = np.diff(sp.csc_array(A).indptr)
    assert meeting(first, held) == (lengths.astype(float) ** 2).sum()
    assert meeting(rows, held) is None  # of one row
    assert decide(first, held).kind == OPERAND  # sizes alone say 720 updates, there are 300,000
    for other in ("A[i, k] * A[i, k]", "A[i, k] * B[k, j] * A[k, 0]", "A[i, k] * B[k, j] * s[()]"):
        scalar = ln.scalar(2.0)
        shared = choices(f"C[i, j] += {other}", A=ln.CSC, B=ln.CSR, s=scalar.format)[0]
        assert meeting(shared, {**held, "s": scalar.contents()}) is None


def test_what_is_asked_for_is_done():
    A = ln.asarray(some_columns(2000, 4, 300), format=ln.CSC)
    B = A.T.to(ln.CSR)
    kernel = ln.Kernel(parse_text(f"C[...] = 0\nfor k, i, j in ...:\n    {PRODUCT}"))
    asked = ln.insert_workspaces(kernel, ln.Coord())
    C = ln.empty_tensor(ln.CSR)
    assert "A is put in order first" in ln.explain(kernel, C, A, B)["results"]
    assert "SparseWorkspace(2, Coord(" in ln.explain(asked, C, A, B)["results"]
    one, other = (k(ln.empty_tensor(ln.CSR), A, B) for k in (kernel, asked))
    for a, b in zip(one.buffers.values(), other.buffers.values(), strict=True):
        assert np.array_equal(a, b)


def test_sizes_may_change_from_call_to_call():
    """What a kernel was compiled for first does not count for other sizes."""
    kernel = ln.Kernel(parse_text(f"C[...] = 0\nfor k, i, j in ...:\n    {PRODUCT}"))
    for n, used in ((50, 3), (2000, 4), (50, 3), (2000, 4)):
        M = some_columns(n, used, n // 8)
        A, B = ln.asarray(M, format=ln.CSC), ln.asarray(sp.csr_array(M.T))
        C = kernel(ln.empty_tensor(ln.CSR), A, B)
        assert np.array_equal(C.to_numpy(), (M @ M.T).toarray())
    assert {dict(e.kinds)["C_w"] for e in kernel._entries.values()} == {COORD, OPERAND}


def test_sizes_that_do_not_agree_are_refused_as_ever():
    kernel = ln.Kernel(parse_text(f"C[...] = 0\nfor k, i, j in ...:\n    {PRODUCT}"))
    A, B = ln.asarray(np.eye(5), format=ln.CSC), ln.asarray(np.eye(4), format=ln.CSR)
    with pytest.raises(ln.errors.ShapeError):
        kernel(ln.empty_tensor(ln.CSR), A, B)
