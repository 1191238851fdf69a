"""LLVM's own loader, which all systems but x86-64 Linux have: what it needs not to crash."""

import ctypes
import gc
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.unit.backend import kernels

from linnet import backend
from linnet.backend import back_ends, loader, machine, symbols
from linnet.backend.entries import full_key
from linnet.errors import BuildError
from linnet.imp import Const
from linnet.options import Options

WITHOUT = Options(loader="llvm", cache=False)
CALLS = """
declare double @{name}(double, double)
define double @f(double %x, double %y) nounwind {{
  %z = call double @{name}(double %x, double %y)
  ret double %z
}}
"""
DOUBLES = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)


def passes(script: str, **environment: str) -> str:
    """What a child prints that must not fail, nor be ended by a signal."""
    from os import environ

    paths = [str(Path(backend.__file__).parents[2]), str(Path(__file__).parents[3])]
    given = {**environ, "PYTHONPATH": ":".join(paths), **environment}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=given, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


def test_engines_in_garbage_are_freed_before_their_contexts():
    script = """
        import gc
        from linnet.backend import machine
        code = machine.compile("define i64 @f() { ret i64 42 }")
        class Cycle: pass
        for k in range(3000):
            cycle = Cycle()
            cycle.cycle, cycle.loaded = cycle, machine.load(code, "f")
            del cycle
            gc.collect(0)
        print(len(machine._engines) < 20)
    """
    assert passes(script) == "True\n"


def test_garbage_can_call_its_code_to_the_end():
    """Python calls the finalizers of a cycle in any order: one of them may still compute."""
    found = []

    class Owner:
        def __init__(self) -> None:
            self.itself = self
            address, self.owner = machine.load(machine.compile("define i64 @f(){ret i64 7}"), "f")
            self.call = ctypes.CFUNCTYPE(ctypes.c_int64)(address)

        def __del__(self) -> None:
            found.append(self.call())

    for _ in range(20):
        Owner()
        gc.collect()
    assert found == [7] * 20


@pytest.mark.parametrize("chosen", ["own", "llvm"])
def test_a_name_that_nobody_defines_is_an_error(chosen):
    code = backend.sealed(machine.compile(CALLS.format(name="no_such_function")))
    with pytest.raises(BuildError, match="a kernel calls no_such_function") as caught:
        backend.link(code, "f", Options(loader=chosen))
    assert caught.value.why
    assert caught.value.hint


def test_names_that_a_system_spells_otherwise(monkeypatch):
    monkeypatch.setitem(symbols._OTHERWISE, "our_hypot", "hypot")
    address, _owner = machine.load(machine.compile(CALLS.format(name="our_hypot")), "f")
    assert DOUBLES(address)(3.0, 4.0) == 5.0
    assert symbols._OTHERWISE["hypotf"] == "_hypotf"


@pytest.mark.parametrize("chosen", ["own", "llvm"])
@pytest.mark.parametrize("way", ["flip", "cut", "nothing"])
def test_damaged_code_reaches_no_loader(chosen, way, monkeypatch):
    options = Options(loader=chosen, cache=False)
    code = backend.sealed(
        back_ends.of(options).generate(kernels.returning(Const(42, "int64")), options)[0]
    )
    assert backend.link(code, "number", options)(0) == 42
    damaged = {"flip": code[:-9] + b"?" + code[-8:], "cut": code[:-100], "nothing": b""}[way]
    for name in ("machine", "loader"):
        monkeypatch.setattr(f"linnet.backend.{name}.load", None)
    with pytest.raises(BuildError, match="cannot be loaded"):
        backend.link(damaged, "number", options)


def test_both_loaders_run_the_same_kernel_and_keep_their_own_code():
    kernel = kernels.returning(Const(42, "int64"))
    assert backend.build(kernel, "", WITHOUT).call(0) == 42
    own, llvm = Options(cache=False), WITHOUT
    assert (full_key("", own) == full_key("", llvm)) != loader.supported()
    assert not loader.is_used(llvm)


def test_far_functions_are_reached():
    """Code for LLVM's loader holds the addresses of what it calls, of 64 bits."""
    far = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(lambda x, y: x - y)
    target = machine.host(own=False)
    assert (target.codemodel, machine.host(own=True).codemodel) == ("jitdefault", "small")
    code = machine.compile(CALLS.format(name="far_away"), target=target)
    with pytest.MonkeyPatch.context() as patch:
        at = ctypes.cast(far, ctypes.c_void_p).value
        patch.setattr(symbols, "address_of", lambda name: at)
        address, _owner = machine.load(code, "f")
    assert DOUBLES(address)(3.0, 4.0) == -1.0
