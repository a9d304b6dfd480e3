"""A window's measurements by their definitions, from the attention and states that transformers itself returns."""

import numpy as np
import torch

from tests.dynamics.hf import models

BLOCKS = {"gpt2": "h", "bert": "encoder.layer", "bloom": "h", "mpt": "blocks"}


def blocks(built):
    return built.base_model.get_submodule(BLOCKS.get(built.config.model_type, "layers"))


def values(built, states, layer):
    """Values (length, kv_heads, d) that a layer projects from the states (length, width) that enter it."""
    kind, block = built.config.model_type, blocks(built)[layer]
    heads, width = built.config.num_attention_heads, built.config.hidden_size
    if kind in ("gpt2", "mpt"):
        fused = block.attn.c_attn(block.ln_1(states)) if kind == "gpt2" else block.attn.Wqkv(block.norm_1(states))
        return fused[..., 2 * width :].unflatten(-1, (heads, -1))
    if kind == "bert":
        return block.attention.self.value(states).unflatten(-1, (heads, -1))
    if kind == "bloom":
        fused = block.self_attention.query_key_value(block.input_layernorm(states))
        return fused.unflatten(-1, (heads, 3, -1))[..., 2, :]
    found = block.self_attn.v_proj(block.input_layernorm(states))
    return found.unflatten(-1, (built.config.num_key_value_heads, -1))


class Returned:
    """Of one window: attention (layers, heads, l, l), states that leave each layer, and values, in order."""

    def __init__(self, built, row):
        left = []
        hooks = [
            block.register_forward_hook(lambda _, __, out: left.append(out if torch.is_tensor(out) else out[0]))
            for block in blocks(built)
        ]
        with torch.no_grad(), models.double():
            out = built(torch.from_numpy(row)[None], use_cache=False, output_attentions=True, output_hidden_states=True)
            entered = [states[0] for states in out.hidden_states[: len(hooks)]]
            self.values = [values(built, states, layer).numpy() for layer, states in enumerate(entered)]
        for hook in hooks:
            hook.remove()
        self.attention = torch.cat(out.attentions).numpy()
        self.left = [states[0].numpy() for states in left]
        self.logits = out.logits[0].numpy()


def loss(logits, row, causal):
    """Mean cross-entropy in nats: of the next token, or of the token itself."""
    ahead = int(causal)
    logs = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    scored = row[ahead:]
    return -logs[np.arange(len(scored)), scored].mean()


def expected(found, causal, sinks):
    """Every number of one window, from its definition, pair by pair and row by row."""
    attention = found.attention
    length = attention.shape[-1]
    importance = np.array([[weights.sum(0) / length for weights in layer] for layer in attention])
    share = importance / importance.sum(-1, keepdims=True)
    out = {
        "importance": importance,
        "entropy": -(share * np.log(np.where(share > 0, share, 1))).sum(-1),
        "sink_share": np.array([[np.mean([1 - row.sum() for row in w]) for w in of] for of in attention]) * sinks,
        "needed_range": np.array([[needed(weights, causal) for weights in layer] for layer in attention]),
        "value_norms": np.array([[np.sqrt((v**2).sum()) for v in layer] for layer in found.values]),
        "head_norms": np.array([np.sqrt((layer**2).sum(-1)).T for layer in found.values]),
        "state_norms": np.array([[np.sqrt((x**2).sum()) for x in layer] for layer in found.left]),
        "similarity": np.array([cosine(layer) for layer in found.left]),
    }
    for name, centre in (("eigenvalues", 0), ("centred_eigenvalues", 1)):
        out[name] = np.array([eigenvalues(layer.reshape(length, -1), centre) for layer in found.values])
    return out


def needed(weights, causal):
    """ln(w (t - 1)/(1 - w)) of the first token for each query among the t that it sees, the largest, at least 0."""
    best = 0.0
    for row, given in enumerate(weights):
        tokens = row + 1 if causal else len(weights)
        w = given[0] / given.sum()
        if tokens > 1 and w > 0:
            best = max(best, np.log(w * (tokens - 1) / (1 - w)))
    return best


def cosine(states):
    pairs = [
        x @ y / np.linalg.norm(x) / np.linalg.norm(y)
        for i, x in enumerate(states)
        for j, y in enumerate(states)
        if i != j
    ]
    return np.mean(pairs)


def eigenvalues(vectors, centre):
    x = vectors - centre * vectors.mean(0)
    moment = sum(np.outer(row, row) for row in x) / len(x)
    return np.sort(np.linalg.eigvalsh(moment))[::-1].clip(0)
