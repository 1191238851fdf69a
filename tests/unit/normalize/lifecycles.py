"""Freezes and thaws, before and after; both are written as kernels."""

from __future__ import annotations

from collections.abc import Callable

from linnet.frontend.parse import parse
from linnet.loops.check import check_modes
from linnet.loops.printer import show
from linnet.normalize.lifecycles import insert_lifecycles


def check(before: Callable[..., object], after: Callable[..., object]) -> None:
    found, expected = insert_lifecycles(parse(before)), parse(after)
    assert show(found.body) == show(expected.body)
    assert found.body == expected.body
    assert found.results == expected.results
    check_modes(found)
    assert insert_lifecycles(found) == found, "what is there already stays"
