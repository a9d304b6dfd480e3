"""The workbench's own attention: its masks, weights and reading; its shift, residuals and caches."""

import torch

from dynamics.model import positions as places
from dynamics.model.cache import KVCache
from dynamics.model.config import Residual
from dynamics.model.formed import query_key_value
from dynamics.model.forward import _weighed
from dynamics.model.heads import Heads, States
from dynamics.model.shift import MAX_WINDOW, document_runs
from dynamics.model.values import Earlier
from dynamics.razor.cache import RazorCache
from dynamics.razor.eviction import heavy_hitters
from dynamics.razor.plan import RazorPlan
from theory import alibi

PACKAGE = "induction-workbench"
BACKEND, DTYPE = "torch", "float64"
HEADS = Heads(1, 1, 1, 1, "free", "none", 1.0, 1.0, None)


def alibi_slopes(n_heads):
    return torch.tensor(alibi.slopes(n_heads), dtype=torch.float64)


def alibi_bias(n_heads, n_queries, n_keys):
    where = places.Layout(n_keys - n_queries, n_queries, torch.device("cpu"))
    return places.alibi_bias(alibi_slopes(n_heads), where)[0]


def attention(q, k, v, mask=None, segments=None, window=None, sinks=None, **kind):
    where = _where(k.shape[2] - q.shape[2], q, mask, segments, window)
    return _weighed(HEADS._replace(scale=q.shape[3] ** -0.5, **kind), {"sinks": sinks}, q, k, v, where, None)


def alibi_attention(q, k, v, mask=None, segments=None, window=None):
    return attention(q, k, v, mask, segments, window, slopes=alibi.slopes(q.shape[1]))


def sink_attention(q, k, v, sinks, mask=None, segments=None, window=None):
    return attention(q, k, v, mask, segments, window, sinks, weights="sink")


def shift(x, weights, state=None, segments=None, mask=None):
    """The state is the layer's cache."""
    cache = state or KVCache()
    where = _where(cache.length, x[:, None], mask, segments)
    return _formed(x, 1, weights, where, cache).value[:, 0, -x.shape[1] :], cache


def shifted_keys(keys, weights, positions, base, state=None):
    cache = state or KVCache()
    where = _where(cache.length, keys)
    if (positions != where.positions()).any():
        raise NotImplementedError("positions count from the first token")
    states = keys.transpose(1, 2).flatten(2)
    made = _formed(states, keys.shape[1], weights, where, cache, position="rope", rope_base=base)
    return made.key[:, :, -keys.shape[2] :], cache


def rope(x, positions, base):
    return places.rotate(x.transpose(1, 2), positions, base).transpose(1, 2)


def value_residual(values, own, first):
    where, earlier, found = _where(0, values[0][:, None]), Earlier(), []
    for layer, x in enumerate(values):
        kind = {"values": Residual(lambda1=own, lambda2=first), "layer": layer}
        found.append(_formed(x, 1, [1.0], where, None, earlier, **kind).value[:, 0])
    return found


def evicting_attention(q, k, v, chunks):
    """H2O, token by token whatever the chunks."""
    kept = torch.ones(*k.shape[:3], k.shape[2], dtype=torch.bool).tril()
    read = heavy_hitters(3, 2, lambda _, t, gone: kept[:, :, t].logical_and_(~gone))
    return read(0, q, k, v, scale=q.shape[3] ** -0.5, slopes=None), kept


def razor_attention(q, k, v, whole, sinks, window, chunks, compensation=False):
    full = tuple(frozenset(row.nonzero()[:, 0].tolist()) for row in whole)
    cache = RazorCache(RazorPlan(q.shape[2], k.shape[2], full, sinks, window, 0, ("none", "mean")[compensation]))
    found = []
    for part in zip(*(x.split(chunks, dim=3) for x in (q, k, v)), strict=True):
        layers = enumerate(zip(*part, strict=True))
        found.append(torch.stack([cache(i, *of, scale=q.shape[4] ** -0.5, slopes=None) for i, of in layers]))
    return torch.cat(found, dim=3)


def _where(early, x, mask=None, segments=None, window=None):
    """Where the tokens of x (batch, heads, length, d) stand after `early` cached ones; pads stand before a row."""
    if early and segments is not None:
        raise NotImplementedError("a cached token has no document")
    pads = None if mask is None else (mask.cumsum(1) == 0).sum(1) + early + x.shape[2] - mask.shape[1]
    runs = None if segments is None else document_runs(segments, pads)
    return places.Layout(early, x.shape[2], x.device, None, runs, pads, window)


def _formed(x, n_heads, weights, where, cache, earlier=None, **kind):
    """Queries, keys and values of a layer whose projections do nothing, mixed by these weights in every head."""
    if len(weights) > MAX_WINDOW:
        raise NotImplementedError("more tokens than a layer mixes")
    same, mixture = torch.eye(x.shape[2], dtype=x.dtype), x.new_tensor(weights).expand(n_heads, -1)
    own = {f"{name}_proj.weight": same for name in "qkv"} | {"alpha": mixture, "beta": mixture}
    size = {"n_heads": n_heads, "n_kv_heads": n_heads, "head_dim": x.shape[2] // n_heads, "window": len(weights)}
    return query_key_value(HEADS._replace(**size, **kind), own, States(x, x, x), where, cache, earlier=earlier)
