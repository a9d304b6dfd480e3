"""Cache policies on windows of a text: loss, divergence from the full cache and the most likely token.

Each window is read in one pass, whose attention shows every query what the policy has kept of the tokens before it: the
text is given, whatever the model would have written (teacher forcing).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dynamics.comparison.equal_memory import Row, Shape, positions
from dynamics.comparison.plan import FULL, RENUMBERED
from dynamics.sinks.passes import device_of, features, read_out, through
from theory.records import comparable

if TYPE_CHECKING:
    from torch import nn

LOSS, KL, SAME = range(3)


@comparable
class Scored(NamedTuple):
    """A row's means over the scored tokens of each window, (draws, windows, 3), and of each token over windows and
    draws, (scored, 3). They are the loss, KL(full cache || policy), both in nats, and whether both have the same top
    token."""

    windows: NDArray[np.float64]
    tokens: NDArray[np.float64]


def first_scored(rows: Sequence[Row], length: int) -> int:
    """The first query that is scored: every policy that runs has evicted a token.

    Raises: ValueError where no token of the window is left.
    """
    first = max(row.first for row in rows)
    if first > length - 2:
        raise ValueError(f"the last policy evicts at token {first + 1} of {length}: no token is left to score")
    return first


def measure(
    model: nn.Module,
    windows: NDArray[np.int64],
    shape: Shape,
    budgets: Sequence[Sequence[Row]],
    progress: Callable[[int], object] = lambda done: None,
) -> list[dict[str, Scored]]:
    """For each budget its rows that run, by policy, and the full cache on the same tokens as `FULL`.

    Args: windows (n, length); progress(done) is called after each. Raises: ValueError for a loss that is not finite.
    """
    found: list[dict[str, list]] = [defaultdict(list) for _ in budgets]
    firsts = [first_scored(rows, windows.shape[1]) for rows in budgets]
    for number, tokens in enumerate(torch.from_numpy(windows).to(device_of(model))):
        full = _hidden(model, tokens, Row(FULL, (shape.whole,)), 0, number)
        for rows, first, scores in zip(budgets, firsts, found, strict=True):
            scores[FULL].append([_compared(model, full, full, tokens, first)])
            for row in rows:
                read = [_hidden(model, tokens, row, draw, number) for draw in range(len(row.plans))]
                if read:
                    scores[row.policy].append([_compared(model, full, hidden, tokens, first) for hidden in read])
        progress(number + 1)
    return [{policy: _means(np.array(values)) for policy, values in scores.items()} for scores in found]


def _means(values: NDArray[np.float64]) -> Scored:
    """From (windows, draws, scored, 3)."""
    if not np.isfinite(values).all():
        raise ValueError("a loss is not finite: another dtype may help")
    return Scored(values.mean(2).swapaxes(0, 1), values.mean((0, 1)))


@torch.no_grad()
def _hidden(model: nn.Module, tokens: Tensor, row: Row, draw: int, window: int) -> Tensor:
    """What the head reads, (length, width). A model with rotations reads the tokens twice if they are renumbered."""
    with through(model, row.function(draw, window)):
        if row.policy != RENUMBERED or positions(model) != "rope":
            return features(model, tokens)[0]
        twice, index = tokens.expand(2, -1), torch.arange(len(tokens), device=tokens.device)
        places = torch.stack([index, index.clamp(max=row.first - 1)])
        ones = torch.ones_like(twice)
        found = model.base_model(twice, attention_mask=ones, position_ids=places, use_cache=False)
    return found.last_hidden_state[0]


@torch.no_grad()
def _compared(model: nn.Module, full: Tensor, hidden: Tensor, tokens: Tensor, first: int) -> NDArray[np.float64]:
    """The three scores of each query from `first` on whose next token is in the window, (scored, 3)."""
    found, pairs = [], zip(*(read_out(model, states[first:-1]) for states in (full, hidden)), strict=True)
    for (start, one), (_, other) in pairs:
        p, q = one.log_softmax(-1), other.log_softmax(-1)
        loss = -q.gather(1, tokens[first + 1 + start :][: len(q), None])[:, 0]
        same = one.argmax(-1) == other.argmax(-1)
        found.append(torch.stack([loss.double(), (p.exp() * (p - q)).sum(-1).double(), same.double()], 1))
    return torch.cat(found).cpu().numpy()
