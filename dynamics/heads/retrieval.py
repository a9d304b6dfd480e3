"""The retrieval score: how often a head looks straight at the token that is copied next from a needle.

A second opinion on `head_scores`. Source: Wu et al. 2024 (Retrieval head mechanistically explains long-context
factuality), Section 2: a head copies the token w of the needle if w is generated while the head's largest attention is
on that token in the needle; its score is the share of the needle's tokens that it copies. Here the answer is forced,
not sampled: of N distinct random tokens L in a row are the needle; after all N comes the token before the needle once
more (the cue), and then the needle but its last token. So every needle token stands at one place, and

    score = 1/L #{i : argmax_s a_{N+i, s} = n + i}, i = 0 .. L - 1,   n the first position of the needle.

Wu et al. call heads with a mean score above 0.1 retrieval heads.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.heads.returned import Returning
from dynamics.heads.rows import longest, measured, vocabulary
from dynamics.heads.scores import allowed_tokens

if TYPE_CHECKING:
    from torch import nn

THRESHOLD = 0.1
HAYSTACK = 1000


class CopyPrompt(NamedTuple):
    """tokens (haystack + needle,) int64; needle: where the needle starts."""

    tokens: np.ndarray
    needle: int


def copy_prompt(vocab: int, haystack: int, needle: int, seed: int, excluded: Collection[int] = ()) -> CopyPrompt:
    """`haystack` distinct random tokens, `needle` of them at a random place again, as above.

    Raises: ValueError unless 1 <= needle and needle + 2 <= haystack <= the number of allowed tokens.
    """
    tokens = allowed_tokens(vocab, excluded)
    if needle < 1:
        raise ValueError(f"needle must be at least 1, got {needle}")
    if not needle + 2 <= haystack <= len(tokens):
        raise ValueError(f"haystack must be in {needle + 2}..{len(tokens)} for a needle of {needle}, got {haystack}")
    rng = np.random.default_rng(seed)
    drawn = rng.choice(tokens, haystack, replace=False)
    start = int(rng.integers(1, haystack - needle))
    return CopyPrompt(np.concatenate([drawn, drawn[start - 1 : start + needle - 1]]), start)


def copy_scores(
    model: nn.Module | Returning,
    *,
    haystack: int | None = None,
    needle: int = 10,
    prompts: int = 10,
    seed: int = 0,
    excluded: Collection[int] = (),
) -> np.ndarray:
    """Retrieval score of every head, (n_layers, n_heads), the mean over prompts with the seeds seed, seed + 1, ..

    Args: as `head_scores` and `copy_prompt`; haystack None: 1000, or what positions and vocabulary allow.
    Raises: ValueError as they do.
    """
    if prompts < 1:
        raise ValueError(f"prompts must be at least 1, got {prompts}")
    if haystack is None:
        haystack = min(HAYSTACK, len(allowed_tokens(vocabulary(model), excluded)))
        haystack = min(haystack, (longest(model) or haystack + needle) - needle)
    drawn = [copy_prompt(vocabulary(model), haystack, needle, seed + index, excluded) for index in range(prompts)]
    hits = sum(measured(model, prompt.tokens, partial(_hits, needle=prompt.needle, cue=haystack)) for prompt in drawn)
    return hits.cpu().numpy() / (needle * prompts)


def _hits(start: int, weights: Tensor, needle: int, cue: int) -> Tensor:
    """How many rows cue + i of a block have their largest weight at needle + i, (heads,)."""
    weights = weights[:, max(0, cue - start) :]
    rows = torch.arange(weights.shape[1], device=weights.device) + max(start, cue)
    return (weights.argmax(-1) == rows - cue + needle).sum(-1)
