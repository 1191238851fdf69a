"""The disk cache: bytes by key, in a private folder of the user, shared by processes and threads.

An entry is a file whose name is the hash of its key. It is written under another name and renamed,
so that readers see all of it or nothing; it begins with a checksum over key and contents, so that a
damaged entry is a miss. Files of other users, and links, are never read.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import stat
import time
import warnings
from pathlib import Path

from linnet.errors import CacheError, Location
from linnet.options import Options, default_cache_dir
from linnet.records import NamedTuple

_MAGIC = b"linnet1\n"
_SUFFIX, _UNFINISHED = _OURS = ".kernel", ".part"
_DAY = 86400.0
_FEW = 16  # one store in so many looks whether there is too much in the folder
_SHARE = 16  # and what this part of the room that is left takes, a process stores without looking
# not through links; not waiting for who writes to a pipe; not in text mode, where there is one
_READ_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _READ_FLAGS |= getattr(os, _flag, 0)
_warned: set[str] = set()
_room: dict[Cache, int] = {}  # how many bytes this process stores before it looks again


class Info(NamedTuple):
    """What a cache holds."""

    directory: Path
    entries: int
    bytes: int
    limit: int


class Cache(NamedTuple):
    """A folder of entries, of at most `limit` bytes."""

    directory: Path
    limit: int

    @staticmethod
    def open(options: Options) -> Cache | None:
        """The cache that the options ask for; None if there is none to be had."""
        if not options.cache:
            return None
        if options.cache_dir is not None:
            return Cache(_asked_for(options.cache_dir), options.cache_limit)
        try:
            directory = default_cache_dir()
        except RuntimeError:  # no home folder
            _warn("there is no home folder")
            return None
        if problem := _problem(directory):
            _warn(f"the folder {directory} {problem}")
            return None
        return Cache(directory, options.cache_limit)

    def load(self, key: str) -> bytes | None:
        """What was stored under `key`, or None; a damaged entry is removed."""
        path = self._path(key)
        try:
            with io.FileIO(path, "rb", opener=_open) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or _foreign(status):
                    return None
                text = file.readall()
        except OSError:  # there is none, or it is a link, a folder, …
            return None
        data = text[len(_MAGIC) + 32 :]
        if text[: len(_MAGIC) + 32] != _MAGIC + _checksum(key, data):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        if time.time() - status.st_mtime > _DAY:  # used lately: do not evict it soon
            with contextlib.suppress(OSError):
                os.utime(path)
        return data

    def store(self, key: str, data: bytes) -> None:
        """Keep `data` under `key`. A folder that cannot be written to is not an error."""
        import tempfile  # which takes as long to import as a kernel to load

        try:
            fd, name = tempfile.mkstemp(suffix=_UNFINISHED, dir=self.directory)
            unfinished = Path(name)
        except OSError as error:
            _warn(f"the folder {self.directory} cannot be written to ({error.strerror})")
            return
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(_MAGIC + _checksum(key, data) + data)
            unfinished.replace(self._path(key))
        except PermissionError as error:
            with contextlib.suppress(OSError):
                unfinished.unlink()
            if not self._path(key).exists():
                _warn(f"nothing can be kept in {self.directory} ({error.strerror})")
            return  # Windows replaces no file that another process reads: an entry like ours
        except OSError as error:
            with contextlib.suppress(OSError):
                unfinished.unlink()
            _warn(f"nothing can be kept in {self.directory} ({error.strerror})")
            return
        except BaseException:  # an interrupt: leave nothing behind
            with contextlib.suppress(OSError):
                unfinished.unlink()
            raise
        if self._looks_around(key, len(data)):
            self._evict()

    def info(self) -> Info:
        """How much is stored."""
        files = self._files()
        return Info(self.directory, len(files), sum(size for _, size, _ in files), self.limit)

    def clear(self) -> int:
        """Remove all entries; return how many there were."""
        files = self._files()
        for _, _, path in files:
            with contextlib.suppress(OSError):
                Path(path).unlink()
        return len(files)

    def _path(self, key: str) -> Path:
        return self.directory / (_digest(key).hex() + _SUFFIX)

    def _files(self) -> list[tuple[float, int, str]]:
        """Time, size and path of the entries, oldest first."""
        return [file for file in self._all_files() if file[2].endswith(_SUFFIX)]

    def _all_files(self) -> list[tuple[float, int, str]]:
        """The same with what is not finished."""
        found = []
        with contextlib.suppress(OSError), os.scandir(self.directory) as entries:
            for entry in entries:
                try:
                    if entry.name.endswith(_OURS) and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        found.append((status.st_mtime, status.st_size, entry.path))
                except OSError:  # another process has removed it
                    pass
        return sorted(found)

    def _looks_around(self, key: str, size: int) -> bool:
        """Whether this store is one of the few, chosen by their keys, that look at all entries.

        So the limit is exceeded by few entries, however many processes store how little each. A
        process that has looked, and found room for many, looks again when it has used its share.
        """
        if size * _FEW >= self.limit:
            return True
        room = _room[self] = _room.get(self, 0) - size
        return room <= 0 and _digest(key)[0] % _FEW == 0

    def _evict(self) -> None:
        """Remove the oldest entries beyond the limit, and what interrupted writers left.

        What is removed is an eighth at least: to find out which are the oldest takes long.
        """
        files, long_ago = self._all_files(), time.time() - _DAY
        held = sum(size for _, size, path in files if path.endswith(_SUFFIX))
        enough = self.limit if held <= self.limit else self.limit - self.limit // 8
        for when, size, path in files:
            kept = path.endswith(_SUFFIX)
            if held > enough if kept else when < long_ago:
                with contextlib.suppress(OSError):
                    Path(path).unlink()
                held -= size if kept else 0
        _room[self] = (self.limit - held) // _SHARE


def _asked_for(name: str) -> Path:
    """The folder that the user has named, or an error: it is not silently done without."""
    try:
        directory = Path(os.path.realpath(Path(name).expanduser()))
        problem = _problem(directory)
    except (RuntimeError, ValueError) as error:  # `~somebody`; a name that no system has
        directory, problem = Path(name), f"cannot be found ({error})"
    if problem:
        raise CacheError(
            f"the cache directory {directory} {problem}",
            why="compiled code is loaded from it: it must be a folder that only you can write to",
            hint="set LINNET_CACHE_DIR to a folder of your own, chmod 700 this one, or do without: "
            "LINNET_CACHE=0",
        )
    return directory


def _open(path: str, flags: int) -> int:
    return os.open(path, _READ_FLAGS)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _checksum(key: str, data: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + data).digest()


def _foreign(status: os.stat_result) -> bool:
    """Whether somebody else could have written this."""
    if not hasattr(os, "geteuid"):
        return False
    return status.st_uid != os.geteuid() or bool(status.st_mode & 0o022)


def _problem(directory: Path) -> str:
    """Make the folder if need be; say why it cannot be used, if it cannot."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.lstat()
    except (FileExistsError, NotADirectoryError):
        return "is not a folder"
    except OSError as error:
        return f"cannot be made ({error.strerror})"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written to by others"
    return ""


def _warn(reason: str) -> None:
    """Say once that kernels are compiled anew in each process."""
    if reason not in _warned:
        _warned.add(reason)
        text = f"Linnet keeps no compiled kernels: {reason}; LINNET_CACHE_DIR names another folder"
        at = Location.of_caller() or Location("linnet", 1)
        warnings.warn_explicit(text, RuntimeWarning, at.file, at.line)
