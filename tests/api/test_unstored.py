"""What an array does not store stays so when it is taken out: `f(x, y)[i]` is `f(x[i], y[i])`.

To the last bit, for every function, format and fill value: an unstored 0 times infinity is 0 in an
array, and so it is of its elements; a 0 that is stored follows IEEE 754 in both.
"""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest

import linnet as ln
from linnet.runtime.watch import watch

INF, NAN = np.inf, np.nan
FUNCTIONS = [f for name in dir(ln) if isinstance(f := getattr(ln, name), ln.Function)]
NUMBERS = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, -2.5, 3.0]
VALUES = {"float64": NUMBERS, "int64": [0, 1, 2, 3, 5], "bool": [False, True]}
FILLS = {"float64": [0.0, 0.0, 1.0, INF, NAN, -0.0], "int64": [0, 0, 1], "bool": [False, True]}
FORMATS = {
    "dense": ln.DENSE(1),
    "coo": ln.COO(1),
    "csf": ln.CSF(1),
    "runs": ln.RunList(ln.Element()),
    "sparse runs": ln.SparseRunList(ln.Element()),
    "bytes": ln.SparseByteMap(ln.Element()),
}


def drawn(draw: random.Random, dtype: str, n: int = 40) -> ln.Tensor:
    """A vector of some values, a part of which is stored; zeros among them."""
    format, fill = draw.choice(list(FORMATS)), draw.choice(FILLS[dtype])
    at = sorted(draw.sample(range(n), n // 2))
    values = np.array(draw.choices(VALUES[dtype], k=len(at)), dtype)
    if format in ("coo", "csf", "bytes"):
        return ln.tensor([at], values, (n,), format=FORMATS[format], fill_value=fill)
    full = np.full(n, fill, dtype)
    full[at] = values
    return ln.asarray(full, format=FORMATS[format], fill_value=fill)


def bits(x: ln.Tensor) -> tuple[object, ...]:
    """What two elements have in common that are the same; NaN is NaN."""
    array = np.atleast_1d(x.to_numpy())
    parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
    told = ["nan" if part[0] != part[0] else part.tobytes() for part in parts]
    return str(array.dtype), *told


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_indexing_and_functions_commute(function):
    draw = random.Random(function.name)
    done = 0
    for dtype in [*VALUES, "float64"]:
        args = [drawn(draw, dtype) for _ in range(function.arity)]
        try:
            found = function(*args)
        except TypeError:  # there is no such function of this dtype
            continue
        done += 1
        for i in range(40):
            parts = [x[i] for x in args]
            assert bits(function(*parts)) == bits(found[i]), (i, args, parts)
    assert done


@pytest.mark.parametrize("format", ["coo", "csf"])
def test_functions_of_functions_commute(format):
    x = ln.tensor([[0, 1, 3]], [1.0, 0.0, -2.0], (6,), format=format)
    y = ln.tensor([[1, 2, 3]], [INF, NAN, 4.0], (6,), format=format)
    z = ln.asarray([INF, INF, -1.0, NAN, -INF, NAN])
    found = (x * y - x) * z
    for i in range(6):
        assert bits((x[i] * y[i] - x[i]) * z[i]) == bits(found[i])
        assert (x[i] * y[i]).nnz == (x * y)[i].nnz


def test_what_is_stored_follows_ieee_754():
    x = ln.tensor([[0]], [0.0], (2,), format="csf")
    assert np.isnan(float(x[0] * INF * ln.asarray(1.0)))
    assert np.isnan(float(x[0] * ln.asarray(INF)))
    assert bits(x[1] * ln.asarray(-INF)) == bits(ln.asarray(0.0))
    assert bits(x[0] * ln.asarray(-1.0)) == bits(ln.asarray(-0.0))
    assert bits(x[1] * ln.asarray(-1.0)) == bits(ln.asarray(0.0))


def test_elements_beside_arrays():
    x = ln.tensor([[1]], [2.0], (3,), format="csf")
    d = ln.asarray([INF, NAN, -1.0])
    assert (x[0] * d).to_numpy().tobytes() == np.zeros(3).tobytes()
    assert (x[0] * d).format == d.format  # an element makes nothing sparse
    assert (x[0] + d).to_numpy().tobytes() == d.to_numpy().tobytes()
    kept = x[0] + x
    assert (kept.nnz, kept.fill_value, kept.format) == (1, 0.0, x.format)
    assert (x[0] * x).nnz == 0
    outer = x[0] * ln.outer(x, d)
    assert outer.to_numpy().tobytes() == np.zeros((3, 3)).tobytes()


def test_a_loop_over_numbers_compiles_once():
    x = ln.tensor([[1]], [2.0], (3,), format="csf")
    assert {float((x[0] + c) * x[1]) for c in (0.25, 0.5)} == {0.5, 1.0}
    with watch() as seen:
        found = [float((x[0] + c) * x[1]) for c in np.linspace(3, 4, 9)]
    assert found == [2 * c for c in np.linspace(3, 4, 9)]
    assert len({id(entry) for entry, _ in seen}) <= 1


def test_what_an_element_is_to_others():
    x = ln.tensor([[1]], [2.0], (3,), format="csf", fill_value=7.0)
    u, s = x[0], x[1]
    assert (u.nnz, u.shape, u.dtype, u.fill_value, u.data.tolist()) == (0, (), float, 7.0, [])
    assert (s.nnz, s.data.tolist()) == (1, [2.0])
    assert (float(u), int(u), bool(u), complex(u), u.item()) == (7.0, 7, True, 7 + 0j, 7.0)
    assert bool(u == 7.0)
    assert bool(u != s)
    assert bool(u > s)
    assert np.asarray(u) == 7.0
    assert np.from_dlpack(u) == 7.0
    assert f"{u!r}" == "Tensor(7.0, dtype=float64, format=Unstored(7.0, 'float64'))"
    for same in (copy.copy(u), copy.deepcopy(u), pickle.loads(pickle.dumps(u)), u[()], u[...]):
        assert (same.nnz, same.item()) == (0, 7.0)
    for same in (
        u.to(ln.DENSE(0)),
        ln.asarray(u, format=ln.DENSE),
        ln.asarray(5.0, format=u.format),
    ):
        assert same.nnz == 1
    assert ln.astype(u, "float32").nnz == 0
    assert u.reshape(1).to_numpy().tolist() == [7.0]
    assert ln.stack([u, s]).to_numpy().tolist() == [7.0, 2.0]


@pytest.mark.parametrize("again", [copy.copy, lambda u: pickle.loads(pickle.dumps(u)), lambda u: u])
def test_an_element_that_is_written_to_is_stored(again):
    @ln.kernel
    def add(s, a):
        for i in ...:
            s[()] += a[i]
        return s

    @ln.kernel
    def total(s, a):
        s[...] = 0
        for i in ...:
            s[()] += a[i]
        return s

    x = ln.tensor([[1]], [2.0], (3,), format="csf", fill_value=7.0)
    for kernel, expected in ((add, 9.0), (total, 2.0 + 7.0 + 7.0)):
        values = x if kernel is total else ln.asarray([2.0])
        found = kernel(again(x[0]), values)
        assert (found.nnz, found.item()) == (1, expected)
    u = again(x[0])
    u[()] = 3.0
    assert (u.nnz, u.item(), x[0].item()) == (1, 3.0, 7.0)


def test_kernels_know_that_it_is_not_stored():
    @ln.kernel
    def scaled(y, s, a):
        y[...] = 0
        for i in ...:
            y[i] = s[()] * a[i]
        return y

    x = ln.tensor([[1]], [0.0], (2,), format="csf")
    a = np.array([INF, NAN, -1.0])
    for s, expected in ((x[0], np.zeros(3)), (x[1], [NAN, NAN, -0.0])):
        out = ln.empty_tensor(ln.DENSE(1))
        np.testing.assert_array_equal(scaled.reference(out, s, a)["y"], expected)
        np.testing.assert_array_equal(scaled(out, s, a).to_numpy(), expected)


@pytest.mark.parametrize("fill", [0.0, -0.0, NAN, 2.0])
@pytest.mark.parametrize("n", [2**15, 2**50])
def test_of_arrays_that_store_much(n, fill):
    at = np.arange(2**15) * 2 if n > 2**20 else np.arange(1, 2**15)
    values = np.where(at % 4, 1.0, fill)
    x = ln.tensor([at], values, (n,), format="coo", fill_value=fill)
    assert [x[int(i)].nnz for i in (at[0], at[4], at[9])] == [1, 1, 1]
    unstored = x[0 if n < 2**20 else 1]
    assert (unstored.nnz, repr(unstored.item())) == (0, repr(fill))


def test_elements_are_written_as_numbers():
    x = ln.tensor([[1]], [5.0], (3,), format="csf")
    assert f"{x[0]:.2f} {x[1]:6.1f}" == "0.00    5.0"
    assert f"{x[0]}" == str(x[0])
    with pytest.raises(ln.LinnetError, match="not a single number"):
        format(x, ".2f")


def test_a_number_has_no_dimension_to_go_along():
    with pytest.raises(IndexError, match="0 dimensions"):
        ln.cumulative_sum(ln.tensor([[1]], [5.0], (3,), format="csf")[0])
