"""Every attention of a transformers model through an `AttentionFunction`: ALiBi models and others, one contract.

Supported models are those of `dynamics.hf.families`. Most go through transformers' own `AttentionInterface`. BLOOM, MPT
and Falcon ignore it, so that their attention forward is replaced, from the projections to the output matrix. A function
is handed `sinks` and `causal=False` where the model has them (`special`), and by a layer with a sliding window
`window`, the number of tokens that a query sees, itself among them; `softcap` c where logits are c tanh(x / c); and
with pads among the new tokens `real`, (batch, new) bool, False for a pad. One that has no such parameter is refused.
A function computes the exact distances of `theory.alibi`; transformers rounds slope * position to single precision, and
then to the model's own: in bfloat16, and at a slope of a power of two, neighbours are alike from position 256 on.
Falcon's bias is that of every precision: bfloat16(slope * position), added before the scale. No slope gives it, and it
goes as one more coordinate of the keys, as it is, which queries meet with a 1.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from itertools import count
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dynamics.hf import versions
from dynamics.hf.families import Heads, heads, without_windows
from dynamics.model.attention_function import AttentionFunction, special
from dynamics.weights.families import FAMILIES

if TYPE_CHECKING:
    from dynamics.hf.versions import PreTrainedModel

_NUMBERS = count()


@contextmanager
def replaced(model: PreTrainedModel, function: AttentionFunction) -> Iterator[PreTrainedModel]:
    """Let all attention of the model go through `function`; what was there before comes back on exit.

    A transformers cache sees what it always sees. A function without memory needs the whole sequence in one call; one
    with memory needs a cache that keeps no keys itself, as `dynamics.hf.cache`. Attention weights are not returned.
    The model's configuration is exchanged for a copy meanwhile, so that a model that shares it keeps its own attention.
    Raises: ValueError as `heads`, and for a function that does not take what the model hands over; within, for padding
        with a function that does not take `real`, packed documents, four-dimensional masks, attention dropout in
        training, and for a sequence continued without its keys.
    """
    found = heads(model)
    given = _given(function, found)
    name = f"attention-function-{next(_NUMBERS)}"
    with ExitStack() as stack:
        pads = _Pads(function)
        mask = pads.falcon_mask if found.family == "falcon" else pads.mask
        versions.register(stack, name, _interface(function, given, pads), mask)
        _choose(stack, model, name)
        if not FAMILIES[found.family].interface:
            build, slopes = FORWARDS[found.family], _Slopes(found.slopes)
            for module in found.modules:
                slopes.like(next(module.parameters()))  # made here, so that calls allocate nothing that stays
                _set(stack, module, "forward", build(module, function, slopes, pads))
        yield model


def _given(function: AttentionFunction, found: Heads) -> list[dict[str, Any]]:
    """By layer, what only some models hand over."""
    given = []
    for module, window in zip(found.modules, found.windows, strict=True):
        more = special(function, found.sinks and getattr(module, found.sinks), found.causal)
        more = more if found.softcap is None else more | {"softcap": found.softcap}
        given.append(more if window is None else more | {"window": window})
    if not _takes(function, "window"):
        without_windows(found.windows)
    if found.softcap is not None and not _takes(function, "softcap"):
        raise ValueError("this model's attention has 'softcap', which the attention function does not take")
    return given


def _takes(function: Callable, name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _choose(stack: ExitStack, model: nn.Module, name: str) -> None:
    """A copy of each configuration in the model, with this attention implementation."""
    copies: dict[int, object] = {}
    for module in model.modules():
        config = getattr(module, "config", None)
        if config is not None:
            chosen = copies.setdefault(id(config), copy(config))
            versions.choose(chosen, name)
            _set(stack, module, "config", chosen)


def _set(stack: ExitStack, module: nn.Module, name: str, value: object) -> None:
    before = vars(module).get(name)
    setattr(module, name, value)
    stack.callback(*((delattr, module, name) if before is None else (setattr, module, name, before)))


class _Pads:
    """Which new tokens of a forward call are no pads: `real`, (batch, new), or nothing where none is a pad.

    A function with a method check_pads(mask, seen, new) is asked whether the pads are still those that it has seen.
    """

    def __init__(self, function: AttentionFunction) -> None:
        self.taken = _takes(function, "real")
        self.check = getattr(function, "check_pads", None)
        self.given: dict[str, Tensor] = {}

    def mask(
        self,
        q_offset: int,
        q_length: int,
        attention_mask: Tensor | None,
        allow_is_causal_skip: bool,
        device: torch.device,
        allow_is_bidirectional_skip: bool = False,
        **_: object,
    ) -> Tensor:
        """In place of transformers' mask, which would be queries * keys large: nothing, for the function knows it."""
        if not (allow_is_causal_skip or allow_is_bidirectional_skip):
            raise ValueError("packed documents cannot go through an attention function: one document a sequence")
        self.given = {}
        if attention_mask is not None:
            if attention_mask.shape[-1] != q_offset + q_length:
                raise ValueError(f"attention_mask covers {attention_mask.shape[-1]} of {q_offset + q_length} tokens")
            if not (self.taken or attention_mask.all()):
                raise ValueError(
                    "padding cannot go through an attention function: attention_mask must be 1 throughout "
                    "(generate makes one itself, with a 0 wherever pad_token_id occurs, unless it is given)"
                )
            real = attention_mask[:, q_offset:].bool()
            self.given = {} if real.all() else {"real": real}
        if self.check is not None:
            self.check(None if attention_mask is None else attention_mask.bool(), q_offset, q_length)
        # MPT casts what it gets.
        return torch.zeros(1, 1, 1, 1, dtype=torch.bool, device=device)

    def falcon_mask(self, **named: Any) -> Tensor:
        """Falcon has its mask written out in any case, and never looks for packed documents; True is what is seen."""
        return ~self.mask(**named | {"allow_is_causal_skip": True})


class _Slopes:
    """Slopes where the queries are: one tensor for all layers and calls, which a function may know again."""

    def __init__(self, slopes: Tensor | None) -> None:
        self.slopes = slopes
        self.made: dict[tuple[torch.device, torch.dtype], Tensor] = {}

    def like(self, query: Tensor) -> Tensor | None:
        if self.slopes is None:
            return None
        kind = query.device, torch.promote_types(query.dtype, torch.float32)
        if kind not in self.made:
            with torch.inference_mode(False):
                self.made[kind] = self.slopes.to(*kind)
        return self.made[kind]


def _interface(function: AttentionFunction, given: list[dict[str, Any]], pads: _Pads) -> Callable:
    def forward(module, query, key, value, attention_mask, dropout=0.0, scaling=None, **_):
        _check(query, key, attention_mask, dropout)
        layer = module.layer_idx
        found = function(layer, query, key, value, scale=scaling, slopes=None, **given[layer], **pads.given)
        return found.transpose(1, 2), None

    return forward


def _bloom_forward(module: nn.Module, function: AttentionFunction, slopes: _Slopes, pads: _Pads) -> Callable:
    def forward(hidden_states, residual, alibi=None, attention_mask=None, layer_past=None, **more):
        versions.without_cache(more)
        query, key, value = module._reshape(module.query_key_value(hidden_states))
        own = {"scale": module.inv_norm_factor, "slopes": slopes.like(query)} | pads.given
        dropout = module.attention_dropout.p
        found = _attended(module, function, (query, key, value), layer_past, attention_mask, dropout, own)
        out = module.dense(found)
        return F.dropout(out, module.hidden_dropout, module.training) + residual, None

    return forward


def _mpt_forward(module: nn.Module, function: AttentionFunction, slopes: _Slopes, pads: _Pads) -> Callable:
    def forward(hidden_states, position_bias=None, past_key_values=None, attention_mask=None, cache=None, **more):
        versions.without_cache(more)
        mixed = module.Wqkv(hidden_states)
        if module.clip_qkv:
            mixed = mixed.clamp(-module.clip_qkv, module.clip_qkv)
        query, key, value = (x.unflatten(2, (module.n_heads, -1)).transpose(1, 2) for x in mixed.chunk(3, dim=2))
        held = past_key_values if cache is None else cache  # the name since 5.24
        own = {"scale": module.softmax_scale, "slopes": slopes.like(query)} | pads.given
        dropout = module.attn_dropout_p
        found = _attended(module, function, (query, key, value), held, attention_mask, dropout, own)
        return module.out_proj(found), None

    return forward


def _falcon_forward(module: nn.Module, function: AttentionFunction, slopes: _Slopes, pads: _Pads) -> Callable:
    def forward(hidden_states, alibi=None, attention_mask=None, layer_past=None, position_embeddings=None, **more):
        versions.without_cache(more)
        query, key, value = _falcon_projected(module, hidden_states)
        if alibi is None:
            query, key = (_rotated(x, *position_embeddings) for x in (query, key))
        else:
            query, key = _with_bias(query, key, alibi, attention_mask)
            attention_mask = None
        own = {"scale": module.inv_norm_factor, "slopes": None} | pads.given
        dropout = module.attention_dropout.p
        found = _attended(module, function, (query, key, value), layer_past, attention_mask, dropout, own)
        return module.dense(found), None

    return forward


def _attended(
    module: nn.Module,
    function: AttentionFunction,
    new: tuple[Tensor, Tensor, Tensor],
    cache: Any,
    attention_mask: Tensor | None,
    dropout: float,
    own: dict[str, Any],
) -> Tensor:
    """What the function gives for the new queries, keys and values, (batch, new, width), once a cache has them."""
    query, key, value = new
    if cache is not None:
        key, value = cache.update(key, value, module.layer_idx)
    _check(query, key, attention_mask, dropout if module.training else 0.0)
    return function(module.layer_idx, query, key, value, **own).transpose(1, 2).flatten(2)


def _falcon_projected(module: nn.Module, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (batch, n_heads, new, d), keys and values (batch, n_kv_heads, new, d): group by group, or one for all."""
    groups = module.num_kv_heads
    parts = module.query_key_value(hidden).unflatten(2, (groups, -1, module.head_dim))
    query, key, value = parts[..., :-2, :].flatten(2, 3), parts[..., -2, :], parts[..., -1, :]
    return query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos[:, None] + torch.cat([-second, first], dim=-1) * sin[:, None]


def _with_bias(query: Tensor, key: Tensor, alibi: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    """The bias (batch, n_heads, 1, tokens) of the new keys as their last coordinate, and 1 as that of the queries."""
    # The model has put the bias, over sqrt(d), into the mask that it hands over too; another mask hides something.
    if not torch.equal(attention_mask, alibi / query.shape[3] ** 0.5):
        raise ValueError(f"a mask of shape {tuple(attention_mask.shape)} cannot go through an attention function")
    of_new = alibi[..., -key.shape[2] :].transpose(2, 3)
    return torch.cat([query, torch.ones_like(query[..., :1])], -1), torch.cat([key, of_new], -1)


FORWARDS = {"bloom": _bloom_forward, "falcon": _falcon_forward, "mpt": _mpt_forward}


def _check(query: Tensor, key: Tensor, attention_mask: Tensor | None, dropout: float) -> None:
    if attention_mask is not None and attention_mask.numel() > 1:
        raise ValueError(f"a mask of shape {tuple(attention_mask.shape)} cannot go through an attention function")
    if dropout:
        raise ValueError(f"attention dropout of {dropout} cannot go through an attention function: use model.eval()")
    if key.shape[2] != query.shape[2]:
        raise ValueError(
            f"{query.shape[2]} new tokens came with {key.shape[2]} keys: an attention function needs a whole sequence, "
            "or a cache that leaves the keys to it"
        )
