"""Two versions of a kernel side by side: before and after a change, or without a step.

    python tools/kernel_diff.py case.py --without hoist          all steps | without this one
    python tools/kernel_diff.py case.py --since main~3           that revision | what is here
    python tools/kernel_diff.py spmm --show llvm --without jam   a kernel of tests/optimize
    python tools/kernel_diff.py case.py --steps                  each step that changes its code

A case is a file of Python that defines `kernel` and its arguments, `args`. What is shown is `imp`
(imperative code), `c`, `llvm` or `assembly`, for this machine, or any stage of `ln.explain`.
"""

from __future__ import annotations

import argparse
import difflib
import io
import os
import runpy
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NEAR = 3  # lines that are alike around those that differ


# -- one version, in a process of its own ----------------------------------------------------------


def case(name: str) -> tuple[Any, list[Any]]:
    """A kernel and its arguments: of a file, or of the corpus."""
    if Path(name).suffix == ".py":
        found = runpy.run_path(name)
        return found["kernel"], list(found["args"])
    corpus = import_module("tests.optimize.programs").CORPUS
    program = next((p for p in corpus if p.name == name), None)
    if program is None:
        raise SystemExit(f"there is no file {name}.py, and no kernel {name!r} in tests/optimize")
    given = import_module("tests.optimize.data").arguments(program)
    kernel = import_module("linnet.runtime.kernel").Kernel(program.program)
    return kernel, [given[p] for p in kernel.params]


def version(kernel: Any, args: Sequence[Any], show: str) -> str:
    """What is to be shown of a kernel, by the compiler that is imported here."""
    if show == "imp":
        text: str = import_module("linnet.imp.printer").show(kernel.lowered(*args).kernel)
        return text
    if show in ("llvm", "assembly"):
        machine = import_module("linnet.backend.machine")
        render, target = import_module("linnet.backend.llvm").render, machine.host(False)
        without = frozenset(getattr(import_module("linnet.options").current(), "without", ()))
        target = replace(target, without=without & {"hints", "lanes"}) if without else target
        made: str = render(kernel.lowered(*args).kernel, target)
        return made if show == "llvm" else str(machine.assembly(made, target))
    explained: str = import_module("linnet").explain(kernel, *args)["code" if show == "c" else show]
    return explained


def verdict(kernel: Any, args: Sequence[Any]) -> str:
    """How much work a call is, and whether it gives what the program means."""
    dense, empty = import_module("linnet.testing").dense, import_module("linnet").empty_tensor
    tensors = [t.copy() if t.shape is not None else empty(t.format) for t in kernel.tensors(args)]
    turns, expected = kernel.visits(*tensors).total, kernel.reference(*tensors)
    kernel(*tensors)
    wrong = []
    for name, tensor in zip(kernel.params, tensors, strict=True):
        if name in kernel.outputs:
            got, right = dense(tensor), expected[name]
            same = got.shape == right.shape and bool(((got == right) | (got != got)).all())
            wrong += [] if same else [name]
    return f"{turns} turns of loops, {'WRONG: ' + ', '.join(wrong) if wrong else 'right'}"


def steps(kernel: Any, args: Sequence[Any]) -> Iterator[str]:
    """A line for each step that changes the code of a kernel: what a call does without it."""
    config, table = import_module("linnet").config, import_module("linnet.optimize.table")
    yield f"{'all steps':18}{verdict(kernel, args)}"
    whole = kernel.code(*args)
    for step in (*table.IN_SCHEDULES[1:], *table.STEPS):
        with config(without=(step,)):
            if kernel.code(*args) != whole:
                yield f"no {step:15}{verdict(kernel, args)}"


# -- two of them -----------------------------------------------------------------------------------


def run(name: str, show: str, source: Path, without: str) -> str:
    """A version, and what is said of it, by a compiler whose source lies there."""
    path = os.pathsep.join((str(source), str(ROOT)))
    env = {**os.environ, "PYTHONPATH": path, "LINNET_WITHOUT": without, "LINNET_CACHE": "0"}
    command = [sys.executable, str(Path(__file__).resolve()), name, "--show", show, "--alone"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} fails in {source}:\n{done.stderr}")
    return done.stdout


def revision(name: str, into: Path) -> Path:
    """The source of the package as it was at a revision, unpacked."""
    command = ["git", "-C", str(ROOT), "archive", name, "src"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(into, filter="data")
    return into / "src"


def side_by_side(left: str, right: str, width: int, near: int = NEAR) -> Iterator[str]:
    """Two texts as two columns: `|` between lines that differ, `<` and `>` where there is one."""
    a, b = left.splitlines(), right.splitlines()
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    for count, group in enumerate(matcher.get_grouped_opcodes(near)):
        if count:
            yield "…"
        for kind, i, i_end, j, j_end in group:
            here, there = _filled(a[i:i_end], b[j:j_end])
            for x, y in zip(here, there, strict=True):
                mark = " " if kind == "equal" else "<" if y is None else ">" if x is None else "|"
                yield f"{_cut(x, width)} {mark} {_cut(y, width).rstrip()}".rstrip()


def _filled(a: Sequence[str], b: Sequence[str]) -> tuple[list[str | None], list[str | None]]:
    """Both with as many lines."""
    more = len(b) - len(a)
    return [*a, *[None] * max(more, 0)], [*b, *[None] * max(-more, 0)]


def _cut(line: str | None, width: int) -> str:
    text = line or ""
    return (text if len(text) <= width else text[: width - 1] + "…").ljust(width)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_AsItIs)
    parser.add_argument("case", help="a file that defines `kernel` and `args`, or a kernel's name")
    parser.add_argument("--show", default="c", help="imp, c, llvm, assembly or a stage (c)")
    parser.add_argument("--since", help="a revision: the left side is its compiler")
    parser.add_argument("--without", default="", help="steps that the right side leaves out")
    parser.add_argument("--width", type=int, default=70, help="of a column (70)")
    parser.add_argument("--steps", action="store_true", help="what each step is good for")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.steps:
        print("\n".join(steps(*case(options.case))))
    elif options.alone:
        kernel, args = case(options.case)
        text = version(kernel, args, options.show)
        print(f"{verdict(kernel, args)}\n\n{text}")
    else:
        with tempfile.TemporaryDirectory() as folder:
            here = ROOT / "src"
            there = revision(options.since, Path(folder)) if options.since else here
            left = run(options.case, options.show, there, "")
            right = run(options.case, options.show, here, options.without)
        print("\n".join(side_by_side(left, right, options.width)) or "no difference")


class _AsItIs(argparse.RawDescriptionHelpFormatter):
    """Help that is printed as it is written."""


if __name__ == "__main__":
    main()
