"""Results written in parts that end within rows: every level goes on where the last part ended."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

LEVELS = {
    "D": ln.Dense,
    "L": ln.SparseList,
    "C": lambda child: ln.SparseCOO(1, child),
    "H": ln.SparseHash,
    "M": ln.SparseByteMap,
    "P": ln.SparsePinpoint,
    "B": ln.SparseBand,
    "V": ln.SparseBlockList,
    "R": ln.RunList,
    "S": ln.SparseRunList,
    "I": ln.SparseInterval,
}
TABLES = {*"HM"}  # these keep more than what is stored
PARTS = (
    "pos(f, p, A) split(p, p0, p1, {})", "split(f, p0, p1, {})",
    "pos(f, p, A, flat) split(p, p0, p1, {})", "split(f, p0, p1, {}, up)",
)  # fmt: skip
PAIRS, TRIPLES = "collapse(i, j, f)", "collapse(i, j, e) collapse(e, k, f)"


@ln.kernel
def copied(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j]
    return C


@ln.kernel
def copied_above_one(C, A):
    C[...] = 1
    for i, j in ...:
        C[i, j] = A[i, j]
    return C


@ln.kernel
def deep(C, A):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = A[i, j, k]
    return C


@ln.kernel
def large(C, A):
    C[...] = 0
    for i, j, k in ...:
        if A[i, j, k] > 1:
            C[i, j, k] = A[i, j, k]
    return C


@ln.kernel
def outer(C, A, x):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = A[i, j] * x[k]
    return C


@ln.kernel
def above(C, A, x):
    C[...] = 0
    for i, j, k in ...:
        if x[k] > 1:
            C[i, j, k] = A[i, j] * x[k]
    return C


@ln.kernel
def squares(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * A[i, j]
    return C


@ln.kernel
def squares_in_tiles(C, A):
    w = ln.temp(ln.Dense(ln.Element(0.0)))
    C[...] = 0
    for i in range(A.shape[0]):
        for t in range(ln.parts(range(A.shape[1]), 3)):
            ln.declare(w, 0, (A.shape[1],))
            for j in ln.part(range(A.shape[1]), t, 3):
                w[j] += A[i, j]
            for j in ln.part(range(A.shape[1]), t, 3):
                C[i, j] = w[j] * A[i, j]
    return C


def format_of(letters, leaf):
    for letter in reversed(letters):
        leaf = LEVELS[letter](leaf)
    return leaf


def operand(letters, *shape, dtype="float64", fill=0):
    """Rows of few values, neighbours often alike; where a level has one of them, so has each row.

    One row is empty, and what a level has one of lies where a part ends.
    """
    rng = np.random.default_rng([7, *shape])
    values = np.repeat(rng.integers(1, 4, shape), 2, axis=-1)[..., : shape[-1]]
    values[rng.random(shape) < 0.3] = 0
    values[1:2] = 0
    if letters[-1] in "PI":
        values[:] = 0
        values[::2, ..., 2 : 3 if letters[-1] == "P" else 5] = 2
    if letters[0] == "P":
        values[np.arange(len(values)) != 2] = 0
    values = values.astype(dtype)
    values[values == 0] = fill
    return ln.asarray(values, format=format_of("L" * len(shape), ln.Element(fill, dtype)))


def same_arrays(found, plain):
    for name, array in plain.buffers.items():
        assert np.array_equal(array, found.buffers[name]), name


def agree(kernel, text, letters, A, leaf, *others):
    """Both store the same, in the same places; says what the scheduled one writes to first."""
    plain = kernel(ln.empty_tensor(format_of(letters, leaf)), A, *others)
    scheduled = kernel.schedule().apply(text) if isinstance(text, str) else text
    given = ln.empty_tensor(format_of(letters, leaf)), A, *others
    found = scheduled(*given)
    assert np.array_equal(found.to_numpy(), plain.to_numpy())
    if not TABLES & {*letters}:
        same_arrays(found, plain)
    given = ln.empty_tensor(format_of(letters, leaf)), A, *others
    scheduled.visits(*given)  # what is claimed is checked
    return ln.explain(scheduled, *given)["workspaces"]


ABOVE, BELOW = "DLCHMPBV", "LCHMPBVRSI"
TWO = [(a + b, PARTS[(n + k) % 4]) for n, a in enumerate(ABOVE) for k, b in enumerate(BELOW)]


@pytest.mark.parametrize(("letters", "text"), TWO)
def test_rows_that_go_on(letters, text):
    """Rows of every level are gone on with, below every level whose entries can come again."""
    A = operand(letters, 6, 9)
    said = agree(copied, f"{PAIRS} {text.format(4)}", letters, A, ln.Element(0.0))
    assert "C_w" not in said


@pytest.mark.parametrize("letters", ["RL", "SL", "IL", "RR", "SS", "LRL", "DSR"])
def test_a_run_that_may_have_been_joined_with_another_is_not_gone_on_with(letters):
    """What has come to be part of the run before it has no place of its own any more."""
    A = operand(letters, *(6, 5, 9)[-len(letters) :])
    if "I" in letters:
        A = ln.asarray(np.where(np.arange(5)[:, None] < 2, A.to_numpy(), 0)[1:], format=ln.CSR)
    kernel, text = (copied, PAIRS) if len(letters) == 2 else (deep, TRIPLES)
    said = agree(kernel, f"{text} {PARTS[1].format(4)}", letters, A, ln.Element(0.0))
    assert "C_w" in said


INNER = "LLR LDL LBR BRL VRR DRS BVI CRB LRL LSL DIL MRL HSV LBI PRL VBR LRD BSD".split()


@pytest.mark.parametrize("letters", INNER)
def test_fibers_below_rows_that_go_on(letters):
    """Parts end between the fibers of a row, each of which is written in one."""
    A, x = operand(letters[:2], 6, 9), ln.asarray([0.0, 2, 2, 0, 0], format=ln.CSF(1))
    said = agree(outer, f"{PAIRS} {PARTS[0].format(4)}", letters, A, ln.Element(0.0), x)
    assert "C_w" not in said


DEEP = "LLR LBB VVV BLS DLI CVR LDR DDB HLR BBL MLS".split()


@pytest.mark.parametrize(("letters", "part"), zip(DEEP, PARTS * 3, strict=False))
@pytest.mark.parametrize("kernel", [deep, large])
def test_parts_that_end_within_fibers_of_rows(kernel, letters, part):
    A = operand(letters, 4, 3, 7)
    said = agree(kernel, f"{TRIPLES} {part.format(4)}", letters, A, ln.Element(0.0))
    assert "C_w" not in said


@pytest.mark.parametrize(("dtype", "size"), [("bool", 1), ("int8", 4), ("complex128", 100)])
@pytest.mark.parametrize("letters", ["LB", "DV", "VR", "BS", "DI"])
def test_other_dtypes_and_parts(letters, dtype, size):
    A = operand(letters, 5, 8, dtype=dtype)
    agree(copied, f"{PAIRS} {PARTS[0].format(size)}", letters, A, ln.Element(dtype=dtype))


@pytest.mark.parametrize("letters", [a + b for a in "DLB" for b in "LBVRSI"])
def test_another_fill_value(letters):
    A = operand(letters, 6, 9, fill=1)
    said = agree(copied_above_one, f"{PAIRS} {PARTS[1].format(4)}", letters, A, ln.Element(1.0))
    assert "C_w" not in said


@pytest.mark.parametrize("letters", [a + b for a in "DLVP" for b in "LBVRSI"])
def test_parts_for_each_of_which_something_is_done_before(letters):
    """The row is opened for each of them, and not around all."""
    A = operand(letters, 6, 9)
    if letters == "PI":
        A = ln.asarray(A.to_numpy(), format=ln.CSR)
    plain = squares(ln.empty_tensor(format_of(letters, ln.Element(0.0))), A)
    found = squares_in_tiles(ln.empty_tensor(format_of(letters, ln.Element(0.0))), A)
    same_arrays(found, plain)


@pytest.mark.parametrize("below", "LBVRSI")
def test_a_second_element_is_refused_whatever_is_gone_on_with(below):
    """Rows share the fiber below a level that has one of them."""
    A = operand("LL" if below != "I" else "LI", 6, 9)
    scheduled = copied.schedule().apply(f"{PAIRS} {PARTS[0].format(4)}")
    for kernel in (copied, scheduled):
        with pytest.raises(ln.errors.FormatError, match="a second"):
            kernel(ln.empty_tensor(format_of("P" + below, ln.Element(0.0))), A)


def test_levels_without_pointers_below_others_that_skip():
    A, x = operand("DI", 6, 9), ln.asarray([0.0, 2, 2, 0, 0], format=ln.CSF(1))
    found = above(ln.empty_tensor(format_of("BII", ln.Element(0.0))), A, x)
    assert np.array_equal(found.to_numpy(), (A.to_numpy()[:, :, None] * [0.0, 2, 2, 0, 0]))
