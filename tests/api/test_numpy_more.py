"""NumPy's functions that neither the standard nor statistics have, on arrays of every kind."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import linnet as ln

RNG = np.random.default_rng(0)
V = np.where(RNG.random(9) < 0.5, RNG.integers(1, 6, 9), 0) * 1.0
M = np.where(RNG.random((5, 6)) < 0.5, RNG.integers(-3, 6, (5, 6)), 0) * 1.0
S = np.where(RNG.random((4, 4)) < 0.6, RNG.random((4, 4)), 0) + np.eye(4)
N = np.where(M == 1, np.nan, M)
Z = np.array([0, 0, 1, 0, 2, 0.0])
SHORT, ODD = [1.0, 0.0, 2.0, 3.0], np.arange(6) % 2 == 0


def changed(change):
    """What becomes of a copy."""

    def made(x, _):
        y = x.copy()
        change(y)
        return y

    return made


CASES = {
    "trapezoid": (lambda x, _: np.trapezoid(x, axis=0), M),
    "trapezoid, x": (lambda x, _: np.trapezoid(x, x=np.array([0, 1, 3, 4, 7.0]), axis=0), M),
    "trapezoid, dx": (lambda x, _: np.trapezoid(x, dx=0.5), M),
    "gradient": (lambda x, _: np.gradient(x), M),
    "gradient, one": (lambda x, _: np.gradient(x, 2.0, axis=1), M),
    "convolve": (lambda x, f: np.convolve(x, f(SHORT)), V),
    "convolve, same": (lambda x, f: np.convolve(f(SHORT), x, "same"), V),
    "convolve, valid": (lambda x, f: np.convolve(x, f(SHORT), "valid"), V),
    "convolve, valid, by its number": (lambda x, f: np.convolve(x, f(SHORT), 0), V),
    "convolve, same, by its number": (lambda x, f: np.convolve(x, f(SHORT), 1), V),
    "convolve, full, by a number of NumPy": (lambda x, f: np.convolve(x, f(SHORT), np.int8(2)), V),
    "correlate, full, by its number": (lambda x, f: np.correlate(x, f(SHORT), 2), V),
    "convolve, mixed": (lambda x, _: np.convolve(x, np.array(SHORT)), V),
    "correlate": (lambda x, f: np.correlate(x, f(SHORT)), V),
    "correlate, longer": (lambda x, f: np.correlate(f(SHORT), x, "same"), V),
    "correlate, complex": (lambda x, f: np.correlate(x, f([1j, 0, 2 + 1j]), "full"), V),
    "isposinf": (lambda x, _: np.isposinf(x), np.where(V == 0, np.inf, V)),
    "isneginf": (lambda x, _: np.isneginf(x), np.where(V == 0, -np.inf, V)),
    "sinc": (lambda x, _: np.sinc(x), M / 3),
    "polyval": (lambda x, _: np.polyval(np.array([2.0, 0, 1]), x), M),
    "digitize": (lambda x, _: np.digitize(x, np.array([-1.0, 0, 2])), M),
    "digitize, right": (lambda x, _: np.digitize(x, np.array([-1.0, 0, 2]), right=True), M),
    "digitize, down": (lambda x, _: np.digitize(x, np.array([2.0, 0, -1])), M),
    "array_equiv": (lambda x, _: (np.array_equiv(x, x), np.array_equiv(x, x[:, :3])), M),
    "setxor1d": (lambda x, f: np.setxor1d(x, f([1.0, 77, 3])), V),
    "choose": (lambda x, _: np.choose(abs(x).astype(int) % 3, [x, x * 2, x * 0 + 5]), M),
    "unique, axis": (lambda x, _: (np.unique(x, axis=0), np.unique(x, axis=None)), V),
    "trim_zeros": (lambda x, _: (np.trim_zeros(x), np.trim_zeros(x, "f")), Z),
    "trim_zeros, all": (lambda x, _: np.trim_zeros(x), Z * 0),
    "apply_over_axes": (lambda x, _: np.apply_over_axes(np.sum, x, [0, 1]), M),
    "diagflat": (lambda x, _: np.diagflat(x, 1), V),
    "diag_indices_from": (lambda x, _: np.diag_indices_from(x), S),
    "tril_indices_from": (lambda x, _: np.tril_indices_from(x, -1), S),
    "triu_indices_from": (lambda x, _: np.triu_indices_from(x, k=1), M),
    "cond": (lambda x, _: np.linalg.cond(x), S),
    "lstsq": (lambda x, _: np.linalg.lstsq(x, np.ones(4))[0], S),
    "tensorsolve": (lambda x, _: np.linalg.tensorsolve(x, np.ones(4)), S),
    "fft2": (lambda x, _: np.fft.fft2(x), M),
    "nanmax, initial": (lambda x, _: np.nanmax(x, initial=3.0, axis=0), N),
    "nanmin, where": (lambda x, _: np.nanmin(x, axis=1, where=ODD, initial=2.0), N),
    "nansum, where": (lambda x, _: np.nansum(x, axis=1, where=ODD, initial=2.0), N),
    "nanmean, where": (lambda x, _: np.nanmean(x, axis=1, where=ODD), N),
    "nanvar, where": (lambda x, _: np.nanvar(x, axis=1, where=ODD), N),
    "polyval, single": (lambda x, _: np.polyval(np.array([2.0, 0.1]), x), M.astype("float32")),
    "reshape, by columns": (lambda x, _: np.reshape(x, (10, 3), order="F"), M),
    "reshape, by columns, of a vector": (lambda x, _: np.reshape(x[0], (2, -1), "F"), M),
    "reshape, by columns, flat": (lambda x, _: np.reshape(x, -1, order="F"), M),
    "ravel, by columns": (lambda x, _: np.ravel(x, order="F"), M),
    "ravel, as it lies": (lambda x, _: np.ravel(x, order="K"), M),
    "tril, of a vector": (lambda x, _: np.tril(x[1], -1), M),
    "triu, of a vector": (lambda x, _: np.triu(x[1]), M),
    "convolve, with a number": (lambda x, _: np.convolve(x[1], 3), M),
    "convolve, of a number": (lambda x, _: np.convolve(3, x[1]), M),
    "put": (changed(lambda y: np.put(y, [0, 7, -1], [9.0, 8.0])), M),
    "put, nothing": (changed(lambda y: np.put(y, [0, 7], [])), M),
    "place": (changed(lambda y: np.place(y, y > 1, [9.0, 8.0, 7.0])), M),
    "put_along_axis": (
        changed(lambda y: np.put_along_axis(y, np.array([[1], [0], [5], [2], [2]]), 9.0, axis=1)),
        M,
    ),
    "put_along_axis, everywhere": (
        changed(lambda y: np.put_along_axis(y, np.array([[1, 4]]), 9.0, axis=1)),
        M,
    ),
}


def plain(found):
    if isinstance(found, tuple | list):
        return [plain(part) for part in found]
    return found.to_numpy() if isinstance(found, ln.Tensor) else np.asarray(found)


@pytest.mark.parametrize("kind", [ln.COO, ln.CSF, ln.DENSE])
@pytest.mark.parametrize("name", CASES)
def test_as_in_numpy(name, kind):
    function, array = CASES[name]
    found = plain(function(ln.asarray(array, format=kind(array.ndim)), lambda v: ln.asarray(v)))
    expected = plain(function(array, np.asarray))
    for mine, theirs in zip(
        found if isinstance(found, list) else [found],
        expected if isinstance(expected, list) else [expected],
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
        assert mine.dtype == theirs.dtype


@pytest.mark.parametrize("median", [np.median, np.nanmedian])
def test_the_median_of_nothing_is_nan(median):
    x = ln.zeros((3, 0), format=ln.COO(2))
    with pytest.warns(RuntimeWarning, match="NaN"):
        assert np.isnan(median(x, axis=1).to_numpy()).tolist() == [True] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert median(x, axis=0).shape == (0,)
    with pytest.raises(IndexError, match="no quantiles"):
        np.quantile(x, 0.5, axis=1)


def test_zeros_are_trimmed_along_all_dimensions():
    framed = np.zeros((5, 6))
    framed[1, 2], framed[3, 3] = 4.0, -1.0
    for format in (ln.CSR, ln.COO, ln.CSR.with_fill(7.0)):
        found = np.trim_zeros(ln.asarray(framed, format=format))
        np.testing.assert_array_equal(found.to_numpy(), framed[1:4, 2:4])


def test_what_is_refused():
    x = ln.asarray(V, format=ln.CSF(1))
    with pytest.raises(ValueError, match="vectors"):
        np.convolve(x, x[:0])
    with pytest.raises(ValueError, match="numbers from 0"):
        np.choose(x.astype(int), [x])
    with pytest.raises(TypeError, match="one step"):
        np.gradient(x, edge_order=2)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda x: np.diag_indices_from(x), ValueError),
        (lambda x: np.triu_indices_from(x[None]), ValueError),
        (lambda x: np.place(x, x > 1, []), ValueError),
        (lambda x: np.correlate(x[0], 3), ValueError),
        (lambda x: np.reshape(x, (30,), order="X"), (TypeError, ValueError)),
        (lambda x: np.reshape(x, (30,), order="K"), ValueError),
        (lambda x: x.reshape((30,), order="K"), ValueError),
        (lambda x: np.convolve(x[0], x[0], 3), ValueError),
        (lambda x: np.convolve(x[0], x[0], True), TypeError),
        (lambda x: np.convolve(x[0], x[0], 1.0), TypeError),
        (lambda x: np.correlate(x[0], x[0], [1]), TypeError),
        (lambda x: np.correlate(x[0], x[0], np.True_), TypeError),
        (lambda x: np.put(x, [x.size], [1.0]), IndexError),
        (lambda x: np.put(x, [-x.size - 1], [1.0]), IndexError),
        (lambda x: np.put_along_axis(x, np.array([1]), 9.0, axis=1), ValueError),
        (lambda x: np.digitize(x, np.array([1.0, 5.0, 2.0])), ValueError),
    ],
)
def test_what_numpy_refuses(change, error):
    """What was left out, or taken for zeros."""
    for x in (M.copy(), ln.asarray(M, format=ln.COO(2))):
        with pytest.raises(error):
            change(x)
        np.testing.assert_array_equal(plain(x), M)


def test_powers_have_no_modulus():
    with pytest.raises(TypeError, match="unsupported operand"):
        pow(ln.asarray(M), 2, 3)


HUGE = 2**33


def test_what_is_stored_decides_the_time_of_repetitions():
    x = ln.tensor([[1, HUGE - 1], [0, 3]], [1.0, 2.0], (HUGE, 4), format=ln.COO(2))
    found = ln.repeat(x, 3, axis=0)
    assert found.shape == (3 * HUGE, 4)
    assert found.coords[0].tolist() == [3, 4, 5, 3 * HUGE - 3, 3 * HUGE - 2, 3 * HUGE - 1]
    with pytest.raises(ValueError, match="too large"):
        ln.repeat(x, 2**40, axis=0)


@pytest.mark.parametrize("k", [0, 2, -3])
def test_what_is_stored_decides_the_time_of_diagonals(k):
    at = np.array([5, 9, HUGE - 8])
    x = ln.tensor([[*at, 1], [*(at + k), 0]], [1.0, 2.0, 3.0, 4.0], (HUGE, HUGE), format=ln.COO(2))
    y = x.copy()
    y.setdiag(0.0, k)
    assert y.coords.tolist() == [[1], [0]]
    y.setdiag(ln.tensor([[7, HUGE - 9]], [8.0, 9.0], (HUGE,), format=ln.CSF(1)), k)
    row = 7 + max(-k, 0)
    assert (y.nnz, float(y[row, row + k])) == (3, 8.0)
    with pytest.raises(ln.LinnetError, match="a diagonal"):
        x.setdiag(1.0, k)


def test_what_is_stored_decides_the_time_of_deletions():
    x = ln.tensor([[1, 7, HUGE - 1]], [1.0, 2.0, 3.0], (HUGE,), format=ln.CSF(1))
    found = np.delete(x, [0, 7, -2])
    assert found.shape == (HUGE - 3,)
    assert found.coords.tolist() == [[0, HUGE - 4]]
