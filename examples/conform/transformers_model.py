"""transformers: a Llama, whole, and with its cache, shorter prompts padded on their left."""

from itertools import pairwise

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM, DynamicCache, LlamaConfig

PACKAGE = "transformers"
BACKEND = "torch"
SIZES = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


def model():
    """With weights so large that attention is far from uniform."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = LlamaConfig(vocab_size=16, initializer_range=0.3, **SIZES)
        return AutoModelForCausalLM.from_config(config).eval()


def logits(tokens):
    return model()(tokens, use_cache=False).logits


def decoded(prompts, steps, chunk=None):
    reader = model()
    cache, found = DynamicCache(config=reader.config), []
    given = pad_sequence([*map(torch.tensor, prompts)], True, -1, "left")
    longest, tokens = given.shape[1], torch.cat([given, steps], dim=1)
    real = tokens >= 0
    places = (real.cumsum(1) - 1).clamp(min=0)
    ends = [*range(0, longest, chunk or longest), *range(longest, tokens.shape[1] + 1)]
    for start, end in pairwise(ends):
        more = {"attention_mask": real[:, :end].long(), "position_ids": places[:, start:end]}
        part = tokens[:, start:end].clamp(min=0)
        found.append(reader(part, past_key_values=cache, **more).logits[:, -1])
    return torch.stack(found[-steps.shape[1] - 1 :], dim=1)
