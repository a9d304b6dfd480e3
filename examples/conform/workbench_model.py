"""The workbench's own model, shifted, rotated, with value residuals and sinks: whole, and with its caches."""

import torch

from dynamics.model.cache import KVCache
from dynamics.model.config import ModelConfig, Residual
from dynamics.model.decoder import InductionModel

BACKEND, DTYPE = "torch", "float64"
SIZES = {"vocab": 16, "width": 32, "n_heads": 4, "n_kv_heads": 2, "n_layers": 2, "mlp_width": 32}
OPTIONS = {"shift": "kv", "position": "rope", "values": Residual(), "weights": "sink"}


def model():
    """With queries and keys so large that attention is far from uniform."""
    built = InductionModel(ModelConfig.checked(SIZES | OPTIONS), torch.Generator().manual_seed(0)).double()
    for name, weight in built.named_parameters():
        weight.data *= 4 if "q_proj" in name or "k_proj" in name else 1
    return built


def logits(tokens):
    return model()(tokens)


def decoded(prompts, steps, chunk=None):
    if len({len(row) for row in prompts}) > 1:
        raise NotImplementedError("the model takes prompts of one length: its attention knows left pads, it does not")
    reader, tokens = model(), torch.tensor(prompts)
    caches = [KVCache() for _ in reader.blocks]
    for part in tokens.split(chunk or tokens.shape[1], dim=1):
        last = reader(part, caches=caches)[:, -1:]
    return torch.cat([last, *(reader(step, caches=caches) for step in steps.split(1, dim=1))], dim=1)
