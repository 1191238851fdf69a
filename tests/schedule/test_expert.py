"""What an expert would write for the paper's schedules, as facts about the code that is made.

Room for a result is made once where its size is known; where a part begins is known from the one
before it, and not searched for; a row of a result is cleared once; dense rows are walked innermost.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.schedule.test_paper import mttkrp, sddmm, spmm, ttm, ttv

import linnet as ln

SPLIT = "split(i, i0, i1, 16)"
POSITIONS = f"{SPLIT} pos(k, kpos, B) split(kpos, kpos0, kpos1, 8)"
FIBERS = "collapse(i, j, f) pos(f, fpos, B) split(fpos, chunk, fpos2, 16)"


@ln.kernel
def scale(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * 2
    return C


def matrix(*shape, density=0.3):
    rng = np.random.default_rng([4, *shape])
    return rng.random(shape) * (rng.random(shape) < density)


def sparse(*shape, density=0.3):
    return ln.asarray(matrix(*shape, density=density), format=ln.CSF(len(shape)))


def rows(*shape, density=0.3):
    return ln.asarray(matrix(*shape, density=density), format=ln.CSR)


def code_of(kernel, text, result, *operands):
    """The kernel in C, from where its loops begin."""
    scheduled = kernel.schedule().apply(text)
    code = ln.explain(scheduled, ln.empty_tensor(result), *operands)["code"]
    return code[code.index("(i64 *restrict args)") :]


def visits_of(kernel, text, result, *operands):
    return kernel.schedule().apply(text).visits(ln.empty_tensor(result), *operands)


ONCE = [
    (scale, "split(j, j0, j1, 8)", ln.CSR, (rows(40, 60),)),
    (scale, "split(i, i0, i1, 16)", ln.CSR, (rows(40, 60),)),
    (scale, "pos(j, p, A) split(p, p0, p1, 8)", ln.CSR, (rows(40, 60),)),
    (scale, "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 8)", ln.CSR, (rows(40, 60),)),
    (sddmm, POSITIONS, ln.CSR, (rows(40, 60), np.ones((40, 9)), np.ones((9, 60)))),
    (spmm, SPLIT, ln.DENSE(2), (rows(40, 60), np.ones((60, 16)))),
]


@pytest.mark.parametrize(("kernel", "text", "result", "operands"), ONCE)
def test_room_is_made_before_all_loops(kernel, text, result, operands):
    """An operand has as many entries: parts of its rows ask for no more than all of them."""
    code = code_of(kernel, text, result, *operands)
    assert re.search(r"^  if \(grow\(", code, re.MULTILINE)
    assert not re.search(r"^   +if \(grow", code, re.MULTILINE)


def test_parts_of_rows_begin_where_the_last_ones_have_ended():
    """One search for each part, from there on."""
    A = rows(40, 60)
    code = code_of(scale, "split(j, j0, j1, 8)", ln.CSR, A)
    assert code.count("gallop_") == 1
    assert "search_" not in code
    visits = visits_of(scale, "split(j, j0, j1, 8)", ln.CSR, A)
    assert visits["gallop"] + visits["search"] <= visits["j0"]  # others end where they begin


def test_chunks_of_fibers_have_room_before_all_of_them():
    """There are as many sums as fibers, though a chunk may have some of several rows."""
    B = sparse(9, 12, 10)
    code = code_of(ttv, f"{FIBERS} reorder(chunk, fpos2, k)", ln.CSF(2), B, np.ones(10))
    asked = re.findall(r"^( +)if \(grow\w*\((A2_idx|A_val),", code, re.MULTILINE)
    assert asked == [("  ", "A2_idx"), ("  ", "A_val")]


CLEARED = [
    (spmm, f"{SPLIT} pos(j, p, A) split(p, p0, p1, 8) reorder(i0, i1, p0, k, p1)", (40, 16),
     (rows(40, 60), np.ones((60, 16)))),
    (sddmm, f"{POSITIONS} reorder(i0, i1, kpos0, j, kpos1)", (40, 60),
     (rows(40, 60), np.ones((40, 9)), np.ones((9, 60)))),
    (ttv, f"{FIBERS} reorder(chunk, fpos2, k)", (9, 12), (sparse(9, 12, 10), np.ones(10))),
    (ttm, f"{FIBERS} pos(k, kp, B) split(kp, kp0, kp1, 8) reorder(chunk, fpos2, kp0, l, kp1)",
     (9, 12, 16), (sparse(9, 12, 10), np.ones((10, 16)))),
    (mttkrp, "split(i, i1, i2, 16) reorder(i1, i2, k, l, j)", (9, 16),
     (sparse(9, 12, 10), np.ones((12, 16)), np.ones((10, 16)))),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "text", "shape", "operands"), CLEARED)
def test_each_element_of_a_dense_result_is_cleared_once(kernel, text, shape, operands):
    visits = visits_of(kernel, text, ln.DENSE(len(shape)), *operands)
    name = str(kernel).split("(")[1].split(",")[0]
    assert visits[f"fill {name}"] <= np.prod(shape)


@pytest.mark.parametrize(("kernel", "text", "shape", "operands"), CLEARED[3:4] + CLEARED[:1])
def test_dense_rows_are_walked_innermost(kernel, text, shape, operands):
    """Vectors go along rows of the factor, though the schedule has positions innermost."""
    code = code_of(kernel, text, ln.DENSE(len(shape)), *operands)
    index = "l" if kernel is ttm else "k"
    loops = re.findall(r"^ *for \(i64 (\w+) =", code, re.MULTILINE)
    assert re.fullmatch(rf"{index}(_\d+)?", loops[-1])
