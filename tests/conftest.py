"""What all tests share: a kernel cache of their own, golden files, hypothesis profiles."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"

# Set before anything imports linnet, and inherited by the processes that tests start. Tests that
# run side by side (pytest-xdist) share the folder that the first process made.
_WORKER = "PYTEST_XDIST_WORKER" in os.environ
_CACHE = os.environ["LINNET_CACHE_DIR"] if _WORKER else tempfile.mkdtemp(prefix="linnet-tests-")
os.environ["LINNET_CACHE_DIR"] = _CACHE
os.environ["LINNET_CHECK"] = "1"  # every pass is checked

# Half of all the time would go into optimizing code that is run once, on a few numbers. What we say
# of code to those who optimize it (what does not overflow, what does not overlap) is tried in these
# folders, by random programs over all formats; LINNET_OPTIMIZE=1 tries it in all of them.
OPTIMIZED = ("oracle", "golden", "unit/backend")
os.environ.setdefault("LINNET_OPTIMIZE", "0")

# To look for garbage as often as Python does takes a twelfth of the time.
gc.set_threshold(200_000)

# Compiling a kernel takes longer than hypothesis expects of an example.
_PATIENT = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("dev", max_examples=30, **_PATIENT)
settings.register_profile("ci", max_examples=60, derandomize=True, print_blob=True, **_PATIENT)
settings.register_profile("fuzz", max_examples=1000, print_blob=True, **_PATIENT)
settings.load_profile("dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite golden files with what is printed now"
    )


def pytest_configure(config: pytest.Config) -> None:
    """What is drawn depends on the test alone, unless the point is to draw something new.

    Hypothesis draws some of the numbers that stand in the modules imported so far: they would
    depend on which tests have run before in this process, and change with any file of Linnet.
    """
    found = hasattr(providers, "is_local_module_file")  # older ones draw none
    if found and config.getoption("--hypothesis-profile") != "fuzz":
        providers.is_local_module_file = lambda path: False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where there is no C compiler, tests of the C back end are skipped, and say so.

    So are those of our own loader where it is switched off, or knows nothing of the system.
    """
    from linnet.backend import loader, toolchain
    from linnet.options import Options, current

    if not loader.is_used(current()):
        unused = pytest.mark.skip(reason="LLVM's loader is in use, which a second process imports")
        for item in items:
            if item.get_closest_marker("own_loader"):
                item.add_marker(unused)

    if not toolchain.available(Options()):
        missing = pytest.mark.skip(reason="there is no C compiler")
        for item in items:
            drawn = getattr(item, "callspec", None)
            if drawn is not None and drawn.params.get("backend") == "c":
                item.add_marker(missing)


def pytest_collection_finish() -> None:
    """The half million objects of all tests live until the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Code is optimized for tests of these folders, or for all, if that is asked for."""
    from linnet.options import config

    place = item.path.relative_to(TESTS)
    if any(place.is_relative_to(folder) for folder in OPTIMIZED):
        with config(optimize=True):
            return (yield)
    return (yield)


def pytest_unconfigure() -> None:
    if not _WORKER:
        shutil.rmtree(_CACHE, ignore_errors=True)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden("spmv.c", text)` compares text with tests/golden/spmv.c."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        text = text.rstrip("\n") + "\n"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists():
            pytest.fail(f"no golden file {name}: run pytest --update-golden and read what it wrote")
        assert text == path.read_text(encoding="utf-8")

    return check
