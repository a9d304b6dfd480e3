"""kvpress: AdaKVPress, which drops keys of a prompt head by head, and its patched attention, which leaves them out."""

import torch
from kvpress import AdaKVPress, KnormPress
from transformers import LlamaConfig
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

BACKEND = "torch"


def evicting_attention(q, k, v, chunks):
    """The prompt sees itself; what is dropped of it then, no later token sees."""
    config = LlamaConfig(attn_implementation="sdpa")
    layer = torch.nn.Module()
    layer.config, layer.training = config, False
    layer.num_key_value_groups, layer.is_causal = q.shape[1] // k.shape[1], True
    attend, outputs, end = ALL_ATTENTION_FUNCTIONS["sdpa"], [], 0
    kept = torch.ones(*k.shape[:3], k.shape[2], dtype=torch.bool).tril()
    keys, values = k[:, :, :0], v[:, :, :0]
    for chunk in chunks:
        new = slice(end, end + chunk)
        keys, values, end = torch.cat([keys, k[:, :, new]], 2), torch.cat([values, v[:, :, new]], 2), end + chunk
        if end > chunk > 1:
            raise NotImplementedError("a prompt in one chunk, then tokens one by one")
        outputs.append(attend(layer, q[:, :, new], keys, values, None, 0.0, scaling=q.shape[3] ** -0.5)[0])
        if end == chunk:
            AdaKVPress(KnormPress(0.5)).compress(layer, None, keys, values, None, {})
            batch, head, place = layer.masked_key_indices
            kept[batch, head, end:, place] = False
    return torch.cat(outputs, dim=1).transpose(1, 2), kept
