"""What arrays do as Python objects: operators, indexing, methods, protocols of other libraries.

Everything here is one call of a function of `linnet.api`, which is imported when it is first used.
Operations that are asked for most often try `linnet.runtime.eager` before, which takes less time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from linnet.formats.located import bordered
from linnet.shortage import RAISED, imported, retold

if TYPE_CHECKING:
    from linnet.formats.tensor import Tensor

_found: dict[str, Callable[..., Any]] = {}


def of_api(name: str) -> Callable[..., Any]:
    """A function of `linnet.api`, such as `statistics.sum`."""
    function = _found.get(name)
    if function is None:
        module, _, attribute = name.rpartition(".")
        function = bordered(getattr(imported(f"linnet.api.{module}"), attribute))
        _found[name] = function
    return function


class _Later:
    """The functions of a module, which is imported when one is first called."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(imported(self._module), name)
        setattr(self, name, function)
        return function


_eager = _Later("linnet.runtime.eager")
_known = _Later("linnet.runtime.operation")


def _operator(name: str, *args: object) -> Any:
    return of_api("calls.operator")(name, *args)


def _getitem(x: Any, key: object) -> Any:
    return of_api("calls.getitem")(x, key)


def _binary(name: str, eager: bool = True) -> tuple[Any, Any, Any]:
    """`x + y`, `y + x` and `x += y` for one function of the table."""

    def forward(self: Any, other: object, /) -> Any:
        try:
            if eager:
                return _eager.elementwise(_operator, name, self, other)
            return _operator(name, self, other)
        except RAISED as error:
            retold(error)

    def backward(self: Any, other: object, /) -> Any:
        try:
            if eager:
                return _eager.elementwise(_operator, name, other, self)
            return _operator(name, other, self)
        except RAISED as error:
            retold(error)

    def update(self: Any, other: object, /) -> Any:
        return of_api("calls.update")(name, self, other)

    return forward, backward, update


def _without_modulus(power: Any) -> Any:
    """`pow(x, y, z)` asks for a third operand, of which arrays have none."""

    def operator(self: Any, other: object, modulus: object = None, /) -> Any:
        return power(self, other) if modulus is None else NotImplemented

    return operator


def _unary(name: str) -> Any:
    def operator(self: Any, /) -> Any:
        try:
            return _eager.unary(_operator, name, self)
        except RAISED as error:
            retold(error)

    return operator


def method_of(name: str) -> Any:
    """A method that is a function of the API whose first argument is the array."""

    def method(self: Any, /, *args: Any, out: Any = None, **named: Any) -> Any:
        found = of_api(name)(self, *args, **named)
        return found if out is None else of_api("calls.put")(out, found)

    method.__name__ = method.__qualname__ = name.rpartition(".")[2]
    method.__doc__ = f"As `ln.{name.rpartition('.')[2]}` of this array."
    return method


def reduction_of(name: str, eager: bool = False, by_kernels: bool = False) -> Any:
    """A method that is a function of the API, with the axis in NumPy's place."""

    def general(x: Any, **named: Any) -> Any:
        return of_api(name).__wrapped__(x, **named)  # type: ignore[attr-defined]

    def method(self: Any, /, axis: Any = None, *, out: Any = None, **named: Any) -> Any:
        if out is not None:
            return of_api("calls.put")(out, method(self, axis, **named))
        try:
            if eager and not named:
                return _eager.reduction(general, name, self, axis)
            if by_kernels:
                named["axis"] = axis
                return _known.operation(general, f"linnet.api.{name}", (self,), named)
            return of_api(name)(self, axis=axis, **named)
        except RAISED as error:
            retold(error)

    method.__name__ = method.__qualname__ = name.rpartition(".")[2]
    method.__doc__ = f"As `ln.{name.rpartition('.')[2]}` of this array."
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
            return _eager.product(_operator, self, other)
        except RAISED as error:
            retold(error)

    def __divmod__(self, other: object, /) -> tuple[Any, Any]:
        return of_api("elementwise.divmod")(self, other)  # type: ignore[no-any-return]

    def __rdivmod__(self, other: object, /) -> tuple[Any, Any]:
        return of_api("elementwise.divmod")(other, self)  # type: ignore[no-any-return]

    # -- parts -----------------------------------------------------------------------------------

    def __getitem__(self, key: Any, /) -> Tensor:
        try:
            return _eager.part(_getitem, self, key)  # type: ignore[no-any-return]
        except RAISED as error:
            retold(error)

    def __setitem__(self, key: Any, value: Any, /) -> None:
        of_api("calls.setitem")(self, key, value)

    def __iter__(self) -> Iterator[Tensor]:
        return of_api("calls.iterate")(self)  # type: ignore[no-any-return]

    def __contains__(self, value: object, /) -> bool:
        found: Any = self == value  # all at once: Python would compare row after row
        return found is not False and bool(found.any())

    # -- methods ---------------------------------------------------------------------------------

    sum, prod, min, max, any, all = (
        reduction_of(f"statistics.{name}", eager=True, by_kernels=True)
        for name in ("sum", "prod", "min", "max", "any", "all")
    )
    mean, var, std = (
        reduction_of(f"statistics.{name}", by_kernels=True) for name in ("mean", "var", "std")
    )
    argmin, argmax = reduction_of("searching.argmin"), reduction_of("searching.argmax")
    nonzero, count_nonzero = method_of("searching.nonzero"), reduction_of("searching.count_nonzero")
    astype, dot = method_of("dtypes.astype"), method_of("products.dot")
    clip = method_of("numpy_functions.clip")
    squeeze, take = method_of("shapes.squeeze"), method_of("indexing.take")

    def reshape(self, *shape: Any, order: str | None = "C", copy: bool | None = None) -> Tensor:
        """The same elements, by rows unless told, in another shape; one size may be -1."""
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if order not in ("C", None):
            return of_api("numpy_shapes.reshape")(self, wanted, order, copy=copy)  # type: ignore[no-any-return]
        return of_api("shapes.reshape")(self, wanted, copy=copy)  # type: ignore[no-any-return]

    def transpose(self, *order: Any, axes: Any = None, copy: bool = False) -> Tensor:
        """With dimensions in reverse, or in the order given; nothing is copied unless told."""
        if axes is not None:
            order = (*order, axes)
        given = order[0] if len(order) == 1 and not isinstance(order[0], int) else order or None
        return of_api("calls.transpose")(self, given, copy)  # type: ignore[no-any-return]

    def ravel(self, order: str | None = "C") -> Tensor:
        """The elements in one dimension."""
        return of_api("numpy_shapes.flattened")(self, order)  # type: ignore[no-any-return]

    flatten = ravel

    def conj(self) -> Tensor:
        """The complex conjugate of every element."""
        return of_api("calls.operator")("conj", self)  # type: ignore[no-any-return]

    @property
    def real(self) -> Tensor:
        """The real parts, to be read: what is assigned to a copy of them stays there."""
        return of_api("calls.part")("real", self)  # type: ignore[no-any-return]

    @property
    def imag(self) -> Tensor:
        """The imaginary parts, likewise."""
        return of_api("calls.part")("imag", self)  # type: ignore[no-any-return]

    @property
    def mT(self) -> Tensor:
        """With the last two dimensions exchanged; nothing is copied."""
        return of_api("shapes.matrix_transpose")(self)  # type: ignore[no-any-return]

    def matvec(self, x: Any) -> Any:
        """The product with a vector of NumPy, as one: SciPy's solvers call this."""
        return of_api("protocols.matvec")(self, x)

    def rmatvec(self, x: Any) -> Any:
        """The product of the conjugate transpose with a vector of NumPy, as one."""
        return of_api("protocols.matvec")(of_api("protocols.adjoint")(self), x)

    def to_torch(self) -> Any:
        """A tensor of torch: strided if all is stored, else CSR, CSC or of coordinates."""
        return of_api("foreign.to_torch")(self)

    def to_cupy(self) -> Any:
        """An array of CuPy, or a sparse matrix of `cupyx.scipy.sparse`."""
        return of_api("foreign.to_cupy")(self)

    # -- protocols -------------------------------------------------------------------------------

    @property
    def device(self) -> str:
        """Where the array lives."""
        return "cpu"

    def to_device(self, device: Any, /, *, stream: object = None) -> Tensor:
        """The array itself: there is one device."""
        return of_api("protocols.to_device")(self, device, stream)  # type: ignore[no-any-return]

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        return of_api("protocols.namespace")(api_version)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return of_api("protocols.dlpack")(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return of_api("numpy_dispatch.array_ufunc")(ufunc, method, inputs, named)

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        return of_api("numpy_dispatch.array_function")(function, types, args, named)

    def __dask_tokenize__(self) -> Any:
        return of_api("protocols.token")(self)
