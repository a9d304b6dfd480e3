"""rotary-embedding-torch: rotate_queries_or_keys row by row where positions follow one another."""

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

BACKEND, PAIRS = "torch", "neighbours"


def rope(x, positions, base, dims=None):
    layer, found = RotaryEmbedding(dims or x.shape[3], theta=base), []
    for row, at in zip(x, positions, strict=True):
        if (at.diff() == 1).all():
            found.append(layer.rotate_queries_or_keys(row, offset=int(at[0])))
        else:
            found.append(apply_rotary_emb(layer(at), row))
    return torch.stack(found)
