"""Kernels that another process has read: their programs are found by what they follow from."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet import backend
from linnet.errors import ArgumentError, KernelSyntaxError, LinnetError
from linnet.formats.named import stack
from linnet.formats.sparse_list import SparseList
from linnet.frontend.origin import origin_of
from linnet.frontend.parse import parse
from linnet.options import current
from linnet.runtime import kept
from linnet.runtime.kept import Outline

TEXT = """import numpy as np
import linnet as ln

BY = 2.0

def kernel(y, x):
    y[...] = 0
    for i in ...:
        y[i] = x[i] * BY
    return y
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path):
    with ln.config(cache_dir=str(tmp_path / "cache"), check=False):
        yield


def module(path: Any, text: str) -> ModuleType:
    """A file of this text, imported anew."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("written", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    exec(compile(text, str(path), "exec"), made.__dict__)
    return made


def called(made: Any, n: int = 3) -> list[float]:
    found = made(ln.empty_tensor(ln.DENSE(1)), ln.asarray(np.arange(1.0, n + 1)))
    return found.to_numpy().tolist()  # type: ignore[no-any-return]


def refuse(monkeypatch) -> None:
    def unexpected(function):
        raise AssertionError("it was read before")

    monkeypatch.setattr("linnet.frontend.parse.parse", unexpected)


def test_a_program_that_was_read_before_is_not_read_again(tmp_path, monkeypatch):
    first = ln.kernel(module(tmp_path / "a.py", TEXT).kernel)
    assert called(first) == [2, 4, 6]
    function = module(tmp_path / "a.py", TEXT).kernel
    expected = parse(function)
    refuse(monkeypatch)
    again = ln.kernel(function)
    assert called(again) == [2, 4, 6]
    assert again.program == expected
    assert again.program.at == expected.at
    assert (again.__name__, again.outputs) == (first.__name__, first.outputs)


def test_a_program_is_made_when_it_is_asked_for(tmp_path, monkeypatch):
    first = ln.kernel(module(tmp_path / "a.py", TEXT).kernel)
    called(first)
    made: list[Outline] = []
    genuine = Outline.program

    def counted(outline: Outline) -> Any:
        made.append(outline)
        return genuine(outline)

    monkeypatch.setattr(Outline, "program", counted)
    refuse(monkeypatch)
    again = ln.kernel(module(tmp_path / "a.py", TEXT).kernel)
    assert called(again) == [2, 4, 6]
    assert repr(again) == repr(first)
    with pytest.raises(ArgumentError, match="takes 2 tensors"):
        again(ln.empty_tensor(ln.DENSE(1)))
    with pytest.raises(ArgumentError, match="no parameter `z`"):
        again(ln.empty_tensor(ln.DENSE(1)), z=np.ones(3))
    assert not made
    x = ln.asarray(np.ones(3, np.float32))  # which nobody has compiled it for
    for _ in range(2):
        assert again(ln.empty_tensor(ln.DENSE(1)), x).to_numpy().tolist() == [2, 2, 2]
    assert len(made) == 1
    assert again.text == first.text
    assert again.program is again.program


# with a capacity: one that statistics of operands give is asked for in each call
LISTED = "w = ln.temp(ln.workspace(1, ln.Coord(capacity=64)))\n    w[...] = 0"
WORKSPACE = TEXT.replace("y[...] = 0", LISTED).replace(
    "y[i] = x[i] * BY", "w[i] = x[i] * BY\n    y[...] = 0\n    for i in ...:\n        y[i] = w[i]"
)


@pytest.mark.parametrize("checked", [False, True])
def test_code_with_checks_is_not_taken_for_code_without(checked, tmp_path):
    # `ln.workspace` is imported when the first is read, which its origin shows
    made = [ln.kernel(module(tmp_path / "a.py", WORKSPACE).kernel) for _ in range(2)]
    for check in (checked, not checked):
        with ln.config(check=check):
            assert called(made[1]) == [2, 4, 6]
    again = ln.kernel(module(tmp_path / "a.py", WORKSPACE).kernel)
    assert again._program is None
    for kernel in (*made, again):
        assert called(kernel) == [2, 4, 6]
    unlike = {(key[0], entry.key) for k in (*made, again) for key, entry in k._entries.items()}
    assert len(unlike) == 2  # one for each of the options
    assert len({key for _, key in unlike}) == 2


def test_a_program_that_cannot_be_made_of_its_bytes_is_read_again(tmp_path):
    called(ln.kernel(module(tmp_path / "a.py", TEXT).kernel))
    function = module(tmp_path / "a.py", TEXT).kernel
    origin = origin_of(function)
    assert origin is not None
    found = kept.load(origin, current(), Outline)
    assert found is not None
    elsewhere = found[0]._replace(data=b"cno_such_module\nLevel\n.")
    kept.store(origin, current(), elsewhere, ())
    again = ln.kernel(function)
    assert called(again) == [2, 4, 6]
    assert again.program == parse(function)


def test_a_first_call_imports_nothing_that_it_does_not_call(tmp_path):
    """Neither the loop language, nor what reads programs, or explains mistakes."""
    unused = ("linnet.loops.", "linnet.normalize.", "linnet.frontend.parse",
              "linnet.runtime.failures")  # fmt: skip
    (tmp_path / "kernels.py").write_text(TEXT.replace("def", "@ln.kernel\ndef"))
    text = (
        "import sys; import numpy as np; import linnet as ln; from kernels import kernel\n"
        "print(kernel(ln.empty_tensor(ln.DENSE(1)), np.ones(3)).to_numpy().tolist())\n"
        f"print([m for m in sys.modules if m.startswith({unused})])\n"
    )
    paths = os.pathsep.join([str(tmp_path), str(Path(ln.__file__).parent.parent)])
    own = {"PYTHONPATH": paths, "LINNET_CACHE_DIR": str(tmp_path / "c"), "LINNET_CHECK": "0"}
    told = [
        subprocess.run(
            [sys.executable, "-c", text], env=os.environ | own, stdout=subprocess.PIPE, check=True
        ).stdout.decode().splitlines()
        for _ in range(2)
    ]  # fmt: skip
    assert [lines[0] for lines in told] == ["[2.0, 2.0, 2.0]"] * 2
    assert "linnet.loops.nodes" in told[0][1]
    assert told[1][1] == "[]"


def test_a_program_that_was_moved_is_kept_at_its_new_place(tmp_path, monkeypatch):
    called(ln.kernel(module(tmp_path / "a.py", TEXT).kernel))
    called(ln.kernel(module(tmp_path / "a.py", f"\n{TEXT}").kernel))  # which compiles nothing
    refuse(monkeypatch)
    assert called(ln.kernel(module(tmp_path / "a.py", f"\n{TEXT}").kernel)) == [2, 4, 6]


def test_a_program_that_was_never_called_is_not_kept(tmp_path, monkeypatch):
    ln.kernel(module(tmp_path / "a.py", TEXT).kernel)
    refuse(monkeypatch)
    with pytest.raises(AssertionError, match="read before"):
        ln.kernel(module(tmp_path / "a.py", TEXT).kernel)


CHANGES: dict[str, tuple[str, str, list[float]]] = {
    "number": ("BY = 2.0", "BY = 3.0", [3, 6, 9]),
    "sign": ("BY = 2.0", "BY = -2.0", [-2, -4, -6]),
    "type": ("BY = 2.0", "BY = np.float32(0.5)", [0.5, 1, 1.5]),
    "text": ("* BY", "+ BY", [3, 4, 5]),
    "constant": ("= 0", "= 1", [2, 4, 6]),
    "function": ("x[i] * BY", "ln.minimum(x[i], BY)", [1, 2, 2]),
    "other function": ("x[i] * BY", "ln.maximum(x[i], BY)", [2, 2, 3]),
    "line": ("BY = 2.0", "\nBY = 2.0", [2, 4, 6]),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_one_thing_that_differs_is_seen(change, tmp_path):
    old, new, expected = CHANGES[change]
    base = module(tmp_path / "a.py", TEXT).kernel
    assert called(ln.kernel(base)) == [2, 4, 6]
    origin = origin_of(base)
    changed = module(tmp_path / "a.py", TEXT.replace(old, new))
    assert origin_of(changed.kernel) not in (origin, None)
    for _ in range(2):
        found = called(ln.kernel(changed.kernel))
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_a_name_that_means_something_else_is_seen(tmp_path):
    text = TEXT.replace("x[i] * BY", "f(x[i], BY)")
    for function, expected in (
        (ln.minimum, [1, 2, 2]),
        (ln.maximum, [2, 2, 3]),
        (np.add, [3, 4, 5]),
    ):
        made = module(tmp_path / "a.py", text)
        made.f = function  # type: ignore[attr-defined]
        for _ in range(2):
            assert called(ln.kernel(made.kernel)) == expected


def test_closures_are_seen():
    def scaled(by: object) -> Any:
        def scaled(y, x):
            y[...] = 0
            for i in ...:
                y[i] = x[i] / by
            return y

        return scaled

    numbers = (1.0, 1, True, 0.0, -0.0, np.float32(1), np.float64(1))
    origins = [origin_of(scaled(by)) for by in numbers]
    assert None not in origins
    assert len({*origins}) == len(numbers)
    for _ in range(2):
        assert called(ln.kernel(scaled(0.0))) == [np.inf] * 3
        assert called(ln.kernel(scaled(-0.0))) == [-np.inf] * 3


def test_formats_are_seen():
    def kernels(format: Any) -> Any:
        def through(y, x):
            w = ln.temp(format)
            w[...] = 0
            for i in ...:
                w[i] = x[i]
            y[...] = 0
            for i in ...:
                y[i] = w[i]
            return y

        return through

    byte, hashed = (ln.SparseByteMap(ln.Element(0.0)), ln.SparseHash(ln.Element(0.0)))
    formats = [ln.asarray(np.zeros(2), format=f).format for f in (byte, hashed)]
    formats += [f.with_fill(-0.0) for f in formats]
    origins = [origin_of(kernels(format)) for format in formats]
    assert None not in origins
    assert len({*origins}) == 4
    for format in formats * 2:
        assert called(ln.kernel(kernels(format))) == [1, 2, 3]


def test_what_has_no_text_of_its_own_has_no_key():
    def mine(a, b):
        return a + b

    class Held:
        by = 2.0

    class Own(SparseList):
        pass

    def kernels(f: Any) -> Any:
        def kernel(y, x):
            y[...] = 0
            for i in ...:
                y[i] = f(x[i], 1.0)
            return y

        return kernel

    own = stack(Own(ln.Element(0.0)))
    for value in (mine, Held(), Held, [1.0], {"a": 1}, np.ones(2), ln.function(mine), sys, own):
        assert origin_of(kernels(value)) is None
    assert called(ln.kernel(kernels(ln.function(mine)))) == [2, 3, 4]


def test_errors_of_programs_that_were_not_read_show_their_line(tmp_path, monkeypatch):
    text = TEXT.replace("def kernel(y, x):", "def kernel(y, x, z):").replace("* BY", "* z[i]")
    x, z = ln.asarray(np.ones(3)), ln.asarray(np.ones(4))

    def told(made: Any) -> str:
        with pytest.raises(LinnetError) as caught:
            made(ln.empty_tensor(ln.DENSE(1)), x, z)
        return str(caught.value)

    first = ln.kernel(module(tmp_path / "a.py", text).kernel)
    first(ln.empty_tensor(ln.DENSE(1)), x, x)
    expected = told(first)
    assert "x[i] * z[i]" in expected
    refuse(monkeypatch)
    again = ln.kernel(module(tmp_path / "a.py", text).kernel)
    assert told(again) == expected
    assert again.code(ln.empty_tensor(ln.DENSE(1)), x, x) == first.code(
        ln.empty_tensor(ln.DENSE(1)), x, x
    )


def test_a_file_that_has_changed_is_refused(tmp_path):
    read, unread = (module(tmp_path / "a.py", TEXT).kernel for _ in range(2))
    called(ln.kernel(read))
    (tmp_path / "a.py").write_text(TEXT.replace("x[i] * BY", "x[i] + BY"))
    with pytest.raises(KernelSyntaxError, match="cannot be found"):
        ln.kernel(unread)
    assert called(ln.kernel(read)) == [2, 4, 6]  # by the text that was read


@pytest.mark.parametrize("data", [b"", b"junk", b"\x80\x04N."])
def test_damage_is_read_anew(data, tmp_path, monkeypatch):
    called(ln.kernel(module(tmp_path / "a.py", TEXT).kernel))
    genuine = backend.stored

    def damaged(key, options):
        return data if key.startswith("program") else genuine(key, options)

    monkeypatch.setattr(backend, "stored", damaged)
    assert called(ln.kernel(module(tmp_path / "a.py", TEXT).kernel)) == [2, 4, 6]


def test_text_that_is_not_indented_is_read(tmp_path):
    text = TEXT.replace("x[i] * BY", "(x[i] *\nBY)").replace(
        "y[...] = 0", '"""A\nB\n"""\n    y[...] = 0'
    )
    for _ in range(2):
        assert called(ln.kernel(module(tmp_path / "a.py", text).kernel)) == [2, 4, 6]
