"""FINCH, Table 1, last column: every kind of control flow, over every structure.

The rows of the table are the tests. Those of the control flow part run one program over matrices
of every structure, each in the formats that fit it; those of the structure part look at the code,
too: what is known not to matter must not be visited.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import linnet as ln
from linnet.errors import DiscordanceWarning, IndexBoundsError, LifecycleError
from linnet.testing import assert_equal, dense

N = 12
VECTOR = ln.DENSE(1)
LIST = ln.SparseList(ln.Element(0.0))
BSR = ln.Dense(ln.SparseList(ln.Dense(ln.Dense(ln.Element(0.0)))))


# -- matrices of every structure -----------------------------------------------------------------


def values(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 9, (N, N)).astype(float)


def places() -> tuple[np.ndarray, np.ndarray]:
    return np.indices((N, N))


def scattered(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random((N, N)) < 0.3, values(rng), 0)


def ragged(rng: np.random.Generator) -> np.ndarray:
    return np.where(np.arange(N) < rng.integers(0, N + 1, (N, 1)), values(rng), 0)


def banded(rng: np.random.Generator) -> np.ndarray:
    i, j = places()
    return np.where(abs(i - j) <= 2, values(rng), 0)


def triangular(rng: np.random.Generator) -> np.ndarray:
    return np.triu(values(rng))


def runs(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 3, (N, N // 3)).astype(float).repeat(3, axis=1)


def one_run(rng: np.random.Generator) -> np.ndarray:
    left, right = np.sort(rng.integers(0, N + 1, (2, N, 1)), axis=0)
    j = np.arange(N)
    return np.where((left <= j) & (j < right), rng.integers(1, 9, (N, 1)), 0).astype(float)


def blocks(rng: np.random.Generator) -> np.ndarray:
    return np.where((rng.random((N, N // 4)) < 0.4).repeat(4, axis=1), values(rng), 0)


def permutation(rng: np.random.Generator) -> np.ndarray:
    return np.eye(N)[rng.permutation(N)]


STRUCTURES: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], tuple[object, ...]]] = {
    "dense": (values, (ln.DENSE(2),)),
    "list": (
        scattered,
        (ln.CSR, ln.DCSR, ln.COO(2), ln.SparseHash(ln.SparseByteMap(ln.Element()))),
    ),
    "runs": (runs, (ln.RLE, ln.SRLE, ln.RunList(ln.RunList(ln.Element())))),
    "one-run": (one_run, (ln.Dense(ln.SparseInterval(ln.Element())),)),
    "ragged": (ragged, (ln.RAGGED, ln.SparseList(ln.SparseBand(ln.Element())))),
    "band": (banded, (ln.BAND,)),
    "triangular": (triangular, (ln.TRIANGULAR,)),
    "blocks": (blocks, (ln.BLOCK, ln.SparseList(ln.SparseBlockList(ln.Element())))),
    "permutation": (permutation, (ln.Dense(ln.SparsePinpoint(ln.Element())),)),
}
# The first format of each structure always, the others in deep runs.
CASES = [
    pytest.param(make, format, id=f"{name}-{k}", marks=pytest.mark.slow if k else ())
    for name, (make, formats) in STRUCTURES.items()
    for k, format in enumerate(formats)
]
every_structure = pytest.mark.parametrize(("make", "format"), CASES)
FEW = [case for case in CASES if case.id in ("dense-0", "list-0", "runs-0", "blocks-0")]
MANY = [case for case in CASES if case not in FEW]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def empty(format: object = VECTOR) -> ln.Tensor:
    return ln.empty_tensor(format)  # type: ignore[arg-type]


def body(kernel: ln.Kernel, *tensors: object) -> str:
    """The code of a kernel, without what it shares with all others."""
    code = kernel.code(*tensors)
    return code[code.index(f"i64 {kernel.__name__}(") :]


def full_loops(code: str, index: str) -> int:
    """How many loops run over all of a dimension, one index at a time."""
    return len(re.findall(rf"for \(i64 {index}\w* = 0; \w+ < n_{index}; \w+\+\+\)", code))


# -- control flow --------------------------------------------------------------------------------


@ln.kernel
def contraction(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def three_operands(C, A, x, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * x[k] * B[k, j]
    return C


@every_structure
def test_einsums_and_contractions(rng, make, format):
    a, b, x = make(rng), make(rng), rng.integers(0, 5, N).astype(float)
    A, B = ln.asarray(a, format=format), ln.asarray(b, format=format)
    assert_equal(contraction(empty(), A, x), a @ x)
    assert_equal(three_operands(empty(ln.DENSE(2)), A, x, B), a * x @ b)


@ln.kernel
def several(total, least, rows, columns, A):
    total[...] = 0
    least[...] = np.inf
    rows[...] = 0
    columns[...] = -np.inf
    for i, j in ...:
        a = A[i, j]
        total[()] += a
        least[()] = min(least[()], a)
        rows[i] += a
        columns[j] = max(columns[j], a)
    return total, least, rows, columns


@every_structure
def test_multiple_left_hand_sides(rng, make, format):
    a = make(rng)
    A = ln.asarray(a, format=format)
    total, least, rows, columns = several(ln.scalar(0.0), ln.scalar(0.0), empty(), empty(), A)
    assert_equal(total, np.asarray(a.sum()))
    assert_equal(least, np.asarray(a.min()))
    assert_equal(rows, a.sum(1))
    assert_equal(columns, a.max(0))


@ln.kernel
def shifted(D, y, A, x):
    D[...] = 0
    y[...] = 0
    for i in ...:
        for j in range(A.shape[1] - 1):
            D[i, j] = A[i, j + 1] - A[i, j]
            y[i] += A[i, j + 1] * x[i + j]
    return D, y


@ln.kernel
def strided(E, A):
    E[...] = 0
    for i in range(A.shape[0] // 2):
        for j in range(A.shape[1] // 3):
            E[i, j] = A[2 * i + 1, 3 * j + 1]
    return E


@every_structure
def test_affine_indices(rng, make, format):
    a, x = make(rng), rng.integers(0, 5, 2 * N).astype(float)
    A = ln.asarray(a, format=format)
    D, y = shifted(empty(ln.DENSE(2)), empty(), A, x)
    assert_equal(D, np.diff(a, axis=1))
    assert_equal(y, np.array([a[i, 1:] @ x[i : i + N - 1] for i in range(N)]))
    assert_equal(strided(empty(ln.DENSE(2)), A), a[1::2, 1::3])


@ln.kernel
def convolution(y, x, w):
    y[...] = 0
    for i in range(x.shape[0] - w.shape[0] + 1):
        for k in ...:
            y[i] += x[i + k] * w[k]
    return y


@pytest.mark.parametrize("signal", [VECTOR, LIST, ln.RunList(ln.Element(0.0))], ids=str)
@pytest.mark.parametrize("filter", [VECTOR, LIST, ln.SparseBand(ln.Element(0.0))], ids=str)
def test_affine_indices_of_two_loops(rng, signal, filter):
    """A convolution: the filter is a structured tensor, and so may be the signal."""
    x = rng.integers(0, 3, 10).astype(float).repeat(3)
    w = np.array([0.0, 1.0, -2.0, 1.0, 0.0])
    y = convolution(empty(), ln.asarray(x, format=signal), ln.asarray(w, format=filter))
    assert_equal(y, np.convolve(x, w[::-1], "valid"))


@ln.kernel
def polynomials(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] *= -2
        y[i] += A[i, j]
    return y


@ln.kernel
def last_of_each_row(y, A):
    y[...] = -1
    for i, j in ...:
        if A[i, j] > 2:
            y[i] = j
    return y


@ln.kernel
def running_sums(y, A):
    """`y[i, j] = y[i, j - 1] + A[i, j]`, the element before carried in a scalar."""
    s = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        s[...] = 0
        for j in ...:
            s[()] += A[i, j]
            y[i, j] = s[()]
    return y


@ln.kernel
def decaying(y, A):
    s = ln.scalar(0.0)
    t = ln.scalar(0.0)
    y[...] = 0
    for i, j in ...:
        s[()] = 0.5 * s[()] + A[i, j]
        t[()] += s[()]
        y[i, j] = s[()] - t[()]
    return y


@every_structure
def test_recurrence_on_the_element_before(rng, make, format):
    a = make(rng)
    A = ln.asarray(a, format=format)
    for result in (ln.DENSE(2), ln.CSR, ln.RLE):
        assert_equal(running_sums(empty(result), A), np.cumsum(a, axis=1))
    s, total, expected = 0.0, 0.0, []
    for x in a.ravel():
        s = 0.5 * s + x
        total += s
        expected.append(s - total)
    assert_equal(decaying(empty(ln.DENSE(2)), A), np.reshape(expected, a.shape))


@ln.kernel
def sums_of_sums(r, x):
    s = ln.scalar(0.0)
    t = ln.scalar(0.0)
    for i in ...:
        s[()] += x[i]
        t[()] += s[()]
    r[...] = 0
    r[()] += t[()]
    return r


@pytest.mark.parametrize("format", [VECTOR, LIST, ln.RunList(ln.Element(0.0))], ids=str)
def test_recurrence_of_two_scalars_is_not_a_product(rng, format):
    """A run adds n times what it holds, but not to a sum of what it adds to."""
    x = np.repeat(rng.integers(0, 4, 5), 3).astype(float)
    r = sums_of_sums(ln.scalar(0.0), ln.asarray(x, format=format))
    assert r.item() == np.cumsum(x).sum()


def test_recurrence_in_place_is_refused():
    """An element that is being written cannot be read; the message says what can be done."""

    def prefix(y, x):
        y[...] = 0
        for i in range(1, x.shape[0]):
            y[i] = y[i - 1] + x[i]
        return y

    with pytest.raises(LifecycleError, match="carry a value to the next iteration in a scalar"):
        ln.kernel(prefix)


@every_structure
def test_recurrence(rng, make, format):
    """An iteration goes on from what the one before has left: Horner's rule, and the last write."""
    a = make(rng)
    A = ln.asarray(a, format=format)
    assert_equal(polynomials(empty(), A), np.array([np.polyval(row, -2) for row in a]))
    last = [max(np.flatnonzero(row > 2), default=-1) for row in a]
    assert_equal(last_of_each_row(empty(), A), np.array(last, np.int64))


@ln.kernel
def cases(y, A, t):
    y[...] = 0
    for i, j in ...:
        if A[i, j] > t[()] and i <= j:
            y[i] += A[i, j]
        elif i == j + 1 or (A[i, j] == 0 and not i < j):
            y[i] += 100
        else:
            y[i] -= 1
    return y


@ln.kernel
def mask_upper(y, A):
    y[...] = 0
    for i, j in ...:
        if i <= j:
            y[i] += A[i, j]


@ln.kernel
def mask_lower(y, A):
    y[...] = 0
    for i, j in ...:
        if i > j:
            y[i] += A[i, j]


@ln.kernel
def mask_diagonal(y, A):
    y[...] = 0
    for i, j in ...:
        if i == j:
            y[i] += A[i, j]


@ln.kernel
def mask_off_diagonal(y, A):
    y[...] = 0
    for i, j in ...:
        if i != j:
            y[i] += A[i, j]


@ln.kernel
def mask_subdiagonal(y, A):
    y[...] = 0
    for i, j in ...:
        if i == j + 1:
            y[i] += A[i, j]


@ln.kernel
def mask_shifted(y, A):
    y[...] = 0
    for i, j in ...:
        if i < j + 2:
            y[i] += A[i, j]


@ln.kernel
def mask_band(y, A):
    y[...] = 0
    for i, j in ...:
        if abs(i - j) <= 2:
            y[i] += A[i, j]


@ln.kernel
def mask_residue(y, A):
    y[...] = 0
    for i, j in ...:
        if j % 3 == 1:
            y[i] += A[i, j]


@ln.kernel
def mask_conjunction(y, A):
    y[...] = 0
    for i, j in ...:
        if i < j and j <= i + 3:
            y[i] += A[i, j]


@ln.kernel
def mask_negation(y, A):
    y[...] = 0
    for i, j in ...:
        if not (i <= j):
            y[i] += A[i, j]


@ln.kernel
def mask_window(y, A):
    y[...] = 0
    for i, j in ...:
        if 2 <= j < 7:
            y[i] += A[i, j]


MASKED = (
    (mask_upper, lambda i, j: i <= j),
    (mask_lower, lambda i, j: i > j),
    (mask_diagonal, lambda i, j: i == j),
    (mask_off_diagonal, lambda i, j: i != j),
    (mask_subdiagonal, lambda i, j: i == j + 1),
    (mask_shifted, lambda i, j: i < j + 2),
    (mask_band, lambda i, j: abs(i - j) <= 2),
    (mask_residue, lambda i, j: j % 3 == 1),
    (mask_conjunction, lambda i, j: (i < j) & (j <= i + 3)),
    (mask_negation, lambda i, j: i > j),
    (mask_window, lambda i, j: (j >= 2) & (j < 7)),
)


@every_structure
def test_if_conditions(rng, make, format):
    a = make(rng)
    y = cases(empty(), ln.asarray(a, format=format), ln.scalar(2.0))
    i, j = places()
    first = (a > 2) & (i <= j)
    second = ~first & ((i == j + 1) | ((a == 0) & ~(i < j)))
    assert_equal(y, np.where(first, a, np.where(second, 100, -1)).sum(1))


every_mask = pytest.mark.parametrize(
    ("kernel", "holds"), MASKED, ids=[k.__name__ for k, _ in MASKED]
)


@every_mask
@pytest.mark.parametrize(("make", "format"), FEW)
def test_masks(rng, make, format, kernel, holds):
    a, y = make(rng), empty()
    kernel(y, ln.asarray(a, format=format))
    assert_equal(y, np.where(holds(*places()), a, 0).sum(1))


@pytest.mark.slow
@every_mask
@pytest.mark.parametrize(("make", "format"), MANY)
def test_masks_of_every_structure(rng, make, format, kernel, holds):
    test_masks(rng, make, format, kernel, holds)


@every_mask
def test_masks_narrow_loops(rng, kernel, holds):
    """No mask of a dense matrix is a test in its loop."""
    code = body(kernel, empty(), values(rng))
    assert "if (" not in code.replace("if (grow(", "").replace("if (j_s", "")


@ln.kernel
def histogram(h, labels):
    ln.declare(h, 0, (9,))
    for i, j in ...:
        h[labels[i, j]] += 1
    return h


@ln.kernel
def scatter_gather(y, A, rows, x, columns):
    ln.declare(y, 0, (5,))
    for i, j in ...:
        y[rows[i]] += A[i, j] * x[columns[j]]
    return y


@every_structure
def test_scatter_and_gather(rng, make, format):
    a = make(rng)
    labels = ln.asarray(a.astype(int), format=format)
    assert_equal(histogram(empty(), labels), np.bincount(a.astype(int).ravel(), minlength=9))
    rows, columns = rng.integers(0, 5, N), rng.integers(0, 7, N)
    x, expected = rng.integers(0, 5, 7).astype(float), np.zeros(5)
    np.add.at(expected, rows, a @ x[columns])
    assert_equal(scatter_gather(empty(), ln.asarray(a, format=format), rows, x, columns), expected)


def test_scatter_and_gather_stay_inside(rng):
    labels = np.array([[1, 9]])
    with pytest.raises(IndexBoundsError, match=r"labels\[i, j\]"):
        histogram(empty(), labels)


@ln.kernel
def any_above(y, A, t):
    found = ln.scalar(False, short_circuit=True)
    y[...] = False
    for i in ...:
        found[...] = False
        for j in ...:
            found[()] |= A[i, j] > t[()]
        y[i] = found[()]
    return y


@ln.kernel
def any_and_all(y, z, A, t):
    found = ln.scalar(False, short_circuit=True)
    every = ln.scalar(True, short_circuit=True)
    y[...] = False
    z[...] = False
    for i in ...:
        found[...] = False
        every[...] = True
        for j in ...:
            found[()] |= A[i, j] > t[()]
            every[()] &= A[i, j] > 0
        y[i] = found[()]
        z[i] = every[()]
    return y, z


@ln.kernel
def product(p, x):
    p[...] = 1
    for j in ...:
        p[()] *= x[j]
    return p


@ln.kernel
def first_above(y, A, t):
    first = ln.scalar(-1, short_circuit=True)
    y[...] = -1
    for i in ...:
        first[...] = -1
        for j in ...:
            if A[i, j] > t[()]:
                first[()] = ln.choose(-1)(first[()], j)
        y[i] = first[()]
    return y


@every_structure
def test_early_break(rng, make, format):
    a = make(rng)
    A, t = ln.asarray(a, format=format), ln.scalar(4.0)
    assert_equal(any_above(empty(), A, t), (a > 4).any(1))
    y, z = any_and_all(empty(), empty(), A, t)
    assert_equal(y, (a > 4).any(1))
    assert_equal(z, (a > 0).all(1))
    firsts = [min(np.flatnonzero(row > 4), default=-1) for row in a]
    assert_equal(first_above(empty(), A, t), np.array(firsts, np.int64))


def test_early_break_leaves_the_loop(rng):
    A, t = ln.asarray(scattered(rng), format=ln.CSR), ln.scalar(4.0)
    for kernel in (any_above, first_above):
        assert "break;" in body(kernel, empty(), A, t), kernel.__name__
    assert "break;" in body(any_and_all, empty(), empty(), A, t)
    p = ln.scalar(1.0, short_circuit=True)
    x = rng.integers(0, 4, N).astype(float)
    assert "break;" in body(product, p, x)
    assert_equal(product(p, x), np.asarray(x.prod()))


@ln.kernel
def in_turn(y, B, A, x):
    w = ln.temp(VECTOR)
    y[...] = 0
    for i in ...:
        w[...] = 0
        for j in ...:
            w[j] += A[i, j] + x[j]
        for j in ...:
            y[i] += w[j] * B[i, j]
    for i in ...:
        x[i] += y[i]
    for i in ...:
        y[i] += x[i]
    return y, x


@every_structure
def test_unrestricted_read_and_write(rng, make, format):
    """Tensors are read, then written, then read again, in one scope after the other."""
    a, b, start = make(rng), make(rng), rng.integers(0, 5, N).astype(float)
    x = ln.asarray(start, copy=True)
    A, B = ln.asarray(a, format=format), ln.asarray(b, format=format)
    y, x = in_turn(empty(), B, A, x)
    expected = ((a + start) * b).sum(1)
    assert_equal(x, start + expected)
    assert_equal(y, start + 2 * expected)


# -- structure -----------------------------------------------------------------------------------


@ln.kernel
def copy(B, A):
    B[...] = 0
    for i, j in ...:
        B[i, j] = A[i, j] * 2
    return B


@ln.kernel
def total(s, A):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j]
    return s


@every_structure
def test_every_structure_is_a_result(rng, make, format):
    a = make(rng)
    B, packed = copy(empty(format), ln.asarray(a, format=format)), ln.asarray(2 * a, format=format)
    assert_equal(B, 2 * a)
    sizes = ({k: v.size for k, v in T.buffers.items() if "table" not in k} for T in (B, packed))
    assert next(sizes) == next(sizes)


def test_dense(rng):
    a, x = values(rng), rng.random(N)
    code = body(contraction, empty(), a, x)
    assert full_loops(code, "i") == full_loops(code, "j") == 1
    assert "while" not in code


@ln.kernel
def padded(y, x):
    y[...] = 0
    for i in ...:
        y[i] = ln.coalesce(x[~(i - 1)], 7) + x[i] + ln.coalesce(x[~(i + 2)], 0)
    return y


FIBERS = [VECTOR, LIST, ln.RunList(ln.Element(0.0)), ln.SparseBand(ln.Element(0.0))]


@pytest.mark.parametrize("format", FIBERS, ids=str)
def test_padded(rng, format):
    x = np.zeros(N)
    x[3:8] = rng.integers(1, 3, 5)
    y = padded(empty(), ln.asarray(x, format=format))
    assert_equal(y, np.append(7, x[:-1]) + x + np.append(x[2:], [0, 0]))


def test_padded_only_where_asked(rng):
    with pytest.raises(IndexBoundsError, match=r"x\[i \+ j\]"):
        shifted(empty(ln.DENSE(2)), empty(), values(rng), np.zeros(N))


def test_one_sparse_operand(rng):
    A = ln.asarray(scattered(rng), format=ln.CSR)
    code = body(contraction, empty(), A, rng.random(N))
    assert full_loops(code, "j") == 0
    assert "while" not in code


@ln.kernel
def meet(s, A, B):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j] * B[i, j]
    return s


@ln.kernel
def join(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]
    return C


@every_structure
def test_multiple_sparse_operands(rng, make, format):
    """A structured matrix meets a list, and itself."""
    a, b = make(rng), scattered(rng)
    A, B = ln.asarray(a, format=format), ln.asarray(b, format=ln.CSR)
    for left, right in ((A, B), (B, A), (A, A)):
        expected = dense(left) * dense(right)
        assert_equal(meet(ln.scalar(0.0), left, right), np.asarray(expected.sum()))
        assert_equal(join(empty(ln.CSR), left, right), dense(left) + dense(right))


def test_multiple_sparse_operands_are_merged(rng):
    A, B = (ln.asarray(scattered(rng), format=ln.CSR) for _ in range(2))
    for kernel, result in ((meet, ln.scalar(0.0)), (join, empty(ln.CSR))):
        assert full_loops(body(kernel, result, A, B), "j") == 0


def test_run_length(rng):
    """Sums over runs are products; runs meet at their ends, and are written as runs."""
    a, b = runs(rng), runs(rng)
    A, B = ln.asarray(a, format=ln.RLE), ln.asarray(b, format=ln.SRLE)
    for kernel, operands in ((total, (A,)), (meet, (A, B))):
        s = ln.scalar(0.0)
        kernel(s, *operands)
        assert_equal(s, np.asarray((a if kernel is total else a * b).sum()))
        code = body(kernel, s, *operands)
        assert full_loops(code, "j") == 0
        assert not re.search(r"for \(i64 j", code)


def test_run_length_results(rng):
    a, b = runs(rng), runs(rng)
    A, B = ln.asarray(a, format=ln.RLE), ln.asarray(b, format=ln.RLE)
    C = join(empty(ln.RLE), A, B)
    assert_equal(C, a + b)
    assert C.nnz == 1 * N + (np.diff(a + b, axis=1) != 0).sum()
    assert not re.search(r"for \(i64 j", body(join, empty(ln.RLE), A, B))


@ln.kernel
def symmetric(y, U, D, x):
    y_i = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        x_i = x[i]
        y_i[...] = 0
        for j in ...:
            u = U[i, j]
            y[j] += u * x_i
            y_i[()] += u * x[j]
        y[i] += y_i[()] + D[i] * x_i
    return y


@ln.kernel
def symmetric_by_mask(y, A, x):
    y[...] = 0
    for i, j in ...:
        if i < j:
            a = A[i, j]
            y[i] += a * x[j]
            y[j] += a * x[i]
        elif i == j:
            y[i] += A[i, j] * x[i]
    return y


@pytest.mark.parametrize("format", [ln.CSR, ln.TRIANGULAR, ln.DENSE(2), ln.BLOCK, ln.RLE], ids=str)
def test_symmetric(rng, format):
    """Every entry of one triangle is read once, and written twice."""
    a, x = scattered(rng), rng.integers(0, 5, N).astype(float)
    a = a + a.T
    U = ln.asarray(np.triu(a, 1), format=format)
    y = symmetric(empty(), U, a.diagonal().copy(), x)
    assert_equal(y, a @ x)
    assert_equal(symmetric_by_mask(empty(), ln.asarray(a, format=format), x), a @ x)


def test_symmetric_format(rng):
    """The plain program, on a format that stores one half."""
    a, x = scattered(rng), rng.integers(0, 5, N).astype(float)
    a = a + a.T
    A = ln.asarray(a, format=ln.SYMMETRIC)
    assert A.nnz == np.count_nonzero(np.tril(a))
    assert_equal(contraction(empty(), A, x), a @ x)
    assert "if j < i:" in contraction.loops(empty(), A, x)


def test_symmetric_reads_once(rng):
    U = ln.asarray(np.triu(scattered(rng), 1), format=ln.CSR)
    code = body(symmetric, empty(), U, rng.random(N), rng.random(N))
    pairs, last = code.split("U_q += 2;")  # two entries at a time, and the one that may be left
    assert re.findall(r"U_val\[(.*?)\]", pairs) == ["U_q", "U_q + 1"]
    assert re.findall(r"U_val\[(.*?)\]", last) == ["U_q"]
    assert full_loops(code, "j") == 0


@ln.kernel
def by_blocks(y, A, x):
    y[...] = 0
    for i, j, p, q in ...:
        y[i, p] += A[i, j, p, q] * x[j, q]
    return y


def test_regular_sparse_blocks(rng):
    """Blocks of one size: a list of dense matrices. The index array has one entry for each."""
    kept = rng.random((3, 3)) < 0.5
    a = np.where(kept.repeat(4, 0).repeat(4, 1), values(rng), 0)
    x = rng.integers(0, 5, N).astype(float)
    A = ln.asarray(a.reshape(3, 4, 3, 4).transpose(0, 2, 1, 3).copy(), format=BSR)
    assert A.buffers["idx1"].size == kept.sum()
    y = by_blocks(empty(ln.DENSE(2)), A, x.reshape(3, 4))
    assert_equal(y, (a @ x).reshape(3, 4))
    assert full_loops(body(by_blocks, y, A, x.reshape(3, 4)), "j") == 0


def test_regular_sparse_blocks_of_a_matrix(rng):
    """The same as a matrix: `A[i, j]` finds its block."""
    kept = rng.random((3, 3)) < 0.5
    a = np.where(kept.repeat(4, 0).repeat(4, 1), values(rng), 0)
    x = rng.integers(0, 5, N).astype(float)
    A = ln.asarray(a, format=ln.BSR(4, 4))
    assert A.buffers["idx1"].size == kept.sum()
    assert_equal(contraction(empty(), A, x), a @ x)
    assert full_loops(body(contraction, empty(), A, x), "j") == 0


def test_irregular_sparse_blocks(rng):
    """Blocks of any length: no index for every element, and neighbours stay neighbours."""
    A = ln.asarray(blocks(rng), format=ln.BLOCK)
    assert A.buffers["idx1"].size < A.buffers["val"].size / 3
    code = body(contraction, empty(), A, rng.random(N))
    assert full_loops(code, "j") == 0
    assert not re.search(r"x_val\[A_idx", code)


def test_ragged(rng):
    """Rows of any length, and no index array: one loop per row, to its end."""
    a = ragged(rng)
    A = ln.asarray(a, format=ln.RAGGED)
    assert A.buffers["idx1"].tolist() == (a != 0).sum(1).tolist()
    code = body(contraction, empty(), A, rng.random(N))
    assert full_loops(code, "j") == 0
    assert "while" not in code
    assert not re.search(r"x_val\[A_idx", code)


def test_permutation_has_no_inner_loop(rng):
    A = ln.asarray(permutation(rng), format=ln.PERM)
    code = body(contraction, empty(), A, rng.random(N))
    assert code.count("for (") == 1
    assert "while" not in code


def test_one_run_has_no_inner_loop(rng):
    A = ln.asarray(one_run(rng), format=ln.Dense(ln.SparseInterval(ln.Element())))
    code = body(total, ln.scalar(0.0), A)
    assert code.count("for (") == 1
    assert "while" not in code


@ln.kernel
def against_the_order(s, A):
    s[...] = 0
    for j, i in ...:
        s[()] += A[i, j]
    return s


@every_structure
def test_against_the_order(rng, make, format):
    a = make(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        s = against_the_order(ln.scalar(0.0), ln.asarray(a, format=format))
    assert_equal(s, np.asarray(a.sum()))


ROWS = """
    einsums_and_contractions multiple_left_hand_sides affine_indices recurrence if_conditions masks
    scatter_and_gather early_break unrestricted_read_and_write dense padded one_sparse_operand
    multiple_sparse_operands run_length symmetric regular_sparse_blocks irregular_sparse_blocks
    ragged
""".split()


def test_every_row_of_the_table_has_a_test():
    missing = [row for row in ROWS if not callable(globals().get(f"test_{row}"))]
    assert not missing
