"""Runs that are joined, rolled, flipped, repeated: what is stored decides the time, not size."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.api import moves, runs

RUNS = (ln.RunList, ln.SparseRunList)
PAIRS = [
    (ln.Dense, ln.RunList),
    (ln.Dense, ln.SparseRunList),
    (ln.RunList, ln.RunList),
    (ln.SparseList, ln.RunList),
    (ln.SparseRunList, ln.Dense),
]


def stored(array, levels, fill):
    format = ln.Element(fill)
    for level in reversed(levels):
        format = level(format)
    return ln.asarray(array, format=format)


def check(found, expected, like):
    np.testing.assert_array_equal(found.to_numpy(), expected)
    assert found.format == like.format


@pytest.mark.parametrize("level", RUNS)
@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan])
def test_vectors(level, fill):
    rng = np.random.default_rng(0)
    for m, n in ((9, 5), (0, 4), (4, 0), (1, 1)):
        a, b = (np.where(v == 0, fill, v) for v in (rng.integers(0, 3, k) * 1.0 for k in (m, n)))
        x, y = (stored(v, [level], fill) for v in (a, b))
        for _ in range(3):  # the third call goes straight to the kernel
            check(moves.joined([x, y, x], 0, x.format), np.concatenate([a, b, a]), x)
        for times in (1, 2, 3):
            check(moves.tiled(x, times, 0), np.tile(a, times), x)
        for by in {0, 1, m - 1} if m else ():
            check(moves.rolled(x, by, 0), np.roll(a, by), x)
            check(moves.flipped(x, 0), np.flip(a), x)


@pytest.mark.parametrize("levels", PAIRS)
def test_matrices(levels):
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(0, 2, shape) * 1.0 for shape in ((4, 6), (4, 3), (2, 6)))
    a[0], a[2] = 0, a[1]
    x, y, z = (stored(v, levels, 0.0) for v in (a, b, c))
    check(moves.joined([x, y], 1, x.format), np.concatenate([a, b], 1), x)
    check(moves.joined([x, z], 0, x.format), np.concatenate([a, c], 0), x)
    for d in (0, 1):
        check(moves.rolled(x, 1, d), np.roll(a, 1, d), x)
        check(moves.flipped(x, d), np.flip(a, d), x)
        check(moves.tiled(x, 3, d), np.concatenate([a] * 3, d), x)


@pytest.mark.parametrize("level", RUNS)
def test_runs_of_billions(level):
    n = 2**33
    x = ln.full((n,), 3.0, format=level(ln.Element(0.0)))
    y = ln.zeros((n,), format=level(ln.Element(0.0)))
    joined = ln.concat([x, y, x])
    assert joined.shape == (3 * n,)
    assert joined.nnz <= 3
    assert [float(joined[k]) for k in (0, n - 1, n, 2 * n, -1)] == [3, 3, 0, 3, 3]
    rolled = ln.roll(joined, 5)
    assert [float(rolled[k]) for k in (4, n + 4, n + 5, 2 * n + 5)] == [3, 3, 0, 3]
    flipped = ln.flip(rolled)
    assert [float(flipped[rolled.size - 1 - k]) for k in (4, n + 4, n + 5, 2 * n + 5)] == [
        3,
        3,
        0,
        3,
    ]
    assert (flipped.format, flipped.nnz) == (rolled.format, rolled.nnz)
    assert float(ln.sum(ln.tile(joined, (4,)))) == 3.0 * 2 * n * 4


@pytest.mark.parametrize("level", [*RUNS, ln.SparseInterval])
@pytest.mark.parametrize("n", [5, 2**46])
def test_runs_are_shown_without_listing_them(level, n):
    """One value was listed as often as its run is long; an interval of nothing was an error."""
    for value in (0.0, 3.0):
        x = ln.full((n,), value, format=level(ln.Element(0.0)))
        assert str(x).startswith(repr(x))
        assert len(str(x)) + len(x._repr_html_()) + len(ln.draw(x).svg) < 20_000
    if n > 5 and level is ln.RunList:
        with pytest.raises(ln.LinnetError):
            _ = x.coords


@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan])
@pytest.mark.parametrize("levels", [*[[level] for level in RUNS], *PAIRS])
def test_values_are_counted_by_the_lengths_of_runs(levels, fill, monkeypatch):
    monkeypatch.setattr(runs, "_LONG", 0)
    rng = np.random.default_rng(2)
    a = np.repeat(rng.integers(0, 3, (4, 3)) - 0.5, 3, axis=1)
    a[0], a[2], a[a == 1.5] = -0.0, a[1], fill
    a = a[1] if len(levels) == 1 else a
    x = stored(a, levels, fill)
    expected = np.unique(a, return_counts=True, equal_nan=False)
    for found, value in zip(ln.unique_counts(x), expected, strict=True):
        np.testing.assert_array_equal(found.to_numpy(), value)
    np.testing.assert_array_equal(ln.unique_values(x).to_numpy(), expected[0])


@pytest.mark.parametrize("level", RUNS)
def test_values_of_billions_are_counted(level):
    """Every element was listed."""
    n = 2**33
    x, y = (ln.full((n,), v, format=level(ln.Element(0.0))) for v in (3.0, 0.0))
    values, counts = ln.unique_counts(ln.concat([x, y, x]))
    assert values.to_numpy().tolist() == [0.0, 3.0]
    assert counts.to_numpy().tolist() == [n, 2 * n]
    tall = np.histogram(ln.concat([x, y, x]), bins=2)[0]
    assert tall.to_numpy().tolist() == [n, 2 * n]
    many = ln.full((2**40, 2**40), 1.5, format=level(level(ln.Element(0.0))))
    assert ln.unique_values(many).to_numpy().tolist() == [1.5]
    with pytest.raises(ln.LinnetError, match="every NaN"):
        ln.unique_counts(ln.full((n,), np.nan, format=level(ln.Element(0.0))))
    none = ln.unique_counts(ln.full((n,), 0.0, format=level(ln.Element(0.0))))
    assert (none.counts.dtype, none.counts.to_numpy().tolist()) == ("int64", [n])


@pytest.mark.parametrize("level", RUNS)
@pytest.mark.parametrize("fill", [0.0, np.nan])
def test_values_of_more_than_can_be_counted(level, fill):
    """2**80 are 0 in 64 bits: NaN was no value, and one that is nowhere was."""
    shape, format = (2**40, 2**40), level(level(ln.Element(fill)))
    lost = ln.full(shape, np.nan, format=format)
    with pytest.raises(ln.LinnetError, match="every NaN"):
        ln.unique_values(lost)
    assert ln.unique_values(ln.full(shape, 1.5, format=format).to(format)).tolist() == [1.5]
