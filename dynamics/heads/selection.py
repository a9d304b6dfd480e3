"""Select heads by their scores, as the RazorAttention paper does: a share of all heads of the model."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from dynamics.heads.scores import HeadScores

INDUCTION_SHARE, ECHO_SHARE = "0.14", "0.01"


def kept_count(n_heads: int, share: str | float) -> int:
    """ceil(share * n_heads), the share read as the decimal that it prints as: 14 % of 1600 are 224.

    In binary 0.14 * 1600 is above 224, and its ceiling 225. Raises: ValueError for a share outside [0, 1].
    """
    if not 0 <= float(share) <= 1:
        raise ValueError(f"a share of heads must be in 0..1, got {share}")
    return math.ceil(Fraction(str(share)) * n_heads)


def top_heads(scores: ArrayLike, share: str | float) -> np.ndarray:
    """The ceil(share * n) highest of all n scores, as booleans of their shape; of equals the first, layer by layer.

    Raises: ValueError for scores that are not (n_layers, n_heads) finite numbers, or a share outside [0, 1].
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or not scores.size or not np.isfinite(scores).all():
        raise ValueError(f"scores must be finite numbers of shape (n_layers, n_heads), got shape {scores.shape}")
    order = np.argsort(-scores, axis=None, kind="stable")
    kept = np.zeros(scores.size, dtype=bool)
    kept[order[: kept_count(scores.size, share)]] = True
    return kept.reshape(scores.shape)


def retrieval_heads(
    scores: HeadScores, induction_share: str | float = INDUCTION_SHARE, echo_share: str | float = ECHO_SHARE
) -> np.ndarray:
    """The heads that keep their whole cache: the top 14 % by induction, the top 1 % by echo; (n_layers, n_heads) bool.

    Source: RazorAttention, Table 2. Shares of all heads of the model, each rounded up; the two sets may overlap. They
    choose heads in any model: `dynamics.heads.found.find` chooses by size, and none where there are none. What a plan
    keeps of grouped key-value heads is said by `dynamics.razor.plan.RazorPlan.for_heads(np.argwhere(..), ..)`.
    """
    return top_heads(scores.induction, induction_share) | top_heads(scores.echo, echo_share)
