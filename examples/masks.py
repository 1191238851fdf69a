"""Intersection over union of segmentation masks that are stored as runs, never as pixels."""

from __future__ import annotations

import numpy as np

import linnet as ln


def disc(size: int, x: float, y: float, radius: float) -> ln.Tensor:
    """A filled circle, run-length encoded along its rows."""
    i, j = np.ogrid[:size, :size]
    return ln.asarray((i - x) ** 2 + (j - y) ** 2 <= radius**2, format=ln.RLE)


def iou(a: ln.Tensor, b: ln.Tensor) -> float:
    """How much two masks agree: runs are compared and counted, not their pixels."""
    return float(ln.sum(a & b)) / float(ln.sum(a | b))


def main() -> None:
    a, b = disc(1000, 480, 500, 300), disc(1000, 560, 520, 280)
    print(repr(a))
    found = iou(a, b)
    x, y = a.to_numpy(), b.to_numpy()
    assert found == (x & y).sum() / (x | y).sum()
    print("IoU:", round(found, 4))
    masks = [disc(300, 100 + 10 * k, 150, 80) for k in range(4)]
    for k, mask in enumerate(masks[1:], 1):
        print("shifted by", 10 * k, "pixels:", round(iou(masks[0], mask), 4))


if __name__ == "__main__":
    main()
