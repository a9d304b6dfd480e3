"""What all command lines share: early checks of outputs, and standard output that takes no more."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from proofs_check.ledger import registry
from scripts.commands import cli, table, verify
from tests.dynamics.files.test_atomic import KINDS
from tests.scripts.commands import loaded

ROOT = Path(cli.__file__).parents[2]
LIST = [sys.executable, "-m", "scripts", "sweep", "--list"]
HELP = [sys.executable, "-m", "scripts", "train", "--help"]
FIGURES = ("figure landscape", "figure training")


@pytest.mark.parametrize(("make", "words"), KINDS[1:], ids=lambda value: getattr(value, "__name__", ""))
def test_output_is_checked_before_anything_is_computed(here, make, words, refused):
    make(here / "fig.png")
    for line in ("fig_landscape --out fig", "scope nowhere --eps .1 --json fig.png", "scalar --out fig.png"):
        refused(line, f"fig.png: {words.split(' to ')[0]}")


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


def test_an_interruption_says_what_it_was_told(command):
    def stopped(_):
        raise KeyboardInterrupt("to go on, add --resume")

    assert command(stopped) == (130, "", "interrupted: to go on, add --resume\n")


def test_the_one_command_lists_every_command_with_a_line(done):
    lists = {"": (*table.COMMANDS, *table.GROUPS)} | {group: names for group, (_, names) in table.GROUPS.items()}
    for group, names in lists.items():
        out = done("__main__", *group.split(), "--help")
        assert names and all(name in out for name in names)


HIDDEN = [
    *("\x1b[2K", "\x9b2K"),
    *"\n\r\t\x00\x7f\x85\xad\u034f\u061c\u115f\u200b\u200d\u200e\u200f\u2028\u2029\u202a\u202e",
    *"\u2060\u2066\u2069\u3164\ud800\ufe0f\ufeff\U000e0041\U000e0100",
]


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


@pytest.mark.parametrize("name", [*table.COMMANDS, *(f"study {name}" for name in table.STUDIES), *FIGURES])
def test_a_help_has_three_examples_that_the_parser_takes(name):
    parser = table.module(name).parser()
    shown = parser.format_help().split("examples:\n")[1].split("\n\n")[0].splitlines()
    assert len({line.strip() for line in shown}) == 3
    for line in shown:
        parser.parse_args(shlex.split(line.replace(parser.prog, "", 1)))


HELPED = [*table.COMMANDS, *table.GROUPS, "study compare"]
HELPED += [f"figure {name}" for name in ("landscape", "heads", "sweep", "training", "truncation")]


@pytest.mark.parametrize("name", HELPED)
def test_help_needs_no_heavy_library(name):
    assert loaded(f"{name} --help") == [[0], []]


def test_every_progress_bar_of_the_commands_obeys_quiet():
    sources = [path.read_text("utf-8") for path in table.HERE.rglob("*.py")]
    bars = [line for source in sources for line in source.splitlines() if " tqdm(" in line]
    assert bars and all("disable=" in line and "quiet or None" in line for line in bars)
