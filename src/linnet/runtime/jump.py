"""`jump`: a repeated call as one function of machine code, `repeat.ll`, made once for all kernels.

What a `Repeat` does in Python takes several times as long as the jump itself. The function is
called by Python as those of its own modules are. It finds what it needs in its plan, a few words,
and knows where the slots of tensors and contents are. Where that cannot be had (without a GIL, on a
system whose Python shows no API), calls are repeated by `Repeat.again`.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from array import array
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from linnet import backend, options
from linnet.errors import LinnetError
from linnet.formats.away import TAKEN
from linnet.formats.buffers import Buffer
from linnet.formats.contents import Contents
from linnet.formats.tensor import Tensor
from linnet.guards import Guard
from linnet.runtime.repeat import Repeat, not_yet
from linnet.runtime.scratch import Staying
from linnet.runtime.watch import WATCHED

Jump = Callable[..., Any]
"""From the tensors of a call to what it returns; `NotImplemented` if nothing was done."""

# Words of a plan, of each argument that follows, and of what is the same for all plans.
PLAN = ("table", "options", "count", "block", "before", "after", "bytes", "kernel", "repeat",
        "scratch", "returned")  # fmt: skip
ARGUMENT = ("tensor", "slots", "written", "key")
TABLE = ("none", "true", "false", "not_done", "tensor_type", "taken", "unlike", "give_up",
         "watched", "open", "context", "options", "process")  # fmt: skip

_MAKING = Guard()
_PROCESS = "_process"  # the options where none are set
_FASTCALL = 0x80  # a C function of Python that has its arguments in an array


class _Method(ctypes.Structure):
    """Python's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def jump(repeat: Repeat) -> Jump:
    """What makes the call that `repeat` remembers, as long as that lives."""
    with _MAKING:  # functions know where these are: there is one of each
        method, table = None if repeat.varies else _method(), _table()
    kernel = _address(repeat.call)
    if method is None or not kernel:
        return not_yet
    plan = {
        "table": table.buffer_info()[0],
        "options": id(repeat.options),
        "count": repeat.count,
        "block": repeat.where,
        "before": repeat.before.buffer_info()[0],
        "after": repeat.after.buffer_info()[0],
        "bytes": 8 * len(repeat.before),
        "kernel": kernel,
        "repeat": id(repeat),
        "scratch": 0 if repeat.scratch is None else id(repeat.scratch),
        "returned": len(repeat.returned),
    }
    words = [plan[name] for name in PLAN]
    for tensor, slots, written in repeat.arguments:
        words += [tensor, id(slots), written, id(tensor)]
    made: Jump = _new(ctypes.byref(method), array("q", [*words, *repeat.returned]).tobytes(), None)
    return made


_new = ctypes.pythonapi.PyCFunction_NewEx
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]


@cache
def _method() -> _Method | None:
    """The function, as Python wants to be told of it; None if there is none."""
    try:
        text = (Path(__file__).parent / "repeat.ll").read_text()
    except OSError:  # an application that has the modules alone, perhaps in an archive
        return None
    if not _is_supported(re.findall(r"^declare .*@(\w+)\(", text, re.MULTILINE)):
        return None
    for name, at in {**_words(), **_slots()}.items():
        text = text.replace(f"<{name}>", str(at))
    try:
        call = _compiled(text)
    except LinnetError:
        return None
    method = _Method(b"repeat", _address(call), _FASTCALL, None)
    method.owner = call
    return method


def _address(call: Callable[[int], int]) -> int:
    """Where the code of a function is; 0 if it is one of Python, as of who measures calls."""
    try:
        return ctypes.cast(call, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
    except ctypes.ArgumentError:
        return 0


def _is_supported(names: list[str]) -> bool:
    """Whether objects are where we look for them, and nobody touches them without the GIL."""
    if os.name != "posix" or sys.maxsize < 2**32 or sys.implementation.name != "cpython":
        return False
    process = ctypes.CDLL(None)
    return "t" not in sys.abiflags and all(hasattr(process, name) for name in names)


def _compiled(text: str) -> Callable[[int], int]:
    """The machine code of the function, which the disk cache keeps as it keeps kernels."""
    way = replace(options.current(), backend="llvm", sanitize=False, optimize=True)
    code = backend.stored(text, way)
    if code is None:
        from linnet.backend.machine import compile

        code = backend.sealed(compile(text))
        backend.store(text, way, code)
    return backend.link(code, "repeat", way)


def _words() -> dict[str, int]:
    """Where the words of plans are, in bytes."""
    named = (("plan", PLAN), ("argument", ARGUMENT), ("table", TABLE))
    words = {f"{of}.{name}": 8 * k for of, names in named for k, name in enumerate(names)}
    return words | {"plan.size": 8 * len(PLAN), "argument.size": 8 * len(ARGUMENT)}


def _slots() -> dict[str, int]:
    """Where objects have what the function looks at."""
    return {
        "slot.type": _place_of(Contents, "pins", Contents),
        "slot.contents": _place_of(Tensor, "_contents"),
        "slot.slots": _place_of(Contents, "_slots"),
        "slot.pins": _place_of(Contents, "pins"),
        "slot.lent": _place_of(Contents, "lent"),
        "slot.buffers": _place_of(Contents, "_buffers"),
        "slot.exported": _place_of(Buffer, "exported"),
        "slot.stays": _place_of(Staying, "stays"),
        "slot.data": bytes.__basicsize__ - 1,  # a byte of it is the zero at the end
    }


def _place_of(kind: type, slot: str, what: object = None) -> int:
    """Where in an object its slot is, or its type: where something is found that was put there."""
    mark = object()
    made: object = object.__new__(kind)
    setattr(made, slot, mark)
    words = (ctypes.c_size_t * (kind.__basicsize__ // 8)).from_address(id(made))
    place = [*words].index(id(mark if what is None else what))
    delattr(made, slot)
    return 8 * place


@cache
def _table() -> array[int]:
    """What is the same for all plans: objects that live as long as the process."""
    table = array("q", [0] * len(TABLE))
    objects = {
        "none": None, "true": True, "false": False, "not_done": NotImplemented,
        "tensor_type": Tensor, "taken": TAKEN, "unlike": Repeat.unlike, "give_up": Repeat.give_up,
        "watched": WATCHED, "open": options._open, "context": options._context,
        "options": vars(options), "process": _PROCESS,
    }  # fmt: skip
    for name, what in objects.items():
        table[TABLE.index(name)] = id(what)
    return table
