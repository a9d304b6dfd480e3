"""A decorator for functions that compute with balls: it keeps the precision fixed while they run."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from theory.lowering.precision import held

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def alone(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate a function: it holds the lock of `theory.lowering.precision` and keeps the precision of its caller."""

    @wraps(function)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with held:
            return function(*args, **kwargs)

    return guarded
