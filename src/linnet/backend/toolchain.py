"""The C compiler of the machine, where there is one: find it, run it, load what it makes."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from linnet.backend.stamp import architecture
from linnet.backend.symbols import address_of
from linnet.errors import BuildError, LinnetError
from linnet.options import Options

# Integers wrap; a reduction may be vectorized where a pragma says so; multiply and add may fuse.
_ALWAYS = (
    "-std=c11",
    "-shared",
    "-fPIC",
    "-fwrapv",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fopenmp-simd",
)
_NATIVE = "-mcpu=native" if architecture() in ("aarch64", "arm64") else "-march=native"
_FAST = ("-O3", _NATIVE)
_QUICK = ("-O0", _NATIVE)
_SANITIZE = (
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)
_COMPLEX = "-fcx-limited-range"  # as NumPy multiplies; not known to all versions of clang
# Memory of kernels is freed from Python. A library is linked with the memory functions of the
# compiler's C library, which on Windows need not be Python's: it calls those whose addresses it is
# given instead. The headers that declare them are read before their names mean something else.
_TABLE = "linnet_memory"
GIVEN = {
    "aligned_alloc": "void *(*)(size_t, size_t)",
    "calloc": "void *(*)(size_t, size_t)",
    "free": "void (*)(void *)",
    "malloc": "void *(*)(size_t)",
    "realloc": "void *(*)(void *, size_t)",
}
_HEADER = "\n".join(
    [
        "#include <stdlib.h>",
        f"void *{_TABLE}[{len(GIVEN)}];",
        *(
            f"#define {name}(...) (({kind}){_TABLE}[{k}])(__VA_ARGS__)"
            for k, (name, kind) in enumerate(GIVEN.items())
        ),
        "",
    ]
)


def find(options: Options) -> tuple[str, ...]:
    """The compiler's command: the one asked for, or the first of cc, gcc, clang."""
    if options.compiler:
        command = _words(options.compiler)
        found = shutil.which(command[0]) if command else None
        if found:
            return (found, *command[1:])
        raise LinnetError(
            f"there is no C compiler {options.compiler!r}",
            why="the environment variable CC, or the option `compiler`, asks for it",
            hint='name another one, or use the LLVM back end: config(backend="llvm")',
        )
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return (found,)
    raise LinnetError(
        "there is no C compiler on this machine",
        why="the C back end and the sanitizers run cc, gcc or clang",
        hint='install one, or use the LLVM back end, which needs none: config(backend="llvm")',
    )


def _words(command: str) -> tuple[str, ...]:
    """A compiler and its flags. On Windows a backslash parts folders, and protects nothing."""
    if shutil.which(command):
        return (command,)
    if os.sep == "/":
        return tuple(shlex.split(command))
    return tuple([word.strip("\"'") for word in shlex.split(command, posix=False)])


def available(options: Options) -> bool:
    """Whether there is a compiler."""
    try:
        find(options)
    except LinnetError:
        return False
    return True


def flags(options: Options, text: str) -> tuple[str, ...]:
    """The flags with which a source text is compiled."""
    chosen = _ALWAYS + (_SANITIZE if options.sanitize else _FAST if options.optimize else _QUICK)
    chosen += (_COMPLEX,) if "_Complex" in text else ()
    return (*chosen, "-pthread") if "pthread.h" in text else chosen


def describe(options: Options) -> str:
    """The compiler and its flags, as part of a cache key."""
    command = find(options)
    return f"{_version(os.path.realpath(command[0]))} {command[1:]} {flags(options, '_Complex')}"


@cache
def _version(path: str) -> str:
    # size and time instead of --version, which would start a process
    status = Path(path).stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def compile(text: str, options: Options) -> bytes:
    """Compile C into a shared library; return its bytes. Flags given with the compiler win."""
    command = find(options)
    with tempfile.TemporaryDirectory(prefix="linnet-") as folder:
        source, header, library = (Path(folder, f"kernel.{kind}") for kind in ("c", "h", "so"))
        source.write_text(text, encoding="utf-8")
        header.write_text(_HEADER, encoding="utf-8")
        given = ["-include", str(header)] if "stdlib.h" in text else []
        chosen = [*flags(options, text), *command[1:]]
        files = [*given, str(source), "-o", str(library), "-lm"]
        output = _run([command[0], *chosen, *files], folder)
        if output is not None and _COMPLEX in output:
            chosen.remove(_COMPLEX)
            output = _run([command[0], *chosen, *files], folder)
        if output is not None:
            raise BuildError(f"the C compiler {command[0]} failed", source=text, output=output)
        return library.read_bytes()


def _run(command: list[str], folder: str) -> str | None:
    """Run a compiler; return what it printed if it failed."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except OSError as error:
        return str(error)
    return done.stdout.decode(errors="replace") if done.returncode else None


def load(code: bytes, symbol: str) -> tuple[int, object]:
    """Load a shared library; the address of its function, and what must be kept alive."""
    # Windows removes no library that is in use: there the file stays.
    with tempfile.TemporaryDirectory(prefix="linnet-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "kernel.so")
        path.write_bytes(code)
        try:
            library = ctypes.CDLL(str(path))
            _give_memory(library)
            address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
        except (OSError, AttributeError) as error:
            raise BuildError("a compiled kernel cannot be loaded", output=str(error)) from None
    assert address is not None
    return address, library


def _give_memory(library: ctypes.CDLL) -> None:
    """Write the addresses of the memory functions where a library that calls any looks for them."""
    try:
        table = (ctypes.c_void_p * len(GIVEN)).in_dll(library, _TABLE)
    except ValueError:  # it calls none
        return
    table[:] = [address_of(name) for name in GIVEN]
