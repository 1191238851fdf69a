"""The API on either side of its limits by size: small arrays stand for large ones, too.

What kernels do for many values, NumPy does for few. Every test of this folder is there twice, once
as if all arrays were large. A quarter of these are run in any case, whichever their names make it;
the others are slow.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import linnet as ln

HERE = Path(__file__).parent
# Those of these files say themselves on which side they are, or look at what small arrays wait for.
ONE_SIDE = {
    *("test_moves", "test_moves_assigned", "test_moves_in_order", "test_drawn"),
    *("test_rules", "test_again", "test_lazy", "test_gpu_arrays", "test_taught", "test_vast"),
}
SHARE = 4  # one test of so many is run as if arrays were large


@pytest.fixture
def many(request: pytest.FixtureRequest) -> Iterator[None]:
    """How many values are many: as was measured, or none."""
    with ln.config(many=request.param):
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    drawn = getattr(metafunc.function, "is_hypothesis_test", False)
    if Path(metafunc.module.__file__).stem not in ONE_SIDE and not drawn:
        metafunc.fixturenames.append("many")
        metafunc.parametrize("many", [None, 0], ids=["few", "many"], indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        found = getattr(item, "callspec", None)
        if found is None or found.params.get("many", None) != 0 or HERE not in item.path.parents:
            continue
        if zlib.crc32(item.nodeid.encode()) % SHARE:
            item.add_marker(pytest.mark.slow)
