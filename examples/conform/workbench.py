"""The workbench's own attention: its forward pass with projections that do nothing, its shift, residuals and caches."""

from fractions import Fraction

import torch

from dynamics.model import forward
from dynamics.model.cache import KVCache
from dynamics.model.config import Residual
from dynamics.model.formed import query_key_value
from dynamics.model.heads import Heads, States
from dynamics.model.positions import Layout, rotate
from dynamics.model.positions import alibi_bias as positions_bias
from dynamics.model.shift import document_runs
from dynamics.model.values import Earlier
from dynamics.razor.cache import RazorCache
from dynamics.razor.eviction import heavy_hitters
from dynamics.razor.plan import RazorPlan
from theory import alibi

BACKEND, DTYPE, PAIRS = "torch", "float64", "halves"


def alibi_slopes(n_heads):
    return torch.tensor(alibi.slopes(n_heads), dtype=torch.float64)


def alibi_bias(n_heads, n_queries, n_keys):
    where = Layout(n_keys - n_queries, n_queries, torch.device("cpu"))
    return positions_bias(alibi_slopes(n_heads), where)[0]


def attention(q, k, v, mask=None, segments=None, window=None):
    return _attention(q, k, v, mask, segments, window)


def alibi_attention(q, k, v, mask=None, segments=None, window=None):
    return _attention(q, k, v, mask, segments, window, position="alibi", slopes=alibi.slopes(q.shape[1]))


def sink_attention(q, k, v, sinks, mask=None, segments=None, window=None):
    return _attention(q, k, v, mask, segments, window, {"sinks": sinks}, weights="sink")


def shift(x, weights, state=None, segments=None, mask=None):
    """The state is the layer's cache."""
    runs = None if segments is None else document_runs(segments)
    cache = None if runs is not None else KVCache() if state is None else state
    where = Layout(0 if cache is None else cache.length, x.shape[1], x.device, None, runs, _left_pads(mask))
    found = query_key_value(*_layer(x, x, x, beta=weights), where, cache)
    return found.value[:, 0, -x.shape[1] :], cache


def shifted_keys(keys, weights, positions, base, state=None):
    cache, x = KVCache() if state is None else state, _flat(keys)
    heads, own, states = _layer(x, x, x, keys.shape[1], keys.shape[1], alpha=weights)
    where = Layout(cache.length, x.shape[1], x.device)
    found = query_key_value(heads._replace(position="rope", rope_base=base), own, states, where, cache)
    return found.key[:, :, -x.shape[1] :], cache


def rope(x, positions, base):
    return rotate(x.transpose(1, 2), positions, base).transpose(1, 2)


def value_residual(values, own, first):
    earlier, found, rule = Earlier(), [], Residual(lambda1=own, lambda2=first)
    for layer, x in enumerate(values):
        heads, weights, states = _layer(x, x, x)
        heads = heads._replace(values=rule, layer=layer)
        found.append(query_key_value(heads, weights, states, Layout(0, x.shape[1], x.device), earlier=earlier).value)
    return [x[:, 0] for x in found]


def evicting_attention(q, k, v, chunks):
    """H2O, token by token whatever the chunks."""
    if q.shape[1] != k.shape[1]:
        raise NotImplementedError("heavy hitters are kept head by head")
    kept = torch.ones(*k.shape[:3], k.shape[2], dtype=torch.bool).tril()
    with torch.no_grad():
        out = heavy_hitters(3, 2, lambda _, t, gone: kept[:, :, t].logical_and_(~gone))(
            0, q, k, v, scale=q.shape[3] ** -0.5, slopes=None
        )
    return out, kept


def razor_attention(q, k, v, whole, sinks, window, chunks, compensation=False):
    full = tuple(frozenset(row.nonzero()[:, 0].tolist()) for row in whole)
    settings = {"sinks": sinks, "buffer": window, "share": Fraction(0), "compensation": ("none", "mean")[compensation]}
    cache = RazorCache(RazorPlan(q.shape[2], k.shape[2], full, **settings))
    found = []
    for part in zip(*(x.split(chunks, dim=3) for x in (q, k, v)), strict=True):
        layers = enumerate(zip(*part, strict=True))
        found.append(torch.stack([cache(i, *of, scale=q.shape[4] ** -0.5, slopes=None) for i, of in layers]))
    return torch.cat(found, dim=3)


def _flat(x):
    """(batch, heads, length, d) as states (batch, length, heads * d)."""
    return x.transpose(1, 2).flatten(2)


def _left_pads(mask):
    return None if mask is None or mask[:, 0].all() else mask.long().argmax(1)


def _layer(q, k, v, n_heads=1, n_kv_heads=1, **mixtures):
    """Heads, weights and states of a layer whose projections do nothing; alpha, beta for every head alike."""
    width, kv = q.shape[2], k.shape[2]
    own = {f"{name}_proj.weight": torch.eye(kv if name in "kv" else width, dtype=q.dtype) for name in "qkvo"}
    rows = {name: q.new_tensor(row).expand(n_kv_heads, -1) for name, row in mixtures.items()}
    size, window = width // n_heads, max([len(row) for row in mixtures.values()], default=1)
    heads = Heads(n_heads, n_kv_heads, size, window, "free", "none", 1e4, size**-0.5, None)
    return heads, own | rows, States(q, k, v)


def _attention(q, k, v, mask, segments, window, own=None, **kind):
    """Cached keys go in first, in a chunk of their own."""
    early, pads = k.shape[2] - q.shape[2], _left_pads(mask)
    runs = None if segments is None else document_runs(segments, pads)
    cache = KVCache() if runs is None else None
    if early:
        before = torch.zeros(len(q), early, q.shape[1] * q.shape[3], dtype=q.dtype)
        part = _layer(before, _flat(k[:, :, :early]), _flat(v[:, :, :early]), q.shape[1], k.shape[1])
        _run(part, own, kind, Layout(0, early, q.device, None, None, pads, window), cache)
    part = _layer(_flat(q), _flat(k[:, :, early:]), _flat(v[:, :, early:]), q.shape[1], k.shape[1])
    out = _run(part, own, kind, Layout(early, q.shape[2], q.device, None, runs, pads, window), cache)
    return out.unflatten(2, (q.shape[1], -1)).transpose(1, 2)


def _run(part, own, kind, where, cache):
    heads, weights, states = part
    return forward.attention(heads._replace(**kind), weights | (own or {}), states, where, cache)
