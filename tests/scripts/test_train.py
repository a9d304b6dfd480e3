"""The training command line: what it leaves, what it prints, and how it refuses."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dynamics.experiments.presets import named
from dynamics.files import registered
from dynamics.model.config import COMPARED, PRESETS, ModelConfig
from dynamics.model.decoder import build
from dynamics.training.checkpoint import SHIPPED, load, shipped
from dynamics.training.describe import sizes
from dynamics.training.evaluation import evaluate
from dynamics.training.folder import heldout_of
from dynamics.training.settings import TRAININGS, TrainConfig
from scripts.commands import train
from tests.dynamics.interruption import interrupt
from tests.scripts.commands import contents, read, told

ROOT = Path(__file__).resolve().parents[2]
FILES = ["history.json", "history.json.sha256", "log.jsonl", "manifest.json", "weights.safetensors"]
TINY = ["--steps", "2", "--batch", "4", "--width", "8", "--heads", "2", "--device", "cpu", "--threads", "1", "--quiet"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    told("train", *TINY, "--out", folder)
    return folder


@pytest.fixture
def trained(whole, tmp_path):
    """A finished run that a test may spoil."""
    return shutil.copytree(whole, tmp_path / "out") / "kv-shift"


def test_train_leaves_weights_manifest_and_history(trained):
    assert sorted(os.listdir(trained)) == FILES
    manifest = read(trained / "manifest.json")
    assert manifest["training"]["steps"] == 2
    assert manifest["config"]["width"] == 8
    assert manifest["threads"] == 1
    assert len(read(trained / "history.json")["loss"]) == 2


def test_task_is_trained_recorded_and_inspected(tmp_path, done):
    assert "no heads are named" in done("train", *TINY, "--task", "trigram", "--out", tmp_path)
    assert read(tmp_path / "kv-shift" / "manifest.json")["training"]["task"]["name"] == "trigram"


MINE = """
from typing import Literal
import numpy as np
from dynamics.model.decoder import InductionModel
from dynamics.tasks.task import Batch, Task

class Copy(Task):
    name: Literal["copy"] = "copy"
    length: int = 6

    def draw(self, rng, rows, vocab, seed):
        tokens, lengths = rng.integers(11, vocab, (rows, self.length)), np.full(rows, self.length)
        return Batch(tokens, lengths, lengths - 1, tokens[:, 0], np.zeros(rows, dtype=int))

class Doubled(InductionModel):
    def __init__(self, config, generator=None):
        super().__init__(config.model_copy(update={"place": "heads"}), generator)
        self.config = config

    def features(self, tokens, query_index=None, caches=None):
        return 2 * super().features(tokens, query_index, caches)
"""


def test_a_model_whose_shift_is_elsewhere_is_trained_and_read_back_as_it_was(tmp_path, done):
    """What it draws besides its weights is a function of the seed, and so the same when it is read."""
    trained = done("train", *TINY, "--place", "fused", "--shift", "none", "--seed", "5", "--out", tmp_path)
    found = load(tmp_path / "kv-shift")
    assert "no heads are named: the attention of a model whose shift is placed at 'fused' is not shown" in trained
    again = build(found.model.config, torch.Generator().manual_seed(5))
    assert torch.equal(found.model.rotation, again.rotation)
    assert found.manifest.metrics["heldout_loss"] == evaluate(found.model, heldout_of(found)).loss


def test_a_task_and_a_model_of_a_users_package_are_trained_recorded_and_read_back(tmp_path, command):
    """Installed beside ours, they are known to the same command by their names."""
    metadata, out = tmp_path / "mine-1.0.dist-info", tmp_path / "out"
    metadata.mkdir()
    (tmp_path / "mine.py").write_text(MINE)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    points = f"[{registered.TASKS}]\ncopy = mine:Copy\n[{registered.MODELS}]\ndoubled = mine:Doubled\n"
    (metadata / "entry_points.txt").write_text(points)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}

    own = [*TINY, "--task", "copy", "--set", "length=9", "--place", "doubled", "--out", str(out)]
    inspected = [str(out / "kv-shift")]
    code = f"from scripts.commands.table import call; exit(call('train', {own}) or call('inspect', {inspected}))"
    there = [sys.executable, "-c", code]
    done = subprocess.run(there, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = read(out / "kv-shift" / "manifest.json")
    assert manifest["training"]["task"] == {"name": "copy", "length": 9} and manifest["config"]["place"] == "doubled"
    assert "length 9" in done.stdout.split("model ")[0]
    assert "held-out accuracy" in done.stdout
    assert command("inspect", *inspected)[0] == 2  # where the package is not


def test_compare_is_at_a_size_at_which_two_vanilla_layers_learn_and_says_so():
    found = {name: shipped(name).manifest for name in train.COMPARED}
    options = train.parser().parse_args(["--compare"])
    runs = {name: train._settings(name, options) for name in train.COMPARED}
    header = train._header(runs, options)
    assert "a size at which two vanilla layers learn too, chosen for that" in header
    for name, (config, training) in runs.items():
        assert ModelConfig.checked(found[name].config) == config
        assert TrainConfig.checked(found[name].training) == training


def test_help_states_the_sizes_that_are_trained():
    text = " ".join(train.__doc__.split())
    small = sizes([(config, TRAININGS[name]) for name, config in COMPARED.items()])
    stated = small.replace(", then one of them again", "").replace(", 64 rows a step, at most 3000 steps", "")
    assert stated.replace("AdamW", "3000 steps of 64 rows, AdamW") in text
    assert "vocabulary 8000 and rows of 29.0 different tokens" in text
    assert "vocabulary 8000, rows of 29.0 different tokens" in sizes([(PRESETS["kv-shift"], TRAININGS["kv-shift"])])
    assert (TRAININGS["kv-shift"].steps, TRAININGS["kv-shift"].batch) == (500, 256)


def test_inspect_reports_the_heads_of_a_checkpoint(trained, done):
    printed = done("inspect", trained, "--device", "cpu").splitlines()
    assert printed[0].startswith("no induction head: none puts more than half")
    assert [line.split()[0] for line in printed if line.split()[:1] in (["0.0"], ["0.1"])] == ["0.0", "0.1"] * 2
    assert max(map(len, printed)) <= 120
    trained = done("inspect", SHIPPED / "small-kv-shift").splitlines()
    assert trained[0] == "one induction head: 0.0 (layer.head)" and " outside " in trained[-6]
    assert trained[-2].startswith("outside the theorem: MLP; its loss") and "MLP -2" in trained[-2]


def test_presets_of_the_command_line_are_those_of_the_package():
    assert tuple(PRESETS) == tuple(TRAININGS) == train.PRESETS
    assert tuple(COMPARED) == train.COMPARED
    assert {named(name).title for name in train.SWEEPS.values()}
    assert train.SWEEPS.keys() == set(registered.names(registered.TASKS)) - {"induction", "igsm"}


def test_a_finished_run_is_replaced_only_when_asked(trained, refused, command):
    line = f"train {shlex.join(TINY)} --out {trained.parent} --seed 1"
    refused(line, f"{trained}: holds a finished run; overwrite replaces it")
    assert command(*line.split(), "--overwrite")[0] == 0
    assert read(trained / "manifest.json")["seed"] == 1


def test_comparison_is_refused_before_it_trains_where_a_run_would_be_lost(tmp_path, done, refused):
    last = tmp_path / train.COMPARED[-1]
    done("train", *TINY, "--preset", last.name, "--out", tmp_path)
    refused(f"train {shlex.join(TINY)} --compare --out {tmp_path}", "holds a finished run")
    assert os.listdir(tmp_path) == [last.name]


def test_interrupted_comparison_keeps_what_is_finished_and_goes_on(tmp_path, monkeypatch, command, done, refused):
    from dynamics.training import loop

    line = ["train", *TINY, "--compare", "--out", tmp_path / "a", "--steps"]
    with monkeypatch.context() as patch:
        calls = interrupt(patch, loop, "train_step", 7)
        advice = f"the state is in {tmp_path}/a/small-vanilla-1; the same command with --resume goes on\n"
        assert command(*line, "5")[::2] == (130, f"interrupted: {advice}")
        calls[:] = [1] * 10
        assert "as found" in done(*line, "5", "--resume").splitlines()[3]
        assert len(calls) == 10 + 3 + 5
    printed = done("train", *TINY, "--steps", "5", "--compare", "--out", tmp_path / "b")
    assert contents(tmp_path / "b") == contents(tmp_path / "a")
    assert sorted(os.listdir(tmp_path / "b")) == sorted(train.COMPARED)
    assert printed.count("no induction head") == 3
    assert [line.split()[0] for line in printed.splitlines()[3:6]] == list(train.COMPARED)
    assert "width 8, 2 heads, MLP 64, 4 rows a step, 5 steps" in " ".join(printed.split())
    assert max(map(len, printed.splitlines())) <= 120
    assert "chosen" not in printed  # these sizes are not the ones that were
    refused(shlex.join(map(str, [*line, "2", "--resume"])), "other settings")
