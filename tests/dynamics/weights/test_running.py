"""A folder of Baichuan-M1 runs: its logits are those of the published definition, and a model of ours becomes one."""

import pytest
import torch
import torch.nn.functional as F

from dynamics.model.cache import KVCache
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel, build
from dynamics.weights.reader import open_checkpoint
from dynamics.weights.running import export_baichuan_m1, load_baichuan_m1
from tests.dynamics.refusal import refused
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.test_layouts import M1, m1_convolutions

CONFIG = M1 | {"rms_norm_eps": 1e-5, "rope_theta": 500.0}
HEADS = ((2, 1), (4, 2), (2, 1))  # of the three layers; the second sees a window of 3
TOKENS = torch.randint(0, CONFIG["vocab_size"], (2, 9), generator=torch.Generator().manual_seed(0))


def raw_tensors():
    tensors = files.random_tensors(files.baichuan_shapes(CONFIG, [16, 16, 16]) | m1_convolutions())
    return {name: (0.3 * tensor if tensor.ndim == 2 else tensor).astype("float32") for name, tensor in tensors.items()}


def reference(folder, raw, tokens):
    """Logits by the published definition, one sequence at a time, with the attention of what the reader gives."""
    checkpoint, eps = open_checkpoint(folder), CONFIG["rms_norm_eps"]
    wide = {name: torch.from_numpy(tensor).double() for name, tensor in raw.items()}
    rows = []
    for sequence in tokens:
        x = wide["model.embed_tokens.weight"][sequence]
        for number in range(len(HEADS)):
            root = f"model.layers.{number}."
            out = files.attention(checkpoint, number, x, eps, CONFIG["rope_theta"])[1]
            x = x + out.flatten(1) @ wide[f"{root}self_attn.o_proj.weight"].T
            y = files.norm(x, "rms", raw[f"{root}post_attention_layernorm.weight"], None, eps)
            inner = F.silu(y @ wide[f"{root}mlp.gate_proj.weight"].T) * (y @ wide[f"{root}mlp.up_proj.weight"].T)
            x = x + inner @ wide[f"{root}mlp.down_proj.weight"].T
        last = files.norm(x, "rms", raw["model.norm.weight"], None, eps)
        rows.append(last @ F.normalize(wide["lm_head.weight"], dim=-1).T)
    return torch.stack(rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return files.write(tmp_path_factory.mktemp("m1"), CONFIG, raw_tensors())


def test_logits_are_those_of_the_definition(folder):
    expected = reference(folder, raw_tensors(), TOKENS)
    assert torch.allclose(load_baichuan_m1(folder, torch.float64)(TOKENS), expected, rtol=0, atol=1e-12)
    assert torch.allclose(load_baichuan_m1(folder)(TOKENS).double(), expected, rtol=0, atol=1e-5)


def test_it_runs_chunk_by_chunk_and_at_one_row(folder):
    model = load_baichuan_m1(folder, torch.float64)
    whole, caches = model(TOKENS), [KVCache() for _ in model.blocks]
    parts = [model(part, caches=caches) for part in TOKENS.split([4, 1, 3, 1], dim=1)]
    assert torch.allclose(torch.cat(parts, dim=1), whole, rtol=0, atol=1e-12)
    rows = torch.tensor([8, 3])
    assert torch.allclose(model(TOKENS, rows), whole[torch.arange(2), rows], rtol=0, atol=1e-12)
    assert [w.shape for w in model.attention_weights(TOKENS, rows)] == [(2, n, 9) for n, _ in HEADS]


CHANGES = ({}, {"n_kv_heads": 2, "parameters": "gate"}, {"shift": "v", "parameters": "clip", "mlp_width": 0},
           {"shift": "none", "n_layers": 1}, {"window": 1, "rope_base": 300.0})  # fmt: skip


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_model_of_ours_becomes_one_with_the_same_logits(changes, tmp_path):
    config = ModelConfig(**{"vocab": 13, "width": 16, "n_heads": 4, "n_layers": 2, "mlp_width": 24} | changes)
    model = InductionModel(config, torch.Generator().manual_seed(2))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("norm.weight"):
                parameter.uniform_(0.5, 2.0, generator=torch.Generator().manual_seed(3))
        model.embedding.mul_(torch.linspace(0.2, 3.0, 13)[:, None])  # rows of unlike norms
    folder = export_baichuan_m1(model, tmp_path / "m1")
    tokens = TOKENS % 13
    assert torch.allclose(load_baichuan_m1(folder)(tokens), model(tokens), rtol=0, atol=1e-5)
    checkpoint, group = open_checkpoint(folder), 4 // (config.n_kv_heads or 4)
    assert checkpoint.architecture.n_heads == 4 + group and checkpoint.architecture.d_head == 4
    refused("exists already", export_baichuan_m1, model, folder)


@pytest.mark.parametrize(
    "changes", [{"shift": "qkv"}, {"window": 3}, {"position": "alibi"}, {"place": "half", "shift": "none"}], ids=str
)
def test_what_has_no_place_is_not_written(changes, tmp_path):
    model = build(ModelConfig(vocab=13, width=16, n_heads=4, **changes))
    message = "holds rotary attention whose keys and values are shifted by one token"
    refused(message, export_baichuan_m1, model, tmp_path / "m1")
    assert not (tmp_path / "m1").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tie_word_embeddings": True}, r"an lm_head\.weight apart from the embedding is needed"),
        ({"rms_norm_eps": 0}, r"rms_norm_eps must be in \(0, 1\), got 0"),
        ({"rope_theta": "10"}, "rope_theta must be a number above 1, got '10'"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "rotary angles that are scaled are not run here"),
        ({"model_type": "llama"}, "only model_type baichuan_m1 runs here|is missing|must be|no window"),
    ],
)
def test_what_does_not_run_is_refused_in_one_line(folder, changes, message, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    files.write_config(tmp_path, CONFIG | changes)
    refused(message, load_baichuan_m1, tmp_path)
