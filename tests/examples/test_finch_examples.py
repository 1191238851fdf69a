"""FINCH's case studies: every script runs, and what the paper shows of them is there to be seen."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import linnet as ln

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "finch"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_runs_and_checks_its_answers(script):
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(FOLDER / script)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert done.stdout


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"finch_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a kernel's text is found through its module
    spec.loader.exec_module(module)
    return module


# -- Figs. 17 and 18: what becomes of the sum of a triangle -------------------------------------


@pytest.fixture(scope="module")
def triangle() -> dict[str, str]:
    example = load("lowering")
    return example.stages(ln.asarray(example.matrix(), format=ln.CSC))


def test_fig17_input_program(triangle):
    assert triangle["program"].splitlines() == [
        "def upper_triangle(s, A):",
        "    s[...] = 0",
        "    for j, i in ...:",
        "        if i <= j:",
        "            s[()] += A[i, j]",
        "    return s",
    ]


def test_fig17_normalization(triangle):
    """Extents, declaration and freeze have been added; the order was good as it was."""
    assert triangle["normalized"].splitlines() == [
        "def upper_triangle(s, A):",
        "    ln.declare(s, 0, ())",
        "    for j in range(A.shape[1]):",
        "        for i in range(A.shape[0]):",
        "            if i <= j:",
        "                s[()] += A[i, j]",
        "    ln.freeze(s)",
        "    return s",
    ]


def test_fig18_every_stage_is_recorded():
    example = load("lowering")
    A = ln.asarray(example.matrix(), format=ln.CSC)
    made = ln.explain(example.upper_triangle, ln.scalar(0.0), A)
    order = ["program", "dimensions", "scopes", "concordance", "lifecycles", "lowering", "code"]
    assert [stage for stage in made.stages if stage in order] == order


# Each step shows a loop before a rule is applied to it. The numbers are the figure's.
STEPS = """
Declare:                                                                       # 2
  ln.declare(s, 0, ())
Unfurl j:                                                                      # 3
  A
Lookup:                                                                        # 4
  for j in 0 … n_j:
      for i in range(A.shape[0]):
          if i <= j:
              s[()] += A[j, i]
  A = Lookup(A.SparseList(j))
  Unfurl i:                                                                    # 5
    A, (i <= j)
  Sequence:                                                                    # 7
    for i in 0 … n_i:
        if i <= j:
            s[()] += A[i]
    A = Stepper(A_q in A_ptr[j] … A_ptr[j + 1], last = A_idx[A_q], Spike(0.0, A_val[A_q]))
    (i <= j) = Sequence(Phase(stop = i_bound + 1, Run(true)), Run(false))
    Run:                                                                       # 8
      for i in 0 … i_stop:
          if i <= j:
              s[()] += A[i]
      A = Stepper(A_q in A_ptr[j] … A_ptr[j + 1], last = A_idx[A_q], Spike(0.0, A_val[A_q]))
      (i <= j) = Run(true)
      Simplify:                                                                # 9
        s[()] += A[i]
      Stepper:                                                                 # 10
        for i in 0 … i_stop:
            s[()] += A[i]
        A = Stepper(A_q in A_ptr[j] … A_ptr[j + 1], last = A_idx[A_q], Spike(0.0, A_val[A_q]))
      Between what is stored:                                                  # 11, 12
        pass
      Run:                                                                     # 11
        at i:
            s[()] += A[i]
        A = Run(A_val[A_q])
        Simplify:
          s[()] += A_val[A_q]
        Write:
          s[()] += A_val[A_q]
    Run:                                                                       # 8
      for i in i_stop … n_i:
          if i <= j:
              s[()] += A[i]
      A = Stepper(A_q in A_ptr[j] … A_ptr[j + 1], last = A_idx[A_q], Spike(0.0, A_val[A_q]))
      (i <= j) = Run(false)
      Simplify:                                                                # 9
        pass
Freeze:                                                                        # 13
  ln.freeze(s)
"""


def test_fig18_step_by_step(triangle):
    expected = [re.sub(r" +# [0-9, ]+$", "", line) for line in STEPS.strip().splitlines()]
    assert triangle["steps"].splitlines() == expected


@pytest.mark.parametrize("name", ["dense", "bands", "blocks", "runs"])
def test_fig18_other_formats_take_other_steps(name):
    example = load("lowering")
    steps = example.stages(ln.asarray(example.matrix(), format=example.FORMATS[name]))["steps"]
    assert re.search(r"^ +\(i <= j\) = Run\(true\)$", steps, re.MULTILINE)
    known = {"dense": "Lookup(A_val[", "bands": "Sequence(Phase(stop = ", "runs": "Run(A_val[A_q])"}
    assert f"A = {known.get(name, 'Stepper(')}" in steps


def test_fig18_the_declaration_is_a_store(triangle):
    assert triangle["loops"].startswith("  double s = 0;\n")


def test_fig18_columns_are_looked_up(triangle):
    assert "for (i64 j = 0; j < n_j; j++) {" in triangle["loops"]
    assert "A_ptr[j]" in triangle["loops"]


def test_fig18_the_mask_ends_the_walk(triangle):
    """Neither a test of `i <= j` nor a loop over all `i` is left."""
    loops = triangle["loops"]
    assert "if (" not in loops
    assert not re.search(r"i < n_i", loops)
    assert re.search(r"min\(n_i, j \+ 1\)", loops)


def test_fig18_zeros_are_not_added(triangle):
    assert re.findall(r"s\w* \+= (.*);", triangle["loops"]) == ["A_val[A_q]", "s_part"]


def test_fig18_runs_are_integrated():
    example = load("lowering")
    loops = example.stages(ln.asarray(example.matrix(), format=example.FORMATS["runs"]))["loops"]
    assert "s += A_val[A_q] * (double)(i_next - i_start);" in loops


# -- Fig. 24: early break, as the graph examples rely on it --------------------------------------


def test_fig24_a_search_is_one_kernel_that_leaves_rows_at_the_first_parent():
    graphs, n = load("graphs"), 3
    A = ln.tensor([[0, 1], [1, 2]], [True, True], (n, n), format=graphs.GRAPH, fill_value=False)
    P, count = ln.empty_tensor(ln.DENSE(1)), ln.scalar(0)
    args = P, count, ln.scalar(0), A, A, np.array([1, 1, 0]), np.array(0), np.array(0)
    code = graphs.search_all.code(*args)
    main = code[code.index("i64 search_all(") :]
    assert "if (edges == 0) break;" in main
    assert re.search(r"if \(\(now_key\[j_?\d* >> 6\] & .*\) != 0\) \{\n.*\n.*break;", main)
    assert "swap_buffers(now_idx" in main
    assert "swap_buffers(now_ptr" not in main


# -- Fig. 26: runs, not pixels -------------------------------------------------------------------


def test_fig26_erosion_by_runs_has_no_loop_over_pixels():
    images = load("images")
    img = ln.asarray(images.discs(16), format=images.RUNS)
    tensors = ln.empty_tensor(images.RUNS), ln.empty_tensor(images.ROW_OF_RUNS), img
    assert not re.search(r"for \(i64 x", images.erode.code(*tensors))


@ln.kernel
def erode_by_two(out, img):
    row = ln.temp(ln.Dense(ln.Element(0, "uint8")))
    out[...] = 0
    for y in ...:
        last = img.shape[0] - 1
        row[...] = 0
        for x in ...:
            row[x] = img[max(y - 2, 0), x] & img[y, x] & img[min(y + 2, last), x]
        for x in ...:
            left = ln.coalesce(row[~(x - 2)], 255) & ln.coalesce(row[~(x - 1)], 255)
            right = ln.coalesce(row[~(x + 1)], 255) & ln.coalesce(row[~(x + 2)], 255)
            out[y, x] = left & row[x] & right
    return out


def test_fig26_borders_are_apart():
    """One loop, and eight single elements around it; no test within, nothing cleared before."""
    img = ln.asarray((np.arange(35).reshape(5, 7) % 3 * 100).astype("uint8"))
    code = erode_by_two.code(ln.empty_tensor(ln.DENSE(2)), img)
    code = code[code.index("i64 erode_by_two") :]
    assert len(re.findall(r"for \(i64 ", code)) == 3
    assert len(re.findall(r"if \((?!grow)", code)) == 8
    within = code[code.index("for (i64 x_2 ") :]
    assert "if (" not in within[: within.index("}")]


@pytest.mark.parametrize("width", [0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("height", [0, 1, 2, 5])
def test_fig26_borders_of_small_images(height, width):
    img = (np.arange(height * width).reshape(height, width) * 37 % 251).astype("uint8")
    out = erode_by_two(ln.empty_tensor(ln.DENSE(2)), img).to_numpy()
    rows = [np.clip(np.arange(height) + d, 0, max(height - 1, 0)) for d in (-2, 0, 2)]
    row = np.bitwise_and.reduce([img[r] for r in rows]) if height else img
    wide = np.pad(row, ((0, 0), (2, 2)), constant_values=255)
    assert (out == np.bitwise_and.reduce([wide[:, d : d + width] for d in range(5)])).all()
