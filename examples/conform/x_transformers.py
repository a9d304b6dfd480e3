"""x-transformers: Attend, with flash=True but for sinks; its ALiBi, rotary embedding and ShiftTokens; a decoder."""

import torch
from torch.nn.utils.rnn import pad_sequence
from x_transformers import Decoder, TransformerWrapper
from x_transformers.attend import Attend
from x_transformers.x_transformers import AlibiPositionalBias, RotaryEmbedding, ShiftTokens, apply_rotary_pos_emb

PACKAGE = "x-transformers"
BACKEND, PAIRS = "torch", "neighbours"
OPTIONS = {"rotary_pos_emb": True}


def alibi_slopes(n_heads):
    return AlibiPositionalBias(n_heads).slopes.flatten()


def alibi_bias(n_heads, n_queries, n_keys):
    return AlibiPositionalBias(n_heads)(n_queries, n_keys)


def attention(q, k, v, mask=None, bias=None):
    return Attend(causal=True, flash=True)(q, k, v, mask=mask, attn_bias=bias)[0]


def alibi_attention(q, k, v, mask=None):
    return attention(q, k, v, mask, alibi_bias(q.shape[1], q.shape[2], k.shape[2]))


def sink_attention(q, k, v, sinks, mask=None):
    layer = Attend(causal=True, heads=len(sinks), head_learned_sink=True)
    layer.head_attn_sink.data.copy_(sinks)
    return layer(q, k, v, mask=mask)[0]


def rope(x, positions, base, dims=None):
    return apply_rotary_pos_emb(x, RotaryEmbedding(dims or x.shape[3], base=base)(positions)[0])


def shift(x, weights, mask=None):
    """It shifts shares of the channels, by 0, 1, ..: once all are copied, so that every one is shifted by each."""
    several = ShiftTokens(tuple(range(len(weights))), lambda parts, **_: parts)(x.repeat(1, 1, len(weights)), mask=mask)
    return sum(w * part for w, part in zip(weights, several.chunk(len(weights), dim=2), strict=True))


def model():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = Decoder(dim=32, depth=2, heads=2, attn_dim_head=64, **OPTIONS)
        return TransformerWrapper(num_tokens=16, max_seq_len=512, attn_layers=layers).eval()


def logits(tokens):
    return model()(tokens)


def decoded(prompts, steps):
    """Pads stand before shorter prompts, and seq_start_pos says how many, as in `generate(prompt_lens=..)`."""
    reader, found, cache = model(), [], None
    given = pad_sequence([*map(torch.tensor, prompts)], True, -1, "left")
    tokens, pads = torch.cat([given.clamp(min=0), steps], dim=1), (given < 0).sum(1)
    for end in range(given.shape[1], tokens.shape[1] + 1):
        out, cache = reader(tokens[:, :end], cache=cache, return_intermediates=True, seq_start_pos=pads)
        found.append(out[:, -1])
    return torch.stack(found, dim=1)
