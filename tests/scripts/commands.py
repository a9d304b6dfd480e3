"""What runs a command, and what it leaves in a folder."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

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
    """What runs a command with its arguments; a function stands for itself."""
    own = {"__main__": one_command.main, "transcribe": transcribe.main}
    return name if callable(name) else own.get(name) or partial(table.call, full(name))


def told(name, *arguments):
    """What a command prints that succeeds, for fixtures of a whole file."""
    with redirect_stdout(io.StringIO()) as printed:
        assert cli.run(main_of(name), [str(argument) for argument in arguments]) == 0
    return printed.getvalue()


HEAVY = {"torch", "sympy", "scipy", "matplotlib", "numpy", "flint", "pydantic", "tqdm", "joblib", "dask"}
RUN = """
import json, runpy, sys
statuses = []
for words in {lines}:
    sys.argv = ["scripts", *words]
    try:
        runpy.run_module("scripts", run_name="__main__")
    except SystemExit as end:
        statuses.append(end.code or 0)
print(json.dumps([statuses, sorted({heavy} & set(sys.modules))]))
"""


def loaded(*lines):
    """[exit statuses of these commands in one new interpreter, the heavy libraries that it has imported then]."""
    python = [sys.executable, "-c", RUN.format(lines=[line.split() for line in lines], heavy=HEAVY)]
    ran = subprocess.run(python, cwd=table.HERE.parent, capture_output=True, text=True, timeout=60)
    return json.loads(ran.stdout.splitlines()[-1])


def read(path):
    """What a file of JSON holds."""
    return json.loads(Path(path).read_text("utf-8"))


def text_of(page):
    """The text of a page, by its path in the checkout."""
    return (table.HERE.parent / page).read_text("utf-8")


def contents(folder):
    """All that is below a folder, by its name: the bytes of a file, False for a folder and for a log with seconds."""
    found = {str(path.relative_to(folder)): path for path in Path(folder).rglob("*")}
    return {name: path.is_file() and path.name != "log.jsonl" and path.read_bytes() for name, path in found.items()}


def stopped(*_, **__):
    """Ctrl-C, in place of what a command calls."""
    raise KeyboardInterrupt


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


def run_twice(done, folder, table, name, *arguments):
    """The lines that a first run in a folder prints; its table and a second run leave the folder's results alone."""
    out = ["--out", folder / "a"]
    said = done(name, *arguments, *out, "--json", folder / "t.json", "--bundle", folder / "b.json").splitlines()
    before = contents(folder / "a" / "results")
    assert done(name, *table, *out).splitlines() == said[: len(said) - 2]
    done(name, *arguments, *out)
    assert contents(folder / "a" / "results") == before
    return said
