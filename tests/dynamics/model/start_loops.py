"""A packed row through a decoder, token by token in numpy, with each way to start a document written out."""

from itertools import pairwise

import numpy as np


def logits(built, row, documents):
    """Logits (length, vocab) of one row of documents, from the definitions; row and documents are lists of integers."""
    config, held = built.config, {name: p.detach().numpy() for name, p in built.named_parameters()}
    runs = np.cumsum([0] + [a != b for a, b in pairwise(documents)])
    x = held["embedding"][row]
    x = _past(config, "embedding", x, runs, held.get("smear"), held.get("smear_start"))
    for layer in range(config.n_layers):
        own = {n.removeprefix(f"blocks.{layer}."): p for n, p in held.items() if n.startswith(f"blocks.{layer}.")}

        def past(at, states, own=own):
            return _past(config, at, states, runs, own.get(f"past.{at}"), own.get(f"past_start.{at}"))

        z = past("attention", _norm(x, own["attention_norm.weight"]))
        x = x + past("output", _attention(config, own, z, runs))
        z = past("mlp", _norm(x, own["mlp_norm.weight"]))
        hidden = np.concatenate([z @ own["mlp.gate.weight"].T, z @ own["mlp.up.weight"].T], axis=1)
        gate, up = np.split(past("hidden", hidden), 2, axis=1)
        x = x + (gate / (1 + np.exp(-gate)) * up) @ own["mlp.down.weight"].T
    return _norm(x, held["norm.weight"]) @ held["embedding"].T


def found(kind, x, runs, start, at, back):
    """What stands `back` places before token `at`: a token, nothing, or what is learnt."""
    inside = at - back >= 0 and (kind == "carried" or runs[at - back] == runs[at])
    if inside:
        return x[at - back]
    return start if kind == "learnt" else np.zeros_like(x[0])


def _norm(x, weight):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight


def _past(config, at, x, runs, weight, start, head_dim=0):
    for past in config.past:
        if past.at == at:
            return _mixed(config, past, x, runs, weight, start, head_dim)
    return x


def _mixed(config, past, x, runs, weight, start, head_dim):
    channels = np.arange(x.shape[1])
    if past.offset is None:
        weight = np.broadcast_to(weight, (x.shape[1], past.window))
    else:
        late = channels % head_dim % (head_dim // 2) >= head_dim // 2 - round(past.offset * head_dim // 2)
        weight = np.stack([~late, late], axis=1).astype(float)
    out = np.array(x) if past.residual else np.zeros_like(x)
    for t in range(len(x)):
        for back in range(past.window):
            out[t] += weight[:, back] * found(config.start, x, runs, start, t, back)
    return out


def _attention(config, own, z, runs):
    size, groups = config.width // config.n_heads, config.n_kv_heads or config.n_heads
    read = {}
    for name, stored in (("query", "gamma"), ("key", "alpha"), ("value", "beta")):
        raw = z @ own[f"attention.{name[0]}_proj.weight"].T
        weight, start = own.get(f"attention.past.{name}"), own.get(f"attention.past_start.{name}")
        raw = _past(config, name, raw, runs, weight, start, size).reshape(len(z), -1, size)
        mixture = own.get(f"attention.{stored}")
        read[name] = raw if mixture is None else np.zeros_like(raw)
        for t in range(len(z) if mixture is not None else 0):
            for back in range(config.window):
                before = found(config.start, raw, runs, own.get(f"attention.start.{name}"), t, back)
                read[name][t] += mixture[:, back, None] * before
    out = np.zeros((len(z), config.n_heads, size))
    for head in range(config.n_heads):
        of = head * groups // config.n_heads
        for t in range(len(z)):
            seen = [s for s in range(t + 1) if runs[s] == runs[t]]
            query = _turned(config, read["query"][t, head], t)
            scores = [query @ _turned(config, read["key"][s, of], s) / np.sqrt(size) for s in seen]
            powers = np.exp(scores) / np.exp(scores).sum()
            out[t, head] = powers @ read["value"][seen, of]
    return out.reshape(len(z), -1) @ own["attention.o_proj.weight"].T


def _turned(config, vector, place):
    """Rotary embedding; scores depend on differences alone, so that places may be counted along the row."""
    if config.position != "rope":
        return vector
    half = len(vector) // 2
    angles = place * config.rope_base ** (-np.arange(half) / half)
    turned = (vector[:half] + 1j * vector[half:]) * np.exp(1j * angles)
    return np.concatenate([turned.real, turned.imag])
