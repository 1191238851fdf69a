"""What is kept of machine code, and of what others keep beside it: bytes in the disk cache, by key.

The caller's key tells programs apart; what else the machine code depends on is added here.
"""

from __future__ import annotations

import hashlib

from linnet.backend import back_ends, stamp
from linnet.backend.cache import Cache
from linnet.errors import BuildError
from linnet.options import Options

_SEAL = 32  # bytes of a digest


def full_key(key: str, options: Options) -> str:
    """The key of something that would be another one with other code, on another machine."""
    made = f"{back_ends.of(options).describe(options)} {','.join(options.without)}"
    return f"{made}|{stamp.of_machine()}|{key}"


def store(key: str, options: Options, data: bytes) -> None:
    """Keep data as long as it would be made by the same code on the same machine."""
    cache = Cache.open(options)
    if cache is not None:
        cache.store(full_key(key, options), data)


def stored(key: str, options: Options) -> bytes | None:
    """What was stored under this key, by this or another process."""
    cache = Cache.open(options)
    return None if cache is None else cache.load(full_key(key, options))


def sealed(code: bytes) -> bytes:
    """Machine code behind its digest, as it is kept."""
    return hashlib.sha256(code).digest() + code


def unsealed(data: bytes) -> bytes:
    """Machine code that was sealed.

    A system's loader, and LLVM's, end the process over a damaged file: neither ever sees one.
    """
    if hashlib.sha256(data[_SEAL:]).digest() != data[:_SEAL]:
        raise BuildError("a compiled kernel cannot be loaded")
    return data[_SEAL:]
