"""Margins for the Razor cache: chunks against the masked computation on all tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from proofs_check.evidence.margin import Margin, close
from proofs_check.evidence.tolerances import ROUNDING
from theory import alibi

if TYPE_CHECKING:
    from torch import Tensor

    from dynamics.razor.cache import RazorCache
    from dynamics.razor.plan import RazorPlan

KINDS = ("none", "mean", "alibi", "centred")
LENGTH, WIDTH, SCALE = 26, 4, 0.6


def drawn(seed: int) -> tuple[RazorPlan, list[int], Tensor | None]:
    """A plan with groups, sinks, a window and a prompt, a division of LENGTH tokens into chunks, and slopes or None."""
    import torch

    from dynamics.razor.plan import RazorPlan

    rng = np.random.default_rng(seed)
    kind, n_kv_heads, group = KINDS[seed % 4], int(rng.integers(1, 4)), int(rng.integers(1, 3))
    full = frozenset(int(head) for head in range(1, n_kv_heads) if rng.random() < 0.5)
    plan = RazorPlan(
        n_kv_heads * group, n_kv_heads, (full,), sinks=int(rng.integers(0, 3)), buffer=int(rng.integers(2, 6)),
        share=Fraction(int(rng.integers(0, 3)), 5), compensation=kind, prompt=int(rng.integers(1, 10)),
    )  # fmt: skip
    chunks, left = [], LENGTH
    while left:
        chunks.append(int(min(left, rng.integers(1, 9))))
        left -= chunks[-1]
    with_slopes = kind == "alibi" or rng.random() < 0.5
    return plan, chunks, torch.tensor(alibi.slopes(plan.n_heads)).double() if with_slopes else None


def stream(plan: RazorPlan, seed: int) -> list[Tensor]:
    """query, key, value, (1, heads, LENGTH, WIDTH), float64."""
    import torch

    rng = np.random.default_rng(seed)
    heads = (plan.n_heads, plan.n_kv_heads, plan.n_kv_heads)
    return [torch.from_numpy(1.5 * rng.standard_normal((1, count, LENGTH, WIDTH))) for count in heads]


def fed(cache: RazorCache, tokens: Sequence[Tensor], chunks: list[int], slopes: Tensor | None) -> Tensor:
    import torch

    parts = zip(*(x.split(chunks, dim=2) for x in tokens), strict=True)
    return torch.cat([cache(0, *part, scale=SCALE, slopes=slopes) for part in parts], dim=2)


@cache
def in_chunks(seed: int, spoil: Callable[[Any], Any] | None = None) -> Margin:
    """The cache in chunks against the masked computation; `spoil` changes the cache's plan."""
    from dynamics.razor.cache import RazorCache
    from dynamics.razor.masked import MaskedAttention

    plan, chunks, slopes = drawn(seed)
    tokens = stream(plan, seed)
    found = fed(RazorCache(spoil(plan) if spoil else plan), tokens, chunks, slopes)
    return close(found, MaskedAttention(plan)(0, *tokens, scale=SCALE, slopes=slopes), ROUNDING)


def one_sink_more(plan: RazorPlan) -> RazorPlan:
    from dataclasses import replace

    return replace(plan, sinks=plan.sinks + 1)


def window_one_longer(plan: RazorPlan) -> RazorPlan:
    from dataclasses import replace

    return replace(plan, buffer=plan.buffer + 1, share=Fraction(0))


def without_count(seed: int) -> Margin:
    """As `in_chunks`, the token weighing as one token instead of N_d."""
    from unittest.mock import patch

    from dynamics.razor import layer as razor_layer
    from dynamics.razor.token import fold

    def wrong(*args: Any) -> Any:
        found = fold(*args)
        return found._replace(total=found.total.clamp(max=0.0))

    with patch.object(razor_layer, "fold", wrong):
        return in_chunks.__wrapped__(seed)  # not the right one's, remembered
