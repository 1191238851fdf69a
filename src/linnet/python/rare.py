"""Codelets that are hardly ever called: they are compiled quickly, and not well."""

from __future__ import annotations

from typing import TypeVar

F = TypeVar("F")


def rare(codelet: F) -> F:
    """Mark a codelet."""
    vars(codelet)["rare"] = True
    return codelet


def is_rare(codelet: object) -> bool:
    """Whether it is marked."""
    return vars(codelet).get("rare", False) is True
