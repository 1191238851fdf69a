"""Rules that hold for all arrays: kinds of formats are kept, and shared memory is never written.

And what is asked of tiny arrays all the time waits for no compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linnet as ln

KINDS = {"csr": ln.CSR, "csc": ln.CSC, "coo": ln.COO(2), "dcsr": ln.DCSR}
ROW, COLUMN = np.arange(1.0, 5), np.arange(1.0, 6)[:, None]
KEEP: dict[str, Callable[[Any], Any]] = {
    "sum of two": lambda A: A + A,
    "product of two": lambda A: A * A,
    "a row": lambda A: A * ROW,
    "a row from the left": lambda A: ROW * A,
    "a column": lambda A: A * COLUMN,
    "a number": lambda A: A * 2,
    "another fill value": lambda A: A + 1,
    "what has no dimensions": lambda A: A - A.mean(),
    "the same of NumPy": lambda A: ln.maximum(A, np.asarray(2.0)),
    "compared with that": lambda A: A.mean() < A,
    "chosen or that": lambda A: ln.where(A > 3, A, ln.asarray(-1.0)),
    "a function": ln.sqrt,
    "rows": lambda A: A[1:3],
    "columns": lambda A: A[:, 1:3],
    "every other row": lambda A: A[::2],
    "rows at positions": lambda A: A[[2, 0]],
    "columns at positions": lambda A: A[:, [2, 0]],
    "a mask": lambda A: A[np.arange(5) > 2],
    "joined": lambda A: ln.concat([A, A]),
    "reshaped": lambda A: ln.reshape(A, (10, 2)),
    "flipped": lambda A: ln.flip(A, axis=0),
    "rolled": lambda A: ln.roll(A, 1, axis=1),
    "lower triangle": ln.tril,
    "compared": lambda A: A > 1,
    "converted": lambda A: A.astype("float32"),
    "copied": lambda A: A.copy(),
    "powers": lambda A: A**2,
}


def matrix(format: ln.Format) -> ln.Tensor:
    dense = np.where(np.arange(20).reshape(5, 4) % 3 == 1, np.arange(20.0).reshape(5, 4), 0)
    return ln.asarray(dense, format=format)


@pytest.mark.parametrize("name", list(KEEP))
@pytest.mark.parametrize("kind", list(KINDS))
def test_results_keep_the_kind_of_format_that_they_came_in(kind: str, name: str):
    A = matrix(KINDS[kind])
    found = KEEP[name](A)
    assert found.format.levels[:-1] == A.format.levels[:-1]
    assert found.format.order == A.format.order
    expected = KEEP[name](A.to(ln.DENSE))
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


CHANGES: dict[str, Callable[[Any], Any]] = {
    "+=": lambda x: x.__iadd__(1),
    "*=": lambda x: x.__imul__(x),
    "-=": lambda x: x.__isub__(ROW),
    "element": lambda x: x.__setitem__((1, 2), 7.0),
    "row": lambda x: x.__setitem__(2, ROW),
    "slice": lambda x: x.__setitem__((slice(None), slice(1, 3)), 0.0),
    "mask": lambda x: x.__setitem__(np.arange(5) > 2, -1.0),
    "positions": lambda x: x.__setitem__([0, 4], 9.0),
}


@pytest.mark.parametrize("name", list(CHANGES))
@pytest.mark.parametrize("format", [*KINDS.values(), ln.DENSE(2)], ids=str)
def test_a_change_is_seen_by_nobody_else(format: ln.Format, name: str):
    """Neither by arrays made of this one, nor by those of NumPy that it was made of."""
    first = matrix(format)
    given = {key: array.copy() for key, array in first.buffers.items()}
    x = ln.from_buffers(first.format, first.shape, given)
    before = {key: array.copy() for key, array in given.items()}
    others = [ln.asarray(x, copy=False), x[:], x.T, ln.reshape(x, (4, 5)), x.astype("float64")]
    seen, shown = [other.to_numpy().copy() for other in others], x.to_numpy()
    copy, dense = shown.copy(), shown.copy()
    CHANGES[name](x)
    result = CHANGES[name](dense)
    np.testing.assert_array_equal(x.to_numpy(), dense if result is None else result)
    assert not np.array_equal(x.to_numpy(), copy)
    np.testing.assert_array_equal(shown, copy)
    for key, array in given.items():
        np.testing.assert_array_equal(array, before[key])
    for other, expected in zip(others[1:], seen[1:], strict=True):
        np.testing.assert_array_equal(other.to_numpy(), expected)


TINY: dict[str, Callable[[Any], Any]] = {
    "element": lambda x: float(x[1, 2]),
    "element of an element": lambda x: x[1, 2][()],
    "int": lambda x: int(x[1, 2]),
    "bool": lambda x: bool(x[1, 2]),
    "complex": lambda x: complex(x[1, 2]),
    "reshape": lambda x: ln.reshape(x, (4, 5)),
    "equal": lambda x: x == x,
    "equal to a number": lambda x: x == 2,
    "a number": lambda x: ln.asarray(3.0) == 3,
    "lists": lambda x: ln.asarray([[1, 2], [3, 4]]),
    "an array": lambda x: ln.asarray(np.eye(2), format=x.format.with_dtype("float64")),
}


@pytest.mark.parametrize("name", list(TINY))
@pytest.mark.parametrize("format", [*KINDS.values(), ln.DENSE(2)], ids=str)
def test_tiny_arrays_wait_for_no_compilation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, format: ln.Format, name: str
):
    def compiled(*_: object) -> None:
        raise AssertionError("something is compiled")

    x = matrix(format)
    with ln.config(cache_dir=tmp_path), monkeypatch.context() as patched:
        patched.setattr("linnet.runtime.specialize.specialize", compiled)
        found = TINY[name](x)
    expected = TINY[name](matrix(ln.DENSE(2)))
    np.testing.assert_array_equal(*(ln.asarray(each).to_numpy() for each in (found, expected)))


def test_the_package_says_that_it_is_annotated():
    assert (Path(ln.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda np_or_ln: np_or_ln.sum(np_or_ln.ones(3), axis=4),
        lambda np_or_ln: np_or_ln.linalg.inv(np_or_ln.zeros((2, 2))),
        lambda np_or_ln: bool(np_or_ln.ones(3)),
        lambda np_or_ln: int(np_or_ln.ones(3)),
        lambda np_or_ln: np_or_ln.ones(3)[7],
    ],
)
def test_errors_are_caught_as_those_of_numpy(wrong):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        wrong(np)
    with pytest.raises(type(theirs.value)):
        wrong(ln)
