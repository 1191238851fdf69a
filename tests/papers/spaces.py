"""Spaces of ARRAY: its functions, vectors for all regions of a diagram, and what loops visit."""

from __future__ import annotations

from itertools import product

import numpy as np

import linnet as ln
from linnet.algebra import regions
from linnet.algebra.lattice import Lattice, U
from linnet.algebra.regions import equivalent, holds, parse, show
from linnet.formats.assemble import unpack
from linnet.normalize.spaces import spaces_of

INF = np.inf
COPIES = 3  # coordinates in every region of the diagram


@ln.function(commutative=True, annihilator=0)
def bitwise_and(x, y):
    return x & y


@ln.function(commutative=True, iteration_space="(x | y) & ~(x & y)", fills=False)
def xor(x, y):
    return x != y


def vectors(names: str, fills: dict[str, object], dtype: str) -> dict[str, ln.Tensor]:
    """Vectors whose stored coordinates make up all regions of a diagram."""
    rng = np.random.default_rng(len(names))
    subsets = [s for s in product((False, True), repeat=len(names)) for _ in range(COPIES)]
    rng.shuffle(subsets)
    found = {}
    for k, name in enumerate(names):
        where = [i for i, s in enumerate(subsets) if s[k]]
        values = (rng.integers(2, 6, len(where)) if dtype != "bool" else np.ones(len(where))) > 0
        if dtype != "bool":
            values = rng.integers(2, 6, len(where))
        found[name] = ln.tensor(
            [where],
            values.astype(dtype),
            (len(subsets),),
            format=ln.CSF(1),
            fill_value=fills.get(name, False if dtype == "bool" else 0),
        )
    return found


def stored(tensor: ln.Tensor) -> set[int]:
    return set(unpack(tensor)[0][0].tolist())


def region_of(kernel: ln.Kernel, tensors: dict[str, ln.Tensor]) -> regions.Region:
    formats = {name: t.format for name, t in tensors.items()}
    (found,) = spaces_of(kernel.program, formats)
    names = {f"{name}[i]": regions.Leaf(name) for name in tensors}
    return regions.substitute(found.lattice.region, names)


def lattice_of(kernel: ln.Kernel, tensors: dict[str, ln.Tensor]) -> set[str]:
    """The points of a kernel's only loop, as words; those that are passed over with a cross."""
    (found,) = spaces_of(kernel.program, {name: t.format for name, t in tensors.items()})
    producers, omitters = points(found.lattice)
    words = producers | {f"×{word}" for word in omitters}
    return {word.replace("[i]", "") for word in words}


def check(kernel: ln.Kernel, tensors: dict[str, ln.Tensor], text: str, words: str) -> ln.Tensor:
    """The space and its lattice are as said; the result stores just that, and is as it means.

    Loops take a turn for every value that is stored, at the most, and for what is nowhere stored.
    """
    region = parse(text)
    result = kernel.program.params[0]
    found = region_of(kernel, tensors)
    assert equivalent(found, region), show(found)
    assert lattice_of(kernel, tensors) == set(words.split())
    size = next(iter(tensors.values())).shape[0]
    where = {name: stored(t) for name, t in tensors.items()}
    inside = {i for i in range(size) if holds(region, lambda name: i in where[name])}  # noqa: B023
    args = [tensors[name] for name in kernel.program.params[1:]]
    most = sum(map(len, where.values())) + len(inside.difference(*where.values()))
    found = kernel.visits(ln.empty_tensor(ln.CSF(1)), *args)
    turns = found.total - found.get("gcd", 0)  # which has a loop of its own
    assert len(inside) <= turns <= most
    out = kernel(ln.empty_tensor(ln.CSF(1)), *args)
    assert stored(out) == inside
    expected = kernel.reference(ln.empty_tensor(ln.CSF(1)), *args)[result]
    np.testing.assert_array_equal(out.to_numpy(), expected)
    return out


def points(found: Lattice) -> tuple[set[str], set[str]]:
    """The producers and the omitters, each as a word of its tensors."""

    def words(sets) -> set[str]:
        return {"".join(sorted(s, key=lambda n: (n == U, n))) for s in sets}

    return words(found.producers), words(found.omitters)
