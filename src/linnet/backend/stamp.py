"""What machine code depends on besides its program: this package, the code generator, the CPU.

Part of every key of the disk cache. Cheap, and without importing llvmlite: versions are read from
files, and the CPU from the system, which is asked directly: what `platform` knows it has from a
child process on macOS, and from a service on Windows that can take seconds.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from linnet.backend.loader import PAGE
from linnet.formats.spare import C
from linnet.options import processor


def of_machine() -> str:
    """A text that differs wherever the machine code of one back end would."""
    return f"{_processor()}|{_package()}"


@cache
def llvmlite() -> str:
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


def architecture() -> str:
    """The kind of processor: `x86_64`, `aarch64`, `arm64`, `amd64`, …"""
    if sys.platform == "win32":
        return processor()[0]
    return os.uname().machine


_FIELDS = (
    b"vendor_id", b"cpu family", b"model", b"flags",
    b"Features", b"CPU implementer", b"CPU part", b"isa",
)  # fmt: skip


@cache
def _processor() -> str:
    """The machine's instruction set, and the size of its pages."""
    try:
        with Path("/proc/cpuinfo").open("rb", buffering=0) as file:
            first = file.read(16384).split(b"\n\n")[0]  # the first of many alike
        lines = [line for line in first.splitlines() if line.startswith(_FIELDS)]
        return f"{_digest(b' '.join(lines))} {PAGE}"
    except OSError:
        from linnet.target import known_features

        there = sorted(name for name, found in known_features().items() if found)
        return f"{sys.platform} {architecture()} {_model()} {','.join(there)} {PAGE}"


def _model() -> str:
    """The name of the processor."""
    if sys.platform == "darwin":
        return _of_macos(b"machdep.cpu.brand_string")
    return processor()[1]


def _of_macos(name: bytes) -> str:
    """A fact that the kernel of macOS tells by name; "" if it does not."""
    ask = getattr(C, "sysctlbyname", None)
    text, size = ctypes.create_string_buffer(256), ctypes.c_size_t(256)
    if ask is None or ask(name, text, ctypes.byref(size), None, ctypes.c_size_t(0)):
        return ""
    return text.value.decode(errors="replace")


@cache
def _package() -> str:
    """The state of this package: sizes and times of its files, or of the archive that it is in."""
    place = Path(__file__).parents[1]
    facts: list[str] = []
    folders = [str(place)]
    for folder in folders:  # which grows
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith((".py", ".pyc")):
                        facts.append(_state(entry.path, entry.stat()))
                    elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                        folders.append(entry.path)
        except OSError:  # a file, or a part of one
            facts += [_state(str(path), path.stat()) for path in place.parents if path.is_file()]
    return _digest("\n".join(sorted(facts or [_archive()])).encode())


def _state(path: str, status: os.stat_result) -> str:
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _archive() -> str:
    """The application, if the package is a part of that."""
    return _state(sys.executable, Path(sys.executable).stat())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]
