"""Every example on every page runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.pages import OUTPUTS, PAGES, blocks, kernel_of, name, run, run_block, updated


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_page_prints_what_it_shows(path: Path, request: pytest.FixtureRequest):
    page = path.read_text(encoding="utf-8")
    if request.config.getoption("--update-golden"):
        path.write_text(updated(page), encoding="utf-8")
        return
    for shown in run(page):
        assert shown.block.text == shown.printed, f"{name(path)}, line {shown.block.start + 1}"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_page_has_no_block_of_unknown_kind(path: Path):
    for block in blocks(path.read_text(encoding="utf-8")):
        known = block.language in ("python", "", "sh", *OUTPUTS)
        assert known, f"{name(path)}, line {block.start}: {block.language}"
        assert set(block.words) <= {"error"}


def test_blocks_share_their_names_and_show_their_output():
    page = "```python\nx = 1\n```\n\nthen\n\n```python\nprint(x)\n```\n\n```text\n2\n```\n"
    (shown,) = run(page)
    assert (shown.block.text, shown.printed) == ("2", "1")
    assert updated(page) == page.replace("2", "1")


def test_an_error_must_be_announced_and_must_happen():
    raising = "import linnet as ln\nln.asarray(['a'])"
    (quiet, loud, silent) = blocks(
        f"```python\n{raising}\n```\n```python error\n{raising}\n```\n```python error\nx = 1\n```"
    )
    with pytest.raises(TypeError, match="dtype"):
        run_block(quiet, {})
    assert run_block(loud, {}).startswith("DTypeError: ")
    with pytest.raises(AssertionError, match="raises nothing"):
        run_block(silent, {})


def test_of_c_code_the_kernel_is_shown():
    code = """
static int codelet(void) {
  return 1;
}

i64 twice(i64 *restrict args) {
  i64 n = args[0];
  double *restrict y = (void *)args[1];
  for (i64 i = 0; i < n; i++) {
    y[i] *= 2;
  }
  args[3] = n;  // length of y
  return 0;
}
"""
    assert kernel_of(code) == "for (i64 i = 0; i < n; i++) {\n  y[i] *= 2;\n}"
