"""Reductions under a mask: what a mask drops is not computed, and no product is stored."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.arrays import contract, describe
from linnet.arrays.evaluate import planned
from linnet.formats.named import as_format

SIZES = (7, 9, 8)
BY_ROWS = ("CSR", "DCSR", "COO", "BYTEMAP")
FORMATS = {
    "CSR": ln.CSR,
    "DCSR": ln.DCSR,
    "COO": ln.COO(2),
    "CSC": ln.CSC,
    "DENSE": ln.DENSE(2),
    "RLE": ln.RLE,
    "BYTEMAP": as_format(ln.Dense(ln.SparseByteMap(ln.Element()))),
}
CASES = [
    *[("CSR", "CSR", mask) for mask in FORMATS],
    *[("CSR", right, "DCSR") for right in FORMATS],
    *[(left, "COO", "CSR") for left in ("COO", "CSC", "DENSE", "RLE")],
]


def drawn(rng, shape, fill=0.0, dtype="float64", density=0.4):
    """Small integers, so that sums are exact in any order."""
    values = rng.integers(1, 5, shape).astype(dtype)
    return np.where(rng.random(shape) < density, values, np.asarray(fill, dtype)).astype(dtype)


def kernels(*arrays):
    """How many kernels compute lazy arrays."""
    return len(planned([a.node for a in arrays], [None] * len(arrays), [])[0].steps)


def explained(*arrays):
    """The plan of lazy arrays."""
    return describe.explained([a.node for a in arrays])["plan"]


def operands(rng, left, right, mask, fills=(0.0, 0.0, 0.0), dtype="float64"):
    n, m, p = SIZES
    dense = [drawn(rng, shape, fill, dtype) for shape, fill in
             zip(((n, m), (m, p), (n, p)), fills, strict=True)]  # fmt: skip
    dense[2][2] = fills[2]  # a row of the mask is empty
    lazy = [ln.lazy(ln.asarray(d, format=FORMATS[f].with_fill(fill)))
            for d, f, fill in zip(dense, (left, right, mask), fills, strict=True)]  # fmt: skip
    return dense, lazy


PATTERNS = {
    "lists": ln.Dense(ln.SparseList(ln.Pattern())),
    "lists of lists": ln.SparseList(ln.SparseList(ln.Pattern())),
    "coordinates": ln.SparseCOO(2, ln.Pattern()),
    "maps": ln.Dense(ln.SparseByteMap(ln.Pattern())),
    "runs": ln.Dense(ln.SparseRunList(ln.Pattern())),
}


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("mask", PATTERNS)
def test_a_pattern_stores_something_though_what_it_holds_is_a_constant(mask, backend):
    (a, b, m), (A, B, _) = operands(np.random.default_rng(2), "CSR", "CSR", "CSR")
    m = m > 2
    M = ln.lazy(ln.asarray(m, format=PATTERNS[mask]))
    with ln.config(backend=backend):
        product, chosen = ln.compute((A @ B) * M, ln.where(M, A @ B, -1.0))
        counted = ln.compute(ln.sum(M + 1, axis=0))
    np.testing.assert_array_equal(product.to_numpy(), (a @ b) * m)
    np.testing.assert_array_equal(chosen.to_numpy(), np.where(m, a @ b, -1.0))
    np.testing.assert_array_equal(counted.to_numpy(), (m + 1).sum(0))


@pytest.mark.parametrize(("left", "right", "mask"), CASES)
def test_all_formats(left, right, mask):
    (a, b, m), (A, B, M) = operands(np.random.default_rng(1), left, right, mask)
    product, total = ln.compute((A @ B) * M, ((A @ B) * M).sum())
    np.testing.assert_array_equal(product.to_numpy(), (a @ b) * m)
    assert total.item() == ((a @ b) * m).sum()
    np.testing.assert_array_equal(ln.compute((M * (A @ B)).sum(0)).to_numpy(), ((a @ b) * m).sum(0))


@pytest.mark.parametrize("mask", BY_ROWS)
@pytest.mark.parametrize("right", BY_ROWS)
def test_is_one_kernel(right, mask):
    _, (A, B, M) = operands(np.random.default_rng(2), "CSR", right, mask)
    assert kernels((A @ B) * M) == 1
    assert kernels(((A @ B) * M).sum()) == 1


RINGS = {
    "min plus": (ln.minimum, ln.add, np.inf, lambda s, m: np.where(m, s, np.inf)),
    "max plus": (ln.maximum, ln.add, -np.inf, lambda s, m: np.where(m, s, -np.inf)),
    "or and": (ln.logical_or, ln.logical_and, False, lambda s, m: s & m),
}


@pytest.mark.parametrize("ring", RINGS)
def test_semirings(ring):
    plus, times, fill, expected = RINGS[ring]
    dtype = "bool" if fill is False else "float64"
    rng = np.random.default_rng(3)
    (a, b, _), (A, B, _) = operands(rng, "CSR", "CSR", "CSR", (fill, fill, 0.0), dtype)
    m = drawn(rng, (SIZES[0], SIZES[2]), False, "bool")
    M = ln.lazy(ln.asarray(m, format=ln.CSR))
    product = contract("ij,jk->ik", A, B, semiring=ln.semiring(plus, times))
    masked = product & M if fill is False else ln.where(M, product, fill)
    assert kernels(masked) == 1
    products = {"add": np.add, "logical_and": np.logical_and}[times.name](a[:, :, None], b[None])
    folded = {"minimum": np.min, "maximum": np.max, "logical_or": np.any}[plus.name](products, 1)
    np.testing.assert_array_equal(ln.compute(masked).to_numpy(), expected(folded, m))


def test_any_function_that_annihilates():
    @ln.function(annihilator={0: "m"})
    def kept(x, m):
        return x * 2 + m if m != 0 else 0.0

    (a, b, m), (A, B, M) = operands(np.random.default_rng(4), "CSR", "CSR", "DCSR")
    found = kept(A @ B, M)
    assert kernels(found) == 1
    expected = np.where(m != 0, (a @ b) * 2 + m, 0.0)
    np.testing.assert_array_equal(ln.compute(found).to_numpy(), expected)


def test_two_masks_are_one():
    (a, b, m), (A, B, M) = operands(np.random.default_rng(5), "CSR", "CSR", "CSR")
    n = drawn(np.random.default_rng(6), m.shape)
    N = ln.lazy(ln.asarray(n, format=ln.CSR))
    either = (A @ B) * (M + N)
    assert kernels(either) == 1
    assert "only where C or D stores something" in either.explain()["plan"]
    np.testing.assert_array_equal(ln.compute(either).to_numpy(), (a @ b) * (m + n))


def test_two_products_under_one_mask():
    (a, b, m), (A, B, M) = operands(np.random.default_rng(12), "CSR", "CSR", "CSR")
    c, C = b[:, ::-1].copy(), ln.lazy(ln.asarray(b[:, ::-1], format=ln.CSR))
    found = (A @ B) * (A @ C) * M
    plan = found.explain()["plan"]
    assert kernels(found) == 1
    assert plan.count("only where D stores something") == 2
    np.testing.assert_array_equal(ln.compute(found).to_numpy(), (a @ b) * (a @ c) * m)


def test_more_than_the_product():
    (a, b, m), (A, B, M) = operands(np.random.default_rng(7), "CSR", "CSR", "CSR")
    n = drawn(np.random.default_rng(8), m.shape, 1.0)
    N = ln.lazy(ln.asarray(n, format=ln.CSR, fill_value=1.0))
    found = (A @ B) * M + N
    assert kernels(found) == 1
    np.testing.assert_array_equal(ln.compute(found).to_numpy(), (a @ b) * m + n)
    np.testing.assert_array_equal(ln.compute(found.sum(0)).to_numpy(), ((a @ b) * m + n).sum(0))
    row = (A @ B) * ln.lazy(ln.asarray(m[3], format=ln.CSF(1)))
    assert kernels(row) == 1
    np.testing.assert_array_equal(ln.compute(row).to_numpy(), (a @ b) * m[3])


def test_slices_and_transposes_of_products():
    (a, b, m), (A, B, M) = operands(np.random.default_rng(9), "CSR", "CSR", "CSR")
    for found, expected in (
        ((A @ B)[1:4] * M[2:5], (a @ b)[1:4] * m[2:5]),
        ((A @ B)[:, 1:4] * M[:, 2:5], (a @ b)[:, 1:4] * m[:, 2:5]),
        ((A @ B)[::2, ::-1] * M[::2], (a @ b)[::2, ::-1] * m[::2]),
        ((A @ B).T * M.T, (a @ b).T * m.T),
        ((A @ B)[3] * M[3], (a @ b)[3] * m[3]),
        ((A @ B)[:, 3] * M[:, 3], (a @ b)[:, 3] * m[:, 3]),
        ((A @ B)[:, None] * M[:, None], (a @ b)[:, None] * m[:, None]),
    ):
        np.testing.assert_array_equal(ln.compute(found).to_numpy(), expected)


def test_what_is_shared_is_computed_once():
    (a, b, m), (A, B, M) = operands(np.random.default_rng(10), "CSR", "CSR", "CSR")
    product = A @ B
    sums = (product * M).sum(0), (product * M).sum(1), product * product
    assert kernels(*sums) == 2  # the product, then all of them
    assert ln.explain(sums[0])["plan"].count("a row of") == 1
    made = [x.to_numpy() for x in ln.compute(*sums)]
    np.testing.assert_array_equal(made[0], ((a @ b) * m).sum(0))
    np.testing.assert_array_equal(made[1], ((a @ b) * m).sum(1))
    np.testing.assert_array_equal(made[2], (a @ b) ** 2)


def test_stored_zeros_of_a_mask_count_as_stored():
    A = ln.asarray([[1.0, np.inf], [0.0, 2.0]], format=ln.CSR)
    M = ln.tensor([[0, 0, 1], [0, 1, 0]], [0.0, 3.0, 5.0], (2, 2), format=ln.CSR)
    lazy = ln.lazy(A)
    found = ln.compute((lazy @ lazy) * ln.lazy(M))
    assert found.nnz == 2
    np.testing.assert_array_equal(found.to_numpy(), [[0.0, np.inf], [0.0, 0.0]])


def test_explain_says_so():
    _, (A, B, M) = operands(np.random.default_rng(11), "CSR", "CSR", "CSR")
    plan = ((A @ B) * M).explain()["plan"]
    assert "t, a row of add-reduce, is computed only where C stores something" in plan
    by_columns = ln.lazy(ln.compute(B).to(ln.CSC))
    assert "a row of" not in ((A @ by_columns) * M).explain()["plan"]


def test_what_is_long_and_empty_is_not_unpacked():
    n = 10**9
    A = ln.lazy(ln.tensor([[1, 5], [5, 7]], [2.0, 3.0], (n, n), format=ln.DCSR))
    found = ln.compute((A @ A) * ln.lazy(ln.tensor([[1], [7]], [4.0], (n, n), format=ln.DCSR)))
    assert found.nnz == 1
    assert found[1, 7].item() == 24.0


def test_what_is_masked_and_used_again_is_kept_in_the_place_of_the_product():
    (a, b, m), (A, B, M) = operands(np.random.default_rng(11), "CSR", "CSR", "CSR")
    P = (A @ B) * M
    sums = P.sum(0), P.sum(1), P + P
    assert explained(*sums).count("is computed only where") == 1
    made = [x.to_numpy() for x in ln.compute(*sums)]
    want = (a @ b) * m
    for got, expected in zip(made, (want.sum(0), want.sum(1), want + want), strict=True):
        np.testing.assert_array_equal(got, expected)
    with_itself = ln.compute(P, P.sum())
    np.testing.assert_array_equal(with_itself[0].to_numpy(), want)
    assert with_itself[1].item() == want.sum()


# -- contractions of several factors ---------------------------------------------------------------


def test_a_result_may_have_the_name_of_what_is_kept():
    rng = np.random.default_rng(18)
    a, b, c = (drawn(rng, (30, 30), density=0.3) for _ in range(3))
    A, B, C = (ln.asarray(x, format=ln.CSR) for x in (a, b, c))
    got = ln.einsum("R[i,l] = A[i,j] * B[j,k] * C[k,l]", A=A, B=B, C=C)  # A @ B is kept, as R
    np.testing.assert_array_equal(got.to_numpy(), a @ b @ c)
    total = ln.einsum("R = A[j,i] * B[i,j] * A[i,k] * C[k,j]", A=A, B=B, C=C)
    assert total.item() == np.einsum("ji,ij,ik,kj->", a, b, a, c)


EQUATIONS = ["ij,ik,kj->ij", "ik,kj,ij->ij", "ij,ik,kj->", "ij,ik,kj->j", "ij,ij,ik,kj->ij",
             "ij,ik,kj,j->ij", "ij,ik,kl,lj->ij", "ji,ik,kj->ij", "ij,ik,jk->ij",
             "ij,ik,kj->ik"]  # fmt: skip


def several(rng, subscripts, fill=0.0, dtype="float64"):
    """Arrays of the sizes that subscripts say, and how they are stored: by rows, the last dense."""
    sizes = {"i": 40, "j": 35, "k": 45, "l": 30}
    terms = subscripts.split("->")[0].split(",")
    arrays = [drawn(rng, tuple(sizes[c] for c in t), fill, dtype, density=0.2) for t in terms]
    stored = [ln.asarray(x, format=(ln.CSR.with_fill(fill) if x.ndim == 2 else None))
              for x in arrays]  # fmt: skip
    return arrays, stored


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool"])
@pytest.mark.parametrize("subscripts", EQUATIONS)
def test_a_factor_of_a_contraction_is_a_mask(subscripts, dtype):
    arrays, stored = several(np.random.default_rng(12), subscripts, dtype=dtype)
    with np.errstate(over="ignore"):
        want = np.einsum(subscripts, *arrays)
    got = ln.einsum(subscripts, *stored)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.to_numpy(), want)


@pytest.mark.parametrize("subscripts", ["ij,ik,kj->ij", "ij,ik,kj->", "ij,ik,kl,lj->ij"])
def test_masks_of_contractions_are_used(subscripts):
    _, stored = several(np.random.default_rng(13), subscripts)
    assert "is computed only where" in explained(contract(subscripts, *map(ln.lazy, stored)))
    names, result = "MABC"[: len(stored)], subscripts.split("->")[1]
    terms = subscripts.split("->")[0].split(",")
    text = " * ".join(f"{n}[{','.join(t)}]" for n, t in zip(names, terms, strict=True))
    target = f"R[{','.join(result)}]" if result else "R"
    made = ln.einsum(f"{target} = {text}", **dict(zip(names, map(ln.lazy, stored), strict=True)))
    assert "is computed only where" in explained(made)
    np.testing.assert_array_equal(
        made.compute().to_numpy(), np.einsum(subscripts, *[s.to_numpy() for s in stored])
    )


def test_what_is_stored_by_columns_or_densely_is_no_reason_for_rows():
    rng = np.random.default_rng(14)
    (m, a, b), (M, A, B) = several(rng, "ij,ik,kj->ij")
    for right in (B.to(ln.CSC), ln.asarray(b)):
        made = contract("ij,ik,kj->ij", ln.lazy(M), ln.lazy(A), ln.lazy(right))
        assert "is computed only where" not in explained(made)
        np.testing.assert_array_equal(made.compute().to_numpy(), m * (a @ b))


def test_a_fill_value_that_takes_part_makes_no_mask():
    rng = np.random.default_rng(15)
    (m, a, b), (M, A, B) = several(rng, "ij,ik,kj->ij", fill=1.0)
    got = ln.einsum("ij,ik,kj->ij", M, A, B)
    np.testing.assert_array_equal(got.to_numpy(), m * (a @ b))


def test_masks_over_other_semirings():
    rng = np.random.default_rng(16)
    (m, a, b), stored = several(rng, "ij,ik,kj->ij", fill=np.inf)
    made = contract("ij,ik,kj->ij", *map(ln.lazy, stored), semiring=("minimum", "add"))
    assert "is computed only where" in explained(made)
    want = m + (a[:, :, None] + b[None]).min(1)
    np.testing.assert_array_equal(made.compute().to_numpy(), want)


@pytest.mark.parametrize("order", ["ABC", "CAB", "BCA", "ACB"])
def test_factors_of_several_dtypes_are_multiplied_in_that_of_the_product(order):
    rng = np.random.default_rng(17)
    arrays = {n: drawn(rng, (20, 20), 0, d) * 20 for n, d in zip("ABC", ("int8", "int8", "f8"),
              strict=True)}  # fmt: skip
    terms = {"A": "ij", "B": "jk", "C": "kl"}
    subscripts = ",".join(terms[n] for n in order) + "->il"
    got = ln.einsum(subscripts, *[ln.asarray(arrays[n], format=ln.CSR) for n in order])
    want = np.einsum(subscripts, *[arrays[n] for n in order])
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.to_numpy(), want)
    text = "R[i,l] = " + " * ".join(f"{n}[{','.join(terms[n])}]" for n in "CAB")
    named = {n: ln.asarray(arrays[n], format=ln.CSR) for n in "ABC"}
    np.testing.assert_array_equal(ln.einsum(text, **named).to_numpy(), want)
