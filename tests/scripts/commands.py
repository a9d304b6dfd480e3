"""How a test gives a command line, and what a refused one says."""

import shlex
from importlib import import_module

from scripts import cli


def command(capsys, name, *arguments):
    """(exit status, standard output, standard error) of a command."""
    capsys.readouterr()
    try:
        status = cli.run(import_module(f"scripts.{name}").main, [str(argument) for argument in arguments])
    except SystemExit as stop:
        status = stop.code
    return status, *capsys.readouterr()


def refused(capsys, line, words):
    """The command of this line fails with one line, which holds the words."""
    status, printed, told = command(capsys, *shlex.split(line))
    assert (status, printed, told.count("\n")) == (2, "", 1), told
    assert told.startswith("error: ") and words in told
