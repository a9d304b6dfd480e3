"""transformers' GPT-J: rotary embedding of neighbouring channels, base 10000 alone."""

from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb, create_sinusoidal_positions

PACKAGE = "transformers"
BACKEND, PAIRS = "torch", "neighbours"


def rope(x, positions, base):
    if base != 10000.0:
        raise NotImplementedError("GPT-J's base is 10000")
    table = create_sinusoidal_positions(int(positions.max()) + 1, x.shape[3])
    sin, cos = table[positions].chunk(2, dim=-1)
    return apply_rotary_pos_emb(x.transpose(1, 2), sin, cos).transpose(1, 2)
