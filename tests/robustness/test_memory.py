"""Memory: reused where nobody sees it, never written where somebody does, never freed twice."""

from __future__ import annotations

import errno
import gc
import resource
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.robustness.kernels import (
    accumulate,
    copied,
    gather,
    matrix,
    outer,
    passes,
    spmv,
    vector,
)

import linnet as ln
from linnet import shortage
from linnet.errors import IndexBoundsError, LinnetError, OutOfMemoryError

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def long_vector(n: int) -> ln.Tensor:
    return ln.tensor([[0]], [1.0], (n,), format=ln.CSF(1))


# -- reuse -----------------------------------------------------------------------------------------


def test_an_output_of_the_same_length_and_another_shape():
    C = ln.empty_tensor(ln.DENSE(2))
    values = np.arange(6.0)
    for shape in [(2, 3), (3, 2), (6, 1), (1, 6)] * 20:
        copied(C, values.reshape(shape))
        others = [np.full(6, -1.0) for _ in range(5)]  # would take memory that was freed
        assert C.shape == shape
        assert C.to_numpy().ravel().tolist() == values.tolist()
        del others


@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO(2), ln.DCSR, ln.DENSE(2)], ids=str)
def test_an_output_that_grows_and_shrinks(format):
    C = ln.empty_tensor(format)
    for n in [3, 40, 1, 40, 40, 0, 7]:
        A = matrix(n, n)
        copied(C, ln.asarray(A, format="csr"))
        assert np.array_equal(C.to_numpy(), A)


def test_an_output_that_changes_its_dtype():
    y = vector()
    for dtype in ("float64", "int8", "complex128", "uint16", "int64"):
        A = ln.asarray(np.eye(5, dtype=dtype), format="csr")
        spmv(y, A, np.ones(5, dtype))
        assert y.to_numpy().tolist() == [1] * 5
        assert y.dtype == dtype


def test_views_outlive_their_tensor_and_do_not_change():
    y, A = vector(), matrix(50)
    spmv(y, A, np.ones(50))
    view, buffer, transposed = y.to_numpy(), y.buffers["val"], ln.asarray(A, format="csr").T
    before = view.copy()
    for k in range(20):
        spmv(y, A, np.full(50, float(k)))
    del y
    gc.collect()
    others = [np.full(50, -1.0) for _ in range(100)]
    assert view.tolist() == before.tolist() == buffer.tolist()
    assert np.array_equal(transposed.to_numpy(), A.T)
    del others


def test_views_cannot_be_written_to():
    y = spmv(vector(), matrix(), np.ones(20))
    for view in (y.to_numpy(), y.buffers["val"]):
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1


# -- aliases ---------------------------------------------------------------------------------------


def test_the_users_memory_is_never_written_to():
    array = np.arange(6.0)
    y, x = ln.asarray(array[:3]), ln.asarray(array[3:])
    assert accumulate(y, x).to_numpy().tolist() == [3, 5, 7]
    assert array.tolist() == [0, 1, 2, 3, 4, 5]
    spmv(x, np.eye(3), y)
    assert array.tolist() == [0, 1, 2, 3, 4, 5]


def test_one_tensor_as_operand_and_as_output():
    A, y = matrix(), ln.asarray(np.ones(20))
    for _ in range(3):
        expected = A @ y.to_numpy()
        assert spmv(y, A, y) is y
        assert y.to_numpy().tolist() == expected.tolist()
    C = ln.asarray(A, format="csr")
    copied(C, C)
    assert np.array_equal(C.to_numpy(), A)


def test_one_tensor_as_operand_and_as_what_is_updated():
    y = spmv(vector(), np.eye(3), np.arange(3.0))
    for _ in range(3):
        expected = 2 * y.to_numpy()
        accumulate(y, y)
        assert y.to_numpy().tolist() == expected.tolist()


# -- failures --------------------------------------------------------------------------------------


def test_a_failure_leaves_operands_and_the_next_call_works():
    x, y = np.arange(3.0), vector()
    spmv(y, np.eye(3), x)
    shown = y.to_numpy()
    with pytest.raises(IndexBoundsError):
        gather(y, x, np.array([0, 5]))
    assert shown.tolist() == x.tolist() == [0, 1, 2]
    assert gather(y, x, np.array([2, 0])).to_numpy().tolist() == [2, 0]


def test_an_operand_that_is_the_output_survives_a_failure():
    y = ln.asarray(np.arange(3.0))
    with pytest.raises(IndexBoundsError):
        gather(y, y, np.array([0, 5]))
    assert y.to_numpy().tolist() == [0, 1, 2]


def test_what_was_shown_survives_a_failure():
    y = spmv(vector(), np.eye(3), np.arange(3.0))
    y.to_numpy()  # from here on its memory is not reused
    with pytest.raises(IndexBoundsError):
        gather(y, np.ones(3), np.array([0, 5]))
    assert y.to_numpy().tolist() == [0, 1, 2]


def test_a_result_that_cannot_be_allocated():
    C, a = ln.empty_tensor(ln.CSR), long_vector(2**45)
    for _ in range(3):
        with pytest.raises(OutOfMemoryError) as caught:
            outer(C, a, a)
        assert isinstance(caught.value, MemoryError)
        assert caught.value.at.file == __file__
    assert a.buffers["val"].tolist() == [1.0]
    assert outer(C, [1.0, 2.0], [3.0]).to_numpy().tolist() == [[3.0], [6.0]]


LIMITED = """
import resource
from pathlib import Path

def limit(more):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (size, size))

def fails(call):
    try:
        call()
    except MemoryError as error:
        assert isinstance(error, ln.LinnetError)
    else:
        raise SystemExit("there was memory")

a, C = ln.asarray(np.ones(10_000), format=ln.CSF(1)), ln.empty_tensor(ln.CSF(2))
y, one = ln.asarray(np.zeros(10_000_000)), np.ones(3)
outer(C, one, one)
accumulate(ln.asarray(one), one)
limit(64 << 20)
for _ in range(3):
    fails(lambda: outer(C, a, a))  # while it grows
    assert outer(C, one, one).to_numpy().sum() == 9
fails(lambda: accumulate(y, y))  # before it begins: what it holds is copied
assert y.to_numpy()[:2].tolist() == [0, 0]
assert a.to_numpy().sum() == 10_000
"""


@linux
def test_memory_that_runs_out():
    passes(LIMITED)


COMPILING = """
import resource
from pathlib import Path

y, x = ln.asarray(np.arange(20.0)), np.ones(20)
pages = int(Path("/proc/self/statm").read_text().split()[0])
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + {more}, hard))
try:
    {call}
except MemoryError as error:
    failed = error
resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
assert isinstance(failed, ln.LinnetError), repr(failed)
assert failed.at.file == "<string>", failed
assert y.to_numpy().tolist() == np.arange(20.0).tolist()
assert accumulate(y, x).to_numpy().tolist() == np.arange(1.0, 21.0).tolist()
assert (y + y).to_numpy().tolist() == np.arange(2.0, 42.0, 2.0).tolist()
"""


@linux
@pytest.mark.parametrize("call", ["accumulate(y, x)", "y + y"])
@pytest.mark.parametrize("more", [1 << 19, 4 << 20, 12 << 20, 100 << 20])
def test_memory_that_runs_out_while_a_kernel_is_compiled(call, more):
    """In Python, in an import, and where a library is loaded; with enough of it, all is well."""
    passes(COMPILING.format(call=call, more=more), LINNET_CACHE="0", LINNET_BACKEND="llvm")


@pytest.mark.parametrize(
    ("error", "is_of_memory"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (OSError(errno.ENOENT, "No such file or directory"), False),
        (OSError("failed to map segment from shared object"), "short"),
        (ImportError("DLL load failed"), "short"),
        (SystemError("error return without exception set"), "short"),
        (SyntaxError("expected ':'"), "short"),
        (ValueError("something else"), False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("short", [False, True])
def test_what_comes_of_too_little_memory(monkeypatch, error, is_of_memory, short):
    """What says so, and what does not where there is little."""
    monkeypatch.setattr(shortage, "is_short", lambda *_: short)
    found = shortage.of_memory(error)
    assert (found is not None) == (short if is_of_memory == "short" else is_of_memory)
    assert found is None or isinstance(found, OutOfMemoryError)


def test_there_is_memory():
    assert not shortage.is_short()


AT_BORDERS = """
import os, resource, signal
from pathlib import Path

B, V, folder = matrix(), np.arange(5000.0)[::-1] % 97, FOLDER
x, A, D = ln.asarray(np.arange(20.0)), ln.asarray(B, format="csr"), ln.asarray(B)
held = [(T, {k: a.copy() for k, a in T.buffers.items()}) for T in (A, D)]
head = "%%MatrixMarket matrix coordinate real general"
Path(folder + "/a.mtx").write_text(head + "\\n1 1 1\\n1 1 2\\n")
np.save(folder + "/a.npy", B)

def define():
    @ln.kernel
    def double(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i] * 2

def assign(T):
    T[3, 4] = 1.0

def borders():
    yield lambda: ln.sort(ln.asarray(V))
    yield lambda: ln.ones(20) + 1
    yield lambda: (x + 1, A @ A, A[3])
    yield define
    yield lambda: (assign(D), assign(A))
    yield lambda: accumulate(D, B)
    yield lambda: (A @ A, A @ x, A.T + A, -A, A < 2, A**2, abs(A), A == A, 1.5 in A, 2 - A)
    yield lambda: (A[3], A[2:5, ::2], A[[1, 3]], A[A > 1], list(A))
    yield lambda: (A.sum(), A.sum(axis=0), A.mean(), A.std(axis=0), x.dot(x), A.nonzero())
    yield lambda: (ln.cumulative_sum(x), ln.where(A > 0, A, 0), ln.concat([A, A]))
    yield lambda: (ln.unique_values(ln.asarray(V)), ln.isin(x, x))
    yield lambda: (ln.linalg.inv(ln.eye(4)), ln.fft.fft(x), ln.sqrt(A), ln.random((5, 5)))
    yield lambda: (ln.read(folder + "/a.mtx"), ln.read(folder + "/a.npy"))
    yield lambda: ln.write(folder + "/b.mtx", A)
    yield lambda: (ln.einsum("ij,jk->ik", A, A), ln.fuse(lambda a, b: (a + b).sum())(A, A))
    yield lambda: (np.add(x, x), np.sum(x), np.concatenate([x, x]))
    yield lambda: (A.to(ln.COO), A.copy(), A.to_numpy(), str(A), A._repr_html_(), A.tolist())
    yield lambda: (accumulate.loops(x, x), accumulate.code(x, x), ln.explain(accumulate, x, x))

def outcome(call, more):
    '''Where small pieces of memory are all taken, and a little is left beside them.'''
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    tight, wide = (pages * resource.getpagesize(), hard), (hard, hard)
    little, pile, raised = (tight[0] + more, hard), [], None
    resource.setrlimit(resource.RLIMIT_AS, tight)
    try:
        while True:
            pile.append(bytes(300))
    except MemoryError:
        resource.setrlimit(resource.RLIMIT_AS, little)
    try:
        call()
    except BaseException as error:
        raised = error
    resource.setrlimit(resource.RLIMIT_AS, wide)
    if raised is None:
        return "done"
    assert isinstance(raised, ln.errors.OutOfMemoryError), repr(raised)
    assert raised.at.file == "<string>", raised
    for T, before in held:
        assert all(np.array_equal(T.buffers[k], before[k]) for k in before)
    return "told"

BEFORE
seen = set()
for k, call in enumerate(borders()):
    for more in (0, 1 << 19, 1 << 21):
        read, write = os.pipe()
        if os.fork() == 0:
            signal.alarm(60)
            os.write(write, outcome(call, more).encode())
            os._exit(0)
        os.close(write)
        said = os.read(read, 100).decode()
        os.close(read)
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 0 and said, (k, more)
        seen.add(said)
print(*sorted(seen))
"""


@linux
@pytest.mark.parametrize("before", ["", "x + 1, A @ A, A[3]"])
def test_memory_that_runs_out_at_every_border(before, tmp_path):
    """No error of another kind leaves what users call, and LLVM never ends the process."""
    text = AT_BORDERS.replace("BEFORE", before).replace("FOLDER", repr(str(tmp_path)))
    told = passes(text, LINNET_CACHE="0", LINNET_BACKEND="llvm")
    assert told == ("done told\n" if before else "told\n")


def test_a_library_that_is_not_there_while_there_is_little_memory(monkeypatch):
    """One that cannot be loaded for want of memory is not said to be absent, nor the other way."""
    monkeypatch.setattr(shortage, "is_short", lambda nbytes=1 << 40: nbytes > shortage.IMPORTING)
    assert shortage.of_memory(ImportError("cannot map segment")) is not None
    assert shortage.of_memory(ModuleNotFoundError("No module named 'h5py'")) is None


@pytest.mark.parametrize("name", ["h5py", "scipy.sparse", "matplotlib.figure"])
def test_a_library_that_no_memory_is_left_for_is_not_said_to_be_absent(monkeypatch, tmp_path, name):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(shortage, "is_short", lambda *_: True)
    A = ln.asarray(matrix(), format="csr")
    uses = {
        "h5py": lambda: ln.write(tmp_path / "a.bsp.h5", A),
        "scipy.sparse": A.to_scipy,
        "matplotlib.figure": lambda: ln.draw(A).save(tmp_path / "a.png"),
    }
    with pytest.raises(OutOfMemoryError):
        uses[name]()


WITHOUT = """
import sys
sys.modules["llvmlite.binding"] = None
x = ln.asarray(np.ones(3))
try:
    {call}
except ln.errors.InstallationError as error:
    assert isinstance(error, ImportError)
    assert error.at.file == "<string>" and "llvmlite" in error.message and error.why and error.hint
else:
    raise SystemExit("it is not needed?")
"""


@pytest.mark.parametrize(
    "call", ["accumulate(ln.asarray(np.ones(3)), np.ones(3))", "ln.asarray(np.ones(3)) + 1"]
)
def test_llvmlite_that_cannot_be_imported(call):
    passes(WITHOUT.format(call=call), LINNET_CACHE="0", LINNET_BACKEND="llvm")


@linux
def test_nothing_is_leaked():
    """20 000 calls, more than half of which fail."""
    A, x = ln.asarray(matrix(60), format="csr"), np.ones(60)
    y, z, C = vector(), vector(), ln.empty_tensor(ln.CSR)
    huge, bad = long_vector(2**45), np.array([0] * 300 + [99])
    failing = [
        lambda: gather(z, x, bad),
        lambda: outer(ln.empty_tensor(ln.CSR), huge, huge),
        lambda: spmv(y, A, np.ones(3)),
        lambda: spmv(y, A, None),
        lambda: spmv(y, A),
    ]

    def work(count: int) -> None:
        for _ in range(count):
            spmv(y, A, x)
            copied(C, A)
            copied(ln.empty_tensor(ln.CSR), A)
            accumulate(y, x)
            y.to_numpy()
            for call in failing:
                with pytest.raises(LinnetError):
                    call()

    work(100)
    before = _resident()
    work(2000)
    assert _resident() - before < 8 << 20


def _resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def test_what_is_kept_is_updated_where_it_is():
    """Without a copy, unless somebody else may see the memory."""

    @ln.kernel
    def add(y, A, x):
        for i, j in ...:
            y[i] += A[i, j] * x[j]
        return y

    A, x = ln.asarray(np.eye(3), format="csr"), np.ones(3)
    given = np.zeros(3)
    y = add(ln.asarray(given), A, x)
    place = y.contents().buffers[0].address
    add(y, A, x)
    assert y.contents().buffers[0].address == place
    seen = y.to_numpy()
    add(y, A, y)
    assert (given.tolist(), seen.tolist(), y.to_numpy().tolist()) == ([0] * 3, [2] * 3, [4] * 3)
