"""transformers' MPT: biases of the longest sequence, of which its attention takes the last columns."""

from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

PACKAGE = "transformers"
BACKEND = "torch"


def alibi_slopes(n_heads):
    return -build_mpt_alibi_tensor(n_heads, 2)[:, 0, 0]


def alibi_bias(n_heads, n_queries, n_keys):
    return build_mpt_alibi_tensor(n_heads, 2048)[..., -n_keys:]
