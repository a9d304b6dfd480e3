"""What a comparison of policies says: paired intervals over texts, and a choice made on one half, told on the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.comparison.on_text import LOSS, Scored
from dynamics.comparison.plan import EVICTED, FULL
from dynamics.statistics.estimate import Estimate, student

FEWEST = 4  # texts, so that each half has two


class Line(NamedTuple):
    """A row in nats a token: means over texts of its loss, of that over the full cache's, of KL and same top token.

    over_tokens: `extra` with every token alike. worst: the text with the largest extra loss, and that. places: extra
    loss of each scored token.
    """

    loss: Estimate
    extra: Estimate
    over_tokens: float
    divergence: Estimate
    same: float
    worst: tuple[int, float]
    places: NDArray[np.float64]


class Choice(NamedTuple):
    """The policy of least loss on the texts 0, 2, .., and differences of losses on the texts 1, 3, .., paired.

    over_full: of each policy and the full cache. behind: of each other policy and the best. random: of random eviction
    and each policy, none where it was not run.
    """

    best: str
    over_full: dict[str, Estimate]
    behind: dict[str, Estimate]
    random: dict[str, Estimate]


def texts_of(piece: NDArray[np.int64]) -> NDArray[np.int64]:
    """The text of each window: the file or record that it comes from; itself where fewer than FEWEST have windows."""
    found, text = np.unique(piece, return_inverse=True)
    return text if len(found) >= FEWEST else np.arange(len(piece))


def by_text(values: NDArray[np.float64], text: NDArray[np.int64]) -> NDArray[np.float64]:
    """Means over the windows of each text, from (windows, ..)."""
    return np.stack([values[text == number].mean(0) for number in range(text.max() + 1)])


def line(row: Scored, full: Scored, text: NDArray[np.int64]) -> Line:
    """The line of a row, with the full cache on the same tokens; a mean over random draws."""
    own, whole = row.windows.mean(0), full.windows[0]
    loss, divergence, same = by_text(own, text).T
    extra = loss - by_text(whole, text)[:, LOSS]
    over, worst = float((own - whole)[:, LOSS].mean()), int(extra.argmax())
    places, largest = (row.tokens - full.tokens)[:, LOSS], (worst, float(extra[worst]))
    return Line(student(loss), student(extra), over, student(divergence), float(same.mean()), largest, places)


def choose(scores: dict[str, Scored], text: NDArray[np.int64]) -> Choice | None:
    """Choose a policy on the texts 0, 2, .. and compare on the texts 1, 3, ..; None for too few texts or no policy."""
    if text.max() + 1 < FEWEST or len(scores) < 2:
        return None
    losses = {policy: by_text(row.windows.mean(0), text)[:, LOSS] for policy, row in scores.items()}
    full = losses.pop(FULL)[1::2]
    best = min(losses, key=lambda policy: losses[policy][::2].mean())
    told = {policy: loss[1::2] for policy, loss in losses.items()}
    behind = {policy: student(loss - told[best]) for policy, loss in told.items() if policy != best}
    drawn = told.get(EVICTED)
    random = {policy: student(drawn - loss) for policy, loss in told.items() if drawn is not None and policy != EVICTED}
    return Choice(best, {policy: student(loss - full) for policy, loss in told.items()}, behind, random)
