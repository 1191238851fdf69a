"""Many operands at once: what is computed is right, and the code grows with them, not doubles."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import Subject, check

import linnet as ln
from linnet.frontend.text import parse_text

N = 40
VECTORS = {
    "list": ln.SparseList(ln.Element()),
    "runs": ln.RunList(ln.Element()),
    "sparse runs": ln.SparseRunList(ln.Element()),
    "blocks": ln.SparseBlockList(ln.Element()),
    "hash": ln.SparseHash(ln.Element()),
}
RESULTS = {"dense": ln.Dense(ln.Element()), **VECTORS}
MIXED = ["sparse runs", "list", "blocks", "runs", "hash", "sparse runs", "list"]


def text_of(operator: str, count: int, shifts: tuple[int, ...] = (0,)) -> str:
    """`y[i] = a0[i] op a1[i] op …`, every operand at every shift."""
    names = [f"a{k}" for k in range(count)]
    terms = [f"{a}[i{f' + {s}' if s else ''}]" for a in names for s in shifts]
    value = f" {operator} ".join(terms)
    if operator in ("max", "min"):
        value = f"{operator}({', '.join(terms)})"
    return (
        f"def many(y, {', '.join(names)}):\n"
        f"    ln.declare(y, 0.0, (a0.shape[0],))\n"
        f"    for i in range({-min(shifts)}, a0.shape[0] - {max(shifts)}):\n"
        f"        y[i] = {value}\n"
        f"    return y\n"
    )


def vector(seed: int, fill: float) -> np.ndarray:
    """Runs of a few values, and single ones."""
    rng = np.random.default_rng(seed)
    runs = np.repeat(rng.integers(0, 3, N), rng.integers(1, 5, N))[:N]
    return np.where(runs == 0, fill, np.where(rng.random(N) < 0.1, 7.0, runs))


def arguments(kinds: list[str], result: str, fill: float) -> dict[str, ln.Tensor]:
    """An empty result, and operands of these formats."""
    given = {"y": ln.empty_tensor(RESULTS[result])}
    for k, kind in enumerate(kinds):
        given[f"a{k}"] = ln.asarray(vector(k, fill), format=VECTORS[kind], fill_value=fill)
    return given


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("operator", ["+", "*", "max"])
@pytest.mark.parametrize("fill", [0.0, 1.0])
def test_lists_and_runs(operator, fill, result):
    given = arguments(MIXED, result, fill)
    check(Subject.of(parse_text(text_of(operator, len(MIXED))), given), given)


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("fill", [0.0, 2.0])
def test_windows_in_which_nothing_is_decided(kind, fill):
    given = arguments([kind], "list", fill)
    check(Subject.of(parse_text(text_of("+", 1, (-2, -1, 0, 1, 2))), given), given)


@pytest.mark.parametrize("dtype", ["int16", "bool", "uint64", "float32", "complex64"])
@pytest.mark.parametrize("kind", ["list", "sparse runs", "blocks"])
def test_dtypes(kind, dtype):
    given = {"y": ln.empty_tensor(VECTORS["list"])}
    for k in range(4):
        given[f"a{k}"] = ln.asarray(vector(k, 0.0).astype(dtype), format=VECTORS[kind])
    check(Subject.of(parse_text(text_of("+", 4)), given), given)


MATRICES = {
    "coo": ln.COO(2),
    "lists": ln.SparseList(ln.SparseList(ln.Element())),
    "dense in lists": ln.SparseList(ln.Dense(ln.Element())),
    "runs of rows": ln.SparseRunList(ln.SparseList(ln.Element())),
    "runs in lists": ln.SparseList(ln.RunList(ln.Element())),
    "runs in blocks": ln.SparseBlockList(ln.SparseRunList(ln.Element())),
    "hash in hash": ln.SparseHash(ln.SparseHash(ln.Element())),
    "bytes in lists": ln.SparseList(ln.SparseByteMap(ln.Element())),
}


@pytest.mark.parametrize("kinds", [*([k] for k in MATRICES), list(MATRICES)[:5]], ids=str)
@pytest.mark.parametrize("shift", [0, 1])
def test_matrices(kinds, shift):
    count = max(4, len(kinds))
    names = [f"a{k}" for k in range(count)]
    value = " + ".join(f"{a}[i, j + {shift}]" for a in names)
    program = parse_text(
        f"def many(y, {', '.join(names)}):\n"
        f"    ln.declare(y, 0.0, (a0.shape[0], a0.shape[1]))\n"
        f"    for i in range(a0.shape[0]):\n"
        f"        for j in range(a0.shape[1] - {shift}):\n"
        f"            y[i, j] = {value}\n"
        f"    return y\n"
    )
    given = {"y": ln.empty_tensor(MATRICES["lists"])}
    for k, name in enumerate(names):
        dense = vector(k, 0.0).reshape(8, 5) * (np.arange(8) % (k + 2) > 0)[:, None]
        given[name] = ln.asarray(dense, format=MATRICES[kinds[k % len(kinds)]])
    check(Subject.of(program, given), given)


def test_code_grows_with_the_operands():
    sizes = []
    for count in (4, 8, 16):
        given = arguments(["sparse runs"] * count, "list", 1.0)
        sizes.append(Subject.of(parse_text(text_of("*", count)), given).size)
    assert sizes[2] - sizes[1] == pytest.approx(2 * (sizes[1] - sizes[0]), rel=0.05)


def test_a_product_of_many_lists_has_one_case():
    given = arguments(["list"] * 14, "list", 0.0)
    assert Subject.of(parse_text(text_of("*", 14)), given).size < 1000
