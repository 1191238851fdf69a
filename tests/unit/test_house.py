"""The house is in order: what the rules of CONTRIBUTING.md say about files, packaging and pages."""

from __future__ import annotations

import ast
import importlib
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from benchmarks.__main__ import FAMILIES
from hypothesis import given, settings
from hypothesis import strategies as st
from tools import size

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "linnet"
MODULES = sorted(SOURCE.rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_module_says_which_question_it_answers(path: Path):
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "a file opens with 1 to 6 lines on what it is about"
    assert not re.search(r"\b(TODO|FIXME|XXX)\b", text)
    assert not re.search(r"\b(utils?|helpers?|common|misc)\b", path.stem)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_records_say_what_they_are(path: Path):
    """For those that do not, `dataclasses` reads the file while it is imported: 3 ms each."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and "dataclass" in map(_called, node.decorator_list):
            assert ast.get_docstring(node), node.name


def _called(decorator: ast.expr) -> str:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(function, "id", "") or getattr(function, "attr", "")


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_loops_are_changed_by_replace(path: Path):
    """One that is made of the body of another would forget what that one knows of itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    cases = [n.pattern for n in ast.walk(tree) if isinstance(n, ast.match_case)]
    matched = {id(n) for case in cases for n in ast.walk(case)}
    for node in (n for n in ast.walk(tree) if isinstance(n, ast.Call) and id(n) not in matched):
        if _called(node) in ("For", "While", "Loop"):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            taken = {a.attr for a in given if isinstance(a, ast.Attribute)}
            assert not taken & {"body", "over", "extent"}, ast.unparse(node)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_environment_is_read_in_one_place(path: Path):
    text = path.read_text(encoding="utf-8")
    reads = re.search(r"os\.environ(\.get\b|\[)|os\.getenv", text)
    assert path.stem == "options" or not reads


@pytest.mark.parametrize("path", [*PAGES, *MODULES], ids=name)
def test_no_path_of_one_machine(path: Path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(work|root|home)/", text)


def test_dependencies_are_numpy_and_llvmlite():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=\[ ]", requirement)[0] for requirement in project["dependencies"]}
    assert names == {"numpy", "llvmlite"}
    assert project["requires-python"] == ">=3.11"


def test_import_is_light():
    """Neither the code generator nor an optional package is loaded before it is needed."""
    heavy = "{'llvmlite', 'scipy', 'numba', 'ctypes.util', 'multiprocessing', 'asyncio'}"
    code = f"import sys, linnet; print(sorted({heavy} & set(sys.modules)))"
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


READ = {"∪∩¬"}  # signs that are read, and never printed


def test_a_console_of_windows_can_print_what_is_printed():
    """It may have no characters but those of cp1252: to print any other is an error there."""
    for path in MODULES:
        for text in _literals(ast.parse(path.read_text(encoding="utf-8"))) - READ:
            assert not re.sub(r"[\x00-\xff–—…‘’“”•]", "", text), f"{name(path)}: {text!r}"


def _literals(tree: ast.Module) -> set[str]:
    """The texts in a module that do not stand alone, as docstrings do."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in alone)
    return {node.value for node in constants if isinstance(node.value, str)}


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_between_pages_lead_somewhere(path: Path):
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (path.parent / link).exists(), f"{name(path)} links to {link}"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_commands_on_pages_exist(path: Path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for command in re.findall(r"`make ([a-z-]+)", path.read_text(encoding="utf-8")):
        assert command in targets, f"{name(path)} mentions `make {command}`"


def test_ci_runs_the_tests():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")


def test_ci_of_public_hosts_runs_on_each_system_with_the_oldest_and_the_newest_python():
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    systems = re.search(r"system: \[(.*)\]", text)
    pythons = re.search(r'python: \["([\d.]+)", "([\d.]+)"\]', text)
    assert systems
    assert {s.partition("-")[0] for s in systems[1].split(", ")} == {"ubuntu", "macos", "windows"}
    assert pythons
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert oldest["requires-python"] == f">={pythons[1]}"
    assert [int(n) for n in pythons[2].split(".")] >= [3, 14]
    for command in re.findall(r"python ((?:tools|examples)/\w+\.py)", text):
        assert (ROOT / command).exists(), command
    assert "python -m pytest" in text
    assert "make" not in text  # which Windows does not have


def test_commands_with_make_are_said_without_it():
    page = (ROOT / "docs" / "guide" / "installation.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `make ([a-z-]+)`", page, re.MULTILINE))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^    make ([a-z-]+)", readme, re.MULTILINE)) <= told
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"\.venv/bin/python (?:-m )?([\w/.]+)", page):
        assert re.search(rf"\b{re.escape(command)}\b", makefile), f"no target runs {command}"


def test_size_table_counts_every_file():
    last = next(row for row in size.report().splitlines() if row.startswith("total"))
    assert int(last.split()[1]) == len(MODULES)


def test_what_is_drawn_does_not_depend_on_what_is_imported(tmp_path, monkeypatch, request):
    if request.config.getoption("--hypothesis-profile") == "fuzz":
        pytest.skip("something new is drawn each time")
    drawn = []

    @settings(derandomize=True, max_examples=200)
    @given(st.integers(0, 10**9))
    def draw(number):
        drawn.append(number)

    draw()
    before = drawn.copy()
    numbers = ", ".join(str(700_000_000 + k) for k in range(100))
    (tmp_path / "numbers_of_the_house.py").write_text(f"NUMBERS = [{numbers}]\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("numbers_of_the_house")
    drawn.clear()
    draw()
    assert drawn == before


def test_golden_notices_a_difference(passing_golden):
    check, path = passing_golden
    path.write_text("a\n", encoding="utf-8")
    check(path.name, "a")
    with pytest.raises(AssertionError):
        check(path.name, "b")


@pytest.fixture
def passing_golden(golden, request):
    """The golden fixture with a file that exists only for this test."""
    if request.config.getoption("--update-golden"):
        pytest.skip("golden files are being rewritten")
    path = ROOT / "tests" / "golden" / f"house-{os.getpid()}.txt"
    path.parent.mkdir(exist_ok=True)
    yield golden, path
    path.unlink()


def blocks(language: str) -> list[str]:
    """The code blocks of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_readme_example_runs_and_makes_the_code_it_shows(tmp_path, capsys):
    script = tmp_path / "example.py"
    script.write_text("\n".join(blocks("python")), encoding="utf-8")
    runpy.run_path(str(script))
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    shown = [line.strip() for line in blocks("c")[0].splitlines()]
    begin = printed.index(shown[0])
    assert printed[begin : begin + len(shown)] == shown


@pytest.mark.parametrize("family", FAMILIES)
def test_every_benchmark_has_its_c_beside_it(family):
    assert (ROOT / "benchmarks" / f"{family}.py").exists()
    assert (ROOT / "benchmarks" / f"{family}.c").exists()
