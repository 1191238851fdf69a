"""What the kernels of the corpus are run on: small whole numbers, so that every order adds up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tests.optimize.corpus import SIZES, Operand, Program

import linnet as ln

Array = NDArray[np.generic]


def arguments(program: Program, seed: int = 0, density: float = 0.4) -> dict[str, ln.Tensor]:
    """Results that hold nothing, and operands."""
    rng = np.random.default_rng(seed)
    empty = {o.name: ln.empty_tensor(_written(o)) for o in program.results}
    return empty | {o.name: operand(o, rng, density) for o in program.operands}


def _written(result: Operand) -> ln.Format:
    return result.format.with_dtype(result.dtype) if result.dtype else result.format


def operand(o: Operand, rng: np.random.Generator, density: float) -> ln.Tensor:
    """An operand that is drawn."""
    return ln.asarray(_values(o, rng, density), format=o.format)


def _values(o: Operand, rng: np.random.Generator, density: float) -> Array:
    shape = o.shape
    if o.below:
        return rng.integers(0, SIZES[o.below], shape)
    if "P" in o.levels:  # one in a row, or none
        found = np.zeros(shape, bool if o.pattern else float)
        found[np.arange(shape[0]), rng.permutation(max(shape))[: shape[0]] % shape[1]] = True
        return found
    keep = rng.random(shape) < density
    if set(o.levels) & set("RrVbT"):  # what lies side by side is alike
        keep = np.repeat(keep, 2, axis=-1)[..., : shape[-1]]
    if o.levels[:1] == "R" and len(shape) > 1:
        keep = np.repeat(keep, 2, axis=0)[: shape[0]]
    if set(o.levels) & set("Yy"):
        keep = keep | keep.T
    if o.pattern or o.dtype == "bool":
        return keep
    drawn = rng.integers(1, 4, shape) * rng.choice([-1, 1], shape)
    if set(o.levels) & set("RrYy"):
        drawn = np.full(shape, 2)
    return np.where(keep, drawn, 0).astype(o.dtype or "float64")
