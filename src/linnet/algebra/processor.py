"""What the processor can do, as far as NumPy has found out: it has asked when it was imported."""

from __future__ import annotations

import numpy as np


def features() -> dict[str, bool]:
    """Whether there is a feature, by NumPy's name; those of other processors are not there."""
    known = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    return dict(getattr(known, "__cpu_features__", {}))
