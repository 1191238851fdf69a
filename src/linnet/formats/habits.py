"""Methods under the names that users of SciPy, NumPy and PyData/Sparse know.

Each does what it does there, for any format, fill value and number of dimensions; for the others
`show.ELSEWHERE` has a word on what to write instead. What changes an array in place gives the
Python object other contents, as `x[…] = y` does; memory that it shared is left as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linnet.formats.operators import method_of, methods, reduction_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnet.formats.tensor import Tensor


def _of_values(name: str, called: str) -> Any:
    """A method that is a function of every value."""

    def method(self: Any, /) -> Any:
        return methods.operator(name, self)

    method.__name__ = method.__qualname__ = called
    method.__doc__ = f"As `ln.{name}` of this array."
    return method


class Habits:
    """What other libraries' arrays can do, by their names for it."""

    __slots__ = ()

    # -- conversions -------------------------------------------------------------------------------

    def toarray(self) -> NDArray[Any]:
        """A NumPy array of all elements, in memory of its own."""
        return methods.to_array(self)  # type: ignore[no-any-return]

    todense = toarray

    def asformat(self, format: Any, copy: bool = False) -> Tensor:
        """As `.to(format)`."""
        return methods.as_format(self, format, copy)  # type: ignore[no-any-return]

    def tocsr(self, copy: bool = False) -> Tensor:
        """The matrix by rows."""
        return self.asformat("csr", copy)

    def tocsc(self, copy: bool = False) -> Tensor:
        """The matrix by columns."""
        return self.asformat("csc", copy)

    def tocoo(self, copy: bool = False) -> Tensor:
        """By coordinates, in any number of dimensions."""
        return self.asformat("coo", copy)

    def tobsr(self, blocksize: tuple[int, int] | None = None, copy: bool = False) -> Tensor:
        """The matrix by blocks of one size."""
        return methods.to_blocks(self, blocksize, copy)  # type: ignore[no-any-return]

    to_scipy_sparse = method_of("to_scipy_sparse")

    # -- parts -------------------------------------------------------------------------------------

    diagonal, trace = method_of("diagonal"), method_of("trace")
    getnnz = method_of("count_stored")

    @property
    def indptr(self) -> NDArray[Any]:
        """Where each row of a CSR matrix, or each column of a CSC matrix, begins."""
        return methods.compressed(self, "ptr1")  # type: ignore[no-any-return]

    @property
    def indices(self) -> NDArray[Any]:
        """The column of each value of a CSR matrix, the row of each of a CSC matrix."""
        return methods.compressed(self, "idx1")  # type: ignore[no-any-return]

    @property
    def row(self) -> NDArray[Any]:
        """The row of every value that is stored."""
        return methods.coordinate(self, -2)  # type: ignore[no-any-return]

    @property
    def col(self) -> NDArray[Any]:
        """The column of every value that is stored."""
        return methods.coordinate(self, -1)  # type: ignore[no-any-return]

    @property
    def density(self) -> float:
        """The part of the elements that is stored."""
        return methods.density(self)  # type: ignore[no-any-return]

    @property
    def flags(self) -> Any:
        """How the elements lie in memory, as far as NumPy has words for it."""
        return methods.flags(self)

    # -- arithmetic --------------------------------------------------------------------------------

    multiply, power = method_of("multiply"), method_of("power")
    maximum, minimum = method_of("maximum"), method_of("minimum")
    tensordot = method_of("tensordot")
    nanmax, nanmin = reduction_of("nanmax"), reduction_of("nanmin")
    round = method_of("rounded")
    __round__ = round
    cumsum, cumprod = method_of("cumsum"), method_of("cumprod")
    swapaxes = method_of("swapaxes")
    argsort, searchsorted = method_of("argsort"), method_of("searchsorted")
    sqrt, sign, floor, ceil = (_of_values(n, n) for n in ("sqrt", "sign", "floor", "ceil"))
    trunc, rint = _of_values("trunc", "trunc"), _of_values("round", "rint")
    log1p, expm1 = _of_values("log1p", "log1p"), _of_values("expm1", "expm1")
    sin, tan = _of_values("sin", "sin"), _of_values("tan", "tan")
    sinh, tanh = _of_values("sinh", "sinh"), _of_values("tanh", "tanh")
    arcsin, arctan = _of_values("asin", "arcsin"), _of_values("atan", "arctan")
    arcsinh, arctanh = _of_values("asinh", "arcsinh"), _of_values("atanh", "arctanh")
    deg2rad, rad2deg = _of_values("deg2rad", "deg2rad"), _of_values("rad2deg", "rad2deg")
    conjugate = _of_values("conj", "conjugate")

    # -- in place ----------------------------------------------------------------------------------

    def eliminate_zeros(self) -> None:
        """Stored values that equal the fill value are not stored any more."""
        methods.eliminate(self)

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Other values on the k-th diagonal of a matrix."""
        methods.set_diagonal(self, values, k)

    def sum_duplicates(self) -> None:
        """Nothing: no element is stored twice."""

    def sort_indices(self) -> None:
        """Nothing: what is stored is in order."""

    has_sorted_indices = has_canonical_format = True
