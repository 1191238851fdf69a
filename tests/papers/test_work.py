"""Sparse workspaces: the tables and worked examples of WORK, by section and number."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linnet as ln
from linnet.loops.commands import Collapse, Pos, Split
from linnet.loops.nodes import Access, Index
from linnet.normalize.classify import classify
from linnet.scheduling.provenance import original_order


def matrix(seed: int, shape: tuple[int, ...], density: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < density, rng.integers(1, 9, shape), 0).astype(float)


# -- §2.2, Figure 5 ------------------------------------------------------------------------------

FIGURE_5 = {
    "a sparse times a dense matrix": ("ij", "ij", False, 0),
    "transposition": ("ij", "ji", False, 2),
    "inner product": ("ijk", "ij", True, 0),
    "row-wise product": ("ikj", "ij", True, 1),
    "outer product": ("kij", "ij", True, 2),
    "outer product, transposed": ("kij", "ji", True, 2),
    "row-wise product, transposed": ("ikj", "ji", True, 2),
    "MTTKRP": ("klij", "ij", True, 2),
    "TTM": ("kijl", "ijl", True, 3),
    "TTM over i": ("kijl", "kjl", True, 2),
}


@pytest.mark.parametrize("name", FIGURE_5)
def test_figure_5_classification(name):
    loops, access, scatters, order = FIGURE_5[name]
    found = classify(loops, access)
    assert (found.scatters, found.order, found.sparse) == (scatters, order, order > 1)


def test_figure_5_is_told():
    C = ln.empty_tensor(ln.CSR)
    A, B = (
        ln.asarray(matrix(1, (4, 5)), format=ln.CSC),
        ln.asarray(matrix(2, (5, 6)), format=ln.CSR),
    )
    told = ln.explain(outer, C, A, B)["results"]
    assert told.startswith("C is stored by i, j; the loops run over k, i, j: scattered sparsely")


# -- §2.3, Table 1 -------------------------------------------------------------------------------


@ln.kernel
def masked(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * B[i, j]
    return C


@ln.kernel
def transposed(C, A):
    C[...] = 0
    for i, j in ...:
        C[j, i] = A[i, j]
    return C


@ln.kernel
def rows(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


@ln.kernel
def outer(C, A, B):
    C[...] = 0
    for k, i, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


def check_appending_dense():
    A, B = matrix(1, (5, 7)), matrix(2, (5, 7), 1.0)
    C = masked(ln.empty_tensor(ln.CSR), ln.asarray(A, format=ln.CSR), B)
    assert np.array_equal(C.to_numpy(), A * B)


def check_appending_sparse():
    A = matrix(1, (5, 7))
    for format in (ln.CSR, ln.CSC, ln.DCSR, ln.COO(2), ln.SRLE):
        C = transposed(ln.empty_tensor(format), ln.asarray(A, format=ln.CSR))
        assert np.array_equal(C.to_numpy(), A.T)


def check_scattering_dense():
    A, B = matrix(1, (5, 7)), matrix(2, (7, 6))
    C = outer(
        ln.empty_tensor(ln.DENSE(2)), ln.asarray(A, format=ln.CSC), ln.asarray(B, format=ln.CSR)
    )
    assert np.array_equal(C.to_numpy(), A @ B)


def check_dense_workspace():
    A, B = matrix(1, (5, 7)), matrix(2, (7, 6))
    args = ln.empty_tensor(ln.CSR), ln.asarray(A, format=ln.CSR), ln.asarray(B, format=ln.CSR)
    assert "C_w = ln.temp(ln.SparseByteMap(" in rows.loops(*args)
    assert np.array_equal(rows(*args).to_numpy(), A @ B)


def check_sparse_workspace():
    A, B = matrix(1, (50, 70), 0.01), matrix(2, (70, 60), 0.01)
    args = ln.empty_tensor(ln.DCSR), ln.asarray(A, format=ln.CSC), ln.asarray(B, format=ln.CSR)
    assert "C_w = ln.temp(ln.SparseWorkspace(2, ln.Coord()" in outer.loops(*args)
    assert np.array_equal(outer(*args).to_numpy(), A @ B)


COLUMNS = (
    check_appending_dense,
    check_appending_sparse,
    check_scattering_dense,
    check_dense_workspace,
    check_sparse_workspace,
)
TABLE_1 = {
    "SparseTIR": "+----",
    "Sparse Polyhedral Framework": "+----",
    "MLIR Sparse Dialect": "+-++-",
    "TACO with dense workspaces": "+-++-",
    "TACO with format conversion": "++---",
    "Our work": "+++++",
}


@pytest.mark.parametrize("system", TABLE_1)
def test_table_1_what_each_system_can_do(system):
    for check, can in zip(COLUMNS, TABLE_1[system], strict=True):
        if can == "+":
            check()


# -- §4.4, Table 2 -------------------------------------------------------------------------------


def by_rows(format):
    @ln.kernel
    def product(C, A, B):
        w = ln.temp(format)
        C[...] = 0
        for i in ...:
            w[...] = 0
            for k, j in ...:
                w[j] += A[i, k] * B[k, j]
            for j in ...:
                C[i, j] = w[j]
        return C

    return product


def by_slices(format):
    @ln.kernel
    def product(C, A, B):
        w = ln.temp(format)
        C[...] = 0
        for i in ...:
            ln.declare(w, 0, (A.shape[0], B.shape[1]))
            for k, j in ...:
                w[i, j] += A[i, k] * B[k, j]
            for j in ...:
                C[i, j] = w[i, j]
        return C

    return product


def by_columns(format):
    @ln.kernel
    def product(C, A, B):
        w = ln.temp(format)
        w[...] = 0
        for k, i, j in ...:
            w[i, j] += A[i, k] * B[k, j]
        C[...] = 0
        for i, j in ...:
            C[i, j] = w[i, j]
        return C

    return product


VALUE = ln.Element(0.0)
STORED = Access("A", (Index("i"), Index("k")))
TABLE_2 = {
    "Gustavson: flags and a list along j": by_rows(ln.SparseByteMap(VALUE)),
    "cuSPARSE: a hash table along j": by_rows(ln.SparseHash(VALUE)),
    "ESC: coordinates per slice of i, sorted": by_slices(ln.workspace(2, ln.Coord(capacity=50))),
    "Buluc: a heap with key (i, j)": by_columns(ln.workspace(2, ln.Heap(capacity=50))),
    "bucket sort": by_columns(ln.workspace(2, ln.Bucket(capacity=50))),
    "hash": by_columns(ln.workspace(2, ln.Hash(16, capacity=50))),
}


@pytest.mark.parametrize("name", TABLE_2)
def test_table_2_prior_workspaces(name):
    A, B = matrix(1, (20, 30)), matrix(2, (30, 25))
    first = ln.CSR if "along j" in name or "slice" in name else ln.CSC
    C = TABLE_2[name](
        ln.empty_tensor(ln.CSR), ln.asarray(A, format=first), ln.asarray(B, format=ln.CSR)
    )
    assert np.array_equal(C.to_numpy(), A @ B)
    assert C.nnz == np.count_nonzero(A @ B)


# -- §6.2, Figures 11 to 13 ----------------------------------------------------------------------


def test_input_order_is_reconstructed():
    """`{f0, f1, j} => {fpos, j} => {f, j} => {i, k, j}`."""
    split, pos, fuse = (
        Split("fpos", "f0", "f1", 4),
        Pos("f", "fpos", STORED),
        Collapse("i", "k", "f"),
    )
    steps = [("f0", "f1", "j"), ("fpos", "j"), ("f", "j"), ("i", "k", "j")]
    relations = (fuse, pos, split)
    for undone, expected in enumerate(steps):
        assert original_order(steps[0], relations[3 - undone :], {"k"}) == expected
    found = classify(original_order(steps[0], relations, {"k"}), "ji")
    assert found.input_order == ("i", "j")
    assert found.ow_order == (1, 0)
    assert not found.concordant


@ln.kernel
def transposed_product(A, B, C):
    A[...] = 0
    for i, k, j in ...:
        A[j, i] += B[i, k] * C[k, j]
    return A


def test_figures_12_and_13_agree():
    B, C = matrix(1, (30, 40), 0.05), matrix(2, (40, 20), 0.05)
    args = ln.empty_tensor(ln.DCSR), ln.asarray(B, format=ln.CSR), ln.asarray(C, format=ln.CSR)
    by_hand = ln.precompute(
        transposed_product, "B[i, k] * C[k, j]", ["i", "j"], ["i", "j"],
        ln.workspace(2, ln.Coord(), capacity=16),
    )  # fmt: skip
    inserted = ln.insert_workspaces(transposed_product, ln.Coord(), capacity=16)
    for kernel in (by_hand, inserted, transposed_product):
        assert np.array_equal(kernel(*args).to_numpy(), (B @ C).T)
        program = kernel.loops(*args)
        assert program.count("ln.temp(") == program.count("SparseWorkspace(2, ln.Coord(") == 1
    # the same loops around the same updates; where the workspace has the indices as they are
    # computed, it is stored in the order of the result
    assert ", order=(1, 0)" in by_hand.loops(*args)
    for kernel, update in ((by_hand, "w[i, j] += "), (inserted, "A_w[j, i] += ")):
        program = ln.explain(kernel, *args)["workspaces"]
        assert f"{update}B[i, k] * C[k, j]" in program
    assert _without_names(by_hand, args) == _without_names(inserted, args)


def _without_names(kernel, args):
    """The imperative code, with the names of the workspaces and their indices replaced."""
    code = kernel.code(*args)
    for old, new in (("A_w", "w"), ("A_0", "j_2"), ("A_1", "i_2")):
        code = code.replace(old, new)
    return sorted(code.splitlines())


# -- §7.4 ----------------------------------------------------------------------------------------


@ln.kernel
def mttkrp(A, B, C, D):
    A[...] = 0
    for k, l, i, j in ...:
        A[i, j] += B[k, l, i] * C[k, j] * D[l, j]
    return A


@ln.kernel
def ttm(A, B, C):
    A[...] = 0
    for k, i, j, l in ...:
        A[i, j, l] += B[k, i, j] * C[k, l]
    return A


@ln.kernel
def ttm_i(A, B, C):
    A[...] = 0
    for k, i, j, l in ...:
        A[k, j, l] += B[k, i, j] * C[i, l]
    return A


TENSORS = {
    "SpMTTKRP": (mttkrp, "kli,kj,lj->ij"),
    "SpTTM": (ttm, "kij,kl->ijl"),
    "SpTTM-I": (ttm_i, "kij,il->kjl"),
}
RESULTS = {
    2: (ln.CSR, ln.CSC, ln.DCSR, ln.COO(2), ln.DENSE(2)),
    3: (ln.CSF(3), ln.COO(3), ln.DENSE(3)),
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensor_algebra(name):
    kernel, text = TENSORS[name]
    sizes = dict(zip("ijkl", (6, 7, 5, 4), strict=True))
    inputs, output = text.split("->")
    for density, seed in itertools.product((0.02, 0.3), range(2)):
        arrays = [
            matrix(seed + 10 * n, tuple(sizes[i] for i in term), density)
            for n, term in enumerate(inputs.split(","))
        ]
        operands = [ln.asarray(a, format=ln.CSF(a.ndim)) for a in arrays]
        for format in RESULTS[len(output)]:
            found = kernel(ln.empty_tensor(format), *operands)
            assert np.array_equal(found.to_numpy(), np.einsum(text, *arrays))
