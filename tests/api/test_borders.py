"""Arguments at and beyond every border: what is too large, too many, or of no meaning at all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linnet as ln
from linnet import loops
from linnet.algebra.table import FUNCTIONS
from linnet.backend import machine, toolchain
from linnet.errors import (
    DTypeError,
    FormatError,
    KernelSyntaxError,
    LinnetError,
    OutOfMemoryError,
    RangeError,
    ShapeError,
    StageError,
)
from linnet.frontend.text import parse_text
from linnet.loops.printer import show

M = np.arange(1, 13.0).reshape(3, 4) * (np.arange(12).reshape(3, 4) % 3 != 0)
FORMATS = [ln.CSR, ln.CSC, ln.DCSR, ln.COO(2), ln.RLE, ln.BAND, ln.DENSE(2)]
LONG = [sign * n for n in (2**62, 2**63 - 1, 2**63, 2**64, 2**100) for sign in (1, -1)]


# -- slices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_steps_beyond_the_end(format):
    for step, start in itertools.product(LONG, (None, 1, -1)):
        along = slice(start, None, step)
        for index in ((along,), (slice(None), along), (along, along), (1, along)):
            A = ln.asarray(M, format=format)
            assert np.array_equal(A[index].to_numpy(), M[index])
            assert np.array_equal(ln.lazy(A)[index].compute().to_numpy(), M[index])
            expected = M.copy()
            A[index] = expected[index] = 7
            assert np.array_equal(A.to_numpy(), expected)


def test_steps_of_steps():
    A = ln.asarray(M, format="csr")
    assert ln.lazy(A)[:: 2**40][:: 2**40].compute().to_numpy().tolist() == M[:1].tolist()


# -- repetitions and diagonals ---------------------------------------------------------------------


@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE(2)], ids=str)
def test_more_repetitions_than_memory_holds(format):
    A = ln.asarray(M, format=format)
    for times in (2**40, 2**58, 2**62, 2**64):
        for repeated in (ln.repeat, ln.tile):
            with pytest.raises(LinnetError):
                repeated(A, times)
    with pytest.raises((OutOfMemoryError, ShapeError)):
        ln.repeat(A, np.array([2**62, 2**62, 2**62]), axis=0)
    assert np.array_equal(ln.repeat(A, 2, axis=0).to_numpy(), np.repeat(M, 2, axis=0))


@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE(2)], ids=str)
def test_diagonals_beyond_the_corners(format):
    A = ln.asarray(M, format=format)
    for offset in (-(2**31), 2**31, 2**62, -(2**64)):
        assert ln.linalg.diagonal(A, offset=offset).shape == (0,)
        assert ln.linalg.trace(A, offset=offset).to_numpy() == 0
    for offset in range(-4, 6):
        found = ln.linalg.diagonal(A, offset=offset).to_numpy()
        assert found.tolist() == np.diagonal(M, offset).tolist()


def test_formats_that_are_too_large():
    A = ln.asarray(M, format="csr")
    for large in (
        lambda: ln.CSF(2**62), lambda: ln.COO(2**62), lambda: ln.workspace(2**62),
        lambda: A.tobsr((2**62, 2)), lambda: A.tobsr((2**31, 1)),
    ):  # fmt: skip
        with pytest.raises(LinnetError):
            large()


def test_differences_without_end():
    assert ln.diff(ln.asarray(M), n=2**62).shape == (3, 0)


def test_nothing_is_rolled():
    assert ln.fft.fftshift(ln.asarray(3.0)).to_numpy() == 3


# -- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", [ln.DENSE(1), ln.COO(1)], ids=str)
@pytest.mark.parametrize("number", [2**63, 2**64, -(2**64), 2**200])
def test_integers_that_do_not_fit(format, number):
    x = ln.asarray([1, 2, 3], format=format)
    for index in (0, slice(None)):
        with pytest.raises(DTypeError, match="does not fit an array of int64"):
            x[index] = number
    with pytest.raises(DTypeError, match="values of dtype float64 do not fit an array of int64"):
        x[0] = 0.5
    assert x.to_numpy().tolist() == [1, 2, 3]


def test_axes_that_are_none():
    A = ln.asarray(M, format="csr")
    for axes in (0.3, "x", (0.3, 1), 1, 2**64):
        with pytest.raises(LinnetError):
            A.transpose(axes)
        with pytest.raises(LinnetError):
            np.transpose(A, axes)
        with pytest.raises(LinnetError):
            np.swapaxes(A, axes, 0) if axes != 1 else A.transpose((axes,))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "int64", "bool"])
def test_counts_of_integers(dtype):
    values = np.array([1, 0, 1, 1], dtype)
    found = np.bincount(ln.asarray(values), minlength=4)
    assert found.to_numpy().tolist() == np.bincount(values.astype(np.int64), minlength=4).tolist()
    assert np.bincount(ln.asarray(values[:0])).shape == (0,)


def test_counts_that_are_refused():
    for values, length in (([2**62], 0), ([1], -1), ([1], 0.5), ([-1], 0)):
        with pytest.raises(LinnetError):
            np.bincount(ln.asarray(values), minlength=length)


def test_arrays_beside_none():
    """As Matplotlib has them: `plt.bar(v, v)`."""
    v = ln.asarray([1.0, 2.0, 3.0], format=ln.COO(1))
    found = np.broadcast_arrays(np.arange(3), v, 0.8, None, np.array([None]))
    assert [x.tolist() for x in found[:2]] == [[0, 1, 2], [1.0, 2.0, 3.0]]
    assert found[3].tolist() == [None] * 3


# -- memory ----------------------------------------------------------------------------------------


def test_memory_that_numpy_does_not_get(monkeypatch):
    def without(*args, **named):
        raise MemoryError("Unable to allocate 7 TiB")

    x = ln.asarray([3.0, 1.0, 2.0])
    for module, name, call in (
        (np, "sort", lambda: ln.sort(x)),
        (np, "argsort", lambda: ln.argsort(x)),
        (np.random, "default_rng", lambda: ln.random((3, 3), density=0.5)),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, without)
            with pytest.raises(OutOfMemoryError, match="7 TiB"):
                call()


def test_errors_of_the_user_stay_what_they_are():
    def broken(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$") as error:
        ln.fuse(broken)(ln.asarray(M))
    assert not isinstance(error.value, LinnetError)


def test_what_numpy_says_of_an_argument():
    with pytest.raises(RangeError, match="`qr` was given something that it does not take"):
        ln.linalg.qr(ln.asarray(M), mode="x")


# -- dimensions ------------------------------------------------------------------------------------


def listed(ndim, format):
    return ln.tensor([np.array([0, 1])] * ndim, [1.0, 2.0], (2,) * ndim, format=format(ndim))


def test_many_dimensions_compile_soon_or_are_refused_at_once():
    """A nest of loops was followed once for each of its 2ⁿ ways through it."""
    T = ln.asarray(np.ones((2,) + (1,) * 25))
    assert (T + 1).to_numpy().sum() == 4
    S = listed(22, ln.COO)
    assert (S + S).nnz == 2
    for wide in (lambda: ln.asarray(np.ones((2,) + (1,) * 47)) + 1, lambda: listed(48, ln.CSF) * 2):
        with pytest.raises(FormatError, match="too many dimensions"):
            wide()
    with pytest.raises(FormatError, match="too many dimensions"):
        listed(48, ln.COO) + listed(48, ln.COO)
    S = listed(48, ln.COO)
    assert (S + S).nnz == 2


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_loops_that_are_nested_deeply_are_not_optimized(monkeypatch, backend):
    """To follow addresses through all of them took LLVM many seconds: seven of 32 in `T.T + T`.

    Codelets that are shared are compiled on their own, and always optimized.
    """
    wanted = []
    compilers = {
        "llvm": (machine, lambda text, optimize, target: optimize),
        "c": (toolchain, lambda text, options: options.optimize),
    }
    module, told = compilers[backend]
    compile = module.compile

    def watched(text, *rest):
        if backend == "c" or "(ptr noalias %args)" in text:
            wanted.append(told(text, *rest))
        return compile(text, *rest)

    monkeypatch.setattr(module, "compile", watched)
    with ln.config(backend=backend, optimize=True, cache=False):
        for n, optimized in ((3, True), (14, True), (15, False), (24, False)):
            wanted.clear()
            values = np.arange(8.0).reshape((2, 2, 2) + (1,) * (n - 3))
            T = ln.asarray(values)
            assert np.array_equal((T.T * T).to_numpy(), values.T * values)
            assert wanted == [optimized]
        for format in (ln.COO, ln.CSF):
            S, wanted[:] = listed(18, format), ()
            values = S.to_numpy()
            assert np.array_equal((S.T - S * 3).to_numpy(), values.T - values * 3)
            assert wanted
            assert not any(wanted)


def test_broadcast_dimensions_add_a_test_each():
    """Each had loops of its own for where its only index is not: 31 compiled for minutes."""
    S, shape = listed(31, ln.COO), (1,) * 31
    assert (S * np.full(shape, 2.0)).nnz == (np.full(shape, 2.0) * S).nnz == 2
    tests = [
        ln.explain(ln.lazy(listed(n, ln.COO)) * np.ones((1,) * n))["code"].count("if (")
        for n in (4, 8, 12)
    ]
    assert tests[2] - tests[1] == tests[1] - tests[0]


# -- depth -----------------------------------------------------------------------------------------

_MOST = "y[...] = 0\nfor i in ...:\n    y[i] = max({})"


def deepest(values):
    return ln.Kernel(parse_text(_MOST.format(", ".join(values))))


def test_many_arguments():
    most = deepest(f"x[i] + {k}" for k in range(300))
    found = most(ln.empty_tensor(ln.DENSE(1)), np.arange(3.0))
    assert found.to_numpy().tolist() == [299.0, 300.0, 301.0]
    assert "299" in most.loops(ln.empty_tensor(ln.DENSE(1)), np.arange(3.0))


def test_programs_that_are_nested_too_deeply():
    value = loops.Access("x", (loops.Index("i"),))
    for _ in range(2000):
        value = loops.Call(FUNCTIONS["add"], (value, loops.Literal(1.0)))
    body = loops.Loop("i", None, loops.Assign(loops.Access("y", (loops.Index("i"),)), None, value))
    program = loops.Program("deep", ("y", "x"), (), body, ("y",))
    with pytest.raises(KernelSyntaxError, match="nested too deeply"):
        show(program)
    args = ln.asarray(np.zeros(3)), np.arange(3.0)
    for use in (lambda k: k(*args), lambda k: k.loops(*args), lambda k: ln.explain(k, *args)):
        with pytest.raises(KernelSyntaxError, match="nested too deeply"):
            use(ln.Kernel(program))


def test_stages_that_are_not_there():
    explained = ln.explain(deepest(["x[i]", "2"]), ln.empty_tensor(ln.DENSE(1)), np.arange(3.0))
    with pytest.raises(StageError, match="there is no stage 'resluts' here") as error:
        explained["resluts"]
    assert "try:  one of program, dimensions, scopes" in str(error.value)
    assert isinstance(error.value, KeyError)


def test_arrays_of_indices_that_do_not_fit():
    for format in (ln.DENSE(2), ln.CSR):
        with pytest.raises(ShapeError, match="fit together"):
            ln.asarray(M, format=format)[np.array([0, 1]), np.array([0, 1, 2])]
