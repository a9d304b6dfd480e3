"""Queries, keys and values as attention reads them: projected, borrowed, mixed with their past, placed, and cached.

Functions of what a layer is, its parameters and states, as `dynamics.model.forward` has them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dynamics.model import coefficients, values
from dynamics.model.cache import KVCache
from dynamics.model.config import Shared
from dynamics.model.heads import COEFFICIENTS, Formed, Heads, Parameters, States, latents, linear, projected, rms_norm
from dynamics.model.past import begun, offset
from dynamics.model.positions import Layout, rotate
from dynamics.model.shift import before_first, per_row, shift_mix
from dynamics.model.values import Earlier


def mixture(heads: Heads, p: Parameters, name: str, batch: int) -> Tensor | None:
    """Effective coefficients (heads, window), of a stack (batch, heads, window), or None where nothing is mixed."""
    parameter = p.get(COEFFICIENTS[name])
    if parameter is None:
        return None
    found = coefficients.effective(parameter, heads.parameters)
    return per_row(found, 2, batch)


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


def query_key(heads: Heads, p: Parameters, states: States, where: Layout) -> tuple[Tensor, Tensor]:
    """Query and key of a layer that has them of itself alone, (batch, heads, tokens, head_dim), with no cache."""
    if heads.latent is not None:
        states = _of_latents(states, latents(heads, p, states.key))
    query = _placed("query", heads, p, _queries(heads, p, states, where), where)
    return query, _placed("key", heads, p, _mixed("key", heads, p, states, where), where)


def _fits_elsewhere(heads: Heads, cache: KVCache | None) -> None:
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
