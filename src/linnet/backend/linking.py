"""Machine code made callable: it is loaded, and so are the codelets that it calls.

A codelet that kernels share is machine code of its own, made once: for all kernels of a process,
and, in the disk cache, for all processes. Its name in the code that calls it says what it is to the
last letter, so that it is found, or is missing, but never another one. Who calls it keeps it alive.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from weakref import WeakValueDictionary

from linnet.backend import back_ends, symbols
from linnet.backend.entries import full_key, sealed, store, stored, unsealed
from linnet.errors import BuildError
from linnet.guards import COMPILING
from linnet.options import Options

Call = Callable[[int], int]
SHARED = "codelet."  # what names of shared codelets begin with
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)  # releases the GIL
_LATELY = 64  # codelets that are kept though no kernel that calls them may be left


class Codelet:
    """Machine code of a shared codelet; its memory is given back with the last reference."""

    __slots__ = ("__weakref__", "address", "code", "owner")

    def __init__(self, code: bytes, address: int, owner: object) -> None:
        self.code, self.address, self.owner = code, address, owner


_codelets: WeakValueDictionary[str, Codelet] = WeakValueDictionary()
_lately: dict[str, Codelet] = {}


class _Names:
    """The addresses of what code calls, and those codelets among it, for who keeps them alive."""

    def __init__(self, options: Options) -> None:
        self.options, self.codelets = options, list[Codelet]()

    def __call__(self, name: str) -> int:
        if not name.startswith(SHARED):
            return symbols.address_of(name)
        codelet = codelet_of(name, self.options)
        if codelet is None:
            raise BuildError(f"a compiled kernel calls {name}, which is kept no longer")
        self.codelets.append(codelet)
        return codelet.address


def link(code: bytes, name: str, options: Options) -> Call:
    """Make machine code callable that was sealed; the function keeps its memory alive."""
    return linked(unsealed(code), name, options)


def linked(code: bytes, name: str, options: Options) -> Call:
    """Make machine code callable."""
    address, owner = _loaded(code, name, options)
    function = _PROTOTYPE(address)
    function.owner = owner  # type: ignore[attr-defined]
    return function


def codelet_of(symbol: str, options: Options) -> Codelet | None:
    """A shared codelet that is in memory, or in the disk cache."""
    found = _codelets.get(full_key(symbol, options))
    if found is None and (data := stored(symbol, options)) is not None:
        try:
            found = _known(unsealed(data), symbol, options)
        except BuildError:  # it is made anew, and replaced
            return None
    return found


def provide(symbol: str, options: Options, compile: Callable[[], bytes]) -> Codelet:
    """A shared codelet, compiled if there is none; the others wait for who compiles it.

    It is in the disk cache then, too, where it may not have been: there may be another folder now.
    """
    with COMPILING:
        found = codelet_of(symbol, options)
        is_kept = found is not None and stored(symbol, options) is not None
        if found is None:
            found = _known(compile(), symbol, options)
        if not is_kept:
            store(symbol, options, sealed(found.code))
        return found


def _known(code: bytes, symbol: str, options: Options) -> Codelet:
    """Load a shared codelet. In its own code it has its name without what tells it from others."""
    loaded = Codelet(code, *_loaded(code, symbol.rpartition(".")[0], options))
    key = full_key(symbol, options)
    found = _lately[key] = _codelets.setdefault(key, loaded)
    while len(_lately) > _LATELY:
        _lately.pop(list(_lately)[0], None)  # noqa: RUF015  # at once: others come and go
    return found


def _loaded(code: bytes, name: str, options: Options) -> tuple[int, object]:
    """Put code into memory: the address of a function, and what must be kept alive."""
    names = _Names(options)
    address, owner = back_ends.of(options).load(code, name, options, names)
    return address, (owner, names.codelets)
