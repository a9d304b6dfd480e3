"""How a test gives a command line, and what a refused one says."""

import shlex
from functools import partial

import pytest

from scripts import __main__ as one_command
from scripts.commands import cli, table
from scripts.pages import transcribe
from tests.conftest import PROFILE


def full(name):
    """The words of a command; a figure's name begins with fig_, a study's is that of the study."""
    member = name.removeprefix("fig_")
    return f"figure {member}" if member != name else f"study {name}" if name in table.STUDIES else name


def main_of(name):
    """What runs a command with its arguments."""
    own = {"__main__": one_command.main, "transcribe": transcribe.main}
    return own.get(name) or partial(table.call, full(name))


def command(capsys, name, *arguments):
    """(exit status, standard output, standard error) of a command."""
    capsys.readouterr()
    try:
        status = cli.run(main_of(name), [str(argument) for argument in arguments])
    except SystemExit as stop:
        status = stop.code
    return status, *capsys.readouterr()


def done(capsys, name, *arguments):
    """What a command prints that succeeds and has nothing to complain of."""
    status, printed, told = command(capsys, name, *arguments)
    assert (status, told) == (0, "")
    return printed


def refused(capsys, line, *words):
    """The command of this line fails with one line, which holds these words."""
    status, printed, told = command(capsys, *shlex.split(line))
    assert (status, printed, told.count("\n")) == (2, "", 1), told
    assert told.startswith("error: ") and all(some in told for some in words), told


def drawn(folder, name, *options, data=None, again=PROFILE == "deep"):
    """The command of a figure, of given data or its own, leaves a picture in two formats and the data; drawn again, the
    same bytes."""
    with pytest.MonkeyPatch.context() as patch:
        if data is not None:
            patch.setattr(table.module(full(name)), "compute", lambda *_, **__: data)
        for one in ("one", "two") if again else ("one",):
            assert cli.run(main_of(name), [*options, "--out", str(folder / one)]) == 0
    files = sorted(folder.glob("one.*"))
    assert [path.suffix for path in files] == [".npz", ".pdf", ".png"]
    for path in files:
        assert path.stat().st_size > 1000
        assert not again or path.read_bytes() == (folder / f"two{path.suffix}").read_bytes()


def run_twice(capsys, main, folder, table, *arguments):
    """The lines that a first run in a folder prints; its table and a second run leave the folder's results alone."""
    out = ["--out", str(folder / "a")]
    assert cli.run(main, [*arguments, *out, "--json", str(folder / "t.json"), "--bundle", str(folder / "b.json")]) == 0
    said = capsys.readouterr().out.splitlines()
    before = {path.name: path.read_bytes() for path in (folder / "a" / "results").iterdir()}
    assert cli.run(main, [*table, *out]) == 0
    assert capsys.readouterr().out.splitlines() == said[: len(said) - 2]
    assert cli.run(main, [*arguments, *out]) == 0
    assert {path.name: path.read_bytes() for path in (folder / "a" / "results").iterdir()} == before
    return said
