"""`ln.explain`: what the compiler makes of a program, stage by stage.

The compiler is imported when it is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from linnet import imp, loops
from linnet.errors import ArgumentError, Location, StageError
from linnet.formats.located import bordered
from linnet.imp.printer import show as show_code
from linnet.loops.printer import show
from linnet.runtime.kernel import Kernel
from linnet.shortage import imported
from linnet.stages import recorded


class Explained(Protocol):
    """What can say itself what becomes of it, such as a lazy array."""

    def explain(self, *others: object) -> Explanation:
        """What becomes of it, with these."""


class Explanation:
    """The stages of one compilation, by name. Prints as all of them."""

    def __init__(self, stages: dict[str, str]) -> None:
        self.stages = stages

    def __getitem__(self, stage: str) -> str:
        found = self.stages.get(stage)
        if found is None:
            raise StageError(
                f"there is no stage {stage!r} here",
                at=Location.of_caller(),
                why="a stage that changes nothing of a program may have nothing to show",
                hint=f"one of {', '.join(self.stages)}",
            )
        return found

    def __str__(self) -> str:
        return "\n\n".join(f"# {name}\n{text.rstrip()}" for name, text in self.stages.items())

    __repr__ = __str__


@bordered
def explain(kernel: Kernel | Explained, *tensors: object) -> Explanation:
    """Every stage from the program as written to LLVM: `print(ln.explain(spmv, y, A, x))`.

    The arguments are those of a call; nothing is run. `ln.explain(spmv, y, A, x)["code"]` is one
    stage, and `.stages` all of them by name, in order. Of lazy arrays that are computed together,
    the plan, then the loops and the code of every kernel: `print(ln.explain(mean, variance))`. Of a
    function that is fused the same, for arguments like those of a call.
    """
    if not isinstance(kernel, Kernel):
        if not hasattr(kernel, "explain"):
            raise ArgumentError(
                f"{type(kernel).__name__} objects cannot be explained",
                at=Location.of_caller(),
                hint="pass a kernel or a fused function and its arguments, or lazy arrays",
            )
        return kernel.explain(*tensors)
    with recorded() as record:
        lowered = kernel.lowered(*tensors)
    stages = {"program": show(kernel.program)}
    for name, result in record.items():
        if isinstance(result, loops.Program):
            stages[name] = show(result)
        elif (
            isinstance(result, imp.Kernel) and name != "code"
        ):  # a step of `optimize.table` that changed something
            stages[name] = show_code(replace(result, codelets=()))
        elif isinstance(result, str) and result:
            stages[name] = result
    stages["lattices"] = _lattices(record)
    stages["code"] = _backend("c").render(lowered.kernel)
    text, codelets = _backend("llvm").separate(lowered.kernel)
    apart = [f"; {name}, made once for all that call it\n{code}" for name, code in codelets.items()]
    stages["llvm"] = "\n".join([text, *apart])
    return Explanation(stages)


def _lattices(record: dict[str, object]) -> str:
    """What the loops visit, as lattices of the user's own statements."""
    program, formats = record.get("scopes"), record.get("formats")
    text: str = imported("linnet.normalize.spaces").describe(program, formats)
    return text


def _backend(name: str) -> Any:
    return imported(f"linnet.backend.{name}")
