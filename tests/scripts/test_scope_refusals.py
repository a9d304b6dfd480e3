"""Bad input to the command scope: one line, exit 2, nothing written."""

import hashlib
import json
import os
import pickle
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.dynamics.refusal import flip
from tests.dynamics.weights import checkpoint_files as files
from tests.scripts.commands import read
from tests.scripts.test_scope import KV_SHIFT

WEIGHTS = "model.safetensors"
QUERY = "model.layers.1.self_attn.q_proj.weight"


def config(**changes):
    """Change or, by None, remove fields of config.json."""

    def change(folder):
        path = folder / "config.json"
        data = read(path) | changes
        path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))

    return change


def content(change):
    return lambda folder: (folder / WEIGHTS).write_bytes(change((folder / WEIGHTS).read_bytes()))


def pickled(folder):
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({}))


def weights(change):
    """Rewrite the weights after a change of the dictionary of tensors."""

    def rewrite(folder):
        tensors = load_file(folder / WEIGHTS)
        change(tensors)
        save_file(tensors, folder / WEIGHTS, {"format": "pt"})

    return rewrite


def poisoned(name):
    return weights(lambda tensors: tensors[name][3, 2].fill_(torch.nan))


def flipped_own(folder):
    shutil.rmtree(folder)
    shutil.copytree(KV_SHIFT, folder)
    flip(folder / "weights.safetensors", -5)


# each as the command tells it; what else a checkpoint may have wrong is told by its reader alike
FILES = {
    "model: no such folder": shutil.rmtree,
    "model: give the folder": lambda folder: (shutil.rmtree(folder), folder.write_text("mine")),
    "config.json is missing": lambda folder: (folder / "config.json").unlink(),
    "pickled": pickled,
    "model_type 'rwkv' is not one of": config(model_type="rwkv"),
    "num_attention_heads: Input should be greater than or equal to 1": config(num_attention_heads=0),
    f"{QUERY} holds a value that is not finite": poisoned(QUERY),
    "cut off": content(lambda data: data[:-1]),
    "weights.safetensors: sha256": flipped_own,
}


@pytest.fixture
def model(here):
    return files.write(here / "model", files.LLAMA, files.random_tensors(files.llama_shapes(files.LLAMA)))


@pytest.mark.parametrize(("words", "damage"), FILES.items(), ids=FILES)
def test_a_bad_checkpoint_is_one_line_and_writes_nothing(words, damage, model, tmp_path, refused):
    damage(model)
    refused("scope ./model --eps 0.1 --json out/x.json --figure out/map", words)
    assert os.listdir(tmp_path) in ([], ["model"])


def test_a_flipped_byte_that_leaves_a_number_is_seen_by_a_hash(model, tmp_path, refused, command):
    digest = hashlib.sha256((model / WEIGHTS).read_bytes()).hexdigest()
    line = f"scope ./model --eps 0.1 --sha256 {WEIGHTS}={digest}"
    assert command(*line.split())[0] == 0
    flip(model / WEIGHTS, -3)
    refused(f"{line} --json x.json", WEIGHTS)
    assert os.listdir(tmp_path) == ["model"]
