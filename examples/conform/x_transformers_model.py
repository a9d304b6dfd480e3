"""x-transformers: a decoder with rotary positions, whole and with its cache, as `generate` uses it."""

import torch
from x_transformers import Decoder, TransformerWrapper

BACKEND = "torch"
OPTIONS = {"rotary_pos_emb": True}


def model():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = Decoder(dim=32, depth=2, heads=2, attn_dim_head=32, **OPTIONS)
        return TransformerWrapper(num_tokens=16, max_seq_len=64, attn_layers=layers).eval()


def logits(tokens):
    return model()(tokens)


def decoded(prompts, steps):
    """Pads stand before shorter prompts, and seq_start_pos says how many, as in `generate(prompt_lens=..)`."""
    reader, longest = model(), max(map(len, prompts))
    pads = torch.tensor([longest - len(row) for row in prompts])
    more = {"seq_start_pos": pads} if pads.any() else {}
    tokens, found, cache = torch.tensor([[0] * (longest - len(row)) + row for row in prompts]), [], None
    for step in range(steps.shape[1] + 1):
        out, cache = reader(tokens, cache=cache, return_intermediates=True, **more)
        found.append(out[:, -1])
        tokens = torch.cat([tokens, steps[:, step : step + 1]], dim=1)
    return torch.stack(found, dim=1)
