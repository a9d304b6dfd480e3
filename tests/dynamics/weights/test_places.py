"""Where checkpoints are found: shards and their index, paths, the hub, and hashes."""

import hashlib
import json
import os

import pytest

from dynamics.weights.reader import open_checkpoint
from tests.dynamics.refusal import flip, refused, rows
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.checkpoint_files import QUERY, SHAPES, WEIGHTS, unreadable

SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


@pytest.fixture
def sharded(folder):
    (folder / WEIGHTS).unlink()
    tensors = files.random_tensors(SHAPES)
    names = {name: SHARDS[place % 2] for place, name in enumerate(tensors)}
    for file in SHARDS:
        part = {name: tensor for name, tensor in tensors.items() if names[name] == file}
        files.safetensors.numpy.save_file(part, folder / file)
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": names}))
    return folder


def index(change):
    def edit(folder):
        path = folder / f"{WEIGHTS}.index.json"
        data = json.loads(path.read_text())
        change(data["weight_map"])
        path.write_text(json.dumps(data))

    return edit


def listed(file):
    return index(lambda names: names.update({QUERY: file}))


SHARDED = {
    f"{WEIGHTS}.index.json: the file {SHARDS[1]} is missing": lambda folder: (folder / SHARDS[1]).unlink(),
    f"{SHARDS[1]}: not a whole safetensors file": lambda folder: os.truncate(folder / SHARDS[1], 900),
    f"{WEIGHTS}.index.json: '../x.safetensors' is not the name of a safetensors": listed("../x.safetensors"),
    f"{WEIGHTS}.index.json: '/x.safetensors' is not the name of a safetensors": listed("/x.safetensors"),
    f"{WEIGHTS}.index.json: '..\\\\x.safetensors' is not the name of a safetensors": listed("..\\x.safetensors"),
    rf"{WEIGHTS}.index.json: 'a\nb.safetensors' is not the name of a safetensors": listed("a\nb.safetensors"),
    f"{WEIGHTS}.index.json: 'x.bin' is not the name of a safetensors": listed("x.bin"),
    f"{WEIGHTS}.index.json: weight_map must give a file for every tensor": [
        listed(1),
        index(lambda names: names.clear()),
        lambda folder: (folder / f"{WEIGHTS}.index.json").write_text("{}"),
    ],
    f"{SHARDS[0]}: tensor {QUERY} is not listed for this file": [
        index(lambda names: names.update({QUERY: SHARDS[names[QUERY] == SHARDS[0]]})),
        index(lambda names: names.pop(QUERY)),
    ],
    f"{SHARDS[0]}: tensor more is missing, model.safetensors.index.json lists it": index(
        lambda names: names.update(more=SHARDS[0])
    ),
    rf"{SHARDS[0]}: tensor 'a\nb' is missing, model": index(lambda names: names.update({"a\nb": SHARDS[0]})),
}


def test_shards_are_read_as_one_file(sharded):
    checkpoint, whole = open_checkpoint(sharded), files.random_tensors(SHAPES)
    for role in ("query", "key"):  # of a file each
        rows = whole[f"model.layers.1.self_attn.{role[0]}_proj.weight"]
        assert (checkpoint.projection(1, role, 0, 2).reshape(4, 8) == rows[:4]).all()


@pytest.mark.parametrize(("words", "damage"), rows(SHARDED))
def test_a_damaged_index_is_refused(words, damage, sharded, monkeypatch):
    damage(sharded)
    unreadable(sharded, monkeypatch, words)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("absent", "no such folder"),
        ("a/b/c", "no such folder"),
        ("../a/b", "no such folder"),
        ("model.ckpt", "pickled"),
        ("weights/pytorch_model.bin", "pickled"),
        ("model/model.safetensors", "give the folder"),
    ],
)
def test_a_path_that_is_no_folder_is_refused(name, part, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    unreadable(name, monkeypatch, name, part)


def test_the_hub_is_asked_for_safetensors_and_json_at_the_top_only(folder, tmp_path, monkeypatch):
    import huggingface_hub

    asked = {}

    def download(hub_id, **options):
        asked.update(options, hub_id=hub_id)
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.chdir(tmp_path)
    assert open_checkpoint("owner/some-model_1.5").architecture.model_type == "llama"
    assert asked["hub_id"] == "owner/some-model_1.5"
    chosen = huggingface_hub.utils.filter_repo_objects(
        ["model.safetensors", "config.json", "pytorch_model.bin", "original/x.safetensors", "consolidated.safetensors"],
        allow_patterns=asked["allow_patterns"],
        ignore_patterns=asked["ignore_patterns"],
    )
    assert list(chosen) == ["model.safetensors", "config.json"]


@pytest.mark.parametrize("error", [ConnectionError("no\nroute"), OSError("no disk"), KeyError("odd")])
def test_a_hub_that_gives_nothing_is_one_line(error, tmp_path, monkeypatch):
    import huggingface_hub

    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    monkeypatch.chdir(tmp_path)
    refused("owner/model: no such folder, and the hub gave nothing", open_checkpoint, "owner/model")


def test_given_hashes_are_compared_before_anything_is_read(folder):
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in os.listdir(folder)}
    assert open_checkpoint(folder, sha256=digests).architecture.n_layers == 2
    flip(folder / WEIGHTS, -3)
    assert open_checkpoint(folder).architecture.n_layers == 2  # a flipped bit alone cannot be seen
    refused(r"model.safetensors: sha256 is .*, not", open_checkpoint, folder, sha256=digests)
    refused("no file 'absent' to compare", open_checkpoint, folder, sha256={"absent": "0" * 64})
