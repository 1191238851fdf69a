"""From imperative IR to something callable: render, compile, keep in the disk cache, load.

    build(kernel, key, options, meta) -> Compiled         compile, and keep the machine code
    load(key, options)                -> Compiled | None  from the disk cache, rendering nothing
    store(key, options, data), stored(key, options)       what others keep beside it

The caller's key tells programs apart; what else the machine code depends on is added here. What is
needed to load a kernel is small, and has tuples for dataclasses, which take a millisecond each to
make: the first call of a process waits for it.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from linnet.backend import loader, stamp
from linnet.backend.cache import Cache
from linnet.errors import BuildError, InternalError
from linnet.options import Options
from linnet.records import NamedTuple
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet import imp

Call = Callable[[int], int]
_SEAL = 32  # bytes of a digest
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)  # releases the GIL


class Compiled(NamedTuple):
    """Machine code that can be called: from the address of an argument block to a status."""

    call: Call
    meta: Mapping[str, object]
    size: int
    cached: bool  # found in the disk cache


def build(
    kernel: imp.Kernel, key: str, options: Options, meta: Mapping[str, object] | None = None
) -> Compiled:
    """Compile a kernel, and keep it in the disk cache under `key`, with `meta` beside it."""
    cache = Cache.open(options)
    code: bytes = _module("generate").generate(kernel, options)
    name: str = _module("identifiers").symbol(kernel)
    header: dict[str, object] = {"symbol": name, "meta": dict(meta or {})}
    call = _linked(code, name, options)
    if cache is not None:
        cache.store(_full_key(key, options), _pack(header, sealed(code)))
    return Compiled(call, dict(meta or {}), len(code), cached=False)


def load(key: str, options: Options) -> Compiled | None:
    """The kernel that was built under this key, by this or another process."""
    data = stored(key, options)
    if data is None:
        return None
    try:
        header, code = _unpack(data)
        name, meta = header["symbol"], header["meta"]
        call = link(code, str(name), options)
        size = len(code) - _SEAL
        return Compiled(call, dict(meta), size, cached=True)  # type: ignore[call-overload]
    except _UNREADABLE:
        return None  # it is compiled anew, and replaced


def machine_code(key: str, options: Options) -> tuple[str, bytes] | None:
    """Name and machine code, sealed, of a kernel that was built under this key, if it is kept."""
    data = stored(key, options)
    if data is None:
        return None
    try:
        header, code = _unpack(data)
        return str(header["symbol"]), code
    except _UNREADABLE:
        return None


def store(key: str, options: Options, data: bytes) -> None:
    """Keep data as long as it would be made by the same code on the same machine."""
    cache = Cache.open(options)
    if cache is not None:
        cache.store(_full_key(key, options), data)


def stored(key: str, options: Options) -> bytes | None:
    """What was stored under this key, by this or another process."""
    cache = Cache.open(options)
    return None if cache is None else cache.load(_full_key(key, options))


# what reading an entry that is not as we write it may come to
_UNREADABLE = (struct.error, ValueError, TypeError, KeyError, OSError, BuildError, InternalError)


def _module(name: str) -> Any:
    """A part of the back end that is not needed to load a kernel from the disk cache."""
    return imported(f"linnet.backend.{name}")


def _full_key(key: str, options: Options) -> str:
    return f"{stamp.of(options)}|{key}"


def _pack(header: dict[str, object], code: bytes) -> bytes:
    import json  # not needed to load what has been prepared

    text = json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text + code


def _unpack(data: bytes) -> tuple[dict[str, object], bytes]:
    import json

    (size,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + size]), data[4 + size :]


def sealed(code: bytes) -> bytes:
    """Machine code behind its digest, as it is kept."""
    return hashlib.sha256(code).digest() + code


def link(code: bytes, name: str, options: Options) -> Call:
    """Make machine code callable that was sealed; the function keeps its memory alive.

    A system's loader, and LLVM's, end the process over a damaged file: neither ever sees one.
    """
    if hashlib.sha256(code[_SEAL:]).digest() != code[:_SEAL]:
        raise BuildError("a compiled kernel cannot be loaded")
    return _linked(code[_SEAL:], name, options)


def _linked(code: bytes, name: str, options: Options) -> Call:
    if options.target == "c":
        address, owner = _module("toolchain").load(code, name)
    elif not loader.is_used(options):
        address, owner = _module("machine").load(code, name)
    else:
        try:
            image = loader.load(code)
            address, owner = image.symbols[name], image
        except loader.Malformed:
            raise BuildError("a compiled kernel cannot be loaded") from None
        except loader.Unsupported:
            address, owner = _module("machine").load(code, name)
    function = _PROTOTYPE(address)
    function.owner = owner  # type: ignore[attr-defined]
    return function
