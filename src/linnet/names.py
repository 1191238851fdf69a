"""Names in programs and in code: fresh ones, made anew for each kernel, and those of the user.

Fresh names begin anew with each kernel, so that the same program always prints the same text.
"""

from __future__ import annotations

import re

_ODD = re.compile(r"[^A-Za-z0-9_]")
RESERVED = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while bool true false main args malloc realloc calloc free memset memcpy
    abs min max i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 c64 c128 NAN INFINITY NULL""".split()
)


class Names:
    """Hands out names that have not been handed out before."""

    def __init__(self, taken: frozenset[str] | set[str] = frozenset()) -> None:
        self._taken = set(taken) | RESERVED

    def fresh(self, hint: str) -> str:
        """`hint`, or `hint_2`, `hint_3`, … if it is taken."""
        name, n = hint, 1
        while name in self._taken:
            n += 1
            name = f"{hint}_{n}"
        self._taken.add(name)
        return name


def identifier(name: str) -> str:
    """`name` with every character that is not a letter, a digit or `_` replaced by its number."""
    if name.isascii() and name.isidentifier():
        return name
    text = _ODD.sub(lambda found: f"_{ord(found[0]):x}_", name)
    return text if text[:1].isalpha() else f"v{text}"
