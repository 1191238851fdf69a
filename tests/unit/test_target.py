"""What code is made for: what a target answers, and that passes go by its answers."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import linnet as ln
from linnet import imp, target
from linnet.errors import FormatError
from linnet.imp.rewrite import walk
from linnet.options import Options
from linnet.target import PLAIN, plain

CPU = "__cpu_features__"


@pytest.fixture
def features(monkeypatch):
    """What NumPy finds."""

    def found(**known: bool) -> None:
        monkeypatch.setattr(np._core._multiarray_umath, CPU, known)

    return found


def here(language: str) -> target.Target:
    return target._here.__wrapped__(language, frozenset())


def test_what_vectors_do_in_part(features):
    features(FMA3=True, AVX2=False)
    assert here("llvm").masks == ""
    features(FMA3=True, AVX2=True)
    assert here("llvm").masks == "load"
    features(FMA3=True, AVX2=True, AVX512F=True)  # but not for numbers of all sizes
    assert here("llvm").masks == "load"
    features(FMA3=True, AVX2=True, AVX512F=True, AVX512_SKX=True)
    assert here("llvm").masks == "all"


def test_newer_versions_of_numpy_know_levels(features):
    features(X86_V3=True, X86_V4=False)
    assert (here("llvm").masks, here("llvm").fused) == ("load", True)
    features(X86_V3=True, X86_V4=True)
    assert here("llvm").masks == "all"
    features(X86_V3=False, X86_V4=False)
    assert (here("llvm").masks, here("llvm").fused) == ("", False)


def test_c_has_no_word_for_masks(features):
    features(FMA3=True, AVX2=True, AVX512F=True, AVX512_SKX=True)
    assert here("c").masks == ""
    assert here("c").fused
    assert target.of(Options(sanitize=True)).masks == ""


def test_it_is_of_this_system():
    assert target.of(Options()).system == PLAIN.system
    assert target.of(Options()) is target.of(Options(cache=False))


@ln.kernel
def product(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


@ln.kernel
def logarithms(y, x):
    y[...] = 0
    for i in ...:
        y[i] = ln.log(x[i])
    return y


A = ln.asarray(np.eye(3), format=ln.CSR)


def code(kernel, *args) -> imp.Kernel:
    return kernel.lowered(*args).kernel


def test_who_does_not_ask_ahead_is_told_nothing(monkeypatch):
    def asks() -> bool:
        made = code(product, ln.empty_tensor(ln.CSR), A, A)
        return any(isinstance(n, imp.Prefetch) for n in walk(made.body))

    assert asks()
    monkeypatch.setattr(target, "of", lambda options: replace(plain(), prefetches=False))
    assert not asks()


def test_what_grows_in_a_loop_is_refused_where_nothing_can(monkeypatch):
    monkeypatch.setattr(target, "of", lambda options: replace(plain(), grows=False))
    with pytest.raises(FormatError, match="`C` grows while a loop runs") as caught:
        code(product, ln.empty_tensor(ln.CSR), A, A)
    assert "dense" in str(caught.value)
    dense = code(product, ln.empty_tensor(ln.DENSE(2)), A, A)
    grown = [n for n in walk(dense.body) if isinstance(n, imp.Grow)]
    assert len(grown) == 1  # before all loops


def test_functions_rest_on_an_instruction(monkeypatch):
    x, y = ln.asarray(np.ones(3)), ln.empty_tensor(ln.DENSE(1))
    for known, there in (("+fma", True), ("", False)):
        monkeypatch.setattr(target, "of", lambda options, k=known: replace(plain(), features=k))
        made = code(logarithms, y, x)
        assert any(f.name.startswith("log_") for f in made.codelets) == there


def test_llvm_is_not_asked_before_there_is_code_to_compile():
    """Whether sums end under a mask is known without it."""
    script = "import sys; from linnet import target; from linnet.options import Options\n"
    script += "print(target.of(Options()).masks, 'llvmlite' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert done.stdout.decode().split()[-1] == "False"
