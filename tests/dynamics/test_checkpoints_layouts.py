"""Layouts without a class in transformers, our own models, the hub, hashes, exact numbers and memory."""

import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from dynamics import checkpoint as own
from dynamics.checkpoint_safetensors import read, tensors
from dynamics.checkpoints import open_checkpoint
from dynamics.config import ModelConfig
from dynamics.model import InductionModel
from dynamics.positions import rotate
from tests.dynamics import checkpoint_files as files
from tests.dynamics.checkpoint_files import BAICHUAN, LLAMA, attention
from theory import alibi

ROOT = Path(__file__).parents[2]
LENGTH, WIDTH, EPS = 7, 8, 1e-6
ALIBI = BAICHUAN | {"model_max_length": 64}
ROPE = ALIBI | {"max_position_embeddings": 64}
M1 = BAICHUAN | {
    "model_type": "baichuan_m1",
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "num_swa_attention_heads": 4,
    "num_swa_key_value_heads": 2,
    "sliding_window": 3,
    "sliding_window_layers": [1],
    "conv_window": 2,
    "max_position_embeddings": 64,
}


def states(raw: dict[str, np.ndarray], layer: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random states, and what the norm in front of attention makes of them."""
    hidden = torch.randn(LENGTH, WIDTH, generator=torch.Generator().manual_seed(layer), dtype=torch.float64)
    gamma = torch.from_numpy(raw[f"model.layers.{layer}.input_layernorm.weight"]).double()
    return hidden, F.rms_norm(hidden, (WIDTH,), gamma, EPS)


def causal(scores: torch.Tensor, window: int = LENGTH) -> torch.Tensor:
    ones = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    return scores.masked_fill(~(ones.tril() & ones.triu(1 - window)), -torch.inf).softmax(-1)


def packed(raw: dict[str, np.ndarray], layer: int) -> torch.Tensor:
    return torch.from_numpy(raw[f"model.layers.{layer}.self_attn.W_pack.weight"]).double()


@pytest.mark.parametrize("config", [ALIBI, ROPE], ids=["13B", "7B"])
def test_baichuan_packs_three_squares_and_decides_its_positions_from_the_config(config, tmp_path):
    raw = files.random_tensors(files.baichuan_shapes(config, [3 * WIDTH] * 2))
    checkpoint = open_checkpoint(files.write(tmp_path, config, raw))
    assert checkpoint.architecture.position == ("rope" if config is ROPE else "alibi")
    hidden, normed = states(raw, 1)
    query, key, value = (normed @ packed(raw, 1).T).unflatten(-1, (3, 4, 2)).unbind(1)
    if config is ROPE:
        query, key = (rotate(x[None], torch.arange(LENGTH)[None], 10000.0)[0] for x in (query, key))
    scores = torch.einsum("thd,shd->hts", query, key) / 2**0.5
    if config is ALIBI:
        steps = torch.arange(LENGTH) - torch.arange(LENGTH)[:, None]
        scores = scores + torch.tensor(alibi.slopes(4))[:, None, None] * steps
    weights = causal(scores)
    got, mean = attention(checkpoint, 1, hidden, EPS)
    torch.testing.assert_close(got, weights, rtol=0, atol=1e-12)
    torch.testing.assert_close(mean, torch.einsum("hts,shd->thd", weights, value), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "position"),
    [
        ({"hidden_size": 4096, "num_attention_heads": 32, "model_max_length": 4096}, "rope"),
        ({"hidden_size": 5120, "num_attention_heads": 40, "max_position_embeddings": 4096}, "alibi"),
    ],
)
def test_baichuan_of_a_published_width_is_known_by_it(change, position, tmp_path):
    config = BAICHUAN | {"num_hidden_layers": 1} | change
    shapes = files.baichuan_shapes(config, [3 * change["hidden_size"]])
    header, start = {}, 0
    for name, shape in shapes.items():
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [start, start + size]}
        start += size
    files.write(tmp_path, config, {})
    os.truncate(files.write_raw(tmp_path / "model.safetensors", header, b""), sparse_size(header, start))
    architecture = open_checkpoint(tmp_path).architecture
    assert (architecture.position, architecture.d_head) == (position, 128)
    assert architecture.slopes == (tuple(alibi.slopes(40)) if position == "alibi" else None)


def sparse_size(header: dict, data: int) -> int:
    return 8 + len(json.dumps(header).encode()) + data


def test_baichuan_m1_mixes_the_previous_token_by_index_0_and_has_its_own_heads_in_windowed_layers(tmp_path):
    raw = files.random_tensors(files.baichuan_shapes(M1, [16, 16, 16]) | m1_convolutions())
    checkpoint = open_checkpoint(files.write(tmp_path, M1, raw))
    heads = [checkpoint.layer_architecture(layer)[2:5] for layer in range(3)]
    assert heads == [(2, 1, 4), (4, 2, 2), (2, 1, 4)]
    assert checkpoint.architecture == checkpoint.layer_architecture(0)
    assert [checkpoint.small(layer).window for layer in range(3)] == [None, 3, None]
    for layer, (n_heads, n_kv, d_head) in enumerate(heads):
        hidden, normed = states(raw, layer)
        parts = (normed @ packed(raw, layer).T).unflatten(-1, (-1, d_head)).split([n_heads, n_kv, n_kv], 1)
        query, key, value = parts
        kernels = (raw[f"model.layers.{layer}.self_attn.conv_{name}"] for name in "kv")
        key, value = (convolve(x, kernel) for x, kernel in zip((key, value), kernels, strict=True))
        query, key = (rotate(x[None], torch.arange(LENGTH)[None], 10000.0)[0] for x in (query, key))
        key, value = (x.repeat_interleave(n_heads // n_kv, 1) for x in (key, value))
        scores = torch.einsum("thd,shd->hts", query, key) / d_head**0.5
        weights = causal(scores, 3 if layer == 1 else LENGTH)
        got, mean = attention(checkpoint, layer, hidden, EPS)
        torch.testing.assert_close(got, weights, rtol=0, atol=1e-12)
        torch.testing.assert_close(mean, torch.einsum("hts,shd->thd", weights, value), rtol=0, atol=1e-12)
        assert (attention(checkpoint, layer, hidden, EPS, wrong="shift")[0] - weights).abs().max() > 1e-2


def m1_convolutions() -> dict[str, tuple[int, ...]]:
    counts = enumerate((1, 2, 1))
    return {f"model.layers.{i}.self_attn.conv_{name}": (1, 1, n, 1, 2) for i, n in counts for name in "kv"}


def convolve(x: torch.Tensor, kernel: np.ndarray) -> torch.Tensor:
    """sum_w padded[t + w] * kernel[w]: the last index meets the token itself."""
    windows = F.pad(x, (0, 0, 0, 0, 1, 0)).unfold(0, 2, 1)
    return (windows * torch.from_numpy(kernel)[0, 0]).sum(-1)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"position": "alibi", "n_kv_heads": 2, "parameters": "gate"},
        {"position": "none", "shift": "none", "mlp_width": 12},
        {"shift": "k", "parameters": "clip", "n_kv_heads": 1},
    ],
    ids=lambda change: "-".join(map(str, change.values())) or "default",
)
def test_our_own_models_are_read_as_they_compute(change, tmp_path):
    config = ModelConfig(vocab=30, width=16, n_layers=2, **change)
    model = InductionModel(config, torch.Generator().manual_seed(1)).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0).copy_(parameter.float())
            if parameter.ndim == 1:
                parameter.uniform_(0.5, 2.0).copy_(parameter.float())
    own.save(tmp_path, model, seed=0, threads=1, device="cpu", training={}, metrics={})
    checkpoint = open_checkpoint(tmp_path)
    hidden = torch.randn(1, LENGTH, 16, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for layer, block in enumerate(model.blocks):
        last = torch.tensor([LENGTH - 1])
        expected = block.attention.weights(block.attention_norm(hidden), query_index=last)[0, :, 0]
        got = attention(checkpoint, layer, hidden[0], 1e-6)[0][:, -1]
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-7)  # coefficients are used in float32
        small = checkpoint.small(layer)
        for mine, theirs in ((small.alpha, block.attention.alpha_mix()), (small.beta, block.attention.beta_mix())):
            if mine is not None:
                np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", ["kv-shift", "vanilla-1", "vanilla-2"])
def test_shipped_models_open(name):
    model, manifest = own.shipped(name)
    checkpoint = open_checkpoint(own.SHIPPED / name)
    assert checkpoint.architecture.n_layers == manifest.config["n_layers"]
    weight = model.blocks[0].attention.v_proj.weight.detach().numpy()
    np.testing.assert_array_equal(checkpoint.projection(0, "value", 1, 3), weight.reshape(4, 16, 64)[1:3])
    assert (checkpoint.small(0).alpha is None) == (name != "kv-shift")


def test_every_finite_half_is_read_exactly_and_float64_rounds_to_the_nearest(tmp_path):
    bits = np.arange(65536, dtype=np.uint16)
    exact = {"F16": bits.view(np.float16).astype(np.float64)}
    exact["BF16"] = torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16).double().numpy()
    for dtype, values in exact.items():
        finite = np.isfinite(values)
        header = {"x": {"dtype": dtype, "shape": [int(finite.sum())], "data_offsets": [0, 2 * int(finite.sum())]}}
        path = files.write_raw(tmp_path / f"{dtype}.safetensors", header, bits[finite].tobytes())
        got = read(tensors(path)["x"])
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got.astype(np.float64), values[finite])
        assert np.array_equal(np.signbit(got), np.signbit(values[finite]))
    values = np.array([1 / 3, 1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 1e-320])
    header = {"x": {"dtype": "F64", "shape": [4], "data_offsets": [0, 32]}}
    path = files.write_raw(tmp_path / "F64.safetensors", header, values.tobytes())
    expected = np.array([1 / 3, 1.0, 1 + 2.0**-23, 0.0], np.float32)
    np.testing.assert_array_equal(read(tensors(path)["x"]), expected)


def test_the_hub_is_asked_for_safetensors_and_json_at_the_top_only(tmp_path, monkeypatch):
    import huggingface_hub

    files.write(tmp_path / "snapshot", LLAMA, files.random_tensors(files.llama_shapes(LLAMA)))
    asked = {}

    def download(hub_id, **options):
        asked.update(options, hub_id=hub_id)
        return str(tmp_path / "snapshot")

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
    with pytest.raises(ValueError, match="owner/model: no such folder, and the hub gave nothing") as caught:
        open_checkpoint("owner/model")
    assert "\n" not in str(caught.value)


def test_given_hashes_are_compared_before_anything_is_read(tmp_path):
    files.write(tmp_path, LLAMA, files.random_tensors(files.llama_shapes(LLAMA)))
    digests = {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in os.listdir(tmp_path)}
    assert open_checkpoint(tmp_path, sha256=digests).architecture.n_layers == 2
    content = bytearray((tmp_path / "model.safetensors").read_bytes())
    content[-3] ^= 1
    (tmp_path / "model.safetensors").write_bytes(content)
    assert open_checkpoint(tmp_path).architecture.n_layers == 2  # a flipped bit alone cannot be seen
    with pytest.raises(ValueError, match=r"model.safetensors: sha256 is .*, not"):
        open_checkpoint(tmp_path, sha256=digests)
    with pytest.raises(ValueError, match="no file 'absent' to compare"):
        open_checkpoint(tmp_path, sha256={"absent": "0" * 64})


def big_bloom(folder: Path, n_layers: int) -> int:
    """A BLOOM of width 2048 in bfloat16, all zeros, as a sparse file; returns its size."""
    width, header, start = 2048, {}, 0
    shapes = {"word_embeddings.weight": (16, width)}
    names = ["word_embeddings_layernorm", "ln_f"]
    for layer in range(n_layers):
        root = f"h.{layer}."
        names += [f"{root}input_layernorm", f"{root}post_attention_layernorm"]
        for name, rows, columns in (
            ("self_attention.query_key_value", 3, 1),
            ("self_attention.dense", 1, 1),
            ("mlp.dense_h_to_4h", 4, 1),
            ("mlp.dense_4h_to_h", 1, 4),
        ):
            shapes[f"{root}{name}.weight"] = (rows * width, columns * width)
            shapes[f"{root}{name}.bias"] = (rows * width,)
    shapes |= {f"{name}.{kind}": (width,) for name in names for kind in ("weight", "bias")}
    for name, shape in shapes.items():
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [start, start + size]}
        start += size
    config = {"model_type": "bloom", "hidden_size": width, "n_layer": n_layers, "n_head": 16, "vocab_size": 16}
    (folder / "config.json").write_text(json.dumps(config))
    path = files.write_raw(folder / "model.safetensors", header, b"")
    os.truncate(path, path.stat().st_size + start)
    return path.stat().st_size


def test_a_read_allocates_the_rows_it_returns_and_one_piece(tmp_path):
    big_bloom(tmp_path, 1)
    checkpoint = open_checkpoint(tmp_path)
    tracemalloc.start()
    try:
        rows = checkpoint.projection(0, "key", 2, 10)
        one = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows.nbytes == 8 * 128 * 2048 * 4
    assert one < 1.25 * rows.nbytes  # the fused tensor has 6 times these rows


READ = """
for layer in range(checkpoint.architecture.n_layers):
    checkpoint.small(layer)
    for role in ("query", "key", "value"):
        for head in range(0, 16, 4):
            checkpoint.projection(layer, role, head, head + 4)
"""
MAPPED = """
import numpy
numpy.memmap(sys.argv[1] + "/model.safetensors", mode="r")[: 256 << 20 : 4096].max()
"""
# VmHWM, the peak of this process alone: ru_maxrss would begin at that of the parent.
MEASURE = """
import sys
from pathlib import Path
from dynamics.checkpoints import open_checkpoint
def peak():
    return int(next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmHWM")).split()[1])
before = peak()
checkpoint = open_checkpoint(sys.argv[1])
{}
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_the_process_does_not_grow_with_the_file(tmp_path):
    assert big_bloom(tmp_path, 10) > 1e9
    kib = [
        int(subprocess.check_output([sys.executable, "-c", MEASURE.format(code), str(tmp_path)], cwd=ROOT, text=True))
        for code in (READ, MAPPED)
    ]
    assert kib[0] < 20 * 1024 < 200 * 1024 < kib[1]  # 4 heads are 4 MiB, all that is read 240 MiB
