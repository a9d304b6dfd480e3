"""KV-shift attention from its equations, one number at a time: the oracle."""

import cmath
import math

import torch

from theory import alibi

MIXES = {"query": "gamma_mix", "key": "alpha_mix", "value": "beta_mix"}


def turned(vector, position, base=10000.0):
    """Rotary embedding of a list: component i and i + d/2 are one complex number."""
    half = len(vector) // 2
    pairs = [complex(vector[i], vector[i + half]) for i in range(half)]
    pairs = [pair * cmath.exp(1j * position * base ** (-i / half)) for i, pair in enumerate(pairs)]
    return [pair.real for pair in pairs] + [pair.imag for pair in pairs]


def looped_heads(module, x):
    """Probabilities and head outputs of one sequence x (length, width) from Eq. 4-6, one number at a time."""
    length, group, d = len(x), module.n_heads // module.n_kv_heads, module.head_dim
    raw = {name: getattr(module, f"{name[0]}_proj")(x).detach().unflatten(-1, (-1, d)) for name in MIXES}
    coefficients = {name: getattr(module, mix)().detach() for name, mix in MIXES.items()}
    starts = {name: start.detach() for name, start in module.start.items()}

    def mixed(name, t, head):
        before = starts[name][head] if name in starts else torch.zeros(d)
        found = [raw[name][t - j, head] if t >= j else before for j in range(module.window)]
        return sum(c * x for c, x in zip(coefficients[name][head], found, strict=True)).tolist()

    probabilities = torch.zeros(module.n_heads, length, length, dtype=x.dtype)
    heads = torch.zeros(length, module.n_heads, d, dtype=x.dtype)
    for h in range(module.n_heads):
        for t in range(length):
            scores = []
            first = 0 if module.sliding_window is None else max(0, t + 1 - module.sliding_window)
            for s in range(first, t + 1):
                query, key = mixed("query", t, h), mixed("key", s, h // group)
                if module.position == "rope":
                    query, key = turned(query, t), turned(key, s)
                score = module.scale * sum(a * b for a, b in zip(query, key, strict=True))
                bias = alibi.slopes(module.n_heads)[h] * (t - s) if module.position == "alibi" else 0.0
                scores.append(math.exp(score - bias))
            for s, score in enumerate(scores, first):
                probabilities[h, t, s] = score / sum(scores)
                value = torch.tensor(mixed("value", s, h // group), dtype=x.dtype)
                heads[t, h] += probabilities[h, t, s] * value
    return probabilities, module.o_proj(heads.flatten(1)).detach()
