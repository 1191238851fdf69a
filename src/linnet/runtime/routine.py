"""`Routine`: a function of restricted Python as machine code, to be called with NumPy arrays.

What is not a loop program (parsing text, sorting entries) is written as codelets, too, and
compiled by the same back end into the same disk cache. Arrays are passed whole, and written to.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet import backend, imp
from linnet.errors import InternalError
from linnet.options import Options, current
from linnet.shortage import COMPILING, make_room

Argument: TypeAlias = NDArray[Any] | int

_compiled: dict[tuple[FunctionType, tuple[str, ...], Options], backend.Compiled] = {}


class Routine:
    """A codelet that returns an integer, or nothing; compiled for the types it is called with."""

    __slots__ = ("function",)

    def __init__(self, function: object) -> None:
        if not isinstance(function, FunctionType):
            raise InternalError(f"{function!r} is not a function of restricted Python")
        self.function = function

    def __call__(self, *args: Argument) -> int:
        """Call it, without the GIL; a function that returns nothing gives 0."""
        types = types_of(args)
        compiled = _compiled.get((self.function, types, current())) or self._compile(types)
        return call(compiled, args)

    def _compile(self, types: tuple[str, ...]) -> backend.Compiled:
        options = current()
        # the stamp of the disk cache covers the text of this package, and so of the function
        key = f"routine {self.function.__module__}.{self.function.__qualname__} {types}"
        compiled = backend.load(key, options)
        if compiled is None:
            make_room(COMPILING)
            from linnet import target
            from linnet.optimize.vectorize import vectorize

            code = vectorize(self.kernel(types), target.of(options))
            compiled = backend.build(code, key, options)
        return _compiled.setdefault((self.function, types, options), compiled)

    def kernel(self, types: tuple[str, ...]) -> imp.Kernel:
        """The imperative code, for arguments of these types (`"int64"`, `"int32*"` …)."""
        from linnet.python.translate import translate  # not needed for what is in the disk cache

        registry: dict[str, imp.Function] = {}
        function = translate(self.function, types, registry)
        arguments, given = [], []
        for k, dtype in enumerate(types):
            name = self.function.__code__.co_varnames[k]
            if dtype.endswith("*"):
                buffer = imp.Buffer(name, dtype[:-1])
                arguments.append(imp.Argument(name, (), (buffer,)))
                given.append(imp.Address(buffer))
            else:
                arguments.append(imp.Argument(name, (imp.Var(name),), ()))
                given.append(imp.Var(name))  # type: ignore[arg-type]
        call = imp.Call(function.name, tuple(given), function.dtype or "void")
        stmt: imp.Stmt = imp.Do(call) if function.dtype is None else imp.Return(call)
        name = self.function.__name__
        return imp.Kernel(
            f"{name}_routine", tuple(arguments), imp.Block((stmt,)), tuple(registry.values())
        )


def call(compiled: backend.Compiled, args: Sequence[Argument]) -> int:
    """Call code with arrays, which are passed whole, and integers."""
    slots: list[int] = []
    for arg in args:
        if isinstance(arg, np.ndarray):
            slots += (arg.__array_interface__["data"][0], arg.size, arg.size)
        else:
            slots.append(arg)
    block = array("q", slots)
    return compiled.call(block.buffer_info()[0])


def types_of(args: Sequence[Argument]) -> tuple[str, ...]:
    """What a codelet is told about its arguments."""
    return tuple([_type_of(arg) for arg in args])


def _type_of(arg: Argument) -> str:
    if not isinstance(arg, np.ndarray):
        return imp.INT
    if arg.ndim != 1 or not (arg.flags.c_contiguous and arg.dtype.isnative):
        raise InternalError(f"not a plain array: {arg.ndim}-d {arg.dtype}")
    return _pointer(arg.dtype)


@cache
def _pointer(dtype: np.dtype[Any]) -> str:
    """The type of an array; NumPy takes long to spell a dtype."""
    return f"{dtype}*"
