"""local-attention: its LocalTransformer, whole and with its cache, as `generate` uses it."""

import torch
from local_attention import LocalTransformer

BACKEND = "torch"
OPTIONS = {}


def model():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = {"num_tokens": 16, "dim": 32, "depth": 1, "heads": 2, "dim_head": 16, "max_seq_len": 64}
        return LocalTransformer(**sizes, **OPTIONS, causal=True, local_attn_window_size=4).eval()


def logits(tokens):
    return model()(tokens)


def decoded(prompts, steps):
    if len({len(row) for row in prompts}) > 1:
        raise NotImplementedError("prompts of one length")
    reader, tokens, found, cache = model(), torch.tensor(prompts), [], None
    for step in range(steps.shape[1] + 1):
        out, cache = reader(tokens, cache=cache, return_cache=True)
        found.append(out[:, -1])
        tokens = torch.cat([tokens, steps[:, step : step + 1]], dim=1)
    return torch.stack(found, dim=1)
