"""Processes: many that compile one kernel at once, forks, pickles, and a cache that was damaged."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.robustness.kernels import ROOT, matrix, passes, python, spgemm, spmv, vector

import linnet as ln
from linnet.errors import CacheError
from linnet.runtime.memory import Memory

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders away"
)


CALL = "print(spmv(vector(), ln.asarray(matrix(), format='csr'), np.ones(20)).to_numpy().sum())\n"
FROM_CACHE = "import sys\nassert 'linnet.backend.generate' not in sys.modules, 'compiled again'\n"
SUM = f"{matrix().sum()}\n"
ENTRIES = 3  # of a kernel: its program, its machine code, and what a call has to know


# -- one cache, many processes ---------------------------------------------------------------------


def test_processes_that_compile_one_kernel_at_once(tmp_path):
    with ThreadPoolExecutor(3) as pool:
        told = pool.map(lambda _: passes(CALL, LINNET_CACHE_DIR=str(tmp_path / "c")), range(3))
        assert list(told) == [SUM] * 3
    assert len(list((tmp_path / "c").iterdir())) == ENTRIES  # and nothing unfinished
    assert passes(CALL + FROM_CACHE, LINNET_CACHE_DIR=str(tmp_path / "c")) == SUM


THREADS = """
import sys, threading
sys.setswitchinterval(1e-5)
A, x, y = ln.asarray(matrix(), format='csr'), ln.asarray(np.ones(20)), vector()
expected, right = matrix().sum(1), []

def work():
    mine = vector()
    for _ in range(300):
        for result in (mine, y):
            spmv(result, A, x)
        if _ % 50 == 0:
            right.append(all(np.array_equal(r.copy().to_numpy(), expected) for r in (mine, y)))

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(right.count(True), len(right))
"""


def test_the_machine_code_of_calls_is_made_once(tmp_path):
    """Many threads want it at once; all that is made of it knows where it is."""
    assert passes(THREADS, LINNET_CACHE_DIR=str(tmp_path / "c")) == "48 48\n"


@pytest.fixture(scope="module")
def good_entries(tmp_path_factory) -> dict[str, bytes]:
    """The names and the contents of the entries of CALL."""
    folder = tmp_path_factory.mktemp("good") / "c"
    with ln.config(cache_dir=folder):
        ln.kernel(_again())(vector(), ln.asarray(matrix(), format="csr"), np.ones(20))
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    assert len(found) == ENTRIES
    return found


def damaged(data: bytes) -> dict[str, bytes]:
    middle = len(data) // 2
    return {
        "cut off": data[:middle],
        "empty": b"",
        "a byte": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "the head only": data[:40],
        "garbage after the head": data[:8] + bytes(range(256)) * 4,
        "something else": b"hello",
    }


@pytest.mark.parametrize("which", [[0], [1], [2], [0, 1, 2]], ids=str)
@pytest.mark.parametrize("damage", damaged(b" " * 100))
def test_a_damaged_entry_is_made_again(tmp_path, good_entries, damage, which):
    folder = tmp_path / "c"
    folder.mkdir(mode=0o700)
    for k, (name, data) in enumerate(good_entries.items()):
        (folder / name).write_bytes(damaged(data)[damage] if k in which else data)
        (folder / name).chmod(0o600)
    with ln.config(cache_dir=folder):
        y = ln.kernel(_again())(vector(), ln.asarray(matrix(), format="csr"), np.ones(20))
    assert y.to_numpy().sum() == matrix().sum()
    lengths = {path.name: len(path.read_bytes()) for path in folder.iterdir()}
    assert all(lengths[name] == len(good_entries[name]) for name in lengths)  # made, or removed
    assert passes(CALL, LINNET_CACHE_DIR=str(folder)) == SUM


def _again():
    """A kernel that this process has not compiled, of the same text as `spmv`."""

    def spmv(y, A, x):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j] * x[j]

    return spmv


@posix
@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_an_entry_that_is_no_file(tmp_path, good_entries, kind):
    folder = tmp_path / "c"
    folder.mkdir(mode=0o700)
    for name, data in good_entries.items():
        target = tmp_path / name
        target.write_bytes(data)
        if kind == "folder":
            (folder / name).mkdir()
        elif kind == "pipe":
            os.mkfifo(folder / name)
        else:
            (folder / name).symlink_to(target)
    done = python(CALL, LINNET_CACHE_DIR=str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stdout == SUM
    assert all((tmp_path / name).read_bytes() == data for name, data in good_entries.items())


# -- folders that cannot be used -------------------------------------------------------------------


def refused(folder: object, problem: str) -> CacheError:
    with ln.config(cache_dir=folder), pytest.raises(CacheError) as caught:
        ln.kernel(_again())(vector(), ln.asarray(matrix(), format="csr"), np.ones(20))
    error = caught.value
    assert error.message.startswith("the cache directory ")
    assert error.message.endswith(problem)
    assert "LINNET_CACHE_DIR" in (error.hint or "")
    assert error.at is not None
    assert error.at.file == __file__
    return error


@posix
def test_folders_that_are_refused(tmp_path):
    shared, file, loop = tmp_path / "shared", tmp_path / "file", tmp_path / "loop"
    shared.mkdir()
    shared.chmod(0o777)
    refused(shared, "can be written to by others")
    file.write_text("")
    refused(file, "is not a folder")
    refused(file / "below", "is not a folder")
    loop.symlink_to(loop)
    refused(loop, "is not a folder")
    refused("/dev/null", "is not a folder")
    refused(tmp_path / ("a" * 300), "cannot be made (File name too long)")
    refused("~nobody-has-this-name/cache", "cannot be found (Could not determine home directory.)")
    error = refused("nul\0byte", ")")
    assert "cannot be found (" in error.message
    assert "embedded null" in error.message


@root
def test_a_folder_of_somebody_else_is_refused(tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    refused(folder, "belongs to another user")


@posix
def test_a_folder_behind_a_link(tmp_path):
    folder, link = tmp_path / "c", tmp_path / "link"
    folder.mkdir(mode=0o700)
    link.symlink_to(folder)
    with ln.config(cache_dir=link):
        ln.kernel(_again())(vector(), ln.asarray(matrix(), format="csr"), np.ones(20))
    assert len(list(folder.iterdir())) == ENTRIES
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    with ln.config(cache_dir=tmp_path), pytest.warns(RuntimeWarning, match="keeps no") as told:
        ln.kernel(_again())(vector(), ln.asarray(matrix(), format="csr"), np.ones(20))
    assert told[0].filename == __file__


@root
def test_a_folder_that_another_user_cannot_write_to(tmp_path):
    """As the test above, by a process that gives up being root."""
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    folder = tmp_path / "c"
    folder.mkdir(mode=0o500)
    os.chown(folder, 65534, 65534)
    # what is imported later cannot be read any more by then
    early = "import linnet.backend.deep, linnet.backend.llvm, linnet.backend.machine as m\n"
    early += "m.assembly('')\n"
    give_up = "import os; spgemm(ln.empty_tensor(ln.CSR), matrix(), matrix())\n"
    give_up += f"os.setresuid(65534, 65534, 65534); ln.config(cache_dir={str(folder)!r})\n"
    done = python(early + give_up + CALL)
    assert done.returncode == 0, done.stderr
    assert done.stdout == SUM
    assert "Linnet keeps no compiled kernels" in done.stderr
    assert "cannot be written to (Permission denied)" in done.stderr


# -- forks and pickles -----------------------------------------------------------------------------


@posix
def test_a_fork_after_use():
    A, x = ln.asarray(matrix(), format="csr"), np.ones(20)
    y = spmv(vector(), A, x)
    child = os.fork()
    if child == 0:
        with ln.config(cache=False):
            right = spmv(vector(), A, x).to_numpy().tolist() == y.to_numpy().tolist()
            right &= (
                ln.kernel(_again())(vector(), A, x).to_numpy().tolist() == y.to_numpy().tolist()
            )
        os._exit(0 if right else 1)
    assert _ends(child) == 0
    assert y.to_numpy().tolist() == matrix().sum(axis=1).tolist()


@posix
def test_a_fork_while_others_compile():
    """The child finds no lock held, and LLVM in a state in which it can be used."""
    A, x, stop = ln.asarray(matrix(), format="csr"), np.ones(20), threading.Event()
    expected = matrix().sum(axis=1).tolist()

    def work() -> None:
        with ln.config(cache=False):
            while not stop.is_set():
                ln.kernel(_again())(vector(), A, x)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for k in range(4):
            stop.wait(0.02 * k)
            child = os.fork()
            if child == 0:
                signal.alarm(300)
                with ln.config(cache=False):
                    y = ln.kernel(_again())(vector(), A, x)
                os._exit(0 if y.to_numpy().tolist() == expected else 1)
            assert _ends(child) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


class _Slow:
    """A key that takes its time: the lock of what is known is held meanwhile."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def __hash__(self) -> int:
        self.asked.set()
        self.go.wait(30)
        return 0


@posix
def test_a_fork_while_others_remember():
    memory, key = Memory[object, int](), _Slow()
    thread = threading.Thread(target=memory.put, args=(key, 1))
    thread.start()
    try:
        assert key.asked.wait(30)
        child = os.fork()
        if child == 0:
            signal.alarm(300)
            os._exit(memory.put("another", 0))
        assert _ends(child) == 0
    finally:
        key.go.set()
        thread.join()


FIRST = """
import os, random, signal, threading, time
A, x = ln.asarray(matrix(), format="csr"), np.ones(20)
calls = [
    lambda: spmv(vector(), A, x).to_numpy().sum(),
    lambda: (A + A).to_numpy().sum() / 2,
    lambda: ln.sort(ln.asarray([3.0, 1.0])).to_numpy()[0] - 1 + matrix().sum(),
    lambda: A.sum().item(),
]
for k in range({tries}):  # in processes that have not called anything
    drawn, parent = random.Random(1000 * {seed} + k), os.fork()
    if parent == 0:
        signal.alarm(240)
        mine, other = drawn.choice(calls), drawn.choice(calls)
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(drawn.random() * 0.6)
        child = os.fork()
        if child == 0:
            signal.alarm(120)
            os._exit(0 if mine() == matrix().sum() else 1)
        thread.join()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(end="" if status == 0 else f"the child ended with {{status}}", flush=True)
        os._exit(0 if status == 0 and mine() == matrix().sum() else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(parent, 0)[1])
    assert status == 0, (k, status)
print("all")
"""


def _forks_while_others_begin(seed: int, tries: int) -> None:
    """While another thread makes its first call: it imports the compiler, and that LLVM."""
    text = FIRST.format(seed=seed, tries=tries)
    assert passes(text, seconds=60 * tries, LINNET_CACHE="0") == "all\n"


FIRST_IMPORT = """
import os, signal, sys, threading, time
import numpy as np, linnet as ln

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "linnet.runtime.kernel" and not begun.is_set():
            begun.set()
            time.sleep(1)

begun = threading.Event()
sys.meta_path.insert(0, Slow())
assert "linnet.runtime.kernel" not in sys.modules
a = ln.asarray(np.eye(2))
thread = threading.Thread(target=lambda: a + a)
thread.start()
assert begun.wait(100)
child = os.fork()
if child == 0:
    signal.alarm(100)
    os._exit(0 if (a + a).to_numpy().sum() == 4 else 1)
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

AFTER_THE_LAST_LOOK = """
import os, signal, sys, threading, time

def late():
    thread.start()
    begun.wait(20)

os.register_at_fork(before=late)  # before ours, which so comes first
import numpy as np, linnet as ln

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == wanted and not begun.is_set():
            begun.set()
            time.sleep(1)

a, begun = ln.asarray(np.eye(2)), threading.Event()
wanted = "linnet.{wanted}"
sys.meta_path.insert(0, Slow())
assert wanted not in sys.modules
thread = threading.Thread(target=lambda: a + a)
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if (a + a).to_numpy().sum() == 4 else 1)
assert begun.is_set()
thread.join()
assert (a + a).to_numpy().sum() == 4
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

READING = """
import os, tempfile, threading, time
import linnet as ln
from linnet.backend import machine

begun, busy, optimized = threading.Event(), threading.Lock(), machine._optimized

def slow(*args):
    with busy:
        begun.set()
        time.sleep(1)
    return optimized(*args)

machine._optimized = slow
path = os.path.join(tempfile.mkdtemp(), "a.mtx")
with open(path, "w") as file:
    file.write("%%MatrixMarket matrix coordinate real general\\n1 1 1\\n1 1 2.0\\n")
thread = threading.Thread(target=ln.read, args=(path,))
thread.start()
assert begun.wait(100)
child = os.fork()
if child == 0:
    os._exit(busy.locked())
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@posix
@pytest.mark.parametrize("text", [FIRST_IMPORT, READING])
def test_a_fork_waits_for_what_no_kernel_has_begun(text):
    """A first call still imports what kernels are; files are read by code that is no kernel."""
    _forks_well(text)


@posix
@pytest.mark.parametrize("wanted", ["api.calls", "arrays.graph", "runtime.kernel"])
def test_a_child_forgets_what_others_began_to_import_after_the_last_look(wanted):
    _forks_well(AFTER_THE_LAST_LOOK.replace("{wanted}", wanted))


def _forks_well(text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "LINNET_CACHE": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "0\n", done.stderr


@posix
def test_a_fork_while_another_thread_makes_its_first_call():
    _forks_while_others_begin(0, 12)


@posix
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_many_forks_while_another_thread_makes_its_first_call(seed):
    _forks_while_others_begin(seed, 20)


def _ends(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_tensors_and_kernels_go_to_other_processes():
    A = ln.asarray(matrix(), format="csr")
    B = pickle.loads(pickle.dumps(A))
    assert np.array_equal(B.to_numpy(), matrix())
    assert B.format == A.format
    assert pickle.loads(pickle.dumps(ln.empty_tensor(ln.CSR))).shape is None
    parts = pickle.dumps((spmv, A, np.ones(20)))
    text = (
        "import pickle, sys\n"
        "kernel, A, x = pickle.loads(sys.stdin.buffer.read())\n"
        "assert kernel is spmv\n"
        "sys.stdout.buffer.write(pickle.dumps(kernel(vector(), A, x)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"from tests.robustness.kernels import *\n{text}"],
        input=parts,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert pickle.loads(done.stdout).to_numpy().tolist() == matrix().sum(axis=1).tolist()


@posix
def test_a_pool_of_processes():
    A = ln.asarray(matrix(), format="csr")
    spgemm(ln.empty_tensor(ln.CSR), A, A)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for C in pool.map(_squared, [A] * 4):
            assert np.array_equal(C.to_numpy(), matrix() @ matrix())


def _squared(A: ln.Tensor) -> ln.Tensor:
    return spgemm(ln.empty_tensor(ln.CSR), A, A)


def test_nothing_stays_behind(tmp_path):
    """A process leaves no files but its entries, and says nothing when it ends."""
    done = python(CALL, LINNET_CACHE_DIR=str(tmp_path / "c"), TMPDIR=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in Path(tmp_path).iterdir()] == ["c"]
