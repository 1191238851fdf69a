"""How long each pass of the compiler takes: a profile of the compiler itself, in its own order.

Run as `python -m benchmarks.passes [name of a program of benchmarks.compiling …]`; without a name,
SpGEMM as in `benchmarks.latency`. Figures are milliseconds of processor time, the least of twenty
runs; what a pass calls is its own, but for other passes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

import linnet as ln
from benchmarks import compiling
from benchmarks.latency_worker import gustavson
from linnet import compiler
from linnet.backend import c, llvm, machine
from linnet.optimize import table
from linnet.runtime.kernel import Kernel

RUNS = 20
OTHER = "other"
PASSES = ("linnet.normalize.", "linnet.lower.", "linnet.imp.")
Given = tuple[Kernel, list[ln.Tensor]]


class Clock:
    """The seconds of every pass since it was last asked."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.inside: list[float] = []  # of each open pass: how long those took that it called

    def time(self, module: ModuleType, name: str, shown: str = "") -> None:
        """Let a function of a module be measured wherever that module calls it."""
        function: Callable[..., Any] = getattr(module, name)

        setattr(module, name, partial(self.called, shown or name, function))

    def called(self, name: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Call a function, and measure it."""
        return self.run(name, lambda: function(*args, **named))

    def run(self, name: str, action: Callable[[], Any]) -> Any:
        """Do something, and add its own seconds to those of its name."""
        self.inside.append(0.0)
        begin = time.process_time()
        try:
            return action()
        finally:
            took = time.process_time() - begin
            own = took - self.inside.pop()
            self.seconds[name] = self.seconds.get(name, 0.0) + own
            if self.inside:
                self.inside[-1] += took


def passes() -> Clock:
    """A clock of all that `linnet.compiler` calls, and of the back ends."""
    clock = Clock()
    for name, value in list(vars(compiler).items()):
        is_pass = isinstance(value, FunctionType) and name not in ("walk", "check_code")
        if is_pass and value.__module__.startswith(PASSES):
            clock.time(compiler, name)
    for name, step in table.STEPS.items():
        table.STEPS[name] = partial(clock.called, name, step)
    clock.time(c, "render", "print as C")
    clock.time(llvm, "separate", "print for LLVM")
    clock.time(machine, "_optimize", "LLVM: optimize")
    clock.time(machine, "compile", "LLVM: generate code")
    return clock


def product() -> Given:
    """SpGEMM with a workspace, not compiled before."""
    A = ln.tensor(np.stack([np.arange(10)] * 2), np.ones(10), (10, 10), format=ln.CSR)
    return ln.kernel(gustavson), [ln.empty_tensor(ln.CSR), A, A]


def profile(clock: Clock, make: Callable[[], Given]) -> dict[str, float]:
    """The least seconds of each pass, for one program."""
    least: dict[str, float] = {}
    for _ in range(RUNS):
        kernel, args = make()
        clock.seconds = {}
        clock.run(OTHER, lambda k=kernel, a=args: k.code(*a))  # type: ignore[misc]
        clock.run(OTHER, lambda k=kernel, a=args: k(*a))  # type: ignore[misc]
        for name, seconds in clock.seconds.items():
            once = seconds if name.startswith(("LLVM", "print")) else seconds / 2  # for both
            least[name] = min(once, least.get(name, once))
    return least


def main(names: list[str]) -> None:
    """Print a table for each program."""
    clock = passes()
    with ln.config(cache=False):
        for name in names or ["SpGEMM"]:
            make = product if name == "SpGEMM" else lambda name=name: compiling.kernel(name)
            print(name)
            for key, seconds in profile(clock, make).items():
                print(f"  {key:24}{1e3 * seconds:8.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
