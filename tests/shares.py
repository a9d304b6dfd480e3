"""Which of many alike cases run every time; `make test-deep` runs them all."""

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(every: int, values: Iterable[Any], start: int = 0) -> list[Any]:
    """Parameters: those at places `start`, `start + every`, .. run every time, the others in `make test-deep`."""
    deep = pytest.mark.deep
    return [value if n % every == start else pytest.param(value, marks=deep) for n, value in enumerate(values)]
