"""Names and accesses as the user wrote them: passes give loops of one name names of their own."""

from __future__ import annotations

import re

from linnet.errors import Location
from linnet.loops.nodes import Access, Expr, Index
from linnet.loops.printer import show
from linnet.loops.rewrite import rewrite_expr


def spoken(name: str, at: Location | None) -> str:
    """An index or a name as it stands in a line of the user: `i`, which may be `i_2` by now."""
    said = set(re.findall(r"\w+", at.text)) if at is not None else set()
    base = re.sub(r"_\d+$", "", name)
    return base if name not in said and base in said else name


def written(expr: Expr, at: Location | None) -> str:
    """An expression in the user's words: an access from its place, others with the names there."""
    if isinstance(expr, Access) and expr.at is not None and expr.at.text:
        here = expr.at.text[expr.at.column : expr.at.end_column]
        if here:
            return here

    def rename(e: Expr) -> Expr | None:
        return Index(spoken(e.name, at)) if isinstance(e, Index) else None

    return show(rewrite_expr(expr, rename))
