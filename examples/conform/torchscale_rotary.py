"""torchscale: the rotary part of XPOS, base 10000 and positions from 0 alone."""

import torch
from torchscale.component.xpos_relative_position import apply_rotary_pos_emb, fixed_pos_embedding

BACKEND, PAIRS = "torch", "neighbours"


def rope(x, positions, base):
    if base != 10000.0:
        raise NotImplementedError("base 10000")
    length, width = int(positions.max()) + 1, x.shape[3]
    sin, cos = fixed_pos_embedding(torch.zeros(length, width // 2))
    rows = zip(x, positions, strict=True)
    return torch.stack([apply_rotary_pos_emb(row, sin[at], cos[at]) for row, at in rows])
