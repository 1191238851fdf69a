"""Fused functions of which is counted how often Python runs them, and what they are given."""

from __future__ import annotations

import sys

import numpy as np

import linnet as ln


def sparse(seed: int, shape: tuple[int, int] = (6, 8), dtype: str = "float64") -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < 0.4, rng.integers(1, 9, shape), 0).astype(dtype)


class Traced:
    """A function, fused, and how often Python ran it in the last call."""

    def __init__(self, function):
        self.count = 0
        self.function = function
        self.fused = ln.fuse(function)

    def __call__(self, *args, **named):
        runs = []
        own = self.function.__code__
        before = sys.getprofile()
        sys.setprofile(lambda f, event, _: runs.append(event == "call" and f.f_code is own))
        try:
            return self.fused(*args, **named)
        finally:
            sys.setprofile(before)
            self.count = sum(runs)
