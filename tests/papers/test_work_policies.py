"""Policies of sparse workspaces (WORK §5): those that Linnet ships."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linnet as ln
from linnet.errors import FormatError
from linnet.formats.assemble import unpack
from linnet.formats.policies import insert_listed, sort_buckets
from linnet.frontend.text import parse_text


def scatter(format, X, Y, v, shape, operator="+=", init="0"):
    """A workspace after updates at X, Y in order."""
    update = {"+=": "w[X[t], Y[t]] += v[t]", "=": "w[X[t], Y[t]] = v[t]"}.get(
        operator, f"w[X[t], Y[t]] = {operator}(w[X[t], Y[t]], v[t])"
    )
    text = f"ln.declare(w, {init}, ({shape[0]}, {shape[1]}))\nfor t in ...:\n    {update}"
    return ln.Kernel(parse_text(text))(ln.empty_tensor(format), X, Y, v)


def by_parity(i, j, n_i, n_j):
    return (i % 2) * 8 + j % 8


POLICIES = [
    ln.Coord(),
    ln.Coord(capacity=1),
    ln.Coord(capacity=7, growth=False),
    ln.Coord(capacity=7, growth=0.3),
    ln.Bucket(),
    ln.Bucket(capacity=5),
    ln.Bucket(by_parity, 16, capacity=9),
    ln.Hash(),
    ln.Hash(4, capacity=10),
    ln.Heap(capacity=6),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_policies(policy):
    check_sums(policy, "float64")


@pytest.mark.parametrize("dtype", ["float32", "int8", "int32", "uint64", "complex128"])
def test_dtypes(dtype):
    check_sums(ln.Coord(capacity=30), dtype)
    check_sums(ln.Hash(capacity=30), dtype)


def größer(i, j, n_i, n_j):
    return (3 * i + j) % 8


def renamed(i, j, n_i, n_j):
    return j % 8


renamed.__name__ = 'a "name"'


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize(
    "mapping", [lambda i, j, n_i, n_j: j % 8, größer, renamed], ids=["lambda", "letters", "words"]
)
def test_functions_whose_names_are_none_in_machine_code(mapping, backend):
    with ln.config(backend=backend):
        check_sums(ln.Bucket(mapping, 8, capacity=9), "float64")


def check_sums(policy, dtype):
    rng = np.random.default_rng(1)
    for count in (0, 1, 40, 700):
        X, Y = rng.integers(0, 9, count), rng.integers(0, 13, count)
        v = rng.integers(1, 3, count).astype(dtype)
        expected = np.zeros((9, 13), dtype)
        np.add.at(expected, (X, Y), v)
        w = scatter(ln.workspace(2, policy, dtype=dtype), X, Y, v, (9, 13))
        assert np.array_equal(w.to_numpy(), expected)
        assert w.nnz == len(set(zip(X, Y, strict=True)))


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_the_last_assignment_counts(policy):
    rng = np.random.default_rng(2)
    X, Y, v = rng.integers(0, 5, 200), rng.integers(0, 5, 200), rng.random(200)
    expected = np.zeros((5, 5))
    for x, y, value in zip(X, Y, v, strict=True):
        expected[x, y] = value
    w = scatter(ln.workspace(2, policy), X, Y, v, (5, 5), "=")
    assert np.array_equal(w.to_numpy(), expected)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize(("name", "start"), [("min", np.inf), ("max", -np.inf)])
def test_other_functions(policy, name, start):
    rng = np.random.default_rng(3)
    X, Y, v = rng.integers(0, 5, 200), rng.integers(0, 5, 200), rng.random(200)
    expected = np.full((5, 5), start)
    getattr(np, f"{name}imum").at(expected, (X, Y), v)
    format = ln.workspace(2, policy, fill_value=start)
    init = "np.inf" if start > 0 else "-np.inf"
    w = scatter(format, X, Y, v, (5, 5), name, init)
    assert np.array_equal(w.to_numpy(), expected)


# -- more coordinates than 64 bits can number ------------------------------------------------------

HUGE = 2**40


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_shapes_beyond_64_bits(policy):
    rng = np.random.default_rng(4)
    some = np.sort(rng.integers(0, HUGE, 20))
    X, Y = some[rng.integers(0, 20, 300)], some[rng.integers(0, 20, 300)]
    w = scatter(ln.workspace(2, policy), X, Y, np.ones(300), (HUGE, HUGE))
    coords, values = unpacked(w)
    found = {(x, y): c for x, y, c in zip(*coords, values, strict=True)}
    expected: dict[tuple[int, int], float] = {}
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        expected[x, y] = expected.get((x, y), 0.0) + 1.0
    assert found == expected
    assert list(found) == sorted(found)


def unpacked(tensor):
    coordinates, values = unpack(tensor)
    return [c.tolist() for c in coordinates], values.tolist()


@pytest.mark.parametrize("size", [2**31 - 2, 2**31 - 1, 2**31, HUGE])
def test_a_product_beyond_64_bits(size):
    """Up to 2**40 by 2**40 elements, and where 31 bits end, in a workspace that Linnet inserts."""

    coords = ([5, size - 1, 7], [0, 1, 2])
    A = ln.tensor(coords, [1.0, 2.0, 3.0], (size, 3), format=ln.COO(2).with_order(1, 0))
    B = ln.tensor(([0, 1, 2], [size - 2, 3, 3]), [4.0, 5.0, 6.0], (3, size), format=ln.DCSR)
    C = outer(ln.empty_tensor(ln.DCSR), A, B)
    coordinates, values = unpacked(C)
    assert coordinates == [[5, 7, size - 1], [size - 2, 3, 3]]
    assert values == [4.0, 18.0, 10.0]


@ln.kernel
def outer(C, A, B):
    C[...] = 0
    for k, i, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


def test_workspaces_are_formats_like_others():
    rng = np.random.default_rng(5)
    array = np.where(rng.random((6, 7, 4)) < 0.3, rng.random((6, 7, 4)), 0)
    tensor = ln.asarray(array, format=ln.workspace(3))
    assert np.array_equal(tensor.to_numpy(), array)
    assert np.array_equal(tensor.to(ln.CSF(3)).to_numpy(), array)
    assert np.array_equal(ln.asarray(array, format=ln.COO(3)).to(ln.workspace(3)).to_numpy(), array)
    permuted = ln.asarray(array, format=ln.workspace(3).with_order(2, 0, 1))
    assert np.array_equal(permuted.to_numpy(), array)


def test_what_is_not_a_policy():
    with pytest.raises(ln.LinnetError, match="not a policy"):
        ln.workspace(2, "coord")
    with pytest.raises(FormatError, match="power of two"):
        ln.Hash(100)
    with pytest.raises(FormatError, match="number of components"):
        ln.Coord(capacity=-1)
    for growth in (-1, np.nan, np.inf, "fast", None):
        with pytest.raises(FormatError, match="growth"):
            ln.Coord(growth=growth)
    with pytest.raises(FormatError, match="given with a length"):
        ln.Bucket(by_parity)
    with pytest.raises(FormatError, match="stands above values"):
        ln.SparseWorkspace(2, ln.Coord(), ln.Dense(ln.Element(0.0)))
    with pytest.raises(FormatError, match="below no other level"):
        ln.empty_tensor(ln.Dense(ln.SparseWorkspace(1, ln.Coord(), ln.Element(0.0))))


def test_updates_that_cannot_be_merged_are_refused():
    with pytest.raises(FormatError, match="cannot be combined"):
        scatter(ln.workspace(2), np.arange(3), np.arange(3), np.ones(3), (3, 3), init="1")


# -- buckets that many components share ------------------------------------------------------------


class Counted(list):
    """A list that counts how often it is read."""

    reads = 0

    def __getitem__(self, at):
        Counted.reads += 1
        return list.__getitem__(self, at)


def test_a_long_list_is_not_looked_through_to_its_end():
    """Insertion takes a bounded number of steps, and equal components are listed as they came."""
    crd, count = Counted(k * 37 % 400 for k in range(1200)), 0
    slots, order, spare = [0] * (1 + 2 * 1200), [0] * 4000, [0] * 4000
    for key in crd[:]:
        crd[count] = key
        count += insert_listed(crd, 1, 0, count, 0, order, slots, 1) == count
    assert Counted.reads < 100 * 1200
    sort_buckets(crd, 1, 0, count, order, spare, slots, 1)
    assert [(crd[e], e) for e in order[:count]] == sorted((crd[e], e) for e in range(count))


@pytest.mark.parametrize("policy", [ln.Bucket(length=1), ln.Hash(1), ln.Bucket()], ids=repr)
@pytest.mark.parametrize("shape", [(2, 3000), (1 << 40, 1 << 40)])
def test_many_components_in_one_bucket(policy, shape):
    """A short first dimension, or one bucket for all; the last of all assignments counts."""
    rng = np.random.default_rng(6)
    X, Y, v = rng.integers(0, 2, 4000), rng.integers(0, 900, 4000), rng.random(4000)
    w = scatter(ln.workspace(2, policy), X, Y, v, shape, "=")
    coords, values = unpacked(w)
    expected = dict(zip(zip(X.tolist(), Y.tolist(), strict=True), v.tolist(), strict=True))
    assert dict(zip(zip(*coords, strict=True), values, strict=True)) == expected
    assert list(zip(*coords, strict=True)) == sorted(expected)


# -- capacity and length, where nobody says them ---------------------------------------------------


IN_STEPS = """
def in_steps(C, A, B):
    w = ln.temp(W)
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    C[...] = 0
    for i, j in ...:
        C[i, j] = w[i, j]
    return C
"""


def in_steps(policy):
    """A product through a workspace that the user declares."""
    return ln.Kernel(parse_text(IN_STEPS, {"W": ln.workspace(2, policy)}))


def precomputed(policy):
    """A product through a workspace that the user puts there."""
    part, ij = "A[i, k] * B[k, j]", ["i", "j"]
    return ln.precompute(outer, part, ij, ij, ln.workspace(2, policy))


def inserted(policy):
    """A product through a workspace that Linnet puts there."""
    return ln.insert_workspaces(outer, policy)


def given(n, stored, first, second):
    """A result and two matrices that store values in random places."""
    rng = np.random.default_rng(0)

    def matrix(format):
        places = rng.integers(0, n, (2, stored))
        return ln.tensor(tuple(places), np.ones(stored), (n, n), format=format)

    return ln.empty_tensor(ln.CSR), matrix(first), matrix(second)


def told(kernel, args):
    """The policy of the workspace, as the program has it."""
    return kernel.loops(*args).split("SparseWorkspace(2, ln.")[1].split(", ln.Elem")[0]


@pytest.mark.parametrize(
    ("n", "stored", "capacity"),
    [(1000, 100, None), (10_000, 40_000, 1 << 18), (100_000, 400_000, 1 << 21)],
)
def test_the_capacity_follows_the_number_of_updates(n, stored, capacity):
    """About stored² / n of them; so many accumulate that merging is seldom, and no more."""
    args = given(n, stored, ln.CSC, ln.DCSR)
    assert told(outer, args) == repr(ln.Coord(capacity=capacity))


@pytest.mark.parametrize("way", [inserted, in_steps, precomputed])
@pytest.mark.parametrize(
    ("policy", "some", "many"),
    [
        (ln.Coord(), 1 << 18, 1 << 21),
        (ln.Coord(pipelined=True), 1 << 18, 1 << 21),
        (ln.Hash(), 1 << 12, 1 << 15),
        (ln.Hash(64), 1 << 12, 1 << 15),
        (ln.Bucket(), 1 << 12, 1 << 15),
        (ln.Heap(), 1 << 12, 1 << 15),
    ],
    ids=repr,
)
def test_a_policy_that_is_named_gets_its_capacity_in_the_same_way(policy, some, many, way):
    """Where components are looked for, so many as fit a cache; a capacity that is given stays."""
    for n, stored, capacity in (
        (1000, 100, None),
        (10_000, 40_000, some),
        (100_000, 400_000, many),
    ):
        args = given(n, stored, ln.CSC, ln.CSR)
        assert told(way(policy), args) == repr(replace(policy, capacity=capacity))
        fixed = replace(policy, capacity=77)
        assert told(way(fixed), args) == repr(fixed)


def test_many_updates_of_few_elements_get_no_room_of_their_own():
    """Every product of a used column with a used row meets the others: room is made by and by."""
    rng = np.random.default_rng(0)
    a = np.zeros((3000, 3000))
    a[:700, :900] = rng.random((700, 900)) < 0.3
    b = a.T.copy()
    args = ln.empty_tensor(ln.CSR), ln.asarray(a, format=ln.CSC), ln.asarray(b, format=ln.CSR)
    assert told(inserted(ln.Coord()), args) == "Coord()"
    assert "updates of" in ln.explain(inserted(ln.Coord()), *args)["results"]


@pytest.mark.parametrize("way", [inserted, in_steps, precomputed])
@pytest.mark.parametrize("policy", [ln.Coord(), ln.Hash(), ln.Bucket()], ids=repr)
def test_a_kernel_is_called_with_few_and_with_many(policy, way):
    """What a kernel was compiled for first does not count for other sizes."""
    kernel = way(policy)
    for n, stored in ((40, 60), (3000, 12_000), (40, 60)):
        C, A, B = given(n, stored, ln.CSC, ln.CSR)
        expected = A.to_scipy() @ B.to_scipy()
        assert abs(kernel(C, A, B).to_scipy() - expected).max() == 0


def test_a_result_that_is_a_workspace_keeps_its_format():
    """How many accumulate is a matter of the kernel that writes it."""
    format = ln.workspace(2, ln.Hash())
    _, A, B = given(10_000, 40_000, ln.CSC, ln.CSR)
    kernel = ln.Kernel(outer.program)
    assert "Hash(capacity=4096)" in ln.explain(kernel, ln.empty_tensor(format), A, B)["results"]
    C = kernel(ln.empty_tensor(format), A, B)
    assert C.format.levels[0].policy == ln.Hash()
    assert abs(C.to(ln.CSR).to_scipy() - A.to_scipy() @ B.to_scipy()).max() == 0


@pytest.mark.parametrize(
    ("policy", "share", "heads"),
    [
        (ln.Hash(), 26, "max(262144, C_w_heads)"),
        (ln.Bucket(), 26, "max(C_w_cap, 1)"),
        (ln.Hash(64), 26, "max(128, C_w_heads)"),
        (ln.Bucket(length=64), 26, "max(64, C_w_heads)"),
    ],
    ids=repr,
)
def test_the_table_is_as_long_as_there_are_components(policy, share, heads):
    """L follows the capacity, which rises with what is stored; a length that is given stays.

    That of `Hash` is as long as fits a cache, and stays so: what meets does not depend on options.
    """
    A = ln.asarray(np.eye(3), format=ln.CSC)
    code = ln.insert_workspaces(outer, policy).code(ln.empty_tensor(ln.CSR), A, A.to(ln.CSR))
    assert f"C_w_cap = max(C_w_cap, grown_i64(C_w_all, 1024, {share}, C_w_fresh))" in code
    assert heads in code
