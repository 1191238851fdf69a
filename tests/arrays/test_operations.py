"""Operations on arrays, eager and lazy, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import linnet as ln
from linnet.arrays import apply, broadcast_to, compute, contract, fuse, lazy, permute, reduce, view
from linnet.arrays.lazy import Lazy
from linnet.errors import ArgumentError, IndexBoundsError, KernelSyntaxError, ShapeError
from linnet.formats.tensor import Tensor

RNG = np.random.default_rng(7)
MATRICES = [ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.DENSE, ln.RLE, ln.BAND]


def sample(*shape: int, density: float = 0.4) -> np.ndarray:
    values = RNG.integers(1, 9, shape).astype(float)
    return np.where(RNG.random(shape) < density, values, 0.0)


A, B = sample(5, 6), sample(5, 6)


def same(found: object, want: object) -> None:
    assert isinstance(found, Tensor)
    got, want = found.to_numpy(), np.asarray(want)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-12)


def both(operation, x: Tensor, want: object) -> None:
    """The same result eagerly and lazily."""
    same(operation(x), want)
    noted = operation(lazy(x))
    assert isinstance(noted, Lazy)
    assert noted.shape == np.shape(want)
    same(compute(noted), want)


@pytest.mark.parametrize("format", MATRICES, ids=repr)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "subtract", "less"])
def test_maps(format, name):
    x, y = ln.asarray(A, format=format), ln.asarray(B, format=format)
    both(lambda t: apply(name, t, y), x, getattr(np, name)(A, B))
    both(lambda t: apply(name, t, B), x, getattr(np, name)(A, B))


def test_results_keep_the_kind_of_format():
    a = ln.asarray(A, format=ln.CSR)
    assert apply("add", a, a).format.name == "CSR"
    assert apply("add", a, ln.asarray(B, format=ln.CSR)).format.name == "CSR"
    assert apply("multiply", a, np.arange(6.0)).format.name == "CSR"
    assert apply("add", a, 1).format.name == "CSR"
    assert apply("add", a, 1).fill_value == 1
    assert apply("add", a, B).format.name == "DENSE(2)"
    coo = ln.asarray(A, format=ln.COO)
    assert apply("multiply", coo, 2).format.name == "COO(2)"
    assert apply("add", a, 1, format=ln.DENSE).format.name == "DENSE(2)"
    assert reduce("add", a, 0).format.name == "DENSE(1)"


@pytest.mark.parametrize("format", [ln.SYMMETRIC, ln.SYMMETRIC_TILES], ids=repr)
def test_one_half_of_a_matrix_gives_results_that_kernels_write(format):
    square = np.tril(sample(6, 6))
    square += np.tril(square, -1).T
    x = ln.asarray(square, format=format)
    both(lambda t: t + t, x, square + square)
    both(lambda t: t * x.to(ln.CSR), x, square * square)
    both(lambda t: t * 2, x, square * 2)
    both(lambda t: t < x, x, square < square)
    both(lambda t: t[::-1, ::-2], x, square[::-1, ::-2])
    assert apply("add", x, x).format.name == "DCSR"


@pytest.mark.parametrize("format", MATRICES, ids=repr)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), ()])
def test_reductions(format, axis):
    x = ln.asarray(A, format=format)
    both(lambda t: reduce("add", t, axis), x, A.sum(axis=axis))
    both(lambda t: reduce("maximum", t, axis, keepdims=True), x, A.max(axis=axis, keepdims=True))
    low = ln.asarray(-A, format=format)
    both(lambda t: reduce("maximum", t, axis), low, (-A).max(axis=axis))


@pytest.mark.parametrize("format", MATRICES, ids=repr)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_what_is_not_stored_takes_part_in_reductions(format, axis):
    x = ln.asarray(A + 1, format=format, fill_value=1)
    both(lambda t: reduce("add", t, axis), x, (A + 1).sum(axis=axis))
    both(lambda t: reduce("multiply", t, axis), x, (A + 1).prod(axis=axis))
    half = ln.asarray(A + 2, format=format, fill_value=2)
    both(lambda t: reduce("multiply", t, axis), half, (A + 2).prod(axis=axis))
    both(lambda t: reduce("minimum", t, axis), half, (A + 2).min(axis=axis))


def test_dtypes_of_reductions():
    x = ln.asarray(A.astype(np.int8), format=ln.CSR)
    same(reduce("add", x), A.astype(np.int8).sum())
    same(reduce("add", x, 0, dtype="float32"), A.astype(np.int8).sum(0, dtype=np.float32))
    same(reduce("maximum", x, 0), A.astype(np.int8).max(0))
    same(reduce("logical_or", ln.asarray(A > 3, format=ln.CSR), 0), (A > 3).any(0))


SLICES = [
    np.s_[1:4],
    np.s_[:, 1:5:2],
    np.s_[2],
    np.s_[:, 3],
    np.s_[None, ..., 1],
    np.s_[::-1],
    np.s_[:, ::-2],
    np.s_[4:1:-2, 1:],
    np.s_[3:3],
    np.s_[1, 2],
    np.s_[...],
    np.s_[-2:, -3:-1],
    np.s_[:, None, 2:],
]


@pytest.mark.parametrize("format", MATRICES, ids=repr)
@pytest.mark.parametrize("index", SLICES, ids=str)
def test_slices(format, index):
    both(lambda t: view(t, index), ln.asarray(A, format=format), A[index])


def test_slices_inside_expressions():
    x = lazy(ln.asarray(A, format=ln.CSR))
    y = apply("add", view(x, np.s_[:, 1:]), view(x, np.s_[:, :-1]))
    same(compute(y), A[:, 1:] + A[:, :-1])
    same(compute(view(y, np.s_[1:4, ::2])), (A[:, 1:] + A[:, :-1])[1:4, ::2])


@pytest.mark.parametrize("format", MATRICES, ids=repr)
def test_contractions(format):
    x, y = ln.asarray(A, format=format), ln.asarray(B, format=format)
    both(lambda t: contract("ij,kj->ik", t, y), x, A @ B.T)
    both(lambda t: contract("ij,j->i", t, np.arange(6.0)), x, A @ np.arange(6.0))
    both(lambda t: contract("ij,ij->", t, y), x, np.sum(A * B))
    both(lambda t: contract("...i->...", t), x, A.sum(-1))
    square = ln.asarray(A[:, :5], format=format)
    both(lambda t: contract("ii->i", t), square, np.diag(A[:, :5]))
    both(lambda t: permute(t, (1, 0)), x, A.T)


def test_semirings():
    d = np.array([0.0, 2.0, 5.0, np.inf, 1.0])
    g = np.where(A[:, :5] == 0, np.inf, A[:, :5])
    x = ln.asarray(g, format=ln.CSR, fill_value=np.inf)
    semiring = ("minimum", "add")
    same(contract("i,ij->j", d, x, semiring=semiring), np.min(d[:, None] + g, axis=0))


def test_broadcasting():
    both(lambda t: broadcast_to(t, (3, 6)), ln.asarray(A[0]), np.broadcast_to(A[0], (3, 6)))
    column = ln.asarray(A[:, :1], format=ln.CSR)
    both(lambda t: apply("add", t, A), column, A[:, :1] + A)


def test_a_fused_chain():
    """Counts per row, scaled, then means and variances of columns."""

    @fuse
    def statistics(x):
        y = apply("log1p", apply("multiply", x, apply("divide", 10.0, reduce("add", x, 1, True))))
        mean = apply("divide", reduce("add", y, 0), 5)
        apart = apply("subtract", y, mean)
        return mean, apply("divide", reduce("add", apply("square", apart), 0), 5)

    with np.errstate(invalid="ignore", divide="ignore"):
        want = np.nan_to_num(np.log1p(A * (10.0 / A.sum(1, keepdims=True))))
    mean, variance = statistics(sp.csr_array(A))
    same(mean, want.mean(0))
    same(variance, want.var(0))


@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE], ids=repr)
def test_what_is_used_again_and_again_is_not_written_out_each_time(format):
    x, want = lazy(ln.asarray(A, format=format)), A
    for _ in range(30):
        x, want = x * 0.5 + x, want * 0.5 + want
    same(compute(x), want)
    assert sum(name.startswith("code") for name in x.explain().stages) < 15


def test_a_lazy_array_is_neither_true_nor_false():
    @fuse
    def positive(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(ArgumentError, match="not known before it is computed"):
        positive(ln.asarray(-A, format=ln.CSR))


@pytest.mark.parametrize("depth", [260, 3000])
def test_what_is_nested_too_deeply_is_refused(depth):
    x = lazy(ln.asarray(A, format=ln.CSR))
    for _ in range(depth):
        x = apply("sin", x)
    with pytest.raises(ArgumentError, match="nested too deeply"):
        compute(x)


def test_an_equation_is_a_string():
    with pytest.raises(ArgumentError, match="an equation is a string, not 5"):
        ln.einsum(5)


def test_nested_reductions():
    cube = sample(3, 4, 5)
    x = lazy(ln.asarray(cube, format=ln.CSF))
    inner = reduce("minimum", reduce("maximum", x, 2), 1)
    same(compute(reduce("maximum", inner, 0)), cube.max(2).min(1).max(0))


def test_bad_input():
    x = ln.asarray(A, format=ln.CSR)
    with pytest.raises(ShapeError, match="do not fit together"):
        apply("add", x, np.ones(4))
    with pytest.raises(ArgumentError, match="not a function"):
        apply("no such thing", x)
    with pytest.raises(ArgumentError, match="takes 2 arguments"):
        apply("add", x)
    with pytest.raises(ShapeError, match="no axis 2"):
        reduce("add", x, 2)
    with pytest.raises(ArgumentError, match="has no identity"):
        reduce("subtract", x, 0)
    with pytest.raises(ShapeError, match="no maximum of no elements"):
        reduce("maximum", view(x, np.s_[:0]), 0)
    with pytest.raises(IndexBoundsError, match="outside dimension 1"):
        view(x, (0, 6))
    with pytest.raises(IndexBoundsError, match="3 indices for 2"):
        view(x, (0, 0, 0))
    with pytest.raises(KernelSyntaxError, match="no operand has the index `z`"):
        contract("ij->iz", x)
    with pytest.raises(ShapeError, match="`j` is 6 and 5"):
        contract("ij,jk->ik", x, x)


def kernels(noted: Lazy) -> int:
    """How many kernels would compute a lazy array."""
    return ln.explain(noted)["plan"].count("\nkernel ")


def test_long_contractions_are_broken_up_where_that_is_less():
    n = 60
    a, b, c = (sample(n, n, density=0.2) for _ in range(3))
    x, y, z = (lazy(ln.asarray(m, format=ln.CSR)) for m in (a, b, c))
    chain = contract("ij,jk,kl->il", x, y, z)
    assert kernels(chain) == 2
    same(compute(chain), a @ b @ c)
    tensor, left, right = sample(8, 9, 10), sample(9, 4, density=1), sample(10, 4, density=1)
    args = [lazy(ln.asarray(tensor, format=ln.CSF)), left, right]
    product = contract("ikl,kj,lj->ij", *args)  # a tensor times two dense factors stays one nest
    assert kernels(product) == 1
    same(compute(product), np.einsum("ikl,kj,lj->ij", tensor, left, right))


def test_operands_are_stored_otherwise_where_that_pays():
    n = 200
    a, b = sample(n, n, density=0.05), sample(n, n, density=0.05)
    x, y = ln.asarray(a, format=ln.CSR), ln.asarray(b, format=ln.CSR)
    product = contract("ij,kj->ik", lazy(x), y)
    assert "is first stored as" in ln.explain(product)["plan"]
    same(compute(product), a @ b.T)
    assert compute(product).format.name in ("CSR", "CSC")


def test_several_results_of_one_traversal():
    x = lazy(ln.asarray(A, format=ln.CSR))
    sums, squares, largest = reduce("add", x, 0), reduce("add", x * x, 0), reduce("maximum", x, 1)
    found = compute(sums, squares, largest)
    same(found[0], A.sum(0))
    same(found[1], (A * A).sum(0))
    same(found[2], A.max(1))


def test_numbers_are_not_compiled_in():
    x = ln.asarray(A, format=ln.CSR)
    for number in (2.0, 3.0, 1e300):
        same(apply("multiply", x, number), A * number)
        same(apply("less", x, number), number > A)
        same(apply("greater", x, -number), -number < A)
        same(apply("add", ln.asarray(A), number), A + number)
    assert apply("less", x, 1).fill_value is True
    assert apply("less", x, 0).fill_value is False


def test_large_dense_results_are_refused():
    shape = (2**20, 2**20)
    x = ln.tensor([[5], [7]], [2.0], shape, format=ln.COO)
    row = ln.tensor([[1]], [1.0], (2**20,), format=ln.DENSE)
    with pytest.raises(MemoryError, match="elements densely, and no operand does"):
        apply("add", x, row)
    assert apply("add", x, 1).fill_value == 1  # the fill value changes instead
    assert reduce("add", x, 0).nnz == 1
    assert contract("ij,j->i", x, row).nnz <= 1


def test_a_tensor_may_be_read_in_two_orders():
    x = ln.asarray(A[:, :5], format=ln.CSR)
    both(lambda t: apply("add", t, permute(t, (1, 0))), x, A[:, :5] + A[:, :5].T)
    both(lambda t: contract("ik,jk->ij", t, t), ln.asarray(A, format=ln.CSR), A @ A.T)
    large = sample(80, 80, density=0.05)
    product = contract("ik,jk->ij", lazy(ln.asarray(large, format=ln.CSR)), large.T.copy().T)
    same(compute(product), large @ large.T)
    held = np.eye(5)[[2, 0, 1, 4, 3]]
    permutation = ln.asarray(held.astype(bool), format=ln.PERM)
    both(lambda t: apply("add", x, permute(t, (1, 0))), permutation, A[:, :5] + held.T)


def test_a_level_of_two_dimensions_over_one_that_holds_a_run():
    array = np.zeros((2, 3, 2, 3))
    array[1, 2, 0, 1:] = 4
    x = ln.asarray(array, format=ln.Dense(ln.SparseCOO(2, ln.SparseInterval(ln.Element()))))
    for axis in (None, 0, 1, 2, 3):
        assert np.array_equal(ln.sum(x, axis=axis).to_numpy(), array.sum(axis))


@pytest.mark.parametrize("format", MATRICES, ids=repr)
def test_any_and_all_end_early(format):
    for held in (A > 5, A > 0, A >= 0, A < 0):
        x = ln.asarray(held, format=format)
        for axis in (None, 0, 1):
            both(lambda t, a=axis: reduce("logical_or", t, a), x, held.any(axis=axis))
            both(lambda t, a=axis: reduce("logical_and", t, a), x, held.all(axis=axis))
    x = lazy(ln.asarray(A > 5, format=ln.CSR))
    assert "break" in ln.explain(reduce("logical_or", x, 1))["code"]


def test_fused_functions_return_arrays_in_any_container():
    @ln.fuse
    def parts(x):
        return {"more": x + 1, "rest": (x.sum(), [x * 2], 3)}

    found = parts(np.eye(2))
    assert found["more"].to_numpy().tolist() == [[2, 1], [1, 2]]
    total, (twice,), number = found["rest"]
    assert (total.item(), number) == (2, 3)
    assert twice.to_numpy().tolist() == [[2, 0], [0, 2]]


def test_what_cannot_be_explained():
    with pytest.raises(ln.errors.ArgumentError, match="int objects cannot be explained"):
        ln.explain(3)


def test_runs_stay_runs_where_nothing_changes_inside_of_them():
    picture = np.repeat(np.arange(12.0).reshape(3, 4), 5, axis=1)
    dense = np.random.default_rng(0).random(picture.shape)
    runs, few = ln.asarray(picture, format=ln.RLE), ln.asarray(picture, format=ln.SRLE)
    both = ln.asarray(picture, format=ln.RunList(ln.RunList(ln.Element())))
    for made, format, expected in (
        (runs * 2, "RLE", picture * 2),
        (runs * runs + runs, "RLE", picture**2 + picture),
        (runs * dense[:, :1], "RLE", picture * dense[:, :1]),
        (few * 2, "SRLE", picture * 2),
        (runs * dense, "DENSE(2)", picture * dense),
        (runs * dense[0], "DENSE(2)", picture * dense[0]),
        (both * dense, "DENSE(2)", picture * dense),
        (runs.T * dense.T, "DENSE(2)", picture.T * dense.T),
        (few * dense, "CSR", picture * dense),
        (runs * ln.asarray(np.eye(3, 20), format=ln.CSR), "CSR", picture * np.eye(3, 20)),
    ):
        assert made.format.name == format
        np.testing.assert_array_equal(made.to_numpy(), expected)


@pytest.mark.parametrize("format", [ln.CSR, ln.SRLE, ln.COO(2)], ids=str)
@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_sums_of_many_narrow_integers(format, dtype):
    many = [sample(3, 8).astype(dtype) for _ in range(4)]
    first, *rest = (lazy(ln.asarray(x, format=format)) for x in many)
    for x in rest:
        first = first + x
    made = compute(first)
    np.testing.assert_array_equal(made.to_numpy(), sum(many))
    assert made.dtype == dtype
