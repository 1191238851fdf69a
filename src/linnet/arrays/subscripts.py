"""Contractions in NumPy's notation, `"ij,jk->ik"`, as graphs: views, a product and a sum."""

from __future__ import annotations

import operator
import re
import string
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import SupportsIndex

from linnet.algebra.function import Function, typed
from linnet.algebra.lookup import lookup
from linnet.algebra.table import add, multiply
from linnet.arrays.breakup import distributes, pairs
from linnet.arrays.graph import converted, map_of, reduce_of, view_of
from linnet.arrays.maskable import mask_of
from linnet.arrays.nodes import Axis, Node
from linnet.errors import ArgumentError, KernelSyntaxError, ShapeError

_SUBSCRIPTS = re.compile(r"(?:[A-Za-z.]*)(?:,[A-Za-z.]*)*(?:->[A-Za-z.]*)?")
_LETTERS = string.ascii_uppercase + string.ascii_lowercase  # in the order in which they sort
_BROADCAST = "0123456789"  # letters that stand for the dimensions of `...`, the last one first


def contraction(subscripts: str, args: Sequence[Node], semiring: object = None) -> Node:
    """The graph of a contraction; a long one is broken up where that makes fewer steps."""
    terms, result = parse(subscripts, [len(a.shape) for a in args])
    plus, times = functions(semiring)
    sizes = _sizes(terms, args, subscripts)
    return contracted(terms, _in_one_dtype(times, args), result, sizes, (plus, times))


def _in_one_dtype(times: Function, args: Sequence[Node]) -> Sequence[Node]:
    """Factors in the dtype of their product, as in NumPy: no two are multiplied in a narrower."""
    dtypes = {arg.dtype for arg in args}
    if len(args) < 3 or len(dtypes) == 1:
        return args
    made = reduce(lambda a, b: typed(times, (a, b))[1], [arg.dtype for arg in args])
    if made.startswith("weak") or typed(times, (made, made)) != ((made, made), made):
        return args
    return [converted(arg, made) for arg in args]


def contracted(
    terms: Sequence[str],
    args: Sequence[Node],
    result: str,
    sizes: Mapping[str, int],
    ring: tuple[Function, Function],
) -> Node:
    """A product, summed over all indices that the result does not have."""
    apart = distributes(ring[1], ring[0])
    mask = mask_of(terms, args, result, sizes, ring) if apart else None
    if mask is not None:
        rest = [*terms[:mask], *terms[mask + 1 :]]
        kept = "".join(c for c in terms[mask] if any(c in term for term in rest))
        under = contracted(rest, [*args[:mask], *args[mask + 1 :]], kept, sizes, ring)
        return _at_once([terms[mask], kept], [args[mask], under], result, sizes, ring)
    order = pairs(terms, args, result, sizes) if apart else None
    if order is None:
        return _at_once(terms, args, result, sizes, ring)
    made: dict[tuple[int, ...], tuple[str, Node]] = {
        (k,): (t, a) for k, (t, a) in enumerate(zip(terms, args, strict=True))
    }
    for one, two in order:
        pair = [made.pop(one), made.pop(two)]
        others = {c for t, _ in made.values() for c in t} | set(result)
        kept = "".join(c for c in dict.fromkeys(pair[0][0] + pair[1][0]) if c in others)
        kept = kept if made else result
        made[one + two] = (
            kept,
            _at_once([t for t, _ in pair], [a for _, a in pair], kept, sizes, ring),
        )
    return next(iter(made.values()))[1]


def _at_once(
    terms: Sequence[str],
    args: Sequence[Node],
    result: str,
    sizes: Mapping[str, int],
    ring: tuple[Function, Function],
) -> Node:
    plus, times = ring
    summed = [c for c in dict.fromkeys("".join(terms)) if c not in result]
    letters = [*result, *summed]
    shape = tuple(sizes[c] for c in letters)
    product: Node | None = None
    for term, arg in zip(terms, args, strict=True):
        placed = _placed(arg, term, letters, shape)
        product = placed if product is None else map_of(times, (product, placed))
    assert product is not None
    axes = tuple(range(len(result), len(letters)))
    return reduce_of(plus, product, axes, dtype=_dtype(plus, product)) if axes else product


def parse(subscripts: str, ndims: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand, and those of the result."""
    text = subscripts.replace(" ", "")
    if _SUBSCRIPTS.fullmatch(text) is None:
        read = _SUBSCRIPTS.match(text)
        place = read.end() if read else 0
        raise _unreadable(text, "subscripts look like 'ij,jk->ik'", place)
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise _unreadable(text, f"it names {len(terms)} operands; {len(ndims)} are given", 0)
    terms = [_expand(t, n, text) for t, n in zip(terms, ndims, strict=True)]
    joined = "".join(terms)
    dots = "".join(sorted({c for c in joined if c in _BROADCAST}, reverse=True))
    if arrow:
        if "." in right.replace("...", "", 1):
            raise _unreadable(text, "an ellipsis is three dots, once in the result", len(left) + 2)
        result = right.replace("...", dots)
    else:
        result = dots + "".join(sorted(c for c in set(joined) - set(dots) if joined.count(c) == 1))
    unknown = [c for c in result if c not in joined]
    if unknown:
        place = text.rindex(unknown[0])
        raise _unreadable(text, f"no operand has the index `{unknown[0]}` of the result", place)
    if len(set(result)) < len(result):
        twice = next(c for c in result if result.count(c) > 1)
        place = text.rfind("..." if twice in _BROADCAST else twice)
        raise _unreadable(text, "an index of the result is there twice", place)
    return terms, result


def from_lists(given: Sequence[object]) -> tuple[str, tuple[object, ...]]:
    """NumPy's other form, `A, [0, 1], x, [1], [0]`, as subscripts and operands."""
    pairs, result = given[: len(given) // 2 * 2], given[len(given) // 2 * 2 :]
    operands = pairs[::2]
    lists = [k for k in (*pairs[1::2], *result) if isinstance(k, list | tuple)]
    if not operands or len(lists) < len(operands) + len(result):
        raise ArgumentError(
            f"an equation is a string, not {given[0]!r}",
            hint='such as "C[i,j] += A[i,k] * B[k,j]"; or a list of indices goes behind each '
            "operand: ln.einsum(A, [0, 1], x, [1], [0])",
        )
    terms = ["".join(map(_letter, k)) for k in lists]
    text = ",".join(terms[: len(operands)])
    return text + ("->" + terms[-1] if result else ""), tuple(operands)


def _letter(index: object) -> str:
    if index is Ellipsis:
        return "..."
    if isinstance(index, SupportsIndex) and 0 <= (k := operator.index(index)) < len(_LETTERS):
        return _LETTERS[k]
    raise ArgumentError(f"an index is a number from 0 to {len(_LETTERS) - 1}, not {index!r}")


def _expand(term: str, ndim: int, subscripts: str) -> str:
    """A term with digits for its `...`."""
    named = term.replace("...", "")
    if "." in named or term.count("...") > 1:
        place = subscripts.index(term) + term.index(".")
        raise _unreadable(subscripts, "an ellipsis is three dots, once in a term", place)
    extra = ndim - len(named)
    if extra < 0 or (extra and "..." not in term):
        raise ShapeError(
            f"`{term}` in {subscripts!r} has {len(named)} indices, and the operand has {ndim} "
            "dimensions"
        )
    return term.replace("...", _BROADCAST[:extra][::-1])


def _sizes(terms: Sequence[str], args: Sequence[Node], subscripts: str) -> dict[str, int]:
    """The size of every index; a dimension of 1 is repeated."""
    sizes: dict[str, int] = {}
    for term, arg in zip(terms, args, strict=True):
        for letter, size in zip(term, arg.shape, strict=True):
            known = sizes.setdefault(letter, size)
            if known == 1:
                sizes[letter] = size
            elif size not in (1, known):
                raise ShapeError(
                    f"`{letter}` is {known} and {size} in {subscripts!r}",
                    why="an index has one size wherever it is used",
                )
    return sizes


def _placed(arg: Node, term: str, letters: Sequence[str], shape: tuple[int, ...]) -> Node:
    """An operand as it is seen from all indices."""
    axes = [
        Axis(letters.index(c)) if arg.shape[k] == shape[letters.index(c)] else Axis(None)
        for k, c in enumerate(term)
    ]
    return view_of(arg, axes, shape)


def functions(semiring: object) -> tuple[Function, Function]:
    """The sum and the product of a semiring, or the usual ones."""
    if semiring is None:
        return add, multiply
    pair = (
        semiring if isinstance(semiring, tuple)
        else (getattr(semiring, "add", None), getattr(semiring, "multiply", None))
    )  # fmt: skip
    found = [lookup(f) for f in pair]
    if len(found) != 2 or found[0] is None or found[1] is None:
        raise ArgumentError(f"{semiring!r} is not a semiring", hint="ln.semiring(add, multiply)")
    return found[0], found[1]


def _dtype(plus: Function, product: Node) -> str | None:
    """Products of integers are summed in their own dtype, as NumPy does it."""
    return product.dtype if plus.types((product.dtype,) * 2)[1] == product.dtype else None


def _unreadable(text: str, why: str, place: int) -> KernelSyntaxError:
    """Subscripts that cannot be read, and where."""
    marked = f"        {text}\n        {' ' * place}^"
    return KernelSyntaxError(f"cannot read the subscripts {text!r}", why=f"{why}\n{marked}")
