"""A function is part of a kernel's key by its content; it is safe to use from many threads."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

import linnet as ln
from linnet.algebra.body import body_of

SETTINGS = SimpleNamespace(scale=2.0)


def scaled(k: float) -> ln.Function:
    return ln.function(lambda x: x * k + x * x, name="scaled")


def applied(f: ln.Function) -> ln.Kernel:
    @ln.kernel
    def apply(r, a):
        r[...] = 0
        for i in ...:
            r[i] = f(a[i])

    return apply


def test_one_text_with_two_constants(tmp_path):
    a = np.array([1.0, 2.0])
    with ln.config(cache_dir=str(tmp_path)):
        first = applied(scaled(2.0))(ln.empty_tensor(ln.DENSE(1)), a).to_numpy()
        second = applied(scaled(3.0))(ln.empty_tensor(ln.DENSE(1)), a).to_numpy()
    assert first.tolist() == [3.0, 8.0]
    assert second.tolist() == [4.0, 10.0]


def test_equal_contents_have_equal_names():
    first, second, other = scaled(2.0), scaled(2.0), scaled(2)
    assert first.body.token == second.body.token
    assert first.body.token != other.body.token  # a float and an integer differ
    assert body_of(first.body.token) in (first.body, second.body)


def test_what_a_function_calls_is_content():
    def helper_of(n: int):
        def helper(x):
            return x + n

        return helper

    def outer_of(helper) -> ln.Function:
        return ln.function(lambda x: helper(x) * 2, name="outer")

    first, same, other = (outer_of(helper_of(n)) for n in (1, 1, 2))
    assert first.body.digest == same.body.digest
    assert first.body.digest != other.body.digest
    nested = ln.function(lambda x: first(x), name="nested")
    assert nested.body.digest != ln.function(lambda x: other(x), name="nested").body.digest


def test_attributes_are_as_they_were_at_first_sight():
    f = ln.function(lambda x: x * SETTINGS.scale, name="by_settings")
    assert f(3.0) == 6.0
    SETTINGS.scale = 5.0
    try:
        g = ln.function(lambda x: x * SETTINGS.scale, name="by_settings")
        assert f(3.0) == 6.0
        assert g(3.0) == 15.0
        assert f.body.token != g.body.token
    finally:
        SETTINGS.scale = 2.0


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"annihilator": 0}, {}),
        ({"annihilator": 0}, {"annihilator": 1}),
        ({"iteration_space": "x | y"}, {"iteration_space": "x & y"}),
        ({"commutative": True}, {}),
        ({"dtype": "float32"}, {}),
    ],
    ids=str,
)
def test_claims_are_content(one, two):
    made = [ln.function(lambda x, y: x * y, name="f", **claims) for claims in (one, two)]
    assert made[0].body.digest != made[1].body.digest


def test_a_case_is_content(tmp_path):
    """A case that was added after the kernel was cached is not passed over."""

    def kernel_with(case: bool) -> ln.Kernel:
        @ln.function
        def f(x, y):
            return x + y

        if case:
            f.case(y=0)(lambda x, y: x * 100)  # which is not true, so that it shows

        @ln.kernel
        def apply(r, a, b):
            r[...] = 0
            for i in ...:
                r[i] = f(a[i], b[i])

        return apply

    a = np.array([1.0, 2.0])
    b = ln.tensor([[0]], [1.0], (2,), format=ln.CSF(1))
    with ln.config(cache_dir=str(tmp_path)):
        plain = kernel_with(False)(ln.empty_tensor(ln.DENSE(1)), a, b).to_numpy()
        special = kernel_with(True)(ln.empty_tensor(ln.DENSE(1)), a, b).to_numpy()
    assert plain.tolist() == [2.0, 2.0]
    assert special.tolist() == [2.0, 200.0]


def test_many_threads_at_first_use():
    f = ln.function(lambda x, y: max(x * y, x + y) if x != y else x - y, name="busy")
    kernel = applied(ln.function(lambda x: f(x, 2) + f(3, x), name="around"))
    results: list[list[float]] = []
    start = threading.Barrier(8)

    def work(k: int) -> None:
        dtype = ["float64", "float32", "int64", "int32"][k % 4]
        start.wait()
        found = kernel(ln.empty_tensor(ln.DENSE(1)), np.array([1, 2, 5], dtype))
        results.append(found.to_numpy().tolist())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [[7.0, 6.0, 25.0]] * 8


def test_functions_that_are_gone_leave_nothing_behind():
    f = ln.function(lambda x: x + 41, name="gone")
    token = f.body.token
    assert body_of(token) is f.body
    del f
    import gc

    gc.collect()
    assert body_of(token) is None


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("name", ["add", "where", "minimum", "multiply", "coalesce", "abs"])
def test_a_function_with_the_name_of_another(name, backend):
    """What the compiler knows of its own function of that name is not applied."""
    f = ln.function(lambda x, y: x + 2 * y, name=name, associative=True)

    @ln.kernel
    def apply(r, s, A):
        r[...] = 0
        s[...] = 1
        for i, j in ...:
            r[i] = f(r[i], A[i, j])
            s[()] = f(s[()], A[i, j])

    A = np.array([[1.0, 0.0, 3.0], [2.0, 2.0, 0.0]])
    with ln.config(backend=backend, check=True):
        r, s = apply(ln.empty_tensor(ln.DENSE(1)), ln.scalar(0.0), ln.asarray(A, format=ln.CSR))
    assert r.to_numpy().tolist() == [8.0, 8.0]
    assert s.to_numpy() == 17
    assert repr(f) == name
    assert f"r[i] = {name}(r[i], A[i, j])" in str(ln.explain(apply, r, s, A)["program"])
