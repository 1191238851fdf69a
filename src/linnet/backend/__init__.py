"""From imperative IR to something callable: render, compile, keep in the disk cache, load.

    build(kernel, key, options, meta) -> Compiled         compile, and keep the machine code
    load(key, options)                -> Compiled | None  from the disk cache, rendering nothing

The caller's key tells programs apart; what else the machine code depends on is added here.
"""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from linnet import imp
from linnet.backend import loader, stamp
from linnet.backend.cache import Cache
from linnet.backend.identifiers import symbol
from linnet.errors import BuildError, InternalError
from linnet.options import Options

Call = Callable[[int], int]
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)  # releases the GIL


@dataclass(frozen=True, slots=True)
class Compiled:
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
    header: dict[str, object] = {"symbol": symbol(kernel), "meta": dict(meta or {})}
    call = _link(code, symbol(kernel), options)
    if cache is not None:
        cache.store(_full_key(key, options), _pack(header, code))
    return Compiled(call, dict(meta or {}), len(code), cached=False)


def load(key: str, options: Options) -> Compiled | None:
    """The kernel that was built under this key, by this or another process."""
    cache = Cache.open(options)
    data = cache.load(_full_key(key, options)) if cache is not None else None
    if data is None:
        return None
    try:
        header, code = _unpack(data)
        name, meta = header["symbol"], header["meta"]
        call = _link(code, str(name), options)
        return Compiled(call, dict(meta), len(code), cached=True)  # type: ignore[call-overload]
    except _UNREADABLE:
        return None  # it is compiled anew, and replaced


# what reading an entry that is not as we write it may come to
_UNREADABLE = (struct.error, ValueError, TypeError, KeyError, OSError, BuildError, InternalError)


def _module(name: str) -> Any:
    """A part of the back end that is not needed to load a kernel from the disk cache."""
    return import_module(f"linnet.backend.{name}")


def _full_key(key: str, options: Options) -> str:
    return f"{stamp.of(options)}|{key}"


def _pack(header: dict[str, object], code: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text + code


def _unpack(data: bytes) -> tuple[dict[str, object], bytes]:
    (size,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + size]), data[4 + size :]


def _link(code: bytes, name: str, options: Options) -> Call:
    """Make machine code callable; the function keeps its memory alive."""
    if options.target == "c":
        address, owner = _module("toolchain").load(code, name)
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
