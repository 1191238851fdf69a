"""The public names: what there is, that it says what it does, and that its examples run."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import numpy as np
import pytest

import linnet as ln

NAMES = """
    kernel temp scalar asarray tensor from_buffers empty_tensor gallop walk follow choose coalesce
    config explain Kernel Tensor Format Function errors testing LinnetError declare freeze thaw fill
    Dense SparseList SparseCOO SparseByteMap SparseHash Element Pattern
    CSR CSC DCSR DCSC COO CSF DENSE SCALAR
    read write assembly draw function semiring semirings Semiring check_properties
    add subtract multiply minimum maximum where sqrt exp logical_or hypot
    zeros ones full eye diag arange random sum prod mean var min max any all reshape concat stack
    take
    kron block vstack hstack topk groupby matmul tensordot sort argmax unique_all clip tril triu
    astype
""".split()
DOCUMENTED = [
    n for n in NAMES if inspect.isfunction(getattr(ln, n)) or inspect.isclass(getattr(ln, n))
]


@pytest.mark.parametrize("name", NAMES)
def test_name_is_there_and_listed(name: str):
    assert getattr(ln, name) is not None
    assert name in dir(ln)


def test_other_names_of_functions_lead_to_the_same():
    assert ln.arcsin is ln.asin
    assert ln.mod is ln.remainder
    assert ln.float32 is np.float32


@pytest.mark.parametrize("name", ["nonsense", "_by_nothing"])
def test_names_that_are_not_there(name: str):
    assert not hasattr(ln, name)


def test_no_module_takes_the_place_of_a_name():
    """Importing `linnet.explain` would put the module where the function is."""
    modules = {path.stem for path in Path(ln.__file__).parent.iterdir()}
    later = {*ln._LATER, *ln._NAMES, *ln._SPACES}
    assert {"explain", "einsum", "read"} <= later
    assert not modules & later


@pytest.mark.parametrize("name", DOCUMENTED)
def test_name_says_what_it_does(name: str):
    assert inspect.getdoc(getattr(ln, name))


@pytest.mark.parametrize("cls", [ln.Tensor, ln.Kernel, ln.Format], ids=lambda c: c.__name__)
def test_members_say_what_they_do(cls: type):
    own = {m: f for m, f in vars(cls).items() if not m.startswith("_")}
    said = [m for m, f in own.items() if isinstance(f, property) or callable(f)]
    assert len(said) > 4
    assert not [m for m in said if not inspect.getdoc(getattr(cls, m))]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_examples_in_docstrings(name: str):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for test in finder.find(getattr(ln, name), name, globs={"ln": ln}):
        result = runner.run(test)
        assert result.failed == 0
