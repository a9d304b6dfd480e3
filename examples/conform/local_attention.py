"""local-attention: LocalAttention, and its LocalTransformer whole and with its cache, as `generate` uses it."""

import torch
from local_attention import LocalAttention, LocalTransformer

PACKAGE = "local-attention"
BACKEND = "torch"
OPTIONS = {}


def attention(q, k, v, window=None):
    """exact_windowsize: a query sees "at maximum the number of keys equal to the window size"."""
    if q.shape != k.shape:
        raise NotImplementedError("queries of all tokens, and as many groups as heads")
    window = window or k.shape[2]
    return LocalAttention(window, causal=True, autopad=True, exact_windowsize=True, use_rotary_pos_emb=False)(q, k, v)


def model():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = {"num_tokens": 16, "dim": 32, "depth": 1, "heads": 2, "dim_head": 16, "max_seq_len": 512}
        return LocalTransformer(**sizes, **OPTIONS, causal=True, local_attn_window_size=4).eval()


def logits(tokens):
    return model()(tokens)


def decoded(prompts, steps):
    if len({len(row) for row in prompts}) > 1:
        raise NotImplementedError("prompts of one length")
    reader, tokens, found, cache = model(), torch.cat([torch.tensor(prompts), steps], dim=1), [], None
    for end in range(len(prompts[0]), tokens.shape[1] + 1):
        out, cache = reader(tokens[:, :end], cache=cache, return_cache=True)
        found.append(out[:, -1])
    return torch.stack(found, dim=1)
