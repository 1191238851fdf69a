"""Temporaries that change places: `v, w = w, v` in a loop over steps."""

from __future__ import annotations

import numpy as np
import pytest
from tests.programs.stepping import MATRIX, START, VECTORS, E, scalar

import linnet as ln


def swapping(format: ln.Format) -> ln.Kernel:
    """A kernel whose temporaries of this format change places in every step."""

    @ln.kernel
    def power(y, old, A, x, most):
        F = ln.temp(format)
        G = ln.temp(format)
        y[...] = 0
        old[...] = 0
        F[...] = 0
        G[...] = 0
        for i in ...:
            F[i] += x[i]
        for _step in range(most[()]):
            G[...] = 0
            for i, j in ...:
                G[i] += A[i, j] * F[j]
            F, G = G, F
        for i in ...:
            y[i] = F[i]
            old[i] = G[i]
        return y, old

    return power


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@pytest.mark.parametrize("name", VECTORS)
def test_temporaries_change_places_in_every_format(name: str, backend: None):
    kernel = swapping(VECTORS[name])
    powers = [START]
    for most in range(5):
        y, old = ln.empty_tensor(ln.DENSE(1)), ln.empty_tensor(ln.DENSE(1))
        kernel(y, old, ln.asarray(MATRIX, format=ln.CSR), START, scalar(most))
        assert y.to_numpy().tolist() == powers[-1].tolist()
        before = powers[-2] if most else 0 * START
        assert old.to_numpy().tolist() == before.tolist()
        powers.append(MATRIX @ powers[-1])
    told = kernel.reference(y, old, MATRIX, START, scalar(most))
    assert told["y"].tolist() == powers[most].tolist()
    assert told["old"].tolist() == powers[most - 1].tolist()


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@pytest.mark.parametrize("name", VECTORS)
def test_what_changes_places_has_indices_of_one_width(name: str, backend: None):
    """The first declaration of G is used by nobody, and says nothing of its size."""
    format = VECTORS[name]

    @ln.kernel
    def power(y, A, x, most):
        F = ln.temp(format)
        G = ln.temp(format)
        F[...] = 0
        G[...] = 0
        for i in ...:
            F[i] += x[i]
        for _step in range(most[()]):
            G[...] = 0
            for i, j in ...:
                G[i] += A[i, j] * F[j]
            F, G = G, F
        y[...] = 0
        for i in ...:
            y[i] = F[i]
        return y

    A, expected = ln.asarray(MATRIX, format=ln.CSR), START
    for most in range(4):
        y = power(ln.empty_tensor(ln.DENSE(1)), A, START, scalar(most))
        assert y.to_numpy().tolist() == expected.tolist()
        expected = MATRIX @ expected


@pytest.mark.parametrize(
    "format", [ln.Dense(ln.SparseByteMap(E)), ln.SparseHash(ln.SparseHash(E)), ln.CSR], ids=str
)
def test_matrices_change_places(format: ln.Format, backend: None):
    @ln.kernel
    def squared(C, A):
        P = ln.temp(format)
        Q = ln.temp(format)
        C[...] = 0
        P[...] = 0
        for i, j in ...:
            P[i, j] = A[i, j]
        for _step in range(3):
            Q[...] = 0
            for i, k, j in ...:
                Q[i, j] += P[i, k] * P[k, j]
            P, Q = Q, P
        for i, j in ...:
            C[i, j] = P[i, j]
        return C

    C = squared(ln.empty_tensor(ln.DENSE(2)), ln.asarray(MATRIX, format=ln.CSR))
    assert C.to_numpy().tolist() == np.linalg.matrix_power(MATRIX, 8).tolist()


def test_an_argument_cannot_change_places():
    @ln.kernel
    def argument(y, x):
        w = ln.temp(ln.DENSE(1))
        y[...] = 0
        w[...] = 0
        for i in ...:
            w[i] = x[i]
            y[i] = 0
        y, w = w, y
        return y

    with pytest.raises(ln.errors.KernelSyntaxError, match="`y` cannot change places"):
        argument(ln.empty_tensor(ln.DENSE(1)), START)


def test_different_formats_cannot_change_places():
    @ln.kernel
    def different(y, x):
        v = ln.temp(ln.SparseHash(E))
        w = ln.temp(ln.SparseByteMap(E))
        y[...] = 0
        v[...] = 0
        w[...] = 0
        for i in ...:
            v[i] += x[i]
            w[i] += x[i]
        v, w = w, v
        for i in ...:
            y[i] = v[i]
        return y

    with pytest.raises(ln.errors.FormatError, match="`v` and `w` cannot change places: they"):
        different(ln.empty_tensor(ln.DENSE(1)), START)


def test_different_fill_values_cannot_change_places():
    @ln.kernel
    def begun(y, x):
        v = ln.temp(ln.DENSE(1))
        w = ln.temp(ln.DENSE(1))
        y[...] = 0
        v[...] = 1
        w[...] = 0
        for i in ...:
            v[i] += x[i]
            w[i] += x[i]
        v, w = w, v
        for i in ...:
            y[i] = v[i]
        return y

    with pytest.raises(ln.errors.FormatError, match=r"with 0\.0; .*, declared with 1\.0"):
        begun(ln.empty_tensor(ln.DENSE(1)), START)


def test_different_sizes_cannot_change_places():
    @ln.kernel
    def sizes(y, x, z):
        v = ln.temp(ln.DENSE(1))
        w = ln.temp(ln.DENSE(1))
        y[...] = 0
        v[...] = 0
        w[...] = 0
        for i in ...:
            v[i] += x[i]
        for i in ...:
            w[i] += z[i]
        v, w = w, v
        for i in ...:
            y[i] = v[i]
        return y

    assert sizes(ln.empty_tensor(ln.DENSE(1)), START, 2 * START).to_numpy()[2] == 4
    with pytest.raises(ln.errors.ShapeError):
        sizes(ln.empty_tensor(ln.DENSE(1)), START, START[:3])


def test_what_is_swapped_and_updated_again():
    @ln.kernel
    def again(y, x):
        v = ln.temp(ln.SparseList(E))
        w = ln.temp(ln.SparseList(E))
        y[...] = 0
        v[...] = 0
        w[...] = 0
        for _step in range(2):
            for i in ...:
                v[i] += x[i]
            v, w = w, v
        for i in ...:
            y[i] = v[i]
        return y

    with pytest.raises(ln.errors.FormatError, match="`v` is swapped and updated again"):
        again(ln.empty_tensor(ln.DENSE(1)), START)


@pytest.mark.parametrize("level", [ln.SparseList, ln.RunList, ln.SparseRunList])
def test_what_is_declared_and_then_swapped_is_another(level):
    """The tensor that is updated is not the one that was declared, and has been read."""

    @ln.kernel
    def late(y, x):
        v = ln.temp(level(E))
        w = ln.temp(level(E))
        y[...] = 0
        v[...] = 0
        w[...] = 0
        for i in ...:
            v[i] += x[i] + w[i]
        for _step in range(2):
            ln.declare(v, 0, (x.shape[0],))
            v, w = w, v
            for i in ...:
                v[i] += x[i]
        for i in ...:
            y[i] = v[i]
        return y

    with pytest.raises(ln.errors.FormatError, match="`v` is swapped and updated again"):
        late(ln.empty_tensor(ln.DENSE(1)), START)
