"""The reference of `theory`: every public function with its arguments and docstring, by room."""

import inspect
from importlib import import_module
from typing import NamedTuple

from ..theory_table import ROOMS, arguments, functions


class Function(NamedTuple):
    name: str
    arguments: str
    doc: str


class Room(NamedTuple):
    """A room of `theory`: its first line, and what it offers."""

    name: str
    words: str
    functions: list[Function]


def rooms() -> list[Room]:
    """All rooms in their order."""
    found: dict[str, list[Function]] = {room: [] for room in ROOMS}
    for room, name, function in functions():
        found[room].append(Function(name, ", ".join(arguments(function)), inspect.getdoc(function) or ""))
    words = {room: (import_module(f"theory.{room}").__doc__ or "").split("\n")[0] for room in ROOMS}
    return [Room(room, words[room], found[room]) for room in ROOMS]
