"""Machine code from a kernel: rendered and compiled with LLVM, or with a C compiler.

Imported when something is compiled: a process that finds its kernels in the disk cache, which is
most of them, needs none of this.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.backend import c, llvm, loader, machine, toolchain
from linnet.backend.deep import is_deep
from linnet.options import Options


def generate(kernel: imp.Kernel, options: Options) -> bytes:
    """An object file, or a shared library from a C compiler."""
    if options.optimize and is_deep(kernel):
        options = replace(options, optimize=False)
    if options.target == "c":
        return toolchain.compile(c.render(kernel), options)
    target = machine.host(loader.is_used(options))
    return machine.compile(llvm.render(kernel, target), options.optimize, target)
