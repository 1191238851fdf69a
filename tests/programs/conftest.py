"""Both back ends, for tests that are to see each."""

from __future__ import annotations

import pytest

import linnet as ln


@pytest.fixture(params=["llvm", "c"])
def backend(request: pytest.FixtureRequest):
    with ln.config(backend=request.param):
        yield
