"""The command line: `linnet doctor`, `linnet cache info|clear`, `linnet codegen`, `linnet bench`.

Also as `python -m linnet`.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from linnet.backend.stamp import architecture
from linnet.errors import ArgumentError, FormatError, LinnetError
from linnet.explanation import Explanation
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.scheduling.text import SCHEDULE
from linnet.shortage import imported

STAGES = ("code", "loops", "llvm", "provenance", "all")
OPTIONAL = ("scipy", "h5py", "matplotlib", "cupy")
_ACCESS = re.compile(r"([A-Za-z_]\w*)\s*\[([^\[\]]*)\]")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for; 0 if that went well."""
    given = _parser().parse_args(arguments)
    try:
        match given.command:
            case "doctor":
                return doctor()
            case "cache":
                return cache(given.action)
            case "bench":
                return bench(given.arguments)
            case _:
                formats, dtype, stage = given.format, given.dtype, given.stage
                return codegen(given.equation, formats, dtype, stage, given.schedule)
    except LinnetError as error:
        error.call = None  # a place in the user's program, of which there is none
        if error.at is not None and error.at.file != SCHEDULE:
            error.at = None
        print(f"linnet: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="linnet", description="Sparse and structured arrays.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="say what is installed, and whether it works")
    kept = commands.add_parser("cache", help="compiled kernels that are kept on disk")
    kept.add_argument("action", choices=("info", "clear"))
    timed = commands.add_parser("bench", help="run the benchmarks, in a checkout of the sources")
    timed.add_argument("arguments", nargs=argparse.REMAINDER, help="such as: spmv --quick")
    code = commands.add_parser("codegen", help="show the code for an equation in index notation")
    code.add_argument("equation", help='such as "y[i] += A[i,j] * x[j]"')
    code.add_argument(
        "-f", "--format", action="append", default=[], metavar="NAME:FORMAT",
        help="how a tensor is stored (A:CSR); operands are dense unless one is given",
    )  # fmt: skip
    code.add_argument("-d", "--dtype", default="float64", help="of all operands (float64)")
    code.add_argument(
        "-s", "--schedule", metavar="COMMANDS",
        help='how the loops are run, such as "split(i,i0,i1,32) reorder(i0,i1,j)"',
    )  # fmt: skip
    code.add_argument("--stage", choices=STAGES, default="code", help="what to show (code: C)")
    return parser


# -- doctor ----------------------------------------------------------------------------------------


def doctor() -> int:
    """What there is on this machine, and whether a kernel compiles and computes."""
    lines = [
        ("linnet", imported("linnet").__version__),
        ("python", f"{sys.version.split()[0]} on {sys.platform} {architecture()}"),
        ("numpy", np.__version__),
        ("llvmlite", _version("llvmlite")),
        *((name, _version(name)) for name in OPTIONAL),
        ("C compiler", _compiler()),
        ("cache", _cache_line()),
    ]
    for name, text in lines:
        print(f"{name:12} {text}")
    try:
        seconds = _trial()
    except Exception as error:
        print(f"{'kernels':12} do NOT work: {type(error).__name__}: {error}")
        return 1
    print(f"{'kernels':12} compile and compute ({seconds * 1e3:.0f} ms for the first)")
    return 0


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _compiler() -> str:
    from linnet.options import current

    try:
        found: tuple[str, ...] = imported("linnet.backend.toolchain").find(current())
    except LinnetError:
        return "none (not needed)"
    return " ".join(found)


def _cache_line() -> str:
    from linnet.backend.cache import Cache
    from linnet.options import current

    try:
        held = Cache.open(current())
    except LinnetError as error:
        return f"cannot be used: {error.message}"
    if held is None:
        return "none"
    info = held.info()
    return f"{info.directory}: {info.entries} entries, {info.bytes / 2**20:.1f} MiB"


def _trial() -> float:
    """Compile and run a small kernel, not from the cache; how long that took."""
    from linnet.formats.construct import asarray
    from linnet.frontend.einsum import einsum
    from linnet.options import config

    A = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    start = time.perf_counter()
    with config(cache=False):
        y = einsum("y[i] += A[i,j] * x[j]", A=asarray(A, format="csr"), x=np.arange(3.0))
    if not np.array_equal(y.to_numpy(), A @ np.arange(3.0)):
        raise LinnetError(f"a kernel computed {y.to_numpy()} instead of {A @ np.arange(3.0)}")
    return time.perf_counter() - start


# -- cache -----------------------------------------------------------------------------------------


def cache(action: str) -> int:
    """Say what is kept on disk, or remove it."""
    from linnet.backend.cache import Cache
    from linnet.options import current

    held = Cache.open(current())
    if held is None:
        print("no kernels are kept: the cache is switched off, or has no folder")
        return 0
    if action == "clear":
        print(f"removed {held.clear()} entries from {held.directory}")
        return 0
    info = held.info()
    print(f"folder   {info.directory}")
    print(f"entries  {info.entries}")
    print(f"size     {info.bytes / 2**20:.1f} of {info.limit / 2**20:.0f} MiB")
    return 0


# -- bench -----------------------------------------------------------------------------------------


def bench(arguments: Sequence[str]) -> int:
    """Run `python -m benchmarks` with these arguments; it is part of the sources only."""
    import subprocess

    folder = Path(__file__).parents[2]
    if not (folder / "benchmarks" / "harness.py").exists():
        raise LinnetError(
            "the benchmarks are not installed with the package",
            hint="run them in a checkout of the sources: make bench",
        )
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=folder, check=False).returncode


# -- codegen ---------------------------------------------------------------------------------------


def codegen(
    equation: str, formats: Sequence[str], dtype: str, stage: str, schedule: str | None = None
) -> int:
    """Print what an equation is compiled to, for operands in these formats, under a schedule."""
    given = dict(_split(text) for text in formats)
    left, _, right = equation.partition("=")
    result = left.partition("[")[0].strip()
    ranks = {name: _rank(inside) for name, inside in _ACCESS.findall(right)}
    unknown = set(given) - set(ranks) - {result}
    if unknown:
        raise ArgumentError(f"there is no tensor {sorted(unknown)[0]!r} in {equation!r}")
    operands = {n: _operand(given.get(n, "dense"), rank, dtype) for n, rank in ranks.items()}
    rank = _rank(left.partition("[")[2].partition("]")[0])
    wanted = _as_format(given[result], rank) if result in given else None
    if schedule is None and stage != "provenance":
        stages = _explained(equation, operands, wanted)
    else:
        stages = _scheduled(equation, operands, wanted, schedule or "")
    print(stages if stage == "all" else stages["lifecycles" if stage == "loops" else stage])
    return 0


def _explained(equation: str, operands: dict[str, Tensor], wanted: Format | None) -> Explanation:
    """What the compiler makes of an equation in the order that it chooses."""
    from linnet.arrays.describe import explained
    from linnet.frontend.equations import noted

    node, labels, _ = noted(equation, operands)
    return explained([node], [wanted], [labels])


def _scheduled(
    equation: str, operands: dict[str, Tensor], wanted: Format | None, schedule: str
) -> Explanation:
    """What the compiler makes of one nest of loops, and where its loops come from."""
    from linnet.frontend.equations import scheduled

    plan = scheduled(equation, operands, wanted, None, schedule)
    return Explanation({"provenance": str(plan.provenance), **plan.explain().stages})


def _split(text: str) -> tuple[str, str]:
    name, colon, format = text.partition(":")
    if not colon or not name.strip().isidentifier():
        raise ArgumentError(f"{text!r} does not say a format", hint="-f A:CSR")
    return name.strip(), format.strip()


def _rank(inside: str) -> int:
    """How many indices stand in a pair of brackets."""
    if not inside.strip():
        return 0
    try:
        tree = ast.parse(f"_[{inside}]", mode="eval").body
    except SyntaxError:
        return 1  # who reads the equation will say what is wrong with it
    index = tree.slice  # type: ignore[attr-defined]
    return len(index.elts) if isinstance(index, ast.Tuple) else 1


def _operand(format: str, rank: int, dtype: str) -> Tensor:
    """A small tensor in a format, with a diagonal, which every format can hold."""
    from linnet.formats.construct import asarray

    values = np.zeros((3,) * rank)
    values[(np.arange(3),) * rank] = 1
    return asarray(values, dtype=dtype, format=_as_format(format, rank))


def _as_format(text: str, ndim: int) -> Format:
    """A format by its name, or as levels: `Dense(SparseList(Element(0.0)))`."""
    from linnet.formats.named import as_format

    if "(" not in text:
        return as_format(text, ndim)
    try:
        return as_format(_level(ast.parse(text, mode="eval").body), ndim)  # type: ignore[arg-type]
    except (SyntaxError, TypeError, AttributeError) as error:
        raise FormatError(f"{text!r} is not a format", why=str(error)) from None


def _level(node: ast.expr) -> object:
    """A level, or a number, from its text; nothing else is evaluated."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name[:1].isupper():
            return getattr(imported("linnet"), name)(*map(_level, args))
        case ast.Constant(value=bool() | int() | float() | complex() | str() as value):
            return value
    raise TypeError(f"`{ast.unparse(node)}` is no level")
