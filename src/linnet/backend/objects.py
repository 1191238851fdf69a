"""Object files of any system that we compile for: which names they leave to others to define.

LLVM's loader is asked for nothing else that it cannot tell, so that is all that is read of them:
ELF (Linux, and Windows, where LLVM loads nothing else) and Mach-O (macOS).
"""

from __future__ import annotations

import struct
import sys

from linnet.backend import loader
from linnet.errors import BuildError

_MACH_O = 0xFEEDFACF
_SYMTAB = 2  # of its commands
_KIND, _EXTERNAL, _PRIVATE = 0x0E, 0x01, 0xE0  # bits of a symbol's type


def undefined(code: bytes) -> list[tuple[str, str]]:
    """The names that code needs: as LLVM asks for them in this process, and as C spells them."""
    try:
        if code[:4] == struct.pack("<I", _MACH_O):
            names = [name.removeprefix("_") for name in _undefined_in_mach_o(code)]
            return [(name if sys.platform == "darwin" else f"_{name}", name) for name in names]
        _, symbols = loader.parse(code, loader.MACHINES)
        needed = {s.name for s in symbols if s.name and not s.section}
        return [(name, name) for name in sorted(needed)]
    except (loader.Unsupported, struct.error, ValueError):
        raise BuildError("a compiled kernel cannot be loaded") from None


def _undefined_in_mach_o(code: bytes) -> list[str]:
    (count,) = struct.unpack_from("<I", code, 16)
    at, found = 32, set[str]()
    for _ in range(count):
        command, size = struct.unpack_from("<II", code, at)
        if command == _SYMTAB:
            table, symbols, strings, _ = struct.unpack_from("<4I", code, at + 8)
            for k in range(symbols):
                name, kind, _, _, _ = struct.unpack_from("<IBBHQ", code, table + 16 * k)
                if kind & _EXTERNAL and not kind & (_KIND | _PRIVATE):
                    start = strings + name
                    found.add(code[start : code.index(b"\0", start)].decode("ascii"))
        at += size
    return sorted(found)
