"""Heat in a plate that conducts the better the warmer it is: triangles, assembly, CG.

The mesh stays and the coefficients change in every round: the coordinates of all entries are looked
at once, by `ln.assembly`, and each round makes new values. Where SciPy is installed, it assembles
and solves the last round as well.
"""

from __future__ import annotations

import numpy as np
from conjugate_gradients import conjugate_gradients

import linnet as ln


def square(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The unit square in n × n squares of two triangles: where the nodes are, and whose corners."""
    x, y = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1), indexing="ij")
    first = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    lower = np.stack([first, first + n + 1, first + n + 2], axis=1)
    upper = np.stack([first, first + n + 2, first + 1], axis=1)
    return np.stack([x.ravel(), y.ravel()], axis=1), np.concatenate([lower, upper])


def elements(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The area of each triangle, and that times the products of its gradients."""
    edges = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]  # opposite to each corner
    area = np.abs(edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]) / 2
    # a hat's gradient is its edge, turned and divided by twice the area: products are not turned
    return area, np.einsum("eai,ebi->eab", edges, edges) / (4 * area)[:, None, None]


def hold(K: ln.Tensor, free: np.ndarray) -> ln.Tensor:
    """The matrix with the identity in the rows and columns of nodes that are held at 0."""
    return K * free[:, None] * free[None, :] + ln.diag(1 - free)


def main() -> None:
    nodes, triangles = square(24)
    area, stiffness = elements(nodes[triangles])
    free = ((nodes > 0) & (nodes < 1)).all(axis=1).astype(float)
    plain = np.sin(np.pi * nodes).prod(axis=1)  # if the plate conducted 1 throughout

    # each triangle adds to the rows and columns of its corners; a third of its area is each one's
    rows, columns = np.broadcast_arrays(triangles[:, :, None], triangles[:, None, :])
    plan = ln.assembly(rows, columns, (len(nodes), len(nodes)))
    share = ln.assembly(triangles, (len(nodes),), format=ln.DENSE)
    load = share(np.repeat(area[:, None] / 3, 3, axis=1)) * (2 * np.pi**2 * plain * free)
    print(plan)

    u, last, rounds = np.zeros(len(nodes)), np.full(len(nodes), np.inf), 0
    while np.abs(u - last).max() > 1e-12 and rounds < 100:
        conductivity = 1 + u[triangles].mean(axis=1) ** 2
        K = plan(conductivity[:, None, None] * stiffness)
        u, last = conjugate_gradients(hold(K, free), load, tolerance=1e-13).to_numpy(), u
        rounds += 1
    print(repr(K))
    print(rounds, "rounds, at most", round(float(u.max()), 4), "degrees")
    assert np.abs(u + u**3 / 3 - plain).max() < 0.01  # the same heat flows

    try:
        import scipy.sparse as sp
        from scipy.sparse.linalg import spsolve
    except ImportError:
        return
    values = (conductivity[:, None, None] * stiffness).ravel()
    theirs = sp.csr_array((values, (rows.ravel(), columns.ravel())), shape=K.shape)
    assert np.allclose(K.to_numpy(), theirs.toarray(), rtol=1e-12, atol=1e-14)
    inside = np.flatnonzero(free)
    found = spsolve(theirs[inside][:, inside].tocsc(), load.to_numpy()[inside])
    assert np.allclose(found, u[inside], rtol=1e-10)


if __name__ == "__main__":
    main()
