"""The tokens that a cache must keep to hold its promise in every context, from the weights of a checkpoint.

The promise is local: the output of a head, given the layer's inputs, changes by at most `error` times the diameter of
the head's values. It is about exact arithmetic.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dynamics.razor.plan import RazorPlan
from dynamics.scope.bounded import bounds_of
from dynamics.scope.ranges import layer_ranges
from dynamics.weights.reader import Checkpoint
from theory.checked import SHARE, index, real


def windows(checkpoint: Checkpoint, error: float, context: int) -> list[list[int]]:
    """Layer by layer the tokens that each key-value head needs at `context`: outside of that window lies a mass of at
    most `error`, in any context; all `context` tokens for heads without a slope, and never more than its layer sees.

    Raises: ValueError for an error outside (0, 1), a context below 1, and as `layer_ranges`.
    """
    error, context = real("error", error, SHARE), index("context", context, 1)
    found = []
    for layer in range(checkpoint.architecture.n_layers):
        sizes = checkpoint.layer_architecture(layer)
        own = checkpoint.small(layer).window
        needed = [context if own is None else min(own, context)] * sizes.n_kv_heads
        need: dict[int, int] = {}
        for head in layer_ranges(checkpoint, layer):
            bounds = bounds_of(head, sizes, context, head.mixed)
            window = bounds.window(head.logit_range, error) if head.slope else math.inf
            need[head.kv_head] = max(need.get(head.kv_head, 1), math.ceil(min(window, context)))
        found.append([min(need.get(head, most), most) for head, most in enumerate(needed)])
    return found


def promised_plan(checkpoint: Checkpoint, error: float, context: int) -> RazorPlan:
    """The plan that keeps the promise up to `context` tokens with the fewest entries: one window, other heads whole.

    No sinks and no compensation token: the bound needs neither. Raises: ValueError as `windows`.
    """
    needed = windows(checkpoint, error, context)
    flat = sorted({window for layer in needed for window in layer})
    whole = [sum(window > buffer for layer in needed for window in layer) for buffer in flat]
    total = sum(len(layer) for layer in needed)
    costs = [n * context + (total - n) * buffer for n, buffer in zip(whole, flat, strict=True)]
    buffer = flat[costs.index(min(costs))]
    full = tuple(frozenset(head for head, window in enumerate(layer) if window > buffer) for layer in needed)
    sizes = checkpoint.architecture
    settings = {"sinks": 0, "buffer": buffer, "share": Fraction(0), "compensation": "none"}
    return RazorPlan(sizes.n_heads, sizes.n_kv_heads, full, **settings)
