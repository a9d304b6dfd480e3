"""The attention that each token of a window receives from each head, summed over blocks of a few rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dynamics.heads.rows import BLOCK, Apart, Rule, Visit, watched
from dynamics.model.attention_function import AttentionFunction
from theory import sink

Parted = Callable[[int, int], Apart | None]


class Seen:
    """What the function of `reading` is told: is attention causal, has it sinks; values(layer, value) sees v."""

    def __init__(self, values: Callable[[int, Tensor], None] | None = None) -> None:
        self.causal, self.sinks, self.values = True, False, values


def reading(visit: Visit, seen: Seen, parted: Parted | None = None, block: int = BLOCK) -> AttentionFunction:
    """Attention of any model here, that shows its blocks of rows as `dynamics.heads.rows.watched` does.

    parted(layer, n_heads): the token that is cut off from the others in this layer, or None. In cross-layer attention
    the values that are seen are the layer's own.
    """

    def ruled(layer: int, query: Tensor, value: Tensor, rule: Rule) -> Rule:
        seen.causal, seen.sinks = rule.causal, rule.sinks is not None
        if seen.values is not None:
            seen.values(layer, value[0, :, : query.shape[2]])
        apart = None if parted is None else parted(layer, query.shape[1])
        return rule._replace(apart=apart and apart._replace(heads=apart.heads.to(query.device)))

    return watched(visit, block, ruled)


class Received:
    """Sums for one layer and window, (n_heads, length): what each token receives, and what each query gives the first
    token and all tokens.

    `add` takes a block of weights as `attended` shows it. All in double precision, on the device of the weights.
    """

    def __init__(self, n_heads: int, length: int, device: torch.device) -> None:
        self.columns, self.first, self.rows = torch.zeros(3, n_heads, length, dtype=torch.float64, device=device)
        self.eps = 0.0

    def add(self, heads: slice, start: int, weights: Tensor) -> None:
        rows = slice(start, start + weights.shape[1])
        self.columns[heads, : weights.shape[2]] += weights.sum(1, dtype=torch.float64)
        self.first[heads, rows] = weights[:, :, 0].double()
        self.rows[heads, rows] = weights.sum(2, dtype=torch.float64)
        self.eps = torch.finfo(weights.dtype).eps

    def importance(self) -> NDArray[np.float64]:
        """a_j = (1/l) sum_i A_ij, the mean of column j over all queries, (n_heads, length).

        Source: the importance of `theory.sink.token_importance`; with learned sinks it sums to less than 1.
        """
        return (self.columns / self.columns.shape[1]).cpu().numpy()

    def sink_share(self) -> NDArray[np.float64]:
        """1 - sum_j A_ij, the mean over the queries: what learned sink logits take, (n_heads,); 0 without them."""
        return 1 - self.rows.mean(1).cpu().numpy()

    def needed_range(self, causal: bool) -> NDArray[np.float64]:
        """The least range of logits without which some query cannot give the first token what it does, (n_heads,).

        The largest `theory.sink.range_for_weight` over the queries, each with the tokens that it can see; a learned
        sink is no token, so the weights are taken of what it leaves.
        """
        # A row that a sink takes whole, to rounding, says nothing of the tokens' logits.
        weight = (self.first / self.rows.where(self.rows > 0, torch.inf)).cpu().numpy()
        length = weight.shape[1]
        tokens = np.arange(1, length + 1) if causal else np.full(length, length)
        # What is rounded to 1 is known to be above 1 - eps.
        weight = np.clip(weight, np.finfo(np.float64).tiny, 1 - self.eps)
        return sink.range_for_weight(tokens, weight).max(axis=1)


def entropy(importance: NDArray[np.float64]) -> NDArray[np.float64]:
    """-sum_j a'_j ln a'_j in nats with a' = a / sum a, (...) for (..., length): ResFormer, Eq. 11, of column means.

    NaN where nothing is given to any token, as by a learned sink that takes all.
    """
    from scipy.special import entr

    total = importance.sum(-1, keepdims=True)
    shares = np.divide(importance, total, out=np.full_like(importance, np.nan), where=total > 0)
    return entr(shares).sum(-1)


def most_entropy(first: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """The largest entropy that an importance a_1 of the first token leaves: `theory.sink.entropy_bound`; (...).

    Where a_1 is below 1/length, as only without causality or with learned sinks, the largest of all, ln length.
    """
    found = np.full(first.shape, np.log(length))
    told = first * length >= 1
    found[told] = sink.entropy_bound(length, np.minimum(first[told], 1.0))
    return found
