"""Small models whose induction heads are planted at a strength, and make the model copy."""

import numpy as np
import torch

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.made.known_heads import LOGIT, Builder

CODES = {20: 20, 33: 32, 256: 64}


def planted(plan, strength=0.9, vocab=20, length=24, heads=4, loud=6.0, **settings):
    """A model of two layers whose `plan` heads (layer, head): kind put `strength` of their attention on the right key.

    Kinds: "shift" is an induction head; "late" looks one key later, and reads the value before that. They write what
    they read, `loud` times. The share is that of a row with `length` other keys, all of whose logits are 0.
    """
    codes = CODES[vocab]
    width = heads * (codes + (codes // 2 if settings.get("position") == "rope" else 0))
    sizes = {"vocab": vocab, "width": width, "n_heads": heads, "n_layers": 2, "window": 3, "position": "none"}
    model = InductionModel(ModelConfig.checked(sizes | settings), torch.Generator().manual_seed(0)).double()
    builder = Builder(model, np.random.default_rng(1), codes, length)
    with torch.no_grad():
        for block in model.blocks:
            block.attention.alpha.copy_(torch.tensor([1.0, 0, 0]).expand_as(block.attention.alpha))
            block.attention.beta.copy_(block.attention.alpha)
        builder.build({})
        for (layer, head), kind in plan.items():
            plant(builder, layer, head, kind, strength, length, loud)
    return model.float()


def plant(builder, layer, head, kind, strength, length, loud):
    attention = builder.model.blocks[layer].attention
    kv = head * attention.n_kv_heads // attention.n_heads
    rows, pair = (slice(one * builder.head_dim, (one + 1) * builder.head_dim) for one in (head, kv))
    odds = length * strength / (1 - strength)
    size = (LOGIT * 2.25 / builder.width) ** 0.5 * builder.head_dim**0.25
    attention.q_proj.weight[rows] = size * builder._reader(0) * float(np.log(odds) / LOGIT)
    attention.k_proj.weight[pair] = size * builder._reader(0)
    one = torch.eye(3, dtype=torch.float64)
    mixed = {"shift": (1, 0), "late": (2, 1)}[kind]
    attention.alpha[kv], attention.beta[kv] = one[mixed[0]], one[mixed[1]]
    attention.v_proj.weight[pair] = builder._reader(0)
    attention.o_proj.weight[:, rows] = loud * builder._reader(0).T * (2.25 / builder.width) ** 0.5
