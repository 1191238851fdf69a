"""Write `linnet/__init__.pyi`: the public names, for type checkers, which cannot follow lazy ones.

Its table is what the package has at run time: the names that it imports, and those that it imports
when they are asked for. Run `python tools/stub.py` after a change to either.
"""

from __future__ import annotations

import ast
import keyword
from pathlib import Path

import linnet as ln

STUB = Path(__file__).parent.parent / "src" / "linnet" / "__init__.pyi"
_HEAD = (
    '"""The public names, for type checkers. `tools/stub.py` writes this file: do not edit it."""'
)


def origins() -> dict[str, tuple[str, str]]:
    """The module and the name there of each public name that is not a function of the algebra."""
    spaces = {name: tuple(module.rsplit(".", 1)) for name, module in ln._SPACES.items()}
    later = {name: (module, name) for name, module in ln._LATER.items()}
    return {**_imported(), **spaces, **ln._NAMES, **later}  # type: ignore[dict-item]


def _imported() -> dict[str, tuple[str, str]]:
    """What `linnet/__init__.py` imports at its top, but for what has an underscore."""
    tree = ast.parse(Path(ln.__file__).read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("linnet")
        for alias in node.names
        if not (alias.asname or alias.name).startswith("_")
    }  # type: ignore[return-value]


def functions() -> list[str]:
    """The functions of values, by each of their names that Python can write."""
    known = {n for n in ln._by_name if n.isidentifier() and not keyword.iskeyword(n)}
    return sorted(n for n in known - set(origins()) if not n.startswith("astype_"))


def text() -> str:
    """The stub."""
    found = sorted(origins().items(), key=lambda item: (item[1], item[0]))
    lines = [f"from {module} import {there} as {there}" for _, (module, there) in found]
    lines += ["", "__version__: str", "__array_api_version__: str"]
    lines += [f"{here} = {there}" for here, (_, there) in found if here != there]
    lines += [f"{name}: Function" for name in functions()]
    return "\n".join([_HEAD, "", *lines, ""])


if __name__ == "__main__":
    STUB.write_text(text(), encoding="utf-8")
