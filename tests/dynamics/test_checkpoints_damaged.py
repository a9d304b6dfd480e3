"""Damaged, foreign and odd checkpoints: one line that names the file and what is wrong, before any weight is read."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics import checkpoint as own
from dynamics import checkpoint_safetensors
from dynamics.checkpoints import open_checkpoint
from dynamics.config import ModelConfig
from dynamics.model import InductionModel
from tests.dynamics import checkpoint_files as files
from tests.dynamics.checkpoint_files import BAICHUAN, LLAMA

SHAPES = files.llama_shapes(LLAMA)
QUERY = "model.layers.1.self_attn.q_proj.weight"
WEIGHTS = "model.safetensors"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


@pytest.fixture
def folder(tmp_path):
    return files.write(tmp_path / "model", LLAMA, files.random_tensors(SHAPES))


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


def refused(folder, monkeypatch, *parts: str, **options) -> None:
    """Opening fails with one line that holds all parts, and no weight is read."""

    def read_rows(*_):
        pytest.fail("a weight was read")

    monkeypatch.setattr(checkpoint_safetensors, "read_rows", read_rows)
    with pytest.raises(ValueError) as caught:
        open_checkpoint(folder, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in parts), message


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
    "missing mlp": (
        tensors(lambda data: data.pop("model.layers.0.mlp.up_proj.weight")),
        ("layers.0.mlp.up_proj.weight is missing",),
    ),
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
    refused(folder, monkeypatch, *parts)


SWA = {"sliding_window_layers": [0], "conv_window": 2, "num_key_value_heads": 2, "model_type": "baichuan_m1"}
MPT = {"model_type": "mpt", "d_model": 8, "n_layers": 1, "n_heads": 2, "vocab_size": 5, "attn_config": {"alibi": True}}
BLOOM = {"model_type": "bloom", "hidden_size": 8, "n_layer": 1, "n_head": 2, "vocab_size": 5}
CONFIGS = {
    "unknown": (LLAMA | {"model_type": "gpt_bigcode"}, ("model_type 'gpt_bigcode'", "mistral")),
    "no type": (LLAMA | {"model_type": None}, ("model_type None",)),
    "type a list": (LLAMA | {"model_type": []}, ("model_type []",)),
    "quantised": (LLAMA | {"quantization_config": {"bits": 4}}, ("quantised",)),
    "no width": ({key: LLAMA[key] for key in LLAMA if key != "hidden_size"}, ("hidden_size",)),
    "width a string": (LLAMA | {"hidden_size": "8"}, ("hidden_size", "'8'")),
    "width 0": (LLAMA | {"hidden_size": 0}, ("hidden_size", "got 0")),
    "width a fraction": (LLAMA | {"hidden_size": 8.5}, ("hidden_size", "8.5")),
    "layers": (LLAMA | {"num_hidden_layers": 10**9}, ("num_hidden_layers", "1000000000")),
    "more layers than the file": (LLAMA | {"num_hidden_layers": 3}, ("layers.2", "missing")),
    "fewer layers than the file": (LLAMA | {"num_hidden_layers": 1}, ("unknown tensor model.layers.1.",)),
    "heads do not divide": (
        LLAMA | {"num_attention_heads": 3, "num_key_value_heads": 3},
        ("8 is not a multiple of 3",),
    ),
    "groups do not divide": (LLAMA | {"num_key_value_heads": 3}, ("4 heads are not a multiple of 3",)),
    "odd rotary heads": (LLAMA | {"head_dim": 3}, ("even size, got 3",)),
    "biases missing": (LLAMA | {"attention_bias": True}, ("q_proj.bias is missing",)),
    "qwen2 biases missing": (LLAMA | {"model_type": "qwen2"}, ("q_proj.bias is missing",)),
    "qwen3 width of heads": (LLAMA | {"model_type": "qwen3"}, ("head_dim is missing",)),
    "qwen3 gains missing": (LLAMA | {"model_type": "qwen3", "head_dim": 2}, ("q_norm.weight is missing",)),
    "mistral groups": (
        LLAMA | {"model_type": "mistral", "num_key_value_heads": None},
        ("num_key_value_heads is missing",),
    ),
    "window 0": (LLAMA | {"model_type": "mistral", "sliding_window": 0}, ("sliding_window", "got 0")),
    "layer types": (
        LLAMA | {"model_type": "qwen2", "use_sliding_window": True, "layer_types": ["full_attention"]},
        ("layer_types has 1 entries for 2 layers",),
    ),
    "layer type": (LLAMA | {"layer_types": ["chunked_attention"] * 2}, ("layer_types", "chunked_attention")),
    "longrope": (LLAMA | {"rope_scaling": {"type": "longrope"}}, ("rotary scaling of type 'longrope'",)),
    "yarn with mscale": (LLAMA | {"rope_parameters": {"rope_type": "yarn", "mscale": 1.0}}, ("mscale",)),
    "yarn of a negative factor": (LLAMA | {"rope_parameters": {"rope_type": "yarn", "factor": -1.0}}, ("factor", "-1")),
    "rope by layer": (LLAMA | {"rope_parameters": {"full_attention": {"rope_type": "yarn"}}}, ("one set of rotary",)),
    "two ropes": (
        LLAMA | {"rope_parameters": {"rope_type": "default"}, "rope_scaling": {"type": "yarn"}},
        ("one set of rotary",),
    ),
    "rope a string": (LLAMA | {"rope_scaling": "yarn"}, ("must be objects",)),
    "partial rotation": (LLAMA | {"partial_rotary_factor": 0.5}, ("partial_rotary_factor 0.5",)),
    "baichuan untold": (BAICHUAN, ("RoPE or ALiBi?", "hidden_size 8")),
    "m1 window": (BAICHUAN | SWA | {"conv_window": 3}, ("conv_window", "got 3")),
    "m1 window size": (BAICHUAN | SWA, ("sliding_window is missing",)),
    "m1 window layer": (BAICHUAN | SWA | {"sliding_window_layers": [2]}, ("layers beyond 1",)),
    "m1 convolution missing": (BAICHUAN | SWA | {"sliding_window": 4}, ("missing",)),
    "mpt normed heads": (MPT | {"attn_config": {"alibi": True, "qk_ln": True}}, ("attn_config.qk_ln", "got True")),
    "mpt grouped": (
        MPT | {"attn_config": {"alibi": True, "attn_type": "multiquery_attention"}},
        ("attn_config.attn_type",),
    ),
    "mpt prefix": (MPT | {"attn_config": {"alibi": True, "prefix_lm": True}}, ("attn_config.prefix_lm",)),
    "mpt rotary": (MPT | {"attn_config": {"alibi": True, "rope": True}}, ("attn_config.rope",)),
    "mpt positions": (MPT | {"attn_config": {}}, ("attn_config.alibi",)),
    "mpt slopes": (MPT | {"attn_config": {"alibi": True, "alibi_bias_max": -8}}, ("attn_config.alibi_bias_max", "-8")),
    "mpt biases": (MPT | {"no_bias": False}, ("no_bias",)),
    "mpt norm": (MPT | {"norm_type": "rmsnorm"}, ("norm_type",)),
    "bloom two widths": (BLOOM | {"n_embed": 16}, ("hidden_size is 8 but n_embed is 16",)),
    "bloom two counts": (BLOOM | {"num_attention_heads": 4}, ("n_head is 2 but num_attention_heads is 4",)),
    "bloom heads": (BLOOM | {"n_head": 3}, ("8 is not a multiple of 3",)),
    "another's weights": (BLOOM, ("word_embeddings.weight is missing",)),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_a_config_that_is_not_understood_or_does_not_fit_is_refused(case, folder, monkeypatch):
    config, parts = CONFIGS[case]
    (folder / "config.json").write_text(json.dumps(config))
    refused(folder, monkeypatch, *parts)


def index(change):
    def edit(folder):
        path = folder / f"{WEIGHTS}.index.json"
        data = json.loads(path.read_text())
        change(data["weight_map"])
        path.write_text(json.dumps(data))

    return edit


SHARDED = {
    "shard missing": (lambda folder: (folder / SHARDS[1]).unlink(), (f"the file {SHARDS[1]} is missing",)),
    "shard cut off": (lambda folder: os.truncate(folder / SHARDS[1], 900), (SHARDS[1],)),
    "path upwards": (index(lambda names: names.update({QUERY: "../x.safetensors"})), ("'../x.safetensors'",)),
    "path absolute": (index(lambda names: names.update({QUERY: "/x.safetensors"})), ("'/x.safetensors'",)),
    "backslash": (index(lambda names: names.update({QUERY: "..\\x.safetensors"})), ("not the name of a safetensors",)),
    "pickle in the index": (index(lambda names: names.update({QUERY: "x.bin"})), ("'x.bin' is not the name",)),
    "number in the index": (index(lambda names: names.update({QUERY: 1})), ("weight_map",)),
    "empty index": (index(lambda names: names.clear()), ("weight_map",)),
    "wrong shard": (
        index(lambda names: names.update({QUERY: SHARDS[names[QUERY] == SHARDS[0]]})),
        (QUERY, "not listed for this file"),
    ),
    "not in the index": (index(lambda names: names.pop(QUERY)), (QUERY, "not listed")),
    "only in the index": (index(lambda names: names.update(more=SHARDS[0])), ("tensor more is missing",)),
    "no weight_map": (
        lambda folder: (folder / f"{WEIGHTS}.index.json").write_text("{}"),
        (f"{WEIGHTS}.index.json", "weight_map"),
    ),
}


@pytest.mark.parametrize("case", SHARDED)
def test_a_damaged_index_is_refused(case, sharded, monkeypatch):
    assert open_checkpoint(sharded).projection(1, "query", 0, 4).shape == (4, 2, 8)
    damage, parts = SHARDED[case]
    damage(sharded)
    refused(sharded, monkeypatch, *parts)


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
    refused(name, monkeypatch, name, part)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_value_that_is_not_finite_is_refused_where_it_is_read(value, dtype, folder):
    data = files.random_tensors(SHAPES)
    data[QUERY] = data[QUERY].astype(dtype)
    data[QUERY][5, 3] = value  # head 2 of 4
    data["model.layers.0.input_layernorm.weight"][0] = value
    checkpoint = open_checkpoint(files.write(folder, LLAMA, data))
    assert np.isfinite(checkpoint.projection(1, "query", 0, 2)).all()
    with pytest.raises(ValueError, match=rf"{WEIGHTS}: tensor {QUERY} holds a value that is not finite"):
        checkpoint.projection(1, "query", 0, 3)
    with pytest.raises(ValueError, match=r"input_layernorm.weight holds a value that is not finite"):
        checkpoint.small(0)


def test_a_float64_beyond_float32_is_refused(folder):
    data = files.random_tensors(SHAPES)
    data[QUERY] = data[QUERY].astype(np.float64)
    data[QUERY][0, 0] = 1e300
    with pytest.raises(ValueError, match="not finite in float32"):
        open_checkpoint(files.write(folder, LLAMA, data)).projection(1, "query", 0, 1)


def test_a_file_that_changes_after_it_was_opened_is_refused(folder):
    checkpoint = open_checkpoint(folder)
    files.write(folder, LLAMA, files.random_tensors(SHAPES, seed=1))
    os.utime(folder / WEIGHTS, ns=(1, 1))
    with pytest.raises(ValueError, match=r"model.safetensors: the file has changed"):
        checkpoint.projection(0, "value", 0, 1)


RANGES = {"layer": [(2, "query", 0, 1), (-1, "query", 0, 1)], "role": [(0, "output", 0, 1)]}
RANGES["heads"] = [(0, "query", 0, 5), (0, "key", 0, 3), (0, "query", 1, 1), (0, "query", -1, 1), (0, "value", 2, 1)]


@pytest.mark.parametrize(("name", "arguments"), [(name, each) for name, some in RANGES.items() for each in some])
def test_a_layer_role_or_head_out_of_range_is_refused(name, arguments, folder):
    with pytest.raises(ValueError, match=f"{name} must be"):
        open_checkpoint(folder).projection(*arguments)


def test_our_own_checkpoint_with_a_flipped_bit_or_mixed_queries_is_refused(tmp_path, monkeypatch):
    for name, shift in (("kv", "kv"), ("qkv", "qkv")):
        model = InductionModel(ModelConfig(vocab=9, width=8, n_heads=2, shift=shift))
        own.save(tmp_path / name, model, seed=0, threads=1, device="cpu", training={}, metrics={})
    assert open_checkpoint(tmp_path / "kv").small(0).alpha.shape == (2, 2)
    refused(tmp_path / "qkv", monkeypatch, "manifest.json", "'qkv'")
    path = tmp_path / "kv/weights.safetensors"
    data = bytearray(path.read_bytes())
    data[-7] ^= 4
    path.write_bytes(data)
    refused(tmp_path / "kv", monkeypatch, "weights.safetensors", "sha256")


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    folder = files.write(tmp_path_factory.mktemp("fuzzed"), LLAMA, files.random_tensors(SHAPES))
    whole = (folder / WEIGHTS).read_bytes()
    return folder, whole, checkpoint_safetensors.tensors(folder / WEIGHTS)


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
        after = checkpoint_safetensors.tensors(folder / WEIGHTS)
        assert {name: tensor[2:5] for name, tensor in after.items()} == {
            name: tensor[2:5] for name, tensor in before.items()
        }


@settings(max_examples=100)
@given(size=st.integers(0, 2**20))
def test_a_file_cut_anywhere_is_refused(size, fuzzed):
    folder, whole, _ = fuzzed
    (folder / WEIGHTS).write_bytes(whole[: size % len(whole)])
    with pytest.raises(ValueError, match=WEIGHTS):
        open_checkpoint(folder)
