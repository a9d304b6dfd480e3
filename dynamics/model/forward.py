"""The forward pass of attention, once: functions of what a layer is, its parameters, and states.

Parameters are tensors by the names of `KVShiftAttention`. Each may have a leading model axis, and then the first axis
of the states holds the models' batches one after another: what depends on weights is done model by model in one batched
multiplication, all else does not see the difference. What each choice is made of stands in a place of its own: queries,
keys and values in `dynamics.model.formed`, what is read of other layers in `dynamics.model.values`, the weights in
`_weighed` and `dynamics.model.softmax`, projections and latents in `dynamics.model.heads`, masks in `_mask`, documents,
pads, rows and windows in `Layout`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.model import softmax, values
from dynamics.model.attention_function import special
from dynamics.model.cache import KVCache
from dynamics.model.config import Borrowed
from dynamics.model.formed import mixture, query_key, query_key_value
from dynamics.model.heads import Heads, Parameters, States, linear, rms_norm
from dynamics.model.positions import Layout, alibi_bias
from dynamics.model.shift import shift_back
from dynamics.model.softmax import attend, probabilities
from dynamics.model.values import Earlier


def attention(
    heads: Heads,
    p: Parameters,
    states: States,
    where: Layout,
    cache: KVCache | None = None,
    function: Callable[..., Tensor] | None = None,
    earlier: Earlier | None = None,
) -> Tensor:
    """The layer's output at the queries of `where`, (batch, queries, width).

    function: takes the place of the weights and the reading, as `AttentionFunction` with its layer given.
    earlier: what the layers below have kept for this one; `dynamics.model.values`.
    """
    # a scored row too needs all queries before it, or gives all its projections to the layers above
    if function is not None or heads.weights == "selective" or isinstance(heads.values, Borrowed):
        out = where.pick_states(_attended(heads, p, states, where._replace(rows=None), cache, function, earlier))
    elif where.rows is not None and where.runs is None and where.padding is None and heads.reads_plainly(p):
        out = _read(heads, p, states, where)
    else:
        out = _attended(heads, p, states, where, cache, None, earlier)
    if heads.weights == "differential":
        normed = rms_norm(out.unflatten(-1, (heads.n_heads, -1)), p["head_norm"])
        out = (1 - softmax.initial_share(heads.layer)) * normed.flatten(2)
    if heads.weights == "gate":
        gate = linear(where.pick_states(states.query), p["gate_proj.weight"]).sigmoid()
        out = (out.unflatten(-1, (heads.n_heads, -1)) * gate[..., None]).flatten(2)
    out = linear(out, p["o_proj.weight"])
    erased = function is None and where.padding is not None
    return out.masked_fill(where.pick(where.pads())[..., None], 0.0) if erased else out


def weights(heads: Heads, p: Parameters, states: States, where: Layout) -> Tensor:
    """Attention probabilities, or the difference of two, (batch, n_heads, queries, keys); zero for a pad.

    Raises: ValueError for a layer that attends over the keys of another one.
    """
    of = partial(values.borrows, heads.values, heads.layer)
    if heads.over_two or not values.projects_keys(heads.values, heads.layer) or of("key") or of("query"):
        count = "two layers" if heads.over_two else "another layer"
        what = "queries" if of("query") else "keys"
        raise ValueError(f"a layer that attends with the {what} of {count} has no probabilities to show by itself")
    if heads.weights == "selective" and where.rows is not None:
        every = weights(heads, p, states, where._replace(rows=None)).transpose(1, 2)
        return where.pick_states(every.flatten(2)).unflatten(-1, every.shape[2:]).transpose(1, 2)
    query, key = query_key(heads, p, states, where)
    found = _probabilities(heads, p, query, key, where)
    return found if where.padding is None else found.masked_fill(where.pick(where.pads())[:, None, :, None], 0.0)


def _attended(
    heads: Heads,
    p: Parameters,
    states: States,
    where: Layout,
    cache: KVCache | None,
    function: Callable[..., Tensor] | None,
    earlier: Earlier | None,
) -> Tensor:
    """The heads' outputs with what is added to them, (batch, queries, n_heads * head_dim)."""
    query, key, value, added = query_key_value(heads, p, states, where, cache, function is not None, earlier)
    if function is None:
        out = _weighed(heads, p, query, key, value, where, cache)
    else:
        slopes = None if heads.slopes is None else _slopes(tuple(heads.slopes), query.dtype, query.device)
        extra = special(function, _sinks(heads, p, query), heads.causal, heads.over_two)
        out = function(query, key, value, scale=heads.scale, slopes=slopes, **extra)
    out = out.transpose(1, 2)
    if added is not None:
        group = heads.n_heads // heads.n_kv_heads
        picked = where.pick_states(added.flatten(2)).unflatten(-1, (-1, heads.head_dim))
        out = out + picked.repeat_interleave(group, dim=2)
    return out.flatten(2)


@lru_cache(maxsize=64)
def _slopes(slopes: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """One tensor for all layers and calls: a list takes longer to become one than a token to be read."""
    with torch.inference_mode(False):
        return torch.tensor(slopes, dtype=dtype, device=device)


def _weighed(
    heads: Heads, p: Parameters, query: Tensor, key: Tensor, value: Tensor, where: Layout, cache: KVCache | None
) -> Tensor:
    """Weights times values, (batch, n_heads, queries, head_dim)."""
    if heads.weights == "selective":
        return softmax.read(_probabilities(heads, p, query, key, where, cache), value)
    mask = _mask(heads, where, query.dtype)
    if heads.weights != "differential":
        return attend(query, key, value, mask, heads.scale, _sinks(heads, p, query), heads.causal)
    one = partial(attend, value=value, mask=mask, scale=heads.scale, causal=heads.causal)
    return softmax.difference(one, query, key, _share(heads, p, query))


def _probabilities(
    heads: Heads, p: Parameters, query: Tensor, key: Tensor, where: Layout, cache: KVCache | None = None
) -> Tensor:
    """What values are multiplied by, (batch, n_heads, queries, keys); selective attention keeps its F in the cache."""
    mask = _mask(heads, where, query.dtype)
    if heads.weights == "differential":
        one = partial(probabilities, mask=mask, scale=heads.scale, causal=heads.causal)
        return softmax.difference(one, query, key, _share(heads, p, query))
    if heads.weights != "selective":
        return probabilities(query, key, mask, heads.scale, _sinks(heads, p, query), heads.causal)
    scores = softmax.logits(query, key, mask, heads.scale)
    first = where.whole().positions() == 0
    taken, after = softmax.selected(scores, first, None if cache is None else cache.previous("selected"))
    if cache is not None:
        cache.keep("selected", after)
    return (scores - taken[:, None]).softmax(-1)


def _share(heads: Heads, p: Parameters, query: Tensor) -> Tensor:
    """The factor on a head's second softmax, (1 or batch, 1, 1, 1)."""
    found = softmax.share(p["share_vectors"], heads.layer).reshape(-1)
    return (found if len(found) == 1 else found.repeat_interleave(len(query) // len(found)))[:, None, None, None]


def _sinks(heads: Heads, p: Parameters, query: Tensor) -> Tensor | None:
    """The logits whose weight goes nowhere, (n_heads,), of a stack (batch, n_heads); None in a plain softmax."""
    if heads.weights == "plus_one":
        return query.new_zeros(heads.n_heads)
    if heads.weights != "sink":
        return None
    sinks = p["sinks"]
    return sinks if sinks.ndim == 1 else sinks.repeat_interleave(len(query) // len(sinks), dim=0)


def weight_of(name: str, projection: nn.Module) -> Tensor:
    """The weight of a projection, which is read and not called.

    Raises: ValueError for one that would do more if it were called (a bias, a hook, a forward of its own).
    """
    plain = isinstance(projection, nn.Linear) and type(projection).forward is nn.Linear.forward
    if not plain or projection.bias is not None or projection._forward_hooks or projection._forward_pre_hooks:
        raise ValueError(f"{name} is read, not called: it must be an nn.Linear without bias, hooks or another forward")
    return projection.weight


def swiglu(x: Tensor, p: Parameters, mix: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """W_down(silu(W_gate x) * W_up x); mix changes the two products, side by side, before they are multiplied."""
    gate, up = linear(x, p["gate.weight"]), linear(x, p["up.weight"])
    if mix is not None:
        gate, up = mix(torch.cat([gate, up], dim=-1)).chunk(2, dim=-1)
    return linear(F.silu(gate) * up, p["down.weight"])


def _read(heads: Heads, p: Parameters, states: States, where: Layout) -> Tensor:
    """The heads' outputs at where.rows, (batch, 1, n_heads * head_dim), computed without the values of single tokens.

    First the states are summed with the weights, then W_v is applied to the sum:
    sum_t a[t] sum_j beta_j W_v x[t-j] = W_v sum_s (sum_j beta_j a[s+j]) x[s]. With one query it is a third of the work.
    """
    seen = weights(heads, p, states, where).squeeze(2)
    group = heads.n_heads // heads.n_kv_heads
    beta = mixture(heads, p, "value", len(seen))
    if beta is not None:
        seen = shift_back(seen, beta.repeat_interleave(group, dim=-2))
    weight = p["v_proj.weight"].unflatten(-2, (-1, heads.head_dim)).repeat_interleave(group, dim=-3)
    read = seen @ states.value
    if weight.ndim == 3:
        return torch.einsum("bhw,hdw->bhd", read, weight).flatten(1).unsqueeze(1)
    read = read.unflatten(0, (len(weight), -1))
    return torch.einsum("nbhw,nhdw->nbhd", read, weight).flatten(2).flatten(0, 1).unsqueeze(1)


def _mask(heads: Heads, where: Layout, dtype: torch.dtype) -> Tensor | None:
    """What scaled_dot_product_attention needs: None (causality alone), a bool mask, or ALiBi's bias."""
    mask = where.visible()
    if mask is None and (heads.slopes is not None or heads.over_two):
        mask = where.in_order()[:, None]
    if heads.slopes is not None:
        bias = alibi_bias(torch.tensor(heads.slopes, dtype=dtype, device=where.device), where)
        mask = bias.masked_fill(~mask, -torch.inf)
    return torch.cat([mask, mask], dim=-1) if heads.over_two else mask
