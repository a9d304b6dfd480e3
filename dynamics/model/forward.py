"""The forward pass of attention, once: functions of what a layer is, its parameters, and states.

Parameters are tensors by the names of `KVShiftAttention`. Each may have a leading model axis, and then the first axis
of the states holds the models' batches one after another: what depends on weights is done model by model in one batched
multiplication, all else does not see the difference. What each choice is made of stands in a place of its own: the
values in `query_key_value` and `_read`, what is read of other layers in `dynamics.model.values`, the weights in
`dynamics.model.softmax`, what is mixed with its past in `_mix`, positions in `_placed` and `_mask`, documents, pads,
rows and windows in `Layout`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.model import coefficients, values
from dynamics.model.attention_function import special
from dynamics.model.cache import KVCache
from dynamics.model.config import PROJECTED, CrossLayer, Dense, ModelConfig, Own, Past, Shared, Values
from dynamics.model.past import begun, offset
from dynamics.model.positions import Layout, alibi_bias, rotate
from dynamics.model.shift import before_first, per_row, shift_back, shift_mix
from dynamics.model.softmax import attend, probabilities
from dynamics.model.values import Earlier
from theory import alibi

Parameters = Mapping[str, Tensor]
EPS = 1e-6
COEFFICIENTS = {"key": "alpha", "value": "beta", "query": "gamma"}


class Heads(NamedTuple):
    """What an attention layer is, without its weights; the fields are those of `KVShiftAttention`."""

    n_heads: int
    n_kv_heads: int
    head_dim: int
    window: int
    parameters: str
    position: str
    rope_base: float
    scale: float
    slopes: list[float] | None
    weights: str = "softmax"
    causal: bool = True
    values: Values = Own()
    layer: int = 0
    past: tuple[Past, ...] = ()
    start: str = "zero"

    @classmethod
    def of(cls, config: ModelConfig, layer: int = 0) -> Heads:
        """The attention of a layer of a configuration."""
        head_dim = config.width // config.n_heads
        slopes = alibi.slopes(config.n_heads) if config.position == "alibi" else None
        return cls(
            config.n_heads, config.n_kv_heads or config.n_heads, head_dim, config.window, config.parameters,
            config.position_in_attention, config.rope_base, head_dim**-0.5, slopes, config.weights, config.causal,
            config.values, layer, tuple(past for past in config.past if past.at in PROJECTED),
            config.start,
        )  # fmt: skip

    def reads_plainly(self, p: Parameters) -> bool:
        """Whether its values are its own projections, and nothing is added to them or to what is read of them."""
        own = isinstance(self.values, Own | Dense) and all(past.at != "value" for past in self.past)
        return own and "start.value" not in p

    @property
    def over_two(self) -> bool:
        """Whether it attends over the keys of another layer beside its own."""
        return isinstance(self.values, CrossLayer) and self.layer > 0


class States(NamedTuple):
    """What queries, keys and values are projected from, (batch, length, width) each: in most models the same."""

    query: Tensor
    key: Tensor
    value: Tensor


class Formed(NamedTuple):
    """Query, key and value as attention reads them, (batch, heads, tokens, head_dim), and what is added to its output.

    added: (batch, new tokens, n_kv_heads, head_dim), or None.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    added: Tensor | None


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
    if function is not None:
        out = where.pick_states(_attended(heads, p, states, where._replace(rows=None), cache, function, earlier))
    elif where.rows is not None and where.runs is None and where.padding is None and heads.reads_plainly(p):
        out = _read(heads, p, states, where)
    else:
        out = _attended(heads, p, states, where, cache, None, earlier)
    if heads.weights == "gate":
        gate = linear(where.pick_states(states.query), p["gate_proj.weight"]).sigmoid()
        out = (out.unflatten(-1, (heads.n_heads, -1)) * gate[..., None]).flatten(2)
    out = linear(out, p["o_proj.weight"])
    erased = function is None and where.padding is not None
    return out.masked_fill(where.pick(where.pads())[..., None], 0.0) if erased else out


def weights(heads: Heads, p: Parameters, states: States, where: Layout) -> Tensor:
    """Attention probabilities, (batch, n_heads, queries, keys); zero for a pad.

    Raises: ValueError for a layer that attends over the keys of another one too.
    """
    if heads.over_two:
        raise ValueError("a layer that attends over the keys of two layers has no probabilities to show by itself")
    query, key = _placed(heads, _queries(heads, p, states, where), _mixed("key", heads, p, states, where), where)
    sinks = _sinks(heads, p, query)
    found = probabilities(query, key, _mask(heads, where, query.dtype), heads.scale, sinks, heads.causal)
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
    sinks = _sinks(heads, p, query)
    if function is None:
        out = attend(query, key, value, _mask(heads, where, query.dtype), heads.scale, sinks, heads.causal)
    else:
        slopes = None if heads.slopes is None else query.new_tensor(heads.slopes)
        extra = special(function, sinks, heads.causal)
        out = function(query, key, value, scale=heads.scale, slopes=slopes, **extra)
    out = out.transpose(1, 2)
    if added is not None:
        group = heads.n_heads // heads.n_kv_heads
        picked = where.pick_states(added.flatten(2)).unflatten(-1, (-1, heads.head_dim))
        out = out + picked.repeat_interleave(group, dim=2)
    return out.flatten(2)


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


def linear(x: Tensor, weight: Tensor) -> Tensor:
    """x (batch, .., inputs) times weight (outputs, inputs) transposed; of a stack, each model's weight for its rows."""
    if weight.ndim == 2:
        return F.linear(x, weight)
    return (x.reshape(len(weight), -1, x.shape[-1]) @ weight.mT).view(*x.shape[:-1], -1)


def weight_of(name: str, projection: nn.Module) -> Tensor:
    """The weight of a projection, which is read and not called.

    Raises: ValueError for one that would do more if it were called (a bias, a hook, a forward of its own).
    """
    plain = isinstance(projection, nn.Linear) and type(projection).forward is nn.Linear.forward
    if not plain or projection.bias is not None or projection._forward_hooks or projection._forward_pre_hooks:
        raise ValueError(f"{name} is read, not called: it must be an nn.Linear without bias, hooks or another forward")
    return projection.weight


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """x / sqrt(mean x^2 + EPS) * weight, as `linear` for a stack."""
    if weight.ndim == 1:
        return F.rms_norm(x, weight.shape, weight, EPS)
    normed = F.rms_norm(x, x.shape[-1:], eps=EPS).reshape(len(weight), -1, x.shape[-1])
    return (normed * weight[:, None]).view(x.shape)


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
    Raises: ValueError for keys of two layers that are kept elsewhere.
    """
    if elsewhere and heads.over_two:
        raise ValueError("an attention function sees the keys of one layer, cross-layer attention has those of two")
    raw = {"key": _raw("key", heads, p, states, where, cache)}
    if where.rows is None:
        raw["query"] = _raw("query", heads, p, states, where, cache)
    shifted = {name: _mix(name, heads, p, tokens, where, cache) for name, tokens in raw.items()}
    query = shifted["query"] if where.rows is None else _queries(heads, p, states, where)
    query, key = _placed(heads, query, shifted["key"], where)
    value, raw["value"], added = _values(heads, p, states, where, cache, earlier)
    if cache is not None:
        cache.padding = where.padding
        last = {name: tokens for name, tokens in raw.items() if COEFFICIENTS[name] in p}
        if elsewhere:
            cache.advance(key.shape[2], last, heads.window - 1)
        elif isinstance(heads.values, Shared):
            key, value = _shared(heads, p, cache, earlier, key, value, last)
        else:
            key, value = cache.append(key, value, last, heads.window - 1)
    seen = values.with_source(heads.values, heads.layer, key, value, earlier)
    if earlier is not None:
        earlier.note_keys(heads.values, heads.layer, key, value)
    return Formed(query, *seen, added)


def _values(
    heads: Heads, p: Parameters, states: States, where: Layout, cache: KVCache | None, earlier: Earlier | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The new tokens' values: as they are read, (batch, kv_heads, length, head_dim), as a shift finds them, and added.

    The order is the record's: either projections are combined and the sum is shifted, or shifted values are combined.
    """
    own = _raw("value", heads, p, states, where, cache) if values.projects(heads.values, heads.layer) else None
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


def _raw(name: str, heads: Heads, p: Parameters, states: States, where: Layout, cache: KVCache | None = None) -> Tensor:
    """The projections (batch, length, heads, head_dim), zero where a token is a pad: it shifts in as nothing.

    Where they have a past of their own (`config.Past`), they are mixed with it first.
    """
    projected = _erased(linear(getattr(states, name), p[f"{name[0]}_proj.weight"]), where)
    for past in heads.past:
        if past.at == name:
            fixed = past.offset is not None
            heads_of = projected.shape[-1] // heads.head_dim
            weight = offset(past, heads_of, heads.head_dim, projected) if fixed else p[f"past.{name}"]
            start = p.get(f"past_start.{name}")
            ages = None if start is None else where.positions()
            projected = begun(past, weight, projected, heads.start, start, cache, where.runs, ages)
            projected = projected if start is None else _erased(projected, where)
    return projected.unflatten(-1, (-1, heads.head_dim))


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


def _placed(heads: Heads, query: Tensor, key: Tensor, where: Layout) -> tuple[Tensor, Tensor]:
    """Queries and keys, rotated where the position is so told, as (batch, heads, tokens, head_dim)."""
    if heads.position == "rope":
        positions = where.positions()
        key = rotate(key, positions, heads.rope_base)
        query = rotate(query, where.pick(positions), heads.rope_base)
    return query.transpose(1, 2), key.transpose(1, 2)


def _mask(heads: Heads, where: Layout, dtype: torch.dtype) -> Tensor | None:
    """What scaled_dot_product_attention needs: None (causality alone), a bool mask, or ALiBi's bias."""
    mask = where.visible()
    if mask is None and (heads.slopes is not None or heads.over_two):
        mask = where.in_order()[:, None]
    if heads.slopes is not None:
        bias = alibi_bias(torch.tensor(heads.slopes, dtype=dtype, device=where.device), where)
        mask = bias.masked_fill(~mask, -torch.inf)
    return torch.cat([mask, mask], dim=-1) if heads.over_two else mask
