"""`kernel.visits`: what is counted is the code that is shipped, and nothing changes by it."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from tests.visits import work

import linnet as ln
from linnet import backend
from linnet.errors import IndexBoundsError, ShapeError
from linnet.imp.interpret import run
from linnet.runtime import visits

VECTOR = ln.DENSE(1)


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def matmul(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


@ln.kernel
def both_halves(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + A[j, i]
    return C


@ln.kernel
def scaled(y, x):
    for i in ...:
        y[i] += 2 * x[i]
    return y


@ln.kernel
def picked(y, x, p):
    y[...] = 0
    for i in ...:
        y[i] = x[p[i]]
    return y


def matrix(n: int, each: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, n)) < each / n, rng.integers(1, 9, (n, n)).astype(float), 0)


def test_every_turn_is_counted_by_what_it_walks():
    A = ln.asarray(matrix(30, 4), format=ln.CSR)
    found = product.visits(ln.empty_tensor(VECTOR), A, np.ones(30))
    assert found == {"i": 30, "j in A[i, j]": A.nnz}
    assert found.total == work(product, ln.empty_tensor(VECTOR), A, np.ones(30)) == 30 + A.nnz
    assert list(found) == ["i", "j in A[i, j]"]
    assert repr(found) == f" 30  i\n{A.nnz:>3}  j in A[i, j]\n{30 + A.nnz}  in all"
    with pytest.raises(AttributeError, match="what was counted does not change"):
        found.total = 0
    with pytest.raises(TypeError):
        found["i"] = 0


def test_what_routines_and_fills_do_is_counted():
    n = 300
    A = ln.asarray(matrix(n, 4), format=ln.CSR)
    found = matmul.visits(ln.empty_tensor(ln.CSR), A, A)
    products = int(((A.to_numpy() != 0).sum(0) * (A.to_numpy() != 0).sum(1)).sum())
    walked = found["j in B[k, j]"] + found["k in A[i, k]"] + found["i"]
    assert walked <= products + A.nnz + n
    assert found["fill C_w"] > 0
    assert found["sort_small"] > 0


def stored(rows: int, columns: int) -> ln.Tensor:
    """A few values, the last of them at the end."""
    i, j = np.arange(0, rows, 3), np.linspace(1, columns - 1, len(range(0, rows, 3))).astype(int)
    return ln.tensor([i, j], np.arange(1.0, len(i) + 1), (rows, columns), format=ln.DCSR)


CASES = {
    "rows": (product, lambda: (ln.empty_tensor(VECTOR), stored(40, 30), np.ones(30))),
    "small": (matmul, lambda: (ln.empty_tensor(ln.CSR), stored(40, 40), stored(40, 40))),
    "large": (matmul, lambda: (ln.empty_tensor(ln.CSR), stored(9, 9), stored(9, 2**25))),
    "wide": (matmul, lambda: (ln.empty_tensor(ln.DCSR), stored(9, 9), stored(9, 2**40))),
    "other format": (both_halves, lambda: (ln.empty_tensor(ln.SYMMETRIC), stored(40, 40))),
    "in place": (scaled, lambda: (ln.asarray(np.arange(5.0)), np.ones(5))),
}


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@pytest.mark.parametrize("case", CASES)
def test_what_runs_is_what_is_shipped(case, tmp_path):
    """The same code for the same operands, and the same numbers in the end."""
    kernel, make = CASES[case]
    args = make()
    interpreted, found = [], []

    def interpret(code, given, counts):
        interpreted.append(code)
        found.append(run(code, given, counts))
        return found[-1]

    with mock.patch.object(visits, "run", interpret):
        kernel.visits(*args)
    with (
        ln.config(cache_dir=str(tmp_path)),
        mock.patch.object(backend, "build", side_effect=backend.build) as build,
    ):
        out = kernel(*args)
    shipped = [
        call.args[0] for call in build.call_args_list if call.args[0].name == kernel.__name__
    ]
    assert interpreted == shipped
    if case != "other format":  # which is put together of what is written
        (buffers,) = [a.buffers for a in shipped[0].arguments if a.name == kernel.params[0]]
        for buffer, array in zip(buffers, out.buffers.values(), strict=True):
            np.testing.assert_array_equal(found[0][1][buffer.name], array)


@pytest.mark.parametrize("case", CASES)
def test_arguments_stay_as_they_are(case):
    kernel, make = CASES[case]
    args = make()
    before = [a._contents if isinstance(a, ln.Tensor) else a for a in args]
    held = [None if a is None else a.to_numpy() for a in args if _is_small(a)]
    assert work(kernel, *args) > 0
    assert work(kernel, *args) == work(kernel, *make())
    after = [a._contents if isinstance(a, ln.Tensor) else a for a in args]
    assert all(a is b for a, b in zip(before, after, strict=True))
    assert all(c is None or not c.pins for c in before if not isinstance(c, np.ndarray))
    again = [None if a is None else a.to_numpy() for a in args if _is_small(a)]
    for a, b in zip(held, again, strict=True):
        np.testing.assert_array_equal(a, b)


def _is_small(a: object) -> bool:
    return isinstance(a, ln.Tensor) and a.shape is not None and a.size < 10**6


def test_results_that_a_kernel_made_are_still_written_in_place():
    """To count takes no memory from kernels that reuse it."""
    y = product(ln.empty_tensor(VECTOR), stored(5000, 30), np.ones(30))
    contents = y.contents()
    work(scaled, y, np.ones(5000))
    assert not contents.exported
    scaled(y, np.ones(5000))
    assert y.contents() is contents


def test_what_a_call_would_refuse_is_refused():
    with pytest.raises(ShapeError):
        product.visits(ln.empty_tensor(VECTOR), stored(4, 5), np.ones(6))
    with pytest.raises(IndexBoundsError):
        picked.visits(ln.empty_tensor(VECTOR), np.ones(3), np.array([0, 7]))
    with pytest.raises(ln.errors.ArgumentError):
        product.visits(ln.empty_tensor(VECTOR))


def test_runs_cost_what_they_store():
    x = ln.asarray(np.repeat([1.0, 2.0], 10**5), format=ln.RunList(ln.Element(0.0)))

    @ln.kernel
    def total(s, x):
        s[...] = 0
        for i in ...:
            s[()] += x[i]

    assert work(total, ln.scalar(0.0), x) == 2
    assert work(total, ln.scalar(0.0), x.to_numpy()) == 2 * 10**5 // 4  # four sums side by side
