"""Who does what layers ask of those above them (see `linnet.handed`)."""

import sys
from types import ModuleType

from linnet.api import METHODS
from linnet.handed import hand

_EAGER = "linnet.runtime.eager"
_HERE = "linnet.wiring"

hand("functions", {"apply": "linnet.arrays.operations", "reduced": "linnet.frontend.sending"})
hand("functions", {"unary": _EAGER})
hand("formats", {"sort_entries": "linnet.runtime.entries", "package": _HERE})
hand("quick", dict.fromkeys("conversion elementwise part product reduction unary".split(), _EAGER))
hand("quick", {"operation": "linnet.runtime.operation"})
hand("methods", METHODS)
hand("scheduling", {"derived": "linnet.pictures.derived"})
hand("arrays", dict.fromkeys(("is_function", "is_own"), "linnet.api.own"))
hand("api", {"package": _HERE})


def package() -> ModuleType:
    """All public names: the namespace of arrays."""
    return sys.modules["linnet"]
