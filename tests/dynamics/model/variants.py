"""Models of every variant, and what they compute written out head by head in numpy, which shares no code with them."""

from itertools import product

import numpy as np
import torch

from dynamics.model.config import (
    CANON,
    KEY_OFFSET,
    SMEAR,
    Borrowed,
    CrossLayer,
    Dense,
    Identity,
    ModelConfig,
    Neutreno,
    Own,
    Past,
    Residual,
    Shared,
    cla,
)
from dynamics.model.decoder import InductionModel

VOCAB, WIDTH, HEADS, LAYERS = 11, 12, 4, 4
VALUES = {
    "vanilla": Own(),
    "resformer": Residual(),
    "resformer-sparse": Residual(lambda1=1.0, lambda2=2.0, layers=(1, 3)),
    "resformer-learnt": Residual(learnt=True),
    "resformer-shifted": Residual(order="shifted"),
    "svformer": Shared(),
    "svformer-anchors": Shared(anchors=(0, 2)),
    "svformer-shifted": Shared(order="shifted"),
    "neutreno": Neutreno(),
    "neutreno-shifted": Neutreno(order="shifted"),
    "identity": Identity(),
    "cross-layer": CrossLayer(),
    "cross-layer-previous": CrossLayer(source="previous"),
    "denseformer": Dense(),
    "cla": cla(LAYERS),
    "first layer's queries": Borrowed(of="query", own=0.0, other=1.0),
    "keys of the layer below": Borrowed(of="key", own=0.0, other=1.0, source="previous", layers=(1, 3)),
    "half the first layer's keys": Borrowed(of="key"),
    "queries of the layers below": Borrowed(of="query", source="mean", own=1.0, other=-0.7),
    "values of the layer below": Borrowed(of="value", source="previous"),
    "values of the layers below": Borrowed(of="value", source="mean", layers=(2, 3)),
}
PASTS = {
    "smear": SMEAR,
    "smear, each channel": (Past(at="embedding", window=3, residual=False),),
    "key offset": KEY_OFFSET,
    "offsets": (Past(at="value", offset=0.25, residual=False), Past(at="query", offset=1.0, residual=False)),
    "canon": CANON["A"] + CANON["B"] + CANON["C"] + CANON["D"],
    "canon A": CANON["A"],
    "canon B": CANON["B"],
    "canon C": CANON["C"],
    "canon D": CANON["D"],
    "output": (Past(at="output", per="one"),),
    "one head": (Past(at="key", heads=(0,), residual=False), Past(at="query", heads=(1, 3), residual=False)),
    "one of each": (Past(at="query", per="one"), Past(at="mlp", window=2), Past(at="attention", window=3)),
}
WEIGHTS = ("softmax", "plus_one", "sink", "gate")
SHIFTS = ("none", "kv", "qkv", "v")
POSITIONS = ("rope", "alibi", "learned", "none")
# Every kind of values with all weights, shifted and not; positions and groups of heads take turns.
COMBINATIONS = [
    (values, weights, shift, POSITIONS[(number + number // 8) % 4], (None, 2, 1)[number % 3])
    for number, (values, weights, shift) in enumerate(product(VALUES, WEIGHTS, ("none", "kv")))
]


def named(values="vanilla", weights="softmax", shift="kv", position="rope", n_kv_heads=None, **more) -> ModelConfig:
    sizes = {"vocab": VOCAB, "width": WIDTH, "n_heads": HEADS, "n_layers": LAYERS, "mlp_width": 8}
    if position == "rope":
        sizes |= {"width": 16}
    if position == "learned":
        more = {"max_length": 16} | more
    return ModelConfig.checked(
        sizes
        | {"values": VALUES.get(values, values), "weights": weights, "shift": shift, "position": position}
        | {"n_kv_heads": n_kv_heads}
        | more
    )


def model(config: ModelConfig, seed=0) -> InductionModel:
    """In double precision, and every parameter away from where it starts."""
    draw = torch.Generator().manual_seed(seed)
    built = InductionModel(config, draw).double().eval()
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if (
                name.startswith(("depth", "positions", "smear"))
                or "past." in name
                or "share" in name
                or parameter.ndim == 1
            ):
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=draw, dtype=parameter.dtype))
            elif name.endswith(("q_proj.weight", "k_proj.weight")):
                parameter.mul_(3)
    return built


def tokens(batch, length, seed=0):
    return torch.randint(VOCAB, (batch, length), generator=torch.Generator().manual_seed(seed))


def logits(built: InductionModel, sequence: np.ndarray) -> np.ndarray:
    """The logits of one sequence, (length, vocab), from the definitions."""
    return _final(built, _layers(built, sequence)[-1])


def _layers(built, sequence):
    config, held = built.config, {name: p.detach().numpy() for name, p in built.named_parameters()}
    x = held["embedding"][sequence]
    if config.position == "learned":
        x = x + held["positions"][: len(sequence)]
    x = _past(config, "embedding", x, held.get("smear"))
    states, kept = [x], []
    for layer in range(config.n_layers):
        own = {n.removeprefix(f"blocks.{layer}."): p for n, p in held.items() if n.startswith(f"blocks.{layer}.")}
        past = lambda at, states: _past(config, at, states, own.get(f"past.{at}"))  # noqa: E731, B023
        read = past("attention", _norm(x, own["attention_norm.weight"]))
        x = x + past("output", _attention(config, layer, own, read, kept))
        normed = past("mlp", _norm(x, own["mlp_norm.weight"]))
        hidden = np.concatenate([normed @ own[f"mlp.{name}.weight"].T for name in ("gate", "up")], axis=1)
        gate, up = np.split(past("hidden", hidden), 2, axis=1)
        x = x + (gate / (1 + np.exp(-gate)) * up) @ own["mlp.down.weight"].T
        states.append(x)
        if config.values.kind == "dense":
            x = sum(c * state for c, state in zip(held[f"depth.{layer}"], states, strict=True))
    return [*states, x]


def _final(built, x):
    head = built.embedding if built.head is None else built.head
    return _norm(x, built.norm.weight.detach().numpy()) @ head.detach().numpy().T


def _norm(x, weight):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight


def _attention(config, layer, own, z, kept):
    """One layer; `kept` gathers, layer by layer, projected values, shifted ones, and keys and values as read."""
    size, groups = config.width // config.n_heads, config.n_kv_heads or config.n_heads
    lent = [entry[4] for entry in kept]

    def project(name):
        at = {"q": "query", "k": "key", "v": "value"}[name[0]]
        found = _projected(config, name, own, z, groups)
        found = _past(config, at, found, own.get(f"attention.past.{at}"), size)
        return _borrowed(config.values, layer, at, None if found is None else found.reshape(len(z), -1, size), lent)

    query = _shifted(project("q_proj"), own.get("attention.gamma"))
    query = _turned(config, _gained(config, query, own.get("attention.q_norm")))
    rule = config.values
    if rule.kind == "shared" and rule.keys and layer not in rule.anchors:
        raw, mixed, key, value = kept[max(a for a in rule.anchors if a < layer)][:4]
    else:
        key = _shifted(project("k_proj"), own.get("attention.alpha"))
        key = _turned(config, _gained(config, key, own.get("attention.k_norm")))
        value, raw, mixed = _values(config, layer, own, project, kept)
    taken = _taken(config, query, key) if config.weights == "selective" else 0
    out = np.zeros((len(z), config.n_heads, size))
    for head in range(config.n_heads):
        of = head * groups // config.n_heads
        keys, read = [key[:, of]], [value[:, of]]
        if config.values.kind == "cross" and layer:
            source = kept[0 if config.values.source == "first" else layer - 1]
            keys.append(source[2][:, of])
            read.append(source[3][:, of])
        slope = _slope(config, head)
        if config.weights == "differential":
            out[:, head] = _difference(config, layer, own, query[:, head], keys, np.concatenate(read), slope)
        scores = np.concatenate([_scores(config, query[:, head], k, slope) for k in keys], axis=1) - taken
        sink = {"plus_one": 0.0, "sink": own.get("attention.sinks", np.zeros(config.n_heads))[head]}
        rest = np.exp(sink[config.weights]) if config.weights in sink else 0.0
        powers = np.exp(scores)
        if config.weights != "differential":
            out[:, head] = powers / (powers.sum(1, keepdims=True) + rest) @ np.concatenate(read)
        if layer and config.values.kind == "neutreno":
            this, first = (mixed, kept[0][1]) if config.values.order == "shifted" else (raw, kept[0][0])
            out[:, head] += config.values.lam * (first[:, of] - this[:, of])
        if layer and config.values.kind == "identity":
            out[:, head] += np.mean([past[0][:, of] for past in kept], axis=0)
        if config.weights == "differential":
            gain = 0.2 + 0.6 * np.exp(-0.3 * layer)
            out[:, head] = gain * _norm(out[:, head], own["attention.head_norm"])
        if config.weights == "gate":
            out[:, head] /= 1 + np.exp(-z @ own["attention.gate_proj.weight"][head])[:, None]
    kept.append((raw, mixed, key, value, lent[-1] if len(lent) > layer else None))
    return out.reshape(len(z), -1) @ own["attention.o_proj.weight"].T


def _borrowed(rule, layer, at, own, lent):
    """What is read of `at`; what layers above may borrow of this one is put behind what those below have lent."""
    if rule.kind != "borrowed" or rule.of != at:
        return own
    if layer == 0 or (rule.layers is not None and layer not in rule.layers):
        lent.append(own)
        return own
    other = {"first": lent[0], "previous": lent[-1], "mean": sum(lent) / len(lent)}[rule.source]
    read = rule.other * other + (0 if own is None else rule.own * own)
    lent.append(read if own is None else own)
    return read


def _projected(config, name, own, z, groups):
    """Head by head where it is projected from latents."""
    weight, latent = own.get(f"attention.{name}.weight"), config.latent
    if weight is None:
        return None
    if latent is None or name == "q_proj":
        return z @ weight.T
    down = own["attention.latent_proj.weight"]
    held = z @ down[: latent.size].T
    if latent.norm:
        held = _norm(held, own["attention.latent_norm"])
    found = []
    for of_head in np.split(weight, groups):
        found.append(held @ of_head.T)
        if name == "k_proj":
            found.append(z @ down[latent.size :].T)
    return np.concatenate(found, axis=1)


def _gained(config, x, gain):
    """Each head, or each half of one in differential attention, divided by its root mean square."""
    if gain is None:
        return x
    return np.concatenate([_norm(part, gain) for part in np.split(x, _parts(config), axis=2)], axis=2)


def _parts(config):
    return 2 if config.weights == "differential" else 1


def _slope(config, head):
    return 2.0 ** (-8 * (head + 1) / config.n_heads) if config.position == "alibi" else 0.0


def _difference(config, layer, own, query, keys, read, slope):
    """Two softmaxes, of the halves of queries and keys."""
    maps, half = [], query.shape[1] // 2
    for part in (slice(half), slice(half, None)):
        powers = np.exp(np.concatenate([_scores(config, query[:, part], k[:, part], slope) for k in keys], axis=1))
        maps.append(powers / powers.sum(1, keepdims=True))
    q1, k1, q2, k2 = own["attention.share_vectors"]
    share = np.exp(q1 @ k1) - np.exp(q2 @ k2) + 0.8 - 0.6 * np.exp(-0.3 * layer)
    return (maps[0] - share * maps[1]) @ read


def _taken(config, query, key):
    """What earlier queries of the first head have laid on each key, one pair at a time."""
    scores, taken = _scores(config, query[:, 0], key[:, 0], _slope(config, 0)), np.zeros((len(query), len(query)))
    for later in range(len(query)):
        for at in range(1, len(query)):
            taken[later, at] = sum(max(scores[before, at], 0) for before in range(at + 1, later))
    return taken


def _values(config, layer, own, project, kept):
    """Values as read, as projected, and as shifted."""
    rule, beta = config.values, own.get("attention.beta")
    if rule.kind == "shared" and layer not in rule.anchors:
        raw, mixed = kept[max(a for a in rule.anchors if a < layer)][:2]
        return (mixed if rule.order == "shifted" else _shifted(raw, beta)), raw, mixed
    raw = project("v_proj")
    mixed = _shifted(raw, beta)
    if rule.kind != "residual" or layer == 0 or (rule.layers is not None and layer not in rule.layers):
        return mixed, raw, mixed
    lambda1, lambda2 = own["attention.lambdas"] if rule.learnt else (rule.lambda1, rule.lambda2)
    if rule.order == "shifted":
        return lambda1 * mixed + lambda2 * kept[0][1], raw, mixed
    return _shifted(lambda1 * raw + lambda2 * kept[0][0], beta), raw, mixed


def _past(config, at, x, weight, head_dim=0):
    """What one token is mixed with, channel by channel, written out."""
    found = [past for past in config.past if past.at == at]
    if not found or x is None:
        return x
    out = np.array(x) if found[0].residual else np.zeros_like(x)
    for channel in range(x.shape[1]):
        if found[0].heads is not None:
            row = (0.0, 1.0) if channel // head_dim in found[0].heads else (1.0, 0.0)
        elif found[0].offset is not None:
            half = head_dim // 2
            late = channel % head_dim % half >= half - round(found[0].offset * half)
            row = (0.0, 1.0) if late else (1.0, 0.0)
        else:
            row = weight[channel if len(weight) > 1 else 0]
        for t in range(len(x)):
            out[t, channel] += sum(row[back] * x[t - back, channel] for back in range(min(t + 1, found[0].window)))
    return out


def _shifted(x, mixture):
    if mixture is None:
        return x
    out = np.zeros_like(x)
    for t in range(len(x)):
        for back in range(min(t + 1, mixture.shape[1])):
            out[t] += mixture[:, back, None] * x[t - back]
    return out


def _turned(config, x):
    if config.position != "rope":
        return x
    if config.latent is not None:
        return np.concatenate([x[..., : -config.latent.rope], _rotated(config, x[..., -config.latent.rope :])], axis=2)
    return np.concatenate([_rotated(config, part) for part in np.split(x, _parts(config), axis=2)], axis=2)


def _rotated(config, x):
    half = x.shape[2] // 2
    angles = np.arange(len(x))[:, None, None] * config.rope_base ** (-np.arange(half) / half)
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angles)
    return np.concatenate([turned.real, turned.imag], axis=2)


def _scores(config, query, key, slope):
    scores = query @ key.T / np.sqrt(query.shape[1])
    row, column = np.indices(scores.shape)
    scores -= slope * abs(row - column)
    return np.where(column > row, -np.inf, scores) if config.causal else scores
