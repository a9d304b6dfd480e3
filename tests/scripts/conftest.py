"""A command as a test gives it: what it says, that it succeeds, that it is refused; and a folder to run it in."""

import shlex

import pytest

from scripts.commands import cli
from tests.scripts.commands import main_of


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(capsys):
    """(exit status, standard output, standard error) of a command."""

    def run(name, *arguments):
        capsys.readouterr()
        try:
            status = cli.run(main_of(name), [str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def done(command):
    """What a command prints that succeeds and has nothing to complain of."""

    def printed_by(*words):
        status, printed, told = command(*words)
        assert (status, told) == (0, "")
        return printed

    return printed_by


@pytest.fixture
def refused(command):
    """The command of a line fails with one line, which holds some words."""

    def check(line, *words):
        status, printed, told = command(*shlex.split(line))
        assert (status, printed, told.count("\n")) == (2, "", 1), told
        assert told.startswith("error: ") and all(some in told for some in words), told

    return check
