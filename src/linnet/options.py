"""Settings: one frozen `Options`, and `config(...)` to change it.

Environment variables are read here and nowhere else. A plain call of `config` sets the options of
the whole process; `with config(...):` sets them for the block, in this thread or task only.
"""

from __future__ import annotations

import os
import sys
import threading
from contextvars import ContextVar, Token
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from linnet.errors import LinnetError, Location

BACKENDS = ("llvm", "c")
_FALSE = ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Options:
    """How kernels are compiled, kept and run.

    `check` verifies the program after every stage. `sanitize` compiles with a C compiler's address
    and undefined-behaviour sanitizers. `cache_dir` is None for the user's cache folder.
    """

    backend: str = "llvm"
    check: bool = False
    sanitize: bool = False
    cache: bool = True
    cache_dir: str | None = None
    cache_limit: int = 256 << 20
    compiler: str | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise LinnetError(f"there is no back end {self.backend!r}", hint=f"one of {BACKENDS}")
        if not _is_whole(self.threads) or self.threads < 1:
            raise LinnetError(f"{self.threads!r} is not a number of threads", hint="1 or more")
        if not _is_whole(self.cache_limit) or self.cache_limit < 0:
            raise LinnetError(f"{self.cache_limit!r} is not a number of bytes", hint="0 or more")
        for name in ("check", "sanitize", "cache"):
            if not isinstance(getattr(self, name), bool):
                raise LinnetError(f"{name} is {getattr(self, name)!r}", hint="True or False")
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
        check=_flag("LINNET_CHECK", False),
        sanitize=_flag("LINNET_SANITIZE", False),
        cache=_flag("LINNET_CACHE", True),
        cache_dir=env.get("LINNET_CACHE_DIR") or None,
        compiler=env.get("CC") or None,
        threads=_count("LINNET_THREADS", 1),
    )


def _flag(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    return default if value is None else value.strip().lower() not in _FALSE


def _count(name: str, default: int) -> int:
    value = os.environ.get(name, str(default))
    if not value.strip().isdigit():
        raise LinnetError(f"{name} is {value!r}", why="it must be a whole number")
    return int(value)


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
_lock = threading.RLock()  # for what follows; held for a moment only
_base: Options | None = None  # the options of the process, but for what is pending
_pending: dict[int, dict[str, Any]] = {}  # by thread: a call of `config` that may be for a block


def current() -> Options:
    """The options in force here."""
    return _context.get() or _process or _initial()


def _initial() -> Options:
    global _process, _base
    with _lock:
        if _process is None:
            _process = _base = _one(from_environment())
        return _process


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()  # the one that another thread held when we forked is lost


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class config:
    """Change options: `config(backend="c")` from now on, `with config(backend="c"):` in a block."""

    def __init__(
        self,
        *,
        backend: str | None = None,
        check: bool | None = None,
        sanitize: bool | None = None,
        cache: bool | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        cache_limit: int | None = None,
        compiler: str | None = None,
        threads: int | None = None,
    ) -> None:
        given: dict[str, Any] = {
            "backend": backend,
            "check": check,
            "sanitize": sanitize,
            "cache": cache,
            "cache_dir": os.fspath(cache_dir) if isinstance(cache_dir, os.PathLike) else cache_dir,
            "cache_limit": cache_limit,
            "compiler": compiler,
            "threads": threads,
        }
        self._changes = {name: value for name, value in given.items() if value is not None}
        self._before = current()
        try:
            self._after = _one(replace(self._before, **self._changes))
        except LinnetError as error:
            error.at = Location.of_caller()
            raise
        self._token: Token[Options | None] | None = None
        if _context.get() is None:
            _change_process(self._changes)
        else:
            _context.set(self._after)

    def __enter__(self) -> Options:
        # the call itself has set the options; narrow them to this block
        if _context.get() is None:
            _change_process(None)
        else:
            _context.set(self._before)
        self._token = _context.set(self._after)
        return self._after

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._token is not None
        _context.reset(self._token)


_known: dict[tuple[object, ...], Options] = {}


def _one(options: Options) -> Options:
    """The one object for these options, so that asking for them again finds the same kernels."""
    return _known.setdefault(astuple(options), options)


def _change_process(changes: dict[str, Any] | None) -> None:
    """Set options of the process; with None, take back what this thread has set last.

    A thread that goes on to enter a block takes back its own change only, whatever other threads
    have set in between.
    """
    global _process, _base
    me = threading.get_ident()
    with _lock:
        last = _pending.pop(me, None)
        if changes is not None:
            if last is not None:  # it was not for a block
                _base = _one(replace(_base or _initial(), **last))
            _pending[me] = changes
        found = _base or _initial()
        for each in _pending.values():
            found = replace(found, **each)
        _process = _one(found)
