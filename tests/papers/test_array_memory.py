"""ARRAY §8: what experiments take is the memory of their operands and of their result.

Bytes are counted by the allocator, between the beginning of a call and its end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.papers.test_work_memory import allocator  # noqa: F401  # a fixture

EXPERIMENTS = Path(__file__).with_name("experiments.py")
ROWS = 20_000 * 24  # bytes: a row of tables and lists, and what is beside the arrays
KNOWN = (
    "logical_xor", "ldexp", "right_shift", "power", "xor_and", "mxv min plus", "mxv or and",
    "masked mxm", "edges", "minimax",
)  # fmt: skip
GROWN = ("windows", "strides", "mxm min plus")  # whose entries are not known before


@pytest.fixture(scope="module")
def counted(request):
    """By experiment: the bytes it takes at its most, those of its result, and those of bounds."""
    library = request.getfixturevalue("allocator")
    done = subprocess.run(
        [sys.executable, str(EXPERIMENTS)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"LD_PRELOAD": str(library), "LINNET_CHECK": "0"},  # which copies
    )
    assert done.returncode == 0, done.stderr
    assert {*json.loads(done.stdout)} == {*KNOWN, *GROWN, "scaled log1p"}
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", KNOWN)
def test_memory_is_that_of_operands_and_the_result(name, counted):
    """Beside the operands: the result, or as many entries as the operand has that bounds it."""
    most, result, bounds = counted[name]
    assert most <= max(result, bounds) + (ROWS if bounds else 4096)
    assert name == "minimax" or result <= most  # it is counted; a number has memory of NumPy


@pytest.mark.parametrize("name", GROWN)
def test_results_that_grow_take_less_than_twice_their_memory(name, counted):
    """What is there and what it is copied to; rows that are done tell how much there will be."""
    most, result, _ = counted[name]
    assert result <= most <= 1.7 * result + ROWS


def test_the_chain_takes_no_array_of_the_size_of_its_operand(counted):
    """Beside the means and variances of 2000 columns: four vectors at most, of sums and squares.

    The operand has 0.2 M values; the matrix that is scaled has as many, and is nowhere.
    """
    most, result, operand = counted["scaled log1p"]
    assert result <= most <= result + 4 * 8 * 2000 + 4096
    assert 20 * most < operand
