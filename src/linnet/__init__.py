"""Linnet: a compiler for sparse and structured array programs.

    import linnet as ln

    @ln.kernel
    def spmv(y, A, x):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j] * x[j]
        return y

    y = spmv(ln.empty_tensor(ln.DENSE(1)), A, x)

A sparse tensor is never made dense unless a format or `.to_numpy()` says so. The functions that a
kernel can call (`ln.minimum`, `ln.sqrt`, `ln.where` …) are rows of `linnet.algebra.table`.
"""

from linnet import errors, testing
from linnet import wiring as _wiring  # who does what layers ask of those above them
from linnet.algebra.function import Function
from linnet.algebra.lookup import by_name as _by_name
from linnet.algebra.table import FUNCTIONS as _FUNCTIONS
from linnet.algebra.table import choose
from linnet.api import NAMES as _NAMES
from linnet.api import SPACES as _SPACES
from linnet.api.conversion import asarray
from linnet.errors import LinnetError
from linnet.formats.construct import from_buffers, scalar, tensor
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern, ShortCircuit, SparseScalar
from linnet.formats.format import Format
from linnet.formats.named import (
    BAND,
    BLOCK,
    BSR,
    COO,
    CSC,
    CSF,
    CSR,
    DCSC,
    DCSR,
    DENSE,
    PERM,
    RAGGED,
    RLE,
    SCALAR,
    SRLE,
    SYMMETRIC,
    SYMMETRIC_TILES,
    TRIANGULAR,
)
from linnet.formats.run_list import RunList
from linnet.formats.sparse_band import SparseBand
from linnet.formats.sparse_block_list import SparseBlockList
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_hash import SparseHash
from linnet.formats.sparse_interval import SparseInterval
from linnet.formats.sparse_list import SparseList
from linnet.formats.sparse_pinpoint import SparsePinpoint
from linnet.formats.sparse_run_list import SparseRunList
from linnet.formats.sparse_symmetric import SparseSymmetric
from linnet.formats.sparse_symmetric_tiles import SparseSymmetricTiles
from linnet.formats.sparse_tiles import SparseTiles
from linnet.formats.tensor import Tensor, empty_tensor
from linnet.frontend.words import (
    along,
    bound,
    coordinates,
    declare,
    extents,
    fill,
    flat,
    follow,
    freeze,
    gallop,
    part,
    parts,
    place,
    product,
    stored,
    temp,
    thaw,
    unrolled,
    vector,
    walk,
)
from linnet.options import config
from linnet.runtime import eager as _eager  # what every operation begins with
from linnet.shortage import imported as _imported

__version__ = "0.1.0"

# Type checkers read `__init__.pyi`, which `tools/stub.py` writes from what is here.
# What brings much of the compiler along is imported when it is first asked for. The name of a
# module of this folder cannot be among them: importing it would put the module in its place.
_LATER = {
    "Kernel": "linnet.runtime.kernel",
    "SparseWorkspace": "linnet.formats.sparse_workspace",
    "assembly": "linnet.runtime.assembly",
    "check_properties": "linnet.algebra.properties",
    "draw": "linnet.pictures.draw",
    "einsum": "linnet.frontend.einsum",
    "explain": "linnet.explanation",
    "function": "linnet.frontend.functions",
    "kernel": "linnet.frontend.kernel",
    "read": "linnet.files.read",
    "reduce": "linnet.arrays.operations",
    "schedule": "linnet.frontend.schedules",
    "write": "linnet.files.write",
}
_LATER |= dict.fromkeys(("Lazy", "compute", "fuse", "lazy"), "linnet.arrays.lazy")
_LATER |= dict.fromkeys(("Bucket", "Coord", "Hash", "Heap", "Policy"), "linnet.formats.policies")
_LATER |= dict.fromkeys(
    ("CPUVector", "IgnoreRaces", "NoRaces", "ParallelReduction"), "linnet.loops.commands"
)
_LATER |= dict.fromkeys(
    ("MinExact", "MaxExact", "MinConstraint", "MaxConstraint", "Divisible"), "linnet.loops.commands"
)
_LATER |= dict.fromkeys(("indices", "output"), "linnet.frontend.index")
_LATER |= dict.fromkeys(("Semiring", "semiring", "semirings"), "linnet.algebra.semirings")
_LATER |= dict.fromkeys(
    ("insert_workspaces", "precompute", "workspace"), "linnet.frontend.workspaces"
)
__array_api_version__ = "2025.12"


def __getattr__(name: str) -> object:
    """Functions of arrays, and those of values by any name under which the algebra knows them."""
    if name in _LATER:
        found = getattr(_imported(_LATER[name]), name)
    elif name in _NAMES:
        module, attribute = _NAMES[name]
        found = getattr(_imported(module), attribute)
    elif name in _SPACES:
        found = _imported(_SPACES[name])
    elif name in _by_name:
        found = _by_name[name]
    else:
        raise AttributeError(f"module 'linnet' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names, those of functions included, each of them by one name."""
    functions = (name for name in _FUNCTIONS if not name.startswith("astype_"))
    hidden = set(_by_name)  # other names are here as soon as they have been used
    own = (name for name in globals() if not name.startswith("_") and name not in hidden)
    return sorted({*own, *_LATER, *_NAMES, *_SPACES, *functions})
