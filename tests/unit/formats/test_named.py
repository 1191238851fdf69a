"""Formats with names, families, and every way to say a format."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linnet.errors import FormatError
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.named import (
    COO,
    CSC,
    CSF,
    CSR,
    DCSC,
    DCSR,
    DENSE,
    SCALAR,
    as_format,
    override,
    permute,
    recognize,
    settle,
    stack,
)
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_list import SparseList


def test_what_the_names_mean():
    assert stack(Dense(SparseList(Element()))) == CSR
    assert stack(Dense(SparseList(Element())), (1, 0)) == CSC
    assert stack(SparseList(SparseList(Element()))) == DCSR
    assert stack(SparseList(SparseList(Element())), (1, 0)) == DCSC
    assert COO(3) == stack(SparseCOO(3, Element()))
    assert CSF(3) == stack(SparseList(SparseList(SparseList(Element()))))
    assert DENSE(2) == stack(Dense(Dense(Element())))
    assert COO(0) == CSF(0) == DENSE(0) == SCALAR


def test_they_print_as_they_are_said():
    assert [repr(f) for f in (CSR, CSC, DCSR, DCSC)] == ["CSR", "CSC", "DCSR", "DCSC"]
    assert [repr(f) for f in (COO(2), CSF(3), DENSE(1), COO)] == [
        "COO(2)",
        "CSF(3)",
        "DENSE(1)",
        "COO",
    ]
    assert repr(CSR.with_fill(1.0)) == "CSR"
    assert repr(stack(Dense(SparseList(Element(0.0))))) == "Dense(SparseList(Element(0.0)))"


def test_a_family_may_have_a_fill_and_a_dtype():
    format = COO.with_fill(np.inf).with_dtype("float32")(2)
    assert (format.fill_value, format.dtype, format.ndim) == (np.inf, "float32", 2)
    assert as_format(CSF.with_fill(1.0), 3).fill_value == 1.0


@pytest.mark.parametrize("said", [CSR, Dense(SparseList(Element())), "csr", "CSR", "Csr"])
def test_ways_to_say_csr(said):
    assert as_format(said, 2) == CSR
    assert as_format(said) == CSR


@pytest.mark.parametrize("said", [COO, "coo", COO(3)])
def test_families_take_the_number_of_dimensions(said):
    assert as_format(said, 3) == COO(3)


@pytest.mark.parametrize(
    ("said", "ndim", "text"),
    [
        (CSR, 3, "the format CSR stores 2 dimensions, and the data has 3"),
        ("coo", None, "family of formats"),
        ("crs", 2, "'crs' is not a format"),
        (3, 2, "3 is not a format"),
        (None, 2, "None is not a format"),
        (SparseList, 2, "is not a format"),
    ],
)
def test_what_is_no_format(said, ndim, text):
    with pytest.raises(FormatError, match=text):
        as_format(said, ndim)


@pytest.mark.parametrize("ndim", [-1, 1.5, "2", True])
def test_a_family_wants_a_number(ndim):
    with pytest.raises(FormatError, match="COO takes a number of dimensions"):
        COO(ndim)


def test_levels_over_different_leaves_are_shared():
    a, b = stack(Dense(SparseList(Element(0.0)))), stack(Dense(SparseList(Element(1, "int32"))))
    assert a.levels[:-1] == b.levels[:-1]
    assert a.with_fill(1).with_dtype("int32") == b
    assert hash(a.with_fill(1).with_dtype("int32")) == hash(b)


def test_settle_keeps_what_the_format_says():
    assert settle(CSR, "int8").dtype == "int8"
    assert settle(CSR, "int8").fill_value == 0
    assert type(settle(CSR, "float32").fill_value) is float
    fixed = CSR.with_dtype("float32").with_fill(2.0)
    assert settle(fixed, "int8", 7) == fixed
    assert settle(CSR, "bool", True).fill_value is True


def test_override_wins():
    fixed = CSR.with_dtype("float32").with_fill(2.0)
    assert override(fixed, None, None) == fixed
    assert override(fixed, "int8", None).fill_value == 2
    assert override(fixed, None, np.float64(np.inf)).fill_value == float("inf")


def test_a_pattern_stays_one():
    format = stack(SparseList(Pattern()))
    assert settle(format, "bool") == format
    with pytest.raises(FormatError, match="Pattern"):
        override(format, "float64", None)
    with pytest.raises(FormatError, match="Pattern"):
        override(format, None, True)


def test_permute():
    assert permute(CSR, (1, 0)) == CSC
    assert permute(CSR, (1, 0)).name == "CSC"
    assert permute(permute(CSF(3), (2, 0, 1)), (1, 2, 0)) == CSF(3)


def test_recognize():
    assert recognize(stack(Dense(SparseList(Element(0.0, "float32"))))).name == "CSR"
    assert recognize(stack(SparseCOO(4, Element()))).name == "COO(4)"
    assert recognize(stack(SparseCOO(2, SparseList(Element())))).name is None
    assert recognize(stack(Dense(SparseList(Pattern())))).name is None


@pytest.mark.parametrize("family", [COO, CSF, DENSE, CSF.with_fill(-1.0)], ids=repr)
def test_families_are_pickled(family):
    again = pickle.loads(pickle.dumps(family))
    assert again == family
    assert again(3) == family(3)
