"""Every row of every room's table: bad input raises a ValueError of one line that has the words."""

import re
from importlib import import_module

import pytest

from tests.dynamics.refusal import refused, rows

ROOMS = ["arena", "flow", "heads", "model", "razor", "scope", "sinks", "statistics", "tasks", "training"]
CASES = [
    pytest.param(call, given, words, id=f"{room}: {words}")
    for room in ROOMS
    for call, table in import_module(f"tests.dynamics.{room}.refusals").TABLE.items()
    for words, given in rows(table)
]


@pytest.mark.parametrize(("call", "given", "words"), CASES)
def test_bad_input_is_refused_in_one_line(call, given, words):
    """A row gives arguments by name, in their order, or the only one; or a list of such."""
    arguments = given if type(given) is tuple else () if isinstance(given, dict) else (given,)
    refused(re.escape(words), call, *arguments, **(given if isinstance(given, dict) else {}))
