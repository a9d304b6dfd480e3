"""JSON files given to a command that are none, or not the right one: one line that names the file, exit 2."""

import hashlib
import json
import shutil

import pytest

from dynamics.training.checkpoint import SHIPPED
from tests.scripts.commands import read

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


COMPARE = "train --compare --resume --quiet --device cpu --out {folder.parent}"
CASES = {
    "scope, config": (alone("config.json"), "scope {folder} --eps .1"),
    "scope, manifest": (alone("manifest.json"), "scope {folder} --eps .1"),
    "inspect": (alone("manifest.json"), "inspect {folder}"),
    "compare, history": (in_a_run("history.json"), COMPARE),
    "compare, manifest": (in_a_run("manifest.json"), COMPARE),
    "sweep": (alone("manifest.json"), "sweep --quick --quiet --device cpu --out {folder}"),
    "fig_sweep": (alone("manifest.json"), "fig_sweep --sweep {folder} --out x/"),
    "fig_heads": (alone("manifest.json"), "fig_heads --sweep {folder} --out x/"),
    "scope bounds": (measured, "fig_scope_bounds --measured {folder}/measured.json --out x/"),
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_in_one_line_that_names_the_file(case, content, here, refused):
    write, line = CASES[case]
    path = write(here / "given", CONTENTS[content])
    before = sorted(here.rglob("*"))
    refused(line.format(folder=path.parent), f"error: {path}: ")
    assert sorted(here.rglob("*")) == before


def test_a_hash_that_is_no_text_is_refused(tmp_path, refused):
    path = measured(tmp_path / "given", b"{}")
    path.with_name(f"{path.name}.sha256").write_bytes(b"\xff\xfe")
    refused(f"fig_scope_bounds --measured {path} --out {tmp_path}/x", f"{path}: not the bytes whose sha256")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"config": {"width": -1}}, "config: width: Input should be greater than or equal to 1 (got -1)"),
        ({"training": {"steps": 0}}, "steps: Input should be greater than or equal to 1 (got 0)"),
        ({"training": {"pool": 10**6}}, "pool must be at most vocab - 11 = 21, got 1000000"),
    ],
)
def test_a_manifest_with_a_value_out_of_range_is_named_with_the_value(changes, words, tmp_path, refused):
    shutil.copytree(SHIPPED / NAME, tmp_path / NAME)
    path = tmp_path / NAME / "manifest.json"
    manifest = read(path)
    path.write_text(json.dumps(manifest | {key: manifest[key] | value for key, value in changes.items()}))
    refused(f"inspect {tmp_path / NAME}", f"error: {path}: ", words)


def test_metrics_that_are_missing_are_named(tmp_path, refused):
    shutil.copytree(SHIPPED / NAME, tmp_path / NAME)
    path = tmp_path / NAME / "manifest.json"
    path.write_text(json.dumps(read(path) | {"metrics": {}}))
    refused(COMPARE.format(folder=path.parent), f"error: {path}: metrics: heldout_loss is missing\n")
