"""Every level as a result: in order, out of order, with gaps, in part, and where it cannot be."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from tests.levels.samples import ALL, NEW, ONE, agree, array_for, nest, stored

import linnet as ln
from linnet.errors import FormatError

SEVERAL = [letter for letter in NEW if letter not in ONE]
TWO = [a + b for a, b in itertools.product(ALL, ALL) if {a, b} & set(NEW) and not {a, b} & set(ONE)]


@ln.kernel
def copy(z, x):
    z[...] = 0
    for i in ...:
        z[i] = x[i]


@ln.kernel
def positive(z, x):
    z[...] = 0
    for i in ...:
        if x[i] > 0:
            z[i] = x[i]


@ln.kernel
def add(z, x, y):
    z[...] = 0
    for i in ...:
        z[i] = x[i] + y[i]


@pytest.mark.parametrize("result", SEVERAL)
@pytest.mark.parametrize("operand", ALL)
def test_vectors(result, operand):
    for seed, (kernel, n) in enumerate(itertools.product((copy, positive, add), (0, 1, 9))):
        rng = np.random.default_rng(seed)
        args = {"z": ln.empty_tensor(nest(result))}
        args |= {p: stored(operand, (n,), rng) for p in kernel.program.params[1:]}
        agree(kernel, args)


@pytest.mark.parametrize("letter", NEW)
def test_what_a_level_holds_is_copied(letter):
    for seed, source in enumerate("DSBH" + letter):
        array = array_for(letter, (9,), np.random.default_rng(seed))
        z, x = ln.empty_tensor(nest(letter)), ln.asarray(array, format=nest(source))
        if source == "D" and letter in ONE:  # every element would be written
            agree(positive, {"z": z, "x": ln.asarray(abs(array), format=nest(source))})
        else:
            agree(copy, {"z": z, "x": x}, ("llvm", "c") if source == letter else ())


# -- matrices ------------------------------------------------------------------------------------


@ln.kernel
def copy_matrix(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j]


@ln.kernel
def transpose(C, A):
    C[...] = 0
    for i, j in ...:
        C[j, i] = A[i, j]


@ln.kernel
def some_rows(C, A, x):
    C[...] = 0
    for i in ...:
        if x[i] > 0:
            for j in ...:
                if A[i, j] > 0:
                    C[i, j] = A[i, j]


@ln.kernel
def matmul(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]


@ln.kernel
def two_results(C, z, A):
    C[...] = 0
    z[...] = 0
    for i, j in ...:
        C[i, j] = 2 * A[i, j]
        z[i] += A[i, j]


MATRIX = (copy_matrix, transpose, some_rows, matmul, two_results)


@pytest.mark.parametrize("letters", TWO)
def test_matrices(letters):
    drawn = random.Random(letters)
    for kernel in drawn.sample(MATRIX, 2):
        n = drawn.choice((0, 1, 4, 7))
        rng = np.random.default_rng(n)
        order = drawn.choice((None, None, (1, 0)))
        args = {"C": ln.empty_tensor(nest(letters, order))}
        if kernel is two_results:
            args["z"] = ln.empty_tensor(nest(drawn.choice(SEVERAL)))
        for p in kernel.program.params[len(args) :]:
            operand = drawn.choice(ALL) + drawn.choice(ALL) * (p != "x")
            args[p] = stored(operand, (n,) * len(operand), rng)
        agree(kernel, args)


@ln.kernel
def copy_cube(C, A):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = A[i, j, k]


@pytest.mark.parametrize("seed", range(60))
def test_cubes(seed):
    drawn = random.Random(seed)
    result = "".join(drawn.choice(TWO) + drawn.choice([x for x in ALL if x not in ONE]))
    n = drawn.choice((1, 3, 4))
    source = stored("".join(drawn.choices(ALL, k=3)), (n, n, n), np.random.default_rng(seed))
    ways = ("llvm",) if seed % 20 == 0 else ()
    agree(copy_cube, {"C": ln.empty_tensor(nest(result)), "A": source}, ways)


# -- runs of more than values ----------------------------------------------------------------------


PIXELS = np.array([[1, 2, 3], [1, 2, 3], [1, 2, 4], [0, 0, 0], [0, 0, 0], [1, 2, 4]], float)


def test_runs_of_triples():
    z = ln.empty_tensor(ln.RunList(ln.Dense(ln.Element(0.0))))
    copy_matrix(z, ln.asarray(PIXELS))
    assert z.buffers["right0"].tolist() == [2, 3, 5, 6]
    assert z.buffers["val"].reshape(-1, 3).tolist() == [[1, 2, 3], [1, 2, 4], [0, 0, 0], [1, 2, 4]]
    sparse = z.to(ln.SparseRunList(ln.Dense(ln.Element(0.0))))
    assert sparse.buffers["left0"].tolist() == [0, 2, 5]
    assert sparse.buffers["right0"].tolist() == [2, 3, 6]


@pytest.mark.parametrize("letters", ["R" + x for x in "DSCRUVNK"] + ["RDS", "USN", "RKV", "UNR"])
def test_equal_subfibers_are_stored_once(letters):
    rng = np.random.default_rng(0)
    shape = (6,) * len(letters)
    array = np.repeat(array_for(letters, (3, *shape[1:]), rng), 2, axis=0)
    kernel = copy_matrix if len(letters) == 2 else copy_cube
    source = ln.asarray(array, format=nest("S" * len(letters)))
    z = agree(kernel, {"C": ln.empty_tensor(nest(letters)), "A": source})["C"]
    packed = ln.asarray(array, format=nest(letters))
    assert z.buffers["right0"].tolist() == packed.buffers["right0"].tolist()


def test_runs_of_different_zeros_and_of_nan():
    x = ln.asarray(np.array([0.0, -0.0, -0.0, np.nan, np.nan, 1.0]))
    z = ln.empty_tensor(ln.RunList(ln.Element(0.0)))
    copy(z, x)
    assert z.buffers["right0"].tolist() == [1, 3, 5, 6]
    assert np.signbit(z.buffers["val"][:2]).tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float32", "complex64", "complex128"])
def test_values_of_every_type_are_compared(dtype):
    x = ln.asarray(np.array([1, 1, 0, 0, 0, 1]).astype(dtype))
    z = ln.empty_tensor(ln.RunList(ln.Element(dtype=dtype)))
    copy(z, x)
    assert z.buffers["right0"].tolist() == [2, 5, 6]
    assert z.buffers["val"].tolist() == [1, 0, 1]


# -- what does not fit -----------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize(
    ("letter", "values", "what"),
    [
        ("P", [0, 1, 0, 2], "a second element is written to a fiber of `z` in `copy`"),
        ("V", [0, 1, 0, 1], "a second run is written to a fiber of `z` in `copy`"),
        ("V", [0, 1, 2, 0], "a second run is written to a fiber of `z` in `copy`"),
    ],
)
def test_refused(letter, values, what, backend):
    x = ln.asarray(np.array(values, float), format=nest("S"))
    z = ln.empty_tensor(nest(letter))
    with ln.config(backend=backend), pytest.raises(FormatError) as error:
        copy(z, x)
    assert error.value.message == what


@pytest.mark.parametrize("letters", ["D", "R", "N"])
def test_patterns_need_a_level_that_stores_single_indices(letters):
    z = ln.empty_tensor(nest(letters, leaf=ln.Pattern()))
    with pytest.raises(FormatError, match="`z` would store more than is true"):
        copy(z, ln.asarray(np.array([True, False])))


@pytest.mark.parametrize("letters", ["S", "U", "V", "P", "K", "DU", "RS"])
def test_patterns(letters):
    array = array_for(letters, (5,) * len(letters), np.random.default_rng(3)) != 0
    array = array if letters != "V" else np.array([False, True, True, False, False])
    kernel = copy if array.ndim == 1 else copy_matrix
    result, operand = kernel.program.params
    source = ln.asarray(array, format=nest(letters, leaf=ln.Pattern()))
    agree(kernel, {result: ln.empty_tensor(source.format), operand: source})


def test_elements_of_one_fiber_are_combined():
    @ln.kernel
    def gather(P, A):
        P[...] = 0
        for i, j in ...:
            P[j] += A[i, j]

    A = np.zeros((3, 4))
    A[:, 2] = 1, 2, 3
    args = {"P": ln.empty_tensor(nest("P")), "A": ln.asarray(A, format=nest("SS"))}
    assert agree(gather, args)["P"].buffers["val"].tolist() == [6.0]
