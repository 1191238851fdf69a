"""From imperative IR to something callable: render, compile, keep in the disk cache, load.

    build(kernel, key, options, meta) -> Compiled         compile, and keep the machine code
    load(key, options)                -> Compiled | None  from the disk cache, rendering nothing
    link(code, name, options)         -> Call             machine code that somebody has kept
    store(key, options, data), stored(key, options)       what others keep beside it

What is needed to load a kernel is small, and has tuples for dataclasses, which take a millisecond
each to make: the first call of a process waits for it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from linnet.backend import back_ends
from linnet.backend.cache import Cache
from linnet.backend.entries import sealed, store, stored
from linnet.backend.linking import Call, link, linked, provide
from linnet.errors import BuildError, InternalError
from linnet.options import Options
from linnet.records import NamedTuple
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet import imp

__all__ = [
    "Cache",
    "Call",
    "Compiled",
    "build",
    "link",
    "load",
    "machine_code",
    "sealed",
    "store",
    "stored",
]


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
    Cache.open(options)  # what is wrong with its folder is told before there is work to lose
    back_end = back_ends.of(options)
    code, codelets = back_end.generate(kernel, options)
    held = [
        provide(symbol, options, partial(back_end.codelet, text, options))
        for symbol, text in codelets.items()
    ]
    name: str = imported("linnet.backend.identifiers").symbol(kernel)
    header: dict[str, object] = {"symbol": name, "meta": dict(meta or {})}
    call = linked(code, name, options)
    del held  # the kernel has them now
    store(key, options, _pack(header, sealed(code)))
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
        size = len(code) - len(sealed(b""))
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


# what reading an entry that is not as we write it may come to
_UNREADABLE = (struct.error, ValueError, TypeError, KeyError, OSError, BuildError, InternalError)


def _pack(header: dict[str, object], code: bytes) -> bytes:
    import json  # not needed to load what has been prepared

    text = json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text + code


def _unpack(data: bytes) -> tuple[dict[str, object], bytes]:
    import json

    (size,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + size]), data[4 + size :]
