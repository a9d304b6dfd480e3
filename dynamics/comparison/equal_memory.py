"""Cache policies for a checkpoint at equal memory: what each of them keeps, in bytes that one function counts.

Every policy has a `RazorPlan`, and its buffer is the largest that the budget allows at the last token of a window. So a
policy that keeps heads whole, or a compensation token in double precision, pays for it with a shorter window.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.comparison.plan import DROPPING, EVICTED, HEAVY, NONE_PROTECTED, RANDOM, RAZOR, RENUMBERED, WINDOW
from dynamics.model.attention_function import AttentionFunction
from dynamics.model.decoder import InductionModel
from dynamics.razor.cache import RazorCache
from dynamics.razor.eviction import heavy_hitters, random_eviction, renumbered
from dynamics.razor.plan import RazorPlan, razor_bytes
from dynamics.sinks.passes import features, through
from dynamics.weights.families import FAMILIES

if TYPE_CHECKING:
    from torch import nn

MORE = {"sinks": "learned sink logits", "window": "sliding windows", "softcap": "capped logits"}
Heads = Sequence[Collection[int]]  # key-value heads, by layer
SUM_ITEMSIZE = 4  # heavy hitters keep a sum in float32 beside each token


class Shape(NamedTuple):
    """What the attention of a model is handed, alike in all layers but for windows.

    width: numbers of a key and its value together, itemsize: bytes of each. sloped: with ALiBi's slopes. windows: the
    tokens that a query of each layer sees, None for all. more: what heavy hitters and random eviction do not take.
    """

    n_layers: int
    n_heads: int
    n_kv_heads: int
    width: int
    itemsize: int
    sloped: bool
    windows: tuple[int | None, ...]
    more: tuple[str, ...]

    def plan(self, full: Heads, **settings) -> RazorPlan:
        """The plan that keeps these key-value heads whole, by layer, and of the others one token besides the sinks."""
        whole = tuple(map(frozenset, full))
        return RazorPlan(self.n_heads, self.n_kv_heads, whole, buffer=1, share=Fraction(0), **settings)

    @property
    def whole(self) -> RazorPlan:
        """The plan of the full cache."""
        return self.plan([range(self.n_kv_heads)] * self.n_layers, compensation="none")


class Row(NamedTuple):
    """A policy at a budget: a plan for each random draw, and bytes; without a plan, `why` says why it is not run."""

    policy: str
    plans: tuple[RazorPlan, ...] = ()
    held: int = 0
    why: str = ""

    @property
    def first(self) -> int:
        """The first query that misses a token; of a row that is not run 0."""
        return max((plan.sinks + plan.buffer for plan in self.plans), default=0)

    def function(self, draw: int, window: int) -> AttentionFunction:
        """The policy for one window of the text, new each time, for a cache remembers; draw and window seed it."""
        plan, older = self.plans[draw], self.plans[draw].buffer // 2
        if self.policy == HEAVY:
            return heavy_hitters(older, plan.buffer - older)
        if self.policy == EVICTED:
            return random_eviction(older, plan.buffer - older, (draw, window))
        return renumbered(plan.sinks, plan.buffer) if self.policy == RENUMBERED else RazorCache(plan)


def shape_of(model: nn.Module, tokens: Tensor) -> Shape:
    """The shape of a model, by what its attention is handed of these tokens (n,).

    Raises: ValueError for an encoder, and as `dynamics.sinks.passes.through`.
    """
    seen, more, windows = [], {}, []

    def watching(layer, query, key, value, *, scale, slopes, causal=True, window=None, **handed) -> Tensor:
        if not causal:
            raise ValueError("this model is an encoder: each token sees all, and no cache could forget any")
        windows.append(window)
        more.update(handed | ({"window": window} if window else {}))
        width = key.shape[3] + value.shape[3]
        seen.append((query.shape[1], key.shape[1], width, key.element_size(), slopes is not None))
        return query.new_zeros(*query.shape[:3], value.shape[3])

    with torch.no_grad(), through(model, watching):
        features(model, tokens)
    return Shape(len(seen), *seen[0], tuple(windows), tuple(MORE[name] for name in more))


def positions(model: nn.Module) -> str:
    """How the model knows where a token stands: "alibi", "rope", "learned" or "none"."""
    if isinstance(model, InductionModel):
        return model.config.position
    family = FAMILIES[model.config.model_type]
    if family.alibi or getattr(model.config, "alibi", False):
        return "alibi"
    return "learned" if family.positions else "rope"


def held_bytes(policy: str, plan: RazorPlan, shape: Shape, length: int) -> int:
    """Bytes of a policy after `length` tokens: keys and values of each key-value head, compensation tokens in double
    precision, and of heavy hitters a sum for each token. Positions and seeds are not counted."""
    sums = SUM_ITEMSIZE * shape.n_layers * shape.n_kv_heads * plan.n_kept(length) if policy == HEAVY else 0
    return sums + razor_bytes(plan, length, shape.width, shape.itemsize, value_dim=0, windows=shape.windows)


def barred(model: nn.Module, shape: Shape, no_heads: str) -> dict[str, str]:
    """The policies that do not run, and why; no_heads: why no head is kept whole, "" where some are."""
    found = dict.fromkeys((RAZOR, DROPPING, RANDOM), no_heads)
    fixed = {"learned": True, "alibi": not shape.sloped, "rope": isinstance(model, InductionModel)}
    if fixed.get(positions(model)):
        found[RENUMBERED] = "attention alone cannot give this model other positions"
    if shape.more:
        found |= dict.fromkeys((HEAVY, EVICTED, RENUMBERED), f"not written for {', '.join(shape.more)}")
    return found


def rows(
    shape: Shape, length: int, most: int, policies: Mapping[str, str], full: Heads, sinks: int, seeds: int
) -> list[Row]:
    """The policies, each with the longest window that `most` bytes allow at `length` tokens.

    Args: policies: why each does not run, "" where it does; full: the key-value heads that Razor keeps whole, by layer;
        seeds: how many random draws.
    """
    none: Heads = [()] * len(full)
    random = [drawn(shape, full, seed) for seed in range(seeds)]
    draws = {RAZOR: [full], DROPPING: [full], RANDOM: random, EVICTED: [none] * seeds}
    token = dict.fromkeys((RAZOR, RANDOM, NONE_PROTECTED), "alibi" if shape.sloped else "mean")
    found = []
    for policy, why in policies.items():
        kept = 0 if policy in (WINDOW, HEAVY, EVICTED) else sinks
        kind = token.get(policy, "none")
        least = [shape.plan(whole, sinks=kept, compensation=kind) for whole in draws.get(policy, [none])]
        plans = [_longest(policy, plan, shape, length, most) for plan in least]
        row = Row(policy, why=why or "needs more than the budget even with a window of one token")
        if not why and None not in plans:
            row = Row(policy, tuple(plans), held_bytes(policy, plans[0], shape, length))
        found.append(row if row.first < length else Row(policy, why="keeps everything, not run again"))
    return found


def _longest(policy: str, plan: RazorPlan, shape: Shape, length: int, most: int) -> RazorPlan | None:
    """The plan with the longest window that `most` bytes allow."""

    def held(size: int) -> int:
        return held_bytes(policy, replace(plan, buffer=size), shape, length)

    size = bisect_right(range(1, length + 1), most, key=held)
    return replace(plan, buffer=size) if size else None


def drawn(shape: Shape, full: Heads, seed: int) -> list[set[int]]:
    """As many key-value heads as those given, drawn evenly from all layers without a sliding window."""
    open_layers = [layer for layer, window in enumerate(shape.windows) if not window]
    places = [(layer, head) for layer in open_layers for head in range(shape.n_kv_heads)]
    count = sum(head in full[layer] for layer, head in places)
    picked = {places[number] for number in np.random.default_rng(seed).choice(len(places), count, replace=False)}
    return [{head for head in range(shape.n_kv_heads) if (layer, head) in picked} for layer in range(shape.n_layers)]
