"""Counts of genes in cells, prepared as scanpy does it: quality, filters, normalisation, groups.

The matrix stays CSR from the first step to the last. Every step is checked against NumPy.
"""

from __future__ import annotations

import numpy as np

import linnet as ln


def counts(cells: int, genes: int) -> ln.Tensor:
    rng = np.random.default_rng(0)
    return ln.random(
        (cells, genes), 0.08, format="csr", rng=rng, sampler=lambda n: rng.geometric(0.3, n)
    )


@ln.fuse
def log_normalized(X, target):
    """Each cell scaled to one total, then log1p: one expression, no matrix in between."""
    return ln.log1p(X * (target / ln.sum(X, axis=1, keepdims=True)))


def main() -> None:
    X = counts(600, 400)
    dense = X.to_numpy()

    # quality: what each cell holds, and in how many cells each gene is seen
    totals, seen = X.sum(axis=1), ln.count_nonzero(X, axis=0)
    assert np.array_equal(totals.to_numpy(), dense.sum(1))
    assert np.array_equal(seen.to_numpy(), (dense != 0).sum(0))

    # filters: masks of cells and genes
    X = X[totals > 80][:, seen > 40]
    dense = dense[dense.sum(1) > 80][:, (dense != 0).sum(0) > 40]
    assert np.array_equal(X.to_numpy(), dense)
    print("kept", X.shape, "as", X.format, "with", X.nnz, "values stored")

    Y = log_normalized(X, 1e4)
    expected = np.log1p(dense * (1e4 / dense.sum(1, keepdims=True)))
    assert np.allclose(Y.to_numpy(), expected)
    assert Y.nnz == X.nnz

    # the genes that vary most, and their values, clipped
    mean, variance = Y.mean(axis=0), Y.var(axis=0, correction=1)
    assert np.allclose(mean.to_numpy(), expected.mean(0))
    assert np.allclose(variance.to_numpy(), expected.var(0, ddof=1))
    _, genes = ln.topk(variance / mean, 50)
    Z = ln.clip(ln.take(Y, genes, axis=1), max=6.0)
    assert np.allclose(Z.to_numpy(), np.clip(expected[:, genes.to_numpy()], None, 6))
    print("50 genes:", repr(Z))

    # sums and means by label
    labels = np.random.default_rng(1).choice(["B cell", "monocyte", "T cell"], X.shape[0])
    groups = ln.groupby(labels)
    for row, label in enumerate(groups.keys):
        part = expected[labels == label]
        assert np.allclose(groups.sum(Y).to_numpy()[row], part.sum(0))
        assert np.allclose(groups.mean(Y).to_numpy()[row], part.mean(0))
        assert np.allclose(groups.var(Y).to_numpy()[row], part.var(0))
    for label, count in zip(groups.keys, groups.count().to_numpy(), strict=True):
        print(f"{label}: {count} cells")


if __name__ == "__main__":
    main()
