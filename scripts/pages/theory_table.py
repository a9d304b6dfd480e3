"""Every public function of `theory` with its arguments, by room."""

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module

ROOMS = ("landscape", "induction", "alibi", "cache", "shift", "value_residual", "sink")


def functions() -> Iterator[tuple[str, str, Callable]]:
    """(room, name, function) of all that a room names as public and that can be called for a number."""
    for room in ROOMS:
        module = import_module(f"theory.{room}")
        for name in sorted(module.__all__):
            found = getattr(module, name)
            if inspect.isfunction(found):
                yield room, name, found


def arguments(function: Callable) -> list[str]:
    """The names of the arguments, in order, with what stands for one that is left out."""
    taken = inspect.signature(function).parameters.values()
    return [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in taken]
