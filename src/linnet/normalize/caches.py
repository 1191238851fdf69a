"""How much memory is close at hand: the caches of this machine, and the time to wait for a line."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

from linnet.records import dataclass

_FOLDER = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# Nanoseconds that are waited for one of many lines, while others are on their way, too:
_AT_SECOND, _AT_LAST, _BEYOND = 1.5, 10.0, 20.0
# and for the lines of a row, which has been asked for some rows ahead:
_ROW_AT_SECOND, _ROW_AT_LAST, _ROW_BEYOND = 2.0, 50.0, 65.0


@dataclass(frozen=True, slots=True)
class Caches:
    """The bytes of the second cache, which one core has for itself, and of the last."""

    second: int
    last: int

    def wait(self, space: int) -> float:
        """Nanoseconds to wait for a line of so much memory, which is used all over."""
        if space <= self.second:  # an eighth of it is in the first cache, or nearly
            return _AT_SECOND * max(0.0, 1 + math.log2(max(space, 1) / self.second) / 3)
        if space <= self.last:
            way = math.log(space / self.second) / math.log(self.last / self.second)
            return _AT_SECOND + (_AT_LAST - _AT_SECOND) * way
        return min(_AT_LAST + 6 * math.log2(space / self.last), _BEYOND)

    def latency(self, space: int) -> float:
        """Nanoseconds to wait for a row of so much memory, of which any may be next."""
        if space <= self.second:
            return _ROW_AT_SECOND * math.sqrt(space / self.second)
        way = math.log(space / self.second) / math.log(self.last / self.second)
        return min(_ROW_AT_SECOND * math.pow(_ROW_AT_LAST / _ROW_AT_SECOND, way), _ROW_BEYOND)

    def beside(self, operands: int) -> Caches:
        """What is left while so many bytes of operands go by."""
        return Caches(self.second // 4, self.last) if operands > self.last else self


_USUAL = Caches(1 << 20, 1 << 25)


@lru_cache(maxsize=1)
def caches(folder: Path = _FOLDER) -> Caches:
    """The caches of this machine, as far as it tells; usual ones where it does not."""
    sizes: dict[int, int] = {}
    for index in sorted(folder.glob("index*")):
        try:
            level = int((index / "level").read_text())
            kind = (index / "type").read_text().strip()
            text = (index / "size").read_text().strip()
            size = int(text.rstrip("KMG")) * _UNITS.get(text[-1:], 1)
        except (OSError, ValueError):
            continue
        if kind != "Instruction" and size > 0:
            sizes[level] = size
    second = sizes.get(2, _USUAL.second)
    last = sizes[max(sizes)] if sizes and max(sizes) > 2 else _USUAL.last
    return Caches(second, max(last, 2 * second))
