"""Bad input to the command scope: one line, exit 2, nothing written."""

import hashlib
import json
import os
import pickle
import shutil

import numpy as np
import pytest

from tests.dynamics.weights import checkpoint_files as files
from tests.scripts.commands import command, refused
from tests.scripts.test_scope import KV_SHIFT

WEIGHTS = "model.safetensors"
QUERY = "model.layers.1.self_attn.q_proj.weight"


def config(**changes):
    """Change or, by None, remove fields of config.json."""

    def change(folder):
        path = folder / "config.json"
        data = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))

    return change


def tensors(change):
    """Rewrite the weights after a change of the dictionary of tensors."""

    def rewrite(folder):
        data = files.random_tensors(files.llama_shapes(files.LLAMA))
        change(data)
        files.write(folder, json.loads((folder / "config.json").read_text()), data)

    return rewrite


def content(change):
    return lambda folder: (folder / WEIGHTS).write_bytes(change((folder / WEIGHTS).read_bytes()))


def flipped(place, bit):
    def change(data):
        place_ = place % len(data)
        return data[:place_] + bytes([data[place_] ^ bit]) + data[place_ + 1 :]

    return content(change)


def poisoned(value):
    def change(data):
        data[QUERY][3, 2] = value

    return tensors(change)


def emptied(folder):
    shutil.rmtree(folder)
    folder.mkdir()


def pickled(folder):
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({}))


def flipped_own(folder):
    shutil.rmtree(folder)
    shutil.copytree(KV_SHIFT, folder)
    path = folder / "weights.safetensors"
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)


MPT = {"model_type": "mpt", "d_model": 8, "n_layers": 2, "n_heads": 4, "vocab_size": 5}
FILES = {
    "no folder": (lambda folder: shutil.rmtree(folder), "model"),
    "a file": (lambda folder: (shutil.rmtree(folder), folder.write_text("mine")), "model"),
    "an empty folder": (emptied, "config.json is missing"),
    "no config": (lambda folder: (folder / "config.json").unlink(), "config.json is missing"),
    "no weights": (lambda folder: (folder / WEIGHTS).unlink(), "neither model.safetensors nor"),
    "pickled weights": (pickled, "pickled"),
    "a pickle under another name": (content(lambda data: pickle.dumps({"w": [1.0] * 9}, 2)), "pickled"),
    "unknown architecture": (config(model_type="rwkv"), "model_type 'rwkv' is not one of"),
    "no architecture": (config(model_type=None), "model_type None is not one of"),
    "quantised": (config(quantization_config={"bits": 4}), "quantised"),
    "heads that do not divide": (config(num_attention_heads=3), "3 heads"),
    "another number of key-value heads": (config(num_key_value_heads=1), "shape"),
    "no heads": (config(num_attention_heads=0), "num_attention_heads"),
    "more key-value heads": (config(num_key_value_heads=3), "not a multiple of 3"),
    "another width": (config(hidden_size=16), "shape"),
    "a layer too many": (config(num_hidden_layers=3), "missing"),
    "a layer too few": (config(num_hidden_layers=1), "unknown tensor"),
    "negative slopes": (config(**MPT, attn_config={"alibi": True, "alibi_bias_max": -8}), "alibi_bias_max"),
    "no truth value of ALiBi": (config(**MPT, attn_config={"alibi": "yes please"}), "alibi"),
    "missing tensor": (tensors(lambda data: data.pop(QUERY)), "missing"),
    "extra tensor": (tensors(lambda data: data.update({QUERY + "_2": np.ones(2, np.float32)})), "unknown tensor"),
    "wrong shape": (tensors(lambda data: data.update({QUERY: data[QUERY][:4]})), "shape (4, 8)"),
    "whole numbers": (tensors(lambda data: data.update({QUERY: data[QUERY].astype(np.int32)})), "I32"),
    "NaN": (poisoned(np.nan), QUERY),
    "infinity": (poisoned(-np.inf), QUERY),
    "truncated": (content(lambda data: data[:-1]), "cut off"),
    "truncated in the header": (content(lambda data: data[:60]), "not a whole"),
    "bytes after the end": (content(lambda data: data + b"\0"), "after"),
    "flipped byte of the length": (flipped(6, 1), WEIGHTS),
    "flipped byte of the header": (flipped(8, 4), WEIGHTS),
    "flipped byte of our own model": (flipped_own, "weights.safetensors"),
}


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return files.write(tmp_path / "model", files.LLAMA, files.random_tensors(files.llama_shapes(files.LLAMA)))


@pytest.mark.parametrize("case", FILES)
def test_a_bad_checkpoint_is_one_line_and_writes_nothing(case, model, tmp_path, capsys):
    damage, words = FILES[case]
    damage(model)
    refused(capsys, "scope ./model --eps 0.1 --json out/x.json --figure out/map", words)
    assert os.listdir(tmp_path) in ([], ["model"])


def test_a_flipped_byte_that_leaves_a_number_is_seen_by_a_hash(model, tmp_path, capsys):
    digest = hashlib.sha256((model / WEIGHTS).read_bytes()).hexdigest()
    line = f"scope ./model --eps 0.1 --sha256 {WEIGHTS}={digest}"
    assert command(capsys, *line.split())[0] == 0
    flipped(-3, 1)(model)
    refused(capsys, f"{line} --json x.json", WEIGHTS)
    assert os.listdir(tmp_path) == ["model"]


def test_the_same_checkpoint_undamaged_is_read(model, tmp_path, capsys):
    code, printed, _ = command(capsys, "scope", "./model", "--eps", "0.1", "--json", "x.json")
    assert code == 0 and "8 heads" in printed and (tmp_path / "x.json").is_file()
