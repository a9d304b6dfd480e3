"""Search for the worst context for a bound on an ALiBi head: ascent over the query, with the best keys in closed form.

Three states are enough. The weight of a set of tokens, as a share of all, rises with each logit in the set and falls
with every other. Given the query's state x, the logit of a key gamma z + b is c . z + const with c = P (gamma p), p =
W_K^T (W_Q x + b_Q) / sqrt(d_head), P the mean's removal (LayerNorm); keys are chosen independently, so those of the set
take z = sqrt(d) c / ||c|| and the others its opposite, by Cauchy and Schwarz. Only the query's own key is not free: it
is x. What is left is one ascent over the sphere of x, from many starts (`ascend`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from dynamics.scope.adversary_ascent import ascend
from dynamics.scope.adversary_context import Context, Heads, context, query_vectors, states
from theory.checked import index

__all__ = ["climb", "heaviest_masses", "heaviest_weights", "largest_gaps", "largest_ranges"]

FORGOTTEN = 40.0  # in a context "of any length" tokens with e^{-slope distance} below e^-40 of the first are left out


class Logits(NamedTuple):
    """Of each query: the highest logit of any key, the logit of its own, and the lowest; one shape."""

    top: Tensor
    own: Tensor
    low: Tensor


Gain = Callable[[Logits], Tensor]


def heaviest_weights(
    stack: Heads,
    distances: Sequence[int],
    n_tokens: Sequence[int] | None = None,
    masked: bool = False,
    starts: int = 12,
    steps: int = 100,
    seed: int = 0,
) -> list[Context]:
    """For each head the context with the largest attention found at its distance.

    Args: distances >= 1, one a head; n_tokens > distance, by default distance + 1: older tokens only take weight away;
    masked: whether all tokens but the target and the query are masked, and left out of the context.
    """
    distances = [index("distances", n) for n in distances]
    lengths = [n + 1 for n in distances] if n_tokens is None else [index("n_tokens", t) for t in n_tokens]
    if any(n < 1 for n in distances) or any(t <= n for n, t in zip(distances, lengths, strict=True)):
        raise ValueError("distances must be at least 1 and n_tokens above them")
    others = [
        [] if masked else [j for j in range(t - 1, 0, -1) if j != n] for n, t in zip(distances, lengths, strict=True)
    ]
    return _contexts(stack, [[n] for n in distances], others, starts, steps, seed)


def heaviest_masses(
    stack: Heads,
    windows: Sequence[int],
    n_tokens: Sequence[int] | None = None,
    starts: int = 12,
    steps: int = 100,
    seed: int = 0,
) -> list[Context]:
    """For each head the context with the largest total attention found at distances >= its window.

    Args: windows >= 1, one a head; n_tokens > window, by default so many that more would not matter (slope > 0).
    """
    windows = [index("windows", w) for w in windows]
    if n_tokens is None:
        if bool((stack.slope == 0).any()):
            raise ValueError("without a slope the mass grows with the context: n_tokens must be given")
        n_tokens = [w + math.ceil(FORGOTTEN / s) for w, s in zip(windows, stack.slope.tolist(), strict=True)]
    n_tokens = [index("n_tokens", t) for t in n_tokens]
    if any(w < 1 for w in windows) or any(t <= w for w, t in zip(windows, n_tokens, strict=True)):
        raise ValueError("windows must be at least 1 and n_tokens above them")
    targets = [list(range(t - 1, w - 1, -1)) for w, t in zip(windows, n_tokens, strict=True)]
    return _contexts(stack, targets, [list(range(w - 1, 0, -1)) for w in windows], starts, steps, seed)


def largest_ranges(stack: Heads, starts: int = 24, steps: int = 600, seed: int = 0) -> Tensor:
    """Largest difference of two logits of one query found for each head, (heads,)."""
    return climb(stack, lambda of: of.top - of.low, starts, steps, seed)[0]


def largest_gaps(stack: Heads, starts: int = 24, steps: int = 600, seed: int = 0) -> Tensor:
    """Largest excess of a logit over the one of the query's own key found for each head, (heads,)."""
    return climb(stack, lambda of: of.top - of.own, starts, steps, seed)[0]


def climb(
    stack: Heads, gain: Gain, starts: int, steps: int, seed: int = 0, tolerance: float = 1e-14
) -> tuple[Tensor, Tensor]:
    """The largest gain found over query states, (heads,), and the raw queries (heads, stack.width) that have it."""
    generator = torch.Generator().manual_seed(seed)
    half = torch.randn(len(stack), (starts + 1) // 2, stack.width, generator=generator, dtype=torch.float64)
    raw = torch.cat([half, -half], dim=1)  # in pairs, so that a sphere of two points is searched whole
    raw = ascend(lambda points: gain(_logits(stack, points)), raw, steps, tolerance)
    value, at = gain(_logits(stack, raw)).max(dim=1)
    return value, raw[torch.arange(len(stack)), at]


def _logits(stack: Heads, raw: Tensor) -> Logits:
    query = states(stack, raw)
    pull = query_vectors(stack, query)
    along = stack.gamma[:, None] * pull
    if stack.norm == "layer":
        along = along - along.mean(-1, keepdim=True)
    reach = torch.linalg.vector_norm(along, dim=-1) * math.sqrt(stack.gamma.shape[-1])
    middle = (pull * stack.norm_bias[:, None]).sum(-1)
    return Logits(middle + reach, (pull * query).sum(-1), middle - reach)


def _contexts(
    stack: Heads, targets: Sequence[Sequence[int]], others: Sequence[Sequence[int]], starts: int, steps: int, seed: int
) -> list[Context]:
    """Contexts whose query attends most to the target distances, against the others and itself at distance 0."""
    wanted, unwanted = (
        torch.stack([_log_decay(*pair) for pair in zip(stack.slope, places, strict=True)])[:, None]
        for places in (targets, others)
    )

    def gain(of: Logits) -> Tensor:
        return wanted + of.top - torch.logaddexp(of.own, unwanted + of.low)

    _, raw = climb(stack, gain, starts, steps, seed, tolerance=1e-11)
    query = states(stack, raw)
    along = stack.gamma * query_vectors(stack, query[:, None])[:, 0]
    along = torch.where(along.norm(dim=-1, keepdim=True) > 0, along, raw[:, : along.shape[-1]])
    if stack.ball:
        along = torch.nn.functional.pad(along, (0, 1))
    words = torch.stack([states(stack, along), states(stack, -along), query], dim=1)
    return [_laid_out(stack.head(i), words[i], *at) for i, at in enumerate(zip(targets, others, strict=True))]


def _log_decay(slope: Tensor, distances: Sequence[int]) -> Tensor:
    """ln sum e^{-slope distance}; -inf for no distance."""
    if not distances:
        return torch.tensor(-math.inf, dtype=torch.float64)
    return torch.logsumexp(-slope * torch.tensor(distances, dtype=torch.float64), dim=0)


def _laid_out(head: Heads, words: Tensor, targets: Sequence[int], others: Sequence[int]) -> Context:
    words_at = {0: 2, **dict.fromkeys(others, 1), **dict.fromkeys(targets, 0)}
    distances = sorted(words_at, reverse=True)
    return context(head, words, torch.tensor([words_at[n] for n in distances]), torch.tensor(distances))
