"""`Tensor`: a format, a shape, and the buffers that hold the data.

To its users a tensor does not change. Only a kernel that writes to it gives it other contents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from types import FrameType, MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import Number
from linnet.errors import ArgumentError, FormatError, LifecycleError, Location, ShapeError
from linnet.formats import show
from linnet.formats.away import awaited
from linnet.formats.buffers import Buffer, Unseen
from linnet.formats.contents import Contents, Signature, buffer_names, hold, let_go
from linnet.formats.format import Format, named
from linnet.formats.habits import Habits
from linnet.formats.located import bordered, located
from linnet.formats.named import DENSE, FormatLike, as_format, permute, settle
from linnet.formats.operators import Operators, methods, quick
from linnet.formats.to_scipy import is_asked_by_operator, to_scipy

__all__ = ["Contents", "Signature", "Tensor", "buffer_names", "empty_tensor"]


class Tensor(Operators, Habits):
    """An array of any number of dimensions, stored in any format."""

    __slots__ = ("__weakref__", "_contents", "_given", "_output")
    __array_priority__ = 1000.0  # NumPy arrays leave binary operators to us

    def __init__(
        self, format: Format, shape: tuple[int, ...] | None, buffers: tuple[Buffer, ...] = ()
    ) -> None:
        """Of parts that are known to fit; `shape` None makes a tensor that is not declared yet."""
        self._given = format
        self._output = Signature.of(format)
        self._contents = None if shape is None else Contents(format, shape, buffers)

    # -- what kernels use ------------------------------------------------------------------------

    def contents(self) -> Contents:
        """What the tensor holds now."""
        contents = self._contents or awaited(self)
        if contents is None:
            raise _not_declared(self)
        return contents

    def pin(self, held: list[Contents | None], call: FrameType) -> Contents:
        """The contents, for a call that reads them until it is over, or lets go of what is held."""
        while True:
            contents = self.contents()
            if hold([contents], held, call):
                return contents
            let_go(held, call)  # a kernel has taken it meanwhile
            held.clear()

    def shared(self) -> Contents:
        """The contents, in memory that no kernel will write to any more."""
        while True:
            contents = self.contents()
            if contents.export():  # else a kernel has taken them meanwhile
                return contents

    def _rebind(
        self,
        format: Format,
        shape: tuple[int, ...],
        buffers: tuple[Buffer, ...] | Unseen,
        signature: Signature | None = None,
    ) -> None:
        """What a kernel has written becomes the contents."""
        given = self._given.name
        if given is not None and format.name != given:
            format = named(format, given)
        contents = Contents(format, shape, buffers)
        contents._signature = signature
        self._contents = contents

    @property
    def output_format(self) -> Format:
        """The format as it was asked for; dtype and fill value may be open."""
        return self._given

    @property
    def slots(self) -> tuple[int, ...]:
        """Dimensions, then address, capacity and length of every buffer."""
        return self.contents().slots

    @property
    def signature(self) -> Signature:
        """What a kernel that reads this tensor is specialized to."""
        return self.contents().signature

    # -- what it is ------------------------------------------------------------------------------
    # What is open before there are contents is None; type checkers do not make users ask for that.

    @property
    def format(self) -> Format:
        """How the tensor is stored."""
        contents = self._contents or awaited(self)
        return self._given if contents is None else contents.format

    @property
    def shape(self) -> tuple[int, ...] | Any:
        """The size of every dimension; None for a tensor that is not declared yet."""
        contents = self._contents or awaited(self)
        return None if contents is None else contents.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        show.refuse_to_set("shape")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.format.ndim

    @property
    def size(self) -> int:
        """The number of elements, stored or not."""
        return math.prod(self.contents().shape)

    @property
    def dtype(self) -> np.dtype[Any] | Any:
        """The type of the values; None while it is open."""
        dtype = self.format.dtype
        return None if dtype is None else np.dtype(dtype)

    @property
    def fill_value(self) -> Number | Any:
        """What is read where nothing is stored; None while it is open."""
        return self.format.fill_value

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        show.refuse_to_set("fill_value")

    @property
    def nnz(self) -> int:
        """How many values are stored; one that equals the fill value counts too."""
        return self.contents().nnz

    @property
    def nbytes(self) -> int:
        """The memory that the tensor's arrays take."""
        return sum(buffer.nbytes for buffer in self.contents().buffers)

    def __sizeof__(self) -> int:
        """With the memory of its arrays: `sys.getsizeof`, by which Dask counts."""
        held = self._contents or awaited(self)
        return object.__sizeof__(self) + (0 if held is None else self.nbytes)

    @property
    def buffers(self) -> Mapping[str, NDArray[Any]]:
        """The arrays that hold the tensor, read-only and without a copy: `ptr1`, `idx1`, `val` …"""
        contents = self.shared()
        named = zip(buffer_names(contents.format), contents.arrays(), strict=True)
        return MappingProxyType(dict(named))

    @located
    def __len__(self) -> int:
        shape = self.contents().shape
        if not shape:
            raise ArgumentError("a tensor without dimensions has no length")
        return shape[0]

    @property
    @located
    def coords(self) -> NDArray[Any]:
        """The coordinates of what is stored, read-only: a row per dimension, a column per value."""
        return show.coordinates(self)

    @property
    @located
    def data(self) -> NDArray[Any]:
        """The values that are stored, read-only, in the order of `coords`."""
        return show.values(self)

    @data.setter
    def data(self, value: Any) -> None:
        show.refuse_to_set("data")

    @bordered
    def tolist(self) -> Any:
        """The elements as numbers of Python in nested lists."""
        return self.to_numpy().tolist()

    def __getattr__(self, name: str) -> Any:
        said = show.written_instead(name)
        hint = "" if said is None else f": that is written {said}"
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def __repr__(self) -> str:
        return show.one_line(self)

    @bordered
    def _repr_html_(self) -> str:
        return show.html(self)

    @bordered
    def __str__(self) -> str:
        return show.with_values(self)

    # -- the same tensor otherwise ---------------------------------------------------------------

    @property
    def T(self) -> Tensor:
        """The transpose: dimensions in reverse, without a copy."""
        return self.permute(tuple(reversed(range(self.ndim))))

    @located
    def permute(self, axes: tuple[int, ...]) -> Tensor:
        """The tensor whose dimension m is dimension `axes[m]` of this one, without a copy."""
        if sorted(axes) != list(range(self.ndim)):
            raise ShapeError(f"{axes} is not an order of {self.ndim} dimensions")
        contents = self.shared()
        shape = tuple(contents.shape[axis] for axis in axes)
        return Tensor(permute(contents.format, axes), shape, contents.buffers)

    @located
    def to(self, format: FormatLike) -> Tensor:
        """The same values in another format; the tensor itself if it has that format.

        Arrays that both formats have are shared, as values and columns are by CSR and COO.
        """
        held = self.contents().format
        if format is held:
            return self
        wanted = as_format(format, held.ndim)
        found = _settled(wanted, wanted.name, held)
        return self if found == held else _converted(self, found)

    @bordered
    def copy(self) -> Tensor:
        """The same tensor in memory of its own."""
        contents = self.shared()
        buffers = tuple(Buffer.borrow(array.copy()) for array in contents.arrays())
        return Tensor(contents.format, contents.shape, buffers)

    @bordered
    def to_numpy(self, *, copy: bool | None = None) -> NDArray[Any]:
        """A NumPy array of the values: of a dense tensor a read-only view, else a new array."""
        if not self.contents().format.dense:
            return self.to(DENSE(self.ndim)).to_numpy(copy=copy)
        contents = self.shared()
        array, order = contents.arrays()[0], contents.format.order
        if len(order) > 1:
            array = array.reshape([contents.shape[mode] for mode in order])
            array = array.transpose([order.index(mode) for mode in range(len(order))])
        elif not order:
            array = array.reshape(())
        return array.copy(order="K") if copy else array

    @located
    def to_scipy(self, kind: str | None = None, *, copy: bool | None = None) -> Any:
        """A SciPy sparse array: `kind` is csr, csc, coo …; a `csr_matrix` if that is asked for."""
        return to_scipy(self, kind, bool(copy))

    @located
    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is None and is_asked_by_operator():
            return np.array(None, object)
        if not self.contents().format.dense:
            raise FormatError(
                f"NumPy asked for a dense array of {self!r}",
                why="a sparse tensor is not made dense unless you say so",
                hint="call .to_numpy(), or give SciPy the sparse array that .to_scipy() is",
            )
        array = self.to_numpy()
        if dtype is not None:
            array = array.astype(dtype, copy=False)  # type: ignore[call-overload]
        # who asks through NumPy may write to what comes, as SciPy's solvers do to products
        return array if copy is False or array.flags.writeable else array.copy(order="K")

    # -- a single value --------------------------------------------------------------------------

    @located
    def item(self, *index: Any) -> Number:
        """The value of a tensor with one element, or of the element at an index, as a number.

        An index by itself counts all elements by rows.
        """
        if index:
            return methods.item(self, index)  # type: ignore[no-any-return]
        if self.size != 1:
            raise ShapeError(f"item() wants one element, and the tensor has {self.size}")
        number: Number = self.to_numpy().item()
        return number

    def __float__(self) -> float:
        return float(_only(self))  # type: ignore[arg-type]

    def __int__(self) -> int:
        return int(_only(self))  # type: ignore[arg-type]

    @located
    def __index__(self) -> int:
        value = _only(self)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ArgumentError(f"a tensor of dtype {self.dtype} is not an index")
        return value

    def __complex__(self) -> complex:
        return complex(_only(self))

    def __bool__(self) -> bool:
        return bool(_truth(self))

    def __hash__(self) -> int:  # type: ignore[override]
        """A number's is that of the number; an array has none, since `==` compares elements."""
        if self.ndim:
            raise TypeError(f"unhashable type: {type(self).__name__!r}")
        return hash(self.item())

    def __format__(self, spec: str) -> str:
        return format(_only(self), spec) if spec else str(self)

    # -- copies and pickles ------------------------------------------------------------------------

    def __copy__(self) -> Tensor:
        written = self.shape is not None
        return self.permute(tuple(range(self.ndim))) if written else Tensor(self._given, None)

    def __deepcopy__(self, memo: dict[int, object]) -> Tensor:
        return Tensor(self._given, None) if self.shape is None else self.copy()

    @bordered
    def __reduce__(self) -> tuple[object, ...]:
        if self.shape is None:
            return _restore, (*_format_parts(self._given), None, ())
        contents = self.shared()
        parts = _format_parts(contents.format)
        return _restore, (*parts, contents.shape, contents.arrays())


@lru_cache(maxsize=1024)
def _settled(format: Format, name: str | None, held: Format) -> Format:
    """What a format is for the values of another, which is equal to those of other names."""
    assert held.dtype is not None
    return settle(format, held.dtype, held.fill_value)


def _converted(tensor: Tensor, format: Format) -> Tensor:
    """A conversion is a loop program, compiled by what comes after this file."""
    if tensor.contents().format.leaf.unstored:  # a single number
        value = tensor.to_numpy().astype(str(format.dtype)).reshape(1)
        return Tensor(format, (), (Buffer.borrow(value),))
    return quick.conversion(tensor, format)  # type: ignore[no-any-return]


@located
def empty_tensor(format: FormatLike) -> Tensor:
    """A tensor that is not declared yet: an output for a kernel to fill.

    >>> C = ln.empty_tensor(ln.CSR)
    """
    return Tensor(as_format(format), None)


def _restore(
    levels: tuple[Any, ...],
    order: tuple[int, ...],
    name: str | None,
    shape: tuple[int, ...] | None,
    arrays: tuple[NDArray[Any], ...],
) -> Tensor:
    format = Format(levels, order, name)
    return Tensor(format, shape, tuple(Buffer.borrow(array) for array in arrays))


def _format_parts(format: Format) -> tuple[object, ...]:
    # A format remembers its hash, which is another one in another process.
    return format.levels, format.order, format.name


@located
def _only(tensor: Tensor) -> Number:
    """The value of a tensor without dimensions."""
    if tensor.ndim != 0:
        raise ArgumentError(
            f"a tensor of shape {tensor.shape} is not a single number",
            hint="only a tensor without dimensions is; .item() takes one that has one element",
        )
    return tensor.item()


@located
def _truth(tensor: Tensor) -> Number:
    """The value of a tensor of one element, as in NumPy."""
    if tensor.size != 1:
        raise ShapeError(
            f"a tensor of shape {tensor.shape} is neither true nor false",
            hint="ask for x.any() or x.all(), or for x.size",
        )
    return tensor.item()


def _not_declared(tensor: Tensor) -> LifecycleError:
    return LifecycleError(
        f"this tensor has no contents yet (format {tensor._given!r})",
        why="it gets its shape and values from a kernel that writes to it; none has, or the last "
        "one failed",
        hint="pass it as the output of a kernel first",
        at=Location.of_caller(),
    )
