"""Layouts without a class in transformers, written by hand from their public names, and our own models."""

import numpy as np
import pytest
import torch

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.weights.reader import Architecture, open_checkpoint
from tests.dynamics.folders import saved
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.checkpoint_files import BAICHUAN, attention
from theory import alibi

LENGTH = 7
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


@pytest.mark.parametrize(
    ("config", "position", "slopes"), [(ALIBI, "alibi", tuple(alibi.slopes(4))), (ROPE, "rope", None)], ids=str
)
def test_baichuan_packs_three_squares_and_decides_its_positions_from_the_config(config, position, slopes, tmp_path):
    raw = files.random_tensors(files.baichuan_shapes(config, [24, 24]))
    checkpoint = open_checkpoint(files.write(tmp_path, config, raw))
    expected = Architecture("baichuan", 2, 4, 4, 2, 8, "rms", position, slopes, "halves", 1 / 2**0.5, 64)
    assert checkpoint.architecture == checkpoint.layer_architecture(1) == expected
    packed = raw["model.layers.1.self_attn.W_pack.weight"].reshape(3, 4, 2, 8)
    for role, rows in zip(("query", "key", "value"), packed, strict=True):
        np.testing.assert_array_equal(checkpoint.projection(1, role, 0, 4), rows)
    gamma, *others = checkpoint.small(1)
    np.testing.assert_array_equal(gamma, raw["model.layers.1.input_layernorm.weight"])
    assert not any(others)
    assert checkpoint.exact_in("float32") and not checkpoint.exact_in("bfloat16")


@pytest.mark.parametrize(
    ("change", "position"),
    [
        ({"hidden_size": 4096, "num_attention_heads": 32, "model_max_length": 4096}, "rope"),
        ({"hidden_size": 5120, "num_attention_heads": 40, "max_position_embeddings": 4096}, "alibi"),
    ],
)
def test_baichuan_of_a_published_width_is_known_by_it(change, position, tmp_path):
    config = BAICHUAN | {"num_hidden_layers": 1} | change
    files.write_zeros(tmp_path, config, files.baichuan_shapes(config, [3 * change["hidden_size"]]))
    checkpoint = open_checkpoint(tmp_path)
    architecture = checkpoint.architecture
    assert (architecture.position, architecture.d_head) == (position, 128)
    assert architecture.slopes == (tuple(alibi.slopes(40)) if position == "alibi" else None)
    assert [checkpoint.exact_in(kind) for kind in ("bfloat16", "float16", "float32")] == [True, False, True]


def test_a_format_is_exact_where_it_holds_every_tensor(tmp_path):
    raw = files.random_tensors(files.baichuan_shapes(ALIBI, [24, 24]))
    halves, name = {name: tensor.astype(np.float16) for name, tensor in raw.items()}, next(iter(raw))
    for tensors, exact in ((halves, True), (halves | {name: raw[name]}, False)):
        assert open_checkpoint(files.write(tmp_path / str(exact), ALIBI, tensors)).exact_in("float16") is exact


def test_baichuan_m1_mixes_the_previous_token_by_index_0_and_has_its_own_heads_in_windowed_layers(tmp_path):
    raw = files.random_tensors(files.baichuan_shapes(M1, [16, 16, 16]) | m1_convolutions())
    checkpoint = open_checkpoint(files.write(tmp_path, M1, raw))
    heads = [checkpoint.layer_architecture(layer)[2:5] for layer in range(3)]
    assert heads == [(2, 1, 4), (4, 2, 2), (2, 1, 4)]
    assert checkpoint.architecture == checkpoint.layer_architecture(0)
    assert [checkpoint.small(layer).window for layer in range(3)] == [None, 3, None]
    scales = [checkpoint.layer_architecture(layer).scale for layer in range(3)]
    assert scales == pytest.approx([0.5, 2**-0.5, 0.5])
    assert np.array_equal(checkpoint.small(1).alpha, raw["model.layers.1.self_attn.conv_k"][0, 0, :, 0, ::-1])


def m1_convolutions():
    counts = enumerate((1, 2, 1))
    return {f"model.layers.{i}.self_attn.conv_{name}": (1, 1, n, 1, 2) for i, n in counts for name in "kv"}


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
    model = InductionModel(config, torch.Generator().manual_seed(1))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
            if parameter.ndim == 1:
                parameter.uniform_(0.5, 2.0)
    saved(tmp_path, model)
    checkpoint = open_checkpoint(tmp_path)
    hidden = torch.randn(1, LENGTH, 16, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for layer, block in enumerate(model.double().blocks):
        expected = block.attention.weights(block.attention_norm(hidden))[0]
        got = attention(checkpoint, layer, hidden[0], 1e-6)[0]
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-7)  # coefficients are used in float32
        small = checkpoint.small(layer)
        for mine, theirs in ((small.alpha, block.attention.alpha_mix()), (small.beta, block.attention.beta_mix())):
            if mine is not None:
                np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-6)
