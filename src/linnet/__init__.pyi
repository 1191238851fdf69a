"""The public names, for type checkers. `tools/stub.py` writes this file: do not edit it."""

from linnet import errors as errors
from linnet import testing as testing
from linnet.algebra.function import Function as Function
from linnet.algebra.properties import check_properties as check_properties
from linnet.algebra.semirings import Semiring as Semiring
from linnet.algebra.semirings import semiring as semiring
from linnet.algebra.semirings import semirings as semirings
from linnet.algebra.table import choose as choose
from linnet.api import fft as fft
from linnet.api import linalg as linalg
from linnet.api.calls import transpose as transpose
from linnet.api.conversion import asarray as asarray
from linnet.api.creation import arange as arange
from linnet.api.creation import diag as diag
from linnet.api.creation import empty as empty
from linnet.api.creation import empty_like as empty_like
from linnet.api.creation import eye as eye
from linnet.api.creation import from_dlpack as from_dlpack
from linnet.api.creation import full as full
from linnet.api.creation import full_like as full_like
from linnet.api.creation import linspace as linspace
from linnet.api.creation import meshgrid as meshgrid
from linnet.api.creation import ones as ones
from linnet.api.creation import ones_like as ones_like
from linnet.api.creation import tril as tril
from linnet.api.creation import triu as triu
from linnet.api.creation import zeros as zeros
from linnet.api.creation import zeros_like as zeros_like
from linnet.api.dtypes import astype as astype
from linnet.api.dtypes import bool_ as bool_
from linnet.api.dtypes import can_cast as can_cast
from linnet.api.dtypes import complex128 as complex128
from linnet.api.dtypes import complex64 as complex64
from linnet.api.dtypes import e as e
from linnet.api.dtypes import finfo as finfo
from linnet.api.dtypes import float32 as float32
from linnet.api.dtypes import float64 as float64
from linnet.api.dtypes import iinfo as iinfo
from linnet.api.dtypes import inf as inf
from linnet.api.dtypes import int16 as int16
from linnet.api.dtypes import int32 as int32
from linnet.api.dtypes import int64 as int64
from linnet.api.dtypes import int8 as int8
from linnet.api.dtypes import isdtype as isdtype
from linnet.api.dtypes import nan as nan
from linnet.api.dtypes import newaxis as newaxis
from linnet.api.dtypes import pi as pi
from linnet.api.dtypes import result_type as result_type
from linnet.api.dtypes import uint16 as uint16
from linnet.api.dtypes import uint32 as uint32
from linnet.api.dtypes import uint64 as uint64
from linnet.api.dtypes import uint8 as uint8
from linnet.api.elementwise import clip as clip
from linnet.api.elementwise import divmod as divmod
from linnet.api.elementwise import frexp as frexp
from linnet.api.elementwise import modf as modf
from linnet.api.elementwise import nan_to_num as nan_to_num
from linnet.api.elementwise import softmax as softmax
from linnet.api.elementwise import where as where
from linnet.api.grouping import groupby as groupby
from linnet.api.indexing import take as take
from linnet.api.indexing import take_along_axis as take_along_axis
from linnet.api.info import __array_namespace_info__ as __array_namespace_info__
from linnet.api.joining import block as block
from linnet.api.joining import concat as concat
from linnet.api.joining import hstack as hstack
from linnet.api.joining import kron as kron
from linnet.api.joining import repeat as repeat
from linnet.api.joining import stack as stack
from linnet.api.joining import tile as tile
from linnet.api.joining import unstack as unstack
from linnet.api.joining import vstack as vstack
from linnet.api.missing import nanargmax as nanargmax
from linnet.api.missing import nanargmin as nanargmin
from linnet.api.missing import nancumprod as nancumprod
from linnet.api.missing import nancumsum as nancumsum
from linnet.api.missing import nanmax as nanmax
from linnet.api.missing import nanmean as nanmean
from linnet.api.missing import nanmin as nanmin
from linnet.api.missing import nanprod as nanprod
from linnet.api.missing import nanstd as nanstd
from linnet.api.missing import nansum as nansum
from linnet.api.missing import nanvar as nanvar
from linnet.api.padding import pad as pad
from linnet.api.products import dot as dot
from linnet.api.products import matmul as matmul
from linnet.api.products import outer as outer
from linnet.api.products import tensordot as tensordot
from linnet.api.products import vecdot as vecdot
from linnet.api.random import random as random
from linnet.api.running import cumulative_prod as cumulative_prod
from linnet.api.running import cumulative_sum as cumulative_sum
from linnet.api.running import diff as diff
from linnet.api.searching import argmax as argmax
from linnet.api.searching import argmin as argmin
from linnet.api.searching import count_nonzero as count_nonzero
from linnet.api.searching import nonzero as nonzero
from linnet.api.searching import searchsorted as searchsorted
from linnet.api.sets import isin as isin
from linnet.api.sets import unique_all as unique_all
from linnet.api.sets import unique_counts as unique_counts
from linnet.api.sets import unique_inverse as unique_inverse
from linnet.api.sets import unique_values as unique_values
from linnet.api.shapes import broadcast_arrays as broadcast_arrays
from linnet.api.shapes import broadcast_shapes as broadcast_shapes
from linnet.api.shapes import broadcast_to as broadcast_to
from linnet.api.shapes import expand_dims as expand_dims
from linnet.api.shapes import flip as flip
from linnet.api.shapes import matrix_transpose as matrix_transpose
from linnet.api.shapes import moveaxis as moveaxis
from linnet.api.shapes import permute_dims as permute_dims
from linnet.api.shapes import reshape as reshape
from linnet.api.shapes import roll as roll
from linnet.api.shapes import squeeze as squeeze
from linnet.api.sorting import argsort as argsort
from linnet.api.sorting import sort as sort
from linnet.api.sorting import topk as topk
from linnet.api.statistics import all as all
from linnet.api.statistics import any as any
from linnet.api.statistics import max as max
from linnet.api.statistics import mean as mean
from linnet.api.statistics import min as min
from linnet.api.statistics import prod as prod
from linnet.api.statistics import std as std
from linnet.api.statistics import sum as sum
from linnet.api.statistics import var as var
from linnet.arrays.lazy import Lazy as Lazy
from linnet.arrays.lazy import compute as compute
from linnet.arrays.lazy import fuse as fuse
from linnet.arrays.lazy import lazy as lazy
from linnet.arrays.operations import reduce as reduce
from linnet.errors import LinnetError as LinnetError
from linnet.explanation import explain as explain
from linnet.files.read import read as read
from linnet.files.write import write as write
from linnet.formats.construct import from_buffers as from_buffers
from linnet.formats.construct import scalar as scalar
from linnet.formats.construct import tensor as tensor
from linnet.formats.dense import Dense as Dense
from linnet.formats.element import Element as Element
from linnet.formats.element import Pattern as Pattern
from linnet.formats.element import ShortCircuit as ShortCircuit
from linnet.formats.element import SparseScalar as SparseScalar
from linnet.formats.format import Format as Format
from linnet.formats.named import BAND as BAND
from linnet.formats.named import BLOCK as BLOCK
from linnet.formats.named import BSR as BSR
from linnet.formats.named import COO as COO
from linnet.formats.named import CSC as CSC
from linnet.formats.named import CSF as CSF
from linnet.formats.named import CSR as CSR
from linnet.formats.named import DCSC as DCSC
from linnet.formats.named import DCSR as DCSR
from linnet.formats.named import DENSE as DENSE
from linnet.formats.named import PERM as PERM
from linnet.formats.named import RAGGED as RAGGED
from linnet.formats.named import RLE as RLE
from linnet.formats.named import SCALAR as SCALAR
from linnet.formats.named import SRLE as SRLE
from linnet.formats.named import SYMMETRIC as SYMMETRIC
from linnet.formats.named import SYMMETRIC_TILES as SYMMETRIC_TILES
from linnet.formats.named import TRIANGULAR as TRIANGULAR
from linnet.formats.policies import Bucket as Bucket
from linnet.formats.policies import Coord as Coord
from linnet.formats.policies import Hash as Hash
from linnet.formats.policies import Heap as Heap
from linnet.formats.policies import Policy as Policy
from linnet.formats.run_list import RunList as RunList
from linnet.formats.sparse_band import SparseBand as SparseBand
from linnet.formats.sparse_block_list import SparseBlockList as SparseBlockList
from linnet.formats.sparse_bytemap import SparseByteMap as SparseByteMap
from linnet.formats.sparse_coo import SparseCOO as SparseCOO
from linnet.formats.sparse_hash import SparseHash as SparseHash
from linnet.formats.sparse_interval import SparseInterval as SparseInterval
from linnet.formats.sparse_list import SparseList as SparseList
from linnet.formats.sparse_pinpoint import SparsePinpoint as SparsePinpoint
from linnet.formats.sparse_run_list import SparseRunList as SparseRunList
from linnet.formats.sparse_symmetric import SparseSymmetric as SparseSymmetric
from linnet.formats.sparse_symmetric_tiles import SparseSymmetricTiles as SparseSymmetricTiles
from linnet.formats.sparse_tiles import SparseTiles as SparseTiles
from linnet.formats.sparse_workspace import SparseWorkspace as SparseWorkspace
from linnet.formats.tensor import Tensor as Tensor
from linnet.formats.tensor import empty_tensor as empty_tensor
from linnet.frontend.einsum import einsum as einsum
from linnet.frontend.functions import function as function
from linnet.frontend.index import indices as indices
from linnet.frontend.index import output as output
from linnet.frontend.kernel import kernel as kernel
from linnet.frontend.schedules import schedule as schedule
from linnet.frontend.words import along as along
from linnet.frontend.words import bound as bound
from linnet.frontend.words import coordinates as coordinates
from linnet.frontend.words import declare as declare
from linnet.frontend.words import extents as extents
from linnet.frontend.words import fill as fill
from linnet.frontend.words import flat as flat
from linnet.frontend.words import follow as follow
from linnet.frontend.words import freeze as freeze
from linnet.frontend.words import gallop as gallop
from linnet.frontend.words import part as part
from linnet.frontend.words import parts as parts
from linnet.frontend.words import place as place
from linnet.frontend.words import product as product
from linnet.frontend.words import stored as stored
from linnet.frontend.words import temp as temp
from linnet.frontend.words import thaw as thaw
from linnet.frontend.words import unrolled as unrolled
from linnet.frontend.words import vector as vector
from linnet.frontend.words import walk as walk
from linnet.frontend.workspaces import insert_workspaces as insert_workspaces
from linnet.frontend.workspaces import precompute as precompute
from linnet.frontend.workspaces import workspace as workspace
from linnet.loops.commands import CPUVector as CPUVector
from linnet.loops.commands import Divisible as Divisible
from linnet.loops.commands import IgnoreRaces as IgnoreRaces
from linnet.loops.commands import MaxConstraint as MaxConstraint
from linnet.loops.commands import MaxExact as MaxExact
from linnet.loops.commands import MinConstraint as MinConstraint
from linnet.loops.commands import MinExact as MinExact
from linnet.loops.commands import NoRaces as NoRaces
from linnet.loops.commands import ParallelReduction as ParallelReduction
from linnet.options import config as config
from linnet.pictures.draw import draw as draw
from linnet.runtime.assembly import assembly as assembly
from linnet.runtime.kernel import Kernel as Kernel

__version__: str
__array_api_version__: str
bool = bool_
abs: Function
absolute: Function
acos: Function
acosh: Function
add: Function
and_: Function
arccos: Function
arccosh: Function
arcsin: Function
arcsinh: Function
arctan: Function
arctan2: Function
arctanh: Function
asin: Function
asinh: Function
atan: Function
atan2: Function
atanh: Function
bitwise_and: Function
bitwise_count: Function
bitwise_invert: Function
bitwise_left_shift: Function
bitwise_not: Function
bitwise_or: Function
bitwise_right_shift: Function
bitwise_xor: Function
cbrt: Function
ceil: Function
coalesce: Function
complex: Function
conj: Function
conjugate: Function
copysign: Function
cos: Function
cosh: Function
deg2rad: Function
degrees: Function
div: Function
divide: Function
eq: Function
equal: Function
erf: Function
erfc: Function
exp: Function
exp2: Function
expm1: Function
exponent: Function
fabs: Function
first: Function
float: Function
float_power: Function
floor: Function
floor_divide: Function
floordiv: Function
fmax: Function
fmin: Function
fmod: Function
fraction: Function
gamma: Function
gcd: Function
ge: Function
greater: Function
greater_equal: Function
gt: Function
heaviside: Function
hypot: Function
imag: Function
int: Function
inv: Function
invert: Function
isfinite: Function
isinf: Function
isnan: Function
last: Function
lcm: Function
ldexp: Function
le: Function
left_shift: Function
less: Function
less_equal: Function
lgamma: Function
log: Function
log10: Function
log1p: Function
log2: Function
logaddexp: Function
logaddexp2: Function
logical_and: Function
logical_not: Function
logical_or: Function
logical_xor: Function
lshift: Function
lt: Function
mantissa: Function
maximum: Function
minimum: Function
mod: Function
mul: Function
multiply: Function
ne: Function
neg: Function
negative: Function
nextafter: Function
not_: Function
not_equal: Function
or_: Function
pair: Function
pos: Function
positive: Function
pow: Function
power: Function
rad2deg: Function
radians: Function
real: Function
reciprocal: Function
remainder: Function
right_shift: Function
rint: Function
round: Function
rshift: Function
sign: Function
signbit: Function
sin: Function
sinh: Function
spacing: Function
sqrt: Function
square: Function
sub: Function
subtract: Function
tan: Function
tanh: Function
true_divide: Function
truediv: Function
trunc: Function
whole: Function
xor: Function
