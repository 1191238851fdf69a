"""The even indices that two lists share, in four ways (FINCH §1, Fig. 2).

All four give the same list. They differ in what they store on the way, and in what they look at:
the first tests only the indices that both lists have, the last makes a list of all even ones.

`python examples/finch/intersection.py`
"""

from __future__ import annotations

import numpy as np

import linnet as ln

LIST = ln.SparseList(ln.Element(0.0))


# In one go: one loop over both lists, and a test where they meet.
@ln.kernel
def at_once(c, a, b):
    c[...] = 0
    for i in ...:
        if i % 2 == 0:
            c[i] = a[i] * b[i]
    return c


# First the even entries of one list, then the intersection of what is left with the other.
@ln.kernel
def before(c, a, b):
    evens = ln.temp(LIST)
    evens[...] = 0
    for i in ...:
        if i % 2 == 0:
            evens[i] = a[i]
    c[...] = 0
    for i in ...:
        c[i] = evens[i] * b[i]
    return c


# First the intersection, then its even entries.
@ln.kernel
def after(c, a, b):
    shared = ln.temp(LIST)
    shared[...] = 0
    for i in ...:
        shared[i] = a[i] * b[i]
    c[...] = 0
    for i in ...:
        if i % 2 == 0:
            c[i] = shared[i]
    return c


# The even indices as a third list.
@ln.kernel
def as_a_list(c, a, b):
    even = ln.temp(LIST)
    even[...] = 0
    for i in range(a.shape[0]):
        if i % 2 == 0:
            even[i] = 1
    c[...] = 0
    for i in ...:
        c[i] = a[i] * b[i] * even[i]
    return c


STRATEGIES = (at_once, before, after, as_a_list)


def plain(a: dict[int, float], b: dict[int, float]) -> dict[int, float]:
    """The same with dictionaries, to check against."""
    return {i: a[i] * b[i] for i in sorted(a.keys() & b.keys()) if i % 2 == 0}


def lists(n: int, stored: int, seed: int = 0) -> tuple[dict[int, float], dict[int, float]]:
    """Two lists of random integers, with values."""
    rng = np.random.default_rng(seed)
    chosen = (rng.choice(n, stored, replace=False) for _ in range(2))
    return tuple({int(i): float(rng.integers(1, 9)) for i in some} for some in chosen)


def as_tensor(entries: dict[int, float], n: int) -> ln.Tensor:
    return ln.tensor([list(entries)], list(entries.values()), (n,), format=LIST)


def main() -> None:
    n = 10_000
    a, b = lists(n, 2_000)
    expected = plain(a, b)
    for strategy in STRATEGIES:
        c = strategy(ln.empty_tensor(LIST), as_tensor(a, n), as_tensor(b, n))
        found = dict(zip(c.buffers["idx0"].tolist(), c.buffers["val"].tolist(), strict=True))
        assert found == expected
        print(f"{strategy.__name__:10} {c!r}")
    tensors = ln.empty_tensor(LIST), as_tensor(a, n), as_tensor(b, n)
    print("\nat_once is one loop:\n")
    print(loops_of(at_once.code(*tensors)))


def loops_of(code: str) -> str:
    """The loops of a kernel, without what comes before and after them."""
    start = code.index("  while")
    return code[start : code.index("  args[", start)]


if __name__ == "__main__":
    main()
