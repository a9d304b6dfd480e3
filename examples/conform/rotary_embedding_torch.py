"""rotary-embedding-torch: rotate_queries_or_keys row by row where positions follow one another."""

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

PACKAGE = "rotary-embedding-torch"
BACKEND, PAIRS = "torch", "neighbours"


def rope(x, positions, base, dims=None):
    layer = RotaryEmbedding(dims or x.shape[3], theta=base)

    def turned(row, at):
        if (at.diff() == 1).all():
            return layer.rotate_queries_or_keys(row, offset=int(at[0]))
        return apply_rotary_emb(layer(at), row)

    return torch.stack([*map(turned, x, positions)])
