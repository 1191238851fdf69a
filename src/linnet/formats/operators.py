"""What arrays do as Python objects: operators, indexing, methods, protocols of other libraries.

Everything here is one call of a function that stands above (`methods`), and is imported when it is
first used. Operations that are asked for most often try a shorter way before (`quick`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from linnet.formats.located import bordered
from linnet.handed import Above
from linnet.shortage import RAISED, retold

if TYPE_CHECKING:
    from linnet.formats.tensor import Tensor

methods = Above("methods", bordered)
quick = Above("quick")


def _operator(name: str, *args: object) -> Any:
    return methods.operator(name, *args)


def _getitem(x: Any, key: object) -> Any:
    return methods.getitem(x, key)


def _binary(name: str, eager: bool = True) -> tuple[Any, Any, Any]:
    """`x + y`, `y + x` and `x += y` for one function of the table."""

    def forward(self: Any, other: object, /) -> Any:
        try:
            if eager:
                return quick.elementwise(_operator, name, self, other)
            return _operator(name, self, other)
        except RAISED as error:
            retold(error)

    def backward(self: Any, other: object, /) -> Any:
        try:
            if eager:
                return quick.elementwise(_operator, name, other, self)
            return _operator(name, other, self)
        except RAISED as error:
            retold(error)

    def update(self: Any, other: object, /) -> Any:
        return methods.update(name, self, other)

    return forward, backward, update


def _without_modulus(power: Any) -> Any:
    """`pow(x, y, z)` asks for a third operand, of which arrays have none."""

    def operator(self: Any, other: object, modulus: object = None, /) -> Any:
        return power(self, other) if modulus is None else NotImplemented

    return operator


def _unary(name: str) -> Any:
    def operator(self: Any, /) -> Any:
        try:
            return quick.unary(_operator, name, self)
        except RAISED as error:
            retold(error)

    return operator


def method_of(name: str) -> Any:
    """A method that is a function of the API whose first argument is the array."""

    def method(self: Any, /, *args: Any, out: Any = None, **named: Any) -> Any:
        found = getattr(methods, name)(self, *args, **named)
        return found if out is None else methods.put(out, found)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As `ln.{name}` of this array."
    return method


def reduction_of(name: str, eager: bool = False, by_kernels: bool = False) -> Any:
    """A method that is a function of the API, with the axis in NumPy's place."""

    def general(x: Any, **named: Any) -> Any:
        return getattr(methods, name).__wrapped__(x, **named)

    def method(self: Any, /, axis: Any = None, *, out: Any = None, **named: Any) -> Any:
        if out is not None:
            return methods.put(out, method(self, axis, **named))
        try:
            if eager and not named:
                return quick.reduction(general, name, self, axis)
            if by_kernels:
                named["axis"] = axis
                return quick.operation(general, name, (self,), named)
            return getattr(methods, name)(self, axis=axis, **named)
        except RAISED as error:
            retold(error)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As `ln.{name}` of this array."
    return method


class Operators:
    """The arithmetic of arrays."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # `==` compares elements

    __add__, __radd__, __iadd__ = _binary("add")
    __sub__, __rsub__, __isub__ = _binary("subtract")
    __mul__, __rmul__, __imul__ = _binary("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _binary("divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _binary("floor_divide")
    __mod__, __rmod__, __imod__ = _binary("remainder")
    __pow__, __rpow__, __ipow__ = _binary("pow", eager=False)
    __pow__ = _without_modulus(__pow__)
    __and__, __rand__, __iand__ = _binary("bitwise_and")
    __or__, __ror__, __ior__ = _binary("bitwise_or")
    __xor__, __rxor__, __ixor__ = _binary("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = _binary("bitwise_left_shift", eager=False)
    __rshift__, __rrshift__, __irshift__ = _binary("bitwise_right_shift", eager=False)
    __rmatmul__, __imatmul__ = _binary("matmul", eager=False)[1:]
    __lt__, __le__ = _binary("less")[0], _binary("less_equal")[0]
    __gt__, __ge__ = _binary("greater")[0], _binary("greater_equal")[0]
    __eq__, __ne__ = _binary("equal", eager=False)[0], _binary("not_equal", eager=False)[0]
    __neg__, __pos__, __abs__ = _unary("negative"), _unary("positive"), _unary("abs")
    __invert__ = _unary("bitwise_invert")

    def __matmul__(self, other: object, /) -> Any:
        try:
            return quick.product(_operator, self, other)
        except RAISED as error:
            retold(error)

    def __divmod__(self, other: object, /) -> tuple[Any, Any]:
        return methods.divmod(self, other)  # type: ignore[no-any-return]

    def __rdivmod__(self, other: object, /) -> tuple[Any, Any]:
        return methods.divmod(other, self)  # type: ignore[no-any-return]

    # -- parts -----------------------------------------------------------------------------------

    def __getitem__(self, key: Any, /) -> Tensor:
        try:
            return quick.part(_getitem, self, key)  # type: ignore[no-any-return]
        except RAISED as error:
            retold(error)

    def __setitem__(self, key: Any, value: Any, /) -> None:
        methods.setitem(self, key, value)

    def __iter__(self) -> Iterator[Tensor]:
        return methods.iterate(self)  # type: ignore[no-any-return]

    def __contains__(self, value: object, /) -> bool:
        found: Any = self == value  # all at once: Python would compare row after row
        return found is not False and bool(found.any())

    # -- methods ---------------------------------------------------------------------------------

    sum, prod, min, max, any, all = (
        reduction_of(name, eager=True, by_kernels=True)
        for name in ("sum", "prod", "min", "max", "any", "all")
    )
    mean, var, std = (reduction_of(name, by_kernels=True) for name in ("mean", "var", "std"))
    argmin, argmax = reduction_of("argmin"), reduction_of("argmax")
    nonzero, count_nonzero = method_of("nonzero"), reduction_of("count_nonzero")
    astype, dot = method_of("astype"), method_of("dot")
    clip = method_of("clip")
    squeeze, take = method_of("squeeze"), method_of("take")

    def reshape(self, *shape: Any, order: str | None = "C", copy: bool | None = None) -> Tensor:
        """The same elements, by rows unless told, in another shape; one size may be -1."""
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return methods.reshape(self, wanted, order, copy)  # type: ignore[no-any-return]

    def transpose(self, *order: Any, axes: Any = None, copy: bool = False) -> Tensor:
        """With dimensions in reverse, or in the order given; nothing is copied unless told."""
        if axes is not None:
            order = (*order, axes)
        given = order[0] if len(order) == 1 and not isinstance(order[0], int) else order or None
        return methods.transpose(self, given, copy)  # type: ignore[no-any-return]

    def ravel(self, order: str | None = "C") -> Tensor:
        """The elements in one dimension."""
        return methods.flattened(self, order)  # type: ignore[no-any-return]

    flatten = ravel

    def conj(self) -> Tensor:
        """The complex conjugate of every element."""
        return methods.operator("conj", self)  # type: ignore[no-any-return]

    @property
    def real(self) -> Tensor:
        """The real parts, to be read: what is assigned to a copy of them stays there."""
        return methods.part("real", self)  # type: ignore[no-any-return]

    @property
    def imag(self) -> Tensor:
        """The imaginary parts, likewise."""
        return methods.part("imag", self)  # type: ignore[no-any-return]

    @property
    def mT(self) -> Tensor:
        """With the last two dimensions exchanged; nothing is copied."""
        return methods.matrix_transpose(self)  # type: ignore[no-any-return]

    def matvec(self, x: Any) -> Any:
        """The product with a vector of NumPy, as one: SciPy's solvers call this."""
        return methods.matvec(self, x)

    def rmatvec(self, x: Any) -> Any:
        """The product of the conjugate transpose with a vector of NumPy, as one."""
        return methods.matvec(methods.adjoint(self), x)

    def to_torch(self) -> Any:
        """A tensor of torch: strided if all is stored, else CSR, CSC or of coordinates."""
        return methods.to_torch(self)

    def to_cupy(self) -> Any:
        """An array of CuPy, or a sparse matrix of `cupyx.scipy.sparse`."""
        return methods.to_cupy(self)

    # -- protocols -------------------------------------------------------------------------------

    @property
    def device(self) -> str:
        """Where the array lives."""
        return "cpu"

    def to_device(self, device: Any, /, *, stream: object = None) -> Tensor:
        """The array itself: there is one device."""
        return methods.to_device(self, device, stream)  # type: ignore[no-any-return]

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        return methods.namespace(api_version)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return methods.dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return methods.array_ufunc(ufunc, method, inputs, named)

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        return methods.array_function(function, types, args, named)

    def __dask_tokenize__(self) -> Any:
        return methods.token(self)
