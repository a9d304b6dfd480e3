"""A budget of work, counted and not timed: what a statement or a certificate asks for ends, the same everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class TooLarge(Exception):
    """The work that was allowed is spent."""


_left = [float("inf")]


def spend(amount: int) -> None:
    """Counts work: products of monomials, terms of a sum. Raises TooLarge when the innermost budget is spent."""
    _left[-1] -= amount
    if _left[-1] < 0:
        raise TooLarge("the work allowed is spent")


@contextmanager
def limited(amount: float) -> Iterator[None]:
    """Allows so much work inside, and no more than is left outside."""
    allowed = min(amount, _left[-1])
    _left.append(allowed)
    try:
        yield
    finally:
        spent = allowed - _left.pop()
        _left[-1] -= spent
