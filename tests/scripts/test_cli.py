"""What all command lines share: early checks of outputs, and standard output that takes no more."""

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from proofs_check.ledger import registry
from scripts import __main__ as one_command
from scripts.commands import cli, table, verify
from tests.dynamics.files.test_atomic import KINDS
from tests.scripts.commands import refused

ROOT = Path(cli.__file__).parents[2]
LIST = [sys.executable, "-m", "scripts", "sweep", "--list"]
HELP = [sys.executable, "-m", "scripts", "train", "--help"]


@pytest.mark.parametrize(("make", "words"), KINDS[1:], ids=lambda value: getattr(value, "__name__", ""))
def test_output_is_checked_before_anything_is_computed(tmp_path, capsys, monkeypatch, make, words):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "fig.png")
    for line in ("fig_landscape --out fig", "scope nowhere --eps .1 --json fig.png", "scalar --out fig.png"):
        refused(capsys, line, f"fig.png: {words.split(' to ')[0]}")


@pytest.mark.parametrize("name", ["/dev/full", "/dev/null"])
def test_devices_are_refused_as_outputs(name):
    with pytest.raises(ValueError, match=f"cannot write {name}: it is a device"):
        cli.output_file(name)


def test_a_file_name_that_ends_like_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="it names a folder"):
        cli.output_file(f"{tmp_path}/new/")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [LIST, HELP], ids=["list", "help"])
def test_a_reader_that_left_ends_a_command_quietly(command, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    found = _run(command, writer, unbuffered)
    os.close(writer)
    assert found.stderr == b""
    assert found.returncode in ({cli.CLOSED_PIPE, 0} if unbuffered and command is HELP else {cli.CLOSED_PIPE})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_under_standard_output_is_one_line(unbuffered):
    with open("/dev/full", "wb") as full:
        found = _run(LIST, full, unbuffered)
    assert (found.returncode, found.stderr) == (2, b"error: standard output: No space left on device\n")


def _run(command, stdout, unbuffered):
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    return subprocess.run(command, cwd=ROOT, stdout=stdout, stderr=subprocess.PIPE, env=environment, check=False)


def test_an_interruption_says_what_it_was_told(capsys):
    def stopped(_):
        raise KeyboardInterrupt("to go on, add --resume")

    assert cli.run(stopped, []) == 130
    assert capsys.readouterr().err == "interrupted: to go on, add --resume\n"


def test_empty_text_is_refused_for_every_option_without_a_type():
    line = cli.Parser(prog="x")
    line.add_argument("--name")
    assert line.parse_args(["--name", "a"]) == argparse.Namespace(name="a")
    with pytest.raises(SystemExit):
        line.parse_args(["--name", ""])


def test_the_one_command_lists_every_command_with_a_line(capsys):
    with pytest.raises(SystemExit) as end:
        one_command.main(["--help"])
    out = capsys.readouterr().out
    assert end.value.code == 0
    assert all(name in out for name in (*table.COMMANDS, *table.GROUPS))
    for group, (_, names) in table.GROUPS.items():
        with pytest.raises(SystemExit):
            one_command.main([group, "--help"])
        out = capsys.readouterr().out
        assert names and all(name in out for name in names)


HIDDEN = ["\n", "\r", "\t", "\x00", "\x1b[2K", "\x7f", "\x85", "\x9b2K", "\xad", "\u034f", "\u061c", "\u115f", "\u200b",
          "\u200d", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2060", "\u2066", "\u2069", "\u3164",
          "\ud800", "\ufe0f", "\ufeff", "\U000e0041", "\U000e0100"]  # fmt: skip


@pytest.mark.parametrize("hidden", HIDDEN, ids=ascii)
def test_text_that_hides_or_moves_the_cursor_is_escaped_wherever_an_error_is_told(capsys, monkeypatch, hidden):
    def fails(_):
        raise ValueError(f"a{hidden}b")

    def broken(*_):
        raise registry.BrokenLedger(f"a{hidden}b")

    monkeypatch.setattr(verify, "_verified", broken)
    assert [cli.run(fails, []), cli.run(verify.main, [])] == [2, 1]
    with pytest.raises(SystemExit):
        cli.Parser(prog="x").parse_args([f"a{hidden}b"])
    lines = capsys.readouterr().err.split("\n")
    assert len(lines) == 4 and not any(hidden[0] in line for line in lines)
    assert verify._columns([(f"a{hidden}b", "c")]) == cli.plain(f"a{hidden}b") + "  c"


def test_text_that_prints_stays_as_it_is():
    for text in ("naïve θ ≈ 1/2, 日本語, \\d", ""):
        assert cli.plain(text) == text


HEAVY = {"torch", "sympy", "scipy", "matplotlib", "numpy", "flint", "pydantic", "tqdm", "joblib", "dask"}
@pytest.mark.parametrize("name", [*table.COMMANDS, *(f"study {name}" for name in table.STUDIES), "figure landscape"])
def test_a_help_has_three_examples_that_the_parser_takes(name):
    parser = table.module(name).parser()
    shown = parser.format_help().split("examples:\n")[1].split("\n\n")[0].splitlines()
    assert len({line.strip() for line in shown}) == 3
    for line in shown:
        parser.parse_args(shlex.split(line.replace(parser.prog, "", 1)))


HELPED = [*table.COMMANDS, *table.GROUPS, "study compare"]
HELPED += [f"figure {name}" for name in ("landscape", "heads", "sweep", "truncation")]


@pytest.mark.parametrize("name", HELPED)
def test_help_needs_no_heavy_library(name):
    code = (
        "import runpy, sys\n"
        f"sys.argv = ['scripts', *{name.split()}, '--help']\n"
        "try:\n"
        "    runpy.run_module('scripts', run_name='__main__')\n"
        "except SystemExit as exit_:\n"
        "    assert not exit_.code, exit_.code\n"
        f"heavy = {HEAVY} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout
