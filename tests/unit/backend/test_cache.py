"""The disk cache: private, atomic, bounded, and never the reason why something fails."""

import os
import stat
import tempfile
import threading
import time
import warnings
from pathlib import Path

import pytest

from linnet.backend import cache as module
from linnet.backend.cache import Cache
from linnet.errors import CacheError
from linnet.options import Options

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")


@pytest.fixture
def cache(tmp_path):
    found = Cache.open(Options(cache_dir=str(tmp_path / "kernels")))
    assert found is not None
    return found


def entry(cache: Cache) -> Path:
    (path,) = cache.directory.iterdir()
    return path


def test_what_is_stored_is_found(cache):
    assert cache.load("k") is None
    cache.store("k", b"machine code")
    assert cache.load("k") == b"machine code"
    cache.store("k", b"other")
    assert cache.load("k") == b"other"
    assert cache.load("another key") is None
    assert cache.info().entries == 1
    assert cache.info().bytes > 5


@posix
def test_the_folder_is_private(cache):
    cache.store("k", b"x")
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(cache).stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "foreign key"])
def test_a_damaged_entry_is_a_miss_and_can_be_rebuilt(cache, damage):
    cache.store("k", b"machine code" * 100)
    path = entry(cache)
    data = path.read_bytes()
    if damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        cache.store("other", b"not yours")
        cache._path("other").replace(path)
    assert cache.load("k") is None
    cache.store("k", b"again")
    assert cache.load("k") == b"again"


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path, mode):
    tmp_path.chmod(mode)
    with pytest.raises(CacheError, match="can be written to by others") as caught:
        Cache.open(Options(cache_dir=str(tmp_path)))
    assert "LINNET_CACHE_DIR" in str(caught.value)


@posix
def test_a_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(CacheError, match="belongs to another user"):
        Cache.open(Options(cache_dir=str(tmp_path)))


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError):
        Cache.open(Options(cache_dir=str(tmp_path / "file")))
    with pytest.raises(CacheError):
        Cache.open(Options(cache_dir=str(tmp_path / "file" / "below")))


@posix
def test_links_are_not_followed(cache, tmp_path):
    cache.store("k", b"machine code")
    path = entry(cache)
    elsewhere = tmp_path / "elsewhere"
    path.replace(elsewhere)
    path.symlink_to(elsewhere)
    assert cache.load("k") is None
    cache.store("k", b"new")
    assert cache.load("k") == b"new"
    assert b"machine code" in elsewhere.read_bytes()


@posix
def test_entries_that_others_can_write_to_are_not_read(cache):
    cache.store("k", b"machine code")
    entry(cache).chmod(0o666)
    assert cache.load("k") is None


def test_without_a_cache():
    assert Cache.open(Options(cache=False)) is None


@pytest.fixture
def no_warnings_yet(monkeypatch):
    monkeypatch.setattr(module, "_warned", set())


@posix
def test_an_unusable_default_folder_is_done_without(tmp_path, monkeypatch, no_warnings_yet):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(module, "default_cache_dir", lambda: tmp_path / "file" / "linnet")
    with pytest.warns(RuntimeWarning, match="keeps no compiled kernels"):
        assert Cache.open(Options()) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        assert Cache.open(Options()) is None


def test_a_folder_that_cannot_be_written_to_is_read(cache, monkeypatch, no_warnings_yet):
    cache.store("k", b"x")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.warns(RuntimeWarning, match="cannot be written to"):
        cache.store("other", b"y")
    assert cache.load("k") == b"x"
    assert cache.load("other") is None


def test_a_full_disk_leaves_nothing_behind(cache, monkeypatch, no_warnings_yet):
    def refuse(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.Path, "replace", refuse)
    with pytest.warns(RuntimeWarning, match="No space left"):
        cache.store("k", b"x")
    assert list(cache.directory.iterdir()) == []


def test_an_entry_that_another_process_reads_stays(cache, monkeypatch, no_warnings_yet):
    """Windows does not replace a file that is open: there is one like ours, and nothing to say."""

    def refuse(path, target):
        raise PermissionError(13, "used by another process", str(path))

    cache.store("k", b"machine code")
    monkeypatch.setattr(Path, "replace", refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.store("k", b"machine code")
    assert cache.load("k") == b"machine code"
    assert entry(cache)
    with pytest.warns(RuntimeWarning, match="nothing can be kept"):
        cache.store("another key", b"machine code")
    assert entry(cache)


def test_an_interrupt_leaves_nothing_behind(cache, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cache.store("k", b"x")
    assert list(cache.directory.iterdir()) == []


def test_the_oldest_entries_go_first(tmp_path):
    cache = Cache.open(Options(cache_dir=str(tmp_path / "c"), cache_limit=5000))
    for k in range(10):
        cache.store(str(k), bytes(1000))
        os.utime(cache._path(str(k)), (k, k))
    assert cache.info().bytes <= 5000
    assert cache.load("0") is None
    assert cache.load("9") is not None


def test_what_is_used_is_kept(cache):
    cache.store("k", b"x")
    os.utime(cache._path("k"), (0, 0))
    cache.load("k")
    assert time.time() - cache._path("k").stat().st_mtime < 60


def test_abandoned_files_are_removed(cache):
    abandoned = cache.directory / "old.part"
    abandoned.write_bytes(b"")
    os.utime(abandoned, (0, 0))
    (cache.directory / "new.part").write_bytes(b"")
    for k in range(200):
        cache.store(str(k), b"x")
    assert not abandoned.exists()
    assert (cache.directory / "new.part").exists()


def test_clear(cache):
    for k in range(3):
        cache.store(str(k), b"x")
    assert cache.clear() == 3
    assert cache.info().entries == 0


def test_many_threads_at_once(cache):
    wrong = []

    def work(seed: int) -> None:
        for k in range(30):
            data = bytes([k]) * 500
            cache.store(str(k), data)
            found = cache.load(str((k + seed) % 30))
            if found is not None and found != bytes([(k + seed) % 30]) * 500:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert cache.info().entries == 30


def test_few_stores_look_at_all_entries(tmp_path, monkeypatch):
    cache = Cache.open(Options(cache_dir=str(tmp_path / "c"), cache_limit=64 * 1000))
    looks = []
    monkeypatch.setattr(Cache, "_evict", lambda self: looks.append(1))
    for k in range(320):
        cache.store(f"key {k}", b"x" * 100)
    assert 5 <= len(looks) <= 50


def test_the_limit_is_kept_by_small_entries(tmp_path):
    cache = Cache.open(Options(cache_dir=str(tmp_path / "c"), cache_limit=64 * 1000))
    for k in range(400):
        cache.store(f"key {k}", b"x" * 960)
    assert cache.info().bytes <= 2 * cache.limit
    assert cache.load("key 399") == b"x" * 960


def test_a_process_that_has_looked_stores_its_share_before_it_looks_again(tmp_path, monkeypatch):
    """Else a folder of many entries would be read all the time, and with every entry longer."""
    cache = Cache.open(Options(cache_dir=str(tmp_path / "c"), cache_limit=1_000_000))
    looks, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looks.append(path) or scandir(path))
    for k in range(600):
        cache.store(f"key {k}", b"x" * 60)
    assert 1 <= looks.count(cache.directory) <= 3
    for k in range(2000):  # and all the oftener, the less room is left
        cache.store(f"more {k}", b"x" * 600)
    assert looks.count(cache.directory) >= 20
    assert cache.info().bytes <= 1_100_000
