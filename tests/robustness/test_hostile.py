"""Every public function with arguments that nobody means: an error of ours, never anything else.

Each is called in a process of its own, with little memory, so that a crash is seen as one. Python
itself refuses arguments that a function has no parameter for, with its `TypeError`.
"""

from __future__ import annotations

import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet.errors import InternalError, LinnetError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")

ODD = [2**62, 2**63 - 1, 2**64, -(2**31), -1, 0.3, float("nan"), None, "x", (), (2**62,), [None]]
GOOD = [2, (2, 2)]  # for what else must be given
MOST_MEMORY = 6 << 30
MATRIX = np.array([[1.0, 0, 2, 0], [0, 0, 0, 3], [4, 0, 0, 0], [0, 5, 0, 6]])
SPACES = ("linalg", "fft")
# They read and write files, run other programs, or make functions of what is a text.
LEFT_OUT = {"read", "write", "evolve", "function", "fuse", "kernel", "explain", "from_dlpack"}


def functions() -> dict[str, Callable[..., Any]]:
    """All that is public and made for arrays, by name; ufuncs are alike, and have other tests."""
    from linnet.api import NAMES

    found = {name: getattr(ln, name) for name in NAMES if name not in LEFT_OUT}
    for space in SPACES:
        held = getattr(ln, space)
        for name, each in vars(held).items():
            if getattr(each, "__module__", "") == held.__name__ and name[0] != "_":
                found[f"{space}.{name}"] = each
    methods = ("transpose", "reshape", "sum", "__getitem__", "__setitem__", "tobsr", "astype")
    found |= {f"Tensor.{name}": getattr(ln.Tensor, name) for name in methods}
    return {n: f for n, f in found.items() if callable(f) and not isinstance(f, type)}


def calls(function: Callable[..., Any], array: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
    """An array, and one odd argument in the place of every parameter."""
    given = [
        p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD
    ]
    for odd_one in given[0 if len(given) == 1 else 1 :]:
        others = [p for p in given[1:] if p.default is p.empty and p is not odd_one]
        for odd in ODD:
            for good in GOOD if others else GOOD[:1]:
                args, named = [], {}
                for k, p in enumerate(given):
                    if p is not odd_one and k and p.default is not p.empty:
                        continue
                    value = odd if p is odd_one else array() if k == 0 else good
                    if p.kind is p.KEYWORD_ONLY or len(args) < k:
                        named[p.name] = value
                    else:
                        args.append(value)
                yield args, named


def wrong(function: Callable[..., Any], args: Any, named: Any) -> str | None:
    """What comes out that must not; the text of an error must be there, too."""
    try:
        repr(function(*args, **named))
    except InternalError as error:
        return f"{args} {named}: {error}"
    except LinnetError as error:
        str(error)
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        if isinstance(error, TypeError) and "argument" in str(error) and len(frames) < 4:
            return None
        return f"{args} {named}: {error!r} at {frames[-1]}"
    return None


def mistakes(function: Callable[..., Any], array: Callable[[], Any]) -> list[str]:
    """All of them, in a child of this process."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            limit()
            found = (wrong(function, *call) for call in calls(function, array))
            os.write(tell, "\n".join(f for f in found if f)[:4000].encode())
        finally:
            os._exit(0)
    os.close(tell)
    with os.fdopen(told, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return [*text.splitlines(), *([f"the process ended with {status}"] if status else [])]


def limit() -> None:
    import resource

    warnings.simplefilter("ignore")
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))


ARRAYS = {
    "csr": lambda: ln.asarray(MATRIX, format=ln.CSR),
    "dense": lambda: ln.asarray(MATRIX, copy=True),
    "bytes": lambda: ln.asarray(np.array([1, 2, 1, 0], np.uint8)),
}


@pytest.mark.parametrize("kind", [pytest.param("csr", marks=pytest.mark.slow), "dense"])
@pytest.mark.parametrize("name", list(functions()))
def test_odd_arguments(name: str, kind: str) -> None:
    assert mistakes(functions()[name], ARRAYS[kind]) == []


@pytest.mark.parametrize("name", ["bincount", "median", "swapaxes", "rot90", "array_split"])
def test_odd_arguments_of_numpy(name: str) -> None:
    assert mistakes(getattr(np, name), ARRAYS["bytes"]) == []
