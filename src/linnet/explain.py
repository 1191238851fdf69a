"""`ln.explain`: what the compiler makes of a program, stage by stage."""

from __future__ import annotations

from linnet import imp, loops
from linnet.backend import c, llvm
from linnet.loops.printer import show
from linnet.runtime.kernel import Kernel
from linnet.stages import recorded


class Explanation:
    """The stages of one compilation, by name. Prints as all of them."""

    def __init__(self, stages: dict[str, str]) -> None:
        self.stages = stages

    def __getitem__(self, stage: str) -> str:
        return self.stages[stage]

    def __str__(self) -> str:
        return "\n\n".join(f"# {name}\n{text.rstrip()}" for name, text in self.stages.items())

    __repr__ = __str__


def explain(kernel: Kernel, *tensors: object) -> Explanation:
    """Every stage from the program as written to LLVM: `print(ln.explain(spmv, y, A, x))`."""
    with recorded() as record:
        lowered = kernel.lowered(*tensors)
    stages = {"program": show(kernel.program)}
    for name, result in record.items():
        if isinstance(result, loops.Program):
            stages[name] = show(result)
    stages["code"] = c.render(lowered.kernel)
    stages["llvm"] = llvm.render(lowered.kernel)
    return Explanation(stages)
