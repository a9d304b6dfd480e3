"""JSON files given to a command that are none, or not the right one: one line that names the file, exit 2."""

import hashlib
import json
import shutil

import pytest

from dynamics.training.checkpoint import SHIPPED
from tests.dynamics.refusal import changed, damages
from tests.scripts.commands import read

NAME = "small-kv-shift"
CONTENTS = {
    "nothing": b"",
    "a list": b"[]",
    "an open brace": b"{",
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


TABLE = """
inspect | config/width=-1 | config: width: Input should be greater than or equal to 1 (got -1)
inspect | training/steps=0 | steps: Input should be greater than or equal to 1 (got 0)
inspect | training/pool=1000000 | pool must be at most vocab - 11 = 21, got 1000000
compare | metrics={} | metrics: heldout_loss is missing
compare | metrics/heldout_correct=4097 | metrics: 4097 of 4096 rows right
compare | metrics/heldout_rows=4095 | of 4095 rows right
compare | metrics/heldout_loss=-1 | rows right, loss -1
"""


@damages(TABLE)
def test_a_manifest_with_a_value_out_of_range_is_named_with_the_value(kind, change, words, tmp_path, refused):
    shutil.copytree(SHIPPED / NAME, tmp_path / NAME)
    path = tmp_path / NAME / "manifest.json"
    changed(manifest := read(path), change)
    path.write_text(json.dumps(manifest))
    line = "inspect {folder}" if kind == "inspect" else COMPARE
    refused(line.format(folder=path.parent), f"error: {path}: ", words)


def test_a_history_of_other_steps_is_refused(tmp_path, refused):
    path = in_a_run("history.json")(tmp_path, b'{"accuracy": [0.5], "loss": [1.0]}')
    refused(COMPARE.format(folder=path.parent), f"error: {path}: 1 steps of 3000\n")
