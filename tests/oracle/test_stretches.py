"""Products whose rows have stretches, most of them around the same places."""

from __future__ import annotations

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet.frontend.text import parse_text

TEXT = """def f(C, A, B):
    w = ln.temp(ln.SparseByteMap(ln.Element({fill})))
    C[...] = {fill}
    for i in ...:
        w[...] = {fill}
        for k, j in ...:
            {update}
        for j in ...:
            C[i, j] = w[j]
    return C
"""
UPDATES = {
    "product": (0, "w[j] += A[i, k] * B[k, j]"),
    "greatest": (0, "w[j] = max(w[j], A[i, k] * B[k, j])"),
    "by place": (0, "w[j] += A[i, k] * B[k, j] * (j - 70)"),
}
DTYPES = ("float64", "float32", "int64", "int32", "int16")
COLUMNS = (17, 63, 64, 65, 66, 67, 100, 128, 130, 200)


@st.composite
def matrices(draw: st.DrawFn, rows: int, columns: int, dtype: str) -> np.ndarray:
    """Rows of stretches, most of them around the same places, so that they meet."""
    found = np.zeros((rows, columns), dtype)
    begins = st.one_of(st.sampled_from((0, 30, 57, 61, 62, 63, 64, 120)), st.integers(0, columns))
    ends = st.one_of(st.sampled_from((16, 63, 64, 65, 80, 128, 140)), st.integers(0, columns))
    for row in found:
        for begin, end in draw(st.lists(st.tuples(begins, ends), max_size=3)):
            row[begin:end] = draw(st.integers(1, 3))
    return found


@given(data=st.data())
def test_stretches(data: st.DataObject) -> None:
    columns, dtype = data.draw(st.sampled_from(COLUMNS)), data.draw(st.sampled_from(DTYPES))
    fill, update = UPDATES[data.draw(st.sampled_from(sorted(UPDATES)))]
    A = data.draw(matrices(3, 4, dtype))
    B = data.draw(matrices(4, columns, dtype))
    text = TEXT.format(fill=fill, update=update)
    note(text)
    args = {
        "C": ln.empty_tensor(ln.CSR.with_dtype(dtype)),
        "A": ln.asarray(A).to(ln.CSR),
        "B": ln.asarray(B).to(ln.CSR),
    }
    check(Subject.of(parse_text(text), args), args, BACKENDS)
