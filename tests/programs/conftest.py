"""Both back ends, for tests that are to see each."""

from __future__ import annotations

import pytest

import linnet as ln
from linnet.backend import toolchain
from linnet.options import current


@pytest.fixture(params=["llvm", "c"])
def backend(request: pytest.FixtureRequest):
    if request.param == "c" and not toolchain.available(current()):
        pytest.skip("there is no C compiler")
    with ln.config(backend=request.param):
        yield
