"""Many values dealt into buckets where they are: stable, with little memory beside them. Codelets.

Values go into one block for each bucket; a block that is full is written over values that have been
read. Blocks are put in the order of their buckets then, and what did not fill one behind them.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

Ints = Sequence[int]
Target = MutableSequence[int]
Values = MutableSequence[float]

BLOCK = 128  # values: as many for each of 512 buckets stay in the cache


def append_leading(buckets: Target, idx: Ints, n: int, up: int, down: int) -> None:
    """Put the leading bits of a coordinate into the numbers of buckets."""
    for q in range(n):
        buckets[q] = buckets[q] | ((idx[q] >> down) << up)


def fill_blocks(
    values: Values, buckets: Ints, n: int, held: Values, counts: Target, owners: Target
) -> int:
    """Write values as blocks of one bucket each, and whose each is; return how many there are.

    Bucket d has counts[d] values that fill no block, in its part of `held`.
    """
    blocks = 0
    for q in range(n):
        d = buckets[q]
        at = counts[d]
        held[d * BLOCK + at] = values[q]
        counts[d] = at + 1
        if at + 1 == BLOCK:
            _copy(held, d * BLOCK, values, blocks * BLOCK, BLOCK)
            owners[blocks] = d
            counts[d] = 0
            blocks += 1
    return blocks


def permute_blocks(values: Values, source: Target, blocks: int, spare: Values) -> None:
    """Put block source[b] at b, for all b: afterwards source[b] is b."""
    for first in range(blocks):
        if source[first] != first:
            _copy(values, first * BLOCK, spare, 0, BLOCK)
            at = first
            while source[at] != first:
                _copy(values, source[at] * BLOCK, values, at * BLOCK, BLOCK)
                source[at], at = at, source[at]
            _copy(spare, 0, values, at * BLOCK, BLOCK)
            source[at] = at


def spread_blocks(
    values: Values, n: int, buckets: int, blocks: Ints, held: Values, counts: Ints
) -> None:
    """Move the blocks of each bucket up to where it begins, and what fills none behind them."""
    end, at = n, 0
    for d in range(buckets):
        at += blocks[d] * BLOCK
    for k in range(buckets):
        d = buckets - 1 - k
        end -= counts[d]
        _copy(held, d * BLOCK, values, end, counts[d])
        for _ in range(blocks[d]):
            end, at = end - BLOCK, at - BLOCK
            _copy_up(values, at, end, BLOCK)


def _copy(values: Sequence[float], lo: int, to: Values, at: int, n: int) -> None:
    for k in range(n):
        to[at + k] = values[lo + k]


def _copy_up(values: Values, lo: int, to: int, n: int) -> None:
    """Move values to where some of them may still be, from the last to the first."""
    for k in range(n):
        values[to + n - 1 - k] = values[lo + n - 1 - k]
