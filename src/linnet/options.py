"""Settings: one frozen `Options`, and `config(...)` to change it.

Environment variables are read here and nowhere else. A plain call of `config` sets the options of
the whole process; `with config(...):` sets them for the block, in this thread or task only, and no
other ever sees them.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from contextvars import ContextVar, Token
from dataclasses import field, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypedDict, Unpack

from linnet.errors import ArgumentError, LinnetError, Location
from linnet.guards import Guard
from linnet.records import dataclass

BACKENDS = ("llvm", "c")
LOADERS = ("own", "llvm")
_ROOM = 256 << 20  # bytes of a cache
_FALSE = ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Options:
    """How kernels are compiled, kept and run.

    Of a run alone are `threads` and `cache_limit`: to change them compiles nothing.
    `check` verifies the program after every stage, and every result. `sanitize` compiles with a C
    compiler's address and undefined-behaviour sanitizers. `loader` is who puts the machine code of
    LLVM into memory: we, where we can, or LLVM, as on systems of which we know too little. Without
    `optimize`, machine code is made in a tenth of the time, and runs slowly. `cache_dir` is None
    for the user's cache folder. `many` is for tests: how many values are so many that kernels do
    what NumPy does for fewer; None is what was measured, in each place of its own. `without` names
    steps of the compiler that are left out, for who looks for the one that makes a kernel wrong or
    slow.
    """

    backend: str = "llvm"
    loader: str = "own"
    check: bool = False
    sanitize: bool = False
    optimize: bool = True
    cache: bool = True
    cache_dir: str | None = None
    cache_limit: int = _ROOM
    compiler: str | None = None
    threads: int = 1
    many: int | None = None
    without: tuple[str, ...] = ()
    # what of these decides which code is run: one object for all that agree in that
    code: object = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", None)
        if self.backend not in BACKENDS:
            raise LinnetError(f"there is no back end {self.backend!r}", hint=f"one of {BACKENDS}")
        if self.loader not in LOADERS:
            raise LinnetError(f"there is no loader {self.loader!r}", hint=f"one of {LOADERS}")
        if not _is_whole(self.threads) or self.threads < 1:
            raise LinnetError(f"{self.threads!r} is not a number of threads", hint="1 or more")
        if not _is_whole(self.cache_limit) or self.cache_limit < 0:
            raise LinnetError(f"{self.cache_limit!r} is not a number of bytes", hint="0 or more")
        if self.many is not None and (not _is_whole(self.many) or self.many < 0):
            raise LinnetError(f"{self.many!r} is not a number of values", hint="0 or more")
        for name in ("check", "sanitize", "optimize", "cache"):
            if not isinstance(getattr(self, name), bool):
                raise LinnetError(f"{name} is {getattr(self, name)!r}", hint="True or False")
        if not isinstance(self.without, tuple) or not all(isinstance(n, str) for n in self.without):
            raise LinnetError(f"without is {self.without!r}", hint='a tuple of names: ("hoist",)')
        for name in ("cache_dir", "compiler"):
            if not isinstance(getattr(self, name), str | None):
                raise LinnetError(f"{name} is {getattr(self, name)!r}", hint="a string")

    @property
    def target(self) -> str:
        """The back end in use; only C compilers have sanitizers."""
        return "c" if self.sanitize else self.backend


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def from_environment() -> Options:
    """The options that the environment asks for."""
    env = os.environ
    return Options(
        backend=env.get("LINNET_BACKEND", "llvm"),
        loader=env.get("LINNET_LOADER", "own"),
        check=_flag("LINNET_CHECK", False),
        sanitize=_flag("LINNET_SANITIZE", False),
        optimize=_flag("LINNET_OPTIMIZE", True),
        cache=_flag("LINNET_CACHE", True),
        cache_dir=env.get("LINNET_CACHE_DIR") or None,
        compiler=env.get("CC") or None,
        threads=_count("LINNET_THREADS", 1),
        many=_count("LINNET_MANY", 0) if os.environ.get("LINNET_MANY") else None,
        without=tuple(filter(None, env.get("LINNET_WITHOUT", "").replace(" ", "").split(","))),
    )


def _flag(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    return default if value is None else value.strip().lower() not in _FALSE


def _count(name: str, default: int) -> int:
    value = os.environ.get(name, str(default))
    if not value.strip().isdigit():
        raise LinnetError(f"{name} is {value!r}", why="it must be a whole number")
    return int(value)


def processor() -> tuple[str, str]:
    """The processor's kind and model, as Windows tells its processes; "" where it does not."""
    env = os.environ
    return env.get("PROCESSOR_ARCHITECTURE", "").lower(), env.get("PROCESSOR_IDENTIFIER", "")


def default_cache_dir() -> Path:
    """The folder in which the system wants a user's caches, and in it ours."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "linnet"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "linnet" / "cache"
    base = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return (base if base.is_absolute() else Path.home() / ".cache") / "linnet"


_process: Options | None = None
_context: ContextVar[Options | None] = ContextVar("linnet_options", default=None)
_GUARD = Guard()  # for changes of `_process`
_open: dict[int, _Change] = {}  # by thread: a call of `config` that may turn out to be for a block


def current() -> Options:
    """The options in force here."""
    if _open:
        _settle(_open.pop(threading.get_ident(), None))
    return _context.get() or _process or _initial()


def limit(measured: int) -> int:
    """From how many values on something is done in another way: as was measured, or as tests say.

    A function that has two ways is tested on either side, with small arrays: `config(many=0)`.
    """
    many = current().many
    return measured if many is None else many


def _initial() -> Options:
    global _process
    with _GUARD:
        if _process is None:
            _process = _one(from_environment())
        return _process


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """What a call of `config` asks for, in the context of its caller until it is settled."""

    changes: dict[str, Any]
    token: Token[Options | None]


class Changes(TypedDict, total=False):
    """What `config` takes; None leaves an option as it is."""

    backend: str | None
    loader: str | None
    check: bool | None
    sanitize: bool | None
    optimize: bool | None
    cache: bool | None
    cache_dir: str | os.PathLike[str] | None
    cache_limit: int | None
    compiler: str | None
    threads: int | None
    many: int | None
    without: tuple[str, ...] | None


def _plain(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


class config:
    """Change options: `config(backend="c")` from now on, `with config(backend="c"):` in a block.

    The options are `backend` (llvm, c), `loader` (own, llvm), `check`, `sanitize`, `optimize`,
    `cache`, `cache_dir`, `cache_limit`, `compiler`, `threads`, `many` and `without`.

    Which of the two it is shows only later: when a block is entered; or when nobody has the object
    any more, it is printed, or the thread goes on to ask for its options.
    """

    def __init__(self, *given: object, **changes: Unpack[Changes]) -> None:
        unknown = [repr(value) for value in given]
        unknown += [name for name in changes if name not in Changes.__annotations__]
        if unknown:
            raise ArgumentError(
                f"there is no option {unknown[0]}",
                at=Location.of_caller(),
                hint=f"options are given by name: {', '.join(Changes.__annotations__)}",
            )
        self._changes: dict[str, Any] = {
            name: _plain(value) for name, value in changes.items() if value is not None
        }
        before = current()
        try:
            self._after = _one(replace(before, **self._changes))
        except LinnetError as error:
            error.at = Location.of_caller()
            raise
        self._token: Token[Options | None] | None = None
        self._change = _Change(self._changes, _context.set(self._after))
        _open[threading.get_ident()] = self._change

    def __enter__(self) -> Options:
        if _close(self._change):
            _context.reset(self._change.token)
        self._token = _context.set(self._after)
        return self._after

    def __del__(self) -> None:
        change = getattr(self, "_change", None)
        if change is not None and _close(change):
            _settle(change)

    def __repr__(self) -> str:
        if _close(self._change):
            _settle(self._change)
        return f"config({', '.join(f'{k}={v!r}' for k, v in self._changes.items())})"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._token is not None
        _context.reset(self._token)


_known: dict[tuple[object, ...], Options] = {}
_OF_A_RUN: dict[str, Any] = {"threads": 1, "cache_limit": _ROOM}


def _one(options: Options) -> Options:
    """The one object for these options, so that asking for them again finds the same kernels."""
    key = tuple([getattr(options, f.name) for f in fields(options) if f.init])
    found = _known.setdefault(key, options)
    if found.code is None:
        plain = replace(found, **_OF_A_RUN)
        object.__setattr__(found, "code", found if plain == found else _one(plain))
    return found


def _close(change: _Change) -> bool:
    """Whether it is still open what a change is for; from now on it is not."""
    for thread, found in list(_open.items()):
        if found is change:
            return _open.pop(thread, None) is change
    return False


def _settle(change: _Change | None) -> None:
    """A change that is not for a block is for the process, or for the block that it is made in."""
    global _process
    if change is None:
        return
    with contextlib.suppress(ValueError):  # another task: there it stays as it is
        _context.reset(change.token)
    around = _context.get()
    if around is not None:
        _context.set(_one(replace(around, **change.changes)))
        return
    with _GUARD:
        _process = _one(replace(_process or _initial(), **change.changes))
