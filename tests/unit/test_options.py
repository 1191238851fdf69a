"""Options: from the environment, from `config`, for a block or for good."""

import threading
from dataclasses import astuple

import pytest

from linnet import options
from linnet.errors import LinnetError
from linnet.options import Options, config, current, default_cache_dir, from_environment


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    monkeypatch.setattr(options, "_process", Options())
    monkeypatch.setattr(options, "_open", {})


def unchanged() -> bool:
    return astuple(current()) == astuple(Options())


def test_a_block_has_its_own():
    with config(backend="c", check=True) as inside:
        assert current() is inside
        assert (current().backend, current().check) == ("c", True)
        with config(backend="llvm"):
            assert (current().backend, current().check) == ("llvm", True)
        assert current().backend == "c"
    assert unchanged()


def test_a_plain_call_is_for_good_and_for_all_threads():
    config(backend="c")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(current().backend))
    thread.start()
    thread.join()
    assert (current().backend, seen) == ("c", ["c"])


def test_other_threads_do_not_see_a_block():
    seen = []
    with config(backend="c"):
        thread = threading.Thread(target=lambda: seen.append(current().backend))
        thread.start()
        thread.join()
    assert seen == ["llvm"]


def test_other_threads_do_not_even_see_the_call_that_makes_a_block():
    seen = []

    def look() -> None:
        thread = threading.Thread(target=lambda: seen.append(current().backend))
        thread.start()
        thread.join()

    block = config(backend="c")
    look()
    with block:
        look()
        assert current().backend == "c"
    look()
    assert seen == ["llvm"] * 3
    assert unchanged()


@pytest.mark.parametrize("settle", [repr, lambda kept: current()], ids=["printed", "used"])
def test_a_call_whose_result_is_kept_is_for_good(settle):
    kept = config(backend="c")
    settle(kept)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(current().backend))
    thread.start()
    thread.join()
    assert (current().backend, seen) == ("c", ["c"])
    assert repr(kept) == "config(backend='c')"


def test_a_plain_call_in_a_block_ends_with_it():
    with config(backend="c"):
        config(check=True)
        assert (current().backend, current().check) == ("c", True)
    assert unchanged()


def test_blocks_end_with_errors():
    with pytest.raises(ZeroDivisionError), config(threads=4):
        raise ZeroDivisionError
    assert current().threads == 1


def test_the_environment(monkeypatch):
    monkeypatch.setenv("LINNET_BACKEND", "c")
    monkeypatch.setenv("LINNET_CHECK", "1")
    monkeypatch.setenv("LINNET_SANITIZE", "no")
    monkeypatch.setenv("LINNET_OPTIMIZE", "0")
    monkeypatch.setenv("LINNET_CACHE_DIR", "/somewhere")
    monkeypatch.setenv("CC", "gcc -m64")
    monkeypatch.setenv("LINNET_MANY", "7")
    monkeypatch.setenv("LINNET_WITHOUT", "hoist, hints")
    found = from_environment()
    assert found.many == 7
    assert found.without == ("hoist", "hints")
    assert (found.backend, found.check, found.sanitize) == ("c", True, False)
    assert (found.cache_dir, found.compiler, found.optimize) == ("/somewhere", "gcc -m64", False)
    monkeypatch.setattr(options, "_process", None)
    assert current() == found


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("LINNET_BACKEND", "fortran", "no back end 'fortran'"),
        ("LINNET_THREADS", "many", "LINNET_THREADS is 'many'"),
        ("LINNET_MANY", "all", "LINNET_MANY is 'all'"),
        ("LINNET_THREADS", "0", "0 is not a number of threads"),
    ],
)
def test_a_wrong_environment_is_refused(monkeypatch, name, value, message):
    monkeypatch.setenv(name, value)
    with pytest.raises(LinnetError, match=message):
        from_environment()


def test_wrong_options_change_nothing():
    with pytest.raises(LinnetError):
        config(backend="fortran")
    assert unchanged()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"threads": 0}, "0 is not a number of threads"),
        ({"many": -1}, "-1 is not a number of values"),
        ({"many": 1.5}, "1.5 is not a number of values"),
        ({"threads": "2"}, "'2' is not a number of threads"),
        ({"threads": True}, "True is not a number of threads"),
        ({"cache_limit": -1}, "-1 is not a number of bytes"),
        ({"cache_limit": 1e6}, "1000000.0 is not a number of bytes"),
        ({"check": "yes"}, "check is 'yes'"),
        ({"cache_dir": 5}, "cache_dir is 5"),
        ({"cache_dir": b"here"}, "cache_dir is b'here'"),
        ({"without": "hoist"}, "without is 'hoist'"),
        ({"without": (1,)}, r"without is \(1,\)"),
        ({"compiler": ["cc"]}, r"compiler is \['cc'\]"),
    ],
)
def test_options_of_the_wrong_kind(wrong, message):
    with pytest.raises(LinnetError, match=message) as caught:
        config(**wrong)
    assert caught.value.at.file == __file__
    assert caught.value.hint
    assert unchanged()


def test_blocks_in_many_threads_leave_the_process_as_it_was():
    def work(k: int) -> None:
        for _ in range(300):
            with config(threads=k + 2, check=k % 2 == 0) as inside:
                assert current() is inside

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert unchanged()


def test_a_plain_call_outlives_the_blocks_of_other_threads():
    begun, go_on = threading.Event(), threading.Event()

    def work() -> None:
        with config(threads=3):
            begun.set()
            go_on.wait()
            assert current().backend == "llvm"  # a block does not follow the process

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    config(backend="c")
    go_on.set()
    thread.join()
    assert (current().backend, current().threads) == ("c", 1)


def test_the_default_folder(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/caches")
    monkeypatch.setattr(options.sys, "platform", "linux")
    assert str(default_cache_dir()) == "/var/caches/linnet"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_cache_dir().parts[-2:] == (".cache", "linnet")


def test_the_same_options_are_the_same_object():
    with config(check=True) as first:
        pass
    with config(check=True) as second:
        assert first is second


def test_options_of_a_run_agree_in_code():
    with config(optimize=False) as plain:
        pass
    with config(optimize=False, threads=3, cache_limit=1 << 20) as other:
        assert other is not plain
        assert other.code is plain.code
    with config(optimize=True) as best:
        assert best.code is not plain.code
