"""Every loop order of a program into every format of the result, against NumPy.

Nothing is said about workspaces: whatever order the loops have, and however the result is stored,
the answer is the same. Sizes are chosen so that dense and sparse workspaces both come about.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Sequence

import numpy as np
import pytest

import linnet as ln
from linnet.errors import DiscordanceWarning, FormatError
from linnet.formats.named import stack
from linnet.frontend.text import parse_text

E = ln.Element
MATRICES = {
    "CSR": ln.CSR,
    "CSC": ln.CSC,
    "DCSR": ln.DCSR,
    "DCSC": ln.DCSC,
    "COO": ln.COO(2),
    "SRLE": ln.SRLE,
    "RLE": ln.RLE,
    "BLOCK": ln.BLOCK,
    "hashed": stack(ln.SparseHash(ln.SparseHash(E()))),
    "workspace": ln.workspace(2, ln.Hash()),
    "DENSE": ln.DENSE(2),
}
TENSORS = {
    "CSF": ln.CSF(3),
    "CSF order": ln.CSF(3).with_order(2, 0, 1),
    "COO": ln.COO(3),
    "hashed": stack(ln.SparseHash(ln.SparseHash(ln.SparseHash(E())))),
    "runs": stack(ln.Dense(ln.SparseList(ln.SparseRunList(E())))),
    "DENSE": ln.DENSE(3),
}
FOUR = {
    "CSF": ln.CSF(4),
    "CSF order": ln.CSF(4).with_order(3, 1, 0, 2),
    "COO": ln.COO(4),
    "hashed": stack(ln.SparseHash(ln.SparseHash(ln.SparseHash(ln.SparseHash(E()))))),
    "runs": stack(ln.Dense(ln.SparseList(ln.SparseList(ln.SparseRunList(E()))))),
    "workspace": ln.workspace(4),
    "DENSE": ln.DENSE(4),
}
RESULTS = {2: MATRICES, 3: TENSORS, 4: FOUR}
SIZES = {"i": 7, "j": 9, "k": 6, "l": 5, "m": 4, "p": 3, "q": 3}

# text of the update; the operands and their indices; what it means
PROGRAMS = {
    "product": ("C[i, j] += A[i, k] * B[k, j]", "ik kj -> ij"),
    "product, transposed": ("C[j, i] += A[i, k] * B[k, j]", "ik kj -> ji"),
    "A'A": ("C[i, j] += A[k, i] * B[k, j]", "ki kj -> ij"),
    "MTTKRP": ("C[i, j] += A[i, k, l] * B[k, j] * D[l, j]", "ikl kj lj -> ij"),
    "MTTKRP of order 4": ("C[i, j] += A[i, k, l, m] * B[k, j] * D[l, j]", "iklm kj lj -> ij"),
    "three": ("C[i, j] += A[i, k] * B[k, l] * D[l, j]", "ik kl lj -> ij"),
    "TTM": ("C[i, j, l] += A[i, j, k] * B[k, l]", "ijk kl -> ijl"),
    "TTM-I": ("C[k, j, l] += A[k, i, j] * B[i, l]", "kij il -> kjl"),
    "TTM-I of order 4": ("C[k, j, m, l] += A[k, i, j, m] * B[i, l]", "kijm il -> kjml"),
    "TTM of order 4": ("C[i, j, l] += A[i, j, k, m] * B[k, l]", "ijkm kl -> ijl"),
    "TTM into order 4": ("C[i, j, m, l] += A[i, j, k, m] * B[k, l]", "ijkm kl -> ijml"),
}


def data(shape: tuple[int, ...], seed: int, density: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < density, rng.integers(1, 5, shape), 0).astype(float)


def kernel_of(update: str, order: Sequence[str], init: object = 0) -> ln.Kernel:
    return ln.Kernel(parse_text(f"C[...] = {init}\nfor {', '.join(order)} in ...:\n    {update}"))


def combinations(name: str) -> list[tuple[tuple[str, ...], str]]:
    """Loop orders and formats of the result."""
    inputs, _, output = PROGRAMS[name][1].rpartition(" -> ")
    orders = itertools.permutations(sorted(set(inputs) - {" "}))
    return list(itertools.product(orders, RESULTS[len(output)]))


def check(name: str, chosen: list[tuple[tuple[str, ...], str]], densities: list[float]) -> None:
    """Run a program in these orders, into these formats; each is compiled once for all operands."""
    update, text = PROGRAMS[name]
    inputs, _, output = text.rpartition(" -> ")
    terms, formats = inputs.split(), RESULTS[len(output)]
    given = []
    for density in densities:
        arrays = [data(tuple(SIZES[i] for i in t), n, density) for n, t in enumerate(terms)]
        expected = np.einsum(f"{','.join(terms)}->{output}", *arrays)
        given.append(([ln.asarray(a, format=ln.CSF(a.ndim)) for a in arrays], expected))
    for order, label in chosen:
        kernel = kernel_of(update, order)
        for operands, expected in given:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiscordanceWarning)
                C = kernel(ln.empty_tensor(formats[label]), *operands)
            assert np.array_equal(C.to_numpy(), expected), (order, label)


@pytest.mark.parametrize("density", [0.05, 0.5])
@pytest.mark.parametrize("name", PROGRAMS)
def test_some_orders_and_formats(name, density):
    check(name, random.Random(name).sample(combinations(name), 5), [density])


def parts(name: str) -> int:
    """In how many tests the combinations of a program are tried: each ends within a minute."""
    return -(-len(combinations(name)) // 30)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part"), [(name, part) for name in PROGRAMS for part in range(parts(name))]
)
def test_all_orders_and_formats(name, part):
    check(name, combinations(name)[part :: parts(name)], [0.05, 0.5])


# -- other functions, other fills ------------------------------------------------------------------

UPDATES = {
    "min": ("C[i, j] = min(C[i, j], A[i, k] + B[k, j])", np.inf),
    "max": ("C[i, j] = max(C[i, j], A[i, k] * B[k, j])", -np.inf),
    "times": ("C[i, j] *= A[i, k] * B[k, j]", 1),
    "last": ("C[i, j] = A[i, k] * B[k, j]", 0),
    "other fill": ("C[i, j] += A[i, k] * B[k, j]", 3),
    "less": ("C[i, j] -= A[i, k] * B[k, j]", 0),
}


@pytest.mark.parametrize("label", MATRICES)
@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("order", ["kij", "any other"])
def test_updates(order, name, label):
    """Whatever the function and what the result begins with; the oracle is the interpreter."""
    update, init = UPDATES[name]
    init = {np.inf: "np.inf", -np.inf: "-np.inf"}.get(init, init)
    if order != "kij":
        order = random.Random(f"{name} {label}").choice(["ikj", "ijk", "jik", "jki", "kji"])
    kernel = kernel_of(update, order, init)
    A, B = data((4, 5), 1, 0.4), data((5, 6), 2, 0.4)
    C = ln.empty_tensor(MATRICES[label].with_fill(UPDATES[name][1]))
    operands = ln.asarray(A, format=ln.CSC), ln.asarray(B, format=ln.CSR)
    if label == "workspace" and name in ("other fill", "less"):
        with pytest.raises(FormatError, match="cannot be combined"):
            kernel(C, *operands)
        return
    expected = kernel.reference(C, *operands)["C"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        assert np.array_equal(kernel(C, *operands).to_numpy(), expected)


@ln.function(commutative=True, associative=True, identity=0)
def larger(x, y):
    return x if abs(x) > abs(y) else y


@ln.function
def unordered(x, y):
    return 0.5 * x + y


@pytest.mark.parametrize("label", [m for m in MATRICES if m != "workspace"])
@pytest.mark.parametrize("function", [larger, unordered], ids=lambda f: f.name)
def test_functions_of_users(function, label):
    text = "C[...] = 0.0\nfor k, i, j in ...:\n    C[i, j] = f(C[i, j], A[i, k] * B[k, j])"
    kernel = ln.Kernel(parse_text(text, {"f": function}))
    A, B = data((4, 5), 1, 0.4) - data((4, 5), 3, 0.2), data((5, 6), 2, 0.4)
    C = ln.empty_tensor(MATRICES[label])
    operands = ln.asarray(A, format=ln.CSC), ln.asarray(B, format=ln.CSR)
    expected = kernel.reference(C, *operands)["C"]
    assert np.array_equal(kernel(C, *operands).to_numpy(), expected)


@pytest.mark.parametrize("label", MATRICES)
def test_truth_values(label):
    kernel = kernel_of("C[i, j] |= A[i, k] & B[k, j]", "kij", False)
    A, B = data((4, 5), 1, 0.4) > 0, data((5, 6), 2, 0.4) > 0
    C = ln.empty_tensor(MATRICES[label].with_dtype("bool"))
    found = kernel(C, ln.asarray(A, format=ln.CSC), ln.asarray(B, format=ln.CSR))
    assert np.array_equal(found.to_numpy(), A @ B)


# -- scatters whose place is computed --------------------------------------------------------------


@pytest.mark.parametrize("label", MATRICES)
@pytest.mark.parametrize("order", ["i, j, p, q", "p, q, i, j", "i, p, j, q", "p, i, q, j"])
def test_convolution_in_two_dimensions(order, label):
    kernel = ln.Kernel(
        parse_text(
            f"""
            ln.declare(C, 0, (9, 11))
            for {order} in ...:
                C[i + p, j + q] += A[i, j] * B[p, q]
            """
        )
    )
    A, B = data((7, 9), 1, 0.2), data((3, 3), 2, 0.6)
    expected = np.zeros((9, 11))
    for p, q in itertools.product(range(3), repeat=2):
        expected[p : p + 7, q : q + 9] += A * B[p, q]
    found = kernel(
        ln.empty_tensor(MATRICES[label]),
        ln.asarray(A, format=ln.CSR),
        ln.asarray(B, format=ln.CSR),
    )
    assert np.array_equal(found.to_numpy(), expected)


@pytest.mark.parametrize("label", TENSORS)
@pytest.mark.parametrize("order", ["i, j, k, p, q, r", "p, i, q, j, r, k"])
def test_convolution_in_three_dimensions(order, label):
    kernel = ln.Kernel(
        parse_text(
            f"""
            ln.declare(C, 0, (6, 6, 6))
            for {order} in ...:
                C[i + p, j + q, k + r] += A[i, j, k] * B[p, q, r]
            """
        )
    )
    A, B = data((5, 5, 5), 1, 0.1), data((2, 2, 2), 2, 0.6)
    expected = np.zeros((6, 6, 6))
    for p, q, r in itertools.product(range(2), repeat=3):
        expected[p : p + 5, q : q + 5, r : r + 5] += A * B[p, q, r]
    found = kernel(
        ln.empty_tensor(TENSORS[label]), ln.asarray(A, format=ln.CSF), ln.asarray(B, format=ln.CSF)
    )
    assert np.array_equal(found.to_numpy(), expected)


@pytest.mark.parametrize("label", MATRICES)
def test_histogram_of_coordinates(label):
    kernel = ln.Kernel(
        parse_text(
            """
            ln.declare(C, 0, (4, 5))
            for t in ...:
                C[X[t], Y[t]] += 1
            """
        )
    )
    rng = np.random.default_rng(3)
    X, Y = rng.integers(0, 4, 50), rng.integers(0, 5, 50)
    expected = np.zeros((4, 5))
    np.add.at(expected, (X, Y), 1)
    C = ln.empty_tensor(MATRICES[label].with_dtype("float64"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        assert np.array_equal(kernel(C, X, Y).to_numpy(), expected)


@pytest.mark.parametrize("label", MATRICES)
@pytest.mark.parametrize("first", ["CSR", "CSC"])
def test_sum_with_a_transposed_operand(first, label):
    A, B = data((6, 6), 1, 0.3), data((6, 6), 2, 0.3)
    for order in ("ij", "ji"):
        kernel = kernel_of("C[i, j] = A[i, j] + B[j, i]", order)
        operands = ln.asarray(A, format=MATRICES[first]), ln.asarray(B, format=ln.CSR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscordanceWarning)
            found = kernel(ln.empty_tensor(MATRICES[label]), *operands)
        assert np.array_equal(found.to_numpy(), A + B.T)


@pytest.mark.parametrize("label", MATRICES)
@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.DCSR], ids=lambda f: f.name)
def test_a_matrix_times_its_transpose(format, label):
    """The operand is read twice, by two names of its indices."""
    A = data((9, 7), 4, 0.3)
    for order in itertools.permutations("ijk"):
        kernel = kernel_of("C[i, j] += A[k, i] * A[k, j]", order)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscordanceWarning)
            found = kernel(ln.empty_tensor(MATRICES[label]), ln.asarray(A, format=format))
        assert np.array_equal(found.to_numpy(), A.T @ A), order


BANDED = np.diag([1.0, 2, 3, 4]) + np.diag([5.0, 6, 7], 1), np.diag([2.0, 3, 4, 5])
BANDS = {
    "C[i, j] += A[i, k] * B[k, j]": "ik,kj->ij",
    "C[j, i] += A[i, k] * B[k, j]": "ik,kj->ji",
    "C[i, j] += A[k, i] * B[k, j]": "ki,kj->ij",
    "C[i, j] += A[i, k] * B[k, l] * A[l, j]": "ik,kl,lj->ij",
}


@pytest.mark.parametrize("update", BANDS)
def test_band_where_it_fits(update):
    A, B = BANDED
    text = BANDS[update]
    expected = np.einsum(text, *((A, B, A)[: text.count(",") + 1]))
    for order in itertools.permutations(sorted(set(text) & set("ijkl"))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscordanceWarning)
            C = kernel_of(update, order)(
                ln.empty_tensor(ln.BAND), ln.asarray(A, format=ln.CSR), ln.asarray(B, format=ln.CSR)
            )
        assert np.array_equal(C.to_numpy(), expected), order


def test_band_of_other_scatters():
    """A sum with a transposed operand, and the larger one of products."""
    A, B = (ln.asarray(x, format=ln.CSR) for x in BANDED)
    programs = (
        ("for i, j in ...:\n    C[i, j] = A[i, j] + B[j, i]", BANDED[0] + BANDED[1].T),
        (
            "for k, i, j in ...:\n    C[i, j] = max(C[i, j], A[i, k] * B[k, j])",
            BANDED[0] @ BANDED[1],
        ),
    )
    for text, expected in programs:
        kernel = ln.Kernel(parse_text(f"C[...] = 0\n{text}"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiscordanceWarning)
            found = kernel(ln.empty_tensor(ln.BAND), A, B)
        assert np.array_equal(found.to_numpy(), expected)
