"""Kernels, functions and fused functions that no module has, sent to other processes.

A script is run, as a user would, and so is what it starts; elsewhere its text is not there, or has
been edited.
"""

from __future__ import annotations

import copy
import importlib.util
import linecache
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.robustness.kernels import ROOT, spmv

import linnet as ln
from linnet.errors import ArgumentError
from linnet.python import sending

SCRIPT = '''
import math
import pickle
import sys

import numpy as np
import scipy.sparse.linalg

import linnet as ln

SCALE = 3.0


def scaled(x):
    return x * SCALE


@ln.function(identity={0: "y"}, fills={"x": 0, "y": 0})
def plus(x, y):
    return x + scaled(y)


@plus.case(y=0)
def without(x, y):
    return x


half = ln.function(lambda v: math.sqrt(v * v) / 2)


@ln.kernel
def product(y, A, x):
    """Halves, times x."""
    y[...] = 0
    for i, j in ...:
        y[i] += half(A[i, j]) * x[j]
    return y


@ln.kernel
def beyond(y, x, k):
    y[...] = 0
    for i in range(3):
        y[i] += x[k[i]]
    return y


class Space:
    """A namespace of the script, which other processes do not have."""

    def squared(x):
        return x * x


@ln.function
def squares(x):
    return Space.squared(x) + np.abs(x)


def rows(X):
    return X.sum(axis=1) if X.ndim > 1 else norms(X)


@ln.fuse
def norms(X, *, more=scaled):
    """Of rows."""
    return np.sqrt(ln.sum(X * X, axis=1)) * SCALE + rows(X) + more(X.sum(axis=1))


def within(n):
    def bucket(i, size):
        return i % 4

    buckets = ln.workspace(1, ln.Bucket(bucket, 4))

    @ln.kernel
    def shifted(y, x):
        y[...] = 0
        for i in ...:
            y[i] += half(x[i]) + n
        return y

    @ln.kernel
    def bucketed(C, A):
        w = ln.temp(buckets)
        C[...] = 0
        for j in ...:
            w[...] = 0
            for i in ...:
                w[i] += A[i, j]
            for i in ...:
                C[i] += w[i]
        return C

    return shifted, bucketed, ln.fuse(lambda X: [half(X), {"n": plus(X, n * X)}])


THINGS = (product, beyond, plus, half, squares, norms, *within(2))


def results(things, A):
    product, beyond, plus, half, squares, norms, shifted, bucketed, several = things
    S, x = ln.asarray(A, format="csr"), np.ones(3)
    vector = ln.empty_tensor(ln.DENSE(1))
    found = [product(vector, S, x), plus(1.0, 2.0), plus(S, S), half(-3.0), norms(ln.asarray(A))]
    found += [squares(-3.0), squares(S)]
    found += [shifted(ln.empty_tensor(ln.DENSE(1)), x), bucketed(ln.empty_tensor(ln.DENSE(1)), S)]
    listed = several(x)
    found += [listed[0], listed[1]["n"]]
    try:
        beyond(ln.empty_tensor(ln.DENSE(1)), x, np.array([0, 1, 7]))
    except IndexError as error:
        at = error.at
        found.append([at.line, at.text, at.file])
    return [f.to_numpy().tolist() if isinstance(f, ln.Tensor) else f for f in found]


def work(task):
    things, A = task
    return results(things, A)


A = np.array([[1.0, 0.0, 4.0], [0.0, 9.0, 0.0]])
'''
SAVE = """
if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        pickle.dump((THINGS, A, results(THINGS, A)), file)
"""
# what is told of a place is where the script stood, whatever stands there now
LOAD = """
import inspect, pickle, sys
import tests.robustness.test_sending as here
with open(sys.argv[1], "rb") as file:
    things, A, expected = pickle.load(file)
scope = {}
text = here.SCRIPT[here.SCRIPT.index("def results"):here.SCRIPT.index("def work")]
exec("import numpy as np\\nimport linnet as ln\\n" + text, scope)
assert scope["results"](things, A) == expected, scope["results"](things, A)
once_more = pickle.loads(pickle.dumps(things))
assert scope["results"](once_more, A) == expected
assert [a is b for a, b in zip(things, once_more)] == [True] * 5 + [False, True, True, False]
assert (things[0].__doc__, things[5].__doc__) == ("Halves, times x.", "Of rows.")
print("passed")
"""
SPAWN = """
if __name__ == "__main__":
    import multiprocessing
    expected = results(THINGS, A)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(work, [(THINGS, A)] * 2) == [expected] * 2
        assert pool.apply(norms, (ln.asarray(A),)).tolist() == norms(ln.asarray(A)).tolist()
        assert pool.apply(half, (-3.0,)) == 1.5
    print("passed")
"""


def _run(*words: str, input: str | None = None) -> str:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": path},
        input=input,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("there", ["there", "edited", "gone"])
def test_what_a_script_defines_is_pickled(tmp_path: Path, there: str):
    script, parcel = tmp_path / "script.py", tmp_path / "parcel"
    script.write_text(SCRIPT + SAVE)
    _run(str(script), str(parcel))
    if there == "edited":
        script.write_text("# another line\n" + SCRIPT.replace("SCALE = 3.0", "SCALE = 4.0"))
    elif there == "gone":
        script.unlink()
    assert _run("-c", LOAD, str(parcel)) == "passed\n"


def test_processes_that_are_spawned(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + SPAWN)
    assert _run(str(script)) == "passed\n"


@pytest.mark.skipif(importlib.util.find_spec("joblib") is None, reason="joblib is not there")
def test_joblib(tmp_path: Path):
    script = tmp_path / "script.py"
    text = "from joblib import Parallel, delayed\nexpected = results(THINGS, A)\n"
    text += "found = Parallel(n_jobs=2)(delayed(work)((THINGS, A)) for _ in range(3))\n"
    text += "assert found == [expected] * 3\n"
    text += "found = Parallel(n_jobs=2)(delayed(norms)(ln.asarray(A)) for _ in range(2))\n"
    text += "assert found[0].tolist() == norms(ln.asarray(A)).tolist()\nprint('passed')"
    script.write_text(SCRIPT + text)
    assert _run(str(script)) == "passed\n"


@pytest.mark.skipif(importlib.util.find_spec("cloudpickle") is None, reason="it is not there")
def test_cloudpickle(tmp_path: Path):
    script, parcel = tmp_path / "script.py", tmp_path / "parcel"
    script.write_text(SCRIPT + SAVE.replace("pickle.dump", "__import__('cloudpickle').dump"))
    _run(str(script), str(parcel))
    assert _run("-c", LOAD, str(parcel)) == "passed\n"


CELL = """
import linnet as ln
scale = 2
@ln.function
def twice(x):
    return x * scale
@ln.kernel
def doubled(y, x):
    y[...] = 0
    for i in ...:
        y[i] += twice(x[i])
    return y
@ln.fuse
def quadrupled(x):
    return twice(twice(x))
"""


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A cell, whose text is only in memory, and runs in `__main__`."""
    name = "<cell 1>"
    lines = CELL.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, name, (len(CELL), None, lines, name))
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    exec(compile(CELL, name, "exec"), vars(main))
    return vars(main)


def test_a_notebook(notebook: dict[str, object], tmp_path: Path):
    things = tuple(notebook[name] for name in ("twice", "doubled", "quadrupled"))
    (tmp_path / "parcel").write_bytes(pickle.dumps(things))
    text = (
        "import pickle, sys, numpy as np, linnet as ln\n"
        "twice, doubled, quadrupled = pickle.load(open(sys.argv[1], 'rb'))\n"
        "y = ln.empty_tensor(ln.DENSE(1))\n"
        "print(twice(4), doubled(y, np.ones(2)).to_numpy(), quadrupled(np.ones(2)).to_numpy())\n"
        "@ln.fuse\n"
        "def more(x):\n"
        "    return twice(x) + 1\n"
        "print(more(np.ones(2)).to_numpy())\n"
    )
    assert _run("-c", text, str(tmp_path / "parcel")) == "8 [2. 2.] [4. 4.]\n[3. 3.]\n"


def test_what_a_name_means_is_sent_anew(notebook: dict[str, object]):
    """A kernel and a function are read once; a fused function asks each time it is called."""
    fused = ln.fuse(eval("lambda x: x * scale", notebook))
    assert fused(np.ones(2)).tolist() == [2, 2]
    assert pickle.loads(pickle.dumps(fused))(np.ones(2)).tolist() == [2, 2]
    notebook["scale"] = 5
    assert pickle.loads(pickle.dumps(fused))(np.ones(2)).tolist() == [5, 5]


# -- one process -----------------------------------------------------------------------------------


def _around(n: int):
    @ln.kernel
    def local(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i] * n

    return local, ln.function(lambda x: x * n), ln.fuse(lambda x: x * n)


def test_what_comes_once_more_is_what_was_there():
    kernel, function, _ = _around(2)
    assert pickle.loads(pickle.dumps((kernel, function))) == (kernel, function)
    others = _around(3)
    assert pickle.loads(pickle.dumps(others))[1](2) == 6
    sending._here.clear()
    made, again = (pickle.loads(d) for d in [pickle.dumps(kernel)] * 2)
    assert made is again is kernel
    data = pickle.dumps((kernel, function))
    sending._here.clear()
    (one, f), (other, g) = pickle.loads(data), pickle.loads(data)
    assert one is other is not kernel
    assert f is g is not function
    assert f(2) == function(2) == 4


def test_kernels_that_read_alike_keep_their_places():
    one, other = _around(2)[0], _around(2)[0]
    sending._here.clear()
    sent = pickle.loads(pickle.dumps(one))
    assert sent is one
    assert pickle.loads(pickle.dumps(other)).program.at == other.program.at


def test_what_a_module_has_goes_by_name():
    assert pickle.loads(pickle.dumps(spmv)) is spmv
    assert b"spmv" in pickle.dumps(spmv)
    assert len(pickle.dumps(spmv)) < 100
    assert pickle.loads(pickle.dumps(named)) is named
    assert len(pickle.dumps(named)) < 100
    assert pickle.loads(pickle.dumps(halved)) is halved
    assert len(pickle.dumps(halved)) < 200
    assert copy.deepcopy(named) is named


@ln.fuse
def named(x):
    """To be sent."""
    return x + x


@ln.function
def halved(x):
    return x / 2


class Model:
    """A class with a method that is fused."""

    @ln.fuse
    def doubled(self, x):
        return x + x


def test_a_fused_function_is_a_method_too():
    assert Model().doubled(np.ones(2)).tolist() == [2, 2]
    assert Model.doubled(Model(), np.ones(2)).tolist() == [2, 2]
    assert (named.__name__, named.__doc__) == ("named", "To be sent.")
    assert repr(named) == "<fused named>"
    assert pickle.loads(pickle.dumps(Model.doubled)) is Model.doubled


def test_lazy_arrays_of_a_function_of_the_user():
    function = _around(2)[1]
    lazy = pickle.loads(pickle.dumps(function(ln.lazy(np.ones(3)))))
    assert lazy.compute().tolist() == [2, 2, 2]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol(protocol: int):
    kernel, function, fused = _around(4)
    sending._here.clear()
    data = pickle.dumps((kernel, function, fused), protocol)
    sending._here.clear()
    made, f, g = pickle.loads(data)
    y = made(ln.empty_tensor(ln.DENSE(1)), np.ones(2))
    assert (y.tolist(), f(2), g(np.ones(2)).tolist()) == ([4, 4], 8, [4, 4])


def test_threads_that_load_at_once():
    kernel, function, fused = _around(6)
    data = pickle.dumps((kernel, function, fused))
    sending._here.clear()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: pickle.loads(data)[1](2), range(200)))
    assert found == [12] * 200


def test_another_version_of_python(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sending, "MAGIC_NUMBER", b"1234")
    data = pickle.dumps(_around(2)[2])
    monkeypatch.undo()
    with pytest.raises(ArgumentError, match="was sent by another version of Python") as caught:
        pickle.loads(data)
    assert "define it in a module that both import" in caught.value.hint


def test_a_function_that_calls_itself():
    def count(n):
        return n if n <= 0 else count(n - 1)

    fused = ln.fuse(lambda x, n: x + count(n))
    assert pickle.loads(pickle.dumps(fused))(np.ones(2), 3).tolist() == [1, 1]
