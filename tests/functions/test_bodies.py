"""Functions of users: what their text means, in both back ends and as Python runs it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linnet as ln
from linnet.algebra.meaning import interpreted

BACKENDS = ["llvm", "c"]
WEIGHT = 3
HALF = np.float32(0.5)


@ln.function
def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@ln.function
def horner(x):
    total = 0
    for k in range(4):
        total = total * x + k
    return total


@ln.function
def countdown(x, n):
    for k in range(n, 0, -2):
        if x > 100:
            return x
        x = x + k
    return -x


@ln.function
def classify(x):
    if x != x:
        return -1
    elif x < 0:
        kind = 1
    else:
        kind = 2
    return kind * WEIGHT


@ln.function
def swapped(x, y):
    x, y = y, x
    return x - y


@ln.function
def clamped(x, y, z):
    return min(max(x, y), z, 7)


@ln.function
def halved(x):
    return x * HALF


@ln.function
def rounded(x):
    return math.floor(x) + x * 0 if abs(x) < 50 else x


@ln.function
def bits(x, y):
    return (x << 2 | y) ^ (x & ~y) >> 1


@ln.function
def inner(x):
    return x * x + 1


@ln.function
def outer(x, y):
    return inner(x) - inner(y) + ln.hypot(x, y) + np.sqrt(abs(x))


def plain(x):
    return x + 0.25


@ln.function
def through(x):
    return plain(x) * plain(x)


@ln.function
def rotated(z, w):
    turned = z * complex(0, 1) + w.conjugate()
    return turned.real * 2 + turned.imag if abs(turned) > 1 else turned.real


@ln.function
def early(x):
    for k in range(10):
        if k * k > x:
            return k
    return 10


@ln.function
def last_of_loop(x):
    found = k = 0
    for k in range(3):
        found = x + k
    return found + k


@ln.function
def broken_off(x):
    count = 0
    while True:
        count = count + 1
        if count > x:
            break
    return count


@ln.function(dtype="float32")
def narrow(x, y):
    return x / y


INTEGERS = ["int8", "int32", "int64", "uint8", "uint64"]
REALS = [*INTEGERS, "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
CASES = [
    (collatz, ["int32", "int64", "uint8"]),
    (horner, [*REALS, *COMPLEX]),
    (countdown, [("float64", "int32"), ("float32", "int64"), ("int64", "int8")]),
    (classify, ["int32", "float32", "float64"]),
    (swapped, [*REALS, ("int32", "float32"), *COMPLEX]),
    (clamped, REALS),
    (halved, ["int8", "float32", "float64", "complex64"]),
    (rounded, ["float32", "float64"]),
    (bits, INTEGERS),
    (inner, [*REALS, *COMPLEX]),
    (outer, ["float32", "float64", "int32"]),
    (through, ["float32", "float64", "int16"]),
    (rotated, COMPLEX),
    (early, REALS),
    (last_of_loop, REALS),
    (broken_off, ["int8", "float32", "float64"]),
    (narrow, ["int32", "float64"]),
]
FLAT = [(f, d if isinstance(d, tuple) else (d,) * f.arity) for f, dtypes in CASES for d in dtypes]


def sample(dtype: str, seed: int, n: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype.startswith("complex"):
        return (rng.integers(-8, 9, n) / 4 + 1j * rng.integers(-8, 9, n) / 4).astype(dtype)
    if dtype.startswith("float"):
        values = rng.integers(-40, 200, n) / 4
        values[:3] = 0, 0.5, -0.25
        return values.astype(dtype)
    low = 0 if dtype.startswith("u") else -20
    return rng.integers(low, 100, n).astype(dtype)


def kernel_of(function: ln.Function) -> ln.Kernel:
    match function.arity:
        case 1:

            @ln.kernel
            def apply(r, a):
                r[...] = 0
                for i in ...:
                    r[i] = function(a[i])

        case 2:

            @ln.kernel
            def apply(r, a, b):
                r[...] = 0
                for i in ...:
                    r[i] = function(a[i], b[i])

        case _:

            @ln.kernel
            def apply(r, a, b, c):
                r[...] = 0
                for i in ...:
                    r[i] = function(a[i], b[i], c[i])

    return apply


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "dtypes"), FLAT, ids=lambda x: str(x))
def test_compiled_text_means_what_python_means(function, dtypes, backend):
    args = [sample(d, k) for k, d in enumerate(dtypes)]
    with np.errstate(all="ignore"):
        expected = [function(*row) for row in zip(*args, strict=True)]
    result = function.types(dtypes)[1]
    apply = kernel_of(function)
    r = ln.empty_tensor(ln.DENSE(1).with_dtype(result))
    with ln.config(backend=backend, check=True):
        found = apply(r, *args).to_numpy()
    assert found.dtype == result
    np.testing.assert_allclose(found, np.array(expected, result), rtol=1e-5, atol=1e-6)
    reference = apply.reference(ln.empty_tensor(ln.DENSE(1).with_dtype(result)), *args)["r"]
    np.testing.assert_allclose(reference, found, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("function", "dtypes"), FLAT, ids=lambda x: str(x))
def test_interpreted_code_means_what_python_means(function, dtypes):
    for row in zip(*(sample(d, k, n=8) for k, d in enumerate(dtypes)), strict=True):
        found = interpreted(function.body, list(row))
        expected = np.array(function.numpy(*row)).astype(found.dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "dtypes", "result"),
    [
        (inner, ("int8",), "int8"),
        (inner, ("bool",), "int64"),
        (inner, ("weak_int",), "weak_int"),
        (halved, ("int8",), "float32"),
        (halved, ("float64",), "float64"),
        (horner, ("float32",), "float32"),
        (swapped, ("int32", "float32"), "float64"),
        (swapped, ("float32", "weak_int"), "float32"),
        (swapped, ("int8", "weak_float"), "float64"),
        (rounded, ("float32",), "float32"),
        (collatz, ("uint8",), "int64"),
        (narrow, ("int64", "int64"), "float32"),
        (rotated, ("complex64", "complex64"), "float32"),
    ],
)
def test_types_are_those_of_numpy(function, dtypes, result):
    assert function.types(dtypes)[1] == result


def test_number_with_a_type_meets_one_without():
    assert type(swapped(np.float32(1.5), 2)) is np.float32
    assert swapped(1, 2) == 1
    assert type(swapped(1, 2)) is int


@pytest.mark.parametrize("backend", BACKENDS)
def test_python_number_takes_the_type_of_its_company(backend):
    @ln.kernel
    def shifted(r, a):
        r[...] = 0
        for i in ...:
            r[i] = swapped(a[i], 2)

    a = np.array([1.5, 2.5], np.float32)
    with ln.config(backend=backend, check=True):
        found = shifted(ln.empty_tensor(ln.DENSE(1)), a)
    assert found.dtype == "float32"
    assert found.to_numpy().tolist() == [0.5, -0.5]


def test_names_are_those_at_first_sight():
    scale = 2

    @ln.function
    def scaled(x):
        return x * scale

    assert scaled(3) == 6
    scale = 5
    assert scaled(3) == 6


def test_lambdas_of_one_line_are_told_apart():
    f, g = ln.function(lambda x: x + 1), ln.function(lambda x: x + 2)
    nested = (ln.function(lambda x, y: x * (y + 1)), 7)
    assert f(1) == 2
    assert g(1) == 3
    assert nested[0](2, 3) == 8
    assert f.types(("float32",)) == (("float32",), "float32")


def test_equal_names_are_told_apart_in_one_kernel():
    first, second = ln.function(lambda x: x * 2 + x * 3), ln.function(lambda x: x - x * 3)

    @ln.kernel
    def both(r, a):
        r[...] = 0
        for i in ...:
            r[i] = first(a[i] + 1) + second(a[i] + 1)

    found = both(ln.empty_tensor(ln.DENSE(1)), np.array([1.0, 2.0]))
    assert found.to_numpy().tolist() == [6.0, 9.0]


def test_recursion():
    @ln.function
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    @ln.kernel
    def apply(r, a):
        r[...] = 0
        for i in ...:
            r[i] = factorial(a[i])

    found = apply(ln.empty_tensor(ln.DENSE(1)), np.arange(6))
    assert found.to_numpy().tolist() == [1, 1, 2, 6, 24, 120]


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_and_places(backend):
    """Any name will do; functions may be without arguments, in indices and in conditions."""

    @ln.function
    def größe(x):
        while x > 10:
            x = x - 3
        return x

    three = ln.function(lambda: 3)
    turned = ln.function(lambda i, n: (i * 2 + 1) % n)
    small = ln.function(lambda x: not x > 20)

    @ln.kernel
    def apply(r, a):
        r[...] = 0
        for i in ...:
            if small(a[i]):
                r[i] = größe(a[i]) + three() + a[turned(i, 5)]

    a = np.array([1.0, 15.0, 30.0, 4.0, 5.0])
    with ln.config(backend=backend, check=True):
        found = apply(ln.empty_tensor(ln.DENSE(1)), a).to_numpy()
    assert found.tolist() == [19.0, 16.0, 0.0, 37.0, 13.0]
    assert apply.reference(ln.empty_tensor(ln.DENSE(1)), a)["r"].tolist() == found.tolist()


def test_integers_wrap_around_in_both_readings():
    tripled = ln.function(lambda x: int(x) * 3)

    @ln.kernel
    def apply(r, a):
        r[...] = 0
        for i in ...:
            r[i] = tripled(a[i])

    a = np.array([1e30, -1e30, np.nan, -2.7])
    found = apply(ln.empty_tensor(ln.DENSE(1)), a).to_numpy()
    reference = apply.reference(ln.empty_tensor(ln.DENSE(1)), a)["r"]
    assert found.tolist() == reference.tolist() == [2**63 - 3, -(2**63), 0, -6]


@pytest.mark.parametrize("rounding", [round, int, math.floor, math.ceil, math.trunc])
def test_integers_stay_as_they_are_in_both_readings(rounding):
    """A float has not as many digits."""
    whole = ln.function(lambda x: rounding(x) + 1)

    @ln.kernel
    def apply(r, a):
        r[...] = 0
        for i in ...:
            r[i] = whole(a[i])

    a = np.array([2**60 + 1, -(2**62) - 3, 7])
    found = apply(ln.empty_tensor(ln.Dense(ln.Element(0))), a).to_numpy()
    reference = apply.reference(ln.empty_tensor(ln.Dense(ln.Element(0))), a)["r"]
    assert found.tolist() == reference.tolist() == (a + 1).tolist()


def test_update_operator():
    @ln.function(commutative=True, associative=True, identity=0)
    def probably(x, y):
        return x + y - x * y

    @ln.kernel
    def union(r, A):
        r[...] = 0
        for i, j in ...:
            r[i] = probably(r[i], A[i, j])

    A = ln.asarray([[0.5, 0, 0.5], [0, 0, 0.25]], format=ln.CSR)
    assert union(ln.empty_tensor(ln.DENSE(1)), A).to_numpy().tolist() == [0.75, 0.25]
    assert "A_q < A_ptr[i + 1]" in union.code(ln.empty_tensor(ln.DENSE(1)), A)


def test_in_einsum():
    a, b = np.array([3.0, 1.0]), np.array([1.0, 5.0])
    found = ln.einsum("c[i] = f(a[i], b[i])", a=a, b=b, f=swapped)
    assert found.to_numpy().tolist() == [-2.0, 4.0]
