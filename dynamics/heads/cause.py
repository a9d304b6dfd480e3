"""Does a model copy, and do some of its heads make it copy: losses of two copies of a segment, with and without heads.

A model copies if the second copy of a segment costs at least `SIZE` nats a token less than the first, and less than the
same tokens at the same places of the twin, in which nothing is repeated; both by intervals over prompts that lie above
0. Heads are needed if a zero in place of their outputs costs the second copy more than the first, with an interval
above 0 and by at least a tenth of what the copy gains, and more than 95 % of random sets of other heads with as many in
each layer do.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.heads.batched import Heads, losses
from dynamics.heads.copies import Prompts
from dynamics.heads.kinds import SIZE, measured
from dynamics.statistics.estimate import Estimate, student

if TYPE_CHECKING:
    from torch import nn

    from dynamics.heads.kinds import Over

SETS, AROUND, PART = 40, 8, 0.1


class Gate(NamedTuple):
    """Losses in nats a token at prompts of one length: of the first copy, of the second, and of its tokens in the twin.

    gain: first - second; over_twin: twin - second; both paired over prompts. order, distinct: as in `copies.Prompts`.
    """

    length: int
    distinct: bool
    order: int
    first: float
    second: float
    twin: float
    gain: Estimate
    over_twin: Estimate

    @property
    def copies(self) -> bool:
        """Whether the model copies at this length."""
        return all(one.value >= SIZE and one.low > 0 for one in (self.gain, self.over_twin))


class Cause(NamedTuple):
    """What a set of heads does. hurt: nats that the second copy loses without them, beyond what the first loses.

    gain: nats that the second copy costs less than the first, with all heads. others: what random sets of other heads
    hurt; same_shape: whether these have as many heads in each layer, or only as many in all, since a layer has too few
    others.
    """

    heads: tuple[tuple[int, int], ...]
    hurt: Estimate
    gain: float
    others: tuple[float, ...]
    same_shape: bool

    @property
    def needed(self) -> bool:
        """Whether the model needs them to copy; where no set of the same shape is left, by their own size alone."""
        large = self.hurt.value >= PART * self.gain and self.hurt.low > 0
        beaten = sum(other < self.hurt.value for other in self.others)
        return large and (not self.same_shape or 20 * beaten > 19 * len(self.others))


def copy_losses(model: nn.Module, prompts: Prompts, without: Heads = (), twin: bool = False) -> NDArray[np.float64]:
    """Mean loss of each prompt's first and second copy, or of the second copy in the twin; (2 or 1, prompts)."""
    tokens, starts = (prompts.twins, [0]) if twin else (prompts.tokens, [prompts.back, 0])
    rows = np.concatenate([prompts.row - start for start in starts])
    found = losses(model, tokens, np.tile(prompts.prompt, len(starts)), rows, without).numpy()
    counts = np.bincount(prompts.prompt)
    sums = [np.bincount(prompts.prompt, one) for one in found.reshape(len(starts), -1)]
    return np.stack(sums)[:, counts > 0] / counts[counts > 0]


def gate(model: nn.Module, prompts: Prompts) -> Gate:
    """Whether the model copies on these prompts."""
    (first, second), [twin] = copy_losses(model, prompts), copy_losses(model, prompts, twin=True)
    means, length = (float(one.mean()) for one in (first, second, twin)), prompts.tokens.shape[1]
    return Gate(length, prompts.distinct, prompts.order, *means, student(first - second), student(twin - second))


class Ablation:
    """Zeroes heads of a model on the same prompts, again and again. Args: sizes, its layers and heads of each."""

    def __init__(self, model: nn.Module, prompts: Prompts, sizes: tuple[int, int], seed: int, over: Over) -> None:
        self.model, self.prompts, self.over = model, prompts, over
        self.rng, self.plain = np.random.default_rng(seed), copy_losses(model, prompts)
        self.gain = float((self.plain[0] - self.plain[1]).mean())
        self.layers = [[(layer, head) for head in range(sizes[1])] for layer in range(sizes[0])]

    def hurt(self, heads: Heads) -> Estimate:
        """What the second copy loses beyond what the first does, in nats a token, without some heads."""
        first, second = copy_losses(self.model, self.prompts, heads) - self.plain
        return student(second - first)

    def cause(self, heads: Heads) -> Cause:
        """Whether these heads are needed, against random sets of the others."""
        free = [[one for one in layer if one not in heads] for layer in self.layers]
        counts = [len(layer) - len(some) for layer, some in zip(self.layers, free, strict=True)]
        same = all(len(some) >= count for some, count in zip(free, counts, strict=True))
        if not same:
            free = [list(chain(*free))]
            counts = [min(len(heads), len(free[0]))]
        sets = sorted({self._drawn(free, counts) for _ in range(SETS)} - {()})
        others = tuple(self.hurt(one).value for one in self.over(sets, desc="random sets of heads"))
        return Cause(tuple(sorted(heads)), self.hurt(heads), self.gain, others, same)

    def _drawn(self, free: list[list[tuple[int, int]]], counts: list[int]) -> tuple[tuple[int, int], ...]:
        """A random set with so many heads of each list."""
        places = [sorted(self.rng.permutation(len(some))[:count]) for some, count in zip(free, counts, strict=True)]
        return tuple(some[place] for some, chosen in zip(free, places, strict=True) for place in chosen)

    def carriers(self) -> Cause:
        """Heads without which half of the gain is lost, and none of which can be given back, tried from the idlest on.

        Heads may cover for each other, so that each alone costs nothing: all are taken out first.
        """
        every = list(chain(*self.layers))
        alone = [self.hurt([head]).value for head in self.over(every, desc="without each head")]
        left, half = set(every), self.gain / 2
        for index in self.over(np.argsort(alone, kind="stable").tolist(), desc="with each head"):
            if len(left) > 1 and self.hurt(left - {every[index]}).value >= half:
                left.remove(every[index])
        return self.cause(left)


def looks(model: nn.Module, prompts: Prompts, heads: Heads) -> dict[tuple[int, int], tuple[int, float, float]]:
    """Where each head looks most in the second copy: keys after the right one, mean attention, and even attention."""
    right, places = prompts.row - prompts.back + 1, {}
    for step in range(-AROUND, AROUND + 1):
        at = (right + step > 0) & (right + step <= prompts.row)
        if 2 * at.sum() > len(at):
            places[step] = prompts.prompt[at], prompts.row[at], (right + step)[at]
    found = measured(model, prompts.tokens, places)
    best = {head: max(found, key=lambda step: found[step][head]) for head in heads}
    return {h: (n, float(found[n][h]), float((1 / (places[n][1] + 1)).mean())) for h, n in best.items()}
