"""Reductions over rows, columns and everything with + * min max or and."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.programs.cases import REAL, Case, Program, cases
from tests.programs.meaning import widened

import linnet as ln


def over_columns(f: object, start: object) -> ln.Kernel:
    @ln.kernel
    def kernel(y, A):
        y[...] = start
        for i, j in ...:
            y[i] = f(y[i], A[i, j])

    return kernel


def over_rows(f: object, start: object) -> ln.Kernel:
    @ln.kernel
    def kernel(y, A):
        y[...] = start
        for i, j in ...:
            y[j] = f(y[j], A[i, j])

    return kernel


def over_all(f: object, start: object) -> ln.Kernel:
    @ln.kernel
    def kernel(s, A):
        s[...] = start
        for i, j in ...:
            s[()] = f(s[()], A[i, j])

    return kernel


DIRECTIONS = {
    "row": (over_columns, "i", 1),
    "column": (over_rows, "j", 0),
    "total": (over_all, "", None),
}
OPERATORS: dict[str, tuple[object, object, tuple[str, ...]]] = {
    "sum": (np.add, 0, ("float64", "int32", "complex64", "bool", "uint8", "float32")),
    "product": (np.multiply, 1, ("float64", "int64", "complex128", "float32")),
    "min": (min, 9, tuple(d for d in REAL if d != "bool")),
    "max": (np.maximum, 0, tuple(d for d in REAL if d != "bool")),
    "or": (np.logical_or, False, ("bool", "int32", "float64")),
    "and": (np.logical_and, True, ("bool", "int32", "float64")),
}


def meaning(name: str, start: object, axis: int | None) -> Callable[[np.ndarray], np.ndarray]:
    def answer(a: np.ndarray) -> np.ndarray:
        match name:
            case "sum":
                return np.asarray(widened(a).sum(axis, widened(a).dtype))
            case "product":
                return np.asarray(a.prod(axis, a.dtype))
            case "min":
                return np.asarray(a.min(axis, initial=start))
            case "max":
                return np.asarray(a.max(axis, initial=start))
            case "or":
                return np.asarray((a != 0).any(axis))
            case _:
                return np.asarray((a != 0).all(axis))

    return answer


def programs() -> list[Program]:
    found = []
    for name, (f, start, dtypes) in OPERATORS.items():
        for direction, (make, result, axis) in DIRECTIONS.items():
            kernel, answer = make(f, start), meaning(name, start, axis)
            label = f"{name}_{direction}"
            found.append(
                Program(
                    kernel, result, ("ij",), answer, dtypes, (), label, start, name == "product"
                )
            )
    return found


@pytest.mark.parametrize("case", cases(programs()))
def test_reductions(case: Case):
    case.check()
