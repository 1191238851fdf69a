"""From a program to its code: the sum of the upper triangle (FINCH §6, Figs. 17 and 18).

Normalization says what was left unsaid: the extents of the loops, where `s` begins and ends being
written. Lowering then goes through the loops, outermost first. In the loop over `i` the stored
entries of a column meet a mask that is true up to `j`: what is beyond is false, so nothing is done
there, and what is between the entries is 0, so nothing is added. Left is a walk that stops at `j`.

`python examples/finch/lowering.py`
"""

from __future__ import annotations

import numpy as np

import linnet as ln


@ln.kernel
def upper_triangle(s, A):
    s[...] = 0
    for j, i in ...:
        if i <= j:
            s[()] += A[i, j]
    return s


# The paper's format first: columns, each a list of entries. The others store the same matrix.
FORMATS = {
    "lists": ln.CSC,
    "dense": ln.DENSE(2).with_order(1, 0),
    "bands": ln.BAND.with_order(1, 0),
    "blocks": ln.BLOCK.with_order(1, 0),
    "runs": ln.RLE.with_order(1, 0),
}


def stages(A: ln.Tensor) -> dict[str, str]:
    """The program as written, as normalized, how it is lowered, and its loops as C."""
    made = ln.explain(upper_triangle, ln.scalar(0.0), A)
    code = made["code"]
    loops = code[code.index("  double s = 0;") : code.index("  s_val[0] = s;")]
    return {
        "program": made["program"],
        "normalized": made["lifecycles"],
        "steps": made["lowering"],
        "loops": loops,
    }


def matrix(n: int = 8) -> np.ndarray:
    """Runs of equal values down the columns, around the diagonal."""
    i, j = np.indices((n, n))
    return np.where(abs(i - j) <= 3, 1.0 + (i >= j), 0)


def main() -> None:
    a = matrix()
    for name, format in FORMATS.items():
        A = ln.asarray(a, format=format)
        assert upper_triangle(ln.scalar(0.0), A).item() == np.triu(a).sum()
        made = stages(A)
        if name == "lists":
            print(made["program"], made["normalized"], made["steps"], sep="\n\n")
        print(f"\n{name}:\n{made['loops'].rstrip()}")


if __name__ == "__main__":
    main()
