"""JSON files given to a command that are none, or not the right one: one line that names the file, exit 2."""

import hashlib
import json
import shutil

import pytest

from dynamics.training.checkpoint import SHIPPED
from scripts import fig_heads, fig_scope_bounds, fig_sweep, scope, sweep, train
from scripts.cli import run

NAME = "small-kv-shift"
CONTENTS = {
    "nothing": b"",
    "a list": b"[]",
    "null": b"null",
    "an open brace": b"{",
    "a number": b"1",
    "an empty object": b"{}",
    "no UTF-8": b"\xff\xfe{}",
    "a null byte": b"\0",
    "NaN": b'{"version": NaN}',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
}


def hashed(path, data):
    path.write_bytes(data)
    path.with_name(f"{path.name}.sha256").write_text(f"{hashlib.sha256(data).hexdigest()}  {path.name}\n")
    return path


def alone(name):
    """A folder that holds nothing but the file."""

    def write(folder, data):
        folder.mkdir()
        (folder / name).write_bytes(data)
        return folder / name

    return write


def in_a_run(name):
    """A finished run of the comparison whose file of that name is the content, its hash with it."""

    def write(folder, data):
        shutil.copytree(SHIPPED / NAME, folder / NAME)
        return hashed(folder / NAME / name, data)

    return write


def measured(folder, data):
    folder.mkdir()
    return hashed(folder / "measured.json", data)


QUIET = ["--quiet", "--device", "cpu"]
CASES = {
    "scope, config": (alone("config.json"), scope.main, lambda path: [str(path.parent), "--eps", ".1"]),
    "scope, manifest": (alone("manifest.json"), scope.main, lambda path: [str(path.parent), "--eps", ".1"]),
    "inspect": (alone("manifest.json"), train.main, lambda path: ["--inspect", str(path.parent)]),
    "compare, history": (
        in_a_run("history.json"),
        train.main,
        lambda path: ["--compare", "--resume", *QUIET, "--out", str(path.parents[1])],
    ),
    "compare, manifest": (
        in_a_run("manifest.json"),
        train.main,
        lambda path: ["--compare", "--resume", *QUIET, "--out", str(path.parents[1])],
    ),
    "sweep": (alone("manifest.json"), sweep.main, lambda path: ["--quick", *QUIET, "--out", str(path.parent)]),
    "fig_sweep": (alone("manifest.json"), fig_sweep.main, lambda path: ["--sweep", str(path.parent), "--out", "x/"]),
    "fig_heads": (alone("manifest.json"), fig_heads.main, lambda path: ["--sweep", str(path.parent), "--out", "x/"]),
    "scope bounds": (measured, fig_scope_bounds.main, lambda path: ["--measured", str(path), "--out", "x/"]),
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_in_one_line_that_names_the_file(case, content, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write, main, arguments = CASES[case]
    path = write(tmp_path / "given", CONTENTS[content])
    before = sorted(tmp_path.rglob("*"))
    assert run(main, arguments(path)) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert printed.err.startswith(f"error: {path}: ")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_hash_that_is_no_text_is_refused(tmp_path, capsys):
    path = measured(tmp_path / "given", b"{}")
    path.with_name(f"{path.name}.sha256").write_bytes(b"\xff\xfe")
    assert run(fig_scope_bounds.main, ["--measured", str(path), "--out", str(tmp_path / "x")]) == 2
    assert f"{path}: not the bytes whose sha256" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"config": {"width": -1}}, "config: width: Input should be greater than or equal to 1 (got -1)"),
        ({"training": {"steps": 0}}, "steps: Input should be greater than or equal to 1 (got 0)"),
        ({"training": {"pool": 10**6}}, "pool must be at most vocab - 11 = 21, got 1000000"),
    ],
)
def test_a_manifest_with_a_value_out_of_range_is_named_with_the_value(changes, words, tmp_path, capsys):
    shutil.copytree(SHIPPED / NAME, tmp_path / NAME)
    path = tmp_path / NAME / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {key: manifest[key] | value for key, value in changes.items()}))
    assert run(train.main, ["--inspect", str(tmp_path / NAME)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {path}: ") and error.count("\n") == 1 and words in error


def test_metrics_that_are_missing_are_named(tmp_path, capsys):
    shutil.copytree(SHIPPED / NAME, tmp_path / NAME)
    path = tmp_path / NAME / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"metrics": {}}))
    assert run(train.main, ["--compare", "--resume", *QUIET, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"error: {path}: metrics: heldout_loss is missing\n"
