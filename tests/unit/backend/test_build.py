"""Building and loading: from a kernel to a function, through the disk cache, in other processes."""

import os
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.backend import kernels
from tests.unit.backend.harness import Block, needs_cc

from linnet import backend
from linnet.backend import back_ends, loader, machine, stamp, toolchain
from linnet.backend.entries import full_key
from linnet.errors import BuildError, LinnetError
from linnet.imp import Const
from linnet.options import Options


@pytest.fixture(params=["llvm", pytest.param("c", marks=needs_cc)])
def options(request, tmp_path):
    return Options(backend=request.param, cache_dir=str(tmp_path / "cache"))


def forty_two():
    return kernels.returning(Const(42, "int64"))


def test_a_built_kernel_is_loaded_again(options):
    assert backend.load("k", options) is None
    built = backend.build(forty_two(), "k", options, {"formats": ["CSR", "Dense"], "n": 3})
    assert (built.call(0), built.cached) == (42, False)
    loaded = backend.load("k", options)
    assert (loaded.call(0), loaded.cached) == (42, True)
    assert loaded.meta == {"formats": ["CSR", "Dense"], "n": 3} == built.meta
    assert backend.load("other", options) is None


def test_back_ends_and_sources_are_told_apart(options, monkeypatch):
    backend.build(forty_two(), "k", options)
    if options.backend == "llvm" and toolchain.available(options):
        assert backend.load("k", Options(backend="c", cache_dir=options.cache_dir)) is None
    monkeypatch.setattr(stamp, "_package", lambda: "changed")
    assert backend.load("k", options) is None


def test_a_damaged_entry_is_rebuilt(options):
    backend.build(forty_two(), "k", options)
    cache = backend.Cache.open(options)
    (path,) = cache.directory.iterdir()
    path.write_bytes(path.read_bytes()[:-10])
    assert backend.load("k", options) is None
    assert backend.build(forty_two(), "k", options).call(0) == 42
    assert backend.load("k", options).call(0) == 42


@pytest.mark.parametrize(
    "entry",
    [
        *(b"", b"\x05", b"\xff\xff\xff\x7f{}"),
        *(b"\x02\0\0\0{}", b"\x02\0\0\0[]", b"\x02\0\0\0\xff{"),
        b'\x1c\0\0\0{"symbol": "f", "meta": {}}',
        b'\x1c\0\0\0{"symbol": "f", "meta": {}}\x7fELF\x02\x01\x01',
    ],
)
def test_an_entry_of_another_kind_is_a_miss(options, entry):
    backend.Cache.open(options).store(full_key("k", options), entry)
    assert backend.load("k", options) is None
    assert backend.build(forty_two(), "k", options).call(0) == 42
    assert backend.load("k", options).call(0) == 42


def test_functions_outlive_what_made_them(options):
    call = backend.build(forty_two(), "k", options).call
    for k in range(4):
        backend.build(kernels.returning(Const(k, "int64")), str(k), options)
    assert call(0) == 42


def test_where_the_loader_does_not_work_llvm_does(monkeypatch, tmp_path):
    monkeypatch.setattr(loader, "supported", lambda: False)
    options = Options(cache_dir=str(tmp_path))
    assert backend.build(forty_two(), "k", options).call(0) == 42
    assert backend.load("k", options).call(0) == 42


def test_many_threads_build_at_once(options):
    results = [0] * 8

    def work(k: int) -> None:
        results[k] = backend.build(kernels.returning(Const(k, "int64")), f"k{k % 2}", options).call(
            0
        )

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == list(range(8))


SECOND = """
    import sys
    from linnet import backend
    from linnet.options import Options
    assert backend.load("k", Options(cache_dir={directory!r})).call(0) == 42
    assert not {{"llvmlite", "linnet.backend.llvm", "linnet.backend.toolchain"}} & set(sys.modules)
"""


@pytest.mark.own_loader
def test_a_second_process_needs_no_llvm(tmp_path):
    options = Options(cache_dir=str(tmp_path / "cache"))
    backend.build(forty_two(), "k", options)
    script = textwrap.dedent(SECOND.format(directory=options.cache_dir))
    source = str(Path(backend.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": source}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)


def test_calls_release_the_interpreter_lock():
    kernel = kernels.spmv()
    compiled = backend.build(kernel, "", Options(cache=False))
    n = 2000
    data = {
        "n_i": n, "n_j": n, "A_ptr": np.arange(0, n * n + 1, n), "A_idx": np.tile(np.arange(n), n),
        "A_val": np.ones(n * n), "x_val": np.ones(n), "y_val": np.zeros(n),
    }  # fmt: skip
    block = Block(kernel, data)
    threads = [threading.Thread(target=compiled.call, args=(block.address,)) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_array_equal(data["y_val"], n)


def test_llvm_says_what_it_does_not_like():
    with pytest.raises(BuildError) as caught:
        machine.compile("define i64 @f() { ret i32 0 }")
    assert caught.value.source.startswith("define")
    assert caught.value.output


@needs_cc
def test_the_c_compiler_says_what_it_does_not_like():
    with pytest.raises(BuildError, match="the C compiler") as caught:
        toolchain.compile("int f( {", Options())
    assert "error" in caught.value.output
    assert caught.value.source == "int f( {"


def test_no_c_compiler(monkeypatch):
    monkeypatch.setattr(toolchain.shutil, "which", lambda name: None)
    with pytest.raises(LinnetError, match="no C compiler on this machine"):
        backend.build(forty_two(), "k", Options(backend="c", cache=False))
    with pytest.raises(LinnetError, match="no C compiler 'tcc'"):
        toolchain.find(Options(compiler="tcc"))
    assert not toolchain.available(Options())


def test_code_that_is_not_optimized_is_other_code(options):
    kernel, quick = kernels.reductions("float64", ["+"]), replace(options, optimize=False)
    made = back_ends.of(options).generate
    assert made(kernel, options) != made(kernel, quick)
    assert full_key("", options) != full_key("", quick), "one would be loaded for the other"


def test_the_sanitizers_are_the_c_compilers():
    flags = toolchain.flags(Options(sanitize=True), "")
    assert "-fsanitize=address,undefined" in flags
    assert Options(sanitize=True).target == "c"
