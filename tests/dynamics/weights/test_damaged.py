"""Damaged files: one line that names the file and what is wrong, before any weight is read."""

import io
import json
import pickle
import re
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.weights import safetensors_file
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.folders import saved
from tests.dynamics.refusal import flip, refused, rows
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.checkpoint_files import LLAMA, QUERY, SHAPES, WEIGHTS, unreadable

PLACE = f"{WEIGHTS}: tensor {QUERY}"


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


def text(name, words):
    return lambda folder: (folder / name).write_text(words)


def compiled(entries):
    return {f"_orig_mod.{name}": entry for name, entry in entries.items()}


FILES = {
    f"model: tensor {QUERY} is missing": tensors(lambda data: data.pop(QUERY)),
    "tensor model.norm.weight is missing": tensors(lambda data: data.pop("model.norm.weight")),
    f"{WEIGHTS}: unknown tensor model.layers.2.self_attn.q_proj.weight": tensors(
        lambda data: data.update({QUERY.replace("1", "2"): data[QUERY]})
    ),
    f"{WEIGHTS}: unknown tensor model.layers.1.self_attn.q_proj.bias": tensors(
        lambda data: data.update({QUERY.replace("weight", "bias"): data["model.norm.weight"]})
    ),
    f"{WEIGHTS}: unknown tensor model.layers.0.self_attn.q_proj.lora_A.weight": tensors(
        lambda data: data.update({"model.layers.0.self_attn.q_proj.lora_A.weight": data[QUERY]})
    ),
    f"{PLACE} has shape (4, 8), not (8, 8)": tensors(lambda data: data.update({QUERY: data[QUERY][:4]})),
    f"{PLACE} has shape (64,), not (8, 8)": tensors(lambda data: data.update({QUERY: data[QUERY].reshape(-1)})),
    f"{PLACE} has type I8": tensors(lambda data: data.update({QUERY: data[QUERY].astype(np.int8)})),
    f"{PLACE} has the unknown type 'F31'": entry(dtype="F31"),
    f"{PLACE}: bytes 3904 to 4160 do not fit shape (8, 8) of F16": entry(dtype="F16"),
    f"{PLACE} has the unknown type ['F32']": entry(dtype=["F32"]),
    f"{PLACE}: bytes 3904 to 4160 do not fit shape (8, 9) of F32": entry(shape=[8, 9]),
    f"{PLACE}: shape and data_offsets must be lists of whole numbers": [
        entry(shape=[-8, -8]),
        entry(shape=[True, 64]),
        entry(shape=[2**64, 0]),
        entry(data_offsets=[0, 0, 256]),
    ],
    f"{PLACE}: the header must give dtype, shape and data_offsets": entry(strides=[1, 1]),
    f"{WEIGHTS}: cut off: tensor {QUERY} ends at byte 1000256": entry(data_offsets=[10**6, 10**6 + 256]),
    f"{PLACE} overlaps the one before": header(overlap),
    f"{WEIGHTS}: tensor model.layers.1.self_attn.v_proj.weight leaves a hole before it": header(
        lambda entries: entries.pop(QUERY) and None
    ),
    f"{WEIGHTS}: safetensors header: not readable as JSON ('{QUERY}' stands twice": header(duplicate),
    f"{WEIGHTS}: safetensors header: not readable as JSON (NaN is": header(lambda entries: b'{"a": NaN}'),
    f"{WEIGHTS}: safetensors header: not readable as JSON": [
        header(lambda entries: b'{"\xff": 1}'),
        header(lambda entries: b'{"a":' * 10**5),
    ],
    f"{WEIGHTS}: not a safetensors file (the header does not begin with a brace": header(lambda entries: b"[]"),
    rf"{WEIGHTS}: the name 'a\nb' of a tensor does not print": header(lambda entries: b'{"a\\nb": 1}'),
    f"{WEIGHTS}: tensor a: the header must give dtype, shape and data_offsets": header(lambda entries: b'{"a": 1}'),
    f"{WEIGHTS}: not a whole safetensors file (header of 9223372036854775807 bytes in a file of 6312)": content(
        lambda data: b"\xff" * 7 + b"\x7f" + data[8:]
    ),
    f"{WEIGHTS}: not a whole safetensors file (header of 0 bytes in a file of 0)": content(lambda data: b""),
    f"{WEIGHTS}: cut off: tensor model.norm.weight ends at byte 4320 of 4319": content(lambda data: data[:-1]),
    f"{WEIGHTS}: 1 bytes after the last tensor": content(lambda data: data + b"\0"),
    f"{WEIGHTS}: pickled weights under the name of safetensors; they are never read": [
        content(torch_zip),
        content(lambda data: pickle.dumps({"weights": [1.0] * 9}, 2)),
    ],
    f"{WEIGHTS}: a git-lfs pointer, not the weights; fetch them first": content(
        lambda data: b"version https://git-lfs.github.com/spec/v1\n"
    ),
    "tensor embed_tokens.weight is missing; remove '_orig_mod.model.' from the names": header(compiled),
    "adapter_config.json: an adapter beside the weights is not read": text("adapter_config.json", "{}"),
    "model.safetensors and model.safetensors.index.json are both there": text(f"{WEIGHTS}.index.json", "{}"),
    "config.json is missing": lambda folder: (folder / "config.json").unlink(),
    "config.json: not readable as JSON": text("config.json", '{"model_type": "llama"'),
    "config.json: not a JSON object": text("config.json", "[]"),
    "neither model.safetensors nor model.safetensors.index.json is there": lambda folder: (folder / WEIGHTS).unlink(),
    "pytorch_model-00001-of-00002.bin: pickled weights are never read": lambda folder: (folder / WEIGHTS).rename(
        folder / "pytorch_model-00001-of-00002.bin"
    ),
}


@pytest.mark.parametrize(("words", "damage"), rows(FILES))
def test_a_damaged_file_is_refused(words, damage, folder, monkeypatch):
    open_checkpoint(folder)
    damage(folder)
    unreadable(folder, monkeypatch, words)


def test_our_own_checkpoint_with_a_flipped_bit_or_mixed_queries_is_refused(tmp_path, monkeypatch):
    for name, shift in (("kv", "kv"), ("qkv", "qkv")):
        model = InductionModel(ModelConfig(vocab=9, width=8, n_heads=2, shift=shift))
        saved(tmp_path / name, model)
    assert open_checkpoint(tmp_path / "kv").small(0).alpha.shape == (2, 2)
    unreadable(tmp_path / "qkv", monkeypatch, "manifest.json", "'qkv'")
    flip(tmp_path / "kv/weights.safetensors", -7, 4)
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
    else:  # white space, the same byte, or a name that attention's logits and values do not need
        after = safetensors_file.tensors(folder / WEIGHTS)
        read = [name for name in before if re.search("[qkv]_proj|input_layernorm", name)]
        assert len(read) == 8 and [after[name][2:5] for name in read] == [before[name][2:5] for name in read]


@settings(max_examples=100)
@given(size=st.integers(0, 2**20))
def test_a_file_cut_anywhere_is_refused(size, fuzzed):
    folder, whole, _ = fuzzed
    (folder / WEIGHTS).write_bytes(whole[: size % len(whole)])
    refused(WEIGHTS, open_checkpoint, folder)
