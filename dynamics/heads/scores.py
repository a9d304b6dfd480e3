"""Echo and induction scores: what share of its attention a head spends on copies, and on what came after copies.

RazorAttention, Section 3.3, keeps the whole cache of induction and echo heads; the definition of the two is not in
the text at hand. The prompt here is K distinct random tokens, K = 2500, repeated R = 4 times: x_t = u_{t mod K} for t =
0 .. RK - 1. With a_{t,s} the attention of query t to key s, a head's scores are means over the queries t = K .. RK - 1,
those that have a copy behind them, of

    echo       sum_{j=1}^{floor(t/K)} a_{t, t-jK}         all earlier copies of the current token
    induction  sum_{j=1}^{floor(t/K)} a_{t, t-jK+1}       the tokens right after those copies
    previous   a_{t, t-1}
    first      a_{t, 0}

The attention to several copies is added, not averaged, so each score lies in [0, 1] and 1 means "nothing else". A head
that shares its attention equally among a token and all its copies has echo (1/2 + 2/3 + .. + (R-1)/R) / (R-1): 0.639 at
R = 4. The targets are disjoint for K >= 3, but for the first token, which is also the copy of u_0.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.heads.returned import USUAL, Returning
from dynamics.heads.rows import longest, measured, returned_by, vocabulary
from theory.records import comparable

if TYPE_CHECKING:
    from torch import nn


PAPER_K = 2500


@comparable
class HeadScores(NamedTuple):
    """Each (n_layers, n_heads) float64 in [0, 1], as defined above."""

    echo: np.ndarray
    induction: np.ndarray
    previous: np.ndarray
    first: np.ndarray


def allowed_tokens(vocab: int, excluded: Collection[int] = ()) -> np.ndarray:
    """The tokens 0 .. vocab - 1 without the excluded ones (the special ids, say).

    Raises: ValueError for an excluded id outside the vocabulary.
    """
    barred = sorted(set(excluded))
    for token in barred[:1] + barred[-1:]:
        if not 0 <= token < vocab:
            raise ValueError(f"excluded ids must be in 0..{vocab - 1}, got {token}")
    return np.setdiff1d(np.arange(vocab), np.array(barred, dtype=np.int64))


def repeated_prompt(vocab: int, k: int, repeats: int, seed: int, excluded: Collection[int] = ()) -> np.ndarray:
    """k distinct random tokens, repeated: (repeats * k,) int64, drawn without replacement from the allowed tokens.

    Raises: ValueError for k outside 3 .. the number of allowed tokens, or fewer than 2 repeats.
    """
    tokens = allowed_tokens(vocab, excluded)
    if not 3 <= k <= len(tokens):
        raise ValueError(f"k must be in 3..{len(tokens)}, the number of tokens that may be drawn, got {k}")
    if repeats < 2:
        raise ValueError(f"repeats must be at least 2, got {repeats}")
    return np.tile(np.random.default_rng(seed).choice(tokens, k, replace=False), repeats)


def head_scores(
    model: nn.Module | Returning,
    *,
    k: int | None = None,
    repeats: int = 4,
    prompts: int = 1,
    seed: int = 0,
    excluded: Collection[int] = (),
) -> HeadScores:
    """Scores of every head of every layer, the mean over prompts drawn with the seeds seed, seed + 1, ..

    One block of attention is held at a time (`rows.BLOCK`), never a whole matrix, where attention goes through a
    function; whole matrices of all layers where a model's own return is all that there is (`dynamics.heads.returned`).
    Args: model, an `InductionModel`, a model of transformers, or a `Returning`; k, repeats, excluded as in
        `repeated_prompt`; k None: the paper's 2500, or as many as the model's positions and vocabulary allow (512 for
        2048 positions), and 256 where whole matrices are returned (`returned.USUAL` tokens). Scores at different k are
        not the same: heads that look near find fewer copies.
    Returns: of a model that returns attention of some layers only, these layers.
    Raises: ValueError for arguments outside their range, a prompt that the model is too short for, and for attention
        that is not the model's, or not returned.
    """
    most = largest_k(model, prompts, repeats, excluded)
    if k is None:
        k = min(PAPER_K if returned_by(model) is None else USUAL // repeats, most)
    elif k * repeats > (longest(model) or k * repeats):
        positions = f"the model has positions for {longest(model)}"
        raise ValueError(f"the prompt has {k * repeats} tokens, {positions}: pass k={most} or less, or no k")
    drawn = [repeated_prompt(vocabulary(model), k, repeats, seed + index, excluded) for index in range(prompts)]
    sums = sum(measured(model, prompt, partial(copy_sums, k=k, repeats=repeats)) for prompt in drawn)
    means = sums.cpu().numpy() / ((repeats - 1) * k * prompts)
    return HeadScores(*np.moveaxis(means, -1, 0))


def largest_k(model: nn.Module | Returning, prompts: int, repeats: int, excluded: Collection[int]) -> int:
    """Distinct tokens that `repeats` repetitions leave room for. Raises: ValueError for no prompt or no repetition."""
    if prompts < 1:
        raise ValueError(f"prompts must be at least 1, got {prompts}")
    if repeats < 2:
        raise ValueError(f"repeats must be at least 2, got {repeats}")
    drawn, positions = len(allowed_tokens(vocabulary(model), excluded)), longest(model)
    return drawn if positions is None else min(drawn, positions // repeats)


def copy_sums(start: int, weights: Tensor, k: int, repeats: int) -> Tensor:
    """The four sums over those rows of a block that come after the first repeat, (heads, 4) float64."""
    weights = weights[:, max(0, k - start) :]
    rows = torch.arange(weights.shape[1], device=weights.device)[:, None] + max(start, k)
    copies = rows - k * torch.arange(1, repeats, device=weights.device)
    lone = torch.ones_like(rows, dtype=torch.bool)
    targets = ((copies, copies >= 0), (copies + 1, copies >= 0), (rows - 1, lone), (torch.zeros_like(rows), lone))
    return torch.stack([_at(weights, keys, real) for keys, real in targets], dim=-1)


def _at(weights: Tensor, keys: Tensor, real: Tensor) -> Tensor:
    """Sum of weights[h, r, keys[r, m]] over all r and m with real[r, m], (heads,) float64."""
    index = keys.clamp(min=0).expand(len(weights), -1, -1)
    return weights.gather(2, index).double().masked_fill(~real, 0.0).sum((1, 2))
