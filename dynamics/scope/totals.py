"""What the scopes of all heads together save of a KV cache, and the bound on what that changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dynamics.scope.heads import HeadScope, Reach, Settings
from dynamics.weights.reader import Checkpoint


class Totals(NamedTuple):
    """A cache of all layers at the context, and what it costs.

    kept, full: tokens x key-value heads; kept_numbers, full_numbers: the same in stored numbers, keys and values;
    reaches: query heads of each kind; output_error: the largest over layers of sqrt(sum over heads of output_error^2),
    each layer from the same states before it: what the drops of one layer change in the next is not counted.
    """

    kept: int
    full: int
    kept_numbers: int
    full_numbers: int
    reaches: dict[Reach, int]
    output_error: float


def totals(checkpoint: Checkpoint, layers: Sequence[Sequence[HeadScope]], asked: Settings) -> Totals:
    """Sums over the layers of `layer_scopes`, all of them or the first few."""
    kept = full = kept_numbers = full_numbers = 0
    for number, heads in enumerate(layers):
        window = checkpoint.small(number).window or asked.context
        width = 2 * checkpoint.layer_architecture(number).d_head
        budgets = {head.kv_head: head.budget for head in heads}
        whole = len(budgets) * min(asked.context, window)
        kept, full = kept + sum(budgets.values()), full + whole
        kept_numbers, full_numbers = kept_numbers + width * sum(budgets.values()), full_numbers + width * whole
    reaches = {reach: sum(head.reach is reach for heads in layers for head in heads) for reach in Reach}
    errors = [math.sqrt(sum(head.output_error**2 for head in heads)) for heads in layers]
    return Totals(kept, full, kept_numbers, full_numbers, reaches, max(errors, default=0.0))
