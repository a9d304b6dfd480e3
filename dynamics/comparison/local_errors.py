"""The error of a cache policy in each layer for the given inputs of that layer, against full attention in float64.

An error is the norm of the change of a head's output over the diameter of the head's values, which the weights allow.
Outputs on a text are often much smaller than that, so the largest change is also told in units of the head's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.model.attention_function import AttentionFunction, full_attention
from dynamics.razor.cache import RazorCache
from dynamics.razor.eviction import heavy_hitters, masked, sink_window
from dynamics.razor.plan import RazorPlan

SINKS = 4
TINY = 1e-300  # in place of an output that is 0 throughout
SHARES = tuple(Fraction(n, 64) for n in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 56, 60))
RAZOR = "razor, heads found"
Run = Callable[[AttentionFunction], float]  # reads the text once with this attention: its loss, in nats a token
Head = tuple[int, int]


class Local(NamedTuple):
    """A policy on a text: share of all entries that it holds at the end, its largest and mean error, and the loss.

    of_output: the largest change of a head's output over the mean norm of this head's output; loss: nats a token.
    """

    policy: str
    kept: float
    worst: float
    mean: float
    of_output: float
    loss: float


class Watched:
    """An attention function whose outputs are compared; errors (batch, n_heads, n) by layer are kept."""

    def __init__(self, function: AttentionFunction, diameters: Sequence[np.ndarray]) -> None:
        self.function, self.diameters = function, diameters
        self.stateful = getattr(function, "stateful", False)
        self.worst, self.of_output, self.total, self.count = 0.0, 0.0, 0.0, 0

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        found = self.function(layer, query, key, value, scale=scale, slopes=slopes)
        wide = [x.double() for x in (query, key, value)]
        full = full_attention(layer, *wide, scale=scale, slopes=None if slopes is None else slopes.double())
        group = query.shape[1] // key.shape[1]
        diameter = torch.from_numpy(self.diameters[layer]).to(full).repeat_interleave(group)
        changes, sizes = (found.double() - full).norm(dim=-1), full.norm(dim=-1).mean((0, 2))
        errors = changes / diameter[:, None]
        self.worst, self.total = max(self.worst, float(errors.max())), self.total + float(errors.sum())
        self.of_output = max(self.of_output, float((changes.amax((0, 2)) / sizes.clamp(min=TINY)).max()))
        self.count += errors.numel()
        return found


def measured(
    policy: str, kept: float, function: AttentionFunction, run: Run, diameters: Sequence[np.ndarray]
) -> Local:
    """Run the text with this policy. diameters: of the values of each layer's key-value heads, (n_kv_heads,)."""
    watched = Watched(function, diameters)
    loss = run(watched)
    return Local(policy, kept, watched.worst, watched.total / watched.count, watched.of_output, loss)


def policies(
    plan: RazorPlan, context: int, share: Fraction, heads: Sequence[Head], sloped: bool
) -> dict[str, AttentionFunction]:
    """Every other policy with at most `share` of all entries at `context` tokens, those that fit.

    plan: any of the model; heads: pairs (layer, head), which RazorAttention keeps whole. Heavy hitters need a key-value
    head for each head.
    """
    tokens, found = int(share * context), {}
    layers, kv_heads = len(plan.full), plan.n_kv_heads
    if tokens >= 1:
        found["window"] = sink_window(0, tokens)
    if tokens > SINKS:
        found["sinks + window"] = sink_window(SINKS, tokens - SINKS)
    if tokens >= 2 and plan.group == 1:
        found["heavy hitters"] = heavy_hitters(tokens - tokens // 2, tokens // 2)
    razor = {"razor, no heads": []} | ({RAZOR: list(heads)} if heads else {})
    for name, whole in razor.items():
        held = RazorPlan.for_heads(whole, layers, plan.n_heads, kv_heads, sinks=SINKS, buffer=1, share=Fraction(0),
                                   compensation="alibi" if sloped else "mean")  # fmt: skip
        full = sum(len(heads) for heads in held.full)
        left = (int(share * context * layers * kv_heads) - full * context) // max(1, layers * kv_heads - full)
        if left > SINKS + 1:
            found[name] = RazorCache(replace(held, buffer=left - SINKS - 1))
    return found


def head_windows(windows: Sequence[Sequence[int]]) -> AttentionFunction:
    """Every key-value head its own window, (n_kv_heads,) by layer."""

    def dropped(layer: int, index: Tensor, n_heads: int) -> Tensor:
        kept = index.new_tensor(windows[layer])
        return index[:, None] - index >= kept.repeat_interleave(n_heads // len(kept))[:, None, None]

    return masked(dropped)


def least_share(curve: Sequence[Local], policy: str, error: float) -> Local | None:
    """The smallest memory tried with which this policy's largest error was at most `error`; None if none was enough."""
    enough = [one for one in curve if one.policy == policy and one.worst <= error]
    return min(enough, key=lambda one: one.kept) if enough else None
