"""Machine code for systems that are not at hand: what it asks of them, and how far it reaches.

It is compiled here, not optimized, for each of them. LLVM's loader puts code as far from the C
library as memory goes: nothing of that may be reached by a short way.
"""

from __future__ import annotations

import struct
from contextlib import suppress

import llvmlite.binding as llvm
import numpy as np
import pytest
from benchmarks import compiling
from tests.arrays import test_slices
from tests.golden import test_code, test_moves
from tests.levels import test_code as test_levels

import linnet as ln
from linnet import backend, imp
from linnet.algebra.table import FUNCTIONS
from linnet.arrays import apply, compute, lazy, view
from linnet.backend import linking, loader, machine, objects
from linnet.backend import llvm as rendering
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel
from linnet.runtime.slices import sizes
from linnet.target import Target

SYSTEMS = {
    "macOS": Target("arm64-apple-macosx", "apple-m1", page=16384),
    "Windows": Target("x86_64-pc-windows-msvc-elf", "haswell", "+avx2,+fma"),
    "Linux": Target("aarch64-unknown-linux-gnu", page=65536),
}
_MATHEMATICS = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp
    exp2 expm1 fabs floor fma fmax fmin fmod hypot ldexp lgamma log log10 log1p log2 nextafter
    pow rint round sin sinh sqrt tan tanh tgamma trunc""".split()
DTYPES = ("int64", "float32", "float64", "complex128")
EVERYWHERE = {"memcpy", "memmove", "memset", "realloc", *_MATHEMATICS}
EVERYWHERE |= {f"{name}f" for name in _MATHEMATICS}
THREADS = {"pthread_create", "pthread_join", "pthread_attr_init", "pthread_attr_destroy"}
THREADS |= {"pthread_attr_setstacksize"}
ON = {
    "macOS": EVERYWHERE | THREADS | {"__sincos_stret", "__sincosf_stret", "memset_pattern16"},
    "Windows": EVERYWHERE | {"__chkstk"},
    "Linux": EVERYWHERE | THREADS | {"aligned_alloc", "free", "madvise", "sincos", "sincosf"},
}

# Kinds of relocations: addresses of 64 bits, whole or in parts, and places that hold such ones.
# A branch of ARM is a short one, but in ELF files LLVM's loader makes a long one of it.
FAR = {"macOS": {0, 5, 6, 7}, "Windows": {1}, "Linux": {257, *range(263, 270), 282, 283}}


# -- the kernels -----------------------------------------------------------------------------------


def golden_kernels() -> dict[str, imp.Kernel]:
    """Those whose C is kept in `tests/golden`."""
    made = {}
    for kernel, result, *operands in test_code.PROGRAMS:
        out = ln.scalar(0.0) if result is None else ln.empty_tensor(result)
        given = [test_code.stored(*operand) for operand in operands]
        made[kernel.__name__] = kernel.lowered(out, *given).kernel
    for kernel, operands, numbers in test_moves.KERNELS:
        args = (*operands, sizes((9, 4, 4, *[2] * numbers)))
        out = ln.empty_tensor(test_moves.FORMAT)
        made[f"moves/{kernel.__name__}"] = kernel.lowered(out, *args).kernel
    for name, (kernel, result, operands) in test_levels.PROGRAMS.items():
        out = ln.scalar(0.0) if result is None else ln.empty_tensor(result)
        made[f"levels/{name}"] = kernel.lowered(out, *map(ln.asarray, operands)).kernel
    return made | slices()


def slices() -> dict[str, imp.Kernel]:
    """Those of fused slices, which are made when they are computed."""
    A = lazy(test_slices.CSR)
    both = apply("add", view(A, np.s_[2:8, 3:9]), view(A, np.s_[1:7, 0:6]))
    found: list[imp.Kernel] = []
    with pytest.MonkeyPatch.context() as patch, ln.config(cache=False, optimize=False):
        build = backend.build
        patch.setattr(backend, "build", lambda k, *given: found.append(k) or build(k, *given))
        view(A, np.s_[1:5:2, 2:6:2]).compute(format=ln.DENSE)
        compute(both)
    return {f"slices/{k}": kernel for k, kernel in enumerate(found)}


def of_all_functions(dtype: str) -> imp.Kernel:
    """A kernel that calls all functions which take numbers of a dtype."""
    lines = ["def f(y, x):", "    ln.declare(y, 0, (4,))", "    for i in range(4):"]
    for name, function in FUNCTIONS.items():
        with suppress(ln.LinnetError):
            function.types((dtype,) * function.arity)
            lines.append(f"        y[i] += {name}({', '.join(['x[i]'] * function.arity)})")
    kernel = Kernel(parse_text("\n".join([*lines, ""])))
    return kernel.lowered(ln.empty_tensor(ln.DENSE(1)), ln.asarray(np.ones(4, dtype))).kernel


def kernels() -> dict[str, imp.Kernel]:
    """All of them."""
    made = {}
    for name in compiling.PROGRAMS:
        kernel, args = compiling.kernel(name)
        made[f"compiling/{name}"] = kernel.lowered(*args).kernel
    functions = {dtype: of_all_functions(dtype) for dtype in DTYPES}
    return made | golden_kernels() | functions


@pytest.fixture(scope="module")
def compiled() -> dict[str, dict[str, bytes]]:
    """The object files for each system."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    found = kernels()
    assert len(found) == len(compiling.PROGRAMS) + 12 + 9 + 13 + 2 + len(DTYPES)
    return {system: of_system(found, target) for system, target in SYSTEMS.items()}


def of_system(kernels: dict[str, imp.Kernel], target: Target) -> dict[str, bytes]:
    """The object files of kernels, and of the codelets that they share, by the names of those."""
    texts = dict[str, str]()
    for name, kernel in kernels.items():
        texts[name], shared = rendering.separate(kernel, target)
        texts |= shared
    return {name: machine.compile(text, False, target) for name, text in texts.items()}


# -- what they ask for -----------------------------------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS)
def test_names_are_those_that_the_system_has(compiled, system):
    asked = {name for code in compiled[system].values() for _, name in objects.undefined(code)}
    shared = {name for name in asked if name.startswith(linking.SHARED)}
    assert shared
    assert shared == {name for name in compiled[system] if name.startswith(linking.SHARED)}
    assert asked - shared <= ON[system]
    assert "realloc" in asked


@pytest.mark.parametrize("system", SYSTEMS)
def test_nothing_outside_is_reached_by_a_short_way(compiled, system):
    relocations = of_mach_o if system == "macOS" else of_elf
    found = [set(relocations(code)) for code in compiled[system].values()]
    assert any(found)
    assert set().union(*found) <= FAR[system]


def of_elf(code: bytes) -> list[int]:
    """The kinds of relocations of names that are not defined."""
    sections, symbols = loader.parse(code, loader.MACHINES)
    kinds = []
    for table in (s for s in sections if s.kind == loader._RELA):
        for at in range(table.offset, table.offset + table.size, 24):
            _, info, _ = struct.unpack_from("<QQq", code, at)
            symbol = symbols[info >> 32]
            kinds += [info & 0xFFFFFFFF] if symbol.name and not symbol.section else []
    return kinds


def of_mach_o(code: bytes) -> list[int]:
    """The same: 2 is a branch, 3 and 4 a place that is near, 5 to 7 go by way of an address."""
    kinds, at = [], 32
    symbols, relocations = 0, []
    for _ in range(struct.unpack_from("<I", code, 16)[0]):
        command, size = struct.unpack_from("<II", code, at)
        if command == 2:
            (symbols,) = struct.unpack_from("<I", code, at + 8)
        if command == 0x19:
            (count,) = struct.unpack_from("<I", code, at + 64)
            for k in range(count):
                relocations.append(struct.unpack_from("<II", code, at + 72 + 80 * k + 56))
        at += size
    for where, count in relocations:
        for k in range(count):
            _, info = struct.unpack_from("<iI", code, where + 8 * k)
            kind = code[symbols + 16 * (info & 0xFFFFFF) + 4]
            if info >> 27 & 1 and not kind & 0x0E:
                kinds.append(info >> 28)
    return kinds
