"""What is told of the loops around a workspace from some of their steps, and chosen by it.

Nothing is computed here but the decision.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import linnet as ln
from linnet.compiler import normalize
from linnet.formats.insertion import COORD, DENSE
from linnet.formats.named import stack
from linnet.frontend.text import parse_text
from linnet.normalize.caches import Caches
from linnet.normalize.choice import Choice, choose
from linnet.normalize.workspaces import by_place
from linnet.runtime.sampling import _distinct, _nearby, _places, is_uneven, sample

AT_HAND = Caches(1 << 20, 1 << 25)


def seen(text, order, result, **operands):
    """The choice of the workspace for all updates of a program, and what is told of it."""
    program = parse_text(f"C[...] = 0\nfor {order} in ...:\n    {text}")
    found: list[Choice] = []

    def decide(choice):
        found.append(choice)
        return by_place(choice)

    normalize(program, {"C": result} | {name: t.format for name, t in operands.items()}, decide)
    choice = replace(found[0], operand=None)  # the updates themselves are to be collected
    return choice, sample(choice, {name: t.contents() for name, t in operands.items()})


PRODUCT = "C[i, j] += A[i, k] * B[k, j]"


def kind_of(A, B, order="i, k, j", first=ln.CSR):
    """The kind of workspace for a product of matrices."""
    operands = {"A": ln.asarray(A, format=first), "B": ln.asarray(B, format=ln.CSR)}
    choice, found = seen(PRODUCT, order, ln.CSR, **operands)
    assert found is not None
    shapes = {name: t.shape for name, t in operands.items()}
    return choose(choice, shapes, {n: t.nnz for n, t in operands.items()}, found, AT_HAND).kind


def matrix(n, m, stored, seed):
    """Entries in any place, more of them in the first columns."""
    rng = np.random.default_rng(seed)
    coords = rng.integers(0, n, stored), (m * rng.random(stored) ** 2).astype(int)
    A = sp.csr_array((np.ones(stored), coords), shape=(n, m))
    A.sum_duplicates()
    return A


# -- what is told ----------------------------------------------------------------------------------

A, B = matrix(300, 500, 9000, 1), matrix(500, 400, 8000, 2)
UPDATES = float(np.diff(A.tocsc().indptr) @ np.diff(B.indptr))
PLACES = (A @ B).nnz
E = ln.Element()
FORMATS = {
    "CSR": ln.CSR,
    "DCSR": ln.DCSR,
    "COO": ln.COO(2),
    "hashed": stack(ln.SparseHash(ln.SparseHash(E))),
    "byte map": stack(ln.SparseByteMap(ln.SparseByteMap(E))),
    "runs": ln.SRLE,
    "blocks": ln.BLOCK,
    "workspace": ln.workspace(2),
}
ORDERS = {"i, k, j": "by rows", "k, i, j": "by columns"}


@pytest.mark.parametrize("label", FORMATS)
@pytest.mark.parametrize("order", ORDERS, ids=ORDERS.get)
def test_updates_are_counted_whatever_the_format(label, order):
    first = FORMATS[label] if order == "i, k, j" else FORMATS[label].with_order(1, 0)
    operands = {"A": ln.asarray(A, format=first), "B": ln.asarray(B, format=FORMATS[label])}
    choice, found = seen(PRODUCT, order, ln.CSR, **operands)
    assert choice.outer == (("i",) if order == "i, k, j" else ())
    assert sum(g.updates * g.weight for g in found.groups) == pytest.approx(UPDATES, rel=0.35)
    if choice.outer:
        assert sum(g.places * g.weight for g in found.groups) == pytest.approx(PLACES, rel=0.35)
        assert all(0 <= g.lines <= g.places <= g.updates for g in found.groups)


def test_dense_operands_are_counted():
    X = np.ones((500, 30))
    operands = {"A": ln.asarray(A, format=ln.CSR), "B": ln.asarray(X)}
    _, found = seen(PRODUCT, "i, k, j", ln.CSR, **operands)
    assert sum(g.updates * g.weight for g in found.groups) == pytest.approx(30 * A.nnz, rel=0.3)
    assert max(g.places for g in found.groups) == pytest.approx(30, rel=0.01)


def test_tensors_are_counted():
    rng = np.random.default_rng(5)
    T = np.where(rng.random((40, 30, 50)) < 0.1, 1.0, 0.0)
    M = np.where(rng.random((40, 20)) < 0.3, 1.0, 0.0)
    operands = {"A": ln.asarray(T, format=ln.CSF(3)), "B": ln.asarray(M, format=ln.DCSR)}
    expected = np.einsum("kij,kl->", T, M)
    _, found = seen("C[i, j, l] += A[k, i, j] * B[k, l]", "k, i, j, l", ln.COO(3), **operands)
    assert sum(g.updates * g.weight for g in found.groups) == pytest.approx(expected, rel=0.35)


def test_places_that_are_updated_more_often_do_not_stand_for_all():
    """A few that meet in a thousand updates tell nothing of where a million go."""
    rng, n, m = np.random.default_rng(6), 1000, 10**6
    coords = [rng.integers(0, n, 150_000), (m * rng.random(150_000) ** 6).astype(int)]
    T = ln.tensor(coords, np.ones(150_000), (n, m), format=ln.DCSR, op=ln.maximum)
    M = ln.asarray(np.where(rng.random((n, 64)) < 0.1, 1.0, 0.0), format=ln.DCSR)
    _, found = seen("C[j, l] += A[k, j] * B[k, l]", "k, j, l", ln.COO(2), A=T, B=M)
    (group,) = found.groups
    expected = (T.to_scipy().T @ M.to_scipy()).nnz
    assert 0.5 * expected < group.places < 2 * expected


def test_long_runs_are_not_written_out():
    """What is stored in a few numbers may stand for more than there is memory for."""
    n = 2**40
    runs = ln.empty_tensor(stack(ln.SparseList(ln.SparseRunList(E))))
    text = f"ln.declare(R, 0, (4, {n}))\nfor i in range(0, 4):\n    for j in range(5, {n}):\n"
    long = ln.Kernel(parse_text(f"{text}        R[i, j] = 2"))(runs)
    A = ln.asarray(np.ones((3, 4)), format=ln.CSR)
    assert seen(PRODUCT, "i, k, j", ln.DCSR, A=A, B=long)[1] is None


def test_the_same_operands_are_seen_alike():
    operands = {"A": ln.asarray(A, format=ln.CSR), "B": ln.asarray(B, format=ln.CSR)}
    first, second = (seen(PRODUCT, "i, k, j", ln.CSR, **operands) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "text",
    [
        "C[i, j] += A[i, k] + B[k, j]",  # not only where both are stored
        "C[i, j] += A[i, k] * B[k, j] * x[i + 1]",
        "C[i, I[j]] += A[i, k] * B[k, j]",
    ],
)
def test_what_cannot_be_foreseen(text):
    program = parse_text(f"C[...] = 0\nfor i, k, j in ...:\n    {text}")
    update = program.body
    while not hasattr(update, "value"):
        update = update.stmts[-1] if hasattr(update, "stmts") else update.body
    operands = {"A": ln.asarray(A, format=ln.CSR), "B": ln.asarray(B, format=ln.CSR)}
    choice, _ = seen(PRODUCT, "i, k, j", ln.CSR, **operands)
    other = replace(choice, value=update.value, target=update.target.indices[1:])
    assert sample(other, {name: t.contents() for name, t in operands.items()}) is None


def test_empty_operands():
    nothing = ln.asarray(sp.csr_array((500, 400)), format=ln.CSR)
    for order in ORDERS:
        assert seen(PRODUCT, order, ln.CSR, A=ln.asarray(A, format=ln.CSR), B=nothing)[1] is None


# -- what is chosen --------------------------------------------------------------------------------


def some_columns(n, used, per_column, seed):
    """A matrix of which some columns are used, each of them as often (WORK Fig. 16)."""
    rng = np.random.default_rng(seed)
    which = np.repeat(rng.choice(n, used, replace=False), per_column)
    rows = rng.integers(0, n, used * per_column)
    return sp.csr_array((np.ones(len(rows)), (rows, which)), shape=(n, n))


def test_products_that_meet_in_few_columns_are_counted_as_many():
    """Sizes are those of matrices whose products would fill a hundredth of the result."""
    C = some_columns(3000, 30, 600, 1)
    assert kind_of(C, sp.csr_array(C.T), "k, i, j", ln.CSC) == DENSE
    D = some_columns(3000, 3000, 6, 1)
    assert kind_of(D, sp.csr_array(D.T), "k, i, j", ln.CSC).startswith(COORD)


def test_which_operands_are_worth_a_look():
    even, odd = matrix(3000, 3000, 20_000, 1), some_columns(3000, 30, 600, 1)
    assert not is_uneven(ln.asarray(even).contents())
    assert is_uneven(ln.asarray(odd, format=ln.CSC).contents())
    assert not is_uneven(ln.asarray(np.eye(5)).contents())
    kernel = ln.Kernel(parse_text(f"C[...] = 0\nfor k, i, j in ...:\n    {PRODUCT}"))
    args = ln.asarray(odd, format=ln.CSC), ln.asarray(sp.csr_array(odd.T))
    assert "updates come of" in ln.explain(kernel, ln.empty_tensor(ln.CSR), *args)["results"]


def banded(n, width):
    """All entries near the diagonal."""
    return sp.csr_array(sp.diags([np.ones(n)] * width, range(width), shape=(n, n)))


def test_neighbours_are_seen():
    """As many updates in as many columns: near each other, they want dense memory."""
    n, width = 400_000, 6
    local = banded(n, width)
    rng = np.random.default_rng(3)
    spread = sp.csr_array(
        (local.data, rng.integers(0, n, local.nnz), local.indptr), shape=local.shape
    )
    spread.sort_indices()
    near = (np.repeat(np.arange(n), width) + rng.integers(0, 400, n * width)) % n
    loose = sp.csr_array((np.ones(n * width), near, np.arange(0, n * width + 1, width)), (n, n))
    loose.sum_duplicates()
    assert kind_of(local, local) == DENSE
    assert kind_of(loose, loose) == DENSE  # not in the same lines, but not far from them
    assert kind_of(spread, spread) == COORD


def test_rows_that_are_near_are_seen_by_columns():
    """How far apart the rows of neighbouring columns are; what is not near may be anywhere."""
    n = 3000
    near = ln.asarray(banded(n, 5), format=ln.CSC)
    scattered = ln.asarray(matrix(n, n, 9000, 3), format=ln.CSC)
    other = ln.asarray(banded(n, 5), format=ln.CSR)
    _, found = seen(PRODUCT, "k, i, j", ln.CSR, A=near, B=other)
    assert 2 * n < found.groups[0].reach < 50 * n
    _, found = seen(PRODUCT, "k, i, j", ln.CSR, A=scattered, B=other)
    assert found.groups[0].reach == np.inf
    for seed in range(6):  # one in a column: a row is not near because it is near itself
        few = ln.asarray(matrix(n, n, n, seed), format=ln.CSC)
        _, found = seen(PRODUCT, "k, i, j", ln.CSR, A=few, B=other)
        assert found.groups[0].reach == np.inf


def test_few_heavy_rows_are_found():
    """Eight rows of 15 000 make nine tenths of all updates."""
    n, rng = 15_000, np.random.default_rng(4)
    rows = np.concatenate([np.arange(n), np.repeat(np.arange(8) * 1800, n)])
    columns = np.concatenate([np.arange(n), rng.integers(0, n, 8 * n)])
    heavy = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    idx, ptr = rng.integers(0, n, 4 * n), np.arange(0, 4 * n + 1, 4)
    other = sp.csr_array((np.ones(4 * n), idx, ptr), shape=(n, n))
    other.sum_duplicates()
    operands = {"A": ln.asarray(heavy), "B": ln.asarray(other)}
    _, found = seen(PRODUCT, "i, k, j", ln.CSR, **operands)
    total = float(np.diff(heavy.tocsc().indptr) @ np.diff(other.indptr))
    assert sum(g.updates * g.weight for g in found.groups) == pytest.approx(total, rel=0.35)
    assert found.updates > n / 2


def test_rows_of_neighbouring_steps_are_compared_however_many_there_are():
    """Pairs of steps and rows were numbered together: beyond 2**63 the numbers wrapped around."""
    for size in (10**6, 2**61):
        pair, second = np.arange(40) // 2, np.arange(40) % 2
        assert _nearby(pair, size // 3 + second, 1, size) == 5
        assert _nearby(pair, second * (size // 2), 1, size) == np.inf


def test_neighbouring_steps_that_update_the_same_places():
    """Of a finite-element matrix, nearly all that a column updates its neighbour updates, too."""
    i = np.repeat(np.arange(3000), 24)
    j = np.clip(i + np.tile(np.arange(-12, 12), 3000), 0, 2999)
    A = sp.csr_array((np.ones(len(i)), (i, j)), shape=(3000, 3000))
    A.sum_duplicates()
    random = matrix(3000, 3000, A.nnz, 0)
    for M, least, most in ((A, 0.02, 0.4), (random, 0.45, 1.0)):
        operands = {"A": ln.asarray(M, format=ln.CSC), "B": ln.asarray(M, format=ln.CSR)}
        _, found = seen(PRODUCT, "k, i, j", ln.CSR, **operands)
        assert least <= found.places / found.updates <= most


def test_what_is_expected_of_more_updates_changes_by_and_by():
    """From as many places as a few let expect to as many as if all were alike, without a jump."""
    expected = [_places(1000, 976, 1000 * 1.25**k, 2**62) for k in range(80)]
    changes = [after / before for before, after in pairwise(expected)]
    assert all(0.6 < change < 1.26 for change in changes)
    assert expected[30] > 0.9 * 1000 * 1.25**30 * _distinct(1000, 976, 32_000) / 32_000
    assert expected[-1] == pytest.approx(_distinct(1000, 976, 1000 * 1.25**79))
