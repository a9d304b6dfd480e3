"""Records with array fields that can be compared: == returns one bool, and not an array of them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

T = TypeVar("T", bound=type)


def comparable(record: T) -> T:
    """A NamedTuple class whose records are equal if of one class, of equal shapes, and equal entry by entry.

    NaN equals NaN: a result is equal to itself. Records of arrays have no hash, as arrays have none.
    """

    def equal(self: tuple[object, ...], other: object) -> bool:
        # Of what is another class, that class may know: an approximation, say.
        return all(map(_same, self, other)) if isinstance(other, record) else NotImplemented

    def unequal(self: tuple[object, ...], other: object) -> bool:
        return not equal(self, other) if isinstance(other, record) else NotImplemented

    for name, method in (("__eq__", equal), ("__ne__", unequal), ("__hash__", None)):
        setattr(record, name, method)
    return record


def _same(left: object, right: object) -> bool:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        left, right = np.asarray(left), np.asarray(right)
        return np.array_equal(left, right, equal_nan=left.dtype.kind in "fc" and right.dtype.kind in "fc")
    if isinstance(left, float) and isinstance(right, float) and left != left:
        return right != right
    return bool(left == right)
