"""Pages that speak of the code speak of code that is there, and in the right order."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, name

SOURCE = ROOT / "src" / "linnet"
TOUR = ROOT / "docs" / "internals" / "tour.md"
GLOSSARY = ROOT / "docs" / "internals" / "glossary.md"
IRS = ROOT / "docs" / "internals" / "irs.md"

_LINK = re.compile(r"\[`?([^\]`]+)`?\]\(([^)\s]+\.py)\)")
_ROW = re.compile(r"^\| ([a-z ]+) \| .* \| \[[^\]]+\]\(([^)]+)\) \|$", re.MULTILINE)
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def prose(path: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def defined(path: Path) -> set[str]:
    """The functions, classes, methods and constants of a file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Assign(targets):
                found |= {t.id for t in targets if isinstance(t, ast.Name)}
            case ast.AnnAssign(ast.Name(target)):
                found.add(target)
            case _ if isinstance(node, _DEFINED):
                found.add(node.name)
    return found


def links(path: Path) -> list[tuple[str, Path]]:
    """What a page links to Python files."""
    return [(text, path.parent / target) for text, target in _LINK.findall(prose(path))]


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_linked_names_are_defined_there(path: Path):
    for text, target in links(path):
        assert target.exists(), f"{text} -> {target}"
        if text.isidentifier() and "`" + text + "`" in prose(path):
            assert text in defined(target), f"{name(path)}: {text} is not defined in {target.name}"
        elif text.endswith(".py"):
            assert target.resolve().as_posix().endswith(text), f"{text} -> {target}"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_paths_on_pages_exist(path: Path):
    for span in re.findall(r"`([\w./]+/(?:[\w]+\.(?:py|md|c))?)`", prose(path)):
        roots = (ROOT, SOURCE, ROOT / "tests" / "unit" / "algebra")
        known = any((root / span).exists() for root in roots)
        assert known or span == "formats/bitmap.py", f"{name(path)} speaks of {span}"


def passes(function: str) -> list[str]:
    """The functions of other files that a function of compiler.py calls, in order."""
    tree = ast.parse((SOURCE / "compiler.py").read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name: alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("linnet.")
        for alias in node.names
    }
    body = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function)
    calls = [n for n in ast.walk(body) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    calls.sort(key=lambda call: (call.lineno, -call.col_offset))
    names = [imported[c.func.id] for c in calls if c.func.id in imported]
    return [n for n in dict.fromkeys(names) if n[0].islower() and "check" not in n]


def test_tour_follows_the_compiler():
    text, at = prose(TOUR), 0
    silent = {"stage", "current", "replace", "under_schedule", "bind", "is_narrow"}
    all_passes = (*passes("under_schedule"), *passes("normalize"), *passes("generate"))
    order = [f for f in all_passes if f not in silent]
    first = ["order_positions", "infer_dimensions", "begin_results", "name_scopes"]
    assert order[:4] == first
    last = ["simplify", "own_arrays", "raise_flags", "whole_parts"]
    assert order[-7:] == [*last, "improve", "with_codelets", "vectorize"]
    for function in order:
        assert f"[`{function}`]" in text[at:], f"the tour does not come to {function}"
        at = text.index(f"[`{function}`]", at)


def test_tour_visits_every_folder():
    visited = {target.resolve().relative_to(SOURCE).parts[0] for _, target in links(TOUR)}
    folders = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert folders - {"arrays"} <= visited  # array expressions end where the tour begins


def plain(text: str) -> str:
    """Text in which `LifeCycle`, `life_cycle` and `life cycle` are one word."""
    return re.sub(r"[\s_-]+", "", text).lower()


def test_words_of_the_glossary_are_used_in_the_code():
    rows = _ROW.findall(GLOSSARY.read_text(encoding="utf-8"))
    assert len(rows) > 40
    words = [word for word, _ in rows]
    assert words == sorted(words)
    for word, target in rows:
        code = (GLOSSARY.parent / target).read_text(encoding="utf-8")
        assert plain(word) in plain(code), f"{word} is not used in {target}"


def test_every_row_of_the_glossary_is_read():
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("| ") for line in lines) - 1 == len(
        _ROW.findall("\n".join(lines) + "\n")
    )


def members(file: str) -> set[str]:
    """The nodes of the unions `Expr`, `Stmt` and `Looplet` of a file."""
    found = set()
    for node in ast.parse((SOURCE / file).read_text(encoding="utf-8")).body:
        match node:
            case ast.AnnAssign(ast.Name("Expr" | "Stmt" | "Looplet"), _, ast.BinOp() as union):
                found |= {n.id for n in ast.walk(union) if isinstance(n, ast.Name)}
    return found


@pytest.mark.parametrize(
    "file", ["loops/nodes.py", "imp/nodes.py", "imp/values.py", "formats/looplets.py"]
)
def test_every_node_is_in_the_grammars(file: str):
    text = IRS.read_text(encoding="utf-8")
    assert len(members(file)) >= 8
    for node in members(file):
        assert re.search(rf"\b{node}\b", text), f"{node} of {file}"
