"""transformers: a Llama, whole, and with its cache, shorter prompts padded on their left."""

import torch
from transformers import AutoModelForCausalLM, DynamicCache, LlamaConfig

BACKEND = "torch"
SIZES = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


def model():
    """With weights so large that attention is far from uniform."""
    built, draw = AutoModelForCausalLM.from_config(LlamaConfig(vocab_size=16, **SIZES)).eval(), torch.Generator()
    for weight in built.parameters():
        if weight.ndim > 1:
            weight.data.normal_(0, 1.5 / weight.shape[1] ** 0.5, generator=draw.manual_seed(weight.numel()))
    return built


def logits(tokens):
    return model()(tokens, use_cache=False).logits


def decoded(prompts, steps, chunk=None):
    reader, longest = model(), max(map(len, prompts))
    cache = DynamicCache(config=reader.config)
    pads = torch.tensor([longest - len(row) for row in prompts])
    tokens = torch.tensor([[0] * (longest - len(row)) + row for row in prompts])
    parts, end, found = [*tokens.split(chunk or longest, dim=1), *steps.split(1, dim=1)], 0, []
    for part in parts:
        at, end = torch.arange(end, end + part.shape[1]), end + part.shape[1]
        mask = (torch.arange(end) >= pads[:, None]).long()
        more = {"position_ids": (at - pads[:, None]).clamp(min=0)} if ROTARY else {}
        found.append(reader(part, attention_mask=mask, past_key_values=cache, **more).logits[:, -1])
    return torch.stack(found[-steps.shape[1] - 1 :], dim=1)


ROTARY = True  # BLOOM and MPT find positions in the mask
