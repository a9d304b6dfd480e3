"""A budget of work, counted and not timed: what a statement or a certificate asks for ends, the same everywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TooLarge(Exception):
    """The work that was allowed is spent."""


class _Budgets(threading.local):
    """What is left of each budget, the innermost last. A thread has its own: others do not spend it."""

    def __init__(self) -> None:
        self.left = [float("inf")]


_budgets = _Budgets()


def spend(amount: int) -> None:
    """Counts work: products of monomials, terms of a sum. Raises TooLarge when the innermost budget is spent."""
    left = _budgets.left
    left[-1] -= amount
    if left[-1] < 0:
        raise TooLarge("the work allowed is spent")


@contextmanager
def limited(amount: float) -> Iterator[None]:
    """Allows so much work inside, and no more than is left outside."""
    left = _budgets.left
    allowed = min(amount, left[-1])
    left.append(allowed)
    try:
        yield
    finally:
        spent = allowed - left.pop()
        left[-1] -= spent
