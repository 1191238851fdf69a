"""Which transformations change the code of a kernel."""

from __future__ import annotations

from tests.optimize.corpus import Program
from tests.optimize.data import arguments
from tests.oracle.check import Kinds, deciding

from linnet.formats.insertion import COORD, DENSE
from linnet.normalize.choice import MERGED, UNPACKED
from linnet.optimize.table import STEPS
from linnet.runtime.kernel import Kernel
from linnet.scheduling.default import DEFAULT
from linnet.stages import recorded

WAYS: tuple[Kinds, ...] = ((DENSE, UNPACKED), (COORD, MERGED))
"""Workspaces of each kind: as large operands have them."""


def fires(program: Program) -> frozenset[str]:
    """The names of all that do, whatever its operands are."""
    args = arguments(program)
    kernel = Kernel(program.program)
    found: set[str] = set()
    for kinds in (None, *WAYS):
        with deciding(kinds), recorded() as record:
            kernel.lowered(*[args[p] for p in kernel.params])
        found |= {*STEPS, DEFAULT} & record.keys()
    return frozenset(found)
