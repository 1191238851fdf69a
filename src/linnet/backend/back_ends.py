"""`BackEnd`: who makes machine code of a kernel, and who puts it into memory.

`of(options)` is the one that the options ask for; who has it need not know which it is. What it
takes to compile is imported when something is compiled: a process that finds its kernels in the
disk cache, which is most of them, needs none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from linnet.backend import loader, stamp
from linnet.errors import BuildError
from linnet.options import Options
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet import imp

Addresses = Callable[[str], int]
"""Where the functions are that code calls."""


class BackEnd(Protocol):
    """What is asked of a back end."""

    def describe(self, options: Options) -> str:
        """A text that differs wherever its machine code would, on one processor."""

    def generate(self, kernel: imp.Kernel, options: Options) -> tuple[bytes, dict[str, str]]:
        """Machine code, and the modules of the codelets that it shares with others, by name."""

    def codelet(self, text: str, options: Options) -> bytes:
        """Machine code of one of those modules."""

    def load(
        self, code: bytes, name: str, options: Options, address_of: Addresses
    ) -> tuple[int, object]:
        """Put code into memory: the address of a function, and what must be kept alive."""


class _OfLLVM:
    """Object files, which our loader takes, or LLVM's."""

    def describe(self, options: Options) -> str:
        return f"llvm {stamp.llvmlite()} {options.optimize} {loader.is_used(options)}"

    def generate(self, kernel: imp.Kernel, options: Options) -> tuple[bytes, dict[str, str]]:
        target = _module("machine").host(loader.is_used(options))
        text, codelets = _module("llvm").separate(kernel, target)
        return self._compiled(text, _as_deep_as(kernel, options)), codelets

    def codelet(self, text: str, options: Options) -> bytes:
        return self._compiled(text, options)

    def _compiled(self, text: str, options: Options) -> bytes:
        machine = _module("machine")
        target = machine.host(loader.is_used(options))
        code: bytes = machine.compile(text, options.optimize, target)
        return code

    def load(
        self, code: bytes, name: str, options: Options, address_of: Addresses
    ) -> tuple[int, object]:
        if loader.is_used(options):
            try:
                image = loader.load(code, address_of)
                return image.symbols[name], image
            except loader.Malformed:
                raise BuildError("a compiled kernel cannot be loaded") from None
            except loader.Unsupported:
                pass
        found: tuple[int, object] = _module("machine").load(code, name, address_of)
        return found


class _OfC:
    """Libraries of a C compiler. They share nothing, and each codelet is in all that call it.

    It would take another run of the compiler for every codelet, and one library more to load. What
    this back end is for is to be read, to be run by sanitizers, and to be compiled elsewhere.
    """

    def describe(self, options: Options) -> str:
        text: str = _module("toolchain").describe(options)
        return text

    def generate(self, kernel: imp.Kernel, options: Options) -> tuple[bytes, dict[str, str]]:
        return self.codelet(_module("c").render(kernel), _as_deep_as(kernel, options)), {}

    def codelet(self, text: str, options: Options) -> bytes:
        code: bytes = _module("toolchain").compile(text, options)
        return code

    def load(
        self, code: bytes, name: str, options: Options, address_of: Addresses
    ) -> tuple[int, object]:
        found: tuple[int, object] = _module("toolchain").load(code, name)
        return found


_BACK_ENDS: dict[str, BackEnd] = {"llvm": _OfLLVM(), "c": _OfC()}


def of(options: Options) -> BackEnd:
    """The back end that is asked for."""
    return _BACK_ENDS[options.target]


def _as_deep_as(kernel: imp.Kernel, options: Options) -> Options:
    """The options for a kernel, which is not optimized if that would take seconds."""
    deep = options.optimize and _module("deep").is_deep(kernel)
    return replace(options, optimize=False) if deep else options


def _module(name: str) -> Any:
    return imported(f"linnet.backend.{name}")
