"""Models of every variant, and what they compute written out head by head in numpy, which shares no code with them."""

from functools import partial
from itertools import product

import numpy as np
import torch

from dynamics.model.cache import KVCache
from dynamics.model.config import (
    CANON,
    KEY_OFFSET,
    ONE_KEY_ONE_VALUE,
    SMEAR,
    Borrowed,
    CrossLayer,
    Dense,
    Identity,
    Latent,
    ModelConfig,
    Neutreno,
    Own,
    Past,
    Residual,
    Shared,
    cla,
)
from dynamics.model.decoder import InductionModel
from theory import alibi

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
    "neutreno-shifted": Neutreno(lam=0.7, order="shifted"),
    "identity": Identity(),
    "identity-shifted": Identity(order="shifted"),
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
MIXED = ("vanilla", "resformer", "svformer", "denseformer", "cross-layer")
WEIGHTS = ("softmax", "plus_one", "sink", "gate")
SHIFTS = ("none", "kv", "qkv", "v")
POSITIONS = ("rope", "alibi", "learned", "none")
STARTS = ("zero", "carried", "learnt")
KINDS = {
    "cla": {"values": cla(LAYERS)},
    "cla, three layers": {"values": cla(LAYERS, 3)},
    "latent": {"latent": Latent(size=5)},
    "normed latent": {"latent": Latent(size=5, norm=True)},
    "latent, a key and a value shifted": {"latent": Latent(size=6), "past": ONE_KEY_ONE_VALUE},
    "normed": {"qk_norm": True},
    "differential": {"weights": "differential"},
    "differential, normed": {"weights": "differential", "qk_norm": True},
    "selective": {"weights": "selective"},
    "latent cla": {"latent": Latent(size=5, norm=True), "values": cla(LAYERS)},
    "latent resformer": {"latent": Latent(size=5), "values": "resformer"},
    "latent neutreno": {"latent": Latent(size=5), "values": "neutreno-shifted"},
    "latent cross-layer": {"latent": Latent(size=5), "values": "cross-layer"},
    "latent selective": {"latent": Latent(size=5), "weights": "selective"},
    "differential cla": {"weights": "differential", "values": cla(LAYERS)},
    "differential cross-layer": {"weights": "differential", "values": "cross-layer", "qk_norm": True},
    "selective cla": {"weights": "selective", "values": cla(LAYERS), "qk_norm": True},
    "selective canon": {"weights": "selective", "past": PASTS["canon"]},
    "differential canon": {"weights": "differential", "past": PASTS["canon"]},
    "latent canon": {"latent": Latent(size=5), "past": PASTS["canon"]},
}


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


def of_kind(name, shift="kv", position="rope", **more) -> ModelConfig:
    options = KINDS[name] | more
    if (latent := options.get("latent")) is not None:
        options["latent"] = latent.but(rope=2 if position == "rope" else 0).model_dump()
    return named(shift=shift, position=position, **({"width": 16} | options))


def _turns(*numbers):
    """Shift, position, groups of heads and start, each by a turn of its own."""
    shift, position, groups, start = numbers
    chosen = SHIFTS[shift % 4], POSITIONS[position % 4], (None, 2, 1)[groups % 3], STARTS[start % 3]
    names = ("shift", "position", "n_kv_heads", "start")
    return dict(zip(names, chosen, strict=True)) | {"window": 3 if chosen[0] == "qkv" else 2}


def _configs():
    """Every kind of values with all weights, some with each past, and every other kind of attention with each shift."""
    for (v, values), (w, weights) in product(enumerate(VALUES), enumerate(WEIGHTS)):
        yield f"{values}-{weights}", named(values, weights, **_turns(v + w, w + v // 4, v + w, w + v // 2))
    for (p, name), (v, values) in product(enumerate(PASTS), enumerate(MIXED)):
        if values != "svformer" or all(past.at != "value" for past in PASTS[name]):
            options = _turns(p + v, p, p, v + p // 3) | {"past": PASTS[name]}
            yield f"past {name}-{values}", named(values, WEIGHTS[p % 4], **options)
    for (k, name), s in product(enumerate(KINDS), range(3)):
        if k < 9 or k % 3 == s:
            options = _turns(s, k + s, (k + s) % 2, k + s // 2)
            yield f"{name}-{options['shift']}", of_kind(name, **options)


def model(config: ModelConfig, seed=0) -> InductionModel:
    """In double precision, and every parameter away from where it starts."""
    draw = torch.Generator().manual_seed(seed)
    built = InductionModel(config, draw).double().eval()
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if parameter.ndim == 1 or any(part in name for part in ("positions", "smear", "past.", "share", "start")):
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=draw, dtype=parameter.dtype))
            elif name.endswith(("q_proj.weight", "k_proj.weight")):
                parameter.mul_(3)
    return built


def caches(model, capacity=None):
    return [KVCache(capacity) for _ in model.blocks]


def tokens(batch, length, seed=0):
    return torch.randint(VOCAB, (batch, length), generator=torch.Generator().manual_seed(seed))


CONFIGS = dict(_configs())
GLOBAL = {
    f"{name}-all": named(name, WEIGHTS[v % 4], SHIFTS[v // 2 % 4], POSITIONS[v // 4 % 4], 2, causal=False, tied=False)
    for v, name in enumerate(VALUES)
}


def logits(built: InductionModel, sequence: np.ndarray, documents: np.ndarray | None = None) -> np.ndarray:
    """The logits of one sequence, (length, vocab), or of a row of documents, from the definitions."""
    config, held = built.config, {name: p.detach().numpy() for name, p in built.named_parameters()}
    documents = np.zeros(len(sequence)) if documents is None else documents
    runs = (np.diff(documents, prepend=documents[0]) != 0).cumsum()
    x = held["embedding"][sequence]
    if config.position == "learned":
        x = x + held["positions"][np.arange(len(x)) - np.searchsorted(runs, runs)]
    smear = {"past.embedding": held.get("smear"), "past_start.embedding": held.get("smear_start")}
    x = _past(config, "embedding", x, runs, smear)
    states, kept = [x], []
    for layer in range(config.n_layers):
        own = {n.removeprefix(f"blocks.{layer}."): p for n, p in held.items() if n.startswith(f"blocks.{layer}.")}
        past = partial(_past, config, runs=runs, own=own)
        read = past("attention", _norm(x, own["attention_norm.weight"]))
        weights = {n.removeprefix("attention."): p for n, p in own.items() if n.startswith("attention.")}
        window = built.blocks[layer].attention.sliding_window
        x = x + past("output", attention(config, layer, weights, read, runs, kept, window))
        normed = past("mlp", _norm(x, own["mlp_norm.weight"]))
        hidden = np.concatenate([normed @ own[f"mlp.{name}.weight"].T for name in ("gate", "up")], axis=1)
        gate, up = np.split(past("hidden", hidden), 2, axis=1)
        x = x + (gate / (1 + np.exp(-gate)) * up) @ own["mlp.down.weight"].T
        states.append(x)
        if config.values.kind == "dense":
            x = sum(c * state for c, state in zip(held[f"depth.{layer}"], states, strict=True))
    return _norm(x, held["norm.weight"]) @ held.get("head", held["embedding"]).T


def _norm(x, weight):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight


def attention(config, layer, own, z, runs, kept, window=None):
    """One layer; `kept` gathers, layer by layer, projected values, shifted ones, keys and values as read, what layers
    above may borrow, and each head's weights. window: how many keys a query sees at most."""
    size, groups = config.width // config.n_heads, config.n_kv_heads or config.n_heads
    lent = [entry[4] for entry in kept]

    def project(name):
        found = _past(config, name, _projected(config, name, own, z, groups), runs, own, size)
        return _borrowed(config.values, layer, name, None if found is None else found.reshape(len(z), -1, size), lent)

    shifted = partial(_shifted, config, own, runs)
    query = _turned(config, _gained(config, shifted("query", project("query")), own.get("q_norm")))
    rule = config.values
    if rule.kind == "shared" and rule.keys and layer not in rule.anchors:
        raw, mixed, key, value = kept[max(a for a in rule.anchors if a < layer)][:4]
    else:
        key = _turned(config, _gained(config, shifted("key", project("key")), own.get("k_norm")))
        value, raw, mixed = _values(config, layer, own, project, shifted, kept)
    taken = _taken(config, query, key, runs) if config.weights == "selective" else 0
    out, shown = np.zeros((len(z), config.n_heads, size)), []
    for head in range(config.n_heads):
        of = head * groups // config.n_heads
        keys, read = [key[:, of]], [value[:, of]]
        if rule.kind == "cross" and layer:
            source = kept[0 if rule.source == "first" else layer - 1]
            keys.append(source[2][:, of])
            read.append(source[3][:, of])
        bias = _bias(config, head, runs, window)
        if config.weights == "differential":
            shown.append(_difference(layer, own, query[:, head], keys, bias))
        else:
            powers = np.exp(np.concatenate([_scores(query[:, head], k, bias) for k in keys], axis=1) - taken)
            sink = {"plus_one": 0.0, "sink": own.get("sinks", np.zeros(config.n_heads))[head]}
            rest = np.exp(sink.get(config.weights, -np.inf))
            shown.append(powers / (powers.sum(1, keepdims=True) + rest))
        out[:, head] = shown[head] @ np.concatenate(read)
        if layer and rule.kind == "neutreno":
            this, first = (mixed, kept[0][1]) if rule.order == "shifted" else (raw, kept[0][0])
            out[:, head] += rule.lam * (first[:, of] - this[:, of])
        if layer and rule.kind == "identity":
            out[:, head] += np.mean([past[rule.order == "shifted"][:, of] for past in kept], axis=0)
        if config.weights == "differential":
            gain = 0.2 + 0.6 * np.exp(-0.3 * layer)
            out[:, head] = gain * _norm(out[:, head], own["head_norm"])
        if config.weights == "gate":
            out[:, head] /= 1 + np.exp(-z @ own["gate_proj.weight"][head])[:, None]
    kept.append((raw, mixed, key, value, lent[-1] if len(lent) > layer else None, shown))
    return out.reshape(len(z), -1) @ own["o_proj.weight"].T


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
    weight, latent = own.get(f"{name[0]}_proj.weight"), config.latent
    if weight is None:
        return None
    if latent is None or name == "query":
        return z @ weight.T
    down = own["latent_proj.weight"]
    held = z @ down[: latent.size].T
    if latent.norm:
        held = _norm(held, own["latent_norm"])
    found = []
    for of_head in np.split(weight, groups):
        found.append(held @ of_head.T)
        if name == "key":
            found.append(z @ down[latent.size :].T)
    return np.concatenate(found, axis=1)


def _gained(config, x, gain):
    """Each head, or each half of one in differential attention, divided by its root mean square."""
    if gain is None:
        return x
    return np.concatenate([_norm(part, gain) for part in np.split(x, _parts(config), axis=2)], axis=2)


def _parts(config):
    return 2 if config.weights == "differential" else 1


def _bias(config, head, runs, window=None):
    """What is added to logits: -inf where nothing is seen, and ALiBi's distances times a slope."""
    row, column = np.indices((len(runs), len(runs)))
    slope = alibi.slopes(config.n_heads)[head] if config.position == "alibi" else 0.0
    near = row - column < (window or len(runs))
    seen = near & (runs[row] == runs[column]) & ((column <= row) | (not config.causal))
    return np.where(seen, -slope * abs(row - column), -np.inf)


def _difference(layer, own, query, keys, bias):
    """Two softmaxes, of the halves of queries and keys."""
    maps, half = [], query.shape[1] // 2
    for part in (slice(half), slice(half, None)):
        powers = np.exp(np.concatenate([_scores(query[:, part], k[:, part], bias) for k in keys], axis=1))
        maps.append(powers / powers.sum(1, keepdims=True))
    q1, k1, q2, k2 = own["share_vectors"]
    share = np.exp(q1 @ k1) - np.exp(q2 @ k2) + 0.8 - 0.6 * np.exp(-0.3 * layer)
    return maps[0] - share * maps[1]


def _taken(config, query, key, runs):
    """What earlier queries of the first head have laid on each key but a document's first, one pair at a time."""
    scores, taken = _scores(query[:, 0], key[:, 0], _bias(config, 0, runs)), np.zeros((len(query), len(query)))
    for later in range(len(query)):
        for at in range(1, len(query)):
            if runs[at] == runs[at - 1]:
                taken[later, at] = sum(max(scores[before, at], 0) for before in range(at + 1, later))
    return taken


def _values(config, layer, own, project, shifted, kept):
    """Values as read, as projected, and as shifted."""
    rule = config.values
    if rule.kind == "shared" and layer not in rule.anchors:
        raw, mixed = kept[max(a for a in rule.anchors if a < layer)][:2]
        return (mixed if rule.order == "shifted" else shifted("value", raw)), raw, mixed
    raw = project("value")
    mixed = shifted("value", raw)
    if rule.kind != "residual" or layer == 0 or (rule.layers is not None and layer not in rule.layers):
        return mixed, raw, mixed
    lambda1, lambda2 = own["lambdas"] if rule.learnt else (rule.lambda1, rule.lambda2)
    if rule.order == "shifted":
        return lambda1 * mixed + lambda2 * kept[0][1], raw, mixed
    return shifted("value", lambda1 * raw + lambda2 * kept[0][0]), raw, mixed


def _past(config, at, x, runs, own, head_dim=0):
    """Channel by channel."""
    found = [past for past in config.past if past.at == at]
    if not found or x is None:
        return x
    (past,), channels = found, np.arange(x.shape[1])
    if past.fixed:
        moved = np.isin(channels // head_dim, past.heads or ())
        if past.offset is not None:
            half = head_dim // 2
            moved = channels % head_dim % half >= half - round(past.offset * half)
        columns = np.stack([~moved, moved]).astype(float)
    else:
        columns = np.broadcast_to(own[f"past.{at}"], (x.shape[1], past.window)).T
    mixed = _mixed(config, x, columns, runs, own.get(f"past_start.{at}"))
    return x + mixed if past.residual else mixed


def _shifted(config, own, runs, name, x):
    mixture = own.get({"query": "gamma", "key": "alpha", "value": "beta"}[name])
    return x if mixture is None else _mixed(config, x, mixture.T[..., None], runs, own.get(f"start.{name}"))


def _mixed(config, x, columns, runs, start):
    """Each token with those before it: before a document's first one stands nothing, another document, or `start`."""
    out = np.zeros_like(x)
    for t in range(len(x)):
        for back, column in enumerate(columns):
            if t >= back and (config.start == "carried" or runs[t - back] == runs[t]):
                out[t] += column * x[t - back]
            elif start is not None:
                out[t] += column * start
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


def _scores(query, key, bias):
    return query @ key.T / np.sqrt(query.shape[1]) + bias
