"""A part of the fuzz of files that is the same each time; `make deep-files` goes on with others."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.files import fuzz, seeds

import linnet as ln

CASES = 150  # of each kind


@pytest.mark.parametrize("kind", seeds.KINDS)
def test_sound_files_are_read_and_used(tmp_path: Path, kind: str):
    for number, fields in enumerate(seeds.seeds(kind)):
        path = tmp_path / f"{number}.{kind}"
        seeds.SAVE[kind](path, fields)
        tensor = ln.read(path)
        fuzz.use(tensor, Random(number), tmp_path)
        fuzz.compare(tensor, path, kind)


@pytest.mark.parametrize("kind", seeds.KINDS)
def test_changed_files_are_refused_or_sound(tmp_path: Path, kind: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = Counter(fuzz.run(kind, number, tmp_path) for number in range(CASES))
    assert outcomes["read"] > CASES / 20
    assert outcomes[fuzz.REFUSED] > CASES / 5
    assert outcomes[fuzz.UNWRITABLE] < CASES / 2
