"""Every reader on files in which something was changed: what is accepted must be sound.

`python -m tests.files.fuzz --seconds 600` draws cases until the time is up; a case that fails is
told by its kind and number, with which it is run again: `--case npz:1234`.
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import math
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from tests.files.mutations import damage, mutate
from tests.files.seeds import KINDS, SAVE, seeds

import linnet as ln

REFUSED, UNWRITABLE = "refused", "not a file"
_SMALL = 10**5  # elements of an array that is made dense
_GROWTH = 1 << 18  # KiB that reading a small file may take
_FORTRAN = re.compile(rb"[0-9.][dD]")
_MOST = 1 << 32  # bytes for the process
_HANG = 180  # seconds
_UNWRITABLE = (TypeError, ValueError, KeyError, OSError, RecursionError, ArithmeticError)
_ENDS = (".npz", ".tns", ".mtx", ".bsp.h5", ".mtx.gz")


def run(kind: str, number: int, folder: Path) -> str:
    """One case: a file of a kind, changed, read and used; what came of it."""
    random = Random(f"{kind} {number}")
    path, known = folder / f"a.{kind}", seeds(kind)
    fields = mutate(random, random.choice(known), known)
    try:
        SAVE[kind](path, fields)
    except _UNWRITABLE:
        return UNWRITABLE
    path = _otherwise(random, path, kind)
    asked = _asked(random)
    before = _peak()
    try:
        tensor = ln.read(path, **asked)
    except ln.errors.FileError as error:
        _check_told(error, path)
        return _frugal(before, REFUSED)
    except ln.errors.OutOfMemoryError:
        return _frugal(before, REFUSED)
    except (ln.errors.FormatError, ln.errors.DTypeError, ln.errors.ShapeError):
        if asked:
            return _frugal(before, REFUSED)
        raise
    use(tensor, random, folder)
    if not asked:
        compare(tensor, path, kind)
    return _frugal(before, "read")


def _otherwise(random: Random, path: Path, kind: str) -> Path:
    """The file, now and then compressed, or with other bytes; HDF5 sees to its own."""
    if kind in ("mtx", "tns") and random.randrange(8) == 0:
        packed = gzip.compress(path.read_bytes())
        path = path.with_name(f"{path.name}.gz")
        path.write_bytes(packed)
    if kind not in ("bsp.h5", "h5ad") and random.randrange(8) == 0:
        path.write_bytes(damage(random, path.read_bytes()))
    return path


def _asked(random: Random) -> dict[str, Any]:
    """What is asked for besides the file: mostly nothing."""
    choices: tuple[dict[str, Any], ...] = ({"format": ln.COO}, {"format": "dcsr"})
    choices += ({"dtype": "float64"}, {"dtype": "int8"}, {"format": ln.CSF, "dtype": "complex128"})
    return random.choice(choices) if random.randrange(4) == 0 else {}


def _check_told(error: ln.LinnetError, path: Path) -> None:
    """An error tells which file, and where it was to be read."""
    assert path.name in error.message, error
    assert error.at is not None
    assert error.at.file == __file__, error


def _peak() -> int:
    """The most memory that the process had until now, in KiB; 0 where the system does not say."""
    if find_spec("resource") is None:
        return 0
    from resource import RUSAGE_SELF, getrusage

    return getrusage(RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)


def _limit_memory() -> None:
    """What takes more is an error, and leaves the machine alone.

    Sanitizers reserve addresses for all memory there is, and have an option of their own.
    """
    if find_spec("resource") is not None and "LINNET_SANITIZE" not in os.environ:
        from resource import RLIMIT_AS, getrlimit, setrlimit

        setrlimit(RLIMIT_AS, (_MOST, getrlimit(RLIMIT_AS)[1]))


def _frugal(before: int, outcome: str) -> str:
    grown = _peak() - before
    assert grown < _GROWTH, f"{grown} KiB for a small file that was {outcome}"
    return outcome


# -- using what was accepted -----------------------------------------------------------------------


def use(tensor: ln.Tensor, random: Random, folder: Path) -> None:
    """Everything that trusts what a tensor holds, after the checks that operands pass."""
    ln.from_buffers(tensor.format, tensor.shape, tensor.buffers)
    assert repr(tensor)
    assert str(tensor)
    shape = tensor.shape
    assert shape is not None
    listed = tensor.to(ln.COO(len(shape))) if shape else tensor
    if math.prod(shape) <= _SMALL and max(shape, default=0) <= _SMALL:
        dense = tensor.to_numpy()
        assert dense.shape == shape
        same(listed.to_numpy(), dense)
        same(tensor.T.to_numpy(), dense.T)
        if len(shape) == 2:
            same(tensor.to(ln.CSR).to_numpy(), dense)
            multiply(tensor, dense)
    elif len(shape) == 2 and shape[0] <= _SMALL:
        tensor.to(ln.CSR)
    write_back(tensor, random, folder)


def multiply(tensor: ln.Tensor, dense: np.ndarray) -> None:
    """A product, where rounding and overflow do not tell one order from another."""
    found = (tensor @ np.ones(dense.shape[1])).to_numpy()
    if np.isfinite(dense).all() and (np.abs(dense.astype(complex)) < 1e6).all():
        np.testing.assert_allclose(found, dense @ np.ones(dense.shape[1]), rtol=1e-5, atol=1e-5)


def same(a: np.ndarray, b: np.ndarray) -> None:
    """Equal to the last bit, but for which NaN it is."""
    assert a.shape == b.shape
    assert np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"), (a, b)


def write_back(tensor: ln.Tensor, random: Random, folder: Path) -> None:
    """What is written can be read."""
    end, shape = random.choice(_ENDS), tensor.shape
    assert shape is not None
    if tensor.fill_value or not shape or (".mtx" in end and len(shape) != 2):
        return
    if end == ".bsp.h5" and end[1:] not in KINDS:
        return
    ln.write(folder / f"back{end}", tensor)
    back = ln.read(folder / f"back{end}")
    assert back.shape == shape
    if math.prod(shape) <= _SMALL and max(shape) <= _SMALL:
        same(back.to_numpy(), tensor.to_numpy().astype(back.dtype))
    else:
        assert back.nnz == tensor.nnz or tensor.dtype == bool  # what is false is not written


def _text_of(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


def compare(tensor: ln.Tensor, path: Path, kind: str) -> None:
    """With what SciPy or NumPy read, if they do: they are not asked about what we refuse."""
    if kind not in ("npz", "npy", "mtx") or math.prod(tensor.shape or ()) > _SMALL:
        return
    if max(tensor.shape or (0,)) > _SMALL:
        return
    if kind == "mtx" and _FORTRAN.search(_text_of(path)):
        return  # an exponent as Fortran writes it, which SciPy leaves unread
    try:
        if kind == "npz":
            other = sp.load_npz(path)
            if other.format == "dia" and np.load(path)["offsets"].dtype.kind == "u":
                return  # SciPy takes 2**32 - 2 for -2
            other.check_format() if hasattr(other, "check_format") else None
        else:
            other = np.load(path) if kind == "npy" else scipy.io.mmread(path)
        dense = other.toarray() if sp.issparse(other) else np.asarray(other)
    except Exception:  # they raise nearly anything
        return
    ours = tensor.to_numpy()
    if kind == "mtx" and not np.isfinite(ours).all():
        return  # SciPy multiplies what it mirrors by -1, and makes NaN of infinite complex numbers
    if dense.dtype.kind in "biufc" and np.can_cast(dense.dtype, ours.dtype):
        same(ours, dense.astype(ours.dtype))


# -- for a while -----------------------------------------------------------------------------------


def main() -> int:
    """Cases until the time is up; the exit status says whether one failed."""
    about = argparse.ArgumentParser(description=__doc__)
    about.add_argument("--seconds", type=float, default=600)
    about.add_argument("--case", help="one case, such as npz:1234")
    about.add_argument("--first", type=int, default=time.time_ns() // 10**6, help="its number")
    about.add_argument("--kinds", nargs="*", default=KINDS)
    given = about.parse_args()
    warnings.simplefilter("ignore")
    faulthandler.enable()
    _limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        if given.case:
            kind, _, number = given.case.partition(":")
            print(run(kind, int(number), Path(folder)))
            return 0
        return _for_a_while(given.seconds, given.first, given.kinds, Path(folder))


def _for_a_while(seconds: float, first: int, kinds: list[str], folder: Path) -> int:
    outcomes, failures = Counter[str](), dict[str, str]()
    start = told = time.monotonic()
    number = first
    with tempfile.NamedTemporaryFile("w", prefix="linnet-fuzz-", delete=False) as now:
        print(f"the case that runs is in {now.name}", flush=True)
        while time.monotonic() - start < seconds:
            kind = kinds[number % len(kinds)]
            now.seek(0)
            now.write(f"{kind}:{number}\n")
            now.flush()
            faulthandler.dump_traceback_later(_HANG, exit=True)
            try:
                outcomes[f"{kind} {run(kind, number, folder)}"] += 1
            except Exception as error:
                outcomes[f"{kind} FAILED"] += 1
                _note(failures, error, f"{kind}:{number}")
            number += 1
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print(f"{told - start:.0f} s: {_told(outcomes)}", flush=True)
    Path(now.name).unlink()
    print(f"{seconds:.0f} s: {_told(outcomes)}; {len(failures)} kinds of failure", flush=True)
    return bool(failures)


def _note(failures: dict[str, str], error: Exception, case: str) -> None:
    """Tell of a failure, and all of it if none like it was told before."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    key = f"{type(error).__name__} {place.filename}:{place.lineno}"
    print(f"--- case {case}", f"is like {failures[key]}" if key in failures else "", flush=True)
    if key not in failures:
        failures[key] = case
        traceback.print_exception(error)
        sys.stderr.flush()


def _told(outcomes: Counter[str]) -> str:
    whole = f"{sum(outcomes.values())} mutations"
    return whole + "".join(f", {count} {name}" for name, count in sorted(outcomes.items()))


if __name__ == "__main__":
    sys.exit(main())
