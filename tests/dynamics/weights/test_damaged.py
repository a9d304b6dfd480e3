"""Damaged files: one line that names the file and what is wrong, before any weight is read."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.training import checkpoint as own
from dynamics.weights import safetensors_file
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.refusal import refused
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.checkpoint_files import LLAMA, unreadable

SHAPES = files.llama_shapes(LLAMA)
QUERY = "model.layers.1.self_attn.q_proj.weight"
WEIGHTS = "model.safetensors"


@pytest.fixture
def folder(tmp_path):
    return files.write(tmp_path / "model", LLAMA, files.random_tensors(SHAPES))


def tensors(change):
    def edit(folder):
        data = files.random_tensors(SHAPES)
        change(data)
        files.write(folder, LLAMA, data)

    return edit


def header(change):
    def edit(folder):
        entries, data = files.split(folder / WEIGHTS)
        result = change(entries)
        files.write_raw(folder / WEIGHTS, entries if result is None else result, data)

    return edit


def content(change):
    def edit(folder):
        (folder / WEIGHTS).write_bytes(change((folder / WEIGHTS).read_bytes()))

    return edit


def entry(**values):
    return header(lambda entries: entries[QUERY].update(values))


def torch_zip(_):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}))
    return stream.getvalue()


def duplicate(entries):
    text = json.dumps(entries)
    return (text[:-1] + "," + json.dumps({QUERY: entries[QUERY]})[1:]).encode()


def overlap(entries):
    begin, end = entries[QUERY]["data_offsets"]
    entries[QUERY]["data_offsets"] = [begin - 32, end - 32]


FILES = {
    "missing": (tensors(lambda data: data.pop(QUERY)), ("model: tensor", QUERY, "missing")),
    "missing norm": (tensors(lambda data: data.pop("model.norm.weight")), ("model.norm.weight is missing",)),
    "extra layer": (
        tensors(lambda data: data.update({QUERY.replace("1", "2"): data[QUERY]})),
        (WEIGHTS, "unknown tensor model.layers.2.self_attn.q_proj.weight"),
    ),
    "extra bias": (
        tensors(lambda data: data.update({QUERY.replace("weight", "bias"): data["model.norm.weight"]})),
        (WEIGHTS, "unknown tensor model.layers.1.self_attn.q_proj.bias"),
    ),
    "extra adapter": (
        tensors(lambda data: data.update({"model.layers.0.self_attn.q_proj.lora_A.weight": data[QUERY]})),
        (WEIGHTS, "unknown tensor", "lora_A"),
    ),
    "wrong shape": (
        tensors(lambda data: data.update({QUERY: data[QUERY][:4]})),
        (WEIGHTS, QUERY, "shape (4, 8), not (8, 8)"),
    ),
    "wrong rank": (
        tensors(lambda data: data.update({QUERY: data[QUERY].reshape(-1)})),
        (WEIGHTS, QUERY, "shape (64,), not (8, 8)"),
    ),
    "whole numbers": (
        tensors(lambda data: data.update({QUERY: data[QUERY].astype(np.int8)})),
        (WEIGHTS, QUERY, "type I8"),
    ),
    "unknown type": (entry(dtype="F31"), (WEIGHTS, QUERY, "'F31'")),
    "type of another size": (entry(dtype="F16"), (WEIGHTS, QUERY, "do not fit")),
    "type not a string": (entry(dtype=["F32"]), (WEIGHTS, QUERY, "unknown type")),
    "shape of another size": (entry(shape=[8, 9]), (WEIGHTS, QUERY, "do not fit")),
    "negative shape": (entry(shape=[-8, -8]), (WEIGHTS, QUERY, "whole numbers")),
    "shape of truth values": (entry(shape=[True, 64]), (WEIGHTS, QUERY, "whole numbers")),
    "huge shape": (entry(shape=[2**64, 0]), (WEIGHTS, QUERY, "whole numbers")),
    "extra field": (entry(strides=[1, 1]), (WEIGHTS, QUERY, "dtype, shape and data_offsets")),
    "three offsets": (entry(data_offsets=[0, 0, 256]), (WEIGHTS, QUERY, "whole numbers")),
    "beyond the file": (entry(data_offsets=[10**6, 10**6 + 256]), (WEIGHTS, QUERY, "cut off")),
    "overlap": (header(overlap), (WEIGHTS, "overlaps")),
    "hole": (header(lambda entries: entries.pop(QUERY) and None), (WEIGHTS, "hole")),
    "duplicate name": (header(duplicate), (WEIGHTS, QUERY, "twice")),
    "header a list": (header(lambda entries: b"[]"), (WEIGHTS, "brace")),
    "header not text": (header(lambda entries: b'{"\xff": 1}'), (WEIGHTS, "not readable as JSON")),
    "header nested": (header(lambda entries: b'{"a":' * 10**5), (WEIGHTS, "not readable as JSON")),
    "header of NaN": (header(lambda entries: b'{"a": NaN}'), (WEIGHTS, "NaN")),
    "entry a number": (header(lambda entries: b'{"a": 1}'), (WEIGHTS, "tensor a")),
    "huge header length": (content(lambda data: b"\xff" * 7 + b"\x7f" + data[8:]), (WEIGHTS, "not a whole")),
    "empty": (content(lambda data: b""), (WEIGHTS, "not a whole", "file of 0")),
    "cut in the length": (content(lambda data: data[:5]), (WEIGHTS, "not a whole")),
    "cut in the header": (content(lambda data: data[:100]), (WEIGHTS, "not a whole")),
    "cut in the data": (content(lambda data: data[:-1]), (WEIGHTS, "cut off", "tensor")),
    "bytes after the end": (content(lambda data: data + b"\0"), (WEIGHTS, "1 bytes after")),
    "zipped pickle": (content(torch_zip), (WEIGHTS, "pickled")),
    "pickle": (content(lambda data: pickle.dumps({"weights": [1.0] * 9}, 2)), (WEIGHTS, "pickled")),
    "git-lfs pointer": (content(lambda data: b"version https://git-lfs.github.com/spec/v1\n"), (WEIGHTS, "git-lfs")),
    "config missing": (lambda folder: (folder / "config.json").unlink(), ("config.json is missing",)),
    "config cut off": (
        lambda folder: (folder / "config.json").write_text('{"model_type": "llama"'),
        ("config.json", "not readable as JSON"),
    ),
    "config a list": (lambda folder: (folder / "config.json").write_text("[]"), ("config.json", "not a JSON object")),
    "weights missing": (lambda folder: (folder / WEIGHTS).unlink(), ("neither model.safetensors nor",)),
    "weights pickled": (
        lambda folder: (folder / WEIGHTS).rename(folder / "pytorch_model-00001-of-00002.bin"),
        ("pytorch_model-00001-of-00002.bin", "pickled", "never read"),
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_damaged_file_is_refused(case, folder, monkeypatch):
    open_checkpoint(folder)
    damage, parts = FILES[case]
    damage(folder)
    unreadable(folder, monkeypatch, *parts)


def test_our_own_checkpoint_with_a_flipped_bit_or_mixed_queries_is_refused(tmp_path, monkeypatch):
    for name, shift in (("kv", "kv"), ("qkv", "qkv")):
        model = InductionModel(ModelConfig(vocab=9, width=8, n_heads=2, shift=shift))
        own.save(tmp_path / name, model, seed=0, threads=1, device="cpu", training={}, metrics={})
    assert open_checkpoint(tmp_path / "kv").small(0).alpha.shape == (2, 2)
    unreadable(tmp_path / "qkv", monkeypatch, "manifest.json", "'qkv'")
    path = tmp_path / "kv/weights.safetensors"
    data = bytearray(path.read_bytes())
    data[-7] ^= 4
    path.write_bytes(data)
    unreadable(tmp_path / "kv", monkeypatch, "weights.safetensors", "sha256")


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    folder = files.write(tmp_path_factory.mktemp("fuzzed"), LLAMA, files.random_tensors(SHAPES))
    whole = (folder / WEIGHTS).read_bytes()
    return folder, whole, safetensors_file.tensors(folder / WEIGHTS)


@settings(max_examples=200)
@given(place=st.integers(0, 2**20), byte=st.integers(0, 255))
def test_any_byte_of_the_header_may_flip(place, byte, fuzzed):
    folder, whole, before = fuzzed
    length = int.from_bytes(whole[:8], "little")
    place %= 8 + length
    (folder / WEIGHTS).write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    try:
        open_checkpoint(folder)
    except ValueError as error:
        assert WEIGHTS in str(error) or "is missing" in str(error)
        assert "\n" not in str(error)
    else:  # white space, or the same byte
        after = safetensors_file.tensors(folder / WEIGHTS)
        assert {name: tensor[2:5] for name, tensor in after.items()} == {
            name: tensor[2:5] for name, tensor in before.items()
        }


@settings(max_examples=100)
@given(size=st.integers(0, 2**20))
def test_a_file_cut_anywhere_is_refused(size, fuzzed):
    folder, whole, _ = fuzzed
    (folder / WEIGHTS).write_bytes(whole[: size % len(whole)])
    refused(WEIGHTS, open_checkpoint, folder)
