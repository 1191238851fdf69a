"""The loader of object code: it runs what it loads, and refuses what it does not know."""

import contextlib
import ctypes
import struct
from pathlib import Path

import pytest
from tests.unit.backend import kernels

from linnet.backend import llvm, loader, machine, symbols
from linnet.imp import Call, Cast, Const

pytestmark = pytest.mark.skipif(not loader.supported(), reason="not x86-64 Linux")

CONSTANTS = """
@table = internal constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
define i64 @look(i64 %k) nounwind {
  %p = getelementptr [4 x i64], ptr @table, i64 0, i64 %k
  %v = load i64, ptr %p
  ret i64 %v
}
define double @half(double %x) nounwind {
  %y = fmul double %x, 0x3FE1234560000000
  %z = call double @cos(double %y)
  %w = call double @cos(double %z)
  ret double %w
}
declare double @cos(double)
"""
ADDRESS = """
declare double @cos(double)
define ptr @where() nounwind { ret ptr @cos }
"""
SWITCH = """
define i64 @pick(i64 %k) nounwind {
  switch i64 %k, label %other [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d ]
a:
  %x = call double @sin(double 1.0)
  ret i64 5
b:
  %y = call double @cos(double 1.0)
  ret i64 17
c:
  ret i64 91
d:
  %z = call double @tan(double 1.0)
  ret i64 3
other:
  ret i64 -1
}
declare double @sin(double)
declare double @cos(double)
declare double @tan(double)
"""
WRITABLE = """
@state = global i64 7
define i64 @next() nounwind {
  %v = load i64, ptr @state
  %w = add i64 %v, 1
  store i64 %w, ptr @state
  ret i64 %w
}
"""
UNKNOWN = """
declare double @no_such_function_anywhere(double)
define double @f(double %x) nounwind {
  %y = call double @no_such_function_anywhere(double %x)
  ret double %y
}
"""
I64, DOUBLE = ctypes.c_int64, ctypes.c_double


def test_constants_and_calls_of_the_c_library():
    image = loader.load(machine.compile(CONSTANTS))
    look = ctypes.CFUNCTYPE(I64, I64)(image.symbols["look"])
    assert [look(k) for k in range(4)] == [10, 20, 30, 40]
    half = ctypes.CFUNCTYPE(DOUBLE, DOUBLE)(image.symbols["half"])
    assert 0 < half(1.0) < 1


def test_addresses_of_external_functions():
    image = loader.load(machine.compile(ADDRESS))
    where = ctypes.CFUNCTYPE(ctypes.c_void_p)(image.symbols["where"])
    assert where() == symbols.address_of("cos")


def test_jump_tables():
    image = loader.load(machine.compile(SWITCH))
    pick = ctypes.CFUNCTYPE(I64, I64)(image.symbols["pick"])
    assert [pick(k) for k in (0, 1, 2, 3, 9)] == [5, 17, 91, 3, -1]


def test_a_kernel():
    value = Cast(Call("exp", (Const(1.0, "float64"),), "float64"), "int64")
    code = machine.compile(llvm.render(kernels.returning(value)))
    image = loader.load(code)
    assert ctypes.CFUNCTYPE(I64, ctypes.c_void_p)(image.symbols["number"])(None) == 2


def test_memory_is_never_writable_and_executable():
    image = loader.load(machine.compile(CONSTANTS))
    lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    spans = [
        (int(a, 16), int(b, 16), rights)
        for (a, b), rights in ((x[0].split("-"), x[1]) for x in lines)
    ]
    code = next(rights for a, b, rights in spans if a <= image.symbols["look"] < b)
    assert code.startswith("r-x")
    assert not any(
        "w" in rights and "x" in rights for a, b, rights in spans if a <= image.address < b
    )


def test_memory_is_given_back():
    code = machine.compile(CONSTANTS)
    address = loader.load(code).address
    again = {loader.load(code).address for _ in range(50)}
    assert len(again) < 25 or address in again


@pytest.mark.parametrize("text", [WRITABLE, UNKNOWN])
def test_unsupported_objects_are_refused(text):
    with pytest.raises(loader.Unsupported):
        loader.load(machine.compile(text))


def test_unknown_relocations_are_refused():
    code = bytearray(machine.compile(CONSTANTS))
    changed = 0
    table, entry, count = (
        struct.unpack_from("<Q", code, 40)[0],
        *struct.unpack_from("<HH", code, 58),
    )
    for k in range(count):
        _, kind, _, _, offset, size, *_ = struct.unpack_from("<IIQQQQIIQQ", code, table + k * entry)
        if kind == loader._RELA:
            for at in range(offset, offset + size, 24):
                struct.pack_into("<I", code, at + 8, 10)  # R_X86_64_32
                changed += 1
    assert changed
    with pytest.raises(loader.Unsupported):
        loader.load(bytes(code))


@pytest.mark.parametrize("code", [b"", b"\x7fELF", b"\x7fELF\x02\x01\x01" + bytes(57), b"MZ" * 100])
def test_what_is_not_an_object_file_is_refused(code):
    with pytest.raises(loader.Unsupported):
        loader.load(code)


def test_truncated_objects_are_refused():
    code = machine.compile(CONSTANTS)
    for size in range(0, len(code), 7):
        with pytest.raises(loader.Unsupported):
            loader.load(code[:size])


def test_damaged_headers_never_crash():
    code = machine.compile(CONSTANTS)
    for at in range(16, 64):
        damaged = bytearray(code)
        damaged[at] ^= 0xFF
        with contextlib.suppress(loader.Unsupported):
            loader.load(bytes(damaged))


def test_llvm_links_what_the_loader_refuses():
    address, _keep = machine.load(machine.compile(WRITABLE), "next")
    step = ctypes.CFUNCTYPE(I64)(address)
    assert (step(), step()) == (8, 9)
