"""Restricted Python means, compiled, what it means as Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linnet import imp
from linnet.python.translate import translate

INT, FLOAT = "int64", "float64"
SCALE = 3


# -- programs: each is run as Python and compiled, on the same numbers ----------------------------


def gcd(x, y):
    x, y = abs(x), abs(y)
    while x != 0:
        x, y = y % x, x
    return y


def collatz(n, unused):
    steps = 0
    n = abs(n) + 1
    while n != 1 and steps < 200:
        if n % 2 == 0:
            n //= 2
        else:
            n = SCALE * n + 1
        steps += 1
    return steps


def floors(a, b):
    if b == 0:
        return 0
    return (a // b) * 1000 + a % b + (a // 8) + (a % 8) + (a // -3) + (a % 7)


def bits(a, b):
    return ((a & b) | (a ^ 5)) + (a << 3) + (b >> 2) + ~a + (-b)


def chained(a, b):
    return 1 if -3 < a <= b < 7 else (2 if a == b else 3)


def logical(a, b):
    c = a > 0 and (b > 0 or not a > 3)
    d = (a > 0) | (b > 1)
    return int(c) + 2 * int(d) + 4 * (c ^ d)


def carried(a, b):
    """A value that one iteration leaves for the next."""
    total = last = 0
    for i in range(5):
        if i > 0:
            total += last * i
        last = a + i
    return total + last


def branches(a, b):
    """Values that are given on every way, or the way is not taken."""
    for _ in range(3):
        if a > 3:
            x, y = 1, a
        elif a > 0:
            break
        else:
            x = y = 2
        a += x * y
    if b > 0:
        z = 3
    else:
        return a
    return z + a


def shadows(a, b):
    """One name, several unrelated variables."""
    total = 0
    for i in range(abs(a) % 5):
        t = i * 2
        total += t
    for i in range(1, abs(b) % 7):
        t = 1 - i
        total += t
        i += 1
        total += i
    if a > b:
        t = 17
        total += t
    return total


def steps(a, b):
    total = 0
    for i in range(a, b, 3):
        total += i
        if total > 50:
            break
    for i in range(b, a, -2):
        total = total * 2 - i
    n = 3
    for i in range(n):
        n = 10
        total += i
    return total


def parameters(a, b):
    for a in range(b):
        b += a
    a += 1
    return a * b


def swap(a, b):
    a, b = b, a - b
    a, b = a + b, a
    return a * 3 + b


def several(a, b):
    c = d = a + b
    c += 1
    return c * d


def nested(a, b):
    count = 0
    for i in range(6):
        for j in range(i, 6):
            if i * j > abs(a) % 9:
                break
            count += 1
        while count % 3 == 1:
            count += 1
            if count > b:
                return count
    return -count


def extremes(a, b):
    return min(a, b, 3) + max(a, 4) - abs(a - b)


def inner(a, b):
    return chained(a, b) * 10 + gcd(a, 12)


def factorial(n, b):
    n = abs(n) % 12
    if n == 0:
        return 1
    return n * factorial(n - 1, b)


def powers(a, b):
    return a**2 + b**3


def forever(a, b):
    while True:
        a += 1
        if a > b:
            return a


@pytest.mark.parametrize(
    "function",
    [
        gcd,
        collatz,
        floors,
        bits,
        chained,
        logical,
        carried,
        branches,
        shadows,
        steps,
        parameters,
        swap,
        several,
        nested,
        extremes,
        inner,
        factorial,
        powers,
        forever,
    ],
)
def test_integers(compiled, function):
    run = compiled(function, INT, INT)
    rng = np.random.default_rng(0)
    for a, b in [*rng.integers(-12, 13, (60, 2)).tolist(), (0, 0), (5, 5), (1, -1)]:
        assert run(a, b) == function(a, b), (a, b)


def norm(x, y):
    s = 0.0
    for v in range(3):
        s += x * v + y
    return math.sqrt(s * s + 1) / 2 - math.floor(y) + abs(x) ** 0.5


def mixed(x, y):
    s = 0
    if x > y:
        s += x
    return s + (1 if math.isnan(x) else 2) + math.pi


@pytest.mark.parametrize("function", [norm, mixed])
def test_floats(compiled, function):
    run = compiled(function, FLOAT, FLOAT)
    for x, y in np.random.default_rng(0).normal(size=(20, 2)).tolist():
        assert run(x, y) == pytest.approx(function(x, y), rel=1e-14)


def test_literals_take_the_type_of_their_company():
    def total(x):
        s = 0
        s += 2 * x
        return s

    function = translate(total, ("float32",), {})
    assert function.dtype == "float32"


# -- arrays ---------------------------------------------------------------------------------------


def histogram(keys, n, counts):
    for q in range(n):
        counts[keys[q]] += 1


def guarded(idx, q, end, target):
    while q < end and idx[q] < target:
        q += 1
    return q


def chosen(idx, q, end):
    last = idx[q] if q < end else -1
    return last + 1


def exchange(keys, a, b):
    keys[a], keys[b] = keys[b], keys[a]


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_arrays(compiled, dtype):
    counts = np.zeros(4, dtype)
    compiled(histogram, f"{dtype}*", INT, f"{dtype}*")(np.array([1, 2, 2, 3], dtype), 4, counts)
    assert counts.tolist() == [0, 1, 2, 1]
    keys = np.array([5, 6, 7], dtype)
    compiled(exchange, f"{dtype}*", INT, INT)(keys, 0, 2)
    assert keys.tolist() == [7, 6, 5]


def test_conditions_are_lazy():
    """`and` guards the read, and so does a conditional expression, which becomes a statement."""
    function = translate(guarded, ("int32*", INT, INT, INT), {})
    loop = next(s for s in function.body.stmts if isinstance(s, imp.While))
    assert isinstance(loop.cond, imp.Binary)
    assert loop.cond.op == "and"
    function = translate(chosen, ("int32*", INT, INT), {})
    assert any(isinstance(s, imp.If) for s in function.body.stmts)


def test_elements_keep_their_width_and_sums_are_wide():
    def middle(keys, a, b):
        pivot = keys[a]
        if pivot < keys[b]:
            return 0
        return pivot + keys[b]

    function = translate(middle, ("int32*", INT, INT), {})
    let, test, result = function.body.stmts
    assert let.var.dtype == "int32"
    assert test.cond.a.dtype == test.cond.b.dtype == "int32"
    assert result.value.dtype == function.dtype == INT


# -- names ----------------------------------------------------------------------------------------


def test_specialized_names():
    def f(a, b):
        return a + b

    registry = {}
    names = [translate(f, types, registry).name for types in [(INT, INT), ("float32", INT)]]
    assert names == ["f_i64", "f_f32"]
    assert list(registry) == names


def test_two_functions_of_one_name():
    def first():
        def step(a):
            return a + 1

        def run(a):
            return step(a)

        return run

    def second():
        def step(a):
            return a + 2

        def run(a):
            return step(a) * 2

        return run

    registry = {}
    translate(first(), (INT,), registry)
    result = translate(second(), (INT,), registry)
    assert list(registry) == ["step_i64", "run_i64", "step_i64_2", "run_i64_2"]
    assert result is registry["run_i64_2"]
    assert "step_i64_2" in repr(result.body)
