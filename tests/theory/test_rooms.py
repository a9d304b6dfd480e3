"""`import theory` is enough to reach every room, and shows no more than what is public."""

import subprocess
import sys
from types import ModuleType

import pytest

import theory


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_room_is_imported_when_it_is_named():
    code = "import sys, theory; print('theory.landscape' in sys.modules, theory.landscape.loss(0, 1, 1, 0, 9) > 0)"
    assert run(code) == "False True\n"


def test_what_is_listed_is_what_there_is():
    assert dir(theory) == sorted(theory.__all__)
    for name in theory.__all__:
        room = getattr(theory, name)
        assert room.__name__ == f"theory.{name}" and room.__doc__
        assert all(hasattr(room, public) for public in room.__all__)
        assert dir(room) == sorted(room.__all__)


def test_no_module_of_a_room_has_the_name_of_a_public_function():
    """Which of the two `theory.room.name` is would depend on what was imported before."""
    for name in theory.__all__:
        room = getattr(theory, name)
        for public in room.__all__:
            if isinstance(getattr(room, public), ModuleType):
                continue
            with pytest.raises(ModuleNotFoundError):
                __import__(f"{room.__name__}.{public}")


def test_another_name_is_refused():
    with pytest.raises(AttributeError, match="no room 'landscapes': there are alibi, cache"):
        _ = theory.landscapes
    with pytest.raises(AttributeError, match="no module 'balls': there are alone, ball"):
        _ = theory.lowering.balls
