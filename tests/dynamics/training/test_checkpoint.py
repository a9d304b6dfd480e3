"""Checkpoints: what is written can be read, and everything else is refused with one line."""

import json
import re

import pytest
import safetensors.torch
import torch

from dynamics.files import atomic
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.training import checkpoint
from tests.dynamics.folders import saved
from tests.dynamics.refusal import changed, damages, flip, refused

CONFIG = ModelConfig(vocab=30, width=8, n_heads=2)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path)
    return tmp_path


def write(path, half=False):
    model = InductionModel(CONFIG, torch.Generator().manual_seed(0))
    checkpoint.save(path, model, seed=0, threads=1, device="cpu", training={"steps": 1}, metrics={"x": 0.5}, half=half)
    return model


def edit(path, change):
    """Change the manifest."""
    changed(data := json.loads((path / "manifest.json").read_text()), change)
    (path / "manifest.json").write_text(json.dumps(data))


def replaced(path, data):
    """Replace the weights and record the new hash, as a careless tool would."""
    (path / "weights.safetensors").write_bytes(data)
    edit(path, f'sha256="{atomic.sha256_bytes(data)}"')


def test_saved_model_is_loaded_bit_for_bit(tmp_path):
    model, found = write(tmp_path), checkpoint.load(tmp_path)
    assert found.model.config == CONFIG
    assert all(torch.equal(model.state_dict()[name], value) for name, value in found.model.state_dict().items())
    assert found.manifest.sha256 == atomic.sha256_of(tmp_path / "weights.safetensors")
    assert found.manifest.metrics == {"x": 0.5}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "weights.safetensors"]


def test_half_precision_checkpoint_is_loaded_as_its_rounded_weights(tmp_path):
    model, found = write(tmp_path, half=True), checkpoint.load(tmp_path)
    for name, value in found.model.state_dict().items():
        assert value.dtype == torch.float32
        assert torch.equal(value, model.state_dict()[name].half().float())


def test_every_flipped_byte_of_the_weights_is_refused(folder):
    whole = (folder / "weights.safetensors").read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 40)):
        (folder / "weights.safetensors").write_bytes(whole)
        flip(folder / "weights.safetensors", place)
        refused("sha256 is .*the manifest records", checkpoint.load, folder)


def test_truncated_or_foreign_weights_with_a_fitting_hash_are_refused(folder):
    whole = (folder / "weights.safetensors").read_bytes()
    for data in (b"", whole[:-1], whole[:50], b"\x80\x04N."):
        replaced(folder, data)
        refused("not a safetensors file", checkpoint.load, folder)


TABLE = """
weights | norm.weight=gone | tensor norm.weight is missing
weights | extra=[0.0, 0.0] | unknown tensor extra
weights | norm.weight=[1.0, 1.0, 1.0] | tensor norm.weight has shape (3,), not (8,)
weights | norm.weight=[NaN, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0] | norm.weight holds a value that is not
weights | norm.weight=[1, 1, 1, 1, 1, 1, 1, 1] | has type torch.int64
manifest | surprise=1 | surprise: Extra inputs are not permitted
manifest | seed=gone | seed: Field required
manifest | seed=-1 | greater than or equal to 0 (got -1)
manifest | threads="two" | (got 'two')
manifest | sha256="0" | sha256:
manifest | metrics/x=NaN | a finite number (got nan)
manifest | config/colour=1 | colour: Extra inputs
manifest | config/width=16 | tensor embedding has shape
manifest | config={"width": 16384, "n_layers": 256} | too few for the model
manifest | config={"vocab": 30, "width": 8, "n_heads": 2, "position": "learned", "max_length": 16000000} | too few for
"""


@damages(TABLE)
def test_wrong_tensors_and_manifests_are_refused(folder, kind, change, words):
    if kind == "manifest":
        edit(folder, change)
    else:
        tensors = safetensors.torch.load_file(folder / "weights.safetensors")
        changed(found := {name: tensor.tolist() for name, tensor in tensors.items()}, change)
        replaced(folder, safetensors.torch.save({name: torch.tensor(values) for name, values in found.items()}))
    refused(re.escape(words), checkpoint.load, folder)


@pytest.mark.parametrize("name", ["manifest.json", "weights.safetensors"])
def test_missing_file_is_an_os_error(folder, name):
    (folder / name).unlink()
    with pytest.raises(OSError, match=name):
        checkpoint.load(folder)


def test_model_with_nan_is_not_saved(tmp_path):
    model = InductionModel(CONFIG)
    model.norm.weight.data[0] = torch.nan
    refused(r"norm\.weight holds a value that is not finite", saved, tmp_path / "new", model)
    assert not (tmp_path / "new").exists()


def test_written_file_has_the_usual_permissions(tmp_path):
    atomic.atomic_write_bytes(tmp_path / "sub" / "file", b"x")
    (tmp_path / "plain").write_bytes(b"x")
    assert (tmp_path / "sub" / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode
