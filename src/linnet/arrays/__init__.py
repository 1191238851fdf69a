"""Index notation: what is wanted, before it is said in what order. Outside: `arrays.Notation`."""

from linnet.arrays.nodes import Notation

__all__ = ["Notation"]
