"""Codelets that kernels share: made once, kept, found again, and gone when nobody has them."""

import gc
import os
import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from benchmarks import compiling
from tests.unit.backend.harness import Block, needs_cc

from linnet import backend, imp
from linnet.backend import back_ends, c, linking, llvm, machine
from linnet.backend.inlining import fixed
from linnet.codelets.named import instantiate
from linnet.imp import Address, Argument, Call, Const, Do, Kernel, Store, Var
from linnet.imp import Block as Code
from linnet.options import Options

INT = imp.INT
N = Var("n")


def sorting(name: str = "k", first: int = 0, dtype: str = "int64") -> Kernel:
    """Write a number into the first place of an array, and sort that."""
    registry: dict[str, imp.Function] = {}
    x = imp.Buffer("x", dtype)
    function = instantiate("sort", (f"{dtype}*", INT, INT), registry)
    body = Code(
        (
            Store(x, Const(0, INT), Const(first, dtype)),
            Do(Call(function.name, (Address(x), Const(0, INT), N), "void")),
        )
    )
    return Kernel(name, (Argument("x", (N,), (x,)),), body, tuple(registry.values()))


def sorted_by(compiled: backend.Compiled, kernel: Kernel) -> list[int]:
    x = np.array([5, 3, 9, 1, 4] * 30, dtype=kernel.arguments[0].buffers[0].dtype)
    assert compiled.call(Block(kernel, {"n": len(x), "x": x}).address) == 0
    return list(x)


def wanted(first: int = 0) -> list[int]:
    return sorted([first, *([5, 3, 9, 1, 4] * 30)[1:]])


def forget() -> None:
    """Be a process that has not called any kernel yet."""
    linking._lately.clear()
    gc.collect()


@pytest.fixture(params=["own", "llvm"])
def options(request, tmp_path):
    forget()
    return Options(loader=request.param, cache_dir=str(tmp_path / "cache"))


@pytest.fixture
def made(monkeypatch):
    """How often each codelet is compiled."""
    counts = Counter()
    kind = type(back_ends.of(Options()))
    compile = kind.codelet

    def counted(self: back_ends.BackEnd, text: str, options: Options) -> bytes:
        counts[text] += 1
        return compile(self, text, options)

    monkeypatch.setattr(kind, "codelet", counted)
    return counts


def test_two_kernels_share_a_codelet(options, made):
    kernels = [sorting("a", 7), sorting("b", -3)]
    built = [backend.build(k, k.name, options) for k in kernels]
    assert list(made.values()) == [1]
    assert [sorted_by(b, k) for b, k in zip(built, kernels, strict=True)] == [wanted(7), wanted(-3)]


def test_without_a_disk_cache_too(made):
    forget()
    for name in ("a", "b"):
        kernel = sorting(name)
        assert sorted_by(backend.build(kernel, name, Options(cache=False)), kernel) == wanted()
    assert list(made.values()) == [1]


def test_another_process_finds_it_in_the_cache(options, made):
    backend.build(sorting("a"), "a", options)
    forget()
    kernel = sorting("b", 2)
    built = backend.build(kernel, "b", options)
    del built
    forget()
    loaded = backend.load("b", options)
    assert loaded.cached
    assert sorted_by(loaded, kernel) == wanted(2)
    assert list(made.values()) == [1]


def test_it_is_kept_beside_a_kernel_though_it_was_made_for_another(options, made):
    """What was made with no cache, or for another folder, is in this one, too."""
    backend.build(sorting("a"), "a", replace(options, cache=False))
    kernel = sorting("b", 2)
    built = backend.build(kernel, "b", options)
    del built
    forget()
    assert sorted_by(backend.load("b", options), kernel) == wanted(2)
    assert list(made.values()) == [1]


def test_other_types_and_other_ways_are_other_codelets(options, made):
    backend.build(sorting("a"), "a", options)
    backend.build(sorting("b", dtype="int32"), "b", options)
    assert list(made.values()) == [1, 1]
    backend.build(sorting("a"), "a", replace(options, optimize=False))
    assert sorted(made.values()) == [1, 2]


def codelet_entries(options: Options) -> list[str]:
    """The files of codelets: those of a kernel are known by its key."""
    cache = backend.Cache.open(options)
    names = llvm.separate(sorting(), machine.host(options.loader == "own"))[1]
    return [cache._path(linking.full_key(name, options)) for name in names]


@pytest.mark.parametrize("way", ["gone", "cut", "empty", "another"])
def test_what_happened_to_an_entry_does_not_matter(options, made, way):
    backend.build(sorting("a"), "a", options)
    forget()
    (path,) = codelet_entries(options)
    match way:
        case "gone":
            path.unlink()
        case "cut":
            path.write_bytes(path.read_bytes()[:-10])
        case "empty":
            path.write_bytes(b"")
        case "another":  # sound, but no code
            cache = backend.Cache.open(options)
            (name,) = llvm.separate(sorting(), machine.host(options.loader == "own"))[1]
            cache.store(linking.full_key(name, options), b"?" * 64)
    assert backend.load("a", options) is None
    kernel = sorting("a")
    assert sorted_by(backend.build(kernel, "a", options), kernel) == wanted()
    forget()
    assert sorted_by(backend.load("a", options), kernel) == wanted()
    assert list(made.values()) == [2]


def test_a_kernel_keeps_its_codelets_and_nobody_else_does(options):
    kernel = sorting("a")
    built = backend.build(kernel, "a", options)
    forget()
    assert len(linking._codelets) >= 1
    assert sorted_by(built, kernel) == wanted()
    before = len(linking._codelets)
    del built
    forget()
    assert len(linking._codelets) == before - 1


def test_few_are_kept_for_nobody(options, monkeypatch):
    monkeypatch.setattr(linking, "_LATELY", 1)
    for dtype in ("int64", "int32", "int16"):
        backend.build(sorting(dtype, dtype=dtype), dtype, options)
    assert len(linking._lately) == 1


def test_threads_that_need_the_same_wait_for_one(options, made):
    found = [[]] * 6

    def work(k: int) -> None:
        kernel = sorting(f"k{k}", k)
        found[k] = sorted_by(backend.build(kernel, kernel.name, options), kernel)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted(k) for k in range(6)]
    assert list(made.values()) == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_has_them(options):
    kernel = sorting("a")
    built = backend.build(kernel, "a", options)
    child = os.fork()
    if child == 0:
        other = sorting("b", 3)
        same = sorted_by(built, kernel) == wanted()
        again = sorted_by(backend.build(other, "b", options), other) == wanted(3)
        os._exit(0 if same and again else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_product_of_sparse_matrices_does_not_carry_what_orders_its_rows():
    modules = []
    for name in ("spgemm", "spgemm, coordinates"):
        kernel, args = compiling.kernel(name)
        text, codelets = llvm.separate(kernel.lowered(*args).kernel)
        assert [n.split(".")[1] for n in codelets] == ["order_bits_i64_i64"]
        assert all(f"declare void @{n}(" in text for n in codelets)
        assert "@codelet.list_by_levels" not in text
        assert "define internal i64 @codelet.search_i32" in text  # which is inlined
        modules.append(codelets)
    assert modules[0] == modules[1]


def test_a_codelet_alone_is_not_shared():
    kernel = sorting()
    only = Kernel("k", kernel.arguments, Code(kernel.body.stmts[1:]), kernel.codelets)
    assert llvm.separate(only)[1] == {}
    assert sorted_by(backend.build(only, "k", Options(cache=False)), only) == sorted(wanted(5))
    assert len(llvm.separate(kernel)[1]) == 1


def test_small_numbers_that_all_calls_pass_are_part_of_a_codelet():
    def call(*args: int) -> Call:
        return Call("f", tuple(Const(a, INT) for a in args), INT)

    assert fixed([call(1, 2, 300), call(1, 3, 300)]) == {0: Const(1, INT)}
    assert fixed([Call("f", (N, Const(-1, INT)), INT)]) == {1: Const(-1, INT)}


def count_down(x: list[int], n: int, step: int) -> None:
    x[n] = step
    if n > 0:
        count_down(x, n - step, step)


def test_a_codelet_that_calls_itself_takes_all_its_arguments(options):
    """The first call has another number than those that it makes."""
    registry: dict[str, imp.Function] = {}
    function = instantiate(count_down, ("int64*", INT, INT), registry)
    x = imp.Buffer("x", "int64")
    call = Call(function.name, (Address(x), Const(4, INT), Const(1, INT)), "void")
    body = Code((Store(x, Const(0, INT), Const(9, INT)), Do(call)))
    kernel = Kernel("k", (Argument("x", (N,), (x,)),), body, tuple(registry.values()))
    text, (name,) = llvm.separate(kernel)
    assert f"declare void @{name}(ptr nocapture, i64, i64)" in text
    assert sorted_by(backend.build(kernel, "k", options), kernel)[:6] == [1, 1, 1, 1, 1, 5]


def test_a_codelet_is_not_passed_what_it_is_made_for():
    text, (name,) = llvm.separate(sorting())
    assert f"declare void @{name}(ptr nocapture, i64) #6" in text


@needs_cc
def test_c_stands_alone():
    text = c.render(sorting())
    assert "static void sort_i64(" in text
