"""Functions that move values: they agree with NumPy, keep the kind of format, and stay sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.api.operands import cube, cube_formats, filled_matrices, matrix, matrix_formats, same

import linnet as ln

MOVES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "reshape": (lambda x: ln.reshape(x, (3, -1)), lambda a: a.reshape(3, -1)),
    "reshape to a cube": (lambda x: x.reshape(2, 3, 4), lambda a: a.reshape(2, 3, 4)),
    "reshape to a vector": (lambda x: ln.reshape(x, (24,)), lambda a: a.reshape(24)),
    "transpose": (lambda x: x.T, lambda a: a.T),
    "mT": (lambda x: x.mT, lambda a: a.T),
    "flip": (lambda x: ln.flip(x), np.flip),
    "flip rows": (lambda x: ln.flip(x, axis=0), lambda a: np.flip(a, 0)),
    "roll": (lambda x: ln.roll(x, 5), lambda a: np.roll(a, 5)),
    "roll columns": (lambda x: ln.roll(x, -2, axis=1), lambda a: np.roll(a, -2, 1)),
    "roll twice": (
        lambda x: ln.roll(x, (1, 2), axis=(0, 1)),
        lambda a: np.roll(a, (1, 2), (0, 1)),
    ),
    "expand": (lambda x: ln.expand_dims(x, (0, 2)), lambda a: np.expand_dims(a, (0, 2))),
    "squeeze": (lambda x: ln.squeeze(ln.expand_dims(x, 1), 1), lambda a: a),
    "moveaxis": (lambda x: ln.moveaxis(x, 0, 1), lambda a: np.moveaxis(a, 0, 1)),
    "broadcast": (
        lambda x: ln.broadcast_to(x, (2, 4, 6)),
        lambda a: np.broadcast_to(a, (2, 4, 6)),
    ),
    "tile": (lambda x: ln.tile(x, (2, 3)), lambda a: np.tile(a, (2, 3))),
    "tile to a cube": (lambda x: ln.tile(x, (2, 1, 2)), lambda a: np.tile(a, (2, 1, 2))),
    "repeat": (lambda x: ln.repeat(x, 2, axis=1), lambda a: np.repeat(a, 2, 1)),
    "repeat each": (
        lambda x: ln.repeat(x, ln.asarray([1, 0, 2, 3]), axis=0),
        lambda a: np.repeat(a, [1, 0, 2, 3], 0),
    ),
    "concat": (lambda x: ln.concat([x, x]), lambda a: np.concatenate([a, a])),
    "concat columns": (
        lambda x: ln.concat([x, x], axis=1),
        lambda a: np.concatenate([a, a], 1),
    ),
    "concat flat": (
        lambda x: ln.concat([x, x], axis=None),
        lambda a: np.concatenate([a, a], None),
    ),
    "stack": (lambda x: ln.stack([x, x], axis=1), lambda a: np.stack([a, a], 1)),
    "unstack": (lambda x: ln.unstack(x, axis=1)[2], lambda a: a[:, 2]),
    "take": (
        lambda x: ln.take(x, ln.asarray([3, 0, 3]), axis=0),
        lambda a: np.take(a, [3, 0, 3], 0),
    ),
    "diagonal": (lambda x: ln.linalg.diagonal(x, offset=1), lambda a: np.diagonal(a, 1)),
    "sort": (lambda x: ln.sort(x), np.sort),
    "sort columns": (lambda x: ln.sort(x, axis=0), lambda a: np.sort(a, 0)),
    "copy": (lambda x: x.copy(), lambda a: a.copy()),
}


@pytest.mark.parametrize("move", list(MOVES))
@filled_matrices
def test_moves_agree_with_numpy(format: str, fill: float, move: str):
    x, array = matrix(format, fill)
    ours, theirs = MOVES[move]
    same(ours(x), theirs(array))


@pytest.mark.parametrize("move", [m for m in MOVES if m not in ("sort", "sort columns")])
@pytest.mark.parametrize("format", ["csr", "csc", "dcsr", "coo"])
def test_moves_store_no_more_than_there_was(format: str, move: str):
    x, array = matrix(format, 1.5)
    found = MOVES[move][0](x)
    assert found.fill_value == 1.5
    assert found.nnz == (np.asarray(MOVES[move][1](array)) != 1.5).sum()


@pytest.mark.parametrize("axes", [(2, 0, 1), (0, 2, 1), (1, 2, 0)])
@cube_formats
def test_cubes_are_permuted_and_reshaped(format: str, axes: tuple[int, ...]):
    x, array = cube(format)
    same(ln.permute_dims(x, axes), array.transpose(axes))
    same(ln.permute_dims(x, axes).reshape(-1, 2), array.transpose(axes).reshape(-1, 2))


@pytest.mark.parametrize("format", ["csr", "coo", "csc"])
def test_what_moves_nothing_keeps_its_format(format: str):
    x, _ = matrix(format)
    for move in (ln.flip, lambda x: ln.roll(x, 1, axis=0), lambda x: ln.concat([x, x])):
        assert move(x).format == x.format


def test_formats_of_another_number_of_dimensions():
    x, _ = matrix("csr")
    assert ln.reshape(x, (24,)).format.describe().startswith("SparseList(Element")
    assert ln.reshape(x, (2, 2, 6)).format.name == "CSF(3)"
    assert ln.reshape(matrix("coo")[0], (2, 2, 6)).format.name == "COO(3)"
    assert "RunList" in ln.reshape(matrix("runs")[0], (24,)).format.describe()


def test_joining_different_fill_values_is_right_and_keeps_the_first():
    a, left = matrix("csr", 0.0)
    b, right = matrix("csr", 1.5)
    found = ln.concat([a, b], axis=1)
    same(found, np.concatenate([left, right], 1))
    assert found.fill_value == 0.0


def test_joining_promotes():
    found = ln.concat([ln.asarray([1, 2]), ln.asarray([0.5], format="coo")])
    same(found, np.array([1, 2, 0.5]))


def test_blocks_and_stacks_of_scipy():
    sp = pytest.importorskip("scipy.sparse")
    a, left = matrix("csr")
    same(ln.vstack([a, sp.csr_array(left)]), np.vstack([left, left]))
    same(ln.hstack([a, left]), np.hstack([left, left]))
    found = ln.block([[a, None], [None, ln.eye(2)]])
    same(found, sp.block_array([[sp.csr_array(left), None], [None, sp.eye_array(2)]]).toarray())
    assert found.format.name == "CSR"


@matrix_formats
def test_kron(format: str):
    x, array = matrix(format)
    small = np.array([[1.0, 0.0, 2.0]])
    same(ln.kron(x, ln.asarray(small, format="csr")), np.kron(array, small))


@filled_matrices
def test_triangles(format: str, fill: float):
    x, array = matrix(format, fill)
    for k in (-1, 0, 2):
        same(ln.tril(x, k=k), np.tril(array, k))
        same(ln.triu(x, k=k), np.triu(array, k))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ln.reshape(x, (5, 5)), ValueError, "24 elements does not fit the shape (5, 5)"),
        (lambda x: ln.reshape(x, (-1, -1)), ValueError, "only one size can be -1"),
        (lambda x: ln.flip(x, axis=2), IndexError, "axis 2 is out of bounds"),
        (lambda x: ln.flip(x, axis=-3), ValueError, "axis -3 is out of bounds"),
        (lambda x: ln.squeeze(x, 0), ValueError, "has size 4, not 1"),
        (lambda x: ln.broadcast_to(x, (3, 5)), ValueError, "(4, 6)"),
        (lambda x: ln.concat([x, x.T]), ValueError, "(4, 6) and (6, 4)"),
        (lambda x: ln.concat([]), ValueError, "nothing to join"),
        (lambda x: ln.stack([x, x.T]), ValueError, "(4, 6) and (6, 4)"),
        (lambda x: ln.permute_dims(x, (0, 0)), ValueError, "twice"),
        (lambda x: ln.roll(x, 1.5, axis=0), TypeError, "a shift is an integer"),
        (lambda x: ln.repeat(x, -1, axis=0), ValueError, "negative"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, error: type, text: str):
    for format in ("dense", "csr"):
        with pytest.raises(error) as caught:
            call(matrix(format)[0])
        assert isinstance(caught.value, ln.LinnetError)
        assert text in str(caught.value)
        assert "test_moving.py" in str(caught.value)
