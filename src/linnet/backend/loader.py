"""A loader of object code: puts a relocatable ELF file of x86-64 Linux into memory.

It does what LLVM's loader does, for the few relocations that LLVM writes for kernels, so that a
process whose kernels are all in the disk cache need not load LLVM. Anything it does not know it
refuses (`Unsupported`), and LLVM's loader is used instead. Memory is written first and made
executable afterwards, never both at once.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Callable
from functools import cache

from linnet.backend import symbols
from linnet.options import Options
from linnet.records import NamedTuple

PAGE = mmap.PAGESIZE
_READ, _EXECUTE = 1, 4

# What is read of the format: section types and flags, and relocations.
_PROGBITS, _SYMTAB, _RELA, _NOBITS, _REL = 1, 2, 4, 8, 9
_WRITE, _ALLOC, _EXEC, _TLS = 1, 2, 4, 0x400
_ABS64, _PC32, _PLT32, _GOTPCREL, _PC64, _GOTPCRELX, _REX_GOTPCRELX = 1, 2, 4, 9, 24, 41, 42
_UNDEFINED, _ABSOLUTE, _COMMON = 0, 0xFFF1, 0xFFF2
_X86_64, _AARCH64 = 62, 183
MACHINES = frozenset({_X86_64, _AARCH64})
_JUMP = b"\xff\x25\x00\x00\x00\x00"  # jmp *[next 8 bytes]


class Unsupported(Exception):
    """An object file, or a system, that this loader does not handle."""


class Malformed(Unsupported):
    """Not an object file at all; LLVM's loader would end the process over it."""


class Section(NamedTuple):
    """One section header."""

    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int


class Symbol(NamedTuple):
    """One symbol: defined in a section, or outside."""

    name: str
    section: int
    value: int


class Image:
    """Loaded code. The memory is given back when the last reference goes."""

    def __init__(self, memory: mmap.mmap, address: int, symbols: dict[str, int]) -> None:
        self._memory = memory
        self.address = address
        self.symbols = symbols


def supported() -> bool:
    """Whether this is a system whose object files we know."""
    return sys.platform == "linux" and os.uname().machine == "x86_64" and sys.maxsize > 2**32


def is_used(options: Options) -> bool:
    """Whether code is made for this loader: it is there, and nobody has switched it off."""
    return options.loader == "own" and supported()


def load(code: bytes, address_of: Callable[[str], int] | None = None) -> Image:
    """Place an object file in memory, link it, make it executable.

    `address_of` says where things are that it calls; the C library's, if nobody does.
    """
    if not supported():
        raise Unsupported("not x86-64 Linux")
    try:
        sections, found = parse(code)
        return _Linker(code, sections, found).link(address_of or symbols.address_of)
    except (struct.error, IndexError, ValueError, OverflowError, UnicodeDecodeError) as error:
        raise Malformed(f"a malformed object file: {error}") from None


# -- reading -------------------------------------------------------------------------------------


def parse(
    code: bytes, machines: frozenset[int] = frozenset({_X86_64})
) -> tuple[list[Section], list[Symbol]]:
    """The sections and symbols of a file for one of these machines, as ELF numbers them."""
    if code[:7] != b"\x7fELF\x02\x01\x01":
        raise Malformed("not a 64-bit little-endian ELF file")
    kind, machine = struct.unpack_from("<HH", code, 16)
    if kind != 1 or machine not in machines:
        raise Unsupported("not a relocatable file for this machine")
    (table,) = struct.unpack_from("<Q", code, 40)
    entry, count = struct.unpack_from("<HH", code, 58)
    sections = []
    for k in range(count):
        _, sort, flags, _, offset, size, link, info, align, _ = struct.unpack_from(
            "<IIQQQQIIQQ", code, table + k * entry
        )
        if sort != _NOBITS and offset + size > len(code):
            raise Malformed("a section beyond the end of the file")
        sections.append(Section(sort, flags, offset, size, link, info, max(align, 1)))
    tables = [s for s in sections if s.kind == _SYMTAB]
    if len(tables) != 1:
        raise Unsupported("not exactly one symbol table")
    return sections, _parse_symbols(code, tables[0], sections[tables[0].link])


def _parse_symbols(code: bytes, table: Section, strings: Section) -> list[Symbol]:
    symbols = []
    for at in range(table.offset, table.offset + table.size, 24):
        name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", code, at)
        start = strings.offset + name
        text = code[start : code.index(b"\0", start)].decode("ascii")
        symbols.append(Symbol(text, section, value))
    return symbols


# -- linking -------------------------------------------------------------------------------------


class _Linker:
    """Lays sections out, code first and constants on pages after it, and applies relocations."""

    def __init__(self, code: bytes, sections: list[Section], symbols: list[Symbol]) -> None:
        self.code, self.sections, self.symbols = code, sections, symbols
        self.external = sorted({s.name for s in symbols if s.section == _UNDEFINED and s.name})
        self.places: dict[int, int] = {}  # section number: offset in memory
        end = self._place(executable=True, at=0)
        self.stubs = _up(end, 16)  # one jump per external function: it may be far away
        self.code_end = _up(self.stubs + 16 * len(self.external), PAGE)
        end = self._place(executable=False, at=self.code_end)
        self.table = _up(end, 8)  # one address per external symbol
        self.size = max(_up(self.table + 8 * len(self.external), PAGE), PAGE)

    def _place(self, executable: bool, at: int) -> int:
        for number, s in enumerate(self.sections):
            if not s.flags & _ALLOC or not s.size or bool(s.flags & _EXEC) != executable:
                continue
            if s.flags & (_WRITE | _TLS) or s.kind == _NOBITS:
                raise Unsupported("a section of writable data")
            if s.align > PAGE:
                raise Unsupported("a section aligned to more than a page")
            at = _up(at, s.align)
            self.places[number] = at
            at += s.size
        return at

    def link(self, address_of: Callable[[str], int]) -> Image:
        """Fill the memory, protect it, and say where each symbol is."""
        addresses = [address_of(name) for name in self.external]
        if 0 in addresses:
            raise Unsupported(f"no function {self.external[addresses.index(0)]}")
        memory = mmap.mmap(-1, self.size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for number, at in self.places.items():
            s = self.sections[number]
            memory[at : at + s.size] = self.code[s.offset : s.offset + s.size]
        for k, address in enumerate(addresses):
            struct.pack_into("<6sQ", memory, self.stubs + 16 * k, _JUMP, address)
            struct.pack_into("<Q", memory, self.table + 8 * k, address)
        for s in self.sections:
            if s.kind == _REL:
                raise Unsupported("relocations without addends")
            if s.kind == _RELA and s.info in self.places:
                self._relocate(memory, base, s)
        _protect(base, self.code_end, _READ | _EXECUTE)
        _protect(base + self.code_end, self.size - self.code_end, _READ)
        found = {
            s.name: base + self.places[s.section] + s.value
            for s in self.symbols
            if s.name and s.section in self.places
        }
        return Image(memory, base, found)

    def _relocate(self, memory: mmap.mmap, base: int, table: Section) -> None:
        place, size = self.places[table.info], self.sections[table.info].size
        for at in range(table.offset, table.offset + table.size, 24):
            offset, info, addend = struct.unpack_from("<QQq", self.code, at)
            kind, symbol = info & 0xFFFFFFFF, self.symbols[info >> 32]
            wide = kind in (_ABS64, _PC64)
            if offset + (8 if wide else 4) > size:
                raise Malformed("a relocation outside its section")
            value = self._target(symbol, kind, base) + addend
            if kind != _ABS64:
                value -= base + place + offset
            form = "<Q" if kind == _ABS64 else "<q" if wide else "<i"
            struct.pack_into(form, memory, place + offset, value)

    def _target(self, symbol: Symbol, kind: int, base: int) -> int:
        """The address that a relocation wants to reach."""
        outside = symbol.section == _UNDEFINED and bool(symbol.name)
        if kind in (_GOTPCREL, _GOTPCRELX, _REX_GOTPCRELX) and outside:
            return base + self.table + 8 * self.external.index(symbol.name)
        if kind not in (_ABS64, _PC32, _PLT32, _PC64):
            raise Unsupported(f"relocation {kind}")
        if outside:
            k = self.external.index(symbol.name)
            if kind != _PLT32:
                raise Unsupported(f"relocation {kind} of an external symbol")
            return base + self.stubs + 16 * k
        if symbol.section not in self.places:
            raise Unsupported(f"the symbol {symbol.name or symbol.section} has no place")
        return base + self.places[symbol.section] + symbol.value


def _up(n: int, align: int) -> int:
    return -(-n // align) * align


def _protect(address: int, size: int, rights: int) -> None:
    if size and _libc().mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), rights):
        raise Unsupported(f"mprotect failed: error {ctypes.get_errno()}")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
