"""What machine code depends on besides its program: this package, the code generator, the CPU.

Part of every key of the disk cache. Cheap, and without importing llvmlite: versions are read from
files, and the CPU from the system.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from linnet.backend import loader
from linnet.options import Options


def of(options: Options) -> str:
    """A text that differs wherever machine code would."""
    if options.target == "c":
        tool = import_module("linnet.backend.toolchain").describe(options)
    else:
        tool = f"llvm {_llvmlite()} {options.optimize} {loader.is_used(options)}"
    return f"{tool}|{_processor()}|{_package()}"


@cache
def _llvmlite() -> str:
    """The version of llvmlite; its version file is read, since importing it takes long."""
    spec = PathFinder.find_spec("llvmlite") or _found_otherwise("llvmlite")
    if spec is None or spec.origin is None:
        return "absent"
    version = Path(spec.origin).with_name("_version.py")
    try:
        return _digest(version.read_bytes())
    except OSError:
        return spec.origin


def _found_otherwise(name: str) -> ModuleSpec | None:
    """A package that is in no folder of the path: it is installed for developers, or in a file."""
    from importlib.util import find_spec

    return find_spec(name)


@cache
def _processor() -> str:
    """The machine's instruction set."""
    names = (b"vendor_id", b"cpu family", b"model", b"flags", b"Features", b"CPU part", b"isa")
    try:
        with Path("/proc/cpuinfo").open("rb", buffering=0) as file:
            first = file.read(16384).split(b"\n\n")[0]  # the first of many alike
        lines = [line for line in first.splitlines() if line.startswith(names)]
        return _digest(b"\n".join(lines))
    except OSError:
        import platform

        return f"{sys.platform} {platform.machine()} {platform.processor()}"


@cache
def _package() -> str:
    """The state of this package: sizes and times of its source files."""
    facts: list[str] = []
    folders = [str(Path(__file__).parents[1])]
    for folder in folders:  # which grows
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    facts.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return _digest("\n".join(sorted(facts)).encode())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]
