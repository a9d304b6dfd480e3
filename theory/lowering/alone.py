"""Functions that compute with balls at one precision from first step to last: see `theory.lowering.precision`."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from theory.lowering.precision import held

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def alone(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function at the precision of its caller from its first step to its last."""

    @wraps(function)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with held:
            return function(*args, **kwargs)

    return guarded
