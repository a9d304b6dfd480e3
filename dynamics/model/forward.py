"""The forward pass of attention, once: functions of what a layer is, its parameters, and states.

Parameters are tensors by the names of `KVShiftAttention`. Each may have a leading model axis, and then the first axis
of the states holds the models' batches one after another: what depends on weights is done model by model in one batched
multiplication, all else does not see the difference. What each choice is made of stands in a place of its own: the
values in `query_key_value` and `_read`, what is read of other layers in `dynamics.model.values`, the weights in
`_weighed` and `dynamics.model.softmax`, projections and latents in `dynamics.model.heads`, what is mixed with its past
in `_mix`, positions in `_placed` and `_mask`, documents, pads, rows and windows in `Layout`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.model import coefficients, softmax, values
from dynamics.model.attention_function import special
from dynamics.model.cache import KVCache
from dynamics.model.config import Borrowed, Shared
from dynamics.model.heads import COEFFICIENTS, Formed, Heads, Parameters, States, latents, linear, projected, rms_norm
from dynamics.model.past import begun, offset
from dynamics.model.positions import Layout, alibi_bias, rotate
from dynamics.model.shift import before_first, per_row, shift_back, shift_mix
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
    if heads.latent is not None:
        states = _of_latents(states, latents(heads, p, states.key))
    query = _placed("query", heads, p, _queries(heads, p, states, where), where)
    key = _placed("key", heads, p, _mixed("key", heads, p, states, where), where)
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
        slopes = None if heads.slopes is None else query.new_tensor(heads.slopes)
        extra = special(function, _sinks(heads, p, query), heads.causal)
        out = function(query, key, value, scale=heads.scale, slopes=slopes, **extra)
    out = out.transpose(1, 2)
    if added is not None:
        group = heads.n_heads // heads.n_kv_heads
        picked = where.pick_states(added.flatten(2)).unflatten(-1, (-1, heads.head_dim))
        out = out + picked.repeat_interleave(group, dim=2)
    return out.flatten(2)


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


def mixture(heads: Heads, p: Parameters, name: str, batch: int) -> Tensor | None:
    """Effective coefficients (heads, window), of a stack (batch, heads, window), or None where nothing is mixed."""
    parameter = p.get(COEFFICIENTS[name])
    if parameter is None:
        return None
    found = coefficients.effective(parameter, heads.parameters)
    return per_row(found, 2, batch)


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


def query_key_value(
    heads: Heads,
    p: Parameters,
    states: States,
    where: Layout,
    cache: KVCache | None = None,
    elsewhere: bool = False,
    earlier: Earlier | None = None,
) -> Formed:
    """What attention reads: mixed, placed, with what is cached and what other layers give.

    elsewhere: keys and values are kept by another; the cache then holds the raw tokens and counts.
    Raises: ValueError for what no other attention function can be handed.
    """
    if elsewhere:
        _fits_elsewhere(heads, cache)
    if cache is not None:
        cache.padding = where.padding
    raw = {}
    if where.rows is None:
        raw["query"] = _raw("query", heads, p, states, where, cache, earlier)
        query = _mix("query", heads, p, raw["query"], where, cache)
    else:
        query = _queries(heads, p, states, where)
    query = _placed("query", heads, p, query, where)
    if values.projects_keys(heads.values, heads.layer):
        key, value, added = _key_value(heads, p, states, where, cache, elsewhere, earlier, raw)
    else:
        key, value, added = earlier.key, earlier.value, None
        if cache is not None:
            cache.advance(where.length, _shifting(p, raw), heads.window - 1)
    seen = values.with_source(heads.values, heads.layer, key, value, earlier)
    if earlier is not None:
        earlier.note_keys(heads.values, heads.layer, key, value)
    return Formed(query, *seen, added)


def _fits_elsewhere(heads: Heads, cache: KVCache | None) -> None:
    if heads.over_two:
        raise ValueError("an attention function sees the keys of one layer, cross-layer attention has those of two")
    if heads.weights in ("differential", "selective"):
        raise ValueError(f"{heads.weights} attention is more than one softmax: no function takes its place")
    if heads.latent is not None and cache is not None:
        raise ValueError("latents are kept by a layer's own cache, an attention function keeps keys and values")


def _shifting(p: Parameters, raw: dict[str, Tensor]) -> dict[str, Tensor]:
    """The projections whose last tokens the next one will be mixed with."""
    return {name: tokens for name, tokens in raw.items() if COEFFICIENTS[name] in p}


def _key_value(
    heads: Heads, p: Parameters, states: States, where: Layout, cache: KVCache | None, elsewhere: bool,
    earlier: Earlier | None, raw: dict[str, Tensor],
) -> tuple[Tensor, Tensor, Tensor | None]:  # fmt: skip
    """All keys and values, and what is added, of a layer with keys of its own; raw: the queries' projections.

    From latents all of them are formed anew, those of earlier tokens too: the latents alone are cached.
    """
    of, back = where, cache
    if heads.latent is not None:
        held = latents(heads, p, states.key)
        if cache is not None:
            held = cache.append(held[:, None], None, _shifting(p, raw), heads.window - 1)[0].squeeze(1)
        states, of, back = _of_latents(states, held), where.whole(), None
    raw = raw | {"key": _raw("key", heads, p, states, of, back, earlier)}
    key = _placed("key", heads, p, _mix("key", heads, p, raw["key"], of, back), of)
    value, raw["value"], added = _values(heads, p, states, of, back, earlier)
    if heads.latent is not None:
        return key, value, None if added is None else added[:, where.offset :]
    if cache is None:
        return key, value, added
    last = _shifting(p, raw)
    if elsewhere:
        cache.advance(key.shape[2], last, heads.window - 1)
    elif isinstance(heads.values, Shared) and not heads.values.keys:
        key, value = _shared(heads, p, cache, earlier, key, value, last)
    else:
        key, value = cache.append(key, value, last, heads.window - 1)
    return key, value, added


def _of_latents(states: States, held: Tensor) -> States:
    return states._replace(key=held, value=held)


def _values(
    heads: Heads, p: Parameters, states: States, where: Layout, cache: KVCache | None, earlier: Earlier | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The new tokens' values: as they are read, (batch, kv_heads, length, head_dim), as a shift finds them, and added.

    The order is the record's: either projections are combined and the sum is shifted, or shifted values are combined.
    """
    own = _raw("value", heads, p, states, where, cache, earlier) if values.projects(heads.values, heads.layer) else None
    found, before = own, values.shifted_first(heads.values)
    if before and own is not None:
        own = _mix("value", heads, p, own, where, cache)
    added = values.added(heads.values, heads.layer, own, earlier)
    value = values.combined(heads.values, heads.layer, own, earlier, p.get("lambdas"))
    if earlier is not None and own is not None:
        earlier.note_values(heads.values, heads.layer, own)
    if not before:
        found, value = value, _mix("value", heads, p, value, where, cache)
    return value.transpose(1, 2), found, added


def _shared(
    heads: Heads, p: Parameters, cache: KVCache, earlier: Earlier | None, key: Tensor, value: Tensor,
    raw: dict[str, Tensor],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """All keys and values where one layer's cache keeps the values of several: as projected, so that each can shift."""
    own, before = values.projects(heads.values, heads.layer), values.shifted_first(heads.values)
    new = value if before or "value" not in raw else raw["value"].transpose(1, 2)
    shifted = {name: tokens for name, tokens in raw.items() if name != "value" or before}
    key, rows = cache.append(key, new if own else None, shifted, heads.window - 1)
    if own and earlier is not None:
        earlier.rows = rows
    rows = rows if own else earlier.rows
    beta = None if before else mixture(heads, p, "value", len(rows))
    if beta is None:
        return key, rows
    every = Layout(0, rows.shape[2], rows.device, padding=cache.padding)
    return key, _shifted("value", heads, p, rows.transpose(1, 2), beta, every).transpose(1, 2)


def _read(heads: Heads, p: Parameters, states: States, where: Layout) -> Tensor:
    """The heads' outputs at where.rows, (batch, 1, n_heads * head_dim); no value is formed but for the mixture.

    sum_t a[t] sum_j beta_j W_v x[t-j] = W_v sum_s (sum_j beta_j a[s+j]) x[s], with one query a third of the work.
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


def _queries(heads: Heads, p: Parameters, states: States, where: Layout) -> Tensor:
    """The mixed queries; at where.rows, if there are any, only the tokens they are mixed from are projected."""
    if where.rows is None:
        return _mixed("query", heads, p, states, where)
    if any(past.at == "query" for past in heads.past) or "start.query" in p:
        found = _mixed("query", heads, p, states, where)
        return where.pick_states(found.flatten(2)).unflatten(-1, found.shape[2:])
    gamma = mixture(heads, p, "query", len(states.query))
    back = heads.window - 1 if gamma is not None else 0
    at = where.rows[:, None] - torch.arange(back, -1, -1, device=where.device)
    inside, at = at >= 0, at.clamp(min=0)
    if where.runs is not None and heads.start != "carried":
        inside = inside & (where.runs.gather(1, at) == where.pick(where.runs))
    if where.padding is not None:
        inside = inside & (at >= where.padding[:, None])
    taken = states.query.gather(1, at[..., None].expand(-1, -1, states.query.shape[2]))
    raw = linear(taken, p["q_proj.weight"]).unflatten(-1, (-1, heads.head_dim)).masked_fill(~inside[..., None, None], 0)
    return raw if gamma is None else shift_mix(raw[:, back:], gamma, previous=raw[:, :back])


def _mixed(name: str, heads: Heads, p: Parameters, states: States, where: Layout) -> Tensor:
    return _mix(name, heads, p, _raw(name, heads, p, states, where), where, None)


def _raw(
    name: str, heads: Heads, p: Parameters, states: States, where: Layout, cache: KVCache | None = None,
    earlier: Earlier | None = None,
) -> Tensor:  # fmt: skip
    """The projections (batch, length, heads, head_dim), zero where a token is a pad: it shifts in as nothing.

    Where they have a past of their own (`config.Past`), they are mixed with it first; or with what is borrowed.
    """
    if not values.has_projection(heads.values, heads.layer, name):
        return values.with_borrowed(heads.values, heads.layer, name, None, earlier)
    found = _erased(projected(name, heads, p, getattr(states, name)), where)
    for past in heads.past:
        if past.at == name:
            heads_of = found.shape[-1] // heads.head_dim
            weight = offset(past, heads_of, heads.head_dim, found) if past.fixed else p[f"past.{name}"]
            start = p.get(f"past_start.{name}")
            ages = None if start is None else where.positions()
            found = begun(past, weight, found, heads.start, start, cache, where.runs, ages)
            found = found if start is None else _erased(found, where)
    own = found.unflatten(-1, (-1, heads.head_dim))
    return values.with_borrowed(heads.values, heads.layer, name, own, earlier)


def _erased(x: Tensor, where: Layout) -> Tensor:
    pads = where.pads()
    return x if pads is None else x.masked_fill(pads[..., None], 0.0)


def _mix(name: str, heads: Heads, p: Parameters, raw: Tensor, where: Layout, cache: KVCache | None) -> Tensor:
    mixed_by = mixture(heads, p, name, len(raw))
    if mixed_by is None:
        return raw
    return _shifted(name, heads, p, raw, mixed_by, where, None if cache is None else cache.previous(name))


def _shifted(
    name: str, heads: Heads, p: Parameters, raw: Tensor, mixed_by: Tensor, where: Layout, previous: Tensor | None = None
) -> Tensor:
    """The tokens mixed with those before, and a document's first ones with what the layer finds there."""
    out = shift_mix(raw, mixed_by, previous, None if heads.start == "carried" else where.runs)
    start = p.get(f"start.{name}")
    if start is None:
        return out
    return out + before_first(per_row(start, 2, len(raw)).to(raw.dtype), mixed_by, where.positions())


def _placed(name: str, heads: Heads, p: Parameters, x: Tensor, where: Layout) -> Tensor:
    """Queries or keys, normed and rotated where it is so told, as (batch, heads, tokens, head_dim)."""
    parts = x if heads.maps == 1 else x.reshape(*x.shape[:2], -1, x.shape[-1] // heads.maps)
    if heads.qk_norm:
        parts = rms_norm(parts, p[f"{name[0]}_norm"])
    if heads.position == "rope":
        positions = where.positions()
        positions = where.pick(positions) if name == "query" else positions
        turned = parts.shape[-1] if heads.latent is None else heads.latent.rope
        kept, rotated = parts[..., :-turned], rotate(parts[..., -turned:], positions, heads.rope_base)
        parts = rotated if heads.latent is None else torch.cat([kept, rotated], dim=-1)
    return parts.reshape(x.shape).transpose(1, 2)


def _mask(heads: Heads, where: Layout, dtype: torch.dtype) -> Tensor | None:
    """What scaled_dot_product_attention needs: None (causality alone), a bool mask, or ALiBi's bias."""
    mask = where.visible()
    if mask is None and (heads.slopes is not None or heads.over_two):
        mask = where.in_order()[:, None]
    if heads.slopes is not None:
        bias = alibi_bias(torch.tensor(heads.slopes, dtype=dtype, device=where.device), where)
        mask = bias.masked_fill(~mask, -torch.inf)
    return torch.cat([mask, mask], dim=-1) if heads.over_two else mask
