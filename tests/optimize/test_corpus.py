"""Kernels of the corpus: interpreted code, machine code and the meaning of their loops agree."""

from __future__ import annotations

import pytest
from tests.optimize.changes import changes
from tests.optimize.corpus import Program
from tests.optimize.data import arguments
from tests.optimize.programs import CORPUS, FAMILIES
from tests.oracle.check import KINDS, Subject, check

CHANGED = [
    pytest.param(changed, id=f"{program.name}, {name}", marks=[] if quick else pytest.mark.slow)
    for k, program in enumerate(CORPUS)
    for n, (name, changed) in enumerate(changes(program))
    for quick in [n == k % 6]
]


def agrees(program: Program, seed: int) -> None:
    """Run it on few and on many values, with workspaces of one kind, or of those that fit."""
    kinds = KINDS[seed % len(KINDS)]
    subject = Subject.of(program.program, arguments(program), kinds)
    for density in (0.4, 1.0) if seed % 3 else (0.4, 0.0):
        check(subject, arguments(program, seed, density), ("llvm",))


def test_the_corpus_is_wide():
    assert len(CORPUS) >= 60
    assert len(FAMILIES) >= 12
    assert len({p.name for p in CORPUS}) == len(CORPUS)
    assert min(len(list(changes(p))) for p in CORPUS) >= 2


@pytest.mark.parametrize("program", CORPUS, ids=lambda p: p.name)
def test_kernels(program: Program):
    agrees(program, CORPUS.index(program))


@pytest.mark.parametrize("program", CHANGED)
def test_changed_kernels(program: Program):
    agrees(program, len(program.text))
