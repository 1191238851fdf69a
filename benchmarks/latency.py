"""How long one waits before anything is computed: import, compilation, the cache, a warm call.

Each figure is taken in processes of its own, the best of several, and has the limit it must meet.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from benchmarks import harness
from benchmarks.latency_worker import OPERATIONS


def figures() -> Iterator[dict[str, object]]:
    """Every figure: its name, seconds, and the limit."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"LINNET_CACHE_DIR": cache}
        uncached = environment | {"LINNET_CACHE": "0"}
        yield _figure("import, beyond NumPy", _best("import", environment), 0.150)
        lower = _best("lower", uncached, 3)
        yield _figure("SpGEMM: lower and print as code", lower, 0.025)
        yield _figure("SpGEMM: compile", _best("first", uncached, 3) - lower, 0.100)
        _best("load", environment, 1)  # fills the cache
        yield _figure("SpGEMM: load in a second process", _best("load", environment), 0.005)
        for operation in OPERATIONS:
            _best(operation, environment, 1)
            seconds = _best(operation, environment)
            yield _figure(f"{operation}, first of a second process", seconds, 0.010)
        yield _figure("warm call, SpMV of 10 x 10", _best("warm", environment, 3), 15e-6)


def _figure(name: str, seconds: float, limit: float) -> dict[str, object]:
    return {"name": name, "value": seconds, "limit": limit, "unit": "s"}


def _best(what: str, environment: dict[str, str], times: int = 7) -> float:
    """The smallest number that several processes print."""
    command = [sys.executable, "-m", "benchmarks.latency_worker", what]
    command += [] if harness.CLOCK is time.perf_counter else ["processor"]
    return min(
        float(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)
        for _ in range(times)
    )
