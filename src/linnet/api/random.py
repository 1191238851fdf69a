"""Random sparse arrays: `ln.random(shape, density=…)`."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from linnet.algebra.dtypes import Number, canonical
from linnet.api.dtypes import DType
from linnet.api.storage import build, typed, unflatten
from linnet.errors import ArgumentError, RangeError, ShapeError
from linnet.formats.given import as_numpy
from linnet.formats.located import located
from linnet.formats.named import COO, FormatLike, as_format
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST, check_shape


@located
def random(
    shape: Any,
    density: float = 0.01,
    *,
    format: FormatLike | None = None,
    dtype: DType = "float64",
    fill_value: Number = 0,
    rng: Any = None,
    sampler: Callable[[int], Any] | None = None,
) -> Tensor:
    """An array with values at random places: uniform in [0, 1), or what `sampler(count)` draws.

    `rng` is a generator of NumPy or a seed. As many places are stored as the density says, rounded.

    >>> ln.random((1000, 1000), 0.001, format="csr", rng=0).nnz
    1000
    """
    dims, size = check_shape(shape), math.prod(check_shape(shape))
    if not isinstance(density, Real) or not 0 <= density <= 1:
        raise RangeError(f"a density lies between 0 and 1, and is not {density!r}")
    if size > LARGEST:
        raise ShapeError(f"an array of shape {dims} has more elements than 63 bits count")
    try:
        generator = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{rng!r} is neither a generator nor a seed", why=str(error)) from None
    count = round(size * density)
    key = _distinct(generator, size, count)
    drawn = generator.random(count) if sampler is None else sampler(count)
    values = as_numpy(drawn, name="what the sampler gave")
    if values.shape != (count,) or values.dtype.kind not in "biufc":
        raise ShapeError(
            f"the sampler was asked for {count} numbers, and gave an array of {values.dtype} of "
            f"shape {values.shape}"
        )
    held = canonical(dtype)
    wanted = typed(as_format(COO if format is None else format, len(dims)), held, fill_value)
    return build(unflatten(key, dims), values.astype(held), dims, wanted)


def _distinct(generator: np.random.Generator, size: int, count: int) -> np.ndarray[Any, Any]:
    """Different numbers below `size`, sorted; memory for a few times `count` is enough."""
    if count * 3 > size:
        return np.sort(generator.permutation(size)[:count])
    found = np.unique(generator.integers(0, size, count, np.int64))
    while len(found) < count:
        more = generator.integers(0, size, (count - len(found)) * 2 + 8, np.int64)
        fresh = np.setdiff1d(more, found)
        found = np.sort(np.r_[found, generator.permutation(fresh)[: count - len(found)]])
    return found
