"""The forward pass of attention, once: functions of what a layer is, its parameters, and states.

Parameters are tensors by the names of `KVShiftAttention`. Each may have a leading model axis, and then the first axis
of the states holds the models' batches one after another: what depends on weights is done model by model in one batched
multiplication, all else does not see the difference. What each choice is made of stands in a place of its own: the
values in `query_key_value` and `_read`, the weights in `dynamics.model.softmax`, what is mixed with its past in `_mix`,
positions in `_placed` and `_mask`, documents, pads, rows and windows in `Layout`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.model import coefficients
from dynamics.model.cache import KVCache
from dynamics.model.config import ModelConfig
from dynamics.model.positions import Layout, alibi_bias, rotate
from dynamics.model.shift import shift_back, shift_mix
from dynamics.model.softmax import attend, probabilities
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

    @classmethod
    def of(cls, config: ModelConfig) -> Heads:
        """The attention of every layer of a configuration."""
        head_dim = config.width // config.n_heads
        slopes = alibi.slopes(config.n_heads) if config.position == "alibi" else None
        return cls(
            config.n_heads, config.n_kv_heads or config.n_heads, head_dim, config.window, config.parameters,
            config.position, config.rope_base, head_dim**-0.5, slopes,
        )  # fmt: skip


class States(NamedTuple):
    """What queries, keys and values are projected from, (batch, length, width) each: in most models the same."""

    query: Tensor
    key: Tensor
    value: Tensor


def attention(
    heads: Heads,
    p: Parameters,
    states: States,
    where: Layout,
    cache: KVCache | None = None,
    function: Callable[..., Tensor] | None = None,
) -> Tensor:
    """The layer's output at the queries of `where`, (batch, queries, width).

    function: takes the place of the weights and the reading, as `AttentionFunction` with its layer given.
    """
    if function is not None:
        query, key, value = query_key_value(heads, p, states, where._replace(rows=None), cache, elsewhere=True)
        slopes = None if heads.slopes is None else query.new_tensor(heads.slopes)
        out = function(query, key, value, scale=heads.scale, slopes=slopes).transpose(1, 2).flatten(2)
        return linear(where.pick_states(out), p["o_proj.weight"])
    if where.rows is not None and where.runs is None and where.padding is None:
        return linear(_read(heads, p, states, where), p["o_proj.weight"])
    query, key, value = query_key_value(heads, p, states, where, cache)
    out = attend(query, key, value, _mask(heads, where, query.dtype), heads.scale)
    out = linear(out.transpose(1, 2).flatten(2), p["o_proj.weight"])
    return out if where.padding is None else out.masked_fill(where.pick(where.pads())[..., None], 0.0)


def weights(heads: Heads, p: Parameters, states: States, where: Layout) -> Tensor:
    """Attention probabilities, (batch, n_heads, queries, keys); zero for a pad."""
    query, key = _placed(heads, _queries(heads, p, states, where), _mixed("key", heads, p, states, where), where)
    found = probabilities(query, key, _mask(heads, where, query.dtype), heads.scale)
    return found if where.padding is None else found.masked_fill(where.pick(where.pads())[:, None, :, None], 0.0)


def mixture(heads: Heads, p: Parameters, name: str, batch: int) -> Tensor | None:
    """Effective coefficients (heads, window), of a stack (batch, heads, window), or None where nothing is mixed."""
    parameter = p.get(COEFFICIENTS[name])
    if parameter is None:
        return None
    found = coefficients.effective(parameter, heads.parameters)
    return found if found.ndim == 2 else found.repeat_interleave(batch // len(found), dim=0)


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


def swiglu(x: Tensor, p: Parameters) -> Tensor:
    """W_down(silu(W_gate x) * W_up x)."""
    return linear(F.silu(linear(x, p["gate.weight"])) * linear(x, p["up.weight"]), p["down.weight"])


def query_key_value(
    heads: Heads, p: Parameters, states: States, where: Layout, cache: KVCache | None = None, elsewhere: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Mixed, placed query, key and value, (batch, heads, tokens, head_dim), the cached ones included.

    elsewhere: keys and values are kept by another; the cache then holds the raw tokens and counts.
    """
    raw = {"key": _raw("key", heads, p, states, where), "value": _raw("value", heads, p, states, where)}
    if where.rows is None:
        raw["query"] = _raw("query", heads, p, states, where)
    mixed = {name: _mix(name, heads, p, tokens, where, cache) for name, tokens in raw.items()}
    query = mixed["query"] if where.rows is None else _queries(heads, p, states, where)
    query, key = _placed(heads, query, mixed["key"], where)
    value = mixed["value"].transpose(1, 2)
    if cache is not None:
        shifted = {name: tokens for name, tokens in raw.items() if COEFFICIENTS[name] in p}
        if elsewhere:
            cache.advance(key.shape[2], shifted, heads.window - 1)
        else:
            key, value = cache.append(key, value, shifted, heads.window - 1)
        cache.padding = where.padding
    return query, key, value


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
    gamma = mixture(heads, p, "query", len(states.query))
    back = heads.window - 1 if gamma is not None else 0
    at = where.rows[:, None] - torch.arange(back, -1, -1, device=where.device)
    inside, at = at >= 0, at.clamp(min=0)
    if where.runs is not None:
        inside = inside & (where.runs.gather(1, at) == where.pick(where.runs))
    if where.padding is not None:
        inside = inside & (at >= where.padding[:, None])
    taken = states.query.gather(1, at[..., None].expand(-1, -1, states.query.shape[2]))
    raw = linear(taken, p["q_proj.weight"]).unflatten(-1, (-1, heads.head_dim)).masked_fill(~inside[..., None, None], 0)
    return raw if gamma is None else shift_mix(raw[:, back:], gamma, previous=raw[:, :back])


def _mixed(name: str, heads: Heads, p: Parameters, states: States, where: Layout) -> Tensor:
    return _mix(name, heads, p, _raw(name, heads, p, states, where), where, None)


def _raw(name: str, heads: Heads, p: Parameters, states: States, where: Layout) -> Tensor:
    """The projections (batch, length, heads, head_dim), zero where a token is a pad: it shifts in as nothing."""
    projected = linear(getattr(states, name), p[f"{name[0]}_proj.weight"]).unflatten(-1, (-1, heads.head_dim))
    pads = where.pads()
    return projected if pads is None else projected.masked_fill(pads[..., None, None], 0.0)


def _mix(name: str, heads: Heads, p: Parameters, raw: Tensor, where: Layout, cache: KVCache | None) -> Tensor:
    mixed_by = mixture(heads, p, name, len(raw))
    if mixed_by is None:
        return raw
    return shift_mix(raw, mixed_by, previous=None if cache is None else cache.previous(name), segment_ids=where.runs)


def _placed(heads: Heads, query: Tensor, key: Tensor, where: Layout) -> tuple[Tensor, Tensor]:
    """Queries and keys, rotated where the position is so told, as (batch, heads, tokens, head_dim)."""
    if heads.position == "rope":
        positions = where.positions()
        key = rotate(key, positions, heads.rope_base)
        query = rotate(query, where.pick(positions), heads.rope_base)
    return query.transpose(1, 2), key.transpose(1, 2)


def _mask(heads: Heads, where: Layout, dtype: torch.dtype) -> Tensor | None:
    """What scaled_dot_product_attention needs: None (causality alone), a bool mask, or ALiBi's bias."""
    seen = where.visible()
    if heads.slopes is None:
        return seen
    bias = alibi_bias(torch.tensor(heads.slopes, dtype=dtype, device=where.device), where)
    if seen is None:
        seen = torch.arange(where.offset + where.length, device=where.device) <= where.queries()[..., None]
    return bias.masked_fill(~seen, -torch.inf)
