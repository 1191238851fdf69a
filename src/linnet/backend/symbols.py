"""What the names in machine code stand for in this process: functions of its C library.

Memory that a kernel allocates is freed from Python, and the other way round. So all functions for
memory are those of the library whose `free` Python calls (`formats.spare`): an allocator that was
loaded before the C library has others than a search in the C library alone would find.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

from linnet.formats.spare import C

MEMORY = frozenset({"aligned_alloc", "calloc", "free", "malloc", "realloc"})
# Of the process as well: whoever replaces them wants them to be replaced everywhere.
_OF_THE_PROCESS = MEMORY | {
    "madvise",
    "pthread_attr_destroy",
    "pthread_attr_init",
    "pthread_attr_setstacksize",
    "pthread_create",
    "pthread_join",
}
_OTHERWISE = {"hypot": "_hypot", "hypotf": "_hypotf"}  # as Windows spells them
_WINDOWS = ("vcruntime140", "ntdll")  # what its C library leaves to others: memcpy, __chkstk


@cache
def address_of(name: str) -> int:
    """The address of a function of the C library; 0 if it has none of this name."""
    libraries = (C,) if name in _OF_THE_PROCESS else _libraries()
    for spelled in (name, _OTHERWISE.get(name, name)):
        for library in libraries:
            try:
                return ctypes.cast(library[spelled], ctypes.c_void_p).value or 0
            except AttributeError:
                continue
    return 0


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    """Where names are looked for: first that of the mathematics, where it is one of its own."""
    names = {"linux": ("libm.so.6",), "win32": _WINDOWS}.get(sys.platform, ())
    found = list[ctypes.CDLL]()
    for name in names:
        try:
            found.append(ctypes.CDLL(name))
        except OSError:  # a C library that contains the mathematics
            continue
    return (C, *found) if sys.platform == "win32" else (*found, C)
