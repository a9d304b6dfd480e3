"""The workbench's own model, shifted, rotated, with value residuals and sinks: whole, and with its caches."""

import torch

from dynamics.model.cache import KVCache
from dynamics.model.config import ModelConfig, Residual
from dynamics.model.decoder import InductionModel

PACKAGE = "induction-workbench"
BACKEND, DTYPE = "torch", "float64"
CONFIG = {
    "vocab": 16, "width": 32, "n_heads": 4, "n_kv_heads": 2, "n_layers": 2, "mlp_width": 32,
    "shift": "kv", "position": "rope", "values": Residual(), "weights": "sink",
}  # fmt: skip


def model():
    """With queries so large that attention is far from uniform."""
    built = InductionModel(ModelConfig.checked(CONFIG), torch.Generator().manual_seed(0)).double()
    for block in built.blocks:
        block.attention.q_proj.weight.data *= 16
    return built


def logits(tokens):
    return model()(tokens)


def decoded(prompts, steps, chunk=None):
    if len({len(row) for row in prompts}) > 1:
        raise NotImplementedError("the model takes prompts of one length: its attention knows left pads, it does not")
    reader, tokens = model(), torch.tensor(prompts)
    caches = [KVCache() for _ in reader.blocks]
    parts = *tokens.split(chunk or tokens.shape[1], dim=1), *steps.split(1, dim=1)
    found = [reader(part, caches=caches)[:, -1] for part in parts]
    return torch.stack(found[-steps.shape[1] - 1 :], dim=1)
