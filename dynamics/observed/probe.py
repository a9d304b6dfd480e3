"""The fixed rows on which a model is observed: random tokens repeated, and a text cut into windows."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamics.heads.rows import vocabulary
from dynamics.heads.scores import largest_k, repeated_prompt
from dynamics.sinks.windows import cut
from theory.records import comparable

if TYPE_CHECKING:
    from torch import nn

USUAL_K = 32


@comparable
class Probe(NamedTuple):
    """copies (prompts, repeats * k), as `dynamics.heads.scores.repeated_prompt`; text (windows, window), or None."""

    k: int
    repeats: int
    copies: NDArray[np.int64]
    text: NDArray[np.int64] | None


def make_probe(
    model: nn.Module,
    text: ArrayLike | None = None,
    *,
    window: int | None = None,
    k: int | None = None,
    repeats: int = 4,
    prompts: int = 1,
    seed: int = 0,
    excluded: Collection[int] = (),
) -> Probe:
    """Rows that the model can read, the same for the same arguments.

    Args: text (tokens,), cut as `dynamics.sinks.windows.windows_of`; without one, sinks, norms and losses are those of
        the copies; k, repeats, prompts, seed, excluded: as `dynamics.heads.scores.head_scores`, but k is by
        default 32, or what the model's positions and vocabulary allow. A probe costs what its tokens cost.
    Raises: ValueError as they do.
    """
    most = largest_k(model, prompts, repeats, excluded)
    k = min(USUAL_K, most) if k is None else k
    if not 3 <= k <= most:
        raise ValueError(f"k must be in 3..{most}, what positions and tokens leave to {repeats} repeats, got {k}")
    drawn = [repeated_prompt(vocabulary(model), k, repeats, seed + number, excluded) for number in range(prompts)]
    return Probe(k, repeats, np.stack(drawn), None if text is None else cut(model, text, window))
